//! The catalog: every role there is, which wins under a name, and every problem with the others.
//!
//! Loading never fails: a problem is a warning, and the other roles are there all the same. A catalog doesn't change once
//! loaded; [`super::watch`] loads new ones.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;
use std::sync::Arc;

use offshoot_protocol::{RoleSource, RoleSummary, RoleWarning};
use sha2::{Digest, Sha256};

use super::folder::{Folder, RoleFolders, warn};
use super::parse::{Origin, Parsed, closest, parse};
use super::{Role, announce};

/// The roles that come with the program.
const BUILT_IN: [(&str, &str); 5] = [
    ("explore", include_str!("../../roles/explore.md")),
    ("general-purpose", include_str!("../../roles/general-purpose.md")),
    ("plan", include_str!("../../roles/plan.md")),
    ("researcher", include_str!("../../roles/researcher.md")),
    ("verify", include_str!("../../roles/verify.md")),
];

/// The file of a role that comes with the program, for whoever wants to copy it: `path` is its [`Role::path`].
pub fn built_in_text(path: &str) -> Option<&'static str> {
    let name = path.strip_prefix("built-in:")?.strip_suffix(".md")?;
    BUILT_IN.iter().find(|(other, _)| *other == name).map(|(_, text)| *text)
}

/// All roles at one moment.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Catalog {
    winners: BTreeMap<String, Arc<Role>>,
    all: Vec<RoleSummary>,
    warnings: Vec<RoleWarning>,
}

/// A role on its way into the catalog.
struct Candidate {
    role: Role,
    /// Line of its name.
    line: u32,
    /// Number of its folder: two in one folder are a mistake, two in different ones are meant.
    folder: usize,
}

impl Catalog {
    /// Reads all roles. Where two have the same name, the stronger source wins (project, user, built-in, plugin); within
    /// the project the nearer folder, and `.offshoot/roles` before `.claude/agents`; within a folder the path that sorts
    /// first, with a warning. `known_tools` are the names that roles may use, besides `mcp__…`.
    pub fn load(folders: &RoleFolders, known_tools: &[&str]) -> Self {
        let mut warnings = Vec::new();
        let mut candidates = Vec::new();
        for (number, folder) in folders.existing(&mut warnings).iter().enumerate() {
            if folder.source == RoleSource::Project && !folders.trusted {
                for file in folder.files(&mut warnings) {
                    let message = "ignored: the project isn't trusted; trust it to use its roles";
                    warn(&mut warnings, &file, message.to_owned());
                }
                continue;
            }
            read_folder(folder, number, known_tools, &mut candidates, &mut warnings);
        }
        for (name, text) in BUILT_IN {
            let origin = Origin { source: RoleSource::BuiltIn, path: format!("built-in:{name}.md") };
            take(parse(text.as_bytes(), &origin, known_tools), usize::MAX, &mut candidates, &mut warnings);
        }
        Self::of(candidates, warnings)
    }

    /// Reads the role files of one folder, or one file, without any others: what a check of them says.
    pub fn check(path: &Path, known_tools: &[&str]) -> Self {
        let mut warnings = Vec::new();
        let mut candidates = Vec::new();
        let (folder, only) = match path.parent() {
            Some(parent) if path.is_file() && parent.as_os_str().is_empty() => (Path::new("."), Some(path)),
            Some(parent) if path.is_file() => (parent, Some(path)),
            _ => (path, None),
        };
        if let Some(folder) = Folder::user(folder, &mut warnings) {
            match only {
                Some(file) => read_file(&folder, file, 0, known_tools, &mut candidates, &mut warnings),
                None => read_folder(&folder, 0, known_tools, &mut candidates, &mut warnings),
            }
        }
        Self::of(candidates, warnings)
    }

    fn of(mut candidates: Vec<Candidate>, mut warnings: Vec<RoleWarning>) -> Self {
        // Stable: within a source they stay in the order of their folders and paths.
        candidates.sort_by_key(|candidate| std::cmp::Reverse(candidate.role.source));
        let mut winners: BTreeMap<String, (Arc<Role>, u32, usize)> = BTreeMap::new();
        let mut all = Vec::new();
        for Candidate { role, line, folder } in candidates {
            let winner = winners.get(&role.name);
            let mut summary = summary(&role);
            if let Some((winner, winner_line, winner_folder)) = winner {
                summary.shadowed_by = Some(winner.path.clone());
                if *winner_folder == folder {
                    let name = &role.name;
                    let message = format!("`{name}` is also the name of {}, which wins", winner.path);
                    warnings.push(RoleWarning { path: role.path.clone(), line, message });
                    let message = format!("`{name}` is also the name of {}; this one wins", role.path);
                    warnings.push(RoleWarning { path: winner.path.clone(), line: *winner_line, message });
                }
            } else {
                winners.insert(role.name.clone(), (Arc::new(role), line, folder));
            }
            all.push(summary);
        }
        all.sort_by(|a, b| a.name.cmp(&b.name).then(b.source.cmp(&a.source)));
        warnings.sort_by(|a, b| (&a.path, a.line).cmp(&(&b.path, b.line)));
        let winners = winners.into_iter().map(|(name, (role, ..))| (name, role)).collect();
        Self { winners, all, warnings }
    }

    /// The role of that exact name.
    pub fn get(&self, name: &str) -> Option<&Arc<Role>> {
        self.winners.get(name)
    }

    /// The names that [`Self::get`] knows, sorted.
    pub fn names(&self) -> Vec<&str> {
        self.winners.keys().map(String::as_str).collect()
    }

    /// At most three names that look like `name`, the most similar first.
    pub fn closest(&self, name: &str) -> Vec<String> {
        let name = name.trim();
        // First a plugin's role that was asked for without its prefix.
        let bare = |full: &&String| full.split_once(':').is_some_and(|(_, bare)| bare.eq_ignore_ascii_case(name));
        let mut near: Vec<String> = self.winners.keys().filter(bare).cloned().collect();
        for similar in closest(name, self.winners.keys().map(String::as_str)) {
            if !near.iter().any(|other| other == similar) {
                near.push(similar.to_owned());
            }
        }
        near.truncate(3);
        near
    }

    /// All roles by name, the winner before those that it shadows.
    pub fn all(&self) -> Vec<RoleSummary> {
        self.all.clone()
    }

    /// Every problem, by path and line.
    pub fn warnings(&self) -> &[RoleWarning] {
        &self.warnings
    }

    /// What a model is told about the roles: plain text, one bounded line each, without tags. It goes to the tail of the
    /// transcript, never into a tool's schema.
    pub fn announcement(&self) -> String {
        announce::announcement(self.winners.values().map(|role| (role.name.as_str(), role.description.as_str())))
    }

    /// Changes exactly when [`Self::announcement`] does: a model that was told this one needs no new list.
    pub fn fingerprint(&self) -> String {
        let digest = Sha256::digest(self.announcement());
        digest.iter().fold(String::with_capacity(64), |mut hex, byte| {
            write!(hex, "{byte:02x}").expect("a string takes everything");
            hex
        })
    }
}

fn read_folder(
    folder: &Folder,
    number: usize,
    known_tools: &[&str],
    candidates: &mut Vec<Candidate>,
    warnings: &mut Vec<RoleWarning>,
) {
    for file in folder.files(warnings) {
        read_file(folder, &file, number, known_tools, candidates, warnings);
    }
}

fn read_file(
    folder: &Folder,
    file: &Path,
    number: usize,
    known_tools: &[&str],
    candidates: &mut Vec<Candidate>,
    warnings: &mut Vec<RoleWarning>,
) {
    let bytes = match folder.read(file) {
        Ok(bytes) => bytes,
        Err(problem) => return warn(warnings, file, problem),
    };
    let origin = Origin { source: folder.source, path: file.display().to_string() };
    let mut parsed = parse(&bytes, &origin, known_tools);
    if let Some(role) = &mut parsed.role {
        role.name.insert_str(0, &folder.prefix);
    }
    take(parsed, number, candidates, warnings);
}

fn take(parsed: Parsed, folder: usize, candidates: &mut Vec<Candidate>, warnings: &mut Vec<RoleWarning>) {
    warnings.extend(parsed.warnings);
    let line = parsed.name_line;
    candidates.extend(parsed.role.map(|role| Candidate { role, line, folder }));
}

fn summary(role: &Role) -> RoleSummary {
    RoleSummary {
        name: role.name.clone(),
        description: role.description.clone(),
        source: role.source,
        path: role.path.clone(),
        model: role.model.clone(),
        color: role.color.clone(),
        tools: role.tools.clone(),
        shadowed_by: None,
    }
}

#[cfg(test)]
#[path = "catalog_tests.rs"]
mod tests;

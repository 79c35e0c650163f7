//! What an editor of role files works with: the board, one file, what a change would make of it, and saving.
//!
//! It writes in the user's and the project's role folders and nowhere else: a path counts only if it is one of the files
//! that the catalog reads, and it is opened without following links. Nothing is written over a file that changed
//! meanwhile, and what is deleted can be brought back. It decides nothing about permission, and starts no agent.

mod draft;
mod file_name;
mod rule;
mod trash;

use std::path::{Path, PathBuf};

use offshoot_protocol::{
    Rejected, RejectedCode, RoleBoard, RoleCard, RoleChange, RoleCopy, RoleFields, RoleFile, RolePreview, RoleRule,
    RoleSave, RoleSource, RoleSummary, RoleTool, RoleTrashId, RoleWarning,
};

use self::trash::Trash;
use super::catalog::{Catalog, built_in_text};
use super::folder::{FILE_LIMIT, Folder, RoleFolders};
use super::model_alias;
use super::parse::{Draft, Origin, parse};
use super::write::{Change, RoleEdit, edit};
use super::{COLORS, MAX_TURNS, Role, narrow};
use crate::boundary::Target;
use crate::tool::disk::{DiskError, Slot};

/// Most names that are tried for a new file.
const NAMES_LIMIT: usize = 100;

/// The roles of one project, as an editor sees them.
pub struct Studio {
    folders: RoleFolders,
    tools: Vec<RoleTool>,
    trash: Trash,
}

/// A role file, found by its path.
struct Place {
    source: RoleSource,
    /// What its name in the catalog starts with.
    prefix: String,
    bytes: Vec<u8>,
    /// Where it is written; nothing for files that aren't.
    target: Option<Target>,
}

impl Studio {
    /// `tools`: names and descriptions of what agents can have. `trash`: a folder of ours for deleted roles.
    pub fn new<'a>(folders: RoleFolders, tools: impl IntoIterator<Item = (&'a str, &'a str)>, trash: PathBuf) -> Self {
        let fits = |(name, _): &(&str, &str)| !narrow::DELEGATION_TOOLS.contains(name);
        let tool = |(name, about): (&str, &str)| RoleTool {
            name: name.to_owned(),
            about: about.lines().next().unwrap_or_default().chars().take(200).collect(),
            // What reads the web sends something there.
            asks: name == "WebFetch" || !narrow::READ_ONLY_TOOLS.contains(&name),
        };
        Self { folders, tools: tools.into_iter().filter(fits).map(tool).collect(), trash: Trash::new(trash) }
    }

    /// Everything there is, at this moment. Never fails: a problem is a warning.
    pub fn board(&self) -> RoleBoard {
        let catalog = Catalog::load(&self.folders, &self.known());
        let mut warnings: Vec<RoleWarning> = catalog.warnings().to_vec();
        let mut take = |path: &str| {
            let (own, others) = std::mem::take(&mut warnings).into_iter().partition(|warning| warning.path == path);
            warnings = others;
            own
        };
        let mut cards: Vec<RoleCard> = Vec::new();
        for role in catalog.all() {
            let warnings = take(&role.path);
            let editable = is_editable(role.source, Path::new(&role.path));
            cards.push(RoleCard { path: role.path.clone(), source: role.source, warnings, editable, role: Some(role) });
        }
        for folder in self.folders.existing(&mut Vec::new()) {
            for file in folder.files(&mut Vec::new()) {
                let path = file.display().to_string();
                if cards.iter().any(|card| card.path == path) {
                    continue;
                }
                let (warnings, editable) = (take(&path), is_editable(folder.source, &file));
                cards.push(RoleCard { path, source: folder.source, role: None, warnings, editable });
            }
        }
        let home = |source| self.folders.home(source).map_or_else(String::new, |home| home.display().to_string());
        RoleBoard {
            cards,
            warnings,
            project_folder: home(RoleSource::Project),
            user_folder: home(RoleSource::User),
            tools: self.tools.clone(),
            colors: COLORS.map(str::to_owned).to_vec(),
            models: model_alias::NAMES
                .iter()
                .filter(|name| **name != model_alias::INHERIT)
                .map(ToString::to_string)
                .collect(),
            max_turns: MAX_TURNS,
        }
    }

    /// One file of the board.
    pub fn read(&self, path: &str) -> Result<RoleFile, Rejected> {
        let place = self.find(path)?;
        Ok(self.describe(path, place.source, &place.bytes))
    }

    /// What `change` would make of a file with the text `base`, or of a new file. It looks at no file.
    pub fn preview(&self, base: Option<&str>, change: &RoleChange) -> Result<RolePreview, Rejected> {
        let text = match change {
            RoleChange::Fields { fields } => draft::written(base, fields)?,
            RoleChange::Text { text } => draft::with_line_ends_of(base.unwrap_or_default(), text),
        };
        fits(&text)?;
        let parsed = parse(text.as_bytes(), &Origin { source: RoleSource::User, path: String::new() }, &self.known());
        Ok(RolePreview {
            lines: draft::lines(base.unwrap_or_default(), &text),
            fields: fields(text.as_bytes()),
            warnings: parsed.warnings,
            loads: parsed.role.is_some(),
            text,
        })
    }

    /// Writes `text` over a file that still has that fingerprint.
    pub fn save(&self, path: &str, fingerprint: &str, text: &str) -> Result<RoleSave, Rejected> {
        fits(text)?;
        let place = match self.find(path) {
            Err(missing) if missing.code == RejectedCode::NotFound && self.folders.could_hold(Path::new(path)) => {
                return Ok(RoleSave::Conflict { now: None });
            }
            found => found?,
        };
        let slot = slot(&place)?;
        let Some(found) = slot.read().map_err(|error| disk(&error))? else {
            return Ok(RoleSave::Conflict { now: None });
        };
        if draft::fingerprint(&found.content) != fingerprint {
            return Ok(RoleSave::Conflict { now: Some(self.describe(path, place.source, &found.content)) });
        }
        slot.replace(text.as_bytes(), Some(&found)).map_err(|error| disk(&error))?;
        self.read(path).map(|file| RoleSave::Saved { file })
    }

    /// Writes a new file into the user's or the project's folder, named after its role.
    pub fn create(&self, to: RoleSource, text: &str) -> Result<RoleFile, Rejected> {
        fits(text)?;
        let path = self.put(to, text.as_bytes())?;
        self.read(&path)
    }

    /// Copies a role into the user's or the project's folder, where it wins over weaker ones of its name. With `moves`
    /// the old file goes.
    pub fn copy(&self, path: &str, to: RoleSource, moves: bool) -> Result<RoleCopy, Rejected> {
        let place = self.find(path)?;
        if place.source == to {
            return Err(not_applicable("The role is there already.", ""));
        }
        if moves {
            slot(&place)?;
        }
        let mut bytes = place.bytes;
        if !place.prefix.is_empty() {
            // Only under its whole name does the copy win over the plugin's.
            let name = fields(&bytes).map(|fields| fields.name).unwrap_or_default();
            let whole = RoleEdit { name: Change::Set(format!("{}{name}", place.prefix)), ..RoleEdit::default() };
            bytes = edit(&bytes, &whole).map_err(|error| invalid(&error.to_string()))?;
        }
        let copy = self.put(to, &bytes)?;
        let trashed = if moves { Some(self.delete(path)?) } else { None };
        Ok(RoleCopy { path: copy, trashed })
    }

    /// Deletes a file; what it said is kept until many more are deleted.
    pub fn delete(&self, path: &str) -> Result<RoleTrashId, Rejected> {
        let place = self.find(path)?;
        let slot = slot(&place)?;
        let found = slot.read().map_err(|error| disk(&error))?;
        let (Some(found), Some(target)) = (found, &place.target) else { return Err(missing(path)) };
        let id = self.trash.put(target, &found.content).map_err(|error| failed(&error))?;
        slot.remove().map_err(|error| disk(&error))?;
        Ok(id)
    }

    /// Brings a deleted file back to where it was. Answers with its path.
    pub fn restore(&self, id: &RoleTrashId) -> Result<String, Rejected> {
        let (target, bytes) = self.trash.get(id).map_err(|error| failed(&error))?;
        let slot = Slot::open(&target, true).map_err(|error| disk(&error))?;
        slot.replace(&bytes, None).map_err(|error| match error {
            DiskError::Appeared(path) => {
                let message = format!("{path} was made anew meanwhile. The deleted role is still kept.");
                not_applicable(&message, "Rename or delete the new file, then undo again.")
            }
            error => disk(&error),
        })?;
        self.trash.forget(id);
        Ok(slot.path().display().to_string())
    }

    /// What an entry of `tools` or `disallowed_tools` comes to.
    pub fn rule(&self, entry: &str) -> RoleRule {
        rule::check(entry, &self.known())
    }

    fn known(&self) -> Vec<&str> {
        let own = self.tools.iter().map(|tool| tool.name.as_str());
        own.chain(narrow::DELEGATION_TOOLS).collect()
    }

    /// The file with exactly that path, if it is a role file of this project.
    fn find(&self, path: &str) -> Result<Place, Rejected> {
        if let Some(text) = built_in_text(path) {
            let (bytes, prefix) = (text.as_bytes().to_vec(), String::new());
            return Ok(Place { source: RoleSource::BuiltIn, prefix, bytes, target: None });
        }
        for folder in self.folders.existing(&mut Vec::new()) {
            let files = folder.files(&mut Vec::new());
            let Some(file) = files.into_iter().find(|file| file.display().to_string() == path) else { continue };
            let bytes = folder.read(&file).map_err(|problem| {
                let message = format!("{path} can't be opened: {problem}.");
                Rejected::new(RejectedCode::Failed, message, "Nothing was changed.")
            })?;
            let target = is_editable(folder.source, &file).then(|| folder.target(&file)).flatten();
            let Folder { source, prefix, .. } = folder;
            return Ok(Place { source, prefix, bytes, target });
        }
        Err(missing(path))
    }

    fn describe(&self, path: &str, source: RoleSource, bytes: &[u8]) -> RoleFile {
        let parsed = parse(bytes, &Origin { source, path: path.to_owned() }, &self.known());
        RoleFile {
            path: path.to_owned(),
            source,
            text: std::str::from_utf8(bytes).ok().map(str::to_owned),
            fingerprint: draft::fingerprint(bytes),
            fields: fields(bytes),
            warnings: parsed.warnings,
            editable: is_editable(source, Path::new(path)),
        }
    }

    /// Writes a new file. Answers with its path, as the catalog names it.
    fn put(&self, to: RoleSource, bytes: &[u8]) -> Result<String, Rejected> {
        let parsed = parse(bytes, &Origin { source: to, path: String::new() }, &[]);
        let Some(role) = parsed.role else {
            let why = parsed.warnings.first().map_or_else(String::new, |warning| warning.message.clone());
            return Err(invalid(&format!("It is no role as it is: {why}.")));
        };
        self.refuse_double(to, &role)?;
        let name = file_name::of(&role.name);
        for count in 1..=NAMES_LIMIT {
            let name = if count == 1 { format!("{name}.md") } else { format!("{name}-{count}.md") };
            let target = self.folders.new_file(to, &name).map_err(|error| not_applicable(&format!("{error}."), ""))?;
            match Slot::open(&target, true).and_then(|slot| slot.replace(bytes, None)) {
                Ok(()) => {
                    let home = self.folders.home(to).unwrap_or_default();
                    return Ok(home.join(name).display().to_string());
                }
                Err(DiskError::Appeared(_) | DiskError::Directory(_)) => {}
                Err(error) => return Err(disk(&error)),
            }
        }
        Err(not_applicable(&format!("Too many files are called like {name}.md."), "Choose another name."))
    }

    fn refuse_double(&self, to: RoleSource, role: &Role) -> Result<(), Rejected> {
        let all = Catalog::load(&self.folders, &[]).all();
        let same = |other: &&RoleSummary| other.source == to && other.name == role.name;
        match all.iter().find(same) {
            None => Ok(()),
            Some(other) => {
                let message = format!("There is a role “{}” there already: {}.", other.name, other.path);
                Err(not_applicable(&message, "Open that one, or choose another name."))
            }
        }
    }
}

/// What the front matter and the body say, if they can be told apart.
fn fields(bytes: &[u8]) -> Option<RoleFields> {
    let text = std::str::from_utf8(bytes).ok()?;
    let origin = Origin { source: RoleSource::User, path: String::new() };
    Draft::read(text, &origin, &[]).ok().map(|draft| draft::fields(&draft.role))
}

/// Only files of the user and the project, and never through a link.
fn is_editable(source: RoleSource, path: &Path) -> bool {
    let is_link = || path.symlink_metadata().is_ok_and(|meta| meta.is_symlink());
    matches!(source, RoleSource::User | RoleSource::Project) && !is_link()
}

fn slot(place: &Place) -> Result<Slot, Rejected> {
    let Some(target) = &place.target else {
        let message = match place.source {
            RoleSource::BuiltIn => "This role comes with the program.",
            RoleSource::Plugin => "This role belongs to a plugin.",
            RoleSource::User | RoleSource::Project => "This file is a link.",
        };
        return Err(not_applicable(message, "Copy it to your own roles or to the project's, and change the copy."));
    };
    Slot::open(target, false).map_err(|error| disk(&error))
}

fn fits(text: &str) -> Result<(), Rejected> {
    if text.len() as u64 <= FILE_LIMIT {
        return Ok(());
    }
    Err(invalid(&format!("A role file has at most {} KiB; this one would have more.", FILE_LIMIT / 1024)))
}

fn missing(path: &str) -> Rejected {
    Rejected::new(
        RejectedCode::NotFound,
        format!("There is no role file {path}."),
        "It may have been deleted or moved.",
    )
}

fn invalid(message: &str) -> Rejected {
    Rejected::new(RejectedCode::Invalid, message, "")
}

fn not_applicable(message: &str, hint: &str) -> Rejected {
    Rejected::new(RejectedCode::NotApplicable, message, hint)
}

fn disk(error: &DiskError) -> Rejected {
    failed(&error.to_string())
}

fn failed(error: &str) -> Rejected {
    Rejected::new(RejectedCode::Failed, error, "The files are as they were.")
}

#[cfg(test)]
mod tests;

//! The folders that roles are read from: which there are, which files are in them, and reading one safely.
//!
//! A project's folders come with somebody else's repository. So no link leads out of it, nothing but regular files is
//! opened, and sizes and numbers are bounded.

use std::collections::BTreeSet;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use offshoot_protocol::{RoleSource, RoleWarning};

use super::field;
use crate::boundary::Target;

/// Largest role file, in bytes.
pub(super) const FILE_LIMIT: u64 = 256 * 1024;
/// Most role files of one folder.
const FILES_LIMIT: usize = 256;
/// Most directory entries that are looked at in one folder, whatever they are.
const ENTRIES_LIMIT: usize = 4096;
/// How many folders deep role files are looked for inside of a role folder.
const DEPTH_LIMIT: usize = 3;
/// Most plugins.
const PLUGINS_LIMIT: usize = 128;

/// Where roles are looked for. Absolute paths; none of them has to exist.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RoleFolders {
    /// The user's own: `<config dir>/roles`.
    pub user: Option<PathBuf>,
    /// `<config dir>/plugins`: the roles of the plugin `x` are in `x/roles` and get the prefix `x:`.
    pub plugins: Option<PathBuf>,
    /// The directory of the project that a session starts in. `.offshoot/roles` and `.claude/agents` are looked for in
    /// it and in its parents up to the repository's root; without a repository in it alone.
    pub project: Option<PathBuf>,
    /// Whether the user trusts the project. If not, its roles are ignored, and listed as warnings.
    pub trusted: bool,
}

/// What is watched for changes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Watched {
    /// Role folders and the plugins' folder, whether they exist or not.
    roots: Vec<PathBuf>,
    /// Existing folders to watch, each for itself.
    pub(super) places: BTreeSet<PathBuf>,
}

impl Watched {
    /// Whether a change at `path` may be one of the catalog: beneath a root, above one, or a repository coming or going.
    pub(super) fn concerns(&self, path: &Path) -> bool {
        let is_git = path.file_name().is_some_and(|name| name == ".git");
        is_git || self.roots.iter().any(|root| path.starts_with(root) || root.starts_with(path))
    }
}

/// One folder with role files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Folder {
    pub(super) path: PathBuf,
    pub(super) source: RoleSource,
    /// What its roles' names start with: `<plugin>:`.
    pub(super) prefix: String,
    /// Links may lead to files beneath this, and nowhere else. Canonical.
    within: PathBuf,
}

impl RoleFolders {
    /// The project's candidates for role folders, the nearest first, whether they exist or not.
    pub(super) fn project_folders(&self) -> Vec<PathBuf> {
        let Some(start) = &self.project else { return Vec::new() };
        let start = start.canonicalize().unwrap_or_else(|_| start.clone());
        let levels = start.ancestors().take(repository_depth(&start) + 1);
        levels.flat_map(|level| [level.join(".offshoot/roles"), level.join(".claude/agents")]).collect()
    }

    /// Everything that could change what a catalog says: the folders where role folders are or may come to be.
    pub(super) fn watched(&self) -> Watched {
        let mut roots: Vec<PathBuf> = self.project_folders();
        roots.extend([&self.user, &self.plugins].into_iter().flatten().map(|path| real(path)));
        let mut places = BTreeSet::new();
        for root in &roots {
            // The folder, its parent and grandparent: any of them may come, go, or be replaced by a link.
            let near = root.ancestors().take(3).filter(|place| place.is_dir());
            places.extend(near.map(Path::to_path_buf));
            places.extend(root.ancestors().find(|place| place.is_dir()).map(Path::to_path_buf));
        }
        for folder in self.existing(&mut Vec::new()) {
            let parent = folder.path.parent().map(real);
            places.extend(folder.walk(&mut Vec::new()).folders.iter().map(|path| real(path)));
            places.extend(parent);
        }
        Watched { roots, places }
    }

    /// The folders that exist, the strongest first, without the built-in ones.
    pub(super) fn existing(&self, warnings: &mut Vec<RoleWarning>) -> Vec<Folder> {
        let mut folders = Vec::new();
        if let Some(start) = &self.project
            && let Ok(start) = start.canonicalize()
        {
            let root = start.ancestors().nth(repository_depth(&start)).unwrap_or(&start).to_path_buf();
            for path in self.project_folders().into_iter().filter(|path| exists(path)) {
                let folder = Folder { path, source: RoleSource::Project, prefix: String::new(), within: root.clone() };
                folders.extend(folder.checked(warnings));
            }
        }
        if let Some(user) = &self.user
            && exists(user)
        {
            folders.extend(Folder::user(user, warnings));
        }
        if let Some(plugins) = &self.plugins
            && let Ok(within) = plugins.canonicalize()
        {
            for (name, path) in plugins_of(plugins, warnings) {
                let prefix = format!("{name}:");
                let folder = Folder { path, source: RoleSource::Plugin, prefix, within: within.clone() };
                folders.extend(folder.checked(warnings));
            }
        }
        folders
    }
}

impl RoleFolders {
    /// Where new roles of a source go: the folder, which may not exist yet. Nothing for sources that aren't written to.
    pub(super) fn home(&self, source: RoleSource) -> Option<PathBuf> {
        match source {
            RoleSource::User => self.user.clone(),
            RoleSource::Project => {
                let start = self.project.as_ref()?;
                let start = start.canonicalize().unwrap_or_else(|_| start.clone());
                let existing = self.existing(&mut Vec::new()).into_iter().map(|folder| folder.path);
                let own = existing.filter(|path| path.ends_with(".offshoot/roles") && start.starts_with(above(path)));
                Some(own.into_iter().next().unwrap_or_else(|| start.join(".offshoot/roles")))
            }
            RoleSource::BuiltIn | RoleSource::Plugin => None,
        }
    }

    /// A new file of that name in [`Self::home`].
    pub(super) fn new_file(&self, source: RoleSource, name: &str) -> Result<Target, String> {
        let home = self.home(source).ok_or("roles are not written there")?;
        let failed = |error: io::Error| format!("{} can't be used: {error}", home.display());
        if source == RoleSource::User {
            // The person's own folder may be a link to wherever they keep their settings.
            fs::create_dir_all(&home).map_err(failed)?;
            return Ok(Target { root: home.canonicalize().map_err(failed)?, beneath: PathBuf::from(name) });
        }
        // From the project on, no link is followed.
        let root = above(&home).canonicalize().map_err(failed)?;
        Ok(Target { root, beneath: Path::new(".offshoot/roles").join(name) })
    }

    /// Whether a file at `path` would be one of the roles that can be written, if it existed. By its text alone.
    pub(super) fn could_hold(&self, path: &Path) -> bool {
        let plain = path.components().all(|part| !matches!(part, std::path::Component::ParentDir));
        let mut folders = self.project_folders();
        folders.extend(self.user.clone());
        plain && is_markdown(path) && folders.iter().any(|folder| path.starts_with(folder) && path != folder)
    }
}

/// The folder that a path's last two components are in.
fn above(path: &Path) -> &Path {
    path.ancestors().nth(2).unwrap_or(path)
}

struct Walk {
    files: Vec<PathBuf>,
    folders: Vec<PathBuf>,
}

impl Folder {
    /// A folder of the user's: it may itself be a link, its files may not lead out of it.
    pub(super) fn user(path: &Path, warnings: &mut Vec<RoleWarning>) -> Option<Self> {
        match path.canonicalize() {
            Ok(within) => {
                Some(Self { path: path.to_path_buf(), source: RoleSource::User, prefix: String::new(), within })
            }
            Err(error) => {
                warn(warnings, path, format!("the folder can't be read: {error}"));
                None
            }
        }
    }

    /// The folder, unless it is reached by a link that leads outside.
    fn checked(self, warnings: &mut Vec<RoleWarning>) -> Option<Self> {
        match self.path.canonicalize() {
            Ok(real) if real.starts_with(&self.within) => Some(self),
            Ok(real) => {
                let message = format!("ignored: it is a link that leads outside, to {}", real.display());
                warn(warnings, &self.path, message);
                None
            }
            Err(error) => {
                warn(warnings, &self.path, format!("the folder can't be read: {error}"));
                None
            }
        }
    }

    /// The role files in it and in its folders, sorted by path. What can't be looked at is a warning.
    pub(super) fn files(&self, warnings: &mut Vec<RoleWarning>) -> Vec<PathBuf> {
        self.walk(warnings).files
    }

    fn walk(&self, warnings: &mut Vec<RoleWarning>) -> Walk {
        let mut walk = Walk { files: Vec::new(), folders: Vec::new() };
        let mut ahead = vec![(self.path.clone(), 0)];
        let mut looked_at = 0;
        while let Some((folder, depth)) = ahead.pop() {
            let entries = match fs::read_dir(&folder) {
                Ok(entries) => entries,
                Err(error) => {
                    warn(warnings, &folder, format!("the folder can't be read: {error}"));
                    continue;
                }
            };
            for entry in entries.flatten() {
                looked_at += 1;
                if looked_at > ENTRIES_LIMIT {
                    let message = format!("only the first {ENTRIES_LIMIT} files of this folder were looked at");
                    warn(warnings, &self.path, message);
                    ahead.clear();
                    break;
                }
                // The kind of the entry itself: a link to a folder isn't gone into.
                let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
                if is_folder && depth < DEPTH_LIMIT {
                    ahead.push((entry.path(), depth + 1));
                } else if !is_folder && is_markdown(&entry.path()) {
                    walk.files.push(entry.path());
                }
            }
            walk.folders.push(folder);
        }
        walk.files.sort();
        if walk.files.len() > FILES_LIMIT {
            warn(warnings, &self.path, format!("only the first {FILES_LIMIT} role files of this folder are read"));
            walk.files.truncate(FILES_LIMIT);
        }
        walk
    }

    /// Reads one of its files; the error is a warning's message.
    pub(super) fn read(&self, path: &Path) -> Result<Vec<u8>, String> {
        self.open(path).and_then(|mut file| read_bounded(&mut file))
    }

    /// Where one of its files is written: from a folder without links on the way.
    pub(super) fn target(&self, file: &Path) -> Option<Target> {
        let beneath = file.strip_prefix(&self.path).ok()?;
        let real = self.path.canonicalize().ok()?;
        let folder = real.strip_prefix(&self.within).ok()?;
        Some(Target { root: self.within.clone(), beneath: folder.join(beneath) })
    }

    fn open(&self, path: &Path) -> Result<File, String> {
        let real = path.canonicalize().map_err(|error| format!("not loaded: {error}"))?;
        if !real.starts_with(&self.within) {
            return Err(format!("ignored: it is a link that leads outside, to {}", real.display()));
        }
        let file = open_regular(&real).map_err(|error| format!("not loaded: {error}"))?;
        if file.metadata().is_ok_and(|metadata| metadata.is_file()) {
            return Ok(file);
        }
        Err("ignored: it is not a regular file".to_owned())
    }
}

/// Opens without following a link that has just been put there, and without waiting at a pipe.
fn open_regular(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt;
        options.custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK);
    }
    options.open(path)
}

fn read_bounded(file: &mut File) -> Result<Vec<u8>, String> {
    let mut bytes = Vec::new();
    file.take(FILE_LIMIT + 1).read_to_end(&mut bytes).map_err(|error| format!("not loaded: {error}"))?;
    if bytes.len() as u64 > FILE_LIMIT {
        return Err(format!("not loaded: the file is over {} KiB", FILE_LIMIT / 1024));
    }
    Ok(bytes)
}

/// Names and role folders of the plugins, sorted.
fn plugins_of(plugins: &Path, warnings: &mut Vec<RoleWarning>) -> Vec<(String, PathBuf)> {
    let Ok(entries) = fs::read_dir(plugins) else { return Vec::new() };
    let mut found: Vec<(String, PathBuf)> = Vec::new();
    for entry in entries.flatten().take(ENTRIES_LIMIT) {
        let roles = entry.path().join("roles");
        if !exists(&roles) {
            continue;
        }
        let name = entry.file_name().to_string_lossy().into_owned();
        if name.contains(':') || field::name(&name).is_err() {
            let message = "ignored: the plugin's folder has a name that can't stand before its roles' names";
            warn(warnings, &entry.path(), message.to_owned());
            continue;
        }
        found.push((name, roles));
    }
    found.sort();
    if found.len() > PLUGINS_LIMIT {
        warn(warnings, plugins, format!("only the roles of the first {PLUGINS_LIMIT} plugins are read"));
        found.truncate(PLUGINS_LIMIT);
    }
    found
}

/// How many levels above `start` the root of its repository is; 0 without a repository.
fn repository_depth(start: &Path) -> usize {
    start.ancestors().position(|level| exists(&level.join(".git"))).unwrap_or(0)
}

/// `path` with the links of its existing part resolved.
fn real(path: &Path) -> PathBuf {
    let existing = path.ancestors().find_map(|place| Some((place, place.canonicalize().ok()?)));
    let Some((existing, real)) = existing else { return path.to_path_buf() };
    match path.strip_prefix(existing) {
        Ok(rest) if rest.as_os_str().is_empty() => real,
        Ok(rest) => real.join(rest),
        Err(_) => path.to_path_buf(),
    }
}

fn exists(path: &Path) -> bool {
    path.symlink_metadata().is_ok()
}

fn is_markdown(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("md"))
}

pub(super) fn warn(warnings: &mut Vec<RoleWarning>, path: &Path, message: String) {
    warnings.push(RoleWarning { path: path.display().to_string(), line: 0, message });
}

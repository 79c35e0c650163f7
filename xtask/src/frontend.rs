//! The page that the window shows: npm packages and the built files, each made again only when its sources changed.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::root;
use crate::steps::run;

/// What `ui` holds that isn't a source of the page.
const MADE: &[&str] = &["node_modules", "dist", "tools"];

/// Installs npm packages and builds the page, as far as needed.
pub(crate) fn prepare() -> Result<(), String> {
    install()?;
    build()
}

/// `npm ci`, when the lock file isn't the one that was installed last.
pub(crate) fn install() -> Result<(), String> {
    let lock = read(&folder().join("package-lock.json"))?;
    let stamp = folder().join("node_modules/.installed-lock");
    if std::fs::read(&stamp).is_ok_and(|installed| installed == lock) {
        return Ok(());
    }
    run(&mut npm(&["ci", "--no-audit", "--no-fund"]))?;
    write(&stamp, &lock)
}

/// `npm run build`, when a source changed or the built page is gone.
pub(crate) fn build() -> Result<(), String> {
    let sources = fingerprint()?;
    let stamp = folder().join("node_modules/.built-sources");
    let built = folder().join("dist/index.html").exists();
    if built && std::fs::read(&stamp).is_ok_and(|last| last == sources.as_bytes()) {
        return Ok(());
    }
    run(&mut npm(&["run", "build"]))?;
    write(&stamp, sources.as_bytes())
}

/// `npm` with these arguments, in `ui`.
pub(crate) fn npm(arguments: &[&str]) -> Command {
    let mut command = Command::new(if cfg!(windows) { "npm.cmd" } else { "npm" });
    command.current_dir(folder()).args(arguments);
    command
}

/// Node with one of the page's tools, in `ui`.
pub(crate) fn node(tool: &str) -> Command {
    let mut command = Command::new("node");
    command.current_dir(folder()).arg(tool);
    command
}

fn folder() -> PathBuf {
    root().join("ui")
}

/// A number that changes with every change of a source.
fn fingerprint() -> Result<String, String> {
    let mut hasher = DefaultHasher::new();
    add(&folder(), &mut hasher)?;
    Ok(format!("{:016x}", hasher.finish()))
}

fn add(path: &Path, hasher: &mut DefaultHasher) -> Result<(), String> {
    path.hash(hasher);
    if !path.is_dir() {
        read(path)?.hash(hasher);
        return Ok(());
    }
    let entries = std::fs::read_dir(path).map_err(|error| format!("{}: {error}", path.display()))?;
    let mut paths: Vec<_> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    paths.retain(|path| path.file_name().and_then(|name| name.to_str()).is_none_or(|name| !MADE.contains(&name)));
    paths.sort();
    paths.iter().try_for_each(|path| add(path, hasher))
}

fn read(path: &Path) -> Result<Vec<u8>, String> {
    std::fs::read(path).map_err(|error| format!("{}: {error}", path.display()))
}

fn write(path: &Path, content: &[u8]) -> Result<(), String> {
    std::fs::write(path, content).map_err(|error| format!("{}: {error}", path.display()))
}

//! Absolute paths, in all the forms in which one file can be spelled.

use std::path::{Component, Path, PathBuf};

/// What the policy asks about the file system. Implemented by whoever calls it; the policy itself touches no file.
pub trait Paths {
    /// `path` (absolute, perhaps with `..` in it) with links followed as the kernel follows them. The part that doesn't
    /// exist is appended as written.
    fn resolve(&self, path: &Path) -> PathBuf;

    /// Whether names that differ only in upper and lower case are the same file.
    fn folds_case(&self) -> bool {
        false
    }
}

/// A file system without links: for tests and for questions about rules alone.
#[derive(Clone, Copy, Debug, Default)]
pub struct TextualPaths;

impl Paths for TextualPaths {
    fn resolve(&self, path: &Path) -> PathBuf {
        normalised(path)
    }
}

/// The real file system.
#[derive(Clone, Copy, Debug, Default)]
pub struct DiskPaths;

impl Paths for DiskPaths {
    fn resolve(&self, path: &Path) -> PathBuf {
        let mut done = PathBuf::from("/");
        let mut todo: Vec<std::ffi::OsString> = Vec::new();
        let push = |todo: &mut Vec<std::ffi::OsString>, path: &Path| {
            todo.extend(path.components().rev().map(|part| part.as_os_str().to_owned()));
        };
        push(&mut todo, path);
        // Forty links is the kernel's own limit.
        let mut links = 0;
        while let Some(part) = todo.pop() {
            match Path::new(&part).components().next() {
                Some(Component::ParentDir) => {
                    done.pop();
                }
                Some(Component::Normal(name)) => {
                    let next = done.join(name);
                    match std::fs::read_link(&next) {
                        Ok(target) if links < 40 => {
                            links += 1;
                            push(&mut todo, &target);
                        }
                        _ => done = next,
                    }
                }
                Some(Component::CurDir) | None => {}
                Some(root) => done = done.join(root.as_os_str()),
            }
        }
        // The names as the disk spells them, where it doesn't tell cases or compositions apart.
        done.canonicalize().unwrap_or(done)
    }

    fn folds_case(&self) -> bool {
        cfg!(any(target_os = "macos", target_os = "windows"))
    }
}

/// Takes `.` and `..` out of an absolute path, textually.
pub(super) fn normalised(path: &Path) -> PathBuf {
    let mut out = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                out.pop();
            }
            other => out.push(other),
        }
    }
    out
}

/// The canonical composition (NFC) of a name: disks that normalise names see no difference.
pub(super) fn composed(name: &str) -> String {
    if name.is_ascii() {
        return name.to_owned();
    }
    icu_normalizer::ComposingNormalizerBorrowed::new_nfc().normalize(name).into_owned()
}

fn components(path: &Path) -> Vec<String> {
    let name = |part: Component<'_>| match part {
        Component::Normal(name) => Some(composed(&name.to_string_lossy())),
        _ => None,
    };
    path.components().filter_map(name).collect()
}

/// One spelling of an absolute path, as components.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Form(Vec<String>);

impl Form {
    /// The components.
    pub(super) fn components(&self) -> &[String] {
        &self.0
    }

    /// The components below `base`, none if it isn't in it.
    pub(super) fn below(&self, base: &[String]) -> Option<&[String]> {
        self.0.strip_prefix(base)
    }
}

/// The folders that patterns are meant from, each in all its forms.
#[derive(Clone, Debug)]
pub(super) struct Places {
    /// The home directory.
    pub(super) home: Vec<Vec<String>>,
    /// The project and the agent's directory.
    pub(super) roots: Vec<Vec<String>>,
    /// The agent's directory.
    pub(super) directory: Vec<Vec<String>>,
    /// Whether the file system does.
    pub(super) folds_case: bool,
}

impl Places {
    /// Looks the folders up.
    pub(super) fn new(directory: &Path, home: &Path, project: &Path, paths: &dyn Paths) -> Self {
        let forms = |path: &Path| -> Vec<Vec<String>> { forms(path, paths).into_iter().map(|form| form.0).collect() };
        let directory = forms(directory);
        let mut roots = forms(project);
        roots.extend(directory.iter().filter(|form| !roots.contains(form)).cloned().collect::<Vec<_>>());
        Self { home: forms(home), roots, directory, folds_case: paths.folds_case() }
    }
}

/// Every form of an absolute path: as written, and with links followed.
pub(super) fn forms(path: &Path, paths: &dyn Paths) -> Vec<Form> {
    let mut out: Vec<Form> = Vec::with_capacity(2);
    let plain = normalised(path);
    for form in [components(&plain), components(&paths.resolve(path)), components(&paths.resolve(&plain))] {
        if !out.iter().any(|known| known.0 == form) {
            out.push(Form(form));
        }
    }
    out
}

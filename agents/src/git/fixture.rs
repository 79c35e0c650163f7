//! A person with a home directory and a repository, for tests. Their git is the real one, kept off the machine's own
//! configuration.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::{Git, GitSettings};

const PATH: &str = "/usr/local/bin:/usr/bin:/bin";

pub(crate) struct Fixture {
    /// Canonical path of a temporary folder that holds everything.
    pub(crate) root: PathBuf,
    _folder: tempfile::TempDir,
}

impl Fixture {
    /// A home with a name and an address, and nothing else.
    pub(crate) fn empty() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let fixture = Self { root: folder.path().canonicalize().unwrap(), _folder: folder };
        std::fs::create_dir(fixture.home()).unwrap();
        let config = "[user]\n\tname = Ada\n\temail = ada@example.org\n[init]\n\tdefaultBranch = main\n";
        std::fs::write(fixture.home().join(".gitconfig"), config).unwrap();
        fixture
    }

    /// With a repository `project` that has one commit of a few files.
    pub(crate) fn new() -> Self {
        let fixture = Self::empty();
        fixture.init("project");
        fixture
    }

    /// Makes a repository with one commit under that name.
    pub(crate) fn init(&self, name: &str) -> PathBuf {
        let project = self.root.join(name);
        std::fs::create_dir_all(&project).unwrap();
        self.git(&project, &["init", "--quiet"]);
        write(&project, "README.md", "# Project\n");
        write(&project, "src/main.rs", "fn main() {\n    println!(\"hello\");\n}\n");
        write(&project, ".gitignore", "*.log\n.env\n/target/\n");
        self.commit(&project, "first");
        project
    }

    pub(crate) fn home(&self) -> PathBuf {
        self.root.join("home")
    }

    pub(crate) fn project(&self) -> PathBuf {
        self.root.join("project")
    }

    /// Offshoot's git for this person.
    pub(crate) fn offshoot(&self) -> Git {
        Git::new(GitSettings {
            program: "git".into(),
            path: PATH.into(),
            home: Some(self.home()),
            environment: Vec::new(),
        })
    }

    /// The person's own git. Panics when it fails.
    pub(crate) fn git(&self, directory: &Path, args: &[&str]) -> String {
        let (ok, text) = self.try_git(directory, args);
        assert!(ok, "git {args:?}: {text}");
        text
    }

    /// The person's own git: whether it worked, and what it wrote.
    pub(crate) fn try_git(&self, directory: &Path, args: &[&str]) -> (bool, String) {
        let mut command = Command::new("git");
        command.args(args).current_dir(directory).env_clear().env("PATH", PATH).env("HOME", self.home());
        command
            .env("LC_ALL", "C")
            .env("GIT_AUTHOR_DATE", "1700000000 +0000")
            .env("GIT_COMMITTER_DATE", "1700000000 +0000");
        let output = command.stdin(std::process::Stdio::null()).output().unwrap();
        let text = if output.status.success() { output.stdout } else { output.stderr };
        (output.status.success(), String::from_utf8_lossy(&text).into_owned())
    }

    pub(crate) fn commit(&self, directory: &Path, message: &str) -> String {
        self.git(directory, &["add", "--all"]);
        self.git(directory, &["commit", "--quiet", "--allow-empty", "--message", message]);
        self.git(directory, &["rev-parse", "HEAD"]).trim().to_owned()
    }

    /// Everything of a checkout that Offshoot may not change: index and HEAD byte for byte, branches that aren't ours,
    /// stash, configuration, and every file.
    #[expect(clippy::unused_self, reason = "it is this person's checkout")]
    pub(crate) fn state(&self, directory: &Path) -> BTreeMap<String, Vec<u8>> {
        let mut state = files(directory);
        let repository = git2::Repository::open(directory).unwrap();
        for name in ["index", "HEAD", "config", "logs/HEAD", "logs/refs/stash"] {
            state.insert(format!("git:{name}"), std::fs::read(repository.path().join(name)).unwrap_or_default());
        }
        let refs = repository.references().unwrap().flatten();
        let named = refs.map(|it| format!("{} {:?}", String::from_utf8_lossy(it.name_bytes()), it.target()));
        let theirs: Vec<String> = named.filter(|line| !line.contains("offshoot")).collect();
        state.insert("git:refs".to_owned(), theirs.join("\n").into_bytes());
        state
    }
}

/// Writes a file and the folders above it.
pub(crate) fn write(root: &Path, path: impl AsRef<OsStr>, content: impl AsRef<[u8]>) {
    let path = root.join(Path::new(path.as_ref()));
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, content).unwrap();
}

/// Every file and link below a folder but git's own, with what it holds.
pub(crate) fn files(root: &Path) -> BTreeMap<String, Vec<u8>> {
    fn walk(root: &Path, folder: &Path, found: &mut BTreeMap<String, Vec<u8>>) {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let meta = path.symlink_metadata().unwrap();
            let name = path.strip_prefix(root).unwrap().to_string_lossy().into_owned();
            if meta.is_dir() && path.file_name() != Some(OsStr::new(".git")) {
                walk(root, &path, found);
            } else if path.file_name() == Some(OsStr::new(".git")) {
                // Git's own: a folder, or a file in a worktree.
            } else if meta.is_symlink() {
                let target = std::fs::read_link(&path).unwrap();
                found.insert(format!("{name} ->"), target.as_os_str().as_encoded_bytes().to_vec());
            } else {
                let mode = if executable(&meta) { " *" } else { "" };
                found.insert(format!("{name}{mode}"), std::fs::read(&path).unwrap());
            }
        }
    }
    let mut found = BTreeMap::new();
    walk(root, root, &mut found);
    found
}

fn executable(meta: &std::fs::Metadata) -> bool {
    std::os::unix::fs::PermissionsExt::mode(&meta.permissions()) & 0o100 != 0
}

/// Sets whether a file is executable.
pub(crate) fn set_executable(path: &Path, executable: bool) {
    use std::os::unix::fs::PermissionsExt;
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(if executable { 0o755 } else { 0o644 })).unwrap();
}

/// Turns the repository into one that runs a program at every occasion there is. Returns the file that exists once
/// anything ran.
pub(crate) fn make_hostile(fixture: &Fixture, project: &Path) -> PathBuf {
    let proof = fixture.root.join("it-ran");
    let script = fixture.root.join("evil.sh");
    std::fs::write(&script, format!("#!/bin/sh\necho \"$0 $*\" >> '{}'\nexit 1\n", proof.display())).unwrap();
    set_executable(&script, true);
    let script = script.to_str().unwrap();
    write(project, ".gitattributes", "*.txt filter=evil diff=evil merge=evil\n*.md filter=worse\n");
    write(project, ".git/info/attributes", "*.rs filter=x=y diff=evil\n");
    write(project, "a.txt", "text\n");
    fixture.commit(project, "attributes");
    let hooks = project.join("hooks");
    std::fs::create_dir_all(&hooks).unwrap();
    for hook in [
        "pre-commit",
        "prepare-commit-msg",
        "commit-msg",
        "post-commit",
        "post-checkout",
        "post-index-change",
        "reference-transaction",
        "pre-auto-gc",
        "post-merge",
        "post-rewrite",
        "fsmonitor-watchman",
    ] {
        std::fs::copy(script, hooks.join(hook)).unwrap();
        std::fs::copy(script, project.join(".git/hooks").join(hook)).unwrap();
    }
    for (key, value) in [
        ("core.fsmonitor", script),
        ("core.hooksPath", hooks.to_str().unwrap()),
        ("core.editor", script),
        ("core.pager", script),
        ("core.sshCommand", script),
        ("core.askPass", script),
        ("core.gitProxy", script),
        ("core.alternateRefsCommand", script),
        ("gpg.program", script),
        ("commit.gpgSign", "true"),
        ("credential.helper", script),
        ("diff.external", script),
        ("interactive.diffFilter", script),
        ("filter.evil.clean", script),
        ("filter.evil.smudge", script),
        ("filter.evil.required", "true"),
        ("filter.worse.process", script),
        ("filter.worse.required", "true"),
        ("filter.x=y.clean", script),
        ("filter.x=y.smudge", script),
        ("diff.evil.textconv", script),
        ("diff.evil.command", script),
        ("merge.evil.driver", script),
        ("alias.status", &format!("!{script}")),
        ("alias.ls-files", &format!("!{script}")),
        ("remote.origin.url", "ssh://nowhere.invalid/x"),
        ("remote.origin.promisor", "true"),
        ("remote.origin.uploadpack", script),
        ("uploadpack.packObjectsHook", script),
        ("gc.auto", "1"),
    ] {
        fixture.git(project, &["config", key, value]);
    }
    assert!(!proof.exists());
    proof
}

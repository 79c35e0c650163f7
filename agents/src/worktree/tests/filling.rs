//! A worktree that is filled by copying is what a checkout would have made, whatever the repository holds.

use super::*;

/// What can be told about a checkout.
#[derive(Debug, PartialEq, Eq)]
struct Seen {
    files: std::collections::BTreeMap<String, Vec<u8>>,
    staged: String,
    flags: String,
    /// What would be committed, by the cached trees where there are any.
    tree: String,
}

fn look(fixture: &Fixture, checkout: &Path) -> Seen {
    Seen {
        files: files(checkout),
        staged: fixture.git(checkout, &["ls-files", "-z", "--stage"]),
        flags: fixture.git(checkout, &["ls-files", "-z", "-t", "-v"]),
        tree: fixture.git(checkout, &["write-tree"]),
    }
}

/// Names with what a rule may say of them.
const NAMES: [&str; 14] = [
    "plain.c",
    "dos.bat",
    "auto.txt",
    "secret.rot",
    "version.id",
    "wide.utf16",
    "image.bin",
    "ü \"q\" 漢.txt",
    "new\nline.c",
    "-dash",
    "Upper.c",
    "tool.sh",
    ".github",
    ".gitkeep",
];

const FOLDERS: [&str; 6] = ["", "src/", "src/deep/er/", "out/", "Dir with space/", "cone/inner/"];

struct Making {
    fixture: Fixture,
    rng: fastrand::Rng,
}

impl Making {
    fn new(seed: u64) -> Self {
        let fixture = Fixture::new();
        let project = fixture.project();
        let config = |key: &str, value: &str| drop(fixture.git(&project, &["config", key, value]));
        config("filter.rot.clean", "tr a-zA-Z n-za-mN-ZA-M");
        config("filter.rot.smudge", "tr a-zA-Z n-za-mN-ZA-M");
        config("core.safecrlf", "false");
        Self { fixture, rng: fastrand::Rng::with_seed(seed) }
    }

    fn maybe(&mut self) -> bool {
        self.rng.u8(..3) == 0
    }

    fn text(&mut self) -> String {
        let end = *self.rng.choice(&["\n", "\n", "\n", "\r\n", "\0"]).unwrap();
        let lines = (0..self.rng.usize(..30)).map(|_| format!("line {} $Id$ ü{end}", self.rng.u8(..9)));
        lines.collect::<Vec<_>>().concat()
    }

    fn rules(&mut self) -> String {
        let all = [
            "*.txt text=auto\n",
            "*.bat text eol=crlf\n",
            "*.rot filter=rot\n",
            "*.id ident\n",
            "*.utf16 text working-tree-encoding=UTF-16\n",
            "*.bin binary\n",
            "*.c diff=cpp\n",
            "out/** -text\n",
            "* text=auto\n",
            "*.sh crlf=input\n",
            "*.c eol=crlf\n",
        ];
        all.iter().filter(|_| self.rng.bool()).copied().collect()
    }

    fn edit(&mut self) {
        let project = self.fixture.project();
        for _ in 0..self.rng.usize(5..40) {
            let path = format!("{}{}", self.rng.choice(&FOLDERS).unwrap(), self.rng.choice(&NAMES).unwrap());
            let full = project.join(&path);
            let _ = std::fs::remove_file(&full);
            match self.rng.u8(..10) {
                0 => {}
                1 => {
                    std::fs::create_dir_all(full.parent().unwrap()).unwrap();
                    std::os::unix::fs::symlink("plain.c", &full).unwrap();
                }
                choice => {
                    let mut text = self.text();
                    if Path::new(&path).extension().is_some_and(|extension| extension == "utf16") {
                        text = text.replace(['ü', '\0'], "u");
                        let wide: Vec<u8> =
                            [0xFF, 0xFE].into_iter().chain(text.encode_utf16().flat_map(u16::to_le_bytes)).collect();
                        write(&project, &path, wide);
                    } else {
                        write(&project, &path, text);
                    }
                    if choice == 2 {
                        set_executable(&full, true);
                    }
                }
            }
        }
        if self.maybe() {
            // Past what is read at once.
            let long = self.text().repeat(3_000).into_bytes();
            write(&project, "src/long.c", [long.as_slice(), &vec![b'x'; 2 << 20]].concat());
        }
        if self.maybe() {
            let rules = self.rules();
            write(&project, self.rng.choice(&["", "src/", "out/"]).unwrap().to_string() + ".gitattributes", rules);
        }
    }

    /// Things that a person's checkout may be in.
    fn unsettle(&mut self) {
        let project = self.fixture.project();
        let git = |fixture: &Fixture, args: &[&str]| drop(fixture.git(&project, args));
        if self.maybe() {
            git(&self.fixture, &["update-index", "--index-version", "4"]);
        }
        if self.maybe() {
            git(&self.fixture, &["update-index", "--split-index"]);
        }
        if self.maybe() {
            git(&self.fixture, &["update-index", "--assume-unchanged", "README.md"]);
        }
        if self.maybe() {
            git(&self.fixture, &["update-index", "--skip-worktree", "src/main.rs"]);
        }
        if self.maybe() {
            let cone: &[&str] = if self.rng.bool() {
                &["sparse-checkout", "set", "--cone", "src", "cone"]
            } else {
                &["sparse-checkout", "set", "--no-cone", "/src/", "*.md"]
            };
            git(&self.fixture, cone);
            if self.rng.bool() {
                write(&project, "out/plain.c", "outside of what is checked out\n");
            }
        }
        if self.maybe() {
            let value = *self.rng.choice(&["true", "input", "false"]).unwrap();
            git(&self.fixture, &["config", "core.autocrlf", value]);
        }
        if self.maybe() {
            git(&self.fixture, &["config", "core.eol", "crlf"]);
        }
        if self.maybe() {
            git(&self.fixture, &["config", "core.ignorecase", "true"]);
        }
        if self.maybe() {
            let rules = self.rules();
            write(&project, ".git/info/attributes", rules);
        }
        if self.maybe() {
            // Line ends of the checkout that the index takes for unchanged.
            write(&project, "auto.txt", "one\r\ntwo\r\n");
            let _ = self.fixture.try_git(&project, &["add", "auto.txt"]);
        }
    }
}

#[tokio::test]
async fn a_filled_worktree_is_what_a_checkout_makes() {
    compare_with_a_checkout(0..6).await;
}

/// `cargo test -p offshoot-agents --lib filling -- --ignored`
#[tokio::test]
#[ignore = "takes minutes"]
async fn two_hundred_filled_worktrees_are_what_a_checkout_makes() {
    compare_with_a_checkout(6..200).await;
}

async fn compare_with_a_checkout(seeds: std::ops::Range<u64>) {
    for seed in seeds {
        let mut making = Making::new(seed);
        let project = making.fixture.project();
        if making.maybe() {
            let module = making.fixture.init("module");
            let module = module.to_str().unwrap();
            making.fixture.git(&project, &["-c", "protocol.file.allow=always", "submodule", "add", "--quiet", module]);
        }
        for _ in 0..2 {
            making.edit();
            making.fixture.git(&project, &["add", "--all"]);
            making.fixture.git(&project, &["commit", "--quiet", "--allow-empty", "--message", "a step"]);
        }
        making.unsettle();
        if making.rng.bool() {
            making.edit();
        }
        let before = making.fixture.state(&project);

        let worktrees = making.fixture.worktrees();
        let mut wanted = spec("a-0123456789", project.clone());
        wanted.base = [Base::Snapshot, Base::Head, Base::Named("main".to_owned())][making.rng.usize(..3)].clone();
        let worktree = worktrees.create(wanted).await.unwrap();
        let made = look(&making.fixture, worktree.path());
        assert_eq!(making.fixture.state(&project), before, "seed {seed}");

        let reference = making.fixture.root.join("reference");
        let reference_path = reference.to_str().unwrap();
        making.fixture.git(&project, &["worktree", "add", "--quiet", "--detach", reference_path, &worktree.base]);
        let expected = look(&making.fixture, &reference);
        assert_eq!(made.files.keys().collect::<Vec<_>>(), expected.files.keys().collect::<Vec<_>>(), "seed {seed}");
        for (name, content) in &expected.files {
            assert!(made.files[name] == *content, "seed {seed}: {name:?}");
        }
        assert_eq!((made.staged, made.flags), (expected.staged, expected.flags), "seed {seed}");
        // Nothing has to be read again to know that it is as it was, but for files that are never as they should be: git
        // would store them otherwise than they are stored. It says so whenever it happens to read one.
        let restless = restless(&making.fixture, &worktree);
        let paths = |args: &[&str], skip: usize| -> Vec<String> {
            let text = making.fixture.git(worktree.path(), args);
            text.split_terminator('\0').map(|entry| entry[skip..].to_owned()).collect()
        };
        let mut differing = paths(&["diff-files", "-z", "--name-only", "--ignore-submodules=all"], 0);
        differing.extend(paths(&["status", "-z", "--porcelain", "--ignore-submodules=all"], 3));
        differing.retain(|path| !restless.contains(path));
        assert_eq!(differing, Vec::<String>::new(), "seed {seed}");
        making.fixture.git(worktree.path(), &["fsck", "--strict"]);
    }
}

/// Files that git takes for changed when it reads them, whatever was done to them.
fn restless(fixture: &Fixture, worktree: &Worktree) -> std::collections::BTreeSet<String> {
    let (git, index) = (fixture.offshoot(), fixture.root.join("read-again.index"));
    let run = |args: &[&str]| git.on(&worktree.checkout).index(&index).args(args).run_any().unwrap().stdout;
    run(&["read-tree", "HEAD"]);
    run(&["update-index", "-q", "--refresh"]);
    let names = run(&["diff-files", "-z", "--name-only", "--ignore-submodules=all"]);
    String::from_utf8(names).unwrap().split_terminator('\0').map(str::to_owned).collect()
}

#[tokio::test]
async fn copies_keep_their_time_and_have_the_mode_of_a_checkout() {
    use std::os::unix::fs::{MetadataExt, PermissionsExt};
    let fixture = Fixture::new();
    let readme = fixture.project().join("README.md");
    std::fs::set_permissions(&readme, std::fs::Permissions::from_mode(0o600)).unwrap();
    let file = std::fs::File::options().write(true).open(&readme).unwrap();
    file.set_modified(std::time::UNIX_EPOCH + std::time::Duration::new(1_600_000_000, 123_456_789)).unwrap();
    let (_, worktree) = made(&fixture).await;
    let copy = worktree.path().join("README.md").metadata().unwrap();
    assert_eq!((copy.mtime(), copy.mtime_nsec()), (1_600_000_000, 123_456_789));
    assert_eq!(copy.nlink(), 1);
    std::fs::write(fixture.root.join("probe"), "").unwrap();
    let probe = fixture.root.join("probe").metadata().unwrap();
    assert_eq!(copy.permissions().mode(), probe.permissions().mode());
}

#[tokio::test]
async fn a_folder_that_a_link_took_the_place_of_lends_nothing_else() {
    let fixture = Fixture::new();
    let elsewhere = fixture.root.join("elsewhere");
    std::fs::create_dir_all(&elsewhere).unwrap();
    write(&elsewhere, "main.rs", "fn other() {}\n");
    std::fs::remove_dir_all(fixture.project().join("src")).unwrap();
    std::os::unix::fs::symlink(&elsewhere, fixture.project().join("src")).unwrap();
    let mut wanted = spec("a-0123456789", fixture.project());
    wanted.base = Base::Head;
    let worktree = fixture.worktrees().create(wanted).await.unwrap();
    let content = std::fs::read_to_string(worktree.path().join("src/main.rs")).unwrap();
    assert!(content.starts_with("fn main()"), "{content}");
}

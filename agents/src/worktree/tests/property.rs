//! Random lives of random small repositories: whatever is done, no byte is lost that wasn't thrown away by hand, and the
//! person's checkout, index, `HEAD` and stash change by their own hand alone.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use super::*;

type Files = BTreeMap<String, Vec<u8>>;

/// Lives, and what happens in each: a thousand deeds in all.
const LIVES: u64 = 20;
const DEEDS: usize = 50;

/// Lives that are led at the same time.
const AT_ONCE: u64 = 4;

/// Most worktrees that a life has at a time: each is looked at after each deed.
const CROWD: usize = 3;

const NAMES: [&str; 11] = [
    "a.txt",
    "a.txt/inside",
    "dir",
    "b.md",
    "ü \"q\" 漢.txt",
    "dir/c.txt",
    "dir/deep/d.bin",
    "notes.log",
    "src/main.rs",
    "-x",
    "new\nline",
];

struct Life {
    fixture: Fixture,
    worktrees: Worktrees,
    rng: fastrand::Rng,
    live: Vec<(Worktree, Files)>,
    archived: Vec<(String, Files)>,
    parent: BTreeMap<String, Vec<u8>>,
    made: usize,
}

impl Life {
    fn new(seed: u64) -> Self {
        let fixture = Fixture::new();
        let mut rng = fastrand::Rng::with_seed(seed);
        populate(&fixture, &mut rng);
        let (worktrees, parent) = (fixture.worktrees(), fixture.state(&fixture.project()));
        Self { fixture, worktrees, rng, live: Vec::new(), archived: Vec::new(), parent, made: 0 }
    }

    async fn step(&mut self) {
        match self.rng.u8(..100) {
            _ if self.live.is_empty() => self.create().await,
            0..8 if self.live.len() < CROWD => self.create().await,
            8..11 => self.give_up_creating().await,
            11..20 => {
                let project = self.fixture.project();
                self.edit(&project);
                self.parent = self.fixture.state(&project);
            }
            20..65 => {
                let n = self.rng.usize(..self.live.len());
                let path = self.live[n].0.path().to_path_buf();
                self.edit(&path);
                self.live[n].1 = files(&path);
            }
            65..72 => {
                let n = self.rng.usize(..self.live.len());
                self.worktrees.commit_all(&self.live[n].0, "work", false).await.unwrap();
            }
            72..80 => self.finish().await,
            80..90 => self.archive().await,
            90..93 => self.come_back_after_a_crash().await,
            _ if self.live.len() < CROWD => self.restore().await,
            _ => self.finish().await,
        }
    }

    /// What to make next, and the files that it must have.
    fn wish(&mut self) -> (Spec, Files) {
        let mut spec = spec(&format!("a-{:06}", self.made), self.fixture.project());
        self.made += 1;
        let mut seen = files(&self.fixture.project());
        if !self.live.is_empty() && self.rng.bool() {
            let (parent, there) = &self.live[self.rng.usize(..self.live.len())];
            spec.parent = Parent::Worktree(Box::new(parent.clone()));
            seen = there.clone();
        }
        (spec, seen)
    }

    async fn create(&mut self) {
        let (spec, seen) = self.wish();
        let worktree = self.worktrees.create(spec).await.unwrap();
        let there = files(worktree.path());
        // Line endings are the checkout's; everything else is what the parent sees, without what is ignored.
        assert_eq!(comparable(&there), comparable(&seen));
        self.live.push((worktree, there));
    }

    /// A creation whose starter goes away in the middle leaves nothing.
    async fn give_up_creating(&mut self) {
        let (spec, _) = self.wish();
        let id = spec.id.clone();
        let patience = Duration::from_millis(self.rng.u64(..40));
        if let Ok(made) = tokio::time::timeout(patience, self.worktrees.create(spec)).await {
            self.worktrees.discard(&made.unwrap()).await.unwrap();
        }
        // It waits for what is being undone.
        let listed = self.worktrees.repair().await.unwrap().there;
        assert!(listed.iter().all(|listed| listed.worktree.as_ref().is_some_and(|worktree| worktree.id != id)));
    }

    /// Another program finds everything that is there.
    async fn come_back_after_a_crash(&mut self) {
        self.worktrees = self.fixture.worktrees();
        let listed = self.worktrees.repair().await.unwrap().there;
        assert!(listed.iter().all(|listed| listed.standing == Standing::Live), "{listed:?}");
        let found: BTreeSet<_> = listed.into_iter().filter_map(|listed| Some(listed.worktree?.id)).collect();
        assert_eq!(found, self.live.iter().map(|(worktree, _)| worktree.id.clone()).collect());
    }

    /// Something a person or an agent does to files, or to the index.
    fn edit(&mut self, root: &Path) {
        let name = *self.rng.choice(&NAMES).unwrap();
        let path = root.join(name);
        // Files become folders, and folders become files.
        for above in path.ancestors().skip(1).take_while(|above| *above != root) {
            if above.symlink_metadata().is_ok_and(|meta| !meta.is_dir()) {
                std::fs::remove_file(above).unwrap();
            }
        }
        if path.is_dir() {
            std::fs::remove_dir_all(&path).unwrap();
        }
        let there = path.symlink_metadata().is_ok();
        match self.rng.u8(..8) {
            0 if there => std::fs::remove_file(&path).unwrap(),
            1 if there => {
                let target = root.join(format!("moved-{}.txt", self.rng.u8(..4)));
                std::fs::rename(&path, target).unwrap();
            }
            2 if path.is_file() && !path.is_symlink() => set_executable(&path, self.rng.bool()),
            3 if !there => {
                std::fs::create_dir_all(path.parent().unwrap()).unwrap();
                std::os::unix::fs::symlink("/nowhere", &path).unwrap();
            }
            4 => drop(self.fixture.git(root, &["add", "--all"])),
            5 => drop(self.fixture.commit(root, "by hand")),
            _ => {
                let _ = std::fs::remove_file(&path);
                let kind = self.rng.u8(..3);
                let line = format!("{}{}", self.rng.u32(..), ["\n", "\r\n", "\0"][usize::from(kind)]);
                write(root, name, line.repeat(self.rng.usize(..20)));
            }
        }
    }

    async fn finish(&mut self) {
        let n = self.rng.usize(..self.live.len());
        let (worktree, there) = self.live[n].clone();
        if let Finished::Removed { ignored } = self.worktrees.finish(&worktree).await.unwrap() {
            // What is gone is in the base, but for line endings, or is said to be gone.
            let library = self.fixture.repository().library().unwrap();
            let base = git2::Oid::from_str(&worktree.base).unwrap();
            let tree = library.find_commit(base).unwrap().tree().unwrap();
            for (name, content) in &there {
                let plain = name.trim_end_matches(" ->").trim_end_matches(" *");
                if ignored.iter().any(|top| Path::new(plain).starts_with(top)) || is_copied_in(plain) {
                    continue;
                }
                let entry = tree.get_path(Path::new(plain)).unwrap_or_else(|_| panic!("{name:?} was in no commit"));
                let blob = library.find_blob(entry.id()).unwrap();
                assert_eq!(without_returns(blob.content()), without_returns(content), "{name:?}");
            }
            self.live.remove(n);
        } else {
            verify(&worktree).unwrap();
        }
    }

    async fn archive(&mut self) {
        let (worktree, there) = self.live.swap_remove(self.rng.usize(..self.live.len()));
        let archive = if self.rng.bool() {
            self.worktrees.archive(&worktree).await.unwrap()
        } else {
            self.worktrees.discard(&worktree).await.unwrap()
        };
        assert_eq!(archive.left_out, Vec::<String>::new());
        assert!(!worktree.path().exists());
        self.archived.push((archive.reference, there));
    }

    async fn restore(&mut self) {
        if self.archived.is_empty() {
            return;
        }
        let (reference, there) = self.archived.swap_remove(self.rng.usize(..self.archived.len()));
        let repository = self.fixture.repository();
        let worktree = self.worktrees.restore(&repository, Trust::Trusted, &reference, None).await.unwrap();
        // What had been copied in and was left as it was is copied anew.
        let kept = |files: &Files| -> Files {
            files
                .iter()
                .filter(|(name, _)| !is_copied_in(name))
                .map(|(name, text)| (name.clone(), text.clone()))
                .collect()
        };
        let back = files(worktree.path());
        assert_eq!(kept(&back), kept(&there));
        self.live.push((worktree, back));
    }

    fn check(&self) {
        assert_eq!(self.fixture.state(&self.fixture.project()), self.parent);
        for (worktree, there) in &self.live {
            verify(worktree).unwrap();
            assert_eq!(&files(worktree.path()), there);
        }
    }
}

/// Gives a fresh repository some of what repositories in the field have.
fn populate(fixture: &Fixture, rng: &mut fastrand::Rng) {
    let project = fixture.project();
    if rng.bool() {
        write(&project, ".gitattributes", "*.md text eol=crlf\n*.bin -text\n");
    }
    if rng.bool() {
        fixture.git(&project, &["config", "core.autocrlf", ["true", "input"][rng.usize(..2)]]);
    }
    if rng.bool() {
        write(&project, ".worktreeinclude", ".env\n");
        write(&project, ".env", "SECRET=1");
    }
    for n in 0..rng.usize(..30) {
        write(&project, format!("many/{}/file-{n}.txt", n % 5), format!("{n}\n").repeat(n));
    }
    set_executable(&project.join("src/main.rs"), rng.bool());
    fixture.commit(&project, "what it has");
    if rng.bool() {
        write(&project, "stashed.txt", "x");
        fixture.git(&project, &["stash", "--include-untracked"]);
    }
    if rng.bool() {
        fixture.git(&project, &["checkout", "--quiet", "--detach"]);
    }
    if rng.bool() {
        write(&project, "staged.txt", "staged");
        fixture.git(&project, &["add", "staged.txt"]);
        write(&project, "staged.txt", "and changed again");
        write(&project, "untracked.txt", "x");
    }
}

/// What a worktree must have of its parent's files: not what is ignored; with another's line endings.
fn comparable(files: &Files) -> Files {
    let kept = files.iter().filter(|(name, _)| !name.contains(".log") && !is_copied_in(name));
    kept.map(|(name, content)| (name.clone(), without_returns(content))).collect()
}

fn without_returns(content: &[u8]) -> Vec<u8> {
    content.iter().copied().filter(|byte| *byte != b'\r').collect()
}

/// Ignored, and copied by the project's wish.
fn is_copied_in(name: &str) -> bool {
    name == ".env"
}

#[test]
fn a_thousand_deeds_lose_no_byte_and_never_change_the_parent() {
    let runtime = || tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    std::thread::scope(|scope| {
        for first in 0..AT_ONCE {
            scope.spawn(move || {
                for seed in (first..LIVES).step_by(usize::try_from(AT_ONCE).unwrap()) {
                    runtime().block_on(live(seed));
                }
            });
        }
    });
}

async fn live(seed: u64) {
    let mut life = Life::new(seed);
    for _ in 0..DEEDS {
        life.step().await;
        life.check();
    }
    while !life.archived.is_empty() {
        life.restore().await;
    }
    life.check();
    let (is_sound, words) = life.fixture.try_git(&life.fixture.project(), &["fsck", "--connectivity-only"]);
    assert!(is_sound, "{words}");
}

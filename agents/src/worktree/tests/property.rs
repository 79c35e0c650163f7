//! Random lives of a small repository: whatever is done, no byte is lost that wasn't thrown away by hand, and the
//! person's checkout changes by their own hand alone.

use std::collections::BTreeMap;

use super::*;

type Files = BTreeMap<String, Vec<u8>>;

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
        let project = fixture.project();
        write(&project, ".gitattributes", "*.md text eol=crlf\n");
        fixture.commit(&project, "attributes");
        write(&project, "stashed.txt", "x");
        fixture.git(&project, &["stash", "--include-untracked"]);
        let (worktrees, parent) = (fixture.worktrees(), fixture.state(&project));
        let rng = fastrand::Rng::with_seed(seed);
        Self { fixture, worktrees, rng, live: Vec::new(), archived: Vec::new(), parent, made: 0 }
    }

    async fn step(&mut self) {
        match self.rng.u8(..100) {
            _ if self.live.is_empty() => self.create().await,
            0..10 => self.create().await,
            10..20 => {
                let project = self.fixture.project();
                self.edit(&project);
                self.parent = self.fixture.state(&project);
            }
            20..60 => {
                let n = self.rng.usize(..self.live.len());
                let path = self.live[n].0.path().to_path_buf();
                self.edit(&path);
                self.live[n].1 = files(&path);
            }
            60..70 => {
                let n = self.rng.usize(..self.live.len());
                self.worktrees.commit_all(&self.live[n].0, "work", false).await.unwrap();
            }
            70..78 => self.finish().await,
            78..90 => self.archive().await,
            _ => self.restore().await,
        }
    }

    async fn create(&mut self) {
        let mut spec = spec(&format!("a-{:06}", self.made), self.fixture.project());
        self.made += 1;
        let mut seen = files(&self.fixture.project());
        if !self.live.is_empty() && self.rng.bool() {
            let (parent, there) = &self.live[self.rng.usize(..self.live.len())];
            spec.parent = Parent::Worktree(Box::new(parent.clone()));
            seen = there.clone();
        }
        let worktree = self.worktrees.create(spec).await.unwrap();
        let there = files(worktree.path());
        // Line endings are the checkout's; everything else is what the parent sees, without what is ignored.
        let comparable = |files: &Files| -> Files {
            let kept = files.iter().filter(|(name, _)| !name.contains(".log") && !name.contains(".md"));
            kept.map(|(name, content)| (name.clone(), content.clone())).collect()
        };
        assert_eq!(comparable(&there), comparable(&seen));
        self.live.push((worktree, there));
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
        if let Finished::Removed { .. } = self.worktrees.finish(&worktree).await.unwrap() {
            // What is gone is in the base, but for ignored files and line endings.
            let names = self.fixture.git(&self.fixture.project(), &["ls-tree", "-rz", "--name-only", &worktree.base]);
            let names: std::collections::BTreeSet<_> = names.split_terminator('\0').collect();
            let plain = |name: &str| name.trim_end_matches(" ->").trim_end_matches(" *").to_owned();
            for name in there.keys().map(|name| plain(name)).filter(|name| name != "notes.log") {
                assert!(names.contains(name.as_str()), "{name:?} was in no commit");
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
        let worktree = self.worktrees.restore(&repository, Trust::Trusted, &reference).await.unwrap();
        assert_eq!(files(worktree.path()), there);
        self.live.push((worktree, there));
    }

    fn check(&self) {
        assert_eq!(self.fixture.state(&self.fixture.project()), self.parent);
        for (worktree, there) in &self.live {
            verify(worktree).unwrap();
            assert_eq!(&files(worktree.path()), there);
        }
    }
}

#[tokio::test]
async fn no_byte_is_lost_and_the_parent_never_changes() {
    for seed in 0..4 {
        let mut life = Life::new(seed);
        for _ in 0..40 {
            life.step().await;
            life.check();
        }
        while !life.archived.is_empty() {
            life.restore().await;
        }
        life.check();
    }
}

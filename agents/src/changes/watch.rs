//! Tells when something in a worktree was touched, without any process while nothing is.
//!
//! Every folder that git doesn't ignore is watched: those of the index at once, without a look at the directory, the rest a
//! moment later, when a walk has found them; they are reported as touched then. Where the system runs out of watches, the
//! whole directory is reported as touched now and then instead.

use std::collections::{BTreeSet, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use ignore::WalkBuilder;
use notify::event::{AccessKind, AccessMode};
use notify::{EventKind, RecommendedWatcher, RecursiveMode, Watcher};

use crate::git::to_path;
use crate::worktree::Worktree;

/// How long it must be quiet before touched paths are reported.
const QUIET: Duration = Duration::from_millis(10);

/// How long a report waits at most for quiet.
const LATEST: Duration = Duration::from_millis(100);

/// How often everything is reported as touched when there are no watches.
const POLL: Duration = Duration::from_secs(10);

/// Most paths of a report; more are everything.
const MANY: usize = 1_000;

/// What was touched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Touched {
    /// These paths, relative to the top; of folders, everything below. For [`super::Changes::summary_after`].
    Paths(Vec<PathBuf>),
    /// Nobody knows: look at everything.
    Everything,
}

/// Watches one worktree until it is dropped.
pub struct Watch {
    wake: Sender<Message>,
    polling: Arc<AtomicBool>,
    /// Tells the walk that nobody waits for it any more.
    stop: Arc<AtomicBool>,
    threads: Vec<JoinHandle<()>>,
}

enum Message {
    Event(notify::Result<notify::Event>),
    /// A folder that a walk has found.
    Folder(PathBuf),
    Stop,
}

impl Watch {
    /// Begins to watch. `told` is called on a thread of its own for each report; what takes long in it delays the next.
    pub fn start(worktree: &Worktree, told: impl FnMut(Touched) + Send + 'static) -> Self {
        let (wake, messages) = channel();
        let events = wake.clone();
        // The watcher's thread only passes on.
        let watcher = RecommendedWatcher::new(
            move |event| drop(events.send(Message::Event(event))),
            notify::Config::default().with_follow_symlinks(false),
        );
        let listed = listed(worktree.path(), &worktree.checkout.index());
        Self::run(worktree.path().to_path_buf(), listed, watcher.ok(), (wake, messages), POLL, told)
    }

    /// Whether the system's watches ran out, so that changes are seen later.
    pub fn is_polling(&self) -> bool {
        self.polling.load(Ordering::Relaxed)
    }

    fn run(
        root: PathBuf,
        listed: Option<Vec<PathBuf>>,
        watcher: Option<RecommendedWatcher>,
        (wake, messages): (Sender<Message>, Receiver<Message>),
        poll: Duration,
        told: impl FnMut(Touched) + Send + 'static,
    ) -> Self {
        let polling = Arc::new(AtomicBool::new(watcher.is_none()));
        let mut watching = Watching {
            root,
            watcher,
            known: HashSet::new(),
            polling: Arc::clone(&polling),
            touched: BTreeSet::new(),
            all: false,
        };
        let top = watching.root.clone();
        let stop = Arc::new(AtomicBool::new(false));
        let mut threads = Vec::new();
        match listed.filter(|_| watching.watcher.is_some()) {
            Some(folders) => {
                for folder in &folders {
                    watching.add(folder);
                }
                let (found, stop) = (wake.clone(), Arc::clone(&stop));
                threads.push(std::thread::spawn(move || {
                    for folder in walk(&top).take_while(|_| !stop.load(Ordering::Relaxed)) {
                        // It fails only when nobody watches any more.
                        let _ = found.send(Message::Folder(folder));
                    }
                }));
            }
            None => watching.add_below(&top),
        }
        threads.push(std::thread::spawn(move || watching.report(&messages, poll, told)));
        Self { wake, polling, stop, threads }
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        let _ = self.wake.send(Message::Stop);
        for thread in self.threads.drain(..) {
            let _ = thread.join();
        }
    }
}

struct Watching {
    root: PathBuf,
    /// Absent when there are no watches to be had.
    watcher: Option<RecommendedWatcher>,
    /// Folders that are watched, as far as they are still there.
    known: HashSet<PathBuf>,
    polling: Arc<AtomicBool>,
    touched: BTreeSet<PathBuf>,
    all: bool,
}

impl Watching {
    /// Takes messages, and reports when it has been quiet for a moment.
    fn report(mut self, messages: &Receiver<Message>, poll: Duration, mut told: impl FnMut(Touched)) {
        let mut first: Option<Instant> = None;
        loop {
            let wait = match first {
                Some(first) => QUIET.min((first + LATEST).saturating_duration_since(Instant::now())),
                None if self.watcher.is_none() => poll,
                None => Duration::MAX,
            };
            match receive(messages, wait) {
                Ok(message @ (Message::Event(_) | Message::Folder(_))) => {
                    match message {
                        Message::Event(event) => self.take(event),
                        Message::Folder(folder) => self.take_found(&folder),
                        Message::Stop => return,
                    }
                    if self.all || !self.touched.is_empty() {
                        first.get_or_insert_with(Instant::now);
                    }
                }
                Err(RecvTimeoutError::Timeout) => {
                    self.all |= first.is_none();
                    told(self.touched());
                    first = None;
                }
                Ok(Message::Stop) | Err(RecvTimeoutError::Disconnected) => return,
            }
        }
    }

    fn touched(&mut self) -> Touched {
        let paths = std::mem::take(&mut self.touched);
        if std::mem::take(&mut self.all) || paths.len() > MANY {
            Touched::Everything
        } else {
            Touched::Paths(paths.into_iter().collect())
        }
    }

    fn take(&mut self, event: notify::Result<notify::Event>) {
        let Ok(event) = event else {
            self.all = true;
            return;
        };
        self.all |= event.need_rescan();
        // Reading isn't touching: our own looks would wake us.
        if matches!(event.kind, EventKind::Access(kind) if kind != AccessKind::Close(AccessMode::Write)) {
            return;
        }
        for path in event.paths {
            let Ok(inside) = path.strip_prefix(&self.root) else { continue };
            if inside.as_os_str().is_empty() || inside.starts_with(".git") {
                continue;
            }
            // What was written into a new folder before it was watched is found by looking at the whole folder.
            let is_folder = path.symlink_metadata().is_ok_and(|meta| meta.is_dir());
            if is_folder && !matches!(event.kind, EventKind::Modify(notify::event::ModifyKind::Metadata(_))) {
                self.add_below(&path);
            }
            self.touched.insert(inside.to_path_buf());
        }
    }

    /// A folder that no file of the index is in: what happened there before it was watched is looked at.
    fn take_found(&mut self, folder: &Path) {
        if self.watcher.is_none() || self.known.contains(folder) {
            return;
        }
        self.add(folder);
        if let Ok(inside) = folder.strip_prefix(&self.root) {
            self.touched.insert(inside.to_path_buf());
        }
    }

    /// Watches a folder and those below it that git doesn't ignore.
    fn add_below(&mut self, folder: &Path) {
        for folder in walk(folder) {
            self.add(&folder);
        }
    }

    /// Watches a folder, unless there are no watches to be had. Doing it again renews what a folder of the same name lost.
    fn add(&mut self, folder: &Path) {
        let Some(watcher) = &mut self.watcher else { return };
        match watcher.watch(folder, RecursiveMode::NonRecursive) {
            Ok(()) => drop(self.known.insert(folder.to_path_buf())),
            // It went away again; its parent's watch tells.
            Err(_) if folder.symlink_metadata().is_err() => {}
            Err(_) => {
                self.watcher = None;
                self.polling.store(true, Ordering::Relaxed);
            }
        }
    }
}

/// A folder and those below it that git doesn't ignore. Ignore files count as in git: those of the folders above, up to the
/// top, too. None of the person's own, since watching too much does no harm.
fn walk(folder: &Path) -> impl Iterator<Item = PathBuf> + use<> {
    let walk = WalkBuilder::new(folder)
        .hidden(false)
        .ignore(false)
        .git_global(false)
        .git_exclude(false)
        .follow_links(false)
        .filter_entry(|entry| entry.file_name() != ".git" && entry.file_type().is_some_and(|kind| kind.is_dir()))
        .build();
    walk.flatten().map(ignore::DirEntry::into_path)
}

/// The top and every folder on the way to a file of the index, those above first. Nothing where it can't be read.
fn listed(root: &Path, index: &Path) -> Option<Vec<PathBuf>> {
    let index = git2::Index::open(index).ok()?;
    let mut folders = BTreeSet::from([root.to_path_buf()]);
    let mut last: Vec<u8> = Vec::new();
    for entry in index.iter() {
        let end = entry.path.iter().rposition(|byte| *byte == b'/').unwrap_or(0);
        // Neighbours lie in the same folder, mostly.
        if end == 0 || entry.path[..end] == last[..] {
            continue;
        }
        last = entry.path[..end].to_vec();
        for folder in to_path(&last).ancestors().filter(|folder| !folder.as_os_str().is_empty()) {
            if !folders.insert(root.join(folder)) {
                break;
            }
        }
    }
    // One that the agent has replaced by a link leads elsewhere, and so does everything below it.
    let mut there: HashSet<PathBuf> = HashSet::new();
    let is_there = |folder: &PathBuf| folder.symlink_metadata().is_ok_and(|meta| meta.is_dir());
    for folder in folders {
        if folder == root || folder.parent().is_some_and(|above| there.contains(above)) && is_there(&folder) {
            there.insert(folder);
        }
    }
    Some(there.into_iter().collect())
}

fn receive(messages: &Receiver<Message>, wait: Duration) -> Result<Message, RecvTimeoutError> {
    if wait == Duration::MAX {
        messages.recv().map_err(|_| RecvTimeoutError::Disconnected)
    } else {
        messages.recv_timeout(wait)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::git::fixture::write;

    /// Long enough for a busy machine; a test that works never waits for it.
    const PATIENCE: Duration = Duration::from_secs(30);

    fn folder() -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        write(folder.path(), ".git", "gitdir: elsewhere\n");
        write(folder.path(), ".gitignore", "/target/\n");
        write(folder.path(), "src/deep/a.txt", "x");
        write(folder.path(), "target/deep/out", "x");
        folder
    }

    fn watch(root: &Path) -> (Watch, Receiver<Touched>) {
        let (send, reports) = channel();
        let (wake, messages) = channel();
        let events = wake.clone();
        let watcher = notify::recommended_watcher(move |event| drop(events.send(Message::Event(event)))).unwrap();
        let root = root.canonicalize().unwrap();
        let told = move |touched| drop(send.send(touched));
        (Watch::run(root, None, Some(watcher), (wake, messages), POLL, told), reports)
    }

    /// Waits until all these paths were reported.
    fn expect(reports: &Receiver<Touched>, wanted: &[&str]) -> BTreeSet<PathBuf> {
        let mut seen = BTreeSet::new();
        while !wanted.iter().all(|path| seen.contains(Path::new(path))) {
            match reports.recv_timeout(PATIENCE).unwrap_or_else(|error| panic!("{error}: only {seen:?}")) {
                Touched::Paths(paths) => seen.extend(paths),
                Touched::Everything => panic!("everything"),
            }
        }
        seen
    }

    #[test]
    fn a_touched_file_is_reported_and_an_ignored_folder_is_not() {
        let folder = folder();
        let (watch, reports) = watch(folder.path());
        assert!(!watch.is_polling());
        write(folder.path(), "target/deep/more", "x");
        write(folder.path(), "src/deep/a.txt", "changed");
        let seen = expect(&reports, &["src/deep/a.txt"]);
        assert!(seen.iter().all(|path| !path.starts_with("target")), "{seen:?}");
        std::fs::remove_file(folder.path().join("src/deep/a.txt")).unwrap();
        expect(&reports, &["src/deep/a.txt"]);
    }

    #[test]
    fn files_in_new_folders_are_covered_at_once_and_later() {
        let folder = folder();
        let (_watch, reports) = watch(folder.path());
        for n in 0..20 {
            write(folder.path(), format!("new-{n}/one/two/three/file.txt"), "x");
            expect(&reports, &[&format!("new-{n}")]);
            write(folder.path(), format!("new-{n}/one/two/three/later.txt"), "x");
            expect(&reports, &[&format!("new-{n}/one/two/three/later.txt")]);
        }
    }

    #[test]
    fn the_folders_of_the_index_are_watched_at_once_and_the_others_a_moment_later() {
        let folder = folder();
        let root = folder.path().canonicalize().unwrap();
        let elsewhere = tempfile::tempdir().unwrap();
        write(&root, "notes/old.txt", "x");
        std::os::unix::fs::symlink(elsewhere.path(), root.join("link")).unwrap();
        let mut index = git2::Index::open(&root.join("index")).unwrap();
        let blob = git2::Oid::from_str("e69de29bb2d1d6434b8b29ae775ad8c2e48c5391").unwrap();
        for path in ["src/deep/a.txt", "README.md", "gone/b.txt", "link/below/c.txt"] {
            index.add(&crate::git::index_entry(path.into(), blob, 0o100_644)).unwrap();
        }
        index.write().unwrap();
        let mut folders = listed(&root, &root.join("index")).unwrap();
        folders.sort();
        assert_eq!(folders, [root.clone(), root.join("src"), root.join("src/deep")]);

        let (send, reports) = channel();
        let (wake, messages) = channel();
        let events = wake.clone();
        let watcher = notify::recommended_watcher(move |event| drop(events.send(Message::Event(event)))).unwrap();
        let told = move |touched| drop(send.send(touched));
        let _watch = Watch::run(root.clone(), Some(folders), Some(watcher), (wake, messages), POLL, told);
        write(&root, "src/deep/a.txt", "changed");
        expect(&reports, &["src/deep/a.txt", "notes"]);
        write(&root, "notes/old.txt", "changed");
        expect(&reports, &["notes/old.txt"]);
    }

    #[test]
    fn without_watches_everything_is_reported_now_and_then() {
        let folder = folder();
        let (send, reports) = channel();
        let told = move |touched| drop(send.send(touched));
        let root = folder.path().to_path_buf();
        let watch =
            Watch::run(root, Some(vec![folder.path().to_path_buf()]), None, channel(), Duration::from_millis(1), told);
        assert!(watch.is_polling());
        for _ in 0..3 {
            assert_eq!(reports.recv_timeout(PATIENCE).unwrap(), Touched::Everything);
        }
    }
}

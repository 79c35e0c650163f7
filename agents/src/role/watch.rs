//! Keeps the catalog current: a saved role is there within a second, also in a folder that did not exist before.
//!
//! One thread waits for the file system's word, or looks twice a second where there is none. It loads a new catalog and
//! hands it out if it says something new; agents that run keep the role they hold. It never writes.

use std::sync::Arc;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use notify::event::{AccessKind, AccessMode, EventKind};
use notify::{RecommendedWatcher, RecursiveMode, Watcher};
use tokio::sync::watch;

use super::catalog::Catalog;
use super::folder::{RoleFolders, Watched};

/// How long it must be quiet before a change is read: editors write in several steps.
const QUIET: Duration = Duration::from_millis(50);
/// How long a change waits for quiet at most.
const PATIENCE: Duration = Duration::from_millis(300);
/// How often is looked where the file system tells nothing.
const POLL: Duration = Duration::from_millis(500);

/// The catalog, kept current until this is dropped.
#[derive(Debug)]
pub struct CatalogWatch {
    receiver: watch::Receiver<Arc<Catalog>>,
    wake: mpsc::Sender<Wake>,
    thread: Option<JoinHandle<()>>,
}

enum Wake {
    /// Something may have changed.
    Changed,
    /// The watch ends.
    Stop,
}

impl CatalogWatch {
    /// Loads the catalog, and goes on loading it whenever one of the folders changes. The first one is there on return.
    pub fn start(folders: RoleFolders, known_tools: Vec<String>) -> Self {
        Self::with_poll(folders, known_tools, None)
    }

    /// `poll`: how often to look, instead of listening to the file system.
    fn with_poll(folders: RoleFolders, known_tools: Vec<String>, poll: Option<Duration>) -> Self {
        let load = move |folders: &RoleFolders| {
            let known: Vec<&str> = known_tools.iter().map(String::as_str).collect();
            Catalog::load(folders, &known)
        };
        let (sender, receiver) = watch::channel(Arc::new(load(&folders)));
        let (wake, woken) = mpsc::channel();
        let waker = wake.clone();
        let run = move || keep_current(&folders, &load, &sender, &waker, &woken, poll);
        let thread = std::thread::Builder::new().name("roles".to_owned()).spawn(run);
        let thread = thread.inspect_err(|error| tracing::warn!(%error, "roles are not watched for changes")).ok();
        Self { receiver, wake, thread }
    }

    /// The catalog as it is now.
    pub fn catalog(&self) -> Arc<Catalog> {
        Arc::clone(&self.receiver.borrow())
    }

    /// Follows the catalog. The receiver sees a change exactly when the catalog says something new, and its sender is gone
    /// when the watch is dropped.
    pub fn subscribe(&self) -> watch::Receiver<Arc<Catalog>> {
        self.receiver.clone()
    }

    /// Looks again now, for a caller that has just written a role.
    pub fn reload(&self) {
        // A thread that is gone has nothing to load with.
        let _ = self.wake.send(Wake::Changed);
    }
}

impl Drop for CatalogWatch {
    fn drop(&mut self) {
        let _ = self.wake.send(Wake::Stop);
        if let Some(thread) = self.thread.take()
            && thread.join().is_err()
        {
            tracing::error!("the thread that watched the roles had panicked");
        }
    }
}

fn keep_current(
    folders: &RoleFolders,
    load: &dyn Fn(&RoleFolders) -> Catalog,
    sender: &watch::Sender<Arc<Catalog>>,
    wake: &mpsc::Sender<Wake>,
    woken: &mpsc::Receiver<Wake>,
    poll: Option<Duration>,
) {
    loop {
        let watched = folders.watched();
        // Open before the folders are read, so that nothing falls between. Opened anew each time: a folder that went and
        // came back is another one.
        let listening = if poll.is_some() { None } else { listen(&watched, wake) };
        let catalog = load(folders);
        sender.send_if_modified(|current| {
            let is_new = **current != catalog;
            if is_new {
                *current = Arc::new(catalog);
            }
            is_new
        });
        // Where a folder came or went meanwhile, nobody listens yet: look again soon.
        let again = match listening {
            Some(_) if folders.watched() == watched => None,
            Some(_) => Some(QUIET),
            None => Some(poll.unwrap_or(POLL)),
        };
        if !wait(woken, again) {
            return;
        }
    }
}

/// Waits until something may have changed and has come to rest, or `again` is over. False when the watch ends.
fn wait(woken: &mpsc::Receiver<Wake>, again: Option<Duration>) -> bool {
    let first = match again {
        Some(again) => woken.recv_timeout(again),
        None => woken.recv().map_err(|_| RecvTimeoutError::Disconnected),
    };
    match first {
        Ok(Wake::Changed) => {}
        Err(RecvTimeoutError::Timeout) => return true,
        Ok(Wake::Stop) | Err(RecvTimeoutError::Disconnected) => return false,
    }
    let deadline = Instant::now() + PATIENCE;
    while let Some(left) = deadline.checked_duration_since(Instant::now()) {
        match woken.recv_timeout(QUIET.min(left)) {
            Ok(Wake::Changed) => {}
            Err(RecvTimeoutError::Timeout) => return true,
            Ok(Wake::Stop) | Err(RecvTimeoutError::Disconnected) => return false,
        }
    }
    true
}

/// Opens ears for changes; nothing where the file system or its limits don't allow it.
fn listen(at: &Watched, wake: &mpsc::Sender<Wake>) -> Option<RecommendedWatcher> {
    let (concern, waker) = (at.clone(), wake.clone());
    let hear = move |event: notify::Result<notify::Event>| {
        let matters = match &event {
            Ok(event) => {
                event.need_rescan() || changes(event.kind) && event.paths.iter().any(|path| concern.concerns(path))
            }
            Err(_) => true,
        };
        if matters {
            // Nobody listens any more when the watch has ended.
            let _ = waker.send(Wake::Changed);
        }
    };
    let config = notify::Config::default().with_follow_symlinks(false);
    let mut watcher = RecommendedWatcher::new(hear, config)
        .inspect_err(|error| tracing::warn!(%error, "roles are polled: changes can't be listened for"))
        .ok()?;
    for place in &at.places {
        // A place that went away meanwhile is noticed when the places are compared; any other failure is not.
        if let Err(error) = watcher.watch(place, RecursiveMode::NonRecursive)
            && place.is_dir()
        {
            tracing::warn!(%error, place = %place.display(), "roles are polled: this folder can't be listened to");
            return None;
        }
    }
    Some(watcher)
}

/// Whether an event is about a change: reading a file makes events too, our own reading among them.
fn changes(kind: EventKind) -> bool {
    !matches!(kind, EventKind::Access(access) if access != AccessKind::Close(AccessMode::Write))
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use super::super::samples::TOOLS;
    use super::*;

    /// Longer than any machine needs; a test that works never waits for it.
    const LIMIT: Duration = Duration::from_secs(20);

    fn start(root: &Path, poll: Option<Duration>) -> CatalogWatch {
        let folders = RoleFolders {
            user: Some(root.join("config/offshoot/roles")),
            plugins: Some(root.join("config/offshoot/plugins")),
            project: Some(root.join("project/sub")),
            trusted: true,
        };
        CatalogWatch::with_poll(folders, TOOLS.map(str::to_owned).to_vec(), poll)
    }

    fn write(path: &Path, name: &str, description: &str) {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, format!("---\nname: {name}\ndescription: {description}\n---\nB")).unwrap();
    }

    /// Waits until the catalog is as wanted.
    async fn until(receiver: &mut watch::Receiver<Arc<Catalog>>, wanted: impl Fn(&Catalog) -> bool) {
        let wait = receiver.wait_for(|catalog| wanted(catalog));
        tokio::time::timeout(LIMIT, wait).await.expect("the catalog changes").expect("the watch lives");
    }

    fn says(name: &str, description: &str) -> impl Fn(&Catalog) -> bool {
        move |catalog| catalog.get(name).is_some_and(|role| role.description == description)
    }

    async fn follows_every_change(poll: Option<Duration>) {
        let root = tempfile::tempdir().unwrap();
        let root = root.path();
        fs::create_dir_all(root.join("project/sub")).unwrap();
        let watch = start(root, poll);
        let mut receiver = watch.subscribe();
        assert!(watch.catalog().get("explore").is_some(), "the first one is there at once");

        // Folders that did not exist, several levels deep.
        let user = root.join("config/offshoot/roles/a.md");
        write(&user, "a", "one");
        until(&mut receiver, says("a", "one")).await;
        let project = root.join("project/sub/.claude/agents/deep/er/b.md");
        write(&project, "b", "one");
        until(&mut receiver, says("b", "one")).await;
        write(&root.join("config/offshoot/plugins/acme/roles/c.md"), "c", "one");
        until(&mut receiver, says("acme:c", "one")).await;

        // Written in place, replaced, removed.
        write(&user, "a", "two");
        until(&mut receiver, says("a", "two")).await;
        write(&root.join("new.md"), "a", "three");
        fs::rename(root.join("new.md"), &user).unwrap();
        until(&mut receiver, says("a", "three")).await;
        write(&project, "b", "two");
        until(&mut receiver, says("b", "two")).await;
        fs::remove_file(&user).unwrap();
        until(&mut receiver, |catalog| catalog.get("a").is_none()).await;

        // A whole tree goes and comes back.
        fs::rename(root.join("project/sub/.claude"), root.join("aside")).unwrap();
        until(&mut receiver, |catalog| catalog.get("b").is_none()).await;
        fs::rename(root.join("aside"), root.join("project/sub/.claude")).unwrap();
        until(&mut receiver, says("b", "two")).await;
        write(&project, "b", "three");
        until(&mut receiver, says("b", "three")).await;

        // A repository appears around the project, and its root has roles.
        write(&root.join("project/.offshoot/roles/d.md"), "d", "one");
        fs::create_dir(root.join("project/sub/.git")).unwrap();
        fs::remove_dir(root.join("project/sub/.git")).unwrap();
        fs::create_dir(root.join("project/.git")).unwrap();
        watch.reload();
        until(&mut receiver, says("d", "one")).await;

        drop(watch);
        assert!(tokio::time::timeout(LIMIT, receiver.changed()).await.unwrap().is_err(), "it ends");
    }

    #[tokio::test]
    async fn every_change_is_followed() {
        follows_every_change(None).await;
    }

    #[tokio::test]
    async fn every_change_is_followed_where_nothing_can_be_listened_to() {
        follows_every_change(Some(Duration::from_millis(10))).await;
    }

    #[tokio::test]
    async fn a_save_is_there_within_a_second() {
        let root = tempfile::tempdir().unwrap();
        fs::create_dir_all(root.path().join("project/sub")).unwrap();
        let watch = start(root.path(), None);
        let mut receiver = watch.subscribe();
        let path = root.path().join("config/offshoot/roles/a.md");
        write(&path, "a", "one");
        until(&mut receiver, says("a", "one")).await;
        let saved = Instant::now();
        write(&path, "a", "two");
        until(&mut receiver, says("a", "two")).await;
        assert!(saved.elapsed() < Duration::from_secs(1));
    }

    #[test]
    fn what_does_not_concern_roles_wakes_nobody() {
        let root = tempfile::tempdir().unwrap();
        let root = root.path().canonicalize().unwrap();
        fs::create_dir_all(root.join("project/sub/src")).unwrap();
        let folders = RoleFolders { project: Some(root.join("project/sub")), ..RoleFolders::default() };
        let watched = folders.watched();
        assert!(watched.concerns(&root.join("project/sub/.offshoot")));
        assert!(watched.concerns(&root.join("project/sub/.claude/agents/x.md")));
        assert!(watched.concerns(&root.join("project/sub/.git")));
        for other in ["project/sub/src", "project/sub/x.md", "project/sub/.claude/settings.json", "project/other"] {
            assert!(!watched.concerns(&root.join(other)), "{other}");
        }
        assert!(!changes(EventKind::Access(AccessKind::Open(AccessMode::Any))));
        assert!(changes(EventKind::Access(AccessKind::Close(AccessMode::Write))));
    }
}

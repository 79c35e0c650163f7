//! Deletes in the background what was renamed away.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

/// One thread that deletes one folder after the other. Dropping it ends the thread soon; what is left is deleted after
/// the next start.
#[derive(Default)]
pub(super) struct Trash {
    worker: Mutex<Option<Worker>>,
    stop: Arc<AtomicBool>,
}

struct Worker {
    queue: Sender<Job>,
    thread: JoinHandle<()>,
}

enum Job {
    Delete(PathBuf),
    /// Says when everything before it is done.
    Tell(Sender<()>),
}

impl Trash {
    /// Queues a folder. It must lie in a trash folder of ours.
    pub(super) fn delete(&self, folder: PathBuf) {
        self.queue(Job::Delete(folder));
    }

    /// Waits until everything queued so far is deleted.
    pub(super) fn settle(&self) {
        let (tell, told) = channel();
        self.queue(Job::Tell(tell));
        // It fails when the thread ends instead.
        let _ = told.recv();
    }

    fn queue(&self, job: Job) {
        let mut worker = self.worker.lock().unwrap_or_else(PoisonError::into_inner);
        let worker = worker.get_or_insert_with(|| {
            let (queue, jobs) = channel::<Job>();
            let stop = Arc::clone(&self.stop);
            let thread = std::thread::spawn(move || {
                for job in jobs {
                    match job {
                        Job::Delete(folder) if !stop.load(Ordering::Relaxed) => delete(&folder, &stop),
                        Job::Delete(_) => {}
                        Job::Tell(tell) => drop(tell.send(())),
                    }
                }
            });
            Worker { queue, thread }
        });
        // The thread lives as long as the sender.
        let _ = worker.queue.send(job);
    }
}

impl Drop for Trash {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        let worker = self.worker.get_mut().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(Worker { queue, thread }) = worker {
            drop(queue);
            let _ = thread.join();
        }
    }
}

/// Deletes a folder and what is in it; links are unlinked, never followed. What can't be deleted stays.
fn delete(folder: &Path, stop: &AtomicBool) {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    for entry in entries {
        if stop.load(Ordering::Relaxed) {
            return;
        }
        remove(&entry.path());
    }
    remove(folder);
}

/// Removes whatever `path` is. Doesn't fail when it is gone already.
pub(super) fn remove(path: &Path) {
    let Ok(meta) = path.symlink_metadata() else { return };
    if !meta.is_dir() {
        let _ = std::fs::remove_file(path);
        return;
    }
    // The standard library walks with directory handles: a folder swapped for a link meanwhile isn't followed.
    if std::fs::remove_dir_all(path).is_err() {
        unlock(path);
        let _ = std::fs::remove_dir_all(path);
    }
}

/// Makes folders writable that tools have locked (module caches, for instance), so that they can be emptied.
fn unlock(folder: &Path) {
    let Ok(meta) = folder.symlink_metadata() else { return };
    if !meta.is_dir() {
        return;
    }
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let _ = std::fs::set_permissions(folder, std::fs::Permissions::from_mode(0o700));
    }
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        unlock(&entry.path());
    }
}

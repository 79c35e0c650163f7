//! A process of its own that lives through something and is killed in the middle of it: at one look at its clock, which is
//! looked at once for every decision. What it leaves is then opened by the test.
//!
//! The life is a test of the same binary, which does nothing unless [`Life::given`] says that it was started for one.

use std::path::PathBuf;
use std::process::Command as Process;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use offshoot_agents::agent::{is_addressed, is_running};
use offshoot_agents::clock::{Clock, SystemClock};
use offshoot_agents::settings::Settings;
use offshoot_agents::workbench::Workbench;
use offshoot_protocol::{AgentView, SessionId, SessionView, Timestamp};
use serde::{Deserialize, Serialize};

use crate::world::open_core;
use crate::{Reply, Repository, Scripted};

/// Tells the process of its own what to do.
const LIFE: &str = "OFFSHOOT_TEST_LIFE";

/// Longest wait for anything. Reached only by a failing test.
const DEADLINE: std::time::Duration = std::time::Duration::from_secs(30);

/// What a process of its own is to live through, and when it ends.
#[derive(Debug, Serialize, Deserialize)]
pub struct Life {
    folder: PathBuf,
    /// The project.
    pub project: PathBuf,
    url: String,
    /// This look at the clock is the last.
    looks: u64,
}

/// A clock that kills the program at one look.
#[derive(Debug)]
pub struct Mortal {
    looks: AtomicU64,
    last: u64,
}

impl Clock for Mortal {
    fn now(&self) -> Timestamp {
        if self.looks.fetch_add(1, Ordering::SeqCst) + 1 == self.last {
            let kill = rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::KILL);
            kill.expect("a process may kill itself");
        }
        SystemClock.now()
    }
}

impl Life {
    /// The life that this process was started for, if it was.
    ///
    /// # Panics
    /// When it can't be understood.
    pub fn given() -> Option<Self> {
        let life = std::env::var(LIFE).ok()?;
        Some(serde_json::from_str(&life).expect("a life is plain data"))
    }

    /// The core, and the clock that ends it.
    pub fn open(&self, settings: Settings) -> (Workbench, Arc<Mortal>) {
        let clock = Arc::new(Mortal { looks: AtomicU64::new(0), last: self.looks });
        (open_core(&self.folder, &self.url, settings, clock.clone()), clock)
    }

    /// It came to its end.
    ///
    /// # Panics
    /// When that can't be written down.
    pub fn is_over(&self, clock: &Mortal) {
        let looks = clock.looks.load(Ordering::SeqCst).to_string();
        std::fs::write(self.folder.join("looks"), looks).expect("the folder is there");
    }
}

/// A project, a data folder and a provider for one life.
pub struct Scene {
    /// The project.
    pub repository: Repository,
    /// The provider.
    pub server: Scripted,
    folder: PathBuf,
    test: &'static str,
}

impl Scene {
    /// For the life that the test of this name takes.
    ///
    /// # Panics
    /// When there is no room for it.
    pub fn new(test: &'static str, script: impl IntoIterator<Item = Reply>) -> Self {
        let repository = Repository::with(&[("README.md", "hello\n")]);
        let folder = repository.beside("offshoot");
        std::fs::create_dir(&folder).expect("the folder is new");
        Self { repository, folder, server: Scripted::start(script), test }
    }

    /// Lives until that look at the clock, or to the end. Returns how many looks there were in a whole life.
    ///
    /// # Panics
    /// When it ends in another way.
    pub fn live(&self, looks: u64) -> Option<u64> {
        let life = Life {
            folder: self.folder.clone(),
            project: self.repository.path().to_path_buf(),
            url: self.server.url(),
            looks,
        };
        let output = Process::new(std::env::current_exe().expect("a running test has a path"))
            .args(["--exact", self.test, "--nocapture"])
            .env(LIFE, serde_json::to_string(&life).expect("a life is plain data"))
            .output()
            .expect("the test can be started");
        let text = String::from_utf8_lossy(&output.stderr);
        let looks = std::fs::read_to_string(self.folder.join("looks")).ok();
        assert!(looks.is_some() == output.status.success() && !text.contains("panicked"), "{text}");
        looks.map(|looks| looks.parse().expect("a number"))
    }

    /// What it has left.
    pub fn open(&self, settings: Settings) -> Workbench {
        open_core(&self.folder, &self.server.url(), settings, Arc::new(SystemClock))
    }
}

/// Waits until a session is as `is_so` wants it.
///
/// # Panics
/// When it isn't in time.
pub async fn until(workbench: &Workbench, session: &SessionId, is_so: impl Fn(&SessionView) -> bool) -> SessionView {
    let mut subscription = workbench.subscribe(session, 0).await.expect("a subscription");
    let waiting = async {
        loop {
            let view = workbench.snapshot(session).await.expect("a snapshot").session;
            if is_so(&view) {
                return view;
            }
            subscription.next().await;
        }
    };
    tokio::time::timeout(DEADLINE, waiting).await.expect("it comes to rest")
}

/// Whether nothing runs or waits to be told.
pub fn is_settled(view: &SessionView) -> bool {
    let is_at_rest = |agent: &AgentView| !is_running(&agent.state) && !is_addressed(agent);
    view.agents.iter().all(is_at_rest)
}

//! A door that a test opens when it is ready for what comes behind it.

use tokio::sync::watch;

/// Closed at first; opened once, for everybody. Clones are the same gate, in any thread or runtime.
#[derive(Clone)]
pub struct Gate(watch::Sender<bool>);

impl Default for Gate {
    fn default() -> Self {
        Self::new()
    }
}

impl Gate {
    /// A closed gate.
    pub fn new() -> Self {
        Self(watch::Sender::new(false))
    }

    /// Opens it. Whoever waits, or comes later, passes.
    pub fn open(&self) {
        self.0.send_replace(true);
    }

    /// Waits until it is open.
    pub async fn passed(&self) {
        let mut receiver = self.0.subscribe();
        receiver.wait_for(|is_open| *is_open).await.expect("this gate holds the sender");
    }
}

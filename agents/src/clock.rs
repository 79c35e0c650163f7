//! The time of day and random ids, handed in so that tests can fix them.

use std::sync::Mutex;

use jiff::Timestamp;

/// Tells the time.
pub trait Clock: Send + Sync {
    /// The current time (UTC). Must not go backwards by more than the system clock does.
    fn now(&self) -> Timestamp;
}

/// The clock of this machine.
#[derive(Debug, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> Timestamp {
        Timestamp::now()
    }
}

/// Makes ids: a prefix and ten characters that people can read aloud.
pub struct Ids(Mutex<fastrand::Rng>);

/// Crockford's base 32 in lower case: no `i`, `l`, `o`, `u`.
const ALPHABET: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";

impl Ids {
    /// Ids that differ in every run.
    pub fn random() -> Self {
        Self(Mutex::new(fastrand::Rng::new()))
    }

    /// The same ids in every run, for tests.
    pub fn seeded(seed: u64) -> Self {
        Self(Mutex::new(fastrand::Rng::with_seed(seed)))
    }

    /// A new id: `<prefix><ten characters>`, 50 random bits.
    pub fn next(&self, prefix: &str) -> String {
        let mut rng = self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let tail = (0..10).map(|_| char::from(ALPHABET[rng.usize(..ALPHABET.len())]));
        prefix.chars().chain(tail).collect()
    }
}

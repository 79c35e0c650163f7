//! Prime, then fan out: when forks start together and their common beginning isn't cached yet, one goes ahead and writes it,
//! and the others follow as soon as they can read it.
//!
//! Nobody waits for long: at most [`LONGEST_WAIT`], and not at all for one that failed or was stopped; the next of those
//! that waited then goes ahead.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use offshoot_protocol::{Inherited, Timestamp};
use tokio::sync::watch;
use tokio::time::Instant;

use super::Worker;
use crate::cache::{self, Caching};
use crate::clock::Clock;
use crate::model::RequestHead;

/// Longest wait for the one that goes ahead.
pub const LONGEST_WAIT: Duration = Duration::from_secs(3);

/// The forks of one session, as far as they start together.
#[derive(Default)]
pub struct FanOut {
    waves: Mutex<HashMap<Beginning, watch::Receiver<Phase>>>,
    heads: Mutex<Vec<(Weak<RequestHead>, String)>>,
}

/// What forks have in common before their directives.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Beginning {
    head: String,
    from: String,
    messages: u32,
    /// What stands in for open calls differs.
    by_person: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// It was sent; nothing has come back.
    Away,
    /// Its answer has begun: what it wrote can be read since then.
    Begun(Timestamp),
}

/// Goes ahead. Dropping it before its answer has begun lets another one go ahead.
pub(super) struct Lead(watch::Sender<Phase>);

impl Lead {
    /// The answer has begun.
    pub(super) fn begun(self, at: Timestamp) {
        self.0.send_replace(Phase::Begun(at));
    }
}

impl FanOut {
    /// The head's fingerprint, computed once while it is in use.
    pub(super) fn fingerprint(&self, head: &Arc<RequestHead>) -> String {
        let mut heads = lock(&self.heads);
        heads.retain(|(known, _)| known.strong_count() > 0);
        if let Some((_, text)) = heads.iter().find(|(known, _)| std::ptr::eq(known.as_ptr(), Arc::as_ptr(head))) {
            return text.clone();
        }
        let text = head.fingerprint();
        heads.push((Arc::downgrade(head), text.clone()));
        text
    }

    /// Waits until the agent's next request, with this head, may leave. With a [`Lead`] others wait for it. Nobody waits
    /// where nothing is cached.
    pub(super) async fn admit(&self, worker: &Worker, head: &Arc<RequestHead>) -> Option<Lead> {
        let fork_point = worker.fork_point.filter(|_| head.caching() != Caching::Unknown)?;
        let fingerprint = self.fingerprint(head);
        let beginning = beginning(worker, fork_point, &fingerprint)?;
        let clock = worker.journal.clock();
        let is_covered = |now| worker.journal.read(|fold| fold.is_covered(&worker.id, &fingerprint, now));
        self.pass(&beginning, &**clock, is_covered).await
    }

    async fn pass(
        &self,
        beginning: &Beginning,
        clock: &dyn Clock,
        is_covered: impl Fn(Timestamp) -> bool,
    ) -> Option<Lead> {
        let deadline = Instant::now() + LONGEST_WAIT;
        loop {
            let now = clock.now();
            if is_covered(now) {
                return None;
            }
            let mut ahead = match self.join(beginning, now) {
                Ok(lead) => return Some(lead),
                Err(ahead) => ahead,
            };
            let begun = ahead.wait_for(|phase| *phase != Phase::Away);
            match tokio::time::timeout_at(deadline, begun).await {
                Ok(Ok(_)) | Err(tokio::time::error::Elapsed { .. }) => return None,
                // It failed or was stopped.
                Ok(Err(_)) => {}
            }
        }
    }

    /// Goes ahead, or else answers whom to wait for.
    fn join(&self, beginning: &Beginning, now: Timestamp) -> Result<Lead, watch::Receiver<Phase>> {
        let mut waves = lock(&self.waves);
        waves.retain(|_, ahead| match *ahead.borrow() {
            Phase::Away => ahead.has_changed().is_ok(),
            Phase::Begun(at) => now.duration_since(at) <= cache::LIFETIME,
        });
        if let Some(ahead) = waves.get(beginning) {
            return Err(ahead.clone());
        }
        let (lead, ahead) = watch::channel(Phase::Away);
        waves.insert(beginning.clone(), ahead);
        Ok(Lead(lead))
    }
}

/// What a fork's first request has in common with its siblings'; nothing for all other requests.
fn beginning(worker: &Worker, fork_point: u32, head: &str) -> Option<Beginning> {
    worker.journal.read(|fold| {
        let agent = fold.agent(&worker.id).filter(|agent| agent.messages == fork_point)?;
        let Inherited { from, messages } = agent.inherited.as_ref()?;
        let by_person = agent.call.is_none();
        Some(Beginning { head: head.to_owned(), from: from.to_string(), messages: *messages, by_person })
    })
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::SystemClock;

    fn beginning(messages: u32) -> Beginning {
        Beginning { head: "h".to_owned(), from: "a".to_owned(), messages, by_person: false }
    }

    async fn pass(fan_out: &FanOut, messages: u32) -> Option<Lead> {
        fan_out.pass(&beginning(messages), &SystemClock, |_| false).await
    }

    #[tokio::test(start_paused = true)]
    async fn one_goes_ahead_and_the_others_follow_at_its_first_event() {
        let fan_out = FanOut::default();
        let lead = pass(&fan_out, 1).await.unwrap();
        // Others with another beginning don't wait for it.
        assert!(pass(&fan_out, 2).await.is_some());
        let started = Instant::now();
        let followers = futures_util::future::join(pass(&fan_out, 1), pass(&fan_out, 1));
        let begin = async { lead.begun(SystemClock.now()) };
        let ((first, second), ()) = futures_util::future::join(followers, begin).await;
        assert!(first.is_none() && second.is_none());
        // Nor does anybody who comes later.
        assert!(pass(&fan_out, 1).await.is_none());
        assert_eq!(started.elapsed(), Duration::ZERO);
    }

    #[tokio::test(start_paused = true)]
    async fn a_stalled_one_delays_the_others_no_longer_than_the_limit() {
        let fan_out = FanOut::default();
        let stalled = pass(&fan_out, 1).await.unwrap();
        let started = Instant::now();
        let (first, second) = futures_util::future::join(pass(&fan_out, 1), pass(&fan_out, 1)).await;
        assert!(first.is_none() && second.is_none());
        assert_eq!(started.elapsed().as_secs(), LONGEST_WAIT.as_secs());
        drop(stalled);
    }

    #[tokio::test(start_paused = true)]
    async fn when_it_fails_the_next_goes_ahead_at_once() {
        let fan_out = FanOut::default();
        let failed = pass(&fan_out, 1).await.unwrap();
        let started = Instant::now();
        let next = async {
            let first = pass(&fan_out, 1).await.unwrap();
            first.begun(SystemClock.now());
        };
        let last = async {
            tokio::task::yield_now().await;
            assert!(pass(&fan_out, 1).await.is_none());
        };
        let fail = async { drop(failed) };
        futures_util::future::join3(next, last, fail).await;
        assert_eq!(started.elapsed(), Duration::ZERO);
    }

    #[tokio::test(start_paused = true)]
    async fn nobody_waits_for_what_is_cached() {
        let fan_out = FanOut::default();
        let _away = pass(&fan_out, 1).await.unwrap();
        assert!(fan_out.pass(&beginning(1), &SystemClock, |_| true).await.is_none());
    }
}

//! A session's log as it grows: numbers facts, folds them, and shows them once they are stored.
//!
//! [`Journal::record`] is the only way a fact enters a session. It numbers and folds under one lock and hands the event to
//! the log; subscribers get it when it is on disk. A fact that a decision hangs on is recorded by
//! [`Journal::decide`], which reads the fold and records under the same lock.

use std::sync::{Arc, Mutex, Weak};
use std::time::Duration;

use offshoot_protocol::{AgentId, Batch, Delta, Event, EventBody, SessionId, Snapshot, Storage};
use tokio::sync::{Notify, watch};
use tokio::time::Instant;

use crate::clock::Clock;
use crate::log::{Log, LogError};
use crate::view::Fold;

/// Shortest time between two batches of one subscriber: one frame at 30 per second. A window redraws no faster, and a
/// flood of small messages starves its painting.
const FRAME: Duration = Duration::from_millis(33);

/// One session, growing.
pub struct Journal {
    session: SessionId,
    clock: Arc<dyn Clock>,
    log: Arc<Log>,
    live: Mutex<Live>,
    stored: watch::Sender<Stored>,
}

struct Live {
    fold: Fold,
    subscribers: Vec<Weak<Mailbox>>,
}

/// How far the log has got.
#[derive(Clone, Default)]
struct Stored {
    /// Everything up to this number is on disk.
    seq: u64,
    /// Why it will get no further.
    failure: Option<LogError>,
}

impl Journal {
    /// A session that doesn't exist yet: the caller records its `session_created` first.
    pub fn create(session: SessionId, clock: Arc<dyn Clock>, log: Arc<Log>) -> Arc<Self> {
        let fold = Fold::new(session.clone());
        Self::with(session, clock, log, fold)
    }

    /// A session from the log.
    pub fn open(session: SessionId, clock: Arc<dyn Clock>, log: Arc<Log>) -> Result<Arc<Self>, LogError> {
        let mut fold = Fold::new(session.clone());
        log.each_event(&session, 0, |event| fold.apply(&event))?;
        Ok(Self::with(session, clock, log, fold))
    }

    fn with(session: SessionId, clock: Arc<dyn Clock>, log: Arc<Log>, fold: Fold) -> Arc<Self> {
        let stored = watch::Sender::new(Stored { seq: fold.cursor, failure: None });
        Arc::new(Self { session, clock, log, live: Mutex::new(Live { fold, subscribers: Vec::new() }), stored })
    }

    /// Which session.
    pub fn session(&self) -> &SessionId {
        &self.session
    }

    /// The log behind it, for content by hash.
    pub fn log(&self) -> &Arc<Log> {
        &self.log
    }

    /// The clock that dates its events.
    pub fn clock(&self) -> &Arc<dyn Clock> {
        &self.clock
    }

    /// Reads the fold. `read` must be quick: recording waits for it.
    pub fn read<T>(&self, read: impl FnOnce(&Fold) -> T) -> T {
        read(&self.lock().fold)
    }

    /// Records one fact about an agent. Returns its number; see [`Journal::stored`].
    pub fn record(self: &Arc<Self>, agent: &AgentId, body: EventBody) -> u64 {
        self.decide(|_| (vec![(Some(agent.clone()), body)], ())).0
    }

    /// Looks at the fold and records what follows from it, with nothing in between. Returns the number of the last fact,
    /// which is the cursor when there was none, and what `decide` returned beside the facts.
    pub fn decide<T>(
        self: &Arc<Self>,
        decide: impl FnOnce(&Fold) -> (Vec<(Option<AgentId>, EventBody)>, T),
    ) -> (u64, T) {
        let mut live = self.lock();
        let (facts, rest) = decide(&live.fold);
        let at = self.clock.now();
        let mut events = Vec::with_capacity(facts.len());
        for (agent, body) in facts {
            let event = Event { seq: live.fold.cursor + 1, at, session: self.session.clone(), agent, body };
            live.fold.apply(&event);
            events.push(event);
        }
        let last = live.fold.cursor;
        // Behind a fact that could not be stored nothing more is: the log never has a hole.
        if !events.is_empty() && self.stored.borrow().failure.is_none() {
            let journal = Arc::clone(self);
            // Under the lock, so that the log sees events in the order of their numbers.
            self.log.append(events, move |result| journal.committed(result));
        }
        (last, rest)
    }

    /// Waits until every fact up to `seq` is on disk.
    pub async fn stored(&self, seq: u64) -> Result<(), LogError> {
        let mut stored = self.stored.subscribe();
        let state = stored.wait_for(|state| state.seq >= seq || state.failure.is_some()).await;
        let state = state.expect("the sender lives as long as self");
        match &state.failure {
            Some(failure) if state.seq < seq => Err(failure.clone()),
            _ => Ok(()),
        }
    }

    /// Waits until every fact up to `seq` is on disk, or until it is known that this may take a while: the disk is full, or
    /// fails. The facts stay on their way even then.
    pub async fn stored_soon(&self, seq: u64) -> Result<(), LogError> {
        let mut health = self.log.health();
        let waits = health.wait_for(|health| *health != Storage::Working);
        tokio::select! {
            biased;
            stored = self.stored(seq) => stored,
            Ok(health) = waits => match &*health {
                Storage::Waiting { message } => Err(LogError::Waiting { message: message.clone() }),
                Storage::Working => Ok(()),
            },
        }
    }

    /// Records a fact and waits until it is on disk.
    pub async fn store(self: &Arc<Self>, agent: &AgentId, body: EventBody) -> Result<(), LogError> {
        let seq = self.record(agent, body);
        self.stored(seq).await
    }

    /// Passes streaming text on. Forgotten where nobody listens.
    pub fn stream(&self, delta: &Delta) {
        self.each_mailbox(|content| content.push_delta(delta));
    }

    /// The session as of now, once all of it is on disk.
    pub async fn snapshot(&self) -> Result<Snapshot, LogError> {
        let snapshot = self.read(|fold| Snapshot { cursor: fold.cursor, session: fold.view.clone() });
        self.stored(snapshot.cursor).await?;
        Ok(snapshot)
    }

    /// Everything stored after `cursor`, then whatever comes, without a gap and without repeating anything.
    pub fn subscribe(&self, cursor: u64) -> Result<Subscription, LogError> {
        let mailbox = Arc::new(Mailbox::default());
        // From here on new events arrive in the mailbox; what the log holds by now is read behind its back. An event can
        // be in both, and may arrive only after it was read: the mailbox drops what is not newer than what it had.
        self.lock().subscribers.push(Arc::downgrade(&mailbox));
        let events = self.log.events(&self.session, cursor)?;
        {
            let mut content = mailbox.lock();
            let arrived = std::mem::replace(&mut content.batch.events, events);
            content.newest = content.batch.events.last().map_or(cursor, |event| event.seq);
            content.push_events(&arrived);
        }
        mailbox.arrived.notify_one();
        let mut health = self.log.health();
        if *health.borrow() != Storage::Working {
            health.mark_changed();
        }
        Ok(Subscription { mailbox, health, last: None })
    }

    fn committed(&self, result: Result<Vec<Event>, LogError>) {
        match result {
            Ok(events) => {
                let newest = events.last().map_or(0, |event| event.seq);
                self.each_mailbox(|content| content.push_events(&events));
                self.stored.send_modify(|state| state.seq = newest);
            }
            Err(error) => self.stored.send_modify(|state| state.failure = Some(error)),
        }
    }

    fn each_mailbox(&self, mut put: impl FnMut(&mut Content)) {
        let mut live = self.lock();
        live.subscribers.retain(|subscriber| {
            let Some(mailbox) = subscriber.upgrade() else { return false };
            put(&mut mailbox.lock());
            mailbox.arrived.notify_one();
            true
        });
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Live> {
        self.live.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

/// What waits for one subscriber.
#[derive(Default)]
struct Mailbox {
    content: Mutex<Content>,
    arrived: Notify,
}

#[derive(Default)]
struct Content {
    batch: Batch,
    /// The number of the last event that is or was in it.
    newest: u64,
}

impl Mailbox {
    fn lock(&self) -> std::sync::MutexGuard<'_, Content> {
        self.content.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

impl Content {
    /// Appends events, those that it had already left out.
    fn push_events(&mut self, events: &[Event]) {
        for event in events.iter().filter(|event| event.seq > self.newest) {
            self.batch.events.push(event.clone());
        }
        self.newest = self.batch.events.last().map_or(self.newest, |event| event.seq.max(self.newest));
    }

    /// Appends a delta, merged into an earlier one that it continues.
    fn push_delta(&mut self, delta: &Delta) {
        let continued = self.batch.deltas.iter_mut().rev().find(|earlier| is_same_target(earlier, delta));
        if let Some(earlier) = continued
            && grow(earlier, delta)
        {
            return;
        }
        self.batch.deltas.push(delta.clone());
    }
}

/// Lets a delta say what `next` says, too. False when there is a gap between them.
fn grow(delta: &mut Delta, next: &Delta) -> bool {
    match (delta, next) {
        (Delta::Changes { count, .. }, Delta::Changes { count: newer, .. }) => {
            *count = *newer;
            true
        }
        (Delta::Making { done, all, .. }, Delta::Making { done: newer, all: of, .. }) => {
            (*done, *all) = (*newer, *of);
            true
        }
        (
            Delta::Text { offset, text, .. } | Delta::Output { offset, text, .. } | Delta::Setup { offset, text, .. },
            Delta::Text { offset: next_at, text: next, .. }
            | Delta::Output { offset: next_at, text: next, .. }
            | Delta::Setup { offset: next_at, text: next, .. },
        ) => {
            let end = *offset + u32::try_from(text.encode_utf16().count()).unwrap_or(u32::MAX);
            let continues = *next_at == end;
            if continues {
                text.push_str(next);
            }
            continues
        }
        _ => false,
    }
}

fn is_same_target(a: &Delta, b: &Delta) -> bool {
    match (a, b) {
        (
            Delta::Text { agent, message, block, kind, .. },
            Delta::Text { agent: agent_b, message: message_b, block: block_b, kind: kind_b, .. },
        ) => agent == agent_b && message == message_b && block == block_b && kind == kind_b,
        (Delta::Output { agent, call, .. }, Delta::Output { agent: agent_b, call: call_b, .. }) => {
            agent == agent_b && call == call_b
        }
        (Delta::Changes { agent, .. }, Delta::Changes { agent: agent_b, .. })
        | (Delta::Making { agent, .. }, Delta::Making { agent: agent_b, .. })
        | (Delta::Setup { agent, .. }, Delta::Setup { agent: agent_b, .. }) => agent == agent_b,
        _ => false,
    }
}

/// One listener of a session.
pub struct Subscription {
    mailbox: Arc<Mailbox>,
    health: watch::Receiver<Storage>,
    last: Option<Instant>,
}

impl Subscription {
    /// The next batch: never empty, and at most one per frame.
    pub async fn next(&mut self) -> Batch {
        loop {
            if let Some(last) = self.last {
                tokio::time::sleep_until(last + FRAME).await;
            }
            let mut batch = std::mem::take(&mut self.mailbox.lock().batch);
            if self.health.has_changed().unwrap_or(false) {
                batch.storage = Some(self.health.borrow_and_update().clone());
            }
            if batch != Batch::default() {
                self.last = Some(Instant::now());
                return batch;
            }
            self.last = None;
            tokio::select! {
                () = self.mailbox.arrived.notified() => {}
                // A log that is gone has no news.
                Ok(()) = self.health.changed() => self.health.mark_changed(),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use offshoot_protocol::{CallId, PermissionMode, TextKind};

    use super::*;
    use crate::clock::SystemClock;

    fn journal(folder: &std::path::Path) -> Arc<Journal> {
        let log = Log::open(folder).unwrap();
        let journal = Journal::create(SessionId::from("s"), Arc::new(SystemClock), log);
        journal.decide(|_| {
            let created =
                EventBody::SessionCreated { project: "/p".into(), title: "t".into(), mode: PermissionMode::Default };
            (vec![(None, created)], ())
        });
        journal
    }

    fn renamed(journal: &Arc<Journal>, title: &str) -> u64 {
        journal.decide(|_| (vec![(None, EventBody::SessionRenamed { title: title.into() })], ())).0
    }

    #[tokio::test(start_paused = true)]
    async fn a_subscriber_sees_every_event_once_whenever_it_comes() {
        let folder = tempfile::tempdir().unwrap();
        let journal = journal(folder.path());
        for n in 0..50 {
            renamed(&journal, &n.to_string());
        }
        let mut early = journal.subscribe(0).unwrap();
        let cursor = journal.snapshot().await.unwrap().cursor;
        let mut late = journal.subscribe(cursor).unwrap();
        for n in 50..100 {
            renamed(&journal, &n.to_string());
        }
        for (subscription, first) in [(&mut early, 1), (&mut late, cursor + 1)] {
            let mut seqs = Vec::new();
            while seqs.last() != Some(&101) {
                seqs.extend(subscription.next().await.events.iter().map(|event| event.seq));
            }
            assert_eq!(seqs, (first..=101).collect::<Vec<_>>());
        }
    }

    #[tokio::test(start_paused = true)]
    async fn deltas_that_continue_each_other_are_merged() {
        let folder = tempfile::tempdir().unwrap();
        let journal = journal(folder.path());
        let cursor = journal.snapshot().await.unwrap().cursor;
        let mut subscription = journal.subscribe(cursor).unwrap();
        let text = |offset, text: &str| Delta::Text {
            agent: AgentId::from("a"),
            message: 0,
            block: 0,
            kind: TextKind::Text,
            offset,
            text: text.into(),
        };
        let output = Delta::Output { agent: AgentId::from("a"), call: CallId::from("c"), offset: 0, text: "x".into() };
        journal.stream(&text(0, "a😀"));
        journal.stream(&output);
        journal.stream(&text(3, "b"));
        journal.stream(&text(9, "gap"));
        let batch = subscription.next().await;
        assert_eq!(batch.deltas, [text(0, "a😀b"), output, text(9, "gap")]);
    }

    #[tokio::test]
    async fn a_reopened_session_is_the_same() {
        let folder = tempfile::tempdir().unwrap();
        let before = {
            let journal = journal(folder.path());
            renamed(&journal, "new");
            journal.snapshot().await.unwrap()
        };
        let log = Log::open(folder.path()).unwrap();
        let journal = Journal::open(SessionId::from("s"), Arc::new(SystemClock), log).unwrap();
        assert_eq!(journal.snapshot().await.unwrap(), before);
    }

    #[tokio::test]
    async fn waiting_for_a_fact_that_cannot_be_stored_fails() {
        let folder = tempfile::tempdir().unwrap();
        let journal = journal(folder.path());
        journal.log().close();
        let seq = renamed(&journal, "lost");
        assert!(journal.stored(seq).await.is_err());
    }
}

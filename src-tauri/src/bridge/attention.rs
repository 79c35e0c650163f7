//! Calls the person back to the window: a badge for what waits for them, and a notification of the desktop's when they are
//! elsewhere.
//!
//! A notification says who asks and what kind of thing for, never what exactly: it stands on lock screens and in histories,
//! and commands may hold secrets.

use std::collections::BTreeMap;

use offshoot_protocol::{Access, Batch, EventBody, PermissionRequest, RequestId};

/// Longest name in a notification, in characters.
const NAME_LIMIT: usize = 80;

/// What the desktop can do. Must not block; what it can't do it leaves.
pub(super) trait Desktop {
    /// Whether the person is at the window.
    fn is_in_front(&self) -> bool;
    /// Tells the person something, instead of what was told before.
    fn notify(&self, notice: Notice);
    /// How many requests wait.
    fn badge(&self, count: usize);
}

/// What a notification says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Notice {
    /// Plain text.
    pub(super) title: String,
    /// Fixed words, nothing of a model's.
    pub(super) body: &'static str,
}

/// What waits for the person in one session.
pub(super) struct Attention<D> {
    desktop: D,
    is_wanted: bool,
    waiting: BTreeMap<RequestId, Notice>,
    /// Events up to here were there before the window looked.
    known: u64,
}

impl<D: Desktop> Attention<D> {
    /// Begins with what waits already; nobody is notified of that. `known` is the cursor at which it did.
    pub(super) fn new(desktop: D, is_wanted: bool, waiting: &[PermissionRequest], known: u64) -> Self {
        let waiting = waiting.iter().map(|request| (request.id.clone(), notice(request))).collect();
        let attention = Self { desktop, is_wanted, waiting, known };
        attention.desktop.badge(attention.waiting.len());
        attention
    }

    /// Takes what has happened.
    pub(super) fn take(&mut self, batch: &Batch) {
        let before = self.waiting.len();
        let mut new = Vec::new();
        for event in batch.events.iter().filter(|event| event.seq > self.known) {
            match &event.body {
                EventBody::PermissionRequested { request } => {
                    self.waiting.insert(request.id.clone(), notice(request));
                    new.push(request.id.clone());
                }
                EventBody::PermissionDecided { request, .. } | EventBody::PermissionWithdrawn { request, .. } => {
                    self.waiting.remove(request);
                }
                _ => {}
            }
        }
        if self.waiting.len() != before || !new.is_empty() {
            self.desktop.badge(self.waiting.len());
        }
        // What was settled in the same moment is no news.
        let mut news = new.iter().filter_map(|id| self.waiting.get(id));
        let Some(first) = news.next().filter(|_| self.is_wanted && !self.desktop.is_in_front()) else { return };
        let notice = match self.waiting.len() {
            1 => first.clone(),
            count => Notice { title: format!("{count} requests wait for you"), body: first.body },
        };
        self.desktop.notify(notice);
    }
}

fn notice(request: &PermissionRequest) -> Notice {
    let asker = request.asker.last().map_or("An agent", |asker| asker.title.as_str());
    // One line, and nothing that can't be seen.
    let name: String = asker.chars().map(|c| if c.is_control() || c.is_whitespace() { ' ' } else { c }).collect();
    let name: String = name.chars().filter(|c| !is_invisible(*c)).take(NAME_LIMIT).collect();
    let body = match &request.access {
        Access::Command { .. } if request.tool == "Commit" => "It wants to make a commit.",
        Access::Command { .. } => "It wants to run a command.",
        Access::Edit { .. } => "It wants to change a file.",
        Access::Read { .. } => "It wants to read a file.",
        Access::Delegate { .. } => "It wants to start an agent.",
        Access::Own if request.tool == "WebFetch" => "It wants to fetch a page of the web.",
        Access::Own => "It wants to use a tool.",
    };
    Notice { title: format!("{} asks", name.trim()), body }
}

fn is_invisible(c: char) -> bool {
    matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{ad}')
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use offshoot_protocol::{AgentId, AgentKind, Answer, Asker, CallId, DecidedBy, Event, RawJson};

    use super::*;

    /// Writes down what it is told.
    #[derive(Clone, Default)]
    struct Board {
        in_front: bool,
        told: Arc<Mutex<Vec<String>>>,
    }

    impl Desktop for Board {
        fn is_in_front(&self) -> bool {
            self.in_front
        }

        fn notify(&self, notice: Notice) {
            self.told.lock().unwrap().push(format!("{}: {}", notice.title, notice.body));
        }

        fn badge(&self, count: usize) {
            self.told.lock().unwrap().push(count.to_string());
        }
    }

    fn asked(id: &str, title: &str) -> EventBody {
        let request = PermissionRequest {
            id: RequestId(id.to_owned()),
            asker: vec![Asker { agent: AgentId::from("a"), kind: AgentKind::Fork, title: title.to_owned() }],
            role: None,
            directory: "/p".to_owned(),
            isolated: true,
            call: CallId::from("c"),
            tool: "Bash".to_owned(),
            input: RawJson("{}".to_owned()),
            access: Access::Command { command: "curl -H 'Authorization: hunter2'".to_owned() },
            reason: "no rule".to_owned(),
            suggested_rules: Vec::new(),
            created_at: jiff::Timestamp::UNIX_EPOCH,
        };
        EventBody::PermissionRequested { request }
    }

    fn decided(id: &str) -> EventBody {
        EventBody::PermissionDecided {
            request: RequestId(id.to_owned()),
            answer: Answer::AllowOnce,
            by: DecidedBy::User,
        }
    }

    fn batch(first: u64, bodies: Vec<EventBody>) -> Batch {
        let event = |(at, body): (usize, EventBody)| Event {
            seq: first + at as u64,
            at: jiff::Timestamp::UNIX_EPOCH,
            session: offshoot_protocol::SessionId("s".to_owned()),
            agent: Some(AgentId::from("a")),
            body,
        };
        Batch { events: bodies.into_iter().enumerate().map(event).collect(), ..Batch::default() }
    }

    fn attention(board: &Board, is_wanted: bool) -> Attention<Board> {
        Attention::new(board.clone(), is_wanted, &[], 10)
    }

    fn told(board: &Board) -> Vec<String> {
        std::mem::take(&mut board.told.lock().unwrap())
    }

    #[test]
    fn who_is_elsewhere_is_told_who_asks_and_not_what_exactly() {
        let board = Board::default();
        let mut attention = attention(&board, true);
        attention.take(&batch(11, vec![asked("1", "Rotate\u{202e}\nphases")]));
        assert_eq!(told(&board), ["0", "1", "Rotate phases asks: It wants to run a command."]);
        attention.take(&batch(12, vec![asked("2", "Other"), asked("3", "Third"), decided("3")]));
        assert_eq!(told(&board), ["2", "2 requests wait for you: It wants to run a command."]);
        attention.take(&batch(15, vec![decided("1"), decided("2")]));
        assert_eq!(told(&board), ["0"]);
    }

    #[test]
    fn nobody_is_told_what_is_old_or_settled_or_seen() {
        let board = Board::default();
        let mut attention_ = attention(&board, true);
        attention_.take(&batch(9, vec![asked("1", "Old")]));
        attention_.take(&batch(11, vec![asked("2", "Settled"), decided("2")]));
        assert!(told(&board).iter().all(|line| line == "0"));
        let seen = Board { in_front: true, ..Board::default() };
        attention(&seen, true).take(&batch(11, vec![asked("1", "Here")]));
        let off = Board::default();
        attention(&off, false).take(&batch(11, vec![asked("1", "Off")]));
        assert_eq!(
            (told(&seen), told(&off)),
            (vec!["0".to_owned(), "1".to_owned()], vec!["0".to_owned(), "1".to_owned()])
        );
    }
}

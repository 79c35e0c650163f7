//! Reads such a file: every line bounded and checked, with its number in what is said about it.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead, Read};

use offshoot_protocol::{AgentId, BlobHash, Event, EventBody, SessionId};

use super::{Header, Line, VERSION, hashes};
use crate::log::hash;
use crate::view::Fold;

/// Most bytes of one line. The largest content that is stored is a tool's output, which is bounded below this.
const MAX_LINE: u64 = 64 * 1024 * 1024;

/// Most bytes of a file: it is held in memory until it is known to be fine.
const MAX_FILE: u64 = 1024 * 1024 * 1024;

/// Longest id.
const MAX_ID: usize = 40;

/// A session from a file, checked but not yet settled in a place.
pub struct Imported {
    /// Its id where it was written.
    pub session: SessionId,
    /// Its facts, from 1 without holes.
    pub events: Vec<Event>,
    /// The contents that came with it.
    pub contents: BTreeMap<BlobHash, Vec<u8>>,
}

/// Why a file is not read. Nothing of it was stored.
#[derive(Debug, thiserror::Error)]
#[error("line {line}: {reason}")]
pub struct Refused {
    /// The line, from 1.
    pub line: u64,
    /// What is wrong with it.
    pub reason: String,
}

/// Reads and checks a whole file.
pub fn read(file: impl BufRead) -> Result<Imported, Refused> {
    let mut lines = Lines { file, number: 0, left: MAX_FILE };
    let header = lines.next()?.ok_or_else(|| lines.refuse("the file is empty"))?;
    let header: Header =
        serde_json::from_slice(&header).map_err(|_| lines.refuse("this is no exported session of Offshoot"))?;
    if header.offshoot_session > VERSION {
        let found = header.offshoot_session;
        return Err(
            lines.refuse(format!("it was written by a newer Offshoot (format {found}, this one knows {VERSION})"))
        );
    }
    check_id(&header.session.0).map_err(|reason| lines.refuse(reason))?;
    let imported = Imported { session: header.session, events: Vec::new(), contents: BTreeMap::new() };
    let mut reading = Reading { fold: Fold::new(imported.session.clone()), agents: BTreeSet::new(), imported };
    while let Some(line) = lines.next()? {
        let line = serde_json::from_slice(&line).map_err(|error| lines.refuse(format!("it can't be read: {error}")))?;
        reading.take(line).map_err(|reason| lines.refuse(reason))?;
    }
    if reading.fold.root().is_none() {
        return Err(lines.refuse("the file ends before the session has begun"));
    }
    Ok(reading.imported)
}

struct Lines<F> {
    file: F,
    number: u64,
    left: u64,
}

impl<F: BufRead> Lines<F> {
    fn next(&mut self) -> Result<Option<Vec<u8>>, Refused> {
        let mut line = Vec::new();
        self.number += 1;
        let limit = self.left.min(MAX_LINE) + 1;
        let count = self.file.by_ref().take(limit).read_until(b'\n', &mut line);
        let count = count.map_err(|error| self.refuse(error.to_string()))? as u64;
        if count == limit {
            return Err(self.refuse("the line, or the file, is too long"));
        }
        self.left -= count;
        if count == 0 { Ok(None) } else { Ok(Some(line)) }
    }

    fn refuse(&self, reason: impl Into<String>) -> Refused {
        Refused { line: self.number, reason: reason.into() }
    }
}

/// What is known by a line.
struct Reading {
    imported: Imported,
    fold: Fold,
    agents: BTreeSet<AgentId>,
}

impl Reading {
    fn take(&mut self, line: Line) -> Result<(), String> {
        match line {
            Line::Content { hash: named, text, bytes } => {
                let content = match (text, bytes) {
                    (Some(text), None) => text.into_bytes(),
                    (None, Some(digits)) => from_hexadecimal(&digits).ok_or("the bytes are not hexadecimal")?,
                    _ => return Err("content is either text or bytes".to_owned()),
                };
                if hash(&content) != named {
                    return Err("the content is not what its hash says".to_owned());
                }
                self.imported.contents.insert(named, content);
            }
            Line::Event { event } => {
                self.check(&event)?;
                self.fold.apply(&event);
                self.imported.events.push(*event);
            }
        }
        Ok(())
    }

    fn check(&mut self, event: &Event) -> Result<(), String> {
        if event.session != self.imported.session {
            return Err(format!("it belongs to another session, {}", shown(&event.session.0)));
        }
        let expected = self.fold.cursor + 1;
        if event.seq != expected {
            return Err(format!("event {} is missing; this is {}", expected, event.seq));
        }
        let is_first = matches!(event.body, EventBody::SessionCreated { .. });
        if is_first != (expected == 1) {
            return Err("a session begins with its creation, once".to_owned());
        }
        match (&event.body, &event.agent) {
            (EventBody::AgentCreated(created), Some(agent)) => {
                check_id(&agent.0)?;
                if !self.agents.insert(agent.clone()) {
                    return Err(format!("agent {agent} is created twice"));
                }
                if created.parent.is_none() != self.fold.root().is_none() {
                    return Err("there is one root, and it comes first".to_owned());
                }
                let inherited = created.inherited.as_ref();
                let ancestors = created.parent.iter().chain(inherited.map(|inherited| &inherited.from));
                for ancestor in ancestors {
                    if ancestor == agent || !self.agents.contains(ancestor) {
                        return Err(format!("agent {} isn't known", shown(&ancestor.0)));
                    }
                }
                let has = inherited.map(|inherited| self.fold.transcript(&inherited.from).len());
                if inherited.map(|inherited| inherited.messages) > has {
                    return Err("it inherits more messages than there are".to_owned());
                }
                if !self.imported.contents.contains_key(&created.head) {
                    return Err("the agent's request head is missing".to_owned());
                }
            }
            (EventBody::AgentCreated(_), None) => return Err("an agent without an id".to_owned()),
            (_, Some(agent)) if !self.agents.contains(agent) => {
                return Err(format!("agent {} isn't known", shown(&agent.0)));
            }
            (EventBody::HeadChanged(changed), _) if !self.imported.contents.contains_key(&changed.head) => {
                return Err("the agent's new request head is missing".to_owned());
            }
            _ => {}
        }
        self.check_place(event)?;
        check_names(&event.body)
    }

    /// Messages come in order.
    fn check_place(&self, event: &Event) -> Result<(), String> {
        let index = match &event.body {
            EventBody::MessageAppended { index, .. } | EventBody::ResultsAppended { index, .. } => index,
            EventBody::Compacted(compacted) => &compacted.index,
            _ => return Ok(()),
        };
        let Some(agent) = &event.agent else { return Ok(()) };
        let expected = self.fold.transcript(agent).len();
        if *index == expected {
            Ok(())
        } else {
            Err(format!("message {index} of {agent} stands where {expected} does"))
        }
    }
}

/// Ids that become parts of paths.
fn check_names(body: &EventBody) -> Result<(), String> {
    match body {
        EventBody::ShellStarted { task, .. } | EventBody::ShellEnded { task, .. } => check_id(&task.0),
        EventBody::ChangesApplied { merge, .. } | EventBody::ChangesUndone { merge } => check_id(&merge.0),
        EventBody::InputReceived { input } => {
            check_id(&input.id.0)?;
            input.source.as_ref().map_or(Ok(()), |source| check_id(&source.task.0))
        }
        EventBody::PermissionRequested { request } => {
            check_id(&request.id.0)?;
            if request.asker.is_empty() { Err("a request that nobody makes".to_owned()) } else { Ok(()) }
        }
        _ => Ok(()),
    }
}

/// An id as this program makes them: letters, digits and hyphens. Nothing in it can lead anywhere.
fn check_id(id: &str) -> Result<(), String> {
    let is_fine = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-';
    if !id.is_empty() && id.len() <= MAX_ID && id.bytes().all(is_fine) {
        return Ok(());
    }
    Err(format!("{} is no id", shown(id)))
}

/// A text from the file, fit to be shown.
fn shown(text: &str) -> String {
    text.chars().take(MAX_ID).flat_map(char::escape_debug).collect()
}

fn from_hexadecimal(digits: &str) -> Option<Vec<u8>> {
    let (pairs, rest) = digits.as_bytes().as_chunks::<2>();
    let byte = |pair: &[u8; 2]| {
        let text = std::str::from_utf8(pair).ok().filter(|text| text.bytes().all(|digit| digit.is_ascii_hexdigit()))?;
        u8::from_str_radix(text, 16).ok()
    };
    if rest.is_empty() { pairs.iter().map(byte).collect() } else { None }
}

impl Imported {
    /// The agents in it.
    pub fn agents(&self) -> impl Iterator<Item = &AgentId> {
        self.events
            .iter()
            .filter(|event| matches!(event.body, EventBody::AgentCreated(_)))
            .filter_map(|event| event.agent.as_ref())
    }

    /// The contents that its events refer to; whatever else came along is left behind.
    pub(super) fn wanted(&self) -> BTreeSet<BlobHash> {
        let values = self.events.iter().filter_map(|event| serde_json::to_value(event).ok());
        values.flat_map(|value| hashes(&value)).collect()
    }
}

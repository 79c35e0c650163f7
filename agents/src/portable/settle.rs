//! Gives a session from a file its place here: ids that are free, the project it belongs to, and nothing of what it was
//! allowed, or had its hands on, where it came from.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};

use offshoot_protocol::{
    AgentCreated, AgentId, Answer, BlobHash, Event, EventBody, PermissionMode, SessionId, Warning,
};
use serde_json::Value;

use super::Imported;
use crate::policy::narrower;

/// Where a session goes.
pub struct Place {
    /// Absolute path of the project that it belongs to here.
    pub project: PathBuf,
    /// A folder that nothing is in: what was elsewhere on another machine counts as being there.
    pub nowhere: PathBuf,
    /// New ids for what can't keep its own: sessions and agents, by the old one.
    pub renamed: HashMap<String, String>,
}

impl Imported {
    /// The session as it can be stored here.
    ///
    /// Its worktrees are another machine's: none is known here, whatever lies at such a path. Rules that were granted,
    /// allowed or saved, and modes that ask less, were decisions about another place: they are gone. The texts that agents
    /// have exchanged stay as they are.
    pub fn settle(mut self, place: &Place) -> (SessionId, Vec<Event>, BTreeMap<BlobHash, Vec<u8>>) {
        let wanted = self.wanted();
        self.contents.retain(|hash, _| wanted.contains(hash));
        let there = self.events.iter().find_map(|event| match &event.body {
            EventBody::SessionCreated { project, .. } => Some(PathBuf::from(project)),
            _ => None,
        });
        let there = there.unwrap_or_default();
        let events = std::mem::take(&mut self.events);
        let events: Vec<Event> = events
            .into_iter()
            .map(|mut event| {
                let agent = event.agent.clone();
                event.body = body(event.body, agent.as_ref(), &there, place);
                place.rename(event)
            })
            .collect();
        let session = events.first().map_or(self.session, |event| event.session.clone());
        (session, events, self.contents)
    }
}

fn body(body: EventBody, agent: Option<&AgentId>, there: &Path, place: &Place) -> EventBody {
    match body {
        EventBody::SessionCreated { title, mode, .. } => EventBody::SessionCreated {
            project: place.project.display().to_string(),
            title,
            mode: narrower(mode, PermissionMode::Default),
        },
        EventBody::ModeChanged { mode } => EventBody::ModeChanged { mode: narrower(mode, PermissionMode::Default) },
        EventBody::AgentCreated(created) => EventBody::AgentCreated(Box::new(AgentCreated {
            mode: narrower(created.mode, PermissionMode::Default),
            allow: Vec::new(),
            directory: directory(&created.directory, agent, there, place),
            ..*created
        })),
        EventBody::PermissionDecided { request, answer, by } => {
            let answer = if let Answer::Deny { .. } = answer { answer } else { Answer::AllowOnce };
            EventBody::PermissionDecided { request, answer, by }
        }
        EventBody::WorktreeCreated { worktree } => told(format!(
            "This session was imported. The agent's worktree ({}, branch {}) is on the machine it came from.",
            worktree.path, worktree.branch
        )),
        EventBody::WorktreeRemoved { .. } => told("The worktree was removed there.".to_owned()),
        EventBody::ShellStarted { task, call, command, .. } => {
            let output_file = place.nowhere.join(&task.0).display().to_string();
            EventBody::ShellStarted { task, call, command, output_file }
        }
        other => other,
    }
}

fn told(message: String) -> EventBody {
    EventBody::Warned { warning: Warning { code: "imported".to_owned(), message } }
}

/// A folder of the project there is the same one of the project here; any other is nowhere.
fn directory(text: &str, agent: Option<&AgentId>, there: &Path, place: &Place) -> String {
    let is_plain = |path: &Path| path.components().all(|part| matches!(part, std::path::Component::Normal(_)));
    let here = match Path::new(text).strip_prefix(there) {
        Ok(rest) if rest.as_os_str().is_empty() => place.project.clone(),
        Ok(rest) if is_plain(rest) => place.project.join(rest),
        _ => place.nowhere.join(agent.map_or("agent", AgentId::as_str)),
    };
    here.display().to_string()
}

impl Place {
    /// An event with the new ids in all its fields. Texts that merely mention an id keep it.
    fn rename(&self, event: Event) -> Event {
        if self.renamed.is_empty() {
            return event;
        }
        let renamed = serde_json::to_value(&event).ok().and_then(|mut value| {
            self.rename_in(&mut value);
            serde_json::from_value(value).ok()
        });
        renamed.unwrap_or(event)
    }

    fn rename_in(&self, value: &mut Value) {
        match value {
            Value::String(text) => {
                if let Some(new) = self.renamed.get(text.as_str()) {
                    text.clone_from(new);
                }
            }
            Value::Array(items) => items.iter_mut().for_each(|item| self.rename_in(item)),
            Value::Object(fields) => fields.values_mut().for_each(|field| self.rename_in(field)),
            _ => {}
        }
    }
}

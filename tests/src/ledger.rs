//! Adds up a session's facts: who ended, who was told, how often.

use std::collections::{HashMap, HashSet};

use offshoot_protocol::{AgentId, Event, EventBody, Origin};

/// Checks that every end of a child that nobody waited for made exactly one notification to its parent, together with the
/// end; that every notification has such an end, or is a command's; and that none was delivered twice.
///
/// # Errors
/// Says what is wrong.
pub fn assert_told_once(events: &[Event]) -> Result<(), String> {
    let mut parents: HashMap<AgentId, (AgentId, bool)> = HashMap::new();
    let mut delivered = HashSet::new();
    let mut announced = HashSet::new();
    let mut expected: Option<(AgentId, AgentId)> = None;
    for event in events {
        let about = event.agent.clone();
        if let Some((child, parent)) = expected.take() {
            let is_it = matches!(&event.body, EventBody::InputReceived { input }
                if input.source.as_ref().is_some_and(|source| source.task.0 == child.0));
            if !is_it || about.as_ref() != Some(&parent) {
                return Err(format!("the end of {child} was not told: {event:?}"));
            }
        } else if let EventBody::InputReceived { input } = &event.body
            && input.origin == Origin::Notification
            && input.source.as_ref().is_some_and(|source| parents.contains_key(&AgentId(source.task.0.clone())))
        {
            return Err(format!("told without an end: {event:?}"));
        }
        match (&event.body, about) {
            (EventBody::AgentCreated(created), Some(id)) => {
                if let Some(parent) = &created.parent {
                    parents.insert(id, (parent.clone(), created.background));
                }
            }
            (EventBody::MovedToBackground, Some(id)) => {
                parents.entry(id).and_modify(|(_, background)| *background = true);
            }
            (EventBody::AgentEnded { .. }, Some(id)) => {
                let (parent, background) = parents.get(&id).ok_or_else(|| format!("{id} ended unborn"))?;
                expected = background.then(|| (id.clone(), parent.clone()));
            }
            (EventBody::InputReceived { input }, _) => {
                announced.insert(input.id.clone());
            }
            (EventBody::MessageAppended { inputs, .. } | EventBody::ResultsAppended { inputs, .. }, _) => {
                for input in inputs {
                    if !announced.contains(input) || !delivered.insert(input.clone()) {
                        return Err(format!("input {input} was delivered twice, or never received: {event:?}"));
                    }
                }
            }
            _ => {}
        }
    }
    expected.map_or(Ok(()), |(child, _)| Err(format!("the end of {child} was not told")))
}

//! What was asked: the requests that later ones can build on.

use std::collections::VecDeque;

use jiff::SignedDuration;
use offshoot_protocol::{
    AgentId, AgentState, AgentView, Asked, CacheMiss, MissView, Spending, StepEnded, Timestamp, Usage,
};

use super::{Fold, Node};
use crate::cache::{self, Caching, Earlier, Sent};
use crate::transcript::Transcript;

/// How many of an agent's last requests are remembered. A fork can continue an earlier one than the last.
const REMEMBERED: usize = 8;

/// How many of an agent's last misses its view keeps. The log has all of them.
const MISSES_SHOWN: usize = 50;

/// An agent's requests.
#[derive(Default)]
pub(super) struct Requests {
    /// The first, which a fork has in common with its siblings.
    first: Option<Sent>,
    /// The last ones, newest last.
    last: VecDeque<Sent>,
    /// Whether the one under way asks for a summary. Nothing builds on such a request, since no other ends as it does.
    pub(super) is_summing_up: bool,
    /// When a request for a summary last read what the last one had written.
    summed_up: Option<Timestamp>,
}

impl Requests {
    fn push(&mut self, sent: Sent) {
        if self.first.is_none() {
            self.first = Some(sent.clone());
        }
        if self.last.len() == REMEMBERED {
            self.last.pop_front();
        }
        self.last.push_back(sent);
    }
}

/// Takes an answered request in. Its messages are those that the agent has now.
pub(super) fn ended(agent: &mut AgentView, node: &mut Node, step: &StepEnded, at: Timestamp) {
    agent.state = AgentState::Running;
    agent.steps += 1;
    agent.usage += step.usage;
    node.steps_of_run += 1;
    node.context_tokens = step.usage.prompt() + step.usage.output;
    let Some(asked) = &step.asked else { return };
    Spending::add(&mut agent.spending, asked, step.usage);
    if let Some(miss) = step.missed {
        if agent.misses.len() == MISSES_SHOWN {
            agent.misses.remove(0);
        }
        agent.misses.push(MissView { step: agent.steps, at, miss });
    }
    let before =
        |ms: u64| at - SignedDuration::from_millis(i64::try_from(ms).unwrap_or(i64::MAX).min(i64::from(u32::MAX)));
    let sent_at = before(step.duration_ms);
    if node.requests.is_summing_up {
        if step.usage.cache_read > 0 {
            node.requests.summed_up = Some(sent_at);
        }
        return;
    }
    node.requests.push(Sent {
        head: asked.head.clone(),
        transcript: node.transcript.clone(),
        at: sent_at,
        begun: before(step.duration_ms.saturating_sub(step.begun_ms.unwrap_or_default())),
        usage: step.usage,
    });
}

/// Takes a request in that was billed without an answer.
pub(super) fn lost(agent: &mut AgentView, asked: &Asked, usage: Usage) {
    agent.usage += usage;
    Spending::add(&mut agent.spending, asked, usage);
}

impl Fold {
    /// What the agent's answered request `now` should have read from the provider's cache and didn't. Asked before it is
    /// taken in.
    pub fn missed(&self, id: &AgentId, now: &Sent, caching: Caching) -> Option<CacheMiss> {
        cache::missed(now, &self.earlier(id, &now.transcript), caching)
    }

    /// Whether a fork's first request, whose head has that fingerprint, can read at `now` all but a small end of what it
    /// has in common with its siblings.
    pub fn is_covered(&self, id: &AgentId, head: &str, now: Timestamp) -> bool {
        let transcript = self.transcript(id);
        let earlier = self.earlier(id, &transcript);
        let covers = |before: &Sent| {
            cache::is_covered(&transcript, head, before, earlier.used.unwrap_or(before.at).max(before.at), now)
        };
        let wrote = |sibling: &&Sent| sibling.head == head && now.duration_since(sibling.at) <= cache::LIFETIME;
        earlier.continued.is_some_and(covers) || earlier.siblings.iter().any(wrote)
    }

    fn earlier(&self, id: &AgentId, transcript: &Transcript) -> Earlier<'_> {
        let Some(node) = self.agents.get(id) else { return Earlier::default() };
        if let Some(own) = node.requests.last.back() {
            return Earlier { continued: Some(own), siblings: Vec::new(), used: self.last_use(id, own) };
        }
        let Some(inherited) = &node.created.inherited else { return Earlier::default() };
        let of_parent =
            self.agents.get(&inherited.from).into_iter().flat_map(|parent| parent.requests.last.iter().rev());
        let continued = of_parent.clone().find(|sent| sent.is_continued_by(transcript));
        let is_sibling = |other: &&Node| other.created.inherited.as_ref() == Some(inherited);
        let siblings = self.agents.values().filter(is_sibling).filter_map(|sibling| sibling.requests.first.as_ref());
        Earlier {
            continued,
            siblings: siblings.collect(),
            used: continued.and_then(|sent| self.last_use(&inherited.from, sent)),
        }
    }

    /// When a beginning that `sent` wrote was last read by a fork of its agent's, or for a summary.
    fn last_use(&self, agent: &AgentId, sent: &Sent) -> Option<Timestamp> {
        let continues = |node: &&Node| {
            let inherited = node.created.inherited.as_ref();
            inherited.is_some_and(|part| part.from == *agent && part.messages >= sent.transcript.len())
        };
        let forks = self.agents.values().filter(continues).filter_map(|fork| fork.requests.first.as_ref());
        let read = forks.filter(|first| first.usage.cache_read > 0).map(|first| first.at);
        read.chain(self.agents.get(agent).and_then(|node| node.requests.summed_up)).max()
    }
}

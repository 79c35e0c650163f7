//! What agents used up, in words: tokens, hit rate, money, and requests that missed the cache.

use std::collections::BTreeMap;

use offshoot_agents::price::{Cost, hit_rate};
use offshoot_protocol::{AgentId, AgentView, MissReason, MissView, PriceList, Usage};
use serde::Serialize;

/// What some agents used up.
#[derive(Clone, Copy, Default, Serialize)]
pub(crate) struct Sum {
    /// Tokens.
    usage: Usage,
    /// Money as far as its price is known, in picodollars: a dollar is 1 000 000 000 000 of them.
    picodollars: u64,
    /// Tokens whose price isn't known.
    tokens_of_unknown_price: u64,
    /// Tokens of the demo and of servers on this machine.
    free_tokens: u64,
    /// Of the input tokens those read from the cache, in tenths of a percent.
    hit_permille: Option<u64>,
}

impl Sum {
    /// Of all these agents together.
    pub(crate) fn of<'a>(agents: impl IntoIterator<Item = &'a AgentView>, prices: &PriceList) -> Self {
        let (mut usage, mut cost) = (Usage::default(), Cost::default());
        for agent in agents {
            usage += agent.usage;
            cost += Cost::of(&agent.spending, prices);
        }
        Self {
            usage,
            picodollars: cost.picodollars,
            tokens_of_unknown_price: cost.unknown,
            free_tokens: cost.free,
            hit_permille: hit_rate(&usage),
        }
    }

    fn cost(&self) -> Cost {
        Cost { picodollars: self.picodollars, unknown: self.tokens_of_unknown_price, free: self.free_tokens }
    }
}

impl std::fmt::Display for Sum {
    /// `1200 in (83 % cached), 300 out, $0.0123`.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let cached = self.hit_permille.unwrap_or_default() / 10;
        write!(f, "{} in ({cached} % cached), {} out", self.usage.prompt(), self.usage.output)?;
        let cost = self.cost().to_string();
        if cost.is_empty() { Ok(()) } else { write!(f, ", {cost}") }
    }
}

/// An agent's sums.
#[derive(Serialize)]
pub(crate) struct AgentSums {
    own: Sum,
    with_all_below: Sum,
}

/// The sums of all agents, for programs.
pub(crate) fn by_agent(agents: &[AgentView], prices: &PriceList) -> BTreeMap<String, AgentSums> {
    let sums = |agent: &AgentView| AgentSums {
        own: Sum::of([agent], prices),
        with_all_below: Sum::of(within(agents, &agent.id), prices),
    };
    agents.iter().map(|agent| (agent.id.to_string(), sums(agent))).collect()
}

/// The agent and all below it.
pub(crate) fn within<'a>(agents: &'a [AgentView], top: &AgentId) -> Vec<&'a AgentView> {
    let mut found: Vec<&AgentView> = Vec::new();
    // Parents stand before their children.
    for agent in agents {
        let is_below = found.iter().any(|above| agent.parent.as_ref() == Some(&above.id));
        if agent.id == *top || is_below {
            found.push(agent);
        }
    }
    found
}

/// `request 4 should have read 12000 more tokens from the cache: …`.
pub(crate) fn miss(view: &MissView) -> String {
    let reason = match view.miss.reason {
        MissReason::HeadChanged => "model, tools or system prompt changed".to_owned(),
        MissReason::Compacted => "the conversation was compacted".to_owned(),
        MissReason::PrefixChanged { message } => format!("the conversation changed at message {}", message + 1),
        MissReason::Expired { unused_s } => format!("the entry expired, unused for {unused_s} s"),
        MissReason::TooSmall { minimum } => format!("shorter than the {minimum} tokens that the provider caches"),
        MissReason::TooEarly => "the entry was still being written".to_owned(),
        MissReason::NotKept => "the provider did not keep it".to_owned(),
    };
    format!("request {} should have read {} more tokens from the cache: {reason}", view.step, view.miss.tokens)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_names_money_only_where_something_was_used() {
        assert_eq!(Sum::default().to_string(), "0 in (0 % cached), 0 out");
        let usage = Usage { input: 10, cache_read: 80, cache_write: 10, output: 5 };
        let sum = Sum { usage, picodollars: 12_300_000_000, hit_permille: hit_rate(&usage), ..Sum::default() };
        assert_eq!(sum.to_string(), "100 in (80 % cached), 5 out, $0.0123");
        assert_eq!(Sum { usage, free_tokens: 105, ..Sum::default() }.to_string(), "100 in (0 % cached), 5 out, free");
    }
}

//! What requests cost: tokens by price, cache misses with their reasons, and the list of prices.
//!
//! Facts hold tokens only. Money is derived from a [`PriceList`], so that a corrected price corrects what is shown of the past.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use ts_rs::TS;

use crate::Usage;

/// Who was asked, as far as a price depends on it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct Asked {
    /// Model id, as sent.
    pub model: String,
    /// Who answers.
    pub seller: Seller,
    /// Fingerprint of the request head.
    pub head: String,
}

/// Who answers a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum Seller {
    /// A provider, who is paid.
    Provider,
    /// A server on this machine. Free, unless its model has a listed price: then it passes on to a provider.
    ThisMachine,
    /// The embedded demo. Free.
    Demo,
}

/// How long a request's prompt was. Some models cost more beyond one of these sizes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum PromptSize {
    /// Up to 100 000 tokens.
    Upto100k,
    /// Up to 200 000 tokens.
    Upto200k,
    /// Up to 272 000 tokens.
    Upto272k,
    /// More.
    Beyond272k,
}

impl PromptSize {
    /// The size of a request with these figures.
    pub fn of(usage: &Usage) -> Self {
        match usage.prompt() {
            0..=100_000 => Self::Upto100k,
            100_001..=200_000 => Self::Upto200k,
            200_001..=272_000 => Self::Upto272k,
            _ => Self::Beyond272k,
        }
    }
}

/// Tokens that have one price.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct Spending {
    /// Model id, as sent.
    pub model: String,
    /// Who answered.
    pub seller: Seller,
    /// How long the prompts were.
    pub size: PromptSize,
    /// How many requests.
    pub requests: u32,
    /// Their tokens.
    pub usage: Usage,
}

impl Spending {
    /// Adds a request to the part of `list` that it has its price from.
    pub fn add(list: &mut Vec<Self>, asked: &Asked, usage: Usage) {
        let size = PromptSize::of(&usage);
        let same = |part: &&mut Self| part.model == asked.model && part.seller == asked.seller && part.size == size;
        if let Some(part) = list.iter_mut().find(same) {
            part.requests += 1;
            part.usage += usage;
        } else {
            list.push(Self { model: asked.model.clone(), seller: asked.seller, size, requests: 1, usage });
        }
    }
}

/// A request that read less from the provider's cache than was written before.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct CacheMiss {
    /// How many tokens were paid for that should have been read.
    #[ts(type = "number")]
    pub tokens: u64,
    /// Why.
    pub reason: MissReason,
}

/// Why a request missed the cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum MissReason {
    /// Model, system prompt, tools or parameters are others than before.
    HeadChanged,
    /// The conversation goes on behind a summary.
    Compacted,
    /// The messages aren't the ones that were sent before.
    PrefixChanged {
        /// The first that differs, from 0.
        message: u32,
    },
    /// The entry was not used for longer than the provider keeps it.
    Expired {
        /// For how long, in seconds.
        #[ts(type = "number")]
        unused_s: u64,
    },
    /// The common beginning is shorter than what the provider caches at all.
    TooSmall {
        /// The provider's limit, in tokens.
        minimum: u32,
    },
    /// The entry was still being written.
    TooEarly,
    /// The entry should have been there.
    NotKept,
}

/// A miss, as the window shows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct MissView {
    /// Which of the agent's model calls, from 1.
    pub step: u32,
    /// When (UTC).
    #[ts(type = "string")]
    pub at: Timestamp,
    /// What was missed, and why.
    pub miss: CacheMiss,
}

/// What models cost.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct PriceList {
    /// The prices.
    pub prices: Vec<Price>,
    /// What was wrong in the person's file; those entries are left out.
    pub warnings: Vec<String>,
    /// Absolute path of the person's file, whether it is there or not.
    pub file: String,
}

/// What one model costs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct Price {
    /// Model id. A dated id, such as `name-20260930`, has the price of the name.
    pub model: String,
    /// When this was the price: `YYYY-MM-DD`.
    pub date: String,
    /// Where it was read.
    pub source: String,
    /// For prompts up to the first size in `longer`.
    pub rates: Rates,
    /// For longer prompts. Without rates the cost of those isn't known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub longer: Option<LongerPrompts>,
}

/// What prompts beyond a size cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct LongerPrompts {
    /// The longest prompt that has the usual price.
    pub beyond: PromptSize,
    /// The price of all tokens of a longer one; absent: not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub rates: Option<Rates>,
}

/// Picodollars per token. One dollar per million tokens is 1 000 000 of them, so that list prices are whole numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct Rates {
    /// Input neither read from nor written to a cache.
    #[ts(type = "number")]
    pub input: u64,
    /// Input read from the cache.
    #[ts(type = "number")]
    pub cache_read: u64,
    /// Input written to the cache for five minutes.
    #[ts(type = "number")]
    pub cache_write: u64,
    /// Input written to the cache for an hour.
    #[ts(type = "number")]
    pub cache_write_hour: u64,
    /// Output.
    #[ts(type = "number")]
    pub output: u64,
}

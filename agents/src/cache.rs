//! What a provider's prompt cache should hold of earlier requests, and why a request missed it. Pure.
//!
//! Nothing here asks a provider: it is computed from what was sent, when, and with which figures it was answered. Requests
//! are compared as transcripts in memory, which forks share with their parents, also after a restart.

use jiff::{SignedDuration, Timestamp};
use offshoot_protocol::{Block, CacheMiss, Message, MissReason, Origin, Usage};

use crate::transcript::Transcript;

/// How long a provider keeps an entry that nobody uses. Anthropic's usual lifetime; `OpenAI` keeps entries for five to ten
/// minutes.
pub const LIFETIME: SignedDuration = SignedDuration::from_mins(5);

/// Smaller differences between what was expected and what was read are none: providers round.
const LEAST_MISSED: u64 = 256;

/// A common end of at most this many bytes isn't worth waiting for: each sibling may write it once more.
const SMALL_END: u64 = 8 * 1024;

/// The common end is small beside what can be read already when it is at most one part in this many.
const SMALL_SHARE: u64 = 8;

/// A token's usual length in bytes, for what was never counted.
const BYTES_PER_TOKEN: u64 = 4;

/// How a provider caches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Caching {
    /// Up to the marks of a request, and it says how much it wrote.
    Marked {
        /// Fewest tokens of an entry.
        minimum: u32,
    },
    /// Whatever comes along, and it says only what it read.
    Automatic {
        /// Fewest tokens of an entry.
        minimum: u32,
    },
    /// Not at all, or nothing is known of it.
    Unknown,
}

/// A request that was answered.
#[derive(Clone)]
pub struct Sent {
    /// Fingerprint of its head.
    pub head: String,
    /// Its messages.
    pub transcript: Transcript,
    /// When it was sent.
    pub at: Timestamp,
    /// When the answer began: from then on others could read what it wrote.
    pub begun: Timestamp,
    /// Its figures.
    pub usage: Usage,
}

impl Sent {
    /// Whether a request with these messages begins with all that this one sent.
    pub fn is_continued_by(&self, transcript: &Transcript) -> bool {
        self.transcript.segment_start() == transcript.segment_start()
            && self.transcript.common(transcript) == self.transcript.len()
    }

    /// How many of its tokens others can read.
    fn cached(&self, caching: Caching) -> u64 {
        match caching {
            Caching::Marked { .. } => self.usage.cache_read + self.usage.cache_write,
            // Without a word about its cache the provider may have none.
            Caching::Automatic { .. } if self.usage.cache_read == 0 => 0,
            Caching::Automatic { .. } => self.usage.prompt() / 128 * 128,
            Caching::Unknown => 0,
        }
    }
}

/// What earlier requests a request can build on.
#[derive(Default)]
pub struct Earlier<'a> {
    /// The agent's own last one; for a fork's first, the last one of its parent that it continues.
    pub continued: Option<&'a Sent>,
    /// Of a fork's first request: the first ones of its siblings.
    pub siblings: Vec<&'a Sent>,
    /// When the beginning that it continues was last used by anybody.
    pub used: Option<Timestamp>,
}

/// What `now` should have read and didn't, and why.
pub fn missed(now: &Sent, earlier: &Earlier<'_>, caching: Caching) -> Option<CacheMiss> {
    let minimum = match caching {
        Caching::Marked { minimum } | Caching::Automatic { minimum } => u64::from(minimum),
        Caching::Unknown => return None,
    };
    let read = now.usage.cache_read;
    let continued = earlier.continued.map(|before| {
        let used = earlier.used.unwrap_or(before.at).max(before.at);
        (before.cached(caching), reason(now, before, used))
    });
    let siblings = earlier.siblings.iter().filter(|sibling| sibling.head == now.head).map(|sibling| {
        let own = sibling.transcript.last().map_or(0, directive_bytes) / BYTES_PER_TOKEN + LEAST_MISSED;
        let reason = match reason_by_time(now, sibling, sibling.at) {
            // It came at the same time and wrote the same: neither could read the other's.
            MissReason::TooEarly => None,
            reason => Some(reason),
        };
        Some((sibling.cached(caching).saturating_sub(own), reason?))
    });
    // What was there counts before what was there no longer.
    let rank = |(tokens, reason): &(u64, MissReason)| (matches!(reason, MissReason::NotKept), *tokens);
    let best = continued.into_iter().chain(siblings.flatten()).max_by_key(rank);
    if let Some((expected, reason)) = best {
        let lost = expected.saturating_sub(read);
        if lost > LEAST_MISSED && lost > expected / 20 {
            return Some(CacheMiss { tokens: lost, reason });
        }
    }
    let before = earlier.continued.filter(|before| before.head == now.head && read == 0)?;
    let is_small = before.usage.prompt() < minimum && before.usage.cache_write == 0;
    is_small.then(|| CacheMiss {
        tokens: before.usage.prompt(),
        reason: MissReason::TooSmall { minimum: u32::try_from(minimum).unwrap_or(u32::MAX) },
    })
}

/// Why an entry of `before`, last used at `used`, was not read.
fn reason(now: &Sent, before: &Sent, used: Timestamp) -> MissReason {
    if now.head != before.head {
        return MissReason::HeadChanged;
    }
    if now.transcript.segment_start() != before.transcript.segment_start() {
        return MissReason::Compacted;
    }
    let common = now.transcript.common(&before.transcript);
    if common < before.transcript.len() {
        return MissReason::PrefixChanged { message: common };
    }
    reason_by_time(now, before, used)
}

fn reason_by_time(now: &Sent, before: &Sent, used: Timestamp) -> MissReason {
    let unused = now.at.duration_since(used);
    if now.at < before.begun {
        MissReason::TooEarly
    } else if unused > LIFETIME {
        MissReason::Expired { unused_s: u64::try_from(unused.as_secs()).unwrap_or_default() }
    } else {
        MissReason::NotKept
    }
}

/// Whether a fork whose first request is `transcript` can read all but a small end of what it has in common with its
/// siblings, since `before` was sent lately: then nobody need go ahead.
pub fn is_covered(transcript: &Transcript, head: &str, before: &Sent, used: Timestamp, now: Timestamp) -> bool {
    if before.head != head || !before.is_continued_by(transcript) || now.duration_since(used) > LIFETIME {
        return false;
    }
    let behind = transcript.messages_from(before.transcript.len());
    let end: u64 = behind.iter().map(|stored| common_bytes(&stored.message)).sum();
    end <= SMALL_END.max(before.usage.prompt() * BYTES_PER_TOKEN / SMALL_SHARE)
}

/// Length of the part of a message that siblings have in common: all but the directive.
fn common_bytes(message: &Message) -> u64 {
    message.blocks.iter().map(bytes).sum::<u64>() - directive_bytes(message)
}

/// Length of the directive in a fork's first message.
fn directive_bytes(message: &Message) -> u64 {
    let is_directive = |block: &&Block| matches!(block, Block::Text { origin: Origin::Directive, .. });
    message.blocks.iter().filter(is_directive).map(bytes).sum()
}

fn bytes(block: &Block) -> u64 {
    let len = match block {
        Block::Text { text, .. } => text.len(),
        Block::Thinking { thinking, signature } => thinking.len() + signature.len(),
        Block::RedactedThinking { data } => data.len(),
        Block::Call { name, input, .. } => name.len() + input.0.len(),
        Block::Result { content, .. } => content.len(),
        Block::Opaque { raw } => raw.0.len(),
    };
    len as u64
}

#[cfg(test)]
mod tests;

//! What is known of a provider's cache, and how requests to it are told apart.

use offshoot_protocol::BlobHash;

use super::{Provider, RequestHead};
use crate::cache::Caching;
use crate::log;

/// Fewest tokens of a cache entry by the beginning of the model's id, the longest beginning that fits counting.
/// Source: <https://platform.claude.com/docs/en/build-with-claude/prompt-caching>, read in November 2026.
const MINIMUMS: [(&str, u32); 9] = [
    ("claude-fable-5", 512),
    ("claude-mythos-5", 512),
    ("claude-opus-5", 512),
    ("claude-opus-4-7", 2048),
    ("claude-opus-4-6", 4096),
    ("claude-opus-4-5", 4096),
    ("claude-haiku-4-5", 4096),
    ("claude-3-5-haiku", 2048),
    ("claude-3-haiku", 2048),
];

/// The minimum of models that aren't listed.
const USUAL_MINIMUM: u32 = 1024;

impl RequestHead {
    /// How its provider caches it.
    pub fn caching(&self) -> Caching {
        match self.provider {
            Provider::Anthropic => Caching::Marked { minimum: minimum(&self.model) },
            Provider::Openai | Provider::OpenaiResponses => Caching::Automatic { minimum: USUAL_MINIMUM },
            Provider::Demo => Caching::Unknown,
        }
    }

    /// Tells heads apart: the same for equal heads, in every run.
    pub fn fingerprint(&self) -> String {
        let bytes = serde_json::to_vec(self).expect("a head is plain data");
        let BlobHash(mut text) = log::hash(&bytes);
        text.truncate(16);
        text
    }
}

fn minimum(model: &str) -> u32 {
    let fitting = MINIMUMS.iter().filter(|(start, _)| model.starts_with(start));
    fitting.max_by_key(|(start, _)| start.len()).map_or(USUAL_MINIMUM, |(_, tokens)| *tokens)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_minimum_goes_by_the_longest_beginning() {
        assert_eq!(minimum("claude-opus-4-6-20260205"), 4096);
        assert_eq!(minimum("claude-opus-5-5"), 512);
        assert_eq!(minimum("claude-sonnet-4-5"), 1024);
        assert_eq!(minimum("else"), 1024);
    }
}

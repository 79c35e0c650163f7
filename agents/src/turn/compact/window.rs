//! Context windows of models that are known by name.

/// Beginnings of model ids and tokens that fit, request and answer together; the first that fits counts. From the
/// providers' model overviews (Anthropic, `OpenAI`); where a provider offers more by a header, what is there without.
const WINDOWS: [(&str, u64); 9] = [
    ("claude-", 200_000),
    ("gpt-4.1", 1_047_576),
    ("gpt-4o", 128_000),
    ("gpt-4-turbo", 128_000),
    ("gpt-5", 400_000),
    ("o1", 200_000),
    ("o3", 200_000),
    ("o4", 200_000),
    ("chatgpt-4o", 128_000),
];

/// The window of a model, in tokens; nothing when it isn't known: a guess would compact for no reason, or too late.
pub(super) fn of(model: &str) -> Option<u64> {
    // Gateways write the vendor in front.
    let name = model.rsplit_once('/').map_or(model, |(_, name)| name);
    WINDOWS.iter().find(|(start, _)| name.starts_with(start)).map(|(_, tokens)| *tokens)
}

#[cfg(test)]
mod tests {
    use super::of;

    #[test]
    fn names_are_known_with_and_without_their_vendor() {
        assert_eq!(of("claude-opus-5"), Some(200_000));
        assert_eq!(of("anthropic/claude-opus-5"), Some(200_000));
        assert_eq!(of("gpt-4.1-mini"), Some(1_047_576));
        assert_eq!(of("qwen3"), None);
    }
}

//! What the two formats of `OpenAI` have in common: the provider's own address, and its errors.

use std::borrow::Cow;

use reqwest::Url;
use serde::Deserialize;
use serde_json::value::RawValue;

use super::ModelError;

/// The provider's own servers know fields that compatible ones refuse, and the other way round.
const OWN_HOST: &str = "api.openai.com";

/// Whether an address is one of the provider's own.
pub(super) fn is_own(url: &Url) -> bool {
    url.host_str() == Some(OWN_HOST)
}

/// An error in the middle of a stream: an object with `message`, `code` and `type`, each of which may be missing.
pub(super) fn failure(error: &RawValue) -> ModelError {
    #[derive(Default, Deserialize)]
    #[serde(default)]
    struct Detail<'a> {
        #[serde(borrow)]
        message: Option<Cow<'a, str>>,
        #[serde(borrow)]
        code: Option<&'a RawValue>,
        #[serde(borrow)]
        r#type: Option<&'a RawValue>,
    }
    let detail: Detail<'_> = serde_json::from_str(error.get()).unwrap_or_default();
    let code = detail.code.and_then(|code| code.get().trim_matches('"').parse::<u16>().ok());
    let says = |word: &str| [detail.code, detail.r#type].into_iter().flatten().any(|text| text.get().contains(word));
    let status = match code.filter(|code| (400..600).contains(code)) {
        Some(code) => code,
        None if says("rate_limit") || says("insufficient_quota") => 429,
        None if says("invalid_") || says("context_length") || says("image_") => 400,
        None if says("overloaded") => 529,
        None => 500,
    };
    let message = detail.message.filter(|message| !message.is_empty()).unwrap_or_else(|| error.get().into());
    let message: String = message.chars().take(500).collect();
    // The quota's own code is the surest sign that waiting doesn't help.
    let message = if says("insufficient_quota") { format!("{message} (insufficient_quota)") } else { message };
    ModelError::Status { status, message, retry_after: None }
}

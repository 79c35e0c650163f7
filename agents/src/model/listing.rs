//! Which models a server has: one bounded request, no retry.
//!
//! Format: `GET /v1/models`, as Anthropic, `OpenAI` and everything compatible answer it; where that is missing, Ollama's
//! `GET /api/tags`.

use std::collections::HashSet;
use std::time::Duration;

use reqwest::header::{HeaderMap, HeaderValue};
use reqwest::{Client, Url};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tokio::time::timeout;

use super::http::{self, Exchange};
use super::{Endpoint, ModelError, Provider, anthropic};

/// How long a list may take.
const LIMIT: Duration = Duration::from_secs(10);
/// Most bytes of a list.
const MAX_LIST: usize = 4 * 1024 * 1024;
/// Most models of a list.
const MAX_MODELS: usize = 2_000;
/// Longest id or name that is believed, in bytes.
const MAX_NAME: usize = 300;

/// A model that a server says it has.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ListedModel {
    /// Its id, as requests name it.
    pub id: String,
    /// Its name for people, where the server has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
}

/// Asks the server at `endpoint` for its models, in its own order. The demo has one. Errors are free of the key.
pub async fn models(provider: Provider, endpoint: &Endpoint) -> Result<Vec<ListedModel>, ModelError> {
    if provider == Provider::Demo {
        return Ok(vec![ListedModel { id: "demo".to_owned(), name: Some("Demo".to_owned()) }]);
    }
    within(provider, endpoint, LIMIT).await
}

/// The same with another limit.
pub(super) async fn within(
    provider: Provider,
    endpoint: &Endpoint,
    limit: Duration,
) -> Result<Vec<ListedModel>, ModelError> {
    let client = http::client(endpoint)?;
    let headers = headers(provider, endpoint)?;
    let mut url = http::join(&endpoint.base_url, &["v1", "models"])?;
    if provider == Provider::Anthropic {
        url.set_query(Some("limit=1000"));
    }
    let listed = get(&client, url, &headers, endpoint, limit).await;
    let Err(ModelError::Status { status: 404, .. }) = &listed else { return listed };
    let mut tags = http::join(&endpoint.base_url, &["v1"])?;
    if let Ok(mut path) = tags.path_segments_mut() {
        path.pop().extend(["api", "tags"]);
    }
    // What the usual place said is more telling than that the unusual one isn't there either.
    get(&client, tags, &headers, endpoint, limit).await.or(listed)
}

fn headers(provider: Provider, endpoint: &Endpoint) -> Result<HeaderMap, ModelError> {
    let mut headers = HeaderMap::new();
    headers.insert("accept", HeaderValue::from_static("application/json"));
    if provider == Provider::Anthropic {
        headers.insert("anthropic-version", HeaderValue::from_static(anthropic::VERSION));
    }
    if let Some(key) = &endpoint.key {
        match provider {
            Provider::Anthropic => headers.insert("x-api-key", http::key_header(key, "")?),
            _ => headers.insert("authorization", http::key_header(key, "Bearer ")?),
        };
    }
    Ok(headers)
}

async fn get(
    client: &Client,
    url: Url,
    headers: &HeaderMap,
    endpoint: &Endpoint,
    limit: Duration,
) -> Result<Vec<ListedModel>, ModelError> {
    let exchange = Exchange::new(&url, endpoint);
    let request = client.get(url).headers(headers.clone());
    let body = timeout(limit, exchange.whole(request, MAX_LIST)).await.unwrap_or(Err(ModelError::Idle { limit }))?;
    understand(&body).ok_or_else(|| ModelError::Protocol { reason: "this is no list of models".to_owned() })
}

/// The models of a list: `data` of objects with an `id`, or `models` of objects with a `name`. Nothing when it is no list.
fn understand(body: &[u8]) -> Option<Vec<ListedModel>> {
    let value: Value = serde_json::from_slice(body).ok()?;
    let (list, id) = match (value.get("data"), value.get("models")) {
        (Some(Value::Array(list)), _) => (list, "id"),
        (_, Some(Value::Array(list))) => (list, "name"),
        _ => return None,
    };
    let believed = |text: &str| {
        let text = text.trim();
        let is_plain = !text.is_empty() && text.len() <= MAX_NAME && !text.chars().any(char::is_control);
        is_plain.then(|| text.to_owned())
    };
    let text = |entry: &Value, field: &str| entry.get(field).and_then(Value::as_str).and_then(believed);
    let mut seen = HashSet::new();
    let listed = list.iter().filter_map(|entry| {
        let id = text(entry, id)?;
        let name = text(entry, "display_name").filter(|name| *name != id);
        seen.insert(id.clone()).then_some(ListedModel { id, name })
    });
    Some(listed.take(MAX_MODELS).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ids(body: &str) -> Option<Vec<String>> {
        Some(understand(body.as_bytes())?.into_iter().map(|model| model.id).collect())
    }

    #[test]
    fn lists_of_all_servers_are_understood() {
        let anthropic = r#"{"data":[{"type":"model","id":"claude-x","display_name":"Claude X"}],"has_more":false}"#;
        let expected = ListedModel { id: "claude-x".to_owned(), name: Some("Claude X".to_owned()) };
        assert_eq!(understand(anthropic.as_bytes()).unwrap(), [expected]);
        assert_eq!(ids(r#"{"object":"list","data":[{"id":"b"},{"id":"a"},{"id":"b"}]}"#).unwrap(), ["b", "a"]);
        assert_eq!(ids(r#"{"models":[{"name":"qwen3:4b","size":1}]}"#).unwrap(), ["qwen3:4b"]);
        assert_eq!(ids(r#"{"data":[]}"#).unwrap(), [""; 0]);
    }

    #[test]
    fn what_is_no_list_is_none_and_strange_names_are_left_out() {
        for body in ["", "<html>", "[]", r#"{"data":"x"}"#, r#"{"status":"ok"}"#] {
            assert_eq!(ids(body), None, "{body}");
        }
        let long = "x".repeat(MAX_NAME + 1);
        let body =
            format!(r#"{{"data":[{{"id":"{long}"}},{{"id":"a\u001b[1m"}},{{"id":7}},{{"id":" "}},{{"id":"ok"}}]}}"#);
        assert_eq!(ids(&body).unwrap(), ["ok"]);
    }
}

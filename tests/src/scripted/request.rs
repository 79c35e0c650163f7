//! A request as it came over the wire.

use hyper::HeaderMap;
use serde_json::Value;

/// A cache mark between blocks, as it stands in raw bytes.
const MARK: &str = r#","cache_control":{"type":"ephemeral"}"#;

/// One request that the server received.
#[derive(Clone, Debug)]
pub struct Received {
    /// Its path.
    pub path: String,
    /// Its headers.
    pub headers: HeaderMap,
    /// Its body, byte for byte.
    pub raw: Vec<u8>,
    /// Its body, parsed; null when it isn't JSON.
    pub body: Value,
}

impl Received {
    /// A header's text; empty when it is missing.
    pub fn header(&self, name: &str) -> &str {
        self.headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default()
    }

    /// The id of the agent that sent it.
    pub fn agent(&self) -> &str {
        self.header("x-offshoot-agent")
    }

    /// The id of the session that it belongs to.
    pub fn session(&self) -> &str {
        self.header("x-offshoot-session")
    }

    /// The messages.
    pub fn messages(&self) -> &[Value] {
        self.body["messages"].as_array().map_or(&[], Vec::as_slice)
    }

    /// Whether it asks for the list of models.
    pub fn is_list(&self) -> bool {
        matches!(self.path.as_str(), "/v1/models" | "/api/tags")
    }

    /// The items, as Responses has them.
    pub fn items(&self) -> &[Value] {
        self.body["input"].as_array().map_or(&[], Vec::as_slice)
    }

    /// The blocks of the last message.
    pub fn last_blocks(&self) -> Vec<&Value> {
        self.messages().last().map(blocks).unwrap_or_default()
    }

    /// The texts of the last message, joined by line feeds; results are not among them.
    pub fn last_text(&self) -> String {
        let texts: Vec<&str> = self.last_blocks().iter().filter_map(|block| block["text"].as_str()).collect();
        texts.join("\n")
    }

    /// The results in the last message: the call's id, the text, whether it failed.
    pub fn results(&self) -> Vec<(String, String, bool)> {
        let results = self.last_blocks().into_iter().filter(|block| block["type"] == "tool_result");
        results
            .map(|block| {
                let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
                (text(&block["tool_use_id"]), text(&block["content"]), block["is_error"] == true)
            })
            .collect()
    }

    /// The text of the only result in the last message.
    ///
    /// # Panics
    /// When there isn't exactly one.
    pub fn result(&self) -> String {
        let results = self.results();
        assert_eq!(results.len(), 1, "results of {}", self.last_message());
        results.into_iter().next().expect("there is one").1
    }

    /// The system prompt's texts.
    pub fn system(&self) -> String {
        match &self.body["system"] {
            Value::String(text) => text.clone(),
            Value::Array(parts) => parts.iter().filter_map(|part| part["text"].as_str()).collect(),
            _ => String::new(),
        }
    }

    /// The names of the tools that it offers.
    pub fn tools(&self) -> Vec<&str> {
        self.body["tools"].as_array().into_iter().flatten().filter_map(|tool| tool["name"].as_str()).collect()
    }

    /// Whether any message holds this text, anywhere.
    pub fn mentions(&self, text: &str) -> bool {
        self.messages().iter().any(|message| strings(message).any(|found| found.contains(text)))
    }

    /// The raw body without cache marks: what must stay the same from turn to turn.
    pub fn without_marks(&self) -> String {
        String::from_utf8_lossy(&self.raw).replace(MARK, "")
    }

    /// The last message, readable.
    pub fn last_message(&self) -> String {
        self.messages().last().map(|message| format!("{message:#}")).unwrap_or_default()
    }
}

/// A message's blocks; a plain string counts as none.
pub(super) fn blocks(message: &Value) -> Vec<&Value> {
    message["content"].as_array().into_iter().flatten().collect()
}

fn strings(value: &Value) -> Box<dyn Iterator<Item = &str> + '_> {
    match value {
        Value::String(text) => Box::new(std::iter::once(text.as_str())),
        Value::Array(items) => Box::new(items.iter().flat_map(strings)),
        Value::Object(fields) => Box::new(fields.values().flat_map(strings)),
        _ => Box::new(std::iter::empty()),
    }
}

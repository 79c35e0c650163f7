//! What no request may break, whoever sends it.

use std::collections::HashMap;

use serde_json::Value;

use super::request::{Received, blocks};

/// The provider takes at most this many cache marks.
const MOST_MARKS: usize = 4;

/// What an agent sent last.
struct Last {
    /// The whole, without cache marks and without what closes it.
    open: String,
    model: String,
    /// The first text, where the conversation was summarised.
    summary: Option<String>,
    /// What stood before: a summary may be asked of less than was sent last, where that was too much.
    earlier: Vec<String>,
}

/// Checks requests, each by itself and against the same agent's last one.
#[derive(Default)]
pub(super) struct Police {
    /// Last request of each agent; those for a summary leave no trace in the conversation.
    last: HashMap<(String, String), Last>,
}

impl Police {
    /// Forgets what an agent has sent, since its transcript begins anew.
    pub(super) fn forget(&mut self, agent: &str) {
        self.last.retain(|(_, known), _| known != agent);
    }

    /// Says what the request breaks, if anything.
    pub(super) fn check(&mut self, request: &Received) -> Result<(), String> {
        if request.is_list() {
            return Ok(());
        }
        if request.header("content-length") != request.raw.len().to_string() {
            return Err("the length is not announced".to_owned());
        }
        if !request.body.is_object() {
            return Err("the body is no JSON object".to_owned());
        }
        if request.body["stream"] != true {
            return Err("not streaming".to_owned());
        }
        let (limit, list) = match request.path.as_str() {
            "/v1/responses" => ("max_output_tokens", "input"),
            _ => ("max_tokens", "messages"),
        };
        if request.body["model"].as_str().is_none_or(str::is_empty) || request.body[limit].as_u64().is_none() {
            return Err(format!("model or {limit} is missing"));
        }
        let mut fields = request.body.as_object().into_iter().flatten().rev().map(|(name, _)| name);
        if fields.find(|name| *name != "prompt_cache_key").is_none_or(|name| name != list) {
            return Err(format!("{list} doesn't come last"));
        }
        match request.path.as_str() {
            "/v1/messages" => {
                if request.header("anthropic-version").is_empty() {
                    return Err("no anthropic-version".to_owned());
                }
                check_order(request.messages())?;
                check_blocks(request.messages())?;
                check_calls(request.messages())?;
                check_marks(&request.body)?;
                self.check_prefix(request, "]}]}")
            }
            "/v1/chat/completions" => {
                check_chat(request.messages())?;
                self.check_prefix(request, "]}")
            }
            "/v1/responses" => {
                if request.body["store"] != false {
                    return Err("the provider would store it".to_owned());
                }
                check_items(request.items())?;
                let key = &request.body["prompt_cache_key"];
                self.check_prefix(request, &format!("],\"prompt_cache_key\":{key}}}"))
            }
            path => Err(format!("no such path: {path}")),
        }
    }

    /// `closing` is what ends a body behind its last block, or its last message where messages never grow.
    fn check_prefix(&mut self, request: &Received, closing: &str) -> Result<(), String> {
        if request.agent().is_empty() {
            return Ok(());
        }
        let agent = (request.session().to_owned(), request.agent().to_owned());
        let whole = request.without_marks();
        let model = request.body["model"].as_str().unwrap_or_default().to_owned();
        let texts = request.messages().first().map(blocks).unwrap_or_default();
        let first = texts.iter().find_map(|block| block["text"].as_str()).unwrap_or_default();
        let summary = first.starts_with("<conversation-summary").then(|| first.to_owned());
        let is_for_summary = request.last_text().contains("<compaction-request>");
        let was_sent = |sent: &[String]| is_for_summary && sent.iter().any(|open| whole.starts_with(open.as_str()));
        if let Some(Last { open: before, model: model_before, summary: known, earlier }) = self.last.get(&agent)
            && !whole.starts_with(before.as_str())
            && *model_before == model
            && !was_sent(earlier)
            && (summary.is_none() || summary == *known)
        {
            let common = before.bytes().zip(whole.bytes()).take_while(|(a, b)| a == b).count();
            return Err(format!(
                "the prefix changed at byte {common} of {}: it was …{}, and is …{}",
                before.len(),
                around(before, common),
                around(&whole, common)
            ));
        }
        let open = whole.strip_suffix(closing).ok_or("the body doesn't end with the messages")?.to_owned();
        if !is_for_summary {
            let mut earlier = Vec::new();
            if let Some(last) = self.last.remove(&agent) {
                earlier = last.earlier;
                earlier.push(last.open);
            }
            self.last.insert(agent, Last { open, model, summary, earlier });
        }
        Ok(())
    }
}

fn around(text: &str, at: usize) -> String {
    String::from_utf8_lossy(&text.as_bytes()[at.saturating_sub(40)..text.len().min(at + 80)]).into_owned()
}

fn check_order(messages: &[Value]) -> Result<(), String> {
    if messages.is_empty() {
        return Err("no messages".to_owned());
    }
    if messages[0]["role"] != "user" {
        return Err("message 0 is not the user's".to_owned());
    }
    // The provider joins user messages that follow each other; an assistant never answers itself.
    for (index, pair) in messages.windows(2).enumerate() {
        if pair[0]["role"] != "user" && pair[1]["role"] != "user" {
            return Err(format!("message {} is not the user's", index + 1));
        }
    }
    Ok(())
}

fn check_blocks(messages: &[Value]) -> Result<(), String> {
    for (index, message) in messages.iter().enumerate() {
        if message["content"].as_array().is_none_or(Vec::is_empty) {
            return Err(format!("message {index} has no blocks"));
        }
        for block in blocks(message) {
            let wrong = |what: &str| Err(format!("message {index}: {what}: {block}"));
            match block["type"].as_str().unwrap_or_default() {
                "text" if block["text"].as_str().is_none_or(|text| text.trim().is_empty()) => {
                    return wrong("an empty text");
                }
                "tool_use" if !block["input"].is_object() => return wrong("an input that is no object"),
                "thinking" if block["signature"].as_str().is_none_or(str::is_empty) => {
                    return wrong("unsigned thinking");
                }
                "tool_result" if block["is_error"] == true && block["content"] == "" => {
                    return wrong("an error that says nothing");
                }
                "" => return wrong("a block without a type"),
                _ => {}
            }
        }
    }
    Ok(())
}

/// Every call has its result in the next message, results come first, and no result is left over.
fn check_calls(messages: &[Value]) -> Result<(), String> {
    let mut open: Vec<&str> = Vec::new();
    for (index, message) in messages.iter().enumerate() {
        let blocks = blocks(message);
        let results: Vec<&str> = blocks
            .iter()
            .take_while(|block| block["type"] == "tool_result")
            .filter_map(|block| block["tool_use_id"].as_str())
            .collect();
        if blocks.iter().filter(|block| block["type"] == "tool_result").count() != results.len() {
            return Err(format!("message {index}: a result stands behind something else"));
        }
        let (mut wanted, mut given) = (open.clone(), results.clone());
        wanted.sort_unstable();
        given.sort_unstable();
        if wanted != given {
            return Err(format!("message {index}: the calls {open:?} were answered by the results {results:?}"));
        }
        let calls = blocks.iter().filter(|block| block["type"] == "tool_use");
        open = calls.filter_map(|block| block["id"].as_str()).collect();
        if message["role"] != "assistant" && !open.is_empty() {
            return Err(format!("message {index}: the user calls a tool"));
        }
    }
    if open.is_empty() { Ok(()) } else { Err(format!("the calls {open:?} have no result")) }
}

/// The same for Chat Completions, where each result is a message.
fn check_chat(messages: &[Value]) -> Result<(), String> {
    let mut open: Vec<&str> = Vec::new();
    for (index, message) in messages.iter().enumerate() {
        let role = message["role"].as_str().unwrap_or_default();
        if role == "tool" {
            let id = message["tool_call_id"].as_str().unwrap_or_default();
            let at = open.iter().position(|call| *call == id);
            open.remove(at.ok_or_else(|| format!("message {index} answers {id:?}, which nobody called"))?);
            continue;
        }
        if !open.is_empty() {
            return Err(format!("message {index}: the calls {open:?} have no result"));
        }
        if message["content"].as_str().is_none_or(str::is_empty) && message["tool_calls"].is_null() {
            return Err(format!("message {index} is empty"));
        }
        for call in message["tool_calls"].as_array().into_iter().flatten() {
            let arguments = call["function"]["arguments"].as_str().unwrap_or_default();
            if !serde_json::from_str::<Value>(arguments).is_ok_and(|value| value.is_object()) {
                return Err(format!("message {index}: arguments that are no object: {arguments}"));
            }
            open.push(call["id"].as_str().unwrap_or_default());
        }
    }
    if open.is_empty() { Ok(()) } else { Err(format!("the calls {open:?} have no result")) }
}

/// The same for Responses, where everything is an item of its own.
fn check_items(items: &[Value]) -> Result<(), String> {
    let mut open: Vec<&str> = Vec::new();
    for (index, item) in items.iter().enumerate() {
        let wrong = |what: &str| Err(format!("item {index}: {what}: {item}"));
        match item["type"].as_str().unwrap_or("message") {
            "function_call_output" => {
                let id = item["call_id"].as_str().unwrap_or_default();
                let at = open.iter().position(|call| *call == id);
                open.remove(at.ok_or_else(|| format!("item {index} answers {id:?}, which nobody called"))?);
                continue;
            }
            "function_call" => {
                let arguments = item["arguments"].as_str().unwrap_or_default();
                if !serde_json::from_str::<Value>(arguments).is_ok_and(|value| value.is_object()) {
                    return wrong("arguments that are no object");
                }
                open.push(item["call_id"].as_str().unwrap_or_default());
                continue;
            }
            "reasoning" => {
                let follows = items.get(index + 1);
                let is_followed = follows.is_some_and(|next| {
                    next["role"] == "assistant" || matches!(next["type"].as_str(), Some("function_call" | "reasoning"))
                });
                if !is_followed {
                    return wrong("reasoning that nothing follows");
                }
            }
            "message" if item["content"].as_str().is_none_or(str::is_empty) => return wrong("an empty message"),
            _ => {}
        }
        if item["role"] == "user" && !open.is_empty() {
            return Err(format!("item {index}: the calls {open:?} have no result"));
        }
    }
    if items.is_empty() {
        return Err("no items".to_owned());
    }
    if open.is_empty() { Ok(()) } else { Err(format!("the calls {open:?} have no result")) }
}

fn check_marks(body: &Value) -> Result<(), String> {
    let parts = |name: &str| body[name].as_array().into_iter().flatten();
    let content = parts("messages").flat_map(blocks);
    let marked: Vec<&Value> = parts("tools")
        .chain(parts("system"))
        .chain(content)
        .filter(|part| part.get("cache_control").is_some())
        .collect();
    if marked.len() > MOST_MARKS {
        return Err(format!("{} cache marks", marked.len()));
    }
    if let Some(block) =
        marked.iter().find(|block| matches!(block["type"].as_str(), Some("thinking" | "redacted_thinking")))
    {
        return Err(format!("a cache mark on thinking: {block}"));
    }
    Ok(())
}

//! What the server answers: an HTTP error, or a stream of events with gates, silences and breaks in it.

use std::sync::Arc;

use serde_json::{Value, json};

use super::request::Received;
use super::simulator::Bill;
use crate::Gate;

type Predicate = Arc<dyn Fn(&Received) -> bool + Send + Sync>;

/// One scripted answer. Built in the order in which it is sent; closed automatically, with `tool_use` when it holds a call.
#[derive(Clone, Default)]
pub struct Reply {
    predicates: Vec<Predicate>,
    pub(super) is_repeated: bool,
    pub(super) error: Option<HttpError>,
    pub(super) steps: Vec<Step>,
    stop: Option<String>,
    usage: Option<Value>,
    stalled: Option<Gate>,
    transformed: Option<Value>,
    pub(super) cut_after: Option<usize>,
    pub(super) piece: Option<usize>,
    blocks: usize,
    has_call: bool,
    frame: Frame,
}

/// What is added around the scripted events.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Frame {
    /// The opening and the closing events.
    #[default]
    Whole,
    /// The opening events: something scripted takes the place of the end.
    Open,
    /// Nothing.
    None,
}

#[derive(Clone)]
pub(super) struct HttpError {
    pub(super) status: u16,
    pub(super) headers: Vec<(String, String)>,
    pub(super) body: String,
}

#[derive(Clone)]
pub(super) enum Step {
    /// An event's data.
    Event(Value),
    /// Bytes as they are.
    Raw(String),
    Wait(Gate),
    Hang,
}

/// An answer that is still empty, for the next request that no other answer claims.
pub fn reply() -> Reply {
    Reply::default()
}

impl Reply {
    /// Only for requests of which this holds, too.
    pub fn when(mut self, predicate: impl Fn(&Received) -> bool + Send + Sync + 'static) -> Self {
        self.predicates.push(Arc::new(predicate));
        self
    }

    /// Only for requests for the list of models, which are these.
    pub fn models(self, ids: &[&str]) -> Self {
        let data: Vec<Value> = ids.iter().map(|id| json!({"id": id, "object": "model"})).collect();
        let list = json!({"object": "list", "data": data});
        self.when(Received::is_list).answer(200, "application/json", &list.to_string())
    }

    /// Only for requests whose last message has a text that contains this.
    pub fn when_told(self, text: impl Into<String>) -> Self {
        let text = text.into();
        self.when(move |request| request.last_text().contains(&text))
    }

    /// Only for requests whose last message has a result that contains this.
    pub fn when_result(self, text: impl Into<String>) -> Self {
        let text = text.into();
        self.when(move |request| request.results().iter().any(|(_, content, _)| content.contains(&text)))
    }

    /// Only for requests with this text anywhere in their messages.
    pub fn when_mentioned(self, text: impl Into<String>) -> Self {
        let text = text.into();
        self.when(move |request| request.mentions(&text))
    }

    /// Only for requests of this agent.
    pub fn for_agent(self, agent: impl Into<String>) -> Self {
        let agent = agent.into();
        self.when(move |request| request.agent() == agent)
    }

    /// Answers every request that it fits, not only the first.
    pub fn repeated(mut self) -> Self {
        self.is_repeated = true;
        self
    }

    /// A text block, sent in two deltas.
    pub fn text(self, text: &str) -> Self {
        let middle = text.char_indices().nth(text.chars().count() / 2).map_or(0, |(at, _)| at);
        let (first, second) = text.split_at(middle);
        let delta = |text: &str| json!({"type": "text_delta", "text": text});
        self.block(&json!({"type": "text", "text": ""}), &[delta(first), delta(second)])
    }

    /// A thinking block with a signature.
    pub fn thinking(self, thinking: &str, signature: &str) -> Self {
        let deltas = [
            json!({"type": "thinking_delta", "thinking": thinking}),
            json!({"type": "signature_delta", "signature": signature}),
        ];
        let deltas = if thinking.is_empty() { &deltas[1..] } else { &deltas[..] };
        self.block(&json!({"type": "thinking", "thinking": "", "signature": ""}), deltas)
    }

    /// A redacted thinking block.
    pub fn redacted(self, data: &str) -> Self {
        self.block(&json!({"type": "redacted_thinking", "data": data}), &[])
    }

    /// A call with an id that the server makes up, unique in its life.
    #[expect(clippy::needless_pass_by_value, reason = "`json!` in the argument reads better without a reference")]
    pub fn call(self, name: &str, input: Value) -> Self {
        self.call_raw(name, &input.to_string())
    }

    /// A call whose input is this text, valid or not.
    pub fn call_raw(self, name: &str, input: &str) -> Self {
        self.call_with_id("", name, input)
    }

    /// A call with this id and input text.
    pub fn call_with_id(mut self, id: &str, name: &str, input: &str) -> Self {
        self.has_call = true;
        let middle = (0..=input.len() / 2).rev().find(|at| input.is_char_boundary(*at)).unwrap_or(0);
        let (first, second) = input.split_at(middle);
        let delta = |text: &str| json!({"type": "input_json_delta", "partial_json": text});
        let start = json!({"type": "tool_use", "id": id, "name": name, "input": {}});
        self.block(&start, &[delta(first), delta(second)])
    }

    /// Any block, with the deltas that follow its opening.
    pub fn block(mut self, start: &Value, deltas: &[Value]) -> Self {
        let index = self.blocks;
        self.blocks += 1;
        let start = json!({"type": "content_block_start", "index": index, "content_block": start});
        let deltas = deltas.iter().map(|delta| json!({"type": "content_block_delta", "index": index, "delta": delta}));
        let stop = json!({"type": "content_block_stop", "index": index});
        self.steps.extend(std::iter::once(start).chain(deltas).chain([stop]).map(Step::Event));
        self
    }

    /// Any event.
    pub fn event(mut self, data: Value) -> Self {
        self.steps.push(Step::Event(data));
        self
    }

    /// Bytes between the events, as they are.
    pub fn raw(mut self, text: &str) -> Self {
        self.steps.push(Step::Raw(text.to_owned()));
        self
    }

    /// Waits here until the test opens the gate. Before the first block this means: after `message_start`.
    pub fn gate(mut self, gate: &Gate) -> Self {
        self.steps.push(Step::Wait(gate.clone()));
        self
    }

    /// What the provider says that it did to the request, in its form.
    pub fn transformed(mut self, list: Value) -> Self {
        self.transformed = Some(list);
        self
    }

    /// Nothing at all is sent, not even `message_start`, until the test opens the gate.
    pub fn stalled(mut self, gate: &Gate) -> Self {
        self.stalled = Some(gate.clone());
        self
    }

    /// The stop reason, instead of the one that fits the blocks.
    pub fn stop(mut self, reason: &str) -> Self {
        self.stop = Some(reason.to_owned());
        self
    }

    /// The figures, in the provider's names.
    pub fn usage(mut self, usage: Value) -> Self {
        self.usage = Some(usage);
        self
    }

    /// An `error` event here, and the end.
    pub fn error_event(mut self, kind: &str, message: &str) -> Self {
        self.frame = Frame::Open;
        self.event(json!({"type": "error", "error": {"type": kind, "message": message}}))
    }

    /// Nothing more from here on, with the connection open.
    pub fn hang(mut self) -> Self {
        self.steps.push(Step::Hang);
        self
    }

    /// The connection breaks after this many events.
    pub fn cut_after(mut self, events: usize) -> Self {
        self.cut_after = Some(events);
        self
    }

    /// The stream ends properly, but without its closing events.
    pub fn unfinished(mut self) -> Self {
        self.frame = Frame::Open;
        self
    }

    /// A stream of these chunks and nothing around them, as Chat Completions has it; `[DONE]` is one of them.
    pub fn chunks<'a>(mut self, chunks: impl IntoIterator<Item = &'a str>) -> Self {
        self.frame = Frame::None;
        self.steps.extend(chunks.into_iter().map(|chunk| Step::Raw(format!("data: {chunk}\n\n"))));
        self
    }

    /// Sends the bytes in pieces of this size, whatever they cut.
    pub fn pieces(mut self, size: usize) -> Self {
        self.piece = Some(size);
        self
    }

    /// An HTTP error instead of a stream.
    pub fn status(self, status: u16) -> Self {
        let kind = match status {
            401 => "authentication_error",
            429 => "rate_limit_error",
            529 => "overloaded_error",
            400..=499 => "invalid_request_error",
            _ => "api_error",
        };
        self.status_with(status, kind, "scripted failure")
    }

    /// An HTTP error with this type and message.
    pub fn status_with(self, status: u16, kind: &str, message: &str) -> Self {
        let body = json!({"type": "error", "error": {"type": kind, "message": message}});
        self.answer(status, "application/json", &body.to_string())
    }

    /// A whole HTTP answer that is no stream of events.
    pub fn answer(mut self, status: u16, kind: &str, body: &str) -> Self {
        let headers = vec![("content-type".to_owned(), kind.to_owned())];
        self.error = Some(HttpError { status, headers, body: body.to_owned() });
        self
    }

    /// A header of the HTTP error before it.
    ///
    /// # Panics
    /// When there is none.
    pub fn header(mut self, name: &str, value: &str) -> Self {
        let error = self.error.as_mut().expect("a header follows the status it goes with");
        error.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    pub(super) fn fits(&self, request: &Received) -> bool {
        self.predicates.iter().all(|predicate| predicate(request))
    }

    /// The signatures of the thinking that is sent.
    pub(super) fn signatures(&self) -> Vec<String> {
        let events =
            self.steps.iter().filter_map(|step| if let Step::Event(event) = step { Some(event) } else { None });
        let texts = events.flat_map(|event| [&event["delta"]["signature"], &event["content_block"]["data"]]);
        texts.filter_map(Value::as_str).map(str::to_owned).collect()
    }

    /// Everything that is sent, the opening and closing events included.
    pub(super) fn script(self, bill: Option<&Bill>, next_id: &mut impl FnMut() -> String) -> Vec<Step> {
        let billed = bill.map(|bill| bill.usage(5));
        let usage = self.usage.or(billed).unwrap_or_else(|| json!({"input_tokens": 10, "output_tokens": 5}));
        let mut start = json!({"type": "message_start", "message": {
            "id": "msg_scripted", "type": "message", "role": "assistant", "content": [], "model": "scripted",
            "stop_reason": null, "stop_sequence": null, "usage": usage,
        }});
        if let Some(bill) = bill {
            start["message"]["input_transformations"] = bill.transformations.clone().into();
        }
        if let Some(list) = self.transformed {
            start["message"]["input_transformations"] = list;
        }
        let mut steps: Vec<Step> = self.stalled.into_iter().map(Step::Wait).collect();
        if self.frame != Frame::None {
            steps.push(Step::Event(start));
        }
        steps.extend(self.steps);
        for step in &mut steps {
            if let Step::Event(event) = step
                && event["content_block"]["id"] == ""
            {
                event["content_block"]["id"] = next_id().into();
            }
        }
        if self.frame == Frame::Whole {
            let fitting = if self.has_call { "tool_use" } else { "end_turn" };
            let stop = self.stop.as_deref().unwrap_or(fitting);
            let delta = json!({"stop_reason": stop, "stop_sequence": null});
            let output = json!({"output_tokens": usage["output_tokens"]});
            steps.push(Step::Event(json!({"type": "message_delta", "delta": delta, "usage": output})));
            steps.push(Step::Event(json!({"type": "message_stop"})));
        }
        steps
    }
}

//! Replies for one part of a tree: its root, a fork, a subagent. And what a delegating call came to.

use serde_json::Value;

use crate::{Received, Reply, reply};

fn is_root_head(request: &Received) -> bool {
    request.system().contains("You are Offshoot")
}

/// A reply for the root only: no directive, no brief.
pub fn in_root() -> Reply {
    reply().when(|request| is_root_head(request) && !request.mentions("<fork-directive>"))
}

/// A reply for the fork with this directive, at whatever step.
pub fn in_fork(directive: &str) -> Reply {
    let tag = format!("\"text\":\"{directive}");
    reply().when(move |request| String::from_utf8_lossy(&request.raw).contains(&tag))
}

/// A reply for the subagent whose brief begins with this, at whatever step.
pub fn in_child(brief: &str) -> Reply {
    let brief = brief.to_owned();
    reply().when(move |request| {
        let first = request.messages().first().and_then(|message| message["content"][0]["text"].as_str());
        !is_root_head(request) && first.is_some_and(|text| text.starts_with(&brief))
    })
}

/// A result's JSON.
///
/// # Panics
/// When it is none.
pub fn result_of(content: &str) -> Value {
    serde_json::from_str(content).unwrap_or_else(|_| panic!("not JSON: {content}"))
}

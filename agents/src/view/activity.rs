//! One line on what an agent is doing.

use offshoot_protocol::{CallId, Message};
use unicode_segmentation::UnicodeSegmentation;

use crate::transcript::Transcript;

/// Longest activity line, in grapheme clusters. It stands in a narrow column; the whole is in the conversation.
const LIMIT: usize = 120;

/// `Edit src/main.rs`, `Bash npm test`: the tool and the most telling part of its input.
pub(super) fn of_call(transcript: &Transcript, call: &CallId) -> Option<String> {
    // A call can begin before its message is there.
    let (_, name, input) = transcript.last()?.calls().find(|(id, ..)| *id == call)?;
    let input: serde_json::Value = serde_json::from_str(&input.0).unwrap_or_default();
    let target = ["description", "file_path", "command", "pattern", "path", "prompt"]
        .iter()
        .find_map(|key| input.get(key).and_then(serde_json::Value::as_str))
        .unwrap_or_default();
    Some(one_line(&format!("{name} {target}")))
}

/// The start of what was last said.
pub(super) fn of_message(message: &Message) -> Option<String> {
    let text = message.text();
    (!text.trim().is_empty()).then(|| one_line(&text))
}

fn one_line(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut graphemes = line.graphemes(true);
    let cut: String = graphemes.by_ref().take(LIMIT).collect();
    if graphemes.next().is_some() { format!("{cut}…") } else { cut }
}

//! What sessions and agents are called until somebody gives them another name.

use offshoot_protocol::{AgentKind, AgentView, EventBody, Origin};
use unicode_segmentation::UnicodeSegmentation as _;

use crate::view::Fold;

/// Most characters of a title, in grapheme clusters.
const LIMIT: usize = 80;

/// The first line of a prompt, as a title.
pub(super) fn title_of(prompt: &str) -> String {
    let line = prompt.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
    line.graphemes(true).take(LIMIT).collect()
}

/// Names a session by the first thing that a person asks its root for. One that was named already keeps its name.
pub(super) fn first_words(fold: &Fold, agent: &AgentView, text: &str) -> Option<EventBody> {
    let is_first = agent.messages == 0 && agent.queue.iter().all(|input| input.origin != Origin::User);
    let has_own_name = fold.view.title != agent.title;
    let title = title_of(text).split_whitespace().collect::<Vec<_>>().join(" ");
    (agent.kind == AgentKind::Root && is_first && !has_own_name && !title.is_empty())
        .then_some(EventBody::SessionRenamed { title })
}

#[cfg(test)]
mod tests {
    use super::title_of;

    #[test]
    fn a_title_is_cut_between_graphemes() {
        assert_eq!(title_of("\n  first line \nsecond"), "first line");
        assert_eq!(title_of(&"漢".repeat(200)), "漢".repeat(80));
        let family = "👨‍👩‍👧‍👦";
        assert_eq!(title_of(&family.repeat(200)), family.repeat(80));
    }
}

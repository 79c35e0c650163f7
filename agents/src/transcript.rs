//! An agent's messages: append-only, shared between forks.
//!
//! A [`Transcript`] is a persistent list. Appending and cloning are O(1) in time and memory whatever its length: a clone
//! shares every message, and appending to one of two clones leaves the other as it was.
//!
//! A transcript has segments: compaction begins a new one, and only the last is sent. Each message knows where its segment
//! begins, so that a prefix of a transcript has the segment that was its last one then.

use std::sync::Arc;

use offshoot_protocol::{Block, Message};

use crate::message::Stored;

/// A handle on a list of messages.
#[derive(Clone, Default)]
pub struct Transcript {
    last: Option<Arc<Node>>,
}

struct Node {
    stored: Arc<Stored>,
    before: Option<Arc<Node>>,
    len: u32,
    /// Index of the first message of its segment.
    segment: u32,
}

impl Transcript {
    /// Number of messages.
    pub fn len(&self) -> u32 {
        self.last.as_ref().map_or(0, |node| node.len)
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.last.is_none()
    }

    /// Appends a message; returns its index.
    pub fn push(&mut self, message: Message) -> u32 {
        self.append(Stored::new(message), self.segment_start())
    }

    /// Appends what a model wrote.
    pub fn push_by(&mut self, message: Message, author: Arc<str>) -> u32 {
        self.append(Stored::by(message, Some(author)), self.segment_start())
    }

    /// Appends a message that begins a new segment.
    pub fn begin_segment(&mut self, message: Message) -> u32 {
        self.append(Stored::new(message), self.len())
    }

    fn append(&mut self, stored: Arc<Stored>, segment: u32) -> u32 {
        let index = self.len();
        let before = self.last.take();
        self.last = Some(Arc::new(Node { stored, before, len: index + 1, segment }));
        index
    }

    /// Index of the first message that is sent.
    pub fn segment_start(&self) -> u32 {
        self.last.as_ref().map_or(0, |node| node.segment)
    }

    /// Number of messages that are sent: those of the last segment.
    pub fn segment_len(&self) -> u32 {
        self.len() - self.segment_start()
    }

    /// The messages that are sent, first to last.
    pub fn segment(&self) -> Vec<&Arc<Stored>> {
        self.messages_from(self.segment_start())
    }

    /// The messages that are sent, from the last to the first.
    pub fn segment_newest_first(&self) -> impl Iterator<Item = &Arc<Stored>> {
        self.newest_first().take(self.segment_len() as usize)
    }

    /// The newest block, of those that are sent, that is so.
    pub fn newest_block(&self, is_so: impl Fn(&Block) -> bool) -> Option<&Block> {
        self.segment_newest_first().find_map(|stored| stored.message.blocks.iter().rev().find(|block| is_so(block)))
    }

    /// The last message.
    pub fn last(&self) -> Option<&Message> {
        self.last.as_ref().map(|node| &node.stored.message)
    }

    /// The first `len` messages, shared; all of them when there are fewer.
    pub fn prefix(&self, len: u32) -> Self {
        let mut node = self.last.as_ref();
        while let Some(current) = node
            && current.len > len
        {
            node = current.before.as_ref();
        }
        Self { last: node.cloned() }
    }

    /// All messages, first to last.
    pub fn messages(&self) -> Vec<&Arc<Stored>> {
        self.messages_from(0)
    }

    /// The messages from index `from` on, first to last, without walking over those before.
    pub fn messages_from(&self, from: u32) -> Vec<&Arc<Stored>> {
        let count = self.len().saturating_sub(from) as usize;
        let mut messages = Vec::with_capacity(count);
        messages.extend(self.newest_first().take(count));
        messages.reverse();
        messages
    }

    /// The messages from the last to the first.
    pub fn newest_first(&self) -> impl Iterator<Item = &Arc<Stored>> {
        std::iter::successors(self.last.as_deref(), |node| node.before.as_deref()).map(|node| &node.stored)
    }

    /// How many messages both have in common, counted from the first: the same in memory, not merely equal.
    pub fn common(&self, other: &Self) -> u32 {
        let (mut a, mut b) = (self.last.as_ref(), other.last.as_ref());
        while let (Some(left), Some(right)) = (a, b) {
            if Arc::ptr_eq(left, right) {
                return left.len;
            }
            if left.len >= right.len {
                a = left.before.as_ref();
            }
            if right.len >= left.len {
                b = right.before.as_ref();
            }
        }
        0
    }

    /// Whether both are the same list in memory, not merely equal.
    pub fn is_same(&self, other: &Self) -> bool {
        match (&self.last, &other.last) {
            (Some(a), Some(b)) => Arc::ptr_eq(a, b),
            (None, None) => true,
            _ => false,
        }
    }
}

impl Drop for Transcript {
    /// Takes a long list apart in a loop: the derived drop would recurse once per message.
    fn drop(&mut self) {
        let mut next = self.last.take();
        while let Some(node) = next {
            match Arc::try_unwrap(node) {
                Ok(mut node) => next = node.before.take(),
                Err(_) => break,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use offshoot_protocol::Origin;

    use super::*;

    fn transcript(texts: &[&str]) -> Transcript {
        let mut transcript = Transcript::default();
        for text in texts {
            transcript.push(Message::user(*text, Origin::User));
        }
        transcript
    }

    fn texts(transcript: &Transcript) -> Vec<String> {
        transcript.messages().iter().map(|stored| stored.message.text()).collect()
    }

    #[test]
    fn a_clone_shares_messages_and_grows_on_its_own() {
        let mut parent = transcript(&["a", "b"]);
        let mut fork = parent.clone();
        parent.push(Message::user("parent", Origin::User));
        fork.push(Message::user("fork", Origin::User));
        assert_eq!(texts(&parent), ["a", "b", "parent"]);
        assert_eq!(texts(&fork), ["a", "b", "fork"]);
        assert!(Arc::ptr_eq(parent.messages()[1], fork.messages()[1]));
    }

    #[test]
    fn a_prefix_is_shared() {
        let parent = transcript(&["a", "b", "c"]);
        assert_eq!(texts(&parent.prefix(2)), ["a", "b"]);
        assert!(parent.prefix(3).is_same(&parent));
        assert!(parent.prefix(9).is_same(&parent));
        assert!(parent.prefix(0).is_empty());
        assert_eq!(parent.messages_from(1).len(), 2);
        assert!(parent.messages_from(7).is_empty());
    }

    #[test]
    fn a_prefix_keeps_the_segment_that_it_had() {
        let mut parent = transcript(&["a", "b"]);
        parent.begin_segment(Message::user("summary", Origin::Summary));
        parent.push(Message::user("c", Origin::User));
        assert_eq!((parent.segment_start(), parent.segment().len(), parent.len()), (2, 2, 4));
        assert_eq!((parent.segment_len(), parent.segment_newest_first().count()), (2, 2));
        assert_eq!((parent.prefix(2).segment_start(), parent.prefix(2).segment().len()), (0, 2));
        assert_eq!(parent.prefix(3).segment_start(), 2);
    }

    #[test]
    fn what_two_have_in_common_ends_where_one_went_its_own_way() {
        let parent = transcript(&["a", "b", "c"]);
        let mut fork = parent.prefix(2);
        fork.push(Message::user("c", Origin::User));
        fork.push(Message::user("d", Origin::User));
        assert_eq!((parent.common(&fork), fork.common(&parent)), (2, 2));
        assert_eq!(parent.common(&parent.prefix(1)), 1);
        assert_eq!(parent.common(&transcript(&["a"])), 0);
    }

    #[test]
    fn a_long_transcript_is_dropped_without_deep_recursion() {
        let mut transcript = Transcript::default();
        for _ in 0..1_000_000 {
            transcript.push(Message::user("", Origin::User));
        }
        drop(transcript);
    }
}

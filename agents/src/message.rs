//! Messages in memory: immutable, shared, encoded once for each wire format.

use std::sync::{Arc, OnceLock};

use bytes::Bytes;
use offshoot_protocol::{Block, Message};

/// How a provider wants messages written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WireFormat {
    /// Anthropic Messages.
    Anthropic,
    /// `OpenAI` Chat Completions and everything compatible.
    OpenAiChat,
    /// `OpenAI` Responses.
    OpenAiResponses,
}

/// A message's bytes in one format, and where a cache mark can be put between them without touching them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Encoded {
    /// The whole message.
    pub bytes: Bytes,
    /// Offset at which a mark on the last block that may carry one is inserted.
    pub last_mark: Option<usize>,
    /// Offset at which a mark on the siblings' common end is inserted: on the block before a fork's directive.
    pub fork_mark: Option<usize>,
    /// Of each block, in order, the offset of a mark on it; nothing for blocks that may not carry one.
    pub block_marks: Vec<Option<u32>>,
}

/// A message with its encoded bytes. Shared by every transcript that contains it.
#[derive(Debug)]
pub struct Stored {
    /// The message.
    pub message: Message,
    /// The model that wrote it; absent for what no model wrote.
    pub author: Option<Arc<str>>,
    /// The message as a model sees it that can't read its author's reasoning. Made when it is first needed.
    bare: OnceLock<Arc<Stored>>,
    encoded: [OnceLock<Encoded>; 3],
}

impl Stored {
    /// Takes a message into memory; nothing is encoded yet.
    pub fn new(message: Message) -> Arc<Self> {
        Self::by(message, None)
    }

    /// A message of this author's.
    pub fn by(message: Message, author: Option<Arc<str>>) -> Arc<Self> {
        Arc::new(Self { message, author, bare: OnceLock::new(), encoded: Default::default() })
    }

    /// What `model` is sent of it. Reasoning is signed for the model that wrote it: others get the message without.
    pub fn for_model(&self, model: &str) -> &Self {
        let is_reasoning = |block: &Block| matches!(block, Block::Thinking { .. } | Block::RedactedThinking { .. });
        let is_foreign = self.author.as_deref().is_some_and(|author| author != model);
        if !is_foreign || !self.message.blocks.iter().any(is_reasoning) {
            return self;
        }
        self.bare.get_or_init(|| {
            let blocks = self.message.blocks.iter().filter(|block| !is_reasoning(block)).cloned().collect();
            Self::new(Message { role: self.message.role, blocks })
        })
    }

    /// The message in `format`. `encode` is called at most once per message and format, whoever asks.
    pub fn encoded(&self, format: WireFormat, encode: impl FnOnce(&Message) -> Encoded) -> &Encoded {
        self.encoded[format as usize].get_or_init(|| encode(&self.message))
    }
}

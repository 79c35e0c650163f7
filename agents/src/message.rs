//! Messages in memory: immutable, shared, encoded once for each wire format.

use std::sync::{Arc, OnceLock};

use bytes::Bytes;
use offshoot_protocol::Message;

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
    encoded: [OnceLock<Encoded>; 3],
}

impl Stored {
    /// Takes a message into memory; nothing is encoded yet.
    pub fn new(message: Message) -> Arc<Self> {
        Arc::new(Self { message, encoded: Default::default() })
    }

    /// The message in `format`. `encode` is called at most once per message and format, whoever asks.
    pub fn encoded(&self, format: WireFormat, encode: impl FnOnce(&Message) -> Encoded) -> &Encoded {
        self.encoded[format as usize].get_or_init(|| encode(&self.message))
    }
}

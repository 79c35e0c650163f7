//! For the tests of decoders: what an answer comes to.

use std::collections::VecDeque;

use offshoot_protocol::{Block, Origin, RawJson, Usage};

use super::http::Decode;
use super::{ModelError, ModelEvent, StopReason};

/// Decodes pieces, the last one included where a server sends it; the connection ends behind them.
pub(super) fn run(mut decoder: impl Decode, pieces: &[&str]) -> (Vec<ModelEvent>, Result<bool, ModelError>) {
    let mut out = VecDeque::new();
    for piece in pieces {
        match decoder.take(piece.as_bytes(), &mut out) {
            Ok(false) => {}
            end => return (out.into(), end),
        }
    }
    let end = decoder.finish(&mut out);
    (out.into(), end)
}

/// The answer that pieces come to.
pub(super) fn answer(decoder: impl Decode, pieces: &[&str]) -> (Vec<Block>, StopReason, Usage) {
    let (events, end) = run(decoder, pieces);
    assert!(end.unwrap(), "{events:?}");
    let mut blocks = Vec::new();
    for event in events {
        match event {
            ModelEvent::BlockEnded { index, block } => {
                assert_eq!(index as usize, blocks.len());
                blocks.push(block);
            }
            ModelEvent::Ended { stop, usage } => return (blocks, stop, usage),
            _ => {}
        }
    }
    panic!("no end")
}

pub(super) fn text(text: &str) -> Block {
    Block::Text { text: text.to_owned(), origin: Origin::Model }
}

pub(super) fn call(id: &str, name: &str, input: &str) -> Block {
    Block::Call { id: id.into(), name: name.to_owned(), input: RawJson(input.to_owned()) }
}

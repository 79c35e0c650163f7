//! A request's body: shared pieces of a known length, never joined.
//!
//! Everything before the first mark that moves is a [`Prefix`], shared by all requests in flight that have it in common; a
//! further fork adds the few pieces behind it.

use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::task::{Context, Poll};

use bytes::{Bytes, BytesMut};
use http_body::{Frame, SizeHint};
use offshoot_protocol::MessageRole;

use super::encode;
use crate::message::{Encoded, Stored, WireFormat};
use crate::model::{Request, RequestHead};
use crate::transcript::Transcript;

/// Pieces of at least this many bytes are sent as they are; smaller ones are gathered, since each costs a frame.
const LARGE_PIECE: usize = 16 * 1024;
/// Most bytes gathered into one frame.
const LARGEST_GATHERED: usize = 64 * 1024;

/// What requests in flight have in common. Holds nothing alive by itself.
#[derive(Default)]
pub(super) struct Shared {
    heads: Mutex<Vec<(Weak<RequestHead>, Bytes)>>,
    prefixes: Mutex<Vec<Weak<Prefix>>>,
}

/// The first messages of a transcript, encoded, without moving marks.
struct Prefix {
    /// Which; compared by identity.
    transcript: Transcript,
    pieces: Vec<Bytes>,
    len: u64,
}

impl Shared {
    fn head(&self, head: &Arc<RequestHead>) -> Bytes {
        let mut heads = self.heads.lock().unwrap_or_else(PoisonError::into_inner);
        heads.retain(|(known, _)| known.strong_count() > 0);
        // A live allocation has one address, and the dead ones are gone.
        if let Some((_, bytes)) = heads.iter().find(|(known, _)| std::ptr::eq(known.as_ptr(), Arc::as_ptr(head))) {
            return bytes.clone();
        }
        let bytes = encode::head(head);
        heads.push((Arc::downgrade(head), bytes.clone()));
        bytes
    }

    fn prefix(&self, transcript: Transcript) -> Arc<Prefix> {
        let mut prefixes = self.prefixes.lock().unwrap_or_else(PoisonError::into_inner);
        prefixes.retain(|known| known.strong_count() > 0);
        let known = prefixes.iter().filter_map(Weak::upgrade).find(|known| known.transcript.is_same(&transcript));
        known.unwrap_or_else(|| {
            let prefix = Arc::new(Prefix::new(transcript));
            prefixes.push(Arc::downgrade(&prefix));
            prefix
        })
    }
}

impl Prefix {
    fn new(transcript: Transcript) -> Self {
        let mut pieces = Pieces::default();
        for stored in transcript.messages() {
            pieces.message(stored, &[]);
        }
        let len = pieces.len();
        Self { pieces: pieces.list, len, transcript }
    }
}

/// Pieces of a message list under construction.
#[derive(Default)]
struct Pieces {
    list: Vec<Bytes>,
    last_role: Option<MessageRole>,
    /// Whether the last message of what stands before this list is to be continued.
    continues: bool,
}

impl Pieces {
    fn len(&self) -> u64 {
        self.list.iter().map(|piece| piece.len() as u64).sum()
    }

    /// Appends a message with marks at `marks`, which are offsets in its bytes, ascending. A message of the same role as
    /// the one before becomes its continuation, since some compatible servers insist on alternation.
    fn message(&mut self, stored: &Stored, marks: &[usize]) {
        let Encoded { bytes, .. } = encoded(stored);
        let role = stored.message.role;
        let opening = encode::opening(role).len();
        let mut from = match self.last_role {
            None => 1,
            Some(last) if last == role => {
                self.reopen();
                self.list.push(Bytes::from_static(b","));
                opening
            }
            Some(_) => 0,
        };
        self.last_role = Some(role);
        for &at in marks {
            self.list.push(bytes.slice(from..at));
            self.list.push(Bytes::from_static(encode::MARK));
            from = at;
        }
        self.list.push(bytes.slice(from..));
    }

    /// Takes the end of the last message off again.
    fn reopen(&mut self) {
        match self.list.last_mut() {
            Some(last) => last.truncate(last.len() - encode::MESSAGE_END.len()),
            None => self.continues = true,
        }
    }
}

fn encoded(stored: &Stored) -> &Encoded {
    stored.encoded(WireFormat::Anthropic, encode::message)
}

/// Where a request's moving marks go: behind the last result of the siblings' common end, and at the ends of this request
/// and of the one before it. With the head's that makes four, the most that the provider takes.
struct Marks {
    /// Index of the message that holds the fork point.
    fork: Option<u32>,
    last: Option<u32>,
    previous: Option<u32>,
}

impl Marks {
    fn of(request: &Request) -> Self {
        let len = request.transcript.len();
        let mut previous = None;
        let mut has_answer = false;
        for (index, stored) in (0..len).rev().zip(request.transcript.newest_first()) {
            match stored.message.role {
                MessageRole::Assistant => has_answer = true,
                MessageRole::User if has_answer => {
                    previous = Some(index);
                    break;
                }
                MessageRole::User => {}
            }
        }
        let fork = request.fork_point.and_then(|count| count.checked_sub(1)).filter(|index| *index < len);
        Self { fork, last: len.checked_sub(1), previous }
    }

    fn first(&self) -> Option<u32> {
        [self.fork, self.last, self.previous].into_iter().flatten().min()
    }

    /// The offsets of message `index`'s marks, ascending.
    fn offsets(&self, index: u32, encoded: &Encoded) -> Vec<usize> {
        let mut offsets = Vec::new();
        if self.fork == Some(index) {
            offsets.extend(encoded.result_mark);
        }
        if self.last == Some(index) || self.previous == Some(index) {
            offsets.extend(encoded.last_mark);
        }
        offsets.dedup();
        offsets
    }
}

/// The body of one request.
pub(super) struct Body {
    head: Option<Bytes>,
    prefix: Arc<Prefix>,
    /// How many pieces of the prefix were sent.
    sent: usize,
    /// Bytes that are left out at the prefix's end, where a message continues behind it.
    cut: usize,
    rest: std::vec::IntoIter<Bytes>,
    left: u64,
}

impl Body {
    pub(super) fn new(request: &Request, shared: &Shared) -> Self {
        let marks = Marks::of(request);
        let start = marks.first().unwrap_or(0);
        let prefix = shared.prefix(request.transcript.prefix(start));
        let last_role = prefix.transcript.last().map(|message| message.role);
        let mut pieces = Pieces { last_role, ..Pieces::default() };
        for (index, stored) in (start..).zip(request.transcript.messages_from(start)) {
            pieces.message(stored, &marks.offsets(index, encoded(stored)));
        }
        pieces.list.push(Bytes::from_static(encode::TAIL));
        let cut = if pieces.continues { encode::MESSAGE_END.len() } else { 0 };
        let head = shared.head(&request.head);
        let left = head.len() as u64 + prefix.len - cut as u64 + pieces.len();
        Self { head: Some(head), prefix, sent: 0, cut, rest: pieces.list.into_iter(), left }
    }

    fn peek(&self) -> Option<Bytes> {
        if let Some(head) = &self.head {
            return Some(head.clone());
        }
        match self.prefix.pieces.get(self.sent) {
            Some(piece) if self.sent + 1 == self.prefix.pieces.len() => Some(piece.slice(..piece.len() - self.cut)),
            Some(piece) => Some(piece.clone()),
            None => self.rest.as_slice().first().cloned(),
        }
    }

    fn advance(&mut self) {
        if self.head.take().is_some() {
        } else if self.sent < self.prefix.pieces.len() {
            self.sent += 1;
        } else {
            self.rest.next();
        }
    }

    fn next_frame(&mut self) -> Option<Bytes> {
        let first = self.peek()?;
        self.advance();
        let mut gathered = BytesMut::new();
        if first.len() < LARGE_PIECE {
            while let Some(piece) = self.peek()
                && piece.len() < LARGE_PIECE
                && first.len().max(gathered.len()) + piece.len() <= LARGEST_GATHERED
            {
                if gathered.is_empty() {
                    gathered.extend_from_slice(&first);
                }
                gathered.extend_from_slice(&piece);
                self.advance();
            }
        }
        let frame = if gathered.is_empty() { first } else { gathered.freeze() };
        self.left -= frame.len() as u64;
        Some(frame)
    }
}

impl http_body::Body for Body {
    type Data = Bytes;
    type Error = std::convert::Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Self::Data>, Self::Error>>> {
        Poll::Ready(self.next_frame().map(|bytes| Ok(Frame::data(bytes))))
    }

    fn is_end_stream(&self) -> bool {
        self.left == 0
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.left)
    }
}

#[cfg(test)]
mod tests;

//! A request's body, for every provider: shared pieces of a known length.
//!
//! Everything before the first mark that moves is a [`Prefix`]: one run of bytes, shared by all requests in flight that
//! have it in common, and sent as it is; a further fork adds the few pieces behind it. (A piece per message would cost a
//! frame each, or a copy for every request.)

use std::collections::VecDeque;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::task::{Context, Poll};

use bytes::{Bytes, BytesMut};
use http_body::{Frame, SizeHint};
use offshoot_protocol::{Message, MessageRole};

use super::{Request, RequestHead};
use crate::message::{Encoded, Stored, WireFormat};
use crate::transcript::Transcript;

/// Pieces of at least this many bytes are sent as they are; smaller ones are gathered, since each costs a frame.
const LARGE_PIECE: usize = 16 * 1024;
/// Most bytes gathered into one frame.
const LARGEST_GATHERED: usize = 64 * 1024;

/// How a provider's bodies are put together. The same value always gives the same bytes.
pub(super) struct Form {
    pub(super) format: WireFormat,
    /// Everything before the messages, and whether a message stands in it already.
    pub(super) head: fn(&RequestHead) -> (Bytes, bool),
    /// A message, from the comma before it on.
    pub(super) message: fn(&Message) -> Encoded,
    /// Length of a message's opening, comma included, where neighbours of one role are sent as one message.
    pub(super) opening: Option<fn(MessageRole) -> usize>,
    /// Length of what ends such a message.
    pub(super) ending: usize,
    /// What is inserted at a mark's offset.
    pub(super) mark: &'static [u8],
}

/// What requests in flight have in common. Holds nothing alive by itself.
pub(super) struct Shared {
    form: &'static Form,
    heads: Mutex<Vec<KnownHead>>,
    prefixes: Mutex<Vec<Weak<Prefix>>>,
}

/// A head in use, its bytes, and whether a message stands in them already.
type KnownHead = (Weak<RequestHead>, (Bytes, bool));

/// The first messages of a transcript, encoded, without moving marks.
struct Prefix {
    /// Which; compared by identity.
    transcript: Transcript,
    /// Where the segment begins that the messages belong to.
    segment: u32,
    /// Who reads them.
    model: String,
    bytes: Bytes,
}

impl Shared {
    pub(super) fn new(form: &'static Form) -> Self {
        Self { form, heads: Mutex::default(), prefixes: Mutex::default() }
    }

    fn head(&self, head: &Arc<RequestHead>) -> (Bytes, bool) {
        let mut heads = lock(&self.heads);
        heads.retain(|(known, _)| known.strong_count() > 0);
        // A live allocation has one address, and the dead ones are gone.
        if let Some((_, encoded)) = heads.iter().find(|(known, _)| std::ptr::eq(known.as_ptr(), Arc::as_ptr(head))) {
            return encoded.clone();
        }
        let encoded = (self.form.head)(head);
        heads.push((Arc::downgrade(head), encoded.clone()));
        encoded
    }

    fn prefix(&self, transcript: Transcript, segment: u32, model: &str) -> Arc<Prefix> {
        if let Some(known) = known(&mut lock(&self.prefixes), &transcript, segment, model) {
            return known;
        }
        // Encoding a long history takes a while: nobody waits for it behind the lock.
        let made = Arc::new(Prefix::new(transcript, segment, model, self.form));
        let mut prefixes = lock(&self.prefixes);
        if let Some(known) = known(&mut prefixes, &made.transcript, segment, model) {
            return known;
        }
        prefixes.push(Arc::downgrade(&made));
        made
    }
}

/// The prefix of this very transcript, if a request in flight has it.
fn known(prefixes: &mut Vec<Weak<Prefix>>, transcript: &Transcript, segment: u32, model: &str) -> Option<Arc<Prefix>> {
    prefixes.retain(|prefix| prefix.strong_count() > 0);
    let is_it = |prefix: &Arc<Prefix>| {
        prefix.segment == segment && prefix.model == model && prefix.transcript.is_same(transcript)
    };
    prefixes.iter().filter_map(Weak::upgrade).find(is_it)
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Prefix {
    fn new(transcript: Transcript, segment: u32, model: &str, form: &'static Form) -> Self {
        let mut pieces = Pieces::new(form, None);
        for stored in transcript.messages_from(segment) {
            pieces.message(stored.for_model(model), &[]);
        }
        let len = pieces.list.iter().map(Bytes::len).sum();
        let mut bytes = BytesMut::with_capacity(len);
        for piece in &pieces.list {
            bytes.extend_from_slice(piece);
        }
        Self { bytes: bytes.freeze(), segment, model: model.to_owned(), transcript }
    }
}

/// Pieces of a message list under construction.
struct Pieces {
    form: &'static Form,
    list: Vec<Bytes>,
    last_role: Option<MessageRole>,
    /// Whether the last message of what stands before this list is to be continued.
    continues: bool,
}

impl Pieces {
    fn new(form: &'static Form, last_role: Option<MessageRole>) -> Self {
        Self { form, list: Vec::new(), last_role, continues: false }
    }

    /// Appends a message with marks at `marks`, which are offsets in its bytes, ascending. A message of the same role as
    /// the one before becomes its continuation, since some compatible servers insist on alternation.
    fn message(&mut self, stored: &Stored, marks: &[usize]) {
        let bytes = &self.form.encoded(stored).bytes;
        let role = stored.message.role;
        let mut from = 0;
        if self.last_role == Some(role)
            && let Some(opening) = self.form.opening
        {
            self.reopen();
            self.list.push(Bytes::from_static(b","));
            from = opening(role);
        }
        self.last_role = Some(role);
        for &at in marks {
            self.list.push(bytes.slice(from..at));
            self.list.push(Bytes::from_static(self.form.mark));
            from = at;
        }
        self.list.push(bytes.slice(from..));
    }

    /// Takes the end of the last message off again.
    fn reopen(&mut self) {
        match self.list.last_mut() {
            Some(last) => last.truncate(last.len() - self.form.ending),
            None => self.continues = true,
        }
    }
}

impl Form {
    fn encoded<'a>(&self, stored: &'a Stored) -> &'a Encoded {
        stored.encoded(self.format, self.message)
    }
}

/// How many blocks before a mark a provider looks for what it has cached.
/// Source: <https://platform.claude.com/docs/en/build-with-claude/prompt-caching>.
const LOOK_BACK: usize = 20;

/// Where a request's moving marks go: at the siblings' common end, and at the ends of this request
/// and of the one before it. With the head's that makes four, the most that the provider takes. Where more blocks were added
/// than a provider looks back over, one stands between the last two; it takes the place of the common end, which the agent
/// itself has left behind then.
struct Marks {
    /// Index of the message that holds the fork point.
    fork: Option<u32>,
    last: Option<u32>,
    previous: Option<u32>,
    /// Message and offset of the mark between.
    between: Option<(u32, usize)>,
}

impl Marks {
    fn of(request: &Request) -> Self {
        let len = request.transcript.len();
        let sent = request.transcript.segment_start()..len;
        let mut previous = None;
        let mut has_answer = false;
        for (index, stored) in sent.clone().rev().zip(request.transcript.newest_first()) {
            match stored.message.role {
                MessageRole::Assistant => has_answer = true,
                MessageRole::User if has_answer => {
                    previous = Some(index);
                    break;
                }
                MessageRole::User => {}
            }
        }
        let fork = request.fork_point.and_then(|count| count.checked_sub(1)).filter(|index| sent.contains(index));
        Self { fork, last: len.checked_sub(1), previous, between: None }
    }

    /// Sets the mark between the last two ends, if they are far apart. `messages` are those from index `start` on.
    fn bridge(&mut self, start: u32, messages: &[&Encoded]) {
        let Some(previous) = self.previous.filter(|index| self.fork.is_none_or(|fork| fork < *index)) else { return };
        let added = (start..).zip(messages).filter(|(index, _)| *index > previous);
        let blocks = added.flat_map(|(index, encoded)| encoded.block_marks.iter().map(move |mark| (index, *mark)));
        let blocks: Vec<(u32, Option<u32>)> = blocks.collect();
        if blocks.len() <= LOOK_BACK {
            return;
        }
        let in_reach = blocks[blocks.len() - 1 - LOOK_BACK..blocks.len() - 1].iter();
        let markable = in_reach.filter_map(|(index, mark)| Some((*index, (*mark)? as usize)));
        self.between = markable.into_iter().next();
        if self.between.is_some() {
            self.fork = None;
        }
    }

    fn first(&self) -> Option<u32> {
        [self.fork, self.last, self.previous].into_iter().flatten().min()
    }

    /// The offsets of message `index`'s marks, ascending.
    fn offsets(&self, index: u32, encoded: &Encoded) -> Vec<usize> {
        let mut offsets = Vec::new();
        if self.fork == Some(index) {
            offsets.extend(encoded.fork_mark);
        }
        if self.last == Some(index) || self.previous == Some(index) {
            offsets.extend(encoded.last_mark);
        }
        offsets.extend(self.between.filter(|(at, _)| *at == index).map(|(_, offset)| offset));
        offsets.sort_unstable();
        offsets.dedup();
        offsets
    }
}

/// The body of one request.
pub(super) struct Body {
    /// What is still to be sent.
    pieces: VecDeque<Bytes>,
    left: u64,
    /// Held while the request is in flight, so that siblings find it.
    #[cfg_attr(not(test), expect(dead_code, reason = "held, not read"))]
    prefix: Arc<Prefix>,
}

impl Body {
    /// The body of `request`, with `tail` behind its messages.
    pub(super) fn new(request: &Request, shared: &Shared, tail: Bytes) -> Self {
        let mut marks = Marks::of(request);
        let segment = request.transcript.segment_start();
        let start = marks.first().unwrap_or(segment);
        let model = &request.head.model;
        let prefix = shared.prefix(request.transcript.prefix(start), segment, model);
        let last_role = prefix.transcript.last().filter(|_| start > segment).map(|message| message.role);
        let mut rest = Pieces::new(shared.form, last_role);
        let messages = request.transcript.messages_from(start);
        let messages: Vec<&Stored> = messages.into_iter().map(|stored| stored.for_model(model)).collect();
        let encoded: Vec<&Encoded> = messages.iter().map(|stored| shared.form.encoded(stored)).collect();
        marks.bridge(start, &encoded);
        for (index, (stored, encoded)) in (start..).zip(messages.into_iter().zip(encoded)) {
            rest.message(stored, &marks.offsets(index, encoded));
        }
        rest.list.push(tail);
        let (head, has_message) = shared.head(&request.head);
        // The prefix's end is left out where a message continues behind it.
        let cut = if rest.continues { shared.form.ending } else { 0 };
        let mut pieces = VecDeque::from([prefix.bytes.slice(..prefix.bytes.len() - cut)]);
        pieces.extend(rest.list);
        pieces.retain(|piece| !piece.is_empty());
        // The first message has no comma before it.
        if !has_message && !request.transcript.is_empty() {
            drop(pieces[0].split_to(1));
        }
        pieces.push_front(head);
        let left = pieces.iter().map(|piece| piece.len() as u64).sum();
        Self { pieces, left, prefix }
    }

    fn next_frame(&mut self) -> Option<Bytes> {
        let first = self.pieces.pop_front()?;
        let mut gathered = BytesMut::new();
        if first.len() < LARGE_PIECE {
            while let Some(piece) = self.pieces.front()
                && piece.len() < LARGE_PIECE
                && first.len().max(gathered.len()) + piece.len() <= LARGEST_GATHERED
            {
                if gathered.is_empty() {
                    gathered.extend_from_slice(&first);
                }
                gathered.extend_from_slice(piece);
                self.pieces.pop_front();
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

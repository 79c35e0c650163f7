//! A fork in memory: its transcript, its request, and a thousand of them in flight.

use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use offshoot_agents::model::anthropic::Anthropic;
use offshoot_agents::model::{Endpoint, Model, Provider as Which, Request, RequestHead};
use offshoot_agents::transcript::Transcript;
use offshoot_protocol::{AgentId, Block, Message, MessageRole, Origin, SessionId};

use crate::MEMORY;
use crate::measure::{median, middle, time, us};
use crate::report::Report;
use crate::sink::{Sink, Then};

/// What a history is made of.
const LINE: &str = "The quick brown fox jumps over the lazy dog; \"quoted\", a\ttab and a\nline feed, ünïcödé too. ";

/// Histories: bytes and messages.
pub(crate) const HISTORIES: [(usize, u32, &str); 3] =
    [(9_000, 10, "9 KB"), (880_000, 1_000, "0.88 MB"), (6_800_000, 5_000, "6.8 MB")];

/// Forks in flight.
const FORKS: usize = 1_000;

/// A transcript of about `bytes` in `messages` that ends with what a person said.
pub(crate) fn history(bytes: usize, messages: u32) -> Transcript {
    let mut transcript = Transcript::default();
    for message in texts(bytes, messages) {
        transcript.push(message);
    }
    transcript
}

/// Its messages.
pub(crate) fn texts(bytes: usize, messages: u32) -> impl Iterator<Item = Message> {
    let each = bytes / messages as usize;
    let text: String = LINE.chars().cycle().take(each).collect();
    // Roles alternate, and the last one is the person's.
    (0..messages).map(move |index| {
        if (messages - index) % 2 == 1 {
            Message::user(text.as_str(), Origin::User)
        } else {
            let blocks = vec![Block::Text { text: text.clone(), origin: Origin::Model }];
            Message { role: MessageRole::Assistant, blocks }
        }
    })
}

/// A request with this transcript.
pub(crate) fn request(transcript: Transcript, fork_point: Option<u32>) -> Request {
    let head = RequestHead {
        provider: Which::Anthropic,
        model: "claude-bench".to_owned(),
        system: "You are measured.".to_owned(),
        tools: Vec::new(),
        max_tokens: 1024,
        thinking_budget: None,
    };
    Request {
        head: Arc::new(head),
        transcript,
        fork_point,
        session: SessionId::from("s-bench"),
        agent: AgentId::from("a-bench"),
    }
}

/// A fork of `parent`: its transcript and a directive.
pub(crate) fn fork(parent: &Request) -> Request {
    let mut fork = parent.clone();
    fork.fork_point = Some(parent.transcript.len());
    fork.transcript.push(Message::user("Do your part.", Origin::Directive));
    fork
}

pub(crate) fn run(report: &mut Report) {
    for (bytes, messages, shown) in HISTORIES {
        let parent = request(history(bytes, messages), None);
        let client = Anthropic::new(Endpoint::new("http://127.0.0.1:1", None)).unwrap();
        // The parent's own request is in flight: its messages are encoded.
        let in_flight = client.stream(parent.clone());
        let first = client.stream(fork(&parent));

        let rounds = 1_000;
        let forking = median(7, || {
            let (took, forks) = time(|| (0..rounds).map(|_| fork(&parent)).collect::<Vec<_>>());
            drop(forks);
            us(took) / f64::from(rounds)
        });
        report.at_most(format!("fork of {shown}"), forking, "µs", 10.0);
        let before = MEMORY.current_usage();
        let forks: Vec<_> = (0..rounds).map(|_| fork(&parent)).collect();
        let grown = MEMORY.current_usage().saturating_sub(before);
        drop(forks);
        report.at_most(format!("memory of a fork of {shown}"), grown as f64 / f64::from(rounds), "B", 1_024.0);

        let writing = median(7, || {
            let forks: Vec<_> = (0..rounds).map(|_| fork(&parent)).collect();
            let (took, bodies) = time(|| forks.into_iter().map(|fork| client.stream(fork)).collect::<Vec<_>>());
            drop(bodies);
            us(took) / f64::from(rounds)
        });
        report.note(format!("the fork's HTTP request, body included, {shown}"), writing, "µs");
        let copy = vec![7_u8; bytes];
        let copying = median(7, || us(time(|| std::hint::black_box(copy.clone())).0));
        report.note(format!("for comparison: a copy of {shown}"), copying, "µs");
        drop((in_flight, first));
    }
    thousand_in_flight(report);
}

/// Sends them all over sockets of their own, where nobody answers, and looks at the most that took beyond the history.
fn thousand_in_flight(report: &mut Report) {
    let (bytes, messages, shown) = HISTORIES[2];
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let mut grown = Vec::new();
    for _ in 0..3 {
        let sink = Sink::start(Then::Hold);
        let client = Anthropic::new(Endpoint::new(sink.url(), None)).unwrap();
        let parent = request(history(bytes, messages), None);
        // One is under way already, so that what they have in common is there.
        let mut first = client.stream(fork(&parent));
        runtime.block_on(async {
            tokio::select! {
                answer = first.next() => panic!("nobody answers, but: {answer:?}"),
                () = arrived(&sink, 1) => {}
            }
            MEMORY.reset_peak_usage();
            let before = MEMORY.current_usage();
            let mut forks: Vec<_> = (0..FORKS).map(|_| client.stream(fork(&parent))).collect();
            let mut waiting: FuturesUnordered<_> = forks.iter_mut().map(StreamExt::next).collect();
            tokio::select! {
                answer = waiting.next() => panic!("nobody answers, but: {answer:?}"),
                () = arrived(&sink, FORKS) => {}
            }
            grown.push(MEMORY.peak_usage().saturating_sub(before) as f64 / 1e6);
        });
    }
    report.at_most(format!("{FORKS} forks of {shown} in flight, beyond the history"), middle(grown), "MB", 10.0);
}

/// Waits for requests without keeping them from being sent.
async fn arrived(sink: &Sink, mut count: usize) {
    while count > 0 {
        match sink.poll() {
            Some(_) => count -= 1,
            None => tokio::time::sleep(Duration::from_millis(1)).await,
        }
    }
}

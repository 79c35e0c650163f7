//! Reading answers: as fast as they come, and a hundred agents at the pace of models.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures_util::StreamExt;
use futures_util::future::BoxFuture;
use offshoot_agents::clock::SystemClock;
use offshoot_agents::model::anthropic::Anthropic;
use offshoot_agents::model::{Endpoint, Model, ModelEvent};
use offshoot_agents::settings::Settings;
use offshoot_protocol::Command;
use offshoot_tests::Repository;
use offshoot_tests::world::open_core;
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use crate::fork::{history, request};
use crate::measure::{median, ms, processor_time};
use crate::provider::{self, Provider};
use crate::report::Report;

/// Events of the fast answer.
const EVENTS: usize = 100_000;

/// Agents of the paced one, and the events of each per second.
const STREAMS: usize = 100;
const PACE: u32 = 100;
/// How long it lasts.
const SECONDS: u32 = 4;

pub(crate) fn run(report: &mut Report) {
    fast(report);
    if processor_time(provider::THREAD).is_none() {
        report.missing("paced streams", "this system doesn't tell the processor time of threads");
        return;
    }
    let of_all = format!("{STREAMS} streams of {PACE} events/s");
    let bare = median(3, || paced(read_bare));
    report.note(format!("{of_all}, read and thrown away"), bare, "% of a core");
    let decoded = median(3, || paced(decode));
    report.note(format!("{of_all}, decoded"), decoded, "% of a core");
    report.at_most(format!("{of_all}, decoded against thrown away"), decoded / bare, "×", 1.3);
    let whole = median(3, whole_core);
    report.at_most(format!("{of_all}, whole core without a window"), whole, "% of a core", 15.0);
}

fn delta() -> String {
    let delta = json!({"type": "text_delta", "text": " a few words,"});
    let data = json!({"type": "content_block_delta", "index": 0, "delta": delta});
    format!("event: content_block_delta\ndata: {data}\n\n")
}

/// Opens a text block.
fn block() -> String {
    let start = json!({"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}});
    format!("event: content_block_start\ndata: {start}\n\n")
}

/// Closes it, and the answer.
fn end() -> String {
    let stop = json!({"type": "content_block_stop", "index": 0});
    format!("event: content_block_stop\ndata: {stop}\n\n{}", provider::closing("end_turn"))
}

fn fast(report: &mut Report) {
    let answer = provider::opening() + &block() + &delta().repeat(EVENTS) + &end();
    let provider = Provider::start();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let client = Anthropic::new(Endpoint::new(provider.url(), None)).unwrap();
    let request = request(history(9_000, 11), None);
    let (mut parsed, mut bare) = (Vec::new(), Vec::new());
    for _ in 0..9 {
        parsed.push(std::thread::scope(|scope| {
            scope.spawn(|| provider.next().send(&answer));
            let start = Instant::now();
            let events = runtime.block_on(async {
                let answer = client.stream(request.clone());
                answer
                    .filter(|event| std::future::ready(matches!(event, Ok(ModelEvent::TextDelta { .. }))))
                    .count()
                    .await
            });
            assert_eq!(events, EVENTS);
            ms(start.elapsed())
        }));
        bare.push(std::thread::scope(|scope| {
            scope.spawn(|| provider.next().send(&answer));
            let start = Instant::now();
            let mut socket = TcpStream::connect(provider.address()).unwrap();
            socket.write_all(b"POST / HTTP/1.1\r\ncontent-length: 0\r\n\r\n").unwrap();
            let (mut buffer, mut left) = (vec![0; 64 * 1024], answer.len());
            while left > 0 {
                left = left.saturating_sub(socket.read(&mut buffer).unwrap());
            }
            ms(start.elapsed())
        }));
    }
    let (parsed, bare) = (crate::measure::middle(parsed), crate::measure::middle(bare));
    report.note("events read and decoded", EVENTS as f64 / parsed, "k/s");
    report.note("an answer as fast as it can be sent, against a client that doesn't parse", parsed / bare, "×");
}

/// What one stream is read by, at an address.
type Reader = fn(std::net::SocketAddr) -> BoxFuture<'static, ()>;

/// Over a bare socket of the same runtime.
fn read_bare(address: std::net::SocketAddr) -> BoxFuture<'static, ()> {
    Box::pin(async move {
        let mut socket = tokio::net::TcpStream::connect(address).await.unwrap();
        socket.write_all(b"POST / HTTP/1.1\r\ncontent-length: 0\r\n\r\n").await.unwrap();
        let mut buffer = vec![0; 8 * 1024];
        while socket.read(&mut buffer).await.is_ok_and(|count| count > 0) {}
    })
}

/// Through the client.
fn decode(address: std::net::SocketAddr) -> BoxFuture<'static, ()> {
    let client = Anthropic::new(Endpoint::new(format!("http://{address}"), None)).unwrap();
    let mut answer = client.stream(request(history(9_000, 11), None));
    Box::pin(async move {
        while let Some(event) = answer.next().await {
            drop(std::hint::black_box(event));
        }
    })
}

/// The streams alone.
fn paced(reader: Reader) -> f64 {
    let provider = Provider::start();
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let mut readers = tokio::task::JoinSet::new();
    let mut sockets = Vec::new();
    for _ in 0..STREAMS {
        readers.spawn_on(reader(provider.address()), runtime.handle());
        let mut socket = provider.next().into_stream();
        socket.write_all((provider::opening() + &block()).as_bytes()).unwrap();
        sockets.push(socket);
    }
    let used = write_all(&mut sockets);
    readers.abort_all();
    used
}

/// A hundred sessions of one core, each streaming: decoded, merged into batches, handed to a subscriber.
fn whole_core() -> f64 {
    let provider = Provider::start();
    let repository = Repository::with(&[("README.md", "hello\n")]);
    let folder = tempfile::tempdir().unwrap();
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let core = open_core(folder.path(), &provider.url(), Settings::default(), Arc::new(SystemClock));
    let core = Arc::new(core);
    let mut sockets = Vec::new();
    let mut readers = tokio::task::JoinSet::new();
    for _ in 0..STREAMS {
        runtime.block_on(async {
            let session = core.create_session(repository.path()).await.unwrap();
            let snapshot = core.snapshot(&session).await.unwrap();
            let root = snapshot.session.agents[0].id.clone();
            let mut subscription = core.subscribe(&session, snapshot.cursor).await.unwrap();
            readers.spawn(async move {
                loop {
                    std::hint::black_box(subscription.next().await);
                }
            });
            core.command(&session, Command::SendMessage { agent: root, text: "Talk.".into() }).await.unwrap();
        });
        let mut socket = provider.next().into_stream();
        socket.write_all((provider::opening() + &block()).as_bytes()).unwrap();
        sockets.push(socket);
    }
    let used = write_all(&mut sockets);
    readers.abort_all();
    runtime.block_on(core.shut_down());
    used
}

/// Writes to all of them, on a thread whose time doesn't count.
fn write_all(sockets: &mut [TcpStream]) -> f64 {
    std::thread::scope(|scope| {
        let writing = std::thread::Builder::new().name(provider::THREAD.to_owned());
        writing.spawn_scoped(scope, || write(sockets)).unwrap().join().unwrap()
    })
}

/// Writes one event to every socket, at the pace; returns how much of a core the others of this process needed meanwhile.
fn write(sockets: &mut [TcpStream]) -> f64 {
    let (event, between) = (delta(), Duration::from_secs(1) / PACE);
    let before = processor_time(provider::THREAD).unwrap();
    let start = Instant::now();
    for round in 1..=PACE * SECONDS {
        // Spread over the time between, as different models' events are.
        for (at, socket) in (0_u32..).zip(sockets.iter_mut()) {
            socket.write_all(event.as_bytes()).unwrap();
            let due = between * (round - 1) + between * at / u32::try_from(STREAMS).unwrap();
            std::thread::sleep((start + due).saturating_duration_since(Instant::now()));
        }
    }
    let used = processor_time(provider::THREAD).unwrap().saturating_sub(before);
    used.as_secs_f64() / start.elapsed().as_secs_f64() * 100.0
}

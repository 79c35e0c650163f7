//! A model server on this machine that speaks Anthropic Messages, plays a script and polices the wire. It polices Chat
//! Completions and Responses too; their answers are scripted chunk by chunk.
//!
//! Each request takes the first unused [`Reply`] that fits it, so several agents can be served at once in any order. A
//! request that breaks the protocol, or that no reply fits, is answered with 400; [`Scripted::finish`] and dropping the
//! server then panic and show it. The server has its own thread: a test may pause its clock, or not be asynchronous at all.

mod police;
mod reply;
mod request;
mod simulator;

use std::collections::VecDeque;
use std::convert::Infallible;
use std::fmt::Write as _;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use futures_util::stream::{self, BoxStream, StreamExt};
use http_body_util::{BodyExt, StreamBody};
use hyper::body::{Frame, Incoming};
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use tokio::net::TcpListener;
use tokio::sync::{oneshot, watch};
use tokio::task::JoinSet;

use police::Police;
use reply::Step;
pub use reply::{Reply, reply};
pub use request::Received;
pub use simulator::{Bill, Mismatch, Simulator};

type Body = StreamBody<BoxStream<'static, Result<Frame<Bytes>, Broken>>>;

/// The connection is to break off.
#[derive(Debug)]
struct Broken;

impl std::fmt::Display for Broken {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("scripted break")
    }
}

impl std::error::Error for Broken {}

/// A running server.
pub struct Scripted {
    address: SocketAddr,
    shared: Arc<Shared>,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<std::thread::JoinHandle<()>>,
}

struct Shared {
    state: Mutex<State>,
    /// Number of requests received.
    count: watch::Sender<usize>,
}

#[derive(Default)]
struct State {
    script: Vec<Reply>,
    received: Vec<Received>,
    violations: Vec<String>,
    police: Police,
    calls: u32,
    /// Bills requests, if somebody wants to know.
    simulator: Option<Simulator>,
}

/// How a request is answered.
struct Chosen {
    reply: Reply,
    bill: Option<Bill>,
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Scripted {
    /// Starts a server on a free port of the loopback address.
    pub fn start(script: impl IntoIterator<Item = Reply>) -> Self {
        let state = State { script: script.into_iter().collect(), ..State::default() };
        let shared = Arc::new(Shared { state: Mutex::new(state), count: watch::Sender::new(0) });
        let (stop, stopped) = oneshot::channel();
        let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("the loopback address has free ports");
        listener.set_nonblocking(true).expect("sockets can be non-blocking");
        let address = listener.local_addr().expect("it is bound");
        let serving = shared.clone();
        let thread = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
            runtime.expect("a runtime needs only memory").block_on(async {
                tokio::select! {
                    () = serve(listener, serving) => {}
                    _ = stopped => {}
                }
            });
        });
        Self { address, shared, stop: Some(stop), thread: Some(thread) }
    }

    /// The server's address, as a provider's base URL.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Adds a reply behind the others.
    pub fn add(&self, reply: Reply) {
        self.shared.state().script.push(reply);
    }

    /// Adds a reply before the others.
    pub fn put_first(&self, reply: Reply) {
        self.shared.state().script.insert(0, reply);
    }

    /// From now on answers carry the figures that the provider's cache would give them, unless they have their own.
    pub fn simulate_cache(&self, mismatch: Mismatch) {
        self.shared.state().simulator = Some(Simulator::new(mismatch));
    }

    /// Lets time pass for the provider's cache.
    pub fn advance(&self, time: std::time::Duration) {
        if let Some(simulator) = &mut self.shared.state().simulator {
            simulator.advance(time);
        }
    }

    /// Lets an agent's next request begin anew, as after compaction.
    pub fn allow_new_prefix(&self, agent: &str) {
        self.shared.state().police.forget(agent);
    }

    /// All requests so far, in the order in which they arrived.
    pub fn requests(&self) -> Vec<Received> {
        self.shared.state().received.clone()
    }

    /// Waits until there were `count` requests, and returns that one.
    pub async fn request(&self, count: usize) -> Received {
        self.wait_until(|received| received.len() >= count).await;
        self.shared.state().received[count - 1].clone()
    }

    /// Waits for a request of which this holds; the first one is returned, whether it came before or comes later.
    pub async fn request_where(&self, predicate: impl Fn(&Received) -> bool) -> Received {
        self.wait_until(|received| received.iter().any(&predicate)).await;
        let received = self.requests();
        received.into_iter().find(|request| predicate(request)).expect("it was there a moment ago")
    }

    async fn wait_until(&self, holds: impl Fn(&[Received]) -> bool) {
        let mut count = self.shared.count.subscribe();
        let wait = count.wait_for(|_| holds(&self.shared.state().received));
        wait.await.expect("the server holds the sender");
    }

    /// Ends the server.
    ///
    /// # Panics
    /// When a request broke the protocol, or a reply was never asked for.
    pub fn finish(mut self) -> Vec<Received> {
        self.end();
        let state = self.shared.state();
        let violations = state.violations.join("\n\n");
        let unused = state.script.iter().filter(|reply| !reply.is_repeated).count();
        let received = state.received.clone();
        drop(state);
        self.shared.state().violations.clear();
        assert!(violations.is_empty(), "{violations}");
        assert_eq!(unused, 0, "{unused} replies were never asked for; {} requests came", received.len());
        received
    }

    fn end(&mut self) {
        if let Some(stop) = self.stop.take() {
            // The server may have ended by itself.
            let _ = stop.send(());
        }
        if let Some(thread) = self.thread.take() {
            assert!(thread.join().is_ok() || std::thread::panicking(), "the scripted server panicked");
        }
    }
}

impl Drop for Scripted {
    fn drop(&mut self) {
        self.end();
        let violations = self.shared.state().violations.join("\n\n");
        assert!(violations.is_empty() || std::thread::panicking(), "{violations}");
    }
}

async fn serve(listener: std::net::TcpListener, shared: Arc<Shared>) {
    let listener = TcpListener::from_std(listener).expect("it is non-blocking");
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            accepted = listener.accept() => {
                let Ok((socket, _)) = accepted else { continue };
                let shared = shared.clone();
                connections.spawn(async move {
                    let service = service_fn(move |request| {
                        let shared = shared.clone();
                        async move { Ok::<_, Infallible>(answer(&shared, request).await) }
                    });
                    let connection = hyper::server::conn::http1::Builder::new();
                    // A client that goes away, or a scripted break, is no failure of the server.
                    let _ = connection.serve_connection(TokioIo::new(socket), service).await;
                });
            }
            Some(_) = connections.join_next() => {}
        }
    }
}

async fn answer(shared: &Arc<Shared>, request: Request<Incoming>) -> Response<Body> {
    let (parts, body) = request.into_parts();
    let Ok(body) = body.collect().await else { return refusal("the body broke off") };
    let raw = body.to_bytes().to_vec();
    let body = serde_json::from_slice(&raw).unwrap_or_default();
    let received = Received { path: parts.uri.path().to_owned(), headers: parts.headers, raw, body };
    if received.is_list() && !shared.state().script.iter().any(|reply| reply.fits(&received)) {
        // Whoever only wants to know which models there are breaks nothing; most servers here have no list.
        return plain(404, &[], "");
    }
    let chosen = shared.state().take(received);
    shared.count.send_modify(|count| *count += 1);
    match chosen {
        Ok(chosen) => respond(shared, chosen),
        Err(violation) => refusal(&violation),
    }
}

impl State {
    /// Records the request and chooses its reply, or says why there is none.
    fn take(&mut self, received: Received) -> Result<Chosen, String> {
        let result = self.choose(&received);
        if let Err(violation) = &result {
            let agent = received.agent();
            let shown = format!("{:#}", received.body);
            let number = self.received.len() + 1;
            self.violations.push(format!("request {number}, of agent {agent:?}: {violation}\n{shown}"));
        }
        self.received.push(received);
        result
    }

    fn choose(&mut self, received: &Received) -> Result<Chosen, String> {
        self.police.check(received)?;
        let fitting = self.script.iter().position(|reply| reply.fits(received));
        let at = fitting.ok_or_else(|| format!("no reply fits; last message: {}", received.last_message()))?;
        let reply = if self.script[at].is_repeated { self.script[at].clone() } else { self.script.remove(at) };
        let bill = self.simulator.as_mut().filter(|_| reply.error.is_none());
        let bill = bill.map(|simulator| simulator.bill(received)).transpose()?;
        Ok(Chosen { reply, bill })
    }
}

fn refusal(message: &str) -> Response<Body> {
    plain(
        400,
        &[],
        &serde_json::json!({"type": "error", "error": {"type": "invalid_request_error", "message": message}})
            .to_string(),
    )
}

fn plain(status: u16, headers: &[(String, String)], body: &str) -> Response<Body> {
    let body = Bytes::from(body.to_owned());
    let mut response = Response::builder().status(status);
    for (name, value) in headers {
        response = response.header(name, value);
    }
    let frames = stream::iter([Ok(Frame::data(body))]).boxed();
    response.body(StreamBody::new(frames)).expect("scripted headers are valid")
}

fn respond(shared: &Arc<Shared>, chosen: Chosen) -> Response<Body> {
    let Chosen { reply, bill } = chosen;
    if let Some(error) = &reply.error {
        return plain(error.status, &error.headers, &error.body);
    }
    let (cut_after, piece) = (reply.cut_after, reply.piece);
    let mut next_id = || {
        let mut state = shared.state();
        state.calls += 1;
        format!("toolu_{:04}", state.calls)
    };
    let signatures = reply.signatures();
    let mut steps: VecDeque<Step> = reply.script(bill.as_ref(), &mut next_id).into();
    if let Some(events) = cut_after {
        steps.truncate(events);
    }
    let begin = {
        let shared = shared.clone();
        move || {
            if let (Some(simulator), Some(bill)) = (&mut shared.state().simulator, &bill) {
                simulator.begun(bill);
                for signature in &signatures {
                    simulator.thought(bill, signature);
                }
            }
        }
    };
    let pieces = stream::unfold((steps, Some(begin)), move |(mut steps, mut begin)| async move {
        loop {
            let text = match steps.pop_front()? {
                Step::Wait(gate) => {
                    gate.passed().await;
                    continue;
                }
                Step::Hang => std::future::pending().await,
                Step::Raw(text) => text,
                Step::Event(data) => {
                    let mut text = String::new();
                    let name = data["type"].as_str().unwrap_or_default();
                    let _ = write!(text, "event: {name}\ndata: {data}\n\n");
                    text
                }
            };
            // Before the first event is on its way, so that whoever has seen it can read the cache.
            if let Some(begin) = begin.take() {
                begin();
            }
            return Some((text, (steps, begin)));
        }
    });
    let frames = pieces.flat_map(move |text| {
        let bytes = Bytes::from(text);
        let size = piece.unwrap_or(bytes.len()).max(1);
        let starts = (0..bytes.len()).step_by(size);
        let cut: Vec<_> = starts.map(|at| Ok(Frame::data(bytes.slice(at..bytes.len().min(at + size))))).collect();
        stream::iter(cut)
    });
    let broken = stream::iter(cut_after).then(|_| async {
        // While the body has nothing to give, what came before is sent off; an error at once would take it along.
        tokio::task::yield_now().await;
        Err(Broken)
    });
    Response::builder()
        .header("content-type", "text/event-stream")
        .body(StreamBody::new(frames.chain(broken).boxed()))
        .expect("the headers are valid")
}

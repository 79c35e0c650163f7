//! A provider that costs next to nothing: one thread per connection, no parsing, times taken where bytes arrive.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Mutex, mpsc};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

/// How long a request may take to come. Reached only when something is broken.
const PATIENCE: Duration = Duration::from_secs(60);

/// The name of its threads.
pub(crate) const THREAD: &str = "provider";

/// A running server. Its threads end with the process.
pub(crate) struct Provider {
    address: SocketAddr,
    arrivals: Mutex<mpsc::Receiver<Arrival>>,
}

/// A request that is wholly here and waits for its answer.
pub(crate) struct Arrival {
    /// When its first bytes were here.
    pub(crate) begun: Instant,
    /// When its last byte was here.
    pub(crate) at: Instant,
    /// Whose.
    pub(crate) agent: String,
    /// How long its body is.
    pub(crate) len: usize,
    /// Its body.
    pub(crate) body: Vec<u8>,
    socket: TcpStream,
    /// Told when the answer is out, so that the next request is read.
    answered: mpsc::Sender<()>,
}

impl Provider {
    /// Starts on a free port of the loopback address.
    pub(crate) fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let (sender, arrivals) = mpsc::channel();
        spawn(move || {
            for socket in listener.incoming() {
                let (socket, sender) = (socket.unwrap(), sender.clone());
                spawn(move || drop(serve(&socket, &sender)));
            }
        });
        Self { address, arrivals: Mutex::new(arrivals) }
    }

    /// Its address, as a base URL.
    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Where it listens.
    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    /// The next request.
    pub(crate) fn next(&self) -> Arrival {
        self.arrivals.lock().unwrap().recv_timeout(PATIENCE).expect("a request comes")
    }

    /// The next request, if one comes within `wait`.
    pub(crate) fn next_within(&self, wait: Duration) -> Option<Arrival> {
        self.arrivals.lock().unwrap().recv_timeout(wait).ok()
    }
}

impl Arrival {
    /// Answers with these blocks; returns when the last byte was out.
    pub(crate) fn answer(self, blocks: &[Value]) -> Instant {
        self.send(&answer(blocks))
    }

    /// Sends a whole stream of events; returns when the last byte was out.
    pub(crate) fn send(mut self, events: &str) -> Instant {
        let head =
            format!("HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncontent-length: {}\r\n\r\n", events.len());
        // A client that went away is no failure here.
        let _ = self.socket.write_all(head.as_bytes());
        let _ = self.socket.write_all(events.as_bytes());
        let at = Instant::now();
        let _ = self.answered.send(());
        at
    }

    /// The socket, for an answer piece by piece that ends with the connection.
    pub(crate) fn into_stream(mut self) -> TcpStream {
        let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n";
        self.socket.write_all(head.as_bytes()).unwrap();
        self.socket
    }
}

/// The events of an answer with these blocks: texts, or calls as `{"name": …, "input": …}`.
pub(crate) fn answer(blocks: &[Value]) -> String {
    use std::fmt::Write as _;
    let mut events = opening();
    let mut add = |data: Value| write!(events, "event: {}\ndata: {data}\n\n", data["type"].as_str().unwrap()).unwrap();
    for (index, block) in blocks.iter().enumerate() {
        let (start, delta) = match block {
            Value::String(text) => (json!({"type": "text", "text": ""}), json!({"type": "text_delta", "text": text})),
            call => (
                json!({"type": "tool_use", "id": format!("toolu_{index}_{}", fastrand::u64(..)), "name": call["name"], "input": {}}),
                json!({"type": "input_json_delta", "partial_json": call["input"].to_string()}),
            ),
        };
        add(json!({"type": "content_block_start", "index": index, "content_block": start}));
        add(json!({"type": "content_block_delta", "index": index, "delta": delta}));
        add(json!({"type": "content_block_stop", "index": index}));
    }
    let stop = if blocks.iter().any(Value::is_object) { "tool_use" } else { "end_turn" };
    events + &closing(stop)
}

/// How every answer begins.
pub(crate) fn opening() -> String {
    let message = json!({
        "id": "msg", "type": "message", "role": "assistant", "content": [], "model": "m", "stop_reason": null,
        "stop_sequence": null, "usage": {"input_tokens": 10, "output_tokens": 5},
    });
    format!("event: message_start\ndata: {}\n\n", json!({"type": "message_start", "message": message}))
}

/// How every answer ends.
pub(crate) fn closing(stop: &str) -> String {
    let delta = json!({"type": "message_delta", "delta": {"stop_reason": stop, "stop_sequence": null}, "usage": {"output_tokens": 5}});
    format!("event: message_delta\ndata: {delta}\n\nevent: message_stop\ndata: {}\n\n", json!({"type": "message_stop"}))
}

fn spawn(work: impl FnOnce() + Send + 'static) {
    std::thread::Builder::new().name(THREAD.to_owned()).spawn(work).unwrap();
}

/// Reads requests from one connection until it ends.
fn serve(socket: &TcpStream, arrivals: &mpsc::Sender<Arrival>) -> std::io::Result<()> {
    socket.set_nodelay(true)?;
    let mut reader = BufReader::with_capacity(64 * 1024, socket.try_clone()?);
    loop {
        let (mut agent, mut len, mut line) = (String::new(), 0, String::new());
        if reader.fill_buf()?.is_empty() {
            return Ok(());
        }
        let begun = Instant::now();
        loop {
            line.clear();
            if reader.read_line(&mut line)? == 0 {
                return Ok(());
            }
            let Some((name, value)) = line.trim_end().split_once(": ") else {
                if line == "\r\n" {
                    break;
                }
                continue;
            };
            match name.to_ascii_lowercase().as_str() {
                "content-length" => len = value.parse().unwrap(),
                "x-offshoot-agent" => value.clone_into(&mut agent),
                _ => {}
            }
        }
        let mut body = vec![0; len];
        reader.read_exact(&mut body)?;
        let (answered, wait) = mpsc::channel();
        let arrival = Arrival { begun, at: Instant::now(), agent, len, body, socket: socket.try_clone()?, answered };
        if arrivals.send(arrival).is_err() || wait.recv().is_err() {
            return Ok(());
        }
    }
}

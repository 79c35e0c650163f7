//! A provider that throws bodies away: what limits a client's sending is the socket, and no memory is taken.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use crate::provider;

/// What a thread reads into. On its stack, so that it isn't counted as allocated.
const BUFFER: usize = 16 * 1024;

/// How long a request may take to come. Reached only when something is broken.
const PATIENCE: Duration = Duration::from_secs(60);

/// What happens when a request is wholly here.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Then {
    /// A short answer.
    Answer,
    /// Nothing: the client waits.
    Hold,
}

/// A running server.
pub(crate) struct Sink {
    address: SocketAddr,
    arrivals: mpsc::Receiver<Instant>,
}

impl Sink {
    /// Starts on a free port of the loopback address.
    pub(crate) fn start(then: Then) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let (sender, arrivals) = mpsc::channel();
        spawn(move || {
            for socket in listener.incoming() {
                let (socket, sender) = (socket.unwrap(), sender.clone());
                spawn(move || drop(swallow(socket, then, &sender)));
            }
        });
        Self { address, arrivals }
    }

    /// Where it listens.
    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    /// Its address, as a base URL.
    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// When the next request's last byte was here. Waits for it.
    pub(crate) fn next(&self) -> Instant {
        self.arrivals.recv_timeout(PATIENCE).expect("a request comes")
    }

    /// The next request that is here by now.
    pub(crate) fn poll(&self) -> Option<Instant> {
        self.arrivals.try_recv().ok()
    }
}

fn spawn(work: impl FnOnce() + Send + 'static) {
    std::thread::Builder::new().name(provider::THREAD.to_owned()).stack_size(16 * BUFFER).spawn(work).unwrap();
}

fn swallow(mut socket: TcpStream, then: Then, arrivals: &mpsc::Sender<Instant>) -> std::io::Result<()> {
    socket.set_nodelay(true)?;
    let mut buffer = [0; BUFFER];
    let answer = provider::answer(&["Done.".into()]);
    let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n";
    let answer = format!("{head}content-length: {}\r\n\r\n{answer}", answer.len());
    loop {
        let mut here = 0;
        let whole = loop {
            let count = socket.read(&mut buffer[here..])?;
            if count == 0 {
                return Ok(());
            }
            here += count;
            if let Some(whole) = length(&buffer[..here]) {
                break whole;
            }
        };
        while here < whole {
            here += socket.read(&mut buffer)?;
        }
        if arrivals.send(Instant::now()).is_err() {
            return Ok(());
        }
        match then {
            Then::Answer => socket.write_all(answer.as_bytes())?,
            Then::Hold => drop(socket.read(&mut buffer)?),
        }
    }
}

/// The length of a request, head and body, once its head is here.
fn length(start: &[u8]) -> Option<usize> {
    let end = start.windows(4).position(|four| four == b"\r\n\r\n")? + 4;
    let head = String::from_utf8_lossy(&start[..end]).to_ascii_lowercase();
    let body: usize = head.lines().find_map(|line| line.strip_prefix("content-length: ")?.parse().ok())?;
    Some(end + body)
}

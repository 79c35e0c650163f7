//! Sending a request over a warm connection, against the same bytes over a bare socket.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Instant;

use futures_util::StreamExt;
use offshoot_agents::model::anthropic::Anthropic;
use offshoot_agents::model::{Endpoint, Model};

use crate::fork::{HISTORIES, fork, history, request};
use crate::measure::{median, ms};
use crate::report::Report;
use crate::sink::{Sink, Then};

/// How often each is sent.
const ROUNDS: usize = 15;

pub(crate) fn run(report: &mut Report) {
    for (bytes, messages, shown) in HISTORIES {
        let raw = raw(bytes);
        let sent = client(bytes, messages);
        report.note(format!("{shown} through the client, until the last byte is there"), sent, "ms");
        report.note(format!("{shown} through a bare socket"), raw, "ms");
        // What is as short as this takes no time to send: the rest is the same few hand-overs between tasks for all.
        let limit = (bytes > 100_000).then_some(2.0);
        report.within(format!("{shown}: client against bare socket"), sent / raw, "×", limit);
    }
}

fn raw(bytes: usize) -> f64 {
    let sink = Sink::start(Then::Answer);
    let mut socket = TcpStream::connect(sink.address()).unwrap();
    socket.set_nodelay(true).unwrap();
    let mut whole = format!("POST / HTTP/1.1\r\ncontent-length: {bytes}\r\n\r\n").into_bytes();
    whole.resize(whole.len() + bytes, b'x');
    let mut answer = [0; 4 * 1024];
    median(ROUNDS, || {
        let start = Instant::now();
        socket.write_all(&whole).unwrap();
        let there = sink.next();
        assert!(socket.read(&mut answer).unwrap() > 0, "it is answered");
        ms(there - start)
    })
}

fn client(bytes: usize, messages: u32) -> f64 {
    let sink = Sink::start(Then::Answer);
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let client = Anthropic::new(Endpoint::new(sink.url(), None)).unwrap();
    let parent = request(history(bytes, messages), None);
    // A sibling's request is in flight all the time, as in a tree at work.
    let sibling = client.stream(fork(&parent));
    let send = || {
        let start = Instant::now();
        runtime.block_on(async {
            let mut answer = client.stream(fork(&parent));
            while let Some(event) = answer.next().await {
                event.unwrap();
            }
        });
        ms(sink.next() - start)
    };
    // The first one opens the connection.
    send();
    let figure = median(ROUNDS, send);
    drop(sibling);
    figure
}

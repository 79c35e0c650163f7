//! The whole program without its window: from its start to the first request, from a parent's last byte to its forks'
//! requests, and back.

use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use offshoot_agents::clock::{Clock, SystemClock};
use offshoot_agents::log::Log;
use offshoot_protocol::{Event, EventBody};
use offshoot_tests::{Repository, program};
use serde_json::{Value, json};

use crate::fork::texts;
use crate::measure::{middle, ms, peak_memory, size_of};
use crate::provider::{Arrival, Provider};
use crate::report::Report;

/// How long the provider is silent before the parent counts as at rest.
const QUIET: Duration = Duration::from_millis(300);

pub(crate) fn run(report: &mut Report) {
    starts(report);
    for (bytes, messages, forks, shown, begun, whole) in [
        (10_000, 11, 1, "10 KB × 1", Some(5.0), None),
        (1_000_000, 1_001, 8, "1 MB × 8", Some(15.0), None),
        (4_500_000, 3_301, 8, "4.5 MB × 8", None, Some(80.0)),
    ] {
        let rounds: Vec<Round> = (0..5).map(|_| Round::play(bytes, messages, forks)).collect();
        let of = |figure: fn(&Round) -> f64| middle(rounds.iter().map(figure).collect());
        let name = |until: &str| format!("parent's last byte → last child's {until}, {shown}");
        report.within(name("request"), of(|round| round.out), "ms", begun);
        report.within(name("request, all of it"), of(|round| round.all_out), "ms", whole);
        report.at_most(format!("last child done → parent's next request, {shown}"), of(|round| round.back), "ms", 5.0);
        if bytes > 4_000_000 {
            memory(report, &rounds, (bytes, messages), shown);
            let ratio = of(|round| round.disk / round.history);
            report.at_most(format!("log on disk against the history, {shown}"), ratio, "×", 1.2);
        }
    }
}

fn memory(report: &mut Report, rounds: &[Round], (bytes, messages): (usize, u32), shown: &str) {
    let peaks: Option<Vec<f64>> = rounds.iter().map(|round| round.memory).collect();
    let Some(peaks) = peaks else {
        report.missing("peak memory", "this system doesn't tell");
        return;
    };
    let eight = middle(peaks);
    report.at_most(format!("peak memory, {shown}"), eight, "MB", 80.0);
    let one = (0..5).filter_map(|_| Round::play(bytes, messages, 1).memory).collect();
    report.at_most("peak memory, each further fork of 4.5 MB", (eight - middle(one)) / 7.0, "MB", 0.5);
}

fn starts(report: &mut Report) {
    let place = Place::new();
    let start = || {
        let began = Instant::now();
        let program = place.start(&["exec", "Say hello."]);
        let arrival = place.provider.next();
        let took = ms(arrival.at - began);
        arrival.answer(&["Hello.".into()]);
        finish(program);
        took
    };
    // The first start makes the data folder.
    let first = start();
    let rest = (0..9).map(|_| start()).collect();
    report.at_most("start → first model request", middle(rest), "ms", 45.0);
    report.note("the same on a new data folder", first, "ms");
    let bare = (0..9).map(|_| {
        let began = Instant::now();
        let mut version = Command::new(program::offshoot()).arg("--version").stdout(Stdio::null()).spawn().unwrap();
        version.wait().unwrap();
        ms(began.elapsed())
    });
    report.note("for comparison: offshoot --version, all of it", middle(bare.collect()), "ms");
}

/// A project, a data folder and a provider.
struct Place {
    repository: Repository,
    provider: Provider,
}

impl Place {
    fn new() -> Self {
        let repository = Repository::with(&[("README.md", "hello\n")]);
        let config = repository.beside("config/offshoot");
        std::fs::create_dir_all(&config).unwrap();
        // The histories are longer than what a model takes, and sent all the same.
        std::fs::write(config.join("settings.json"), r#"{"compactAt": 0}"#).unwrap();
        Self { repository, provider: Provider::start() }
    }

    fn start(&self, arguments: &[&str]) -> Child {
        let mut command = Command::new(program::offshoot());
        command.args(arguments).args([
            "--provider",
            "anthropic",
            "--base-url",
            &self.provider.url(),
            "--forks",
            "always",
        ]);
        command.current_dir(self.repository.path()).env_clear().env("PATH", std::env::var_os("PATH").unwrap());
        let home = self.repository.beside("home");
        std::fs::create_dir_all(&home).unwrap();
        command.env("HOME", home).env("XDG_DATA_HOME", self.repository.beside("data"));
        command.env("XDG_CONFIG_HOME", self.repository.beside("config"));
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        command.spawn().unwrap()
    }

    fn data(&self) -> std::path::PathBuf {
        self.repository.beside("data/offshoot")
    }

    /// Makes a session with a history of about `bytes`.
    fn remember(&self, bytes: usize, messages: u32) {
        let first = self.start(&["exec", "Hello."]);
        self.provider.next().answer(&["Hello.".into()]);
        finish(first);
        let log = Log::open(&self.data()).unwrap();
        let session = log.sessions().unwrap().remove(0).id;
        let events = log.events(&session, 0).unwrap();
        let root = events.iter().find_map(|event| event.agent.clone()).unwrap();
        let seq = events.last().unwrap().seq;
        // The last message is the model's, like that of the first turn.
        let facts = texts(bytes, messages).take(messages as usize - 1).zip(0..).map(|(message, at)| Event {
            seq: seq + 1 + u64::from(at),
            at: SystemClock.now(),
            session: session.clone(),
            agent: Some(root.clone()),
            body: EventBody::MessageAppended { index: 2 + at, message, inputs: Vec::new() },
        });
        log.append(facts.collect(), |written| drop(written.unwrap()));
        log.close();
    }
}

fn finish(mut program: Child) {
    assert!(program.wait().unwrap().success(), "the program ends well");
}

/// What one family took.
struct Round {
    /// From the parent's last byte to the first bytes of the last child's request, ms.
    out: f64,
    /// The same to the last byte of the last of them, ms.
    all_out: f64,
    /// From the last child's last byte to the first bytes of the parent's next request, ms.
    back: f64,
    /// The most memory, MB.
    memory: Option<f64>,
    /// The log's size afterwards, bytes.
    disk: f64,
    /// The parent's request before it delegated, bytes.
    history: f64,
}

impl Round {
    /// A parent with a history of `bytes` in `messages` delegates to `forks`, all at once.
    fn play(bytes: usize, messages: u32, forks: usize) -> Self {
        let place = Place::new();
        place.remember(bytes, messages);
        let program = place.start(&["exec", "--continue", "Delegate."]);
        let first = place.provider.next();
        let (root, history) = (first.agent.clone(), first.len as f64);
        let calls: Vec<Value> = (0..forks)
            .map(|at| json!({"name": "Agent", "input": {"prompt": format!("Do part {at}."), "description": format!("part {at}")}}))
            .collect();
        let asked = first.answer(&calls);

        let (mut children, mut parent): (Vec<Arrival>, _) = (Vec::new(), None);
        while children.len() < forks {
            let mut arrival = place.provider.next();
            // What the measuring itself holds is not to press on the machine.
            arrival.body = Vec::new();
            if arrival.agent == root { parent = Some(arrival) } else { children.push(arrival) }
        }
        let out = children.iter().map(|child| ms(child.begun - asked)).fold(0.0, f64::max);
        let all_out = children.iter().map(|child| ms(child.at - asked)).fold(0.0, f64::max);
        if let Some(parent) = parent {
            parent.answer(&["They are at work.".into()]);
        }
        let last = children.pop().unwrap();
        for child in children {
            child.answer(&["Scope: mine\nResult: done".into()]);
        }
        while let Some(noted) = place.provider.next_within(QUIET) {
            noted.answer(&["Noted.".into()]);
        }
        let done = last.answer(&["Scope: mine\nResult: done".into()]);
        let end = place.provider.next();
        let back = ms(end.begun.saturating_duration_since(done));
        let memory = peak_memory(program.id());
        end.answer(&["All done.".into()]);
        finish(program);
        let disk = size_of(&place.data(), "offshoot.sqlite") as f64;
        Self { out, all_out, back, memory, disk, history }
    }
}

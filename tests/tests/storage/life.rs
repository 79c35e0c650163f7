//! One life of the program: a scripted turn with two forks, in which every agent runs a command whose effect counts, under
//! `strace`, which can kill the program or fail its calls.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::{Command, Output};
use std::sync::{Arc, OnceLock};

use offshoot_agents::agent::is_running;
use offshoot_agents::clock::SystemClock;
use offshoot_agents::log::Log;
use offshoot_agents::settings::{Forks, Settings};
use offshoot_agents::workbench::Workbench;
use offshoot_protocol::{
    AgentState, AgentView, Command as Wish, Event, EventBody, PermissionMode, SessionId, SessionView,
};
use offshoot_tests::world::open_core;
use offshoot_tests::{Reply, Repository, Scripted, in_fork, in_root, ledger, program};
use serde_json::{Value, json};

/// The calls that change the log's files. `pwrite64` and a sync are what `SQLite` mostly uses.
pub(crate) const CALLS: [&str; 6] = ["pwrite64", "write", "fdatasync", "fsync", "ftruncate", "unlink"];

/// Who runs a command that counts.
const AGENTS: [&str; 3] = ["root", "left", "right"];

/// Whether the log is there when the program starts, or is made by it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Start {
    Fresh,
    Again,
}

/// A project, a data folder and a provider.
pub(crate) struct Life {
    pub(crate) repository: Repository,
    pub(crate) server: Scripted,
    folder: PathBuf,
}

/// What became of the program.
pub(crate) struct Ended {
    pub(crate) output: Output,
    /// Its calls on the log's files: by thread and call, how many.
    pub(crate) calls: BTreeMap<(u32, String), u32>,
}

impl Ended {
    pub(crate) fn out(&self) -> String {
        String::from_utf8(self.output.stdout.clone()).unwrap()
    }

    pub(crate) fn err(&self) -> String {
        String::from_utf8_lossy(&self.output.stderr).into_owned()
    }

    /// The most calls of this kind that one thread made: what `strace` counts by.
    pub(crate) fn most(&self, call: &str) -> u32 {
        self.calls.iter().filter(|((_, name), _)| name == call).map(|(_, count)| *count).max().unwrap_or(0)
    }
}

/// Whether calls can be tampered with here. Says so where not.
pub(crate) fn can_tamper() -> bool {
    static CAN: OnceLock<bool> = OnceLock::new();
    *CAN.get_or_init(|| {
        let trial = Command::new("strace").args(["-f", "--seccomp-bpf", "-qqq", "-o", "/dev/null", "true"]).output();
        let can = trial.is_ok_and(|trial| trial.status.success());
        if !can {
            eprintln!("skipped: strace is missing, or may not trace here");
        }
        can
    })
}

fn script() -> Vec<Reply> {
    let effect = |name: &str| json!({"command": format!("printf x >> {name}.effect"), "description": name});
    let part = |name: &str| json!({"prompt": name, "description": name});
    let mut script = vec![
        in_root()
            .when_told("start it all")
            .call("Agent", part("left"))
            .call("Bash", effect("root"))
            .call("Agent", part("right")),
        in_root().text("Noted."),
    ];
    for name in ["left", "right"] {
        script.push(in_fork(name).when_told(name).call("Bash", effect(name)));
        script.push(in_fork(name).text(&format!("Scope: {name}\nResult: {name} is done")));
    }
    script.into_iter().map(Reply::repeated).collect()
}

impl Life {
    pub(crate) fn new(start: Start) -> Self {
        let repository = Repository::with(&[("README.md", "hello\n")]);
        let folder = repository.beside("offshoot");
        std::fs::create_dir(&folder).unwrap();
        let life = Self { repository, server: Scripted::start(script()), folder };
        if start == Start::Again {
            drop(Log::open(&life.data()).unwrap());
        }
        life
    }

    pub(crate) fn data(&self) -> PathBuf {
        self.folder.join("data")
    }

    /// Lives through the turn, with these tamperings.
    pub(crate) fn live(&self, tamper: &[String]) -> Ended {
        let trace = self.folder.join("trace");
        let mut command = Command::new("strace");
        command.args(["-f", "--seccomp-bpf", "-qqq", "-e", "signal=none", "-o"]).arg(&trace);
        for name in ["offshoot.sqlite", "offshoot.sqlite-wal", "offshoot.sqlite-shm", "offshoot.sqlite-journal"] {
            command.arg("-P").arg(self.data().join(name));
        }
        command.args(["-e", &format!("trace={}", CALLS.join(","))]);
        for tamper in tamper {
            command.args(["-e", &format!("inject={tamper}")]);
        }
        command.arg(program::offshoot()).args(["exec", "--json", "--permission-mode", "bypass", "--forks", "always"]);
        command.args(["--provider", "anthropic", "--base-url", &self.server.url()]);
        command.arg("--data-dir").arg(self.data()).arg("--config-dir").arg(self.folder.join("config"));
        command.arg("start it all").current_dir(self.repository.path()).env_clear();
        command.env("PATH", std::env::var_os("PATH").unwrap()).env("HOME", &self.folder).env("TERM", "dumb");
        let output = command.output().unwrap();
        Ended { output, calls: count(&std::fs::read_to_string(&trace).unwrap_or_default()) }
    }

    /// How often the commands of the agents ran.
    fn effects(&self) -> BTreeMap<&'static str, usize> {
        let count = |name: &str| {
            std::fs::metadata(self.repository.path().join(format!("{name}.effect"))).map_or(0, |file| file.len())
        };
        AGENTS.iter().map(|name| (*name, usize::try_from(count(name)).unwrap())).collect()
    }

    /// All that must hold of what a life left, whatever ended it; then goes on with it to its end.
    pub(crate) async fn check(&self, ended: &Ended, when: &str) {
        let Some((session, events)) = self.stored(ended, when) else {
            assert!(
                self.effects().values().all(|count| *count == 0),
                "{when}: something ran, and nothing is known of it"
            );
            return;
        };
        assert_known(&self.effects(), &events, when);
        let asked = self.server.requests().len();
        let workbench = open_core(&self.folder, &self.server.url(), settings(), Arc::new(SystemClock));
        let view = workbench.snapshot(&session).await.unwrap().session;
        assert!(view.agents.iter().all(|agent| !is_running(&agent.state)), "{when}: {:#?}", view.agents);
        assert_eq!(self.server.requests().len(), asked, "{when}: something ran by itself");

        // Everybody can go on; the server polices that each request continues the agent's last one, byte for byte.
        for child in view.agents.iter().skip(1).filter(|child| child.state == AgentState::Interrupted) {
            workbench.command(&session, Wish::Resume { agent: child.id.clone() }).await.unwrap();
        }
        let root = view.agents[0].id.clone();
        workbench.command(&session, Wish::SendMessage { agent: root, text: "and now?".into() }).await.unwrap();
        let view = until(&workbench, &session, is_settled).await;
        for child in view.agents.iter().skip(1) {
            assert_eq!(child.state, AgentState::Completed, "{when}: {child:#?}");
        }
        workbench.shut_down().await;
        let (_, events) = self.stored(ended, when).unwrap();
        assert_known(&self.effects(), &events, when);
        ledger::assert_told_once(&events).unwrap_or_else(|error| panic!("{when}: {error}"));
    }

    /// The session in the log, after a look at the file itself and at what the program had said it stored.
    fn stored(&self, ended: &Ended, when: &str) -> Option<(SessionId, Vec<Event>)> {
        let said: Vec<Value> = ended.out().lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
        let log = Log::open(&self.data()).unwrap_or_else(|error| panic!("{when}: {error}"));
        log.check().unwrap_or_else(|error| panic!("{when}: {error}"));
        let Some(session) = log.sessions().unwrap().first().map(|session| session.id.clone()) else {
            assert!(said.is_empty(), "{when}: the session is lost");
            return None;
        };
        let events = log.events(&session, 0).unwrap();
        let numbers: Vec<u64> = events.iter().map(|event| event.seq).collect();
        assert_eq!(numbers, (1..=numbers.len() as u64).collect::<Vec<_>>(), "{when}: the log has holes");
        for (event, said) in events.iter().zip(&said) {
            assert_eq!(serde_json::to_value(event).unwrap(), *said, "{when}: a fact is another one than was shown");
        }
        assert!(said.len() <= events.len(), "{when}: facts that were shown are lost: {:#?}", &said[events.len()..]);
        Some((session, events))
    }
}

/// No command ran twice, and none of which the log doesn't know that it began.
fn assert_known(effects: &BTreeMap<&'static str, usize>, events: &[Event], when: &str) {
    // The message with the call is what has to be stored before anything runs: a restart then knows that it may have.
    let asked_for = |name: &str| {
        let command = format!("printf x >> {name}.effect");
        let messages = events.iter().filter_map(|event| match &event.body {
            EventBody::MessageAppended { message, .. } => Some(message),
            _ => None,
        });
        messages.flat_map(offshoot_protocol::Message::calls).filter(|(_, _, input)| input.0.contains(&command)).count()
    };
    for (name, count) in effects {
        assert!(*count <= 1, "{when}: {name}'s command ran {count} times");
        assert!(*count <= asked_for(name), "{when}: {name}'s command ran, but the log doesn't know it");
    }
}

fn settings() -> Settings {
    Settings { forks: Forks::Always, mode: PermissionMode::Bypass, ..Settings::default() }
}

fn is_settled(view: &SessionView) -> bool {
    let is_at_rest = |agent: &AgentView| !is_running(&agent.state) && !offshoot_agents::agent::is_addressed(agent);
    view.agents.iter().all(is_at_rest)
}

async fn until(workbench: &Workbench, session: &SessionId, is_so: impl Fn(&SessionView) -> bool) -> SessionView {
    let mut subscription = workbench.subscribe(session, 0).await.unwrap();
    let waiting = async {
        loop {
            let view = workbench.snapshot(session).await.unwrap().session;
            if is_so(&view) {
                return view;
            }
            subscription.next().await;
        }
    };
    tokio::time::timeout(std::time::Duration::from_secs(60), waiting).await.expect("it comes to rest")
}

/// Counts the lines of a trace: `PID CALL(…`.
fn count(trace: &str) -> BTreeMap<(u32, String), u32> {
    let mut calls = BTreeMap::new();
    for line in trace.lines() {
        let Some((thread, rest)) = line.split_once(' ') else { continue };
        let Some((call, _)) = rest.trim_start().split_once('(') else { continue };
        if let Ok(thread) = thread.parse()
            && CALLS.contains(&call)
        {
            *calls.entry((thread, call.to_owned())).or_default() += 1;
        }
    }
    calls
}

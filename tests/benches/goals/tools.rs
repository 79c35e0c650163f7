//! Tools on a large project: searching, listing, and what the wall around a command costs.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use offshoot_agents::boundary::Place;
use offshoot_agents::sandbox::{BUBBLEWRAP, Builders, Limits, Sandbox};
use offshoot_agents::tool::{
    AgentCall, Commands, CommitCall, Commits, Delegate, Environment, FileMemory, Options, OutputSink, ShellJob, Tasks,
    ToolContext, ToolError, ToolOutput, Web, standard,
};
use offshoot_agents::worktree::Committed;
use offshoot_protocol::{AgentId, CallId};
use serde_json::{Value, json};

use crate::large::{FILES, Large};
use crate::measure::{middle, ms, time};
use crate::report::Report;

/// How often each is measured.
const ROUNDS: usize = 7;

pub(crate) fn run(report: &mut Report) {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    let Some(large) = Large::new() else {
        return report.missing("tools", "there is no file system in memory");
    };
    let place = Place { directory: large.project(), main_checkout: None, scratch: large.beside("scratch") };
    std::fs::create_dir(&place.scratch).unwrap();
    let tools = standard(options(Sandbox::not_confined("measured")));
    let call = |name: &str, input: Value| {
        let tool = tools.iter().find(|tool| tool.name() == name).unwrap().clone();
        let context = context(&place);
        ms(time(|| runtime.block_on(async { tool.run(input, &context).await }).unwrap()).0)
    };
    let (mut floor, mut search, mut glob) = (Vec::new(), Vec::new(), Vec::new());
    let threads = std::thread::available_parallelism().map_or(2, usize::from);
    for _ in 0..ROUNDS {
        floor.push(ms(time(|| read_all(&large, threads)).0));
        search.push(call("Grep", json!({"pattern": "value_[0-9]{3} = 7"})));
        glob.push(call("Glob", json!({"pattern": "part-0*/**/file-1*.c"})));
    }
    let (floor, search) = (middle(floor), middle(search));
    report.note(format!("reading {FILES} files, {threads} threads"), floor, "ms");
    report.note("searching them", search, "ms");
    report.at_most("searching against reading", search / floor, "×", 1.3);
    report.at_most("a pattern of paths", middle(glob), "ms", 10.0);
    commands(report, &runtime, &place, &large.beside("wall"));
}

/// Every file once, as a search has to.
fn read_all(large: &Large, threads: usize) {
    let project = large.project();
    std::thread::scope(|scope| {
        for part in large.files.chunks(large.files.len().div_ceil(threads)) {
            let project = &project;
            scope.spawn(move || {
                let mut bytes = Vec::new();
                for (path, _) in part {
                    bytes.clear();
                    let mut file = std::fs::File::open(project.join(path)).unwrap();
                    std::io::Read::read_to_end(&mut file, &mut bytes).unwrap();
                    std::hint::black_box(&bytes);
                }
            });
        }
    });
}

/// A command that does nothing, behind the wall and without one.
fn commands(report: &mut Report, runtime: &tokio::runtime::Runtime, place: &Place, folder: &Path) {
    std::fs::create_dir(folder).unwrap();
    let builders = Builders { bubblewrap: BUBBLEWRAP.iter().map(PathBuf::from).collect(), helper: None };
    let confined = runtime.block_on(Sandbox::detect(&builders, folder, Vec::new()));
    if !confined.is_confined() {
        return report.missing("a confined command", confined.confinement().to_string());
    }
    let confined = Commands::new(options(confined));
    let bare = Commands::new(options(Sandbox::not_confined("measured")));
    let run = |commands: &Commands| {
        let patience = Duration::from_secs(60);
        let ran = time(|| runtime.block_on(commands.run("true", place, patience, &OutputSink::none())));
        assert_eq!(ran.1.unwrap().exit, Some(0));
        ms(ran.0)
    };
    let (mut behind, mut without) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        behind.push(run(&confined));
        without.push(run(&bare));
    }
    let (behind, without) = (middle(behind), middle(without));
    report.note("a command that does nothing, not confined", without, "ms");
    report.at_most("what the wall around it costs", behind - without, "ms", 50.0);
}

fn options(sandbox: Sandbox) -> Options {
    let environment = Environment { path: "/usr/bin:/bin".to_owned(), home: "/".to_owned(), ..Environment::default() };
    Options {
        sandbox: Arc::new(sandbox),
        environment,
        network: false,
        writable: Vec::new(),
        limits: Limits::default(),
        web: Web::default(),
        unconfined_allowed: true,
    }
}

fn context(place: &Place) -> ToolContext {
    ToolContext {
        agent: AgentId::from("a-bench"),
        call: CallId::from("c-bench"),
        place: place.clone(),
        files: Arc::new(FileMemory::default()),
        output: OutputSink::none(),
        is_forbidden: Arc::new(|_| false),
        delegate: Arc::new(Nobody),
    }
}

/// Nothing is delegated here.
struct Nobody;

fn nothing<T>() -> Result<T, ToolError> {
    Err(ToolError::new("not_measured", "Nothing is delegated here."))
}

#[async_trait]
impl Tasks for Nobody {
    fn list(&self, _: &AgentId) -> String {
        "[]".to_owned()
    }

    async fn output(&self, _: &AgentId, _: &str, _: Option<Duration>) -> Result<String, ToolError> {
        nothing()
    }

    async fn stop(&self, _: &AgentId, _: &str) -> Result<String, ToolError> {
        nothing()
    }

    async fn message(&self, _: &AgentId, _: &str, _: &str) -> Result<String, ToolError> {
        nothing()
    }

    async fn start_shell(&self, _: &AgentId, _: &CallId, _: ShellJob) -> Result<String, ToolError> {
        nothing()
    }
}

#[async_trait]
impl Commits for Nobody {
    async fn commit(&self, _: &AgentId, _: CommitCall) -> Result<Option<Committed>, ToolError> {
        nothing()
    }
}

#[async_trait]
impl Delegate for Nobody {
    async fn delegate(&self, _: &AgentId, _: &CallId, _: AgentCall) -> Result<ToolOutput, ToolError> {
        nothing()
    }

    fn revoke(&self, _: &AgentId, _: &[CallId]) {}
}

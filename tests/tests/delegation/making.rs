//! An isolated agent is there before its worktree: it thinks meanwhile, waits at its first call, and can be stopped.

use std::fs::File;
use std::io::Write as _;

use offshoot_agents::journal::Subscription;
use offshoot_protocol::{
    AgentOutcome, AgentState, AgentView, Command, Delta, EventBody, FailureCode, PermissionMode, WorktreeState,
};
use offshoot_tests::{Reply, Setup, World, in_fork, in_root};
use serde_json::json;

/// A setup that waits for a line in a pipe, and says it.
const WAITING: &str = r#"read -r line < "$OFFSHOOT_SCRATCH/gate" && echo "$line""#;

fn setup(commands: &[&str]) -> Setup {
    let mut setup = Setup::default();
    setup.settings.mode = PermissionMode::AcceptEdits;
    setup.config = vec![("settings.json", json!({"worktree": {"setup": commands}}).to_string())];
    setup
}

/// The root starts a fork of this title in a worktree.
fn start(title: &str) -> [Reply; 2] {
    let call = json!({"prompt": title, "description": title, "isolation": "worktree"});
    [in_root().when_told("go").call("Agent", call), in_root().when_result("async_launched").text("Waiting.")]
}

/// A fork that reads a file, if its worktree's setup ever ends.
async fn reader_behind_waiting_setup() -> (World, File) {
    let fork = [
        in_fork("one").call("Read", json!({"file_path": "README.md"})),
        in_fork("one").repeated().text("Scope: one\nResult: looked"),
    ];
    let told = [in_root().when_told("<task-notification>").repeated().text("Noted.")];
    let script = start("one").into_iter().chain(fork).chain(told);
    let world = World::with(setup(&[WAITING]), script).await;
    let gate = gate(&world);
    world.say("go").await;
    (world, gate)
}

/// The pipe that a waiting setup reads. Held open at both ends, so that nobody waits to open it.
fn gate(world: &World) -> File {
    let scratch = world.data().join("sessions").join(world.session.as_str()).join("scratch");
    std::fs::create_dir_all(&scratch).unwrap();
    let path = scratch.join("gate");
    let mode = rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR;
    rustix::fs::mknodat(rustix::fs::CWD, &path, rustix::fs::FileType::Fifo, mode, 0).unwrap();
    File::options().read(true).write(true).open(path).unwrap()
}

fn is_making(agent: &AgentView) -> bool {
    agent.worktree.as_ref().is_some_and(|worktree| worktree.state == WorktreeState::Making)
}

/// Nothing of a worktree is on the disk or in the repository.
fn assert_nothing_left(world: &World) {
    let listed = world.repository.git(&["worktree", "list", "--porcelain"]);
    assert_eq!(listed.matches("worktree ").count(), 1, "{listed}");
    let refs = world.repository.git(&["for-each-ref", "--format=%(refname)"]);
    assert!(!refs.contains("offshoot"), "{refs}");
}

/// Waits until the setup has written this.
async fn written(subscription: &mut Subscription, wanted: &str) {
    loop {
        for delta in subscription.next().await.deltas {
            if matches!(&delta, Delta::Setup { text, .. } if text.contains(wanted)) {
                return;
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_agent_thinks_before_its_files_are_there() {
    let work = json!({"file_path": "new.txt", "content": "new\n"});
    let fork = [in_fork("one").call("Write", work), in_fork("one").repeated().text("Scope: one\nResult: written")];
    let told = [in_root().when_told("<task-notification>").text("Noted.")];
    let script = start("one").into_iter().chain(fork).chain(told);
    let world = World::with(setup(&["echo begun", WAITING]), script).await;
    let mut gate = gate(&world);
    let mut subscription = world.workbench.subscribe(&world.session, 0).await.unwrap();
    world.say("go").await;
    // The model has answered, and its call waits.
    let view =
        world.until("the fork's call waits", |view| view.agents.get(1).is_some_and(|fork| fork.calls == 1)).await;
    assert!(is_making(&view.agents[1]), "{:?}", view.agents[1].worktree);
    written(&mut subscription, "begun").await;
    let rejected = world.workbench.changes(&world.session, &view.agents[1].id).await.unwrap_err();
    assert!(rejected.message.contains("still being made"), "{rejected:?}");

    gate.write_all(b"all set\n").unwrap();
    let view = world.settled().await;
    let fork = &view.agents[1];
    assert_eq!(fork.state, AgentState::Completed);
    let setup: Vec<_> = fork.setup.iter().map(|ran| (ran.exit, ran.output.as_str())).collect();
    assert_eq!(setup, [(Some(0), "begun\n"), (Some(0), "all set\n")]);
    assert_eq!(fork.worktree.as_ref().unwrap().state, WorktreeState::Live);
    assert_eq!(std::fs::read_to_string(format!("{}/new.txt", fork.directory)).unwrap(), "new\n");
    world.server.finish();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_setup_that_fails_ends_the_agent_says_why_and_leaves_nothing() {
    let fork = [in_fork("one").repeated().text("Scope: one\nResult: nothing")];
    let told = [in_root().when_told("<task-notification>").text("Noted.")];
    let script = start("one").into_iter().chain(fork).chain(told);
    let world = World::with(setup(&["echo no such package >&2; exit 3", "echo never"]), script).await;
    world.say("go").await;
    let view = world.settled().await;
    let fork = &view.agents[1];
    let Some(AgentOutcome::Failed { code, message, .. }) = &fork.outcome else { panic!("{fork:?}") };
    assert_eq!(*code, FailureCode::IsolationUnavailable);
    assert!(message.contains("exit status 3") && message.contains("no such package"), "{message}");
    assert_eq!(fork.setup.len(), 1);
    assert_eq!((fork.setup[0].exit, fork.setup[0].output.as_str()), (Some(3), "no such package\n"));
    assert_eq!(fork.worktree.as_ref().unwrap().state, WorktreeState::Removed { kept_as: None });
    let told = world.notifications(&world.root).await;
    assert!(told.len() == 1 && told[0].contains("no such package"), "{told:?}");
    assert_nothing_left(&world);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_stopped_agent_leaves_no_half_made_worktree_and_can_be_resumed() {
    let (world, mut gate) = reader_behind_waiting_setup().await;
    let view =
        world.until("the fork's call waits", |view| view.agents.get(1).is_some_and(|fork| fork.calls == 1)).await;
    let (id, directory) = (view.agents[1].id.clone(), view.agents[1].directory.clone());
    world.wish(Command::Stop { agent: id.clone() }).await;
    let view = world.settled().await;
    assert_eq!(view.agents[1].state, AgentState::Stopped);
    assert_nothing_left(&world);
    assert!(!std::path::Path::new(&directory).exists());

    gate.write_all(b"now\n").unwrap();
    world.wish(Command::Resume { agent: id }).await;
    let view = world.until("it went on", |view| view.agents[1].state == AgentState::Completed).await;
    assert_eq!(view.agents[1].directory, directory);
    assert_eq!(view.agents[1].setup.len(), 1, "{:?}", view.agents[1].setup);
    assert_nothing_left(&world);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_program_that_ends_meanwhile_finds_an_agent_that_can_be_resumed() {
    let (world, mut gate) = reader_behind_waiting_setup().await;
    world.until("the fork's call waits", |view| view.agents.get(1).is_some_and(|fork| fork.calls == 1)).await;
    let world = world.restart().await;
    let view = world.view().await;
    assert_eq!(view.agents[1].state, AgentState::Interrupted);
    assert_eq!(view.agents[1].worktree.as_ref().unwrap().state, WorktreeState::Removed { kept_as: None });
    assert_nothing_left(&world);
    gate.write_all(b"now\n").unwrap();
    world.wish(Command::Resume { agent: view.agents[1].id.clone() }).await;
    world.until("it went on", |view| view.agents[1].state == AgentState::Completed).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_the_parent_does_after_its_call_is_not_in_the_forks_base() {
    let call = json!({"prompt": "one", "description": "one", "isolation": "worktree"});
    let script = [
        in_root().when_told("go").call("Agent", call),
        in_root().when_result("async_launched").call("Write", json!({"file_path": "late.txt", "content": "late\n"})),
        in_root().repeated().text("Done."),
        in_fork("one").call("Write", json!({"file_path": "new.txt", "content": "new\n"})),
        in_fork("one").repeated().text("Scope: one\nResult: written"),
    ];
    let world = World::with(setup(&[]), script).await;
    world.repository.write("untracked.txt", "seen\n");
    world.say("go").await;
    let view = world.settled().await;
    let worktree = view.agents[1].worktree.clone().unwrap();
    let names = world.repository.git(&["ls-tree", "-r", "--name-only", &worktree.base]);
    assert_eq!(names, "README.md\nsrc/a.txt\nuntracked.txt");
    let events = world.events().await;
    let at = |is: &dyn Fn(&EventBody) -> bool| events.iter().position(|event| is(&event.body)).unwrap();
    let planned = at(&|body| matches!(body, EventBody::WorktreePlanned { .. }));
    assert!(planned < at(&|body| matches!(body, EventBody::WorktreeCreated { .. })));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_hook_that_objects_to_a_new_worktree_ends_the_agent_before_it_touches_a_file() {
    let group = json!({"matcher": "", "hooks": [{"type": "command", "command": "echo not today >&2; exit 2"}]});
    let mut setup = setup(&[]);
    setup.config = vec![("settings.json", json!({"hooks": {"WorktreeCreate": [group]}}).to_string())];
    let work = json!({"file_path": "new.txt", "content": "new\n"});
    let fork = [in_fork("one").call("Write", work)];
    let told = [in_root().when_told("<task-notification>").text("Noted.")];
    let world = World::with(setup, start("one").into_iter().chain(fork).chain(told)).await;
    world.say("go").await;
    let view = world.settled().await;
    let Some(AgentOutcome::Failed { code, message, .. }) = &view.agents[1].outcome else {
        panic!("{:?}", view.agents[1])
    };
    assert_eq!(*code, FailureCode::Hook);
    assert!(message.contains("not today"), "{message}");
    assert_nothing_left(&world);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_agent_whose_worktree_was_deleted_by_hand_stops_and_touches_nothing_else() {
    let write = |path: &str| json!({"file_path": path, "content": "new\n"});
    let fork = [
        in_fork("one").call("Write", write("new.txt")),
        in_fork("one").text("Scope: one\nResult: written"),
        in_fork("one").when_told("and another").call("Write", write("another.txt")),
    ];
    let told = [in_root().when_told("<task-notification>").repeated().text("Noted.")];
    let world = World::with(setup(&[]), start("one").into_iter().chain(fork).chain(told)).await;
    world.say("go").await;
    let view = world.settled().await;
    let fork = &view.agents[1];
    std::fs::remove_dir_all(&fork.directory).unwrap();
    world.tell(&fork.id, "and another").await;
    let failed =
        |view: &offshoot_protocol::SessionView| matches!(view.agents[1].outcome, Some(AgentOutcome::Failed { .. }));
    let view = world.until("the fork has stopped", failed).await;
    let Some(AgentOutcome::Failed { code, message, .. }) = &view.agents[1].outcome else { unreachable!() };
    assert_eq!(*code, FailureCode::WorktreeMissing);
    assert!(message.contains(&view.agents[1].directory), "{message}");
    assert!(!std::path::Path::new(&view.agents[1].directory).exists());
    assert_eq!(world.repository.git(&["status", "--porcelain"]), "");
}

//! Two hundred children of one session, with everything that can happen to them, mixed by a seeded dice.

use std::collections::HashSet;

use offshoot_agents::agent::is_running;
use offshoot_protocol::{AgentOutcome, AgentState, AgentView, Command, EventBody, PermissionMode, SessionView};
use offshoot_tests::{Gate, Received, Reply, Setup, World, in_root, ledger, reply};
use serde_json::json;

const CHILDREN: usize = 200;

/// Stands in the command line of every background command, to be found among the machine's processes.
const MARK: &str = "offshoot-soak-mark";

/// What may become of a child. The first word of its task says which.
const FATES: [&str; 6] = ["does", "fails", "shrugs", "hangs", "serves", "stumbles"];

/// The child's task: `<fate> task <number>`.
fn task(request: &Received) -> Option<&str> {
    let blocks = request.messages().iter().filter_map(|message| message["content"].as_array()).flatten();
    let mut texts = blocks.filter_map(|block| block["text"].as_str());
    texts.find(|text| FATES.iter().any(|fate| text.starts_with(&format!("{fate} task "))))
}

fn with_fate(fate: &'static str) -> Reply {
    reply().when(move |request| task(request).is_some_and(|task| task.starts_with(fate)))
}

fn script() -> Vec<Reply> {
    // Of its own: a fork's first message holds placeholders.
    let has_result =
        |request: &Received| !request.results().is_empty() && !request.last_text().contains("<fork-directive>");
    let report = "Scope: my task is done";
    let command = json!({"command": format!("cat /dev/zero > /dev/null; : {MARK}"), "run_in_background": true});
    let script = [
        with_fate("does").when(has_result).text(report),
        with_fate("does").call("Read", json!({"file_path": "README.md"})),
        with_fate("fails").text("Half a").error_event("invalid_request_error", "no such thing"),
        with_fate("shrugs").thinking("Why?", "c2ln"),
        with_fate("hangs").text("So far").gate(&Gate::new()),
        with_fate("serves").when(has_result).text(report),
        with_fate("serves").call("Bash", command),
        with_fate("stumbles").when(has_result).text(report),
        with_fate("stumbles").call_raw("Read", r#"{"file_path": 3}"#),
        in_root().text("Noted."),
    ];
    script.into_iter().map(Reply::repeated).collect()
}

/// A message of the root's with ten calls: forks and subagents, in the foreground and behind, some with a worktree.
fn batch(number: usize, rng: &mut fastrand::Rng) -> Reply {
    let mut root = in_root().when_told(format!("batch {number}."));
    for at in 0..10 {
        let fate = FATES[rng.usize(..FATES.len())];
        let title = format!("{fate} task {}", number * 10 + at);
        let mut input = json!({"prompt": title, "description": title});
        match rng.u8(..4) {
            0 => input["subagent_type"] = "general-purpose".into(),
            1 => {
                input["subagent_type"] = "general-purpose".into();
                input["run_in_background"] = true.into();
            }
            _ => {}
        }
        if at == 0 {
            input["isolation"] = "worktree".into();
        }
        root = root.call("Agent", input);
    }
    root
}

fn running(view: &SessionView) -> impl Iterator<Item = &AgentView> {
    view.agents[1..].iter().filter(|agent| is_running(&agent.state))
}

/// One wish at random. It may come too late, and be refused for that.
async fn act(world: &World, rng: &mut fastrand::Rng) {
    let view = world.view().await;
    let dice = rng.u8(..6);
    let mut pick = |fits: &dyn Fn(&AgentView) -> bool| {
        let fitting: Vec<&AgentView> = view.agents[1..].iter().filter(|agent| fits(agent)).collect();
        (!fitting.is_empty()).then(|| fitting[rng.usize(..fitting.len())].id.clone())
    };
    let is_at_work = |agent: &AgentView| is_running(&agent.state);
    let wish = match dice {
        0 | 1 => pick(&is_at_work).map(|agent| Command::Stop { agent }),
        2 => pick(&|agent| matches!(agent.state, AgentState::Stopped | AgentState::Interrupted))
            .map(|agent| Command::Resume { agent }),
        3 => pick(&|agent| is_at_work(agent) && !agent.background).map(|agent| Command::SendToBackground { agent }),
        4 => pick(&|agent| agent.state == AgentState::Completed)
            .map(|agent| Command::SendMessage { agent, text: "And more?".into() }),
        _ => Some(Command::Interrupt { agent: world.root.clone() }),
    };
    if let Some(wish) = wish {
        let _ = world.try_wish(wish).await;
    }
}

/// What it was told meanwhile waits, too.
fn waits_for_a_person(agent: &AgentView) -> bool {
    matches!(agent.state, AgentState::Stopped | AgentState::Interrupted | AgentState::Failed { .. })
}

/// Lets everything come to rest: who hangs is stopped.
async fn rest(world: &World) -> SessionView {
    let is_settled = |view: &SessionView| {
        view.agents.iter().all(|agent| {
            !is_running(&agent.state) && (!offshoot_agents::agent::is_addressed(agent) || waits_for_a_person(agent))
        })
    };
    let hangs = |agent: &AgentView| agent.state == AgentState::Running && agent.title.starts_with("hangs");
    loop {
        let view = world
            .until("only those run that hang", |view| {
                let others = running(view).filter(|agent| !hangs(agent) && agent.state != AgentState::Queued);
                is_settled(view) || (others.count() == 0 && running(view).any(hangs))
            })
            .await;
        if is_settled(&view) {
            return view;
        }
        for agent in running(&view).filter(|agent| hangs(agent)) {
            let _ = world.try_wish(Command::Stop { agent: agent.id.clone() }).await;
        }
        let stopped: HashSet<_> = running(&view).filter(|agent| hangs(agent)).map(|agent| agent.id.clone()).collect();
        world.until("they are stopped", |view| !running(view).any(|agent| stopped.contains(&agent.id))).await;
    }
}

#[tokio::test]
async fn two_hundred_children_end_once_each_and_leave_nothing_running() {
    let mut setup = Setup::default();
    setup.settings.mode = PermissionMode::Bypass;
    setup.settings.agent_limit = 2 * CHILDREN;
    let mut world = World::with(setup, script()).await;
    let mut rng = fastrand::Rng::with_seed(11);
    let mut number = 0;
    while world.view().await.agents.len() <= CHILDREN {
        world.server.put_first(batch(number, &mut rng).repeated());
        world.say(&format!("batch {number}.")).await;
        let before = world.view().await.agents.len();
        for _ in 0..rng.usize(1..4) {
            // Something has happened since the last wish.
            let events = rng.usize(1..4);
            world.until("agents are there", |view| view.agents.len() >= before + events || is_idle(view)).await;
            act(&world, &mut rng).await;
        }
        // Now and then the program ends in the middle of it all.
        if number % 8 == 3 {
            world = world.restart().await;
            // Nothing runs by itself, not even what was said just before.
            world.say("Go on.").await;
        }
        rest(&world).await;
        number += 1;
    }
    check(world).await;
}

fn is_idle(view: &SessionView) -> bool {
    view.agents.iter().all(|agent| !is_running(&agent.state))
}

async fn check(world: World) {
    let view = world.view().await;
    assert!(view.agents.len() > CHILDREN);
    for child in &view.agents[1..] {
        assert!(child.outcome.is_some() && !is_running(&child.state), "{child:#?}");
        assert!(child.queue.is_empty() || waits_for_a_person(child), "{child:#?}");
    }
    let count = |fits: fn(&AgentOutcome) -> bool| {
        view.agents.iter().filter(|agent| agent.outcome.as_ref().is_some_and(fits)).count()
    };
    let completed = count(|outcome| matches!(outcome, AgentOutcome::Completed { .. }));
    let failed = count(|outcome| matches!(outcome, AgentOutcome::Failed { .. }));
    let stopped = count(|outcome| *outcome == AgentOutcome::Stopped);
    println!("{completed} completed, {failed} failed, {stopped} stopped, of {}", view.agents.len() - 1);
    assert!(completed > 20 && failed > 20 && stopped > 20);
    assert!(view.shells.iter().all(|shell| shell.outcome.is_some()), "{:#?}", view.shells);
    assert!(view.requests.is_empty());

    // Told once each, and all of it delivered.
    let events = world.events().await;
    ledger::assert_told_once(&events).unwrap();
    let received = events.iter().filter(|event| matches!(event.body, EventBody::InputReceived { .. })).count();
    println!("{} events, {received} inputs", events.len());

    // A restart finds nothing to interrupt, and the same session.
    let world = world.restart().await;
    assert_eq!(world.view().await, view);

    // Nothing is left of what ran.
    world.workbench.shut_down().await;
    let listed = world.repository.git(&["worktree", "list", "--porcelain"]);
    assert!(!listed.lines().any(|line| line.starts_with("locked")), "{listed}");
    let live = view.agents.iter().filter_map(|agent| agent.worktree.as_ref());
    let live = live.filter(|worktree| worktree.state == offshoot_protocol::WorktreeState::Live).count();
    assert_eq!(listed.matches("worktree ").count(), 1 + live, "{listed}");
    until_no_process_has_the_mark();
}

/// Commands are asked to end, and made to two seconds later.
fn until_no_process_has_the_mark() {
    let end = std::time::Instant::now() + std::time::Duration::from_secs(10);
    loop {
        let left = marked_processes();
        if left.is_empty() {
            return;
        }
        assert!(std::time::Instant::now() < end, "still running: {left:?}");
        std::thread::yield_now();
    }
}

fn marked_processes() -> Vec<String> {
    let Ok(entries) = std::fs::read_dir("/proc") else { return Vec::new() };
    let lines = entries.flatten().filter_map(|entry| std::fs::read(entry.path().join("cmdline")).ok());
    let lines = lines.map(|line| String::from_utf8_lossy(&line).replace('\0', " "));
    lines.filter(|line| line.contains(MARK)).collect()
}

//! What delegation costs, as the provider's cache would bill it.

use offshoot_agents::turn::LONGEST_WAIT;
use offshoot_protocol::{AgentState, AgentView, MissReason, SessionView};
use offshoot_tests::{Gate, Mismatch, Received, Reply, Setup, World, in_fork, in_root, reply};
use serde_json::json;
use std::time::Duration;

fn is_fork(request: &Received) -> bool {
    request.mentions("<fork-directive>")
}

fn count_forks(world: &World) -> usize {
    world.server.requests().iter().filter(|request| is_fork(request)).count()
}

/// The parent's answer: `said`, and that many forks.
fn split(said: &str, count: usize) -> Reply {
    (0..count).fold(in_root().when_told("go").text(said), |root, at| {
        root.call("Agent", json!({"prompt": format!("directive {at}"), "description": format!("fork {at}")}))
    })
}

async fn world(script: Vec<Reply>) -> World {
    let world = World::new(script).await;
    world.server.simulate_cache(Mismatch::Refuse);
    world
}

/// What the parent and forks that have something to say in two steps are answered; a stalled answer for the first fork.
fn rest(first: Option<&Gate>) -> Vec<Reply> {
    let mut script = vec![
        in_root().when_result("async_launched").text("Waiting."),
        in_root().when_told("<task-notification>").repeated().text("Noted."),
        reply().when(is_fork).repeated().text("Scope: x"),
    ];
    if let Some(gate) = first {
        script.insert(0, reply().when(is_fork).stalled(gate).text("Scope: x"));
    }
    script
}

fn forks(view: &SessionView) -> &[AgentView] {
    &view.agents[1..]
}

async fn done(world: &World) -> SessionView {
    let all_done = |view: &SessionView| view.agents.len() > 1 && forks(view).iter().all(|fork| fork.outcome.is_some());
    world.until("all forks are done", all_done).await;
    world.settled().await
}

async fn all_at_work(world: &World, count: usize) {
    let runs = |fork: &AgentView| matches!(fork.state, AgentState::Running | AgentState::Completed);
    world.until("all forks run", |view| forks(view).iter().filter(|fork| runs(fork)).count() == count).await;
}

#[tokio::test]
async fn eight_forks_read_more_than_99_percent_of_what_they_have_in_common() {
    let gate = Gate::new();
    let mut script = vec![split("I split it.", 8)];
    script.extend(rest(None));
    // None has begun to be answered before all have asked: nobody waited for another.
    script.insert(1, reply().when(is_fork).repeated().stalled(&gate).text("Scope: x"));
    let world = world(script).await;
    world.say(&format!("go {}", "context ".repeat(70_000))).await;
    // The parent's two and theirs.
    world.server.request(10).await;
    assert_eq!(count_forks(&world), 8);
    gate.open();
    let view = done(&world).await;
    for fork in forks(&view) {
        let usage = fork.usage;
        let share = offshoot_agents::price::hit_rate(&usage).unwrap();
        println!("read {} of {} tokens: {share} of 1000", usage.cache_read, usage.prompt());
        assert!(share > 990, "{usage:?}");
        assert!(fork.misses.is_empty(), "{:?}", fork.misses);
    }
}

#[tokio::test]
async fn a_common_end_that_is_not_cached_is_written_once_and_read_by_the_others() {
    let gate = Gate::new();
    let mut script = vec![split(&"words ".repeat(10_000), 4)];
    script.extend(rest(Some(&gate)));
    let world = world(script).await;
    world.say("go").await;
    all_at_work(&world, 4).await;
    world.server.request_where(is_fork).await;
    gate.open();
    let view = done(&world).await;
    let mut written: Vec<u64> = forks(&view).iter().map(|fork| fork.usage.cache_write).collect();
    written.sort_unstable();
    println!("written by each fork: {written:?}");
    // The text is 15 000 tokens; the rest is a directive each.
    assert!(written[3] > 15_000 && written[..3].iter().all(|tokens| *tokens < 100), "{written:?}");
    assert!(forks(&view).iter().all(|fork| fork.misses.is_empty()), "{view:#?}");
}

#[tokio::test]
async fn a_stalled_fork_holds_the_others_up_no_longer_than_the_limit() {
    let gate = Gate::new();
    let mut script = vec![split(&"words ".repeat(10_000), 3)];
    script.extend(rest(Some(&gate)));
    let world = world(script).await;
    world.say("go").await;
    all_at_work(&world, 3).await;
    world.server.request_where(is_fork).await;
    assert_eq!(count_forks(&world), 1);
    tokio::time::pause();
    tokio::time::advance(LONGEST_WAIT).await;
    tokio::time::resume();
    let two = |view: &SessionView| forks(view).iter().filter(|fork| fork.outcome.is_some()).count() == 2;
    world.until("the others are done", two).await;
    gate.open();
    done(&world).await;
}

#[tokio::test]
async fn a_failed_or_stopped_fork_lets_the_others_go() {
    for is_stopped in [false, true] {
        let gate = Gate::new();
        let mut script = vec![split(&"words ".repeat(10_000), 3)];
        script.extend(rest(is_stopped.then_some(&gate)));
        if !is_stopped {
            script.insert(1, reply().when(is_fork).status(400));
        }
        let world = world(script).await;
        world.say("go").await;
        let first = world.server.request_where(is_fork).await;
        if is_stopped {
            all_at_work(&world, 3).await;
            let agent = first.agent().into();
            world.wish(offshoot_protocol::Command::Stop { agent }).await;
        }
        let view = done(&world).await;
        let completed = |fork: &&AgentView| fork.state == AgentState::Completed;
        assert_eq!(forks(&view).iter().filter(completed).count(), 2, "{view:#?}");
        gate.open();
    }
}

#[tokio::test]
async fn waiting_for_a_sibling_takes_a_place_and_no_more_run_than_may() {
    let gate = Gate::new();
    let mut setup = Setup::default();
    setup.settings.running_limit = 2;
    let mut script = vec![split(&"words ".repeat(10_000), 4)];
    script.extend(rest(Some(&gate)));
    let world = World::with(setup, script).await;
    world.server.simulate_cache(Mismatch::Refuse);
    world.say("go").await;
    world.server.request_where(is_fork).await;
    all_at_work(&world, 2).await;
    let view = world.until("all are there", |view| view.agents.len() == 5).await;
    let queued = forks(&view).iter().filter(|fork| fork.state == AgentState::Queued).count();
    assert_eq!(queued, 2);
    gate.open();
    let view = done(&world).await;
    let large = forks(&view).iter().filter(|fork| fork.usage.cache_write > 15_000).count();
    assert_eq!(large, 1);
}

#[tokio::test]
async fn an_agents_next_step_reads_what_its_last_one_wrote_and_a_lost_entry_is_told() {
    let read = || json!({"file_path": "README.md"});
    let world = world(vec![
        reply().when_told("one").thinking("Hm.", "c2ln").call("Read", read()),
        reply().when_result("hello").text("Read it."),
        reply().when_told("two").text("Two."),
        reply().when_told("three").text("Three."),
    ])
    .await;
    world.say("one").await;
    world.settled().await;
    world.say("two").await;
    let view = world.settled().await;
    let root = &view.agents[0];
    assert!(root.misses.is_empty(), "{:?}", root.misses);
    // The first request wrote nearly all; the others read it.
    assert!(root.usage.cache_read > 2 * root.usage.cache_write * 8 / 10, "{:?}", root.usage);
    world.server.advance(Duration::from_secs(301));
    world.say("three").await;
    let view = world.settled().await;
    let [miss] = view.agents[0].misses.as_slice() else { panic!("{:?}", view.agents[0].misses) };
    // By this program's own clock next to no time has passed: for all it knows the entry should have been there.
    assert_eq!((miss.step, miss.miss.reason), (4, MissReason::NotKept));
    assert!(miss.miss.tokens > 1_000);
    let spending = &view.agents[0].spending;
    assert_eq!((spending.len(), spending[0].requests, spending[0].usage), (1, 4, view.agents[0].usage));
    // It is a fact: it is the same after a restart.
    let before = view.agents[0].clone();
    let world = world.restart().await;
    let after = &world.view().await.agents[0];
    assert_eq!((&after.misses, &after.spending), (&before.misses, &before.spending));
}

#[tokio::test]
async fn after_a_restart_the_next_request_is_still_measured_against_the_last_one() {
    let world = world(vec![reply().when_told("one").text("One."), reply().when_told("two").text("Two.")]).await;
    world.say("one").await;
    world.settled().await;
    let world = world.restart().await;
    world.server.advance(Duration::from_secs(301));
    world.say("two").await;
    let view = world.settled().await;
    assert_eq!(view.agents[0].misses.len(), 1);
}

#[tokio::test]
async fn an_answer_that_breaks_off_or_is_interrupted_was_billed_all_the_same() {
    let figures = json!({"input_tokens": 700, "output_tokens": 1});
    let gate = Gate::new();
    let world = World::new([
        reply().when_told("one").usage(figures.clone()).text("Half").cut_after(3),
        reply().when_told("one").text("Whole."),
        reply().when_told("two").usage(figures).text("Half").gate(&gate).text("Never."),
    ])
    .await;
    world.say("one").await;
    let view = world.settled().await;
    assert_eq!((view.agents[0].usage.input, view.agents[0].steps), (710, 1));
    let cursor = world.workbench.snapshot(&world.session).await.unwrap().cursor;
    let mut deltas = world.workbench.subscribe(&world.session, cursor).await.unwrap();
    world.say("two").await;
    // What comes behind the figures has been seen.
    while deltas.next().await.deltas.is_empty() {}
    world.wish(offshoot_protocol::Command::Interrupt { agent: world.root.clone() }).await;
    let view = world.settled().await;
    assert_eq!((view.agents[0].usage.input, view.agents[0].steps), (1410, 1));
    gate.open();
    let spent: u64 = view.agents[0].spending.iter().map(|part| part.usage.input).sum();
    assert_eq!(spent, view.agents[0].usage.input);
}

#[tokio::test]
async fn thinking_that_the_provider_left_out_is_a_warning_once() {
    let dropped = |told: &str| {
        let entry =
            json!([{"type": "thinking_dropped", "path": "messages.1.content.0", "reason": "prefix_binding_mismatch"}]);
        reply().when_told(told).transformed(entry).text("Well.")
    };
    let world = World::new([dropped("one"), dropped("two")]).await;
    world.say("one").await;
    world.settled().await;
    world.say("two").await;
    let view = world.settled().await;
    let warnings: Vec<_> =
        view.agents[0].warnings.iter().filter(|warning| warning.code == "thinking_dropped").collect();
    assert_eq!(warnings.len(), 1, "{:?}", view.agents[0].warnings);
    assert!(warnings[0].message.contains("what stands before it"), "{warnings:?}");
}

#[tokio::test]
async fn a_fork_keeps_its_parents_thinking_behind_its_prefix() {
    let world = world(vec![
        in_root().when_told("go").thinking("Hm.", "c2ln").call("Agent", json!({"prompt": "x", "description": "x"})),
        in_root().when_result("async_launched").text("Waiting."),
        in_root().when_told("<task-notification>").text("Noted."),
        in_fork("x").text("Scope: x"),
    ])
    .await;
    world.say("go").await;
    done(&world).await;
    // The server refuses thinking behind another prefix.
    world.server.finish();
}

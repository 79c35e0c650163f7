//! What summaries and other models cost, and what they do to the provider's cache.

use offshoot_protocol::{Command, MissReason};
use offshoot_tests::{Mismatch, World, in_root};

use crate::compaction::summary;

#[tokio::test]
async fn a_summary_is_paid_for_and_what_it_replaces_is_told_as_missed() {
    let script = [
        in_root().when_told("first").text("One."),
        summary("It began."),
        in_root().when_told("second").text("Two."),
        in_root().when_told("third").text("Three."),
    ];
    let world = World::new(script).await;
    world.server.simulate_cache(Mismatch::Refuse);
    world.say(&format!("first {}", "context ".repeat(20_000))).await;
    let before = world.settled().await.agents[0].usage;
    world.wish(Command::Compact { agent: world.root.clone(), instructions: String::new() }).await;
    let view = world.settled().await;
    let root = &view.agents[0];
    assert!(root.usage.cache_read >= before.cache_write, "it reads the whole conversation: {:?}", root.usage);
    assert_eq!((root.spending[0].requests, root.spending[0].usage), (2, root.usage));
    assert!(root.misses.is_empty(), "{:?}", root.misses);
    world.say("second").await;
    world.settled().await;
    world.say("third").await;
    let view = world.settled().await;
    let [miss] = view.agents[0].misses.as_slice() else { panic!("{:?}", view.agents[0].misses) };
    assert_eq!((miss.step, miss.miss.reason), (3, MissReason::Compacted));
    world.server.finish();
}

#[tokio::test]
async fn a_summary_that_is_no_use_leaves_the_conversation_in_the_cache() {
    let script =
        [in_root().when_told("first").text("One."), summary("  \n"), in_root().when_told("second").text("Two.")];
    let world = World::new(script).await;
    world.server.simulate_cache(Mismatch::Refuse);
    world.say(&format!("first {}", "context ".repeat(20_000))).await;
    world.settled().await;
    world.wish(Command::Compact { agent: world.root.clone(), instructions: String::new() }).await;
    world.settled().await;
    world.say("second").await;
    let view = world.settled().await;
    assert_eq!((view.agents[0].steps, view.agents[0].misses.as_slice()), (3, &[][..]));
    world.server.finish();
}

#[tokio::test]
async fn another_model_is_paid_for_by_its_own_name_and_finds_nothing_cached() {
    let script = [in_root().when_told("one").text("One."), in_root().when_told("two").text("Two.")];
    let world = World::new(script).await;
    world.server.simulate_cache(Mismatch::Refuse);
    world.say("one").await;
    world.settled().await;
    world.wish(Command::SetModel { agent: world.root.clone(), model: "claude-other".into() }).await;
    world.say("two").await;
    let view = world.settled().await;
    let root = &view.agents[0];
    let models: Vec<_> = root.spending.iter().map(|part| (part.model.as_str(), part.requests)).collect();
    assert_eq!(models, [("claude-test", 1), ("claude-other", 1)]);
    let [miss] = root.misses.as_slice() else { panic!("{:?}", root.misses) };
    assert_eq!((miss.step, miss.miss.reason), (2, MissReason::HeadChanged));
    world.server.finish();
}

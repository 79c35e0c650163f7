//! The bytes that sibling forks share: everything up to the directive's text.

use offshoot_tests::{Gate, Received, Setup, World, in_root, reply};
use serde_json::json;

/// Up to where both are the same.
fn common(a: &[u8], b: &[u8]) -> usize {
    a.iter().zip(b).take_while(|(a, b)| a == b).count()
}

/// The first requests of `count` forks of one message, raw, and the parent's that led to them.
async fn siblings(count: usize) -> (Vec<Received>, Received) {
    let gate = Gate::new();
    let mut setup = Setup::default();
    setup.settings.running_limit = count;
    let mut root = in_root().when_told("go").thinking("Many.", "c2ln").text("I split it.");
    for at in 0..count {
        root = root.call("Agent", json!({"prompt": format!("directive {at}"), "description": format!("fork {at}")}));
    }
    let script = [
        root,
        in_root().when_result("async_launched").text("Waiting."),
        reply().when_mentioned("<fork-directive>").repeated().gate(&gate).text("Scope: x"),
        in_root().when_told("<task-notification>").repeated().text("Noted."),
    ];
    let world = World::with(setup, script).await;
    world.say("go").await;
    world.server.request(count + 2).await;
    gate.open();
    world.until("all are done", |view| view.agents[1..].iter().all(|fork| fork.outcome.is_some())).await;
    world.settled().await;
    let requests = world.server.finish();
    let parent = requests[0].clone();
    let forks = requests.into_iter().filter(|request| request.mentions("<fork-directive>")).collect();
    (forks, parent)
}

#[tokio::test]
async fn siblings_differ_in_nothing_but_the_directive() {
    for count in [2, 8, 100] {
        let (forks, parent) = siblings(count).await;
        assert_eq!(forks.len(), count);
        let mut shares = Vec::new();
        for fork in &forks {
            let text = fork.last_text();
            let directive = text.lines().last().unwrap();
            assert!(directive.starts_with("directive "), "{text}");
            let needle = format!("\"text\":\"{directive}\"");
            let at = String::from_utf8_lossy(&fork.raw).find(&needle).unwrap() + "\"text\":\"directive ".len();
            // Everything before the directive's own words, cache marks included.
            assert!(common(&fork.raw, &forks[0].raw) >= at, "{count}: {directive}");
            // What closes the request behind them is the same, too.
            let tail = |request: &Received, from: usize| {
                let raw = String::from_utf8_lossy(&request.raw[from..]).into_owned();
                raw.trim_start_matches(|c: char| c.is_ascii_digit()).to_owned()
            };
            assert_eq!(tail(fork, at), tail(&forks[0], at));
            shares.push(
                100.0 * f64::from(u32::try_from(at).unwrap()) / f64::from(u32::try_from(fork.raw.len()).unwrap()),
            );
        }
        // Cache marks move on from the parent's last message; nothing else does.
        let whole = parent.without_marks();
        assert!(forks[0].without_marks().starts_with(whole.strip_suffix("]}]}").unwrap()));
        let least = shares.iter().copied().fold(f64::INFINITY, f64::min);
        println!("{count} forks share {least:.2} % of {} bytes", forks[0].raw.len());
    }
}

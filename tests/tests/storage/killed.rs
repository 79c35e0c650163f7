//! Killed at a write: before the call has had its effect, so that one life ends between every two of them.

use crate::life::{CALLS, Ended, Life, Start, can_tamper};

/// Lives of the usual run.
const SAMPLE: usize = 8;

/// Every place where a life can end: the start it has, the call, which one of a thread's.
fn places() -> Vec<(Start, &'static str, u32)> {
    let mut places = Vec::new();
    for start in [Start::Fresh, Start::Again] {
        let life = Life::new(start);
        let whole = life.live(&[]);
        assert!(whole.output.status.success(), "{}\n{}", whole.out(), whole.err());
        for call in CALLS {
            places.extend((1..=whole.most(call)).map(|at| (start, call, at)));
        }
    }
    places
}

fn kill(life: &Life, call: &str, at: u32) -> Ended {
    life.live(&[format!("{call}:signal=SIGKILL:when={at}")])
}

async fn die(place: (Start, &'static str, u32)) {
    let (start, call, at) = place;
    let life = Life::new(start);
    // Threads batch differently from life to life, so that one may end before its time.
    let ended = kill(&life, call, at);
    life.check(&ended, &format!("killed at {call} {at}, {start:?}")).await;
    life.server.finish();
}

#[tokio::test]
async fn a_life_that_nothing_ends_is_whole() {
    if !can_tamper() {
        return;
    }
    let life = Life::new(Start::Fresh);
    let ended = life.live(&[]);
    assert!(ended.output.status.success(), "{}", ended.err());
    assert!(
        ended.most("pwrite64") > 20 && ended.most("fsync") + ended.most("fdatasync") > 5,
        "the trace sees the log: {:?}",
        ended.calls
    );
    life.check(&ended, "whole").await;
    life.server.finish();
}

#[tokio::test]
async fn killed_at_a_write_it_opens_again_and_nothing_confirmed_is_lost_or_done_twice() {
    if !can_tamper() {
        return;
    }
    let places = places();
    let mut rng = fastrand::Rng::with_seed(5);
    let step = places.len() / SAMPLE;
    for part in 0..SAMPLE {
        die(places[part * step + rng.usize(..step)]).await;
    }
}

#[tokio::test]
#[ignore = "one life per write: minutes"]
async fn killed_at_every_write() {
    if !can_tamper() {
        return;
    }
    let places = places();
    let count = places.len();
    for (done, place) in places.into_iter().enumerate() {
        eprintln!("{done} of {count}: {place:?}");
        die(place).await;
    }
    eprintln!("{count} lives, each ended at another write");
}

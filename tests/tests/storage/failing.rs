//! A disk that has no room, or that says a write failed, or that a sync did: at some write and for ever after, and for a
//! while only.

use offshoot_protocol::{AgentState, Command as Wish, RejectedCode, Storage};
use offshoot_tests::{World, in_root, reply};

use crate::life::{Ended, Life, Start, can_tamper};

/// Every kind of failure, and the call that has it.
const FAILURES: [(&str, &str); 5] =
    [("pwrite64", "ENOSPC"), ("pwrite64", "EIO"), ("fsync", "EIO"), ("fsync", "ENOSPC"), ("ftruncate", "EIO")];

/// A life in which this call fails from the `first` time on, up to the `last` one.
fn fail(life: &Life, call: &str, error: &str, first: u32, last: Option<u32>) -> Ended {
    let until = last.map_or_else(|| "+".to_owned(), |last| format!("..{last}"));
    life.live(&[format!("{call}:error={error}:when={first}{until}")])
}

/// A call that fails for good: the run ends by itself and says why.
async fn fails_for_good(call: &str, error: &str, first: u32) {
    let when = format!("{call} fails with {error} from {first} on");
    let life = Life::new(Start::Again);
    let ended = fail(&life, call, error, first, None);
    if !ended.output.status.success() {
        let told = ended.err();
        let is_told = told.contains("the disk is full") || told.contains("the disk failed");
        assert!(is_told, "{when}: {told}");
        assert!(!told.contains("panicked"), "{when}: {told}");
    }
    life.check(&ended, &when).await;
    life.server.finish();
}

/// A call that fails for a while: the run comes to its end as if nothing had been, if it could begin.
async fn fails_for_a_while(call: &str, error: &str, first: u32) {
    let when = format!("{call} fails with {error} at {first} and the next");
    let life = Life::new(Start::Again);
    let ended = fail(&life, call, error, first, Some(first + 1));
    let told = ended.err().contains("can't be opened") || ended.err().contains("Nothing can be stored");
    let could_not_begin = told && ended.out().is_empty();
    assert!(ended.output.status.success() || could_not_begin, "{when}: {}", ended.err());
    life.check(&ended, &when).await;
    life.server.finish();
}

/// A random place of this call.
async fn fails_for_good_somewhere(call: &str, error: &str) {
    if !can_tamper() {
        return;
    }
    let most = Life::new(Start::Again).live(&[]).most(call);
    fails_for_good(call, error, fastrand::Rng::with_seed(7).u32(1..=most)).await;
}

#[tokio::test]
async fn a_full_disk_ends_the_run_with_a_clear_message_and_loses_nothing() {
    fails_for_good_somewhere("pwrite64", "ENOSPC").await;
}

#[tokio::test]
async fn a_failing_write_ends_the_run_with_a_clear_message_and_loses_nothing() {
    fails_for_good_somewhere("pwrite64", "EIO").await;
}

#[tokio::test]
async fn a_failing_sync_ends_the_run_with_a_clear_message_and_loses_nothing() {
    fails_for_good_somewhere("fsync", "EIO").await;
}

#[tokio::test]
async fn a_disk_that_fails_for_a_while_delays_the_run_and_nothing_else() {
    if !can_tamper() {
        return;
    }
    let mut rng = fastrand::Rng::with_seed(9);
    for (call, error) in &FAILURES[..4] {
        let most = Life::new(Start::Again).live(&[]).most(call);
        fails_for_a_while(call, error, rng.u32(1..most)).await;
    }
}

#[tokio::test]
#[ignore = "one life per write and kind of failure: many minutes"]
async fn every_call_fails_for_a_while() {
    if !can_tamper() {
        return;
    }
    let whole = Life::new(Start::Again).live(&[]);
    let mut count = 0;
    for (call, error) in FAILURES {
        for first in 1..=whole.most(call) {
            eprintln!("{call} {error} {first}");
            fails_for_a_while(call, error, first).await;
            count += 1;
        }
    }
    eprintln!("{count} lives, each with another call that failed");
}

#[tokio::test]
#[ignore = "one life per sync, each waiting for a disk that never comes back: many minutes"]
async fn every_tenth_call_fails_for_good() {
    if !can_tamper() {
        return;
    }
    let whole = Life::new(Start::Again).live(&[]);
    let mut count = 0;
    for (call, error) in FAILURES {
        for first in (1..=whole.most(call)).step_by(10) {
            eprintln!("{call} {error} {first}");
            fails_for_good(call, error, first).await;
            count += 1;
        }
    }
    eprintln!("{count} lives, each ended by a disk that failed");
}

/// With a real file system that has no room left, where one can be made.
#[tokio::test]
async fn on_a_full_disk_nothing_new_begins_until_there_is_room() {
    let Some(disk) = SmallDisk::new() else {
        eprintln!("skipped: a small file system can't be mounted here");
        return;
    };
    let world = World::new([
        in_root().when_told("one").text("First."),
        reply().when_told("two").text("Second."),
        reply().when_told("four").text("Fourth."),
    ])
    .await;
    let world = world.move_data(disk.path()).await;
    world.say("one").await;
    world.settled().await;
    let room = disk.fill();

    // The one that finds out waits; whoever comes later is told.
    let mut storage = world.workbench.storage();
    let mut saying = Box::pin(world.say("two"));
    tokio::select! {
        () = &mut saying => panic!("there is no room for it"),
        full = storage.wait_for(|storage| matches!(storage, Storage::Waiting { .. })) => drop(full.unwrap()),
    }
    let refused = world.try_wish(Wish::SendMessage { agent: world.root.clone(), text: "three".into() }).await;
    let refused = refused.unwrap_err();
    assert_eq!(refused.code, RejectedCode::Storage);
    assert!(refused.message.contains("the disk is full"), "{refused:?}");
    let mut late = world.workbench.subscribe(&world.session, 0).await.unwrap();
    assert!(matches!(late.next().await.storage, Some(Storage::Waiting { .. })), "who comes later is told");

    drop(room);
    saying.await;
    storage.wait_for(|storage| *storage == Storage::Working).await.unwrap();
    let view = world.settled().await;
    assert_eq!(view.agents[0].state, AgentState::Idle);
    world.say("four").await;
    world.settled().await;
    let said: Vec<String> = world.messages(&world.root).await.iter().map(offshoot_protocol::Message::text).collect();
    assert!(said.iter().any(|text| text == "Second.") && said.iter().any(|text| text == "Fourth."), "{said:?}");
    assert!(!said.iter().any(|text| text.contains("three")), "what was refused is not done later: {said:?}");
    world.server.finish();
}

/// A file system of its own, small, unmounted on drop.
struct SmallDisk {
    folder: tempfile::TempDir,
}

impl SmallDisk {
    fn new() -> Option<Self> {
        let folder = tempfile::tempdir().unwrap();
        let mount = std::process::Command::new("mount")
            .args(["-t", "tmpfs", "-o", "size=4m", "tmpfs"])
            .arg(folder.path())
            .output()
            .ok()?;
        mount.status.success().then_some(Self { folder })
    }

    fn path(&self) -> &std::path::Path {
        self.folder.path()
    }

    /// Leaves no room until the file that takes it is dropped.
    fn fill(&self) -> tempfile::NamedTempFile {
        use std::io::Write;
        let mut file = tempfile::NamedTempFile::new_in(self.path()).unwrap();
        while file.write_all(&[0; 4096]).is_ok() {}
        file
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let unmounted = std::process::Command::new("umount").arg("--lazy").arg(self.folder.path()).status();
        assert!(unmounted.is_ok_and(|status| status.success()) || std::thread::panicking(), "it can be unmounted");
    }
}

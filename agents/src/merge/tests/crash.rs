//! The program ends, or the disk fails, in the middle.

use super::*;

/// Ends the program after each of the steps between the first and the last write, and starts it again.
#[tokio::test]
async fn a_crash_leaves_the_old_or_the_new() {
    let world = World::new();
    let fork = world.fork("a-1").await;
    write(fork.path(), "ten.txt", TEN.replace("2\n", "two\n"));
    write(fork.path(), "new/file.txt", "new\n");
    std::fs::remove_file(fork.path().join("other.txt")).unwrap();
    let session = SessionId("s-1".to_owned());
    let old = world.state();
    let done = world.apply(&[&fork]);
    let new = world.state();
    world.merges.undo(&done.merge).unwrap();

    let (mut seen_old, mut seen_new) = (false, false);
    for undoing in [false, true] {
        for steps in 0.. {
            let done = undoing.then(|| world.apply(&[&fork]));
            let preview = (!undoing).then(|| world.preview(&[&fork]));
            *world.merges.0.steps_left.lock().unwrap_or_else(PoisonError::into_inner) = Some(steps);
            let work = std::panic::AssertUnwindSafe(|| match (&done, &preview) {
                (Some(done), _) => world.merges.undo(&done.merge).map(drop),
                (_, Some(preview)) => world.merges.apply(&preview.merge, false, Some(&session)).map(drop),
                _ => unreachable!(),
            });
            let crashed = std::panic::catch_unwind(work).is_err();
            *world.merges.0.steps_left.lock().unwrap_or_else(PoisonError::into_inner) = None;
            let again =
                Merges::new(world.fixture.root.join("data/merges"), world.fixture.offshoot(), Arc::new(Ids::seeded(9)));
            let recovered = again.recover().unwrap();
            assert!(recovered.iter().all(|step| step.left_alone.is_empty()), "{recovered:?}");
            assert_eq!(again.recover().unwrap(), [], "once is enough");
            let state = world.state();
            seen_old |= state == old;
            seen_new |= state == new;
            assert!(state == old || state == new, "after {steps} steps: {:?}", state.keys());
            world.nothing_is_left();
            let untold = again.untold(&session);
            assert_eq!(untold.len(), usize::from(state == new && !undoing), "the log is told of what happened");
            if state == new {
                let merge = untold.first().map(|done| done.merge.clone()).or(done.map(|done| done.merge)).unwrap();
                again.told(&merge).unwrap();
                assert_eq!(again.untold(&session), []);
                again.undo(&merge).unwrap();
            }
            if !crashed {
                break;
            }
        }
    }
    assert!(seen_old && seen_new);
}

#[tokio::test]
async fn a_failure_in_the_middle_is_undone() {
    let world = World::new();
    let fork = world.fork("a-1").await;
    write(fork.path(), "README.md", "new\n");
    write(fork.path(), "z.txt", "new\n");
    std::fs::remove_file(fork.path().join("other.txt")).unwrap();
    let preview = world.preview(&[&fork]);
    // No file is another than before, yet the last one can't be written.
    write(&world.project(), "z.txt/inner.txt", "mine\n");
    let before = world.state();
    let refused = world.merges.apply(&preview.merge, false, None);
    assert!(matches!(&refused, Err(MergeError::Storage { .. })), "{refused:?}");
    assert_eq!(world.state(), before);
    world.nothing_is_left();
    assert_eq!(world.merges.recover().unwrap(), []);
    assert_eq!(conflicts(&world.preview(&[&fork]))[0].0, "z.txt");
}

//! Two programs at once on a data folder that neither has made yet.

#![allow(clippy::unwrap_used, reason = "a failed test is what a panic is for")]

use std::process::{Child, Command, Stdio};

use offshoot_tests::{Repository, program};

fn play(place: &Repository) -> Child {
    let mut command = Command::new(program::offshoot());
    command.args(["exec", "--provider", "demo"]).current_dir(place.path()).env_clear();
    command.env("PATH", std::env::var_os("PATH").unwrap()).env("HOME", place.beside("home")).env("TERM", "dumb");
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

#[test]
fn of_two_first_starts_one_plays_and_the_other_is_told_who_is_in_the_way() {
    let place = Repository::with(&[("README.md", "hello\n")]);
    std::fs::create_dir_all(place.beside("home")).unwrap();
    let both = [play(&place), play(&place)].map(|child| child.wait_with_output().unwrap());
    let [mut winner, mut loser] = both;
    if !winner.status.success() {
        std::mem::swap(&mut winner, &mut loser);
    }
    let told = String::from_utf8_lossy(&loser.stderr);
    assert!(winner.status.success(), "{}\n{told}", String::from_utf8_lossy(&winner.stderr));
    assert!(!loser.status.success() && told.contains("another Offshoot is using"), "{told}");
}

//! Arguments, keys and variables of the environment.

use std::path::Path;

use offshoot_tests::program::Done;
use offshoot_tests::{Scripted, reply};
use serde_json::{Value, json};

use super::Place;

#[tokio::test]
async fn mistakes_in_the_arguments_are_usage() {
    let place = Place::new();
    for arguments in [
        &["exec", "--provider", "anthropic"][..],
        &["exce", "Fix it"],
        &["exce"],
        &[".", "exec", "x"],
        &["exec", "--provider", "anthropic", "  "],
        &["exec", "--unknown", "x"],
        &["exec", "-C", "nowhere", "x"],
        &["exec", "-C", "README.md", "x"],
        &["exec", "--resume", "s-none", "x"],
        &["exec", "--continue", "x"],
        &["exec", "--permission-mode", "yolo", "x"],
        &["exec", "--max-turns", "0", "x"],
        &["exec", "--provider", "demo", "--deny", "Bash(rm", "x"],
        &["sessions", "show", "s-none"],
        &["tree", "s-none"],
    ] {
        let done = place.run(arguments).await;
        assert_eq!(done.0.status.code(), Some(2), "{arguments:?}: {}", done.err());
        assert!(done.out().is_empty() && !done.err().is_empty(), "{arguments:?}");
    }
}

#[tokio::test]
async fn without_a_key_nothing_is_tried() {
    let place = Place::new();
    let done = place.run(&["exec", "--provider", "anthropic", "Go"]).await;
    assert!(done.expect(2).err().contains("ANTHROPIC_API_KEY"), "{}", done.err());
}

#[tokio::test]
async fn a_key_in_the_environment_is_used_and_never_shown() {
    let place = Place::new();
    let server =
        Scripted::start([reply().status_with(401, "authentication_error", "invalid x-api-key sk-secret-1234")]);
    let mut command = place.offshoot(&["exec", "--json", "Hello"]);
    command.env("ANTHROPIC_API_KEY", "sk-secret-1234").env("ANTHROPIC_BASE_URL", server.url());
    let done = Done(command.output().await.unwrap());
    done.expect(1);
    assert!(!done.out().contains("sk-secret") && !done.err().contains("sk-secret"), "{}{}", done.out(), done.err());
    assert_eq!(server.finish()[0].header("x-api-key"), "sk-secret-1234");
    assert!(!holds(&place.repository.beside("data"), b"sk-secret-1234"));
}

/// Whether any file below `folder` holds these bytes.
fn holds(folder: &Path, bytes: &[u8]) -> bool {
    std::fs::read_dir(folder).into_iter().flatten().flatten().any(|entry| {
        let path = entry.path();
        if path.is_dir() {
            return holds(&path, bytes);
        }
        std::fs::read(&path).is_ok_and(|content| content.windows(bytes.len()).any(|window| window == bytes))
    })
}

#[tokio::test]
async fn a_slip_of_the_fingers_is_told_what_was_meant() {
    let place = Place::new();
    let done = place.run(&["sesions"]).await;
    assert!(done.expect(2).err().contains("did you mean `offshoot sessions`?"), "{}", done.err());
}

#[tokio::test]
async fn folders_may_stand_before_the_command() {
    let place = Place::new();
    let server = Scripted::start([reply().text("Hi.")]);
    let (data, url) = (place.repository.beside("other"), server.url());
    let data = data.to_str().unwrap();
    place.run(&["--data-dir", data, "exec", "--provider", "anthropic", "--base-url", &url, "Hello"]).await.expect(0);
    let listed = place.run(&["--data-dir", data, "sessions", "--json"]).await;
    assert_eq!(serde_json::from_str::<Vec<Value>>(&listed.expect(0).out()).unwrap().len(), 1);
    assert!(place.sessions().await.is_empty());
    server.finish();
}

#[tokio::test]
async fn the_demo_works_in_its_own_project_and_says_so() {
    let place = Place::new();
    let sample = place.repository.beside("data/offshoot/sample");
    let said = format!("in its own sample project, {}", sample.display());
    // Asked for, and because nothing else is set up.
    for (arguments, words) in [
        (&["exec", "--provider", "demo", "help"][..], "offshoot: the demo answers"),
        (&["exec", "help"], "offshoot: no provider is set up"),
    ] {
        let done = place.run(arguments).await;
        assert!(done.expect(0).err().contains(&said) && done.err().contains(words), "{}", done.err());
        assert!(!done.err().contains("the call failed"), "{}", done.err());
    }
    let sessions = place.sessions().await;
    assert!(sessions.iter().all(|session| session["project"] == sample.to_str().unwrap()), "{sessions:?}");
    // Who names another folder gets it.
    let done = place.run(&["exec", "--provider", "demo", "-C", ".", "help"]).await;
    assert!(done.expect(0).out().contains("This isn't the sample project"), "{}", done.out());
}

#[tokio::test]
async fn the_environment_decides_on_models_and_the_background() {
    let place = Place::new();
    let call = |background: bool| json!({"prompt": "dig", "subagent_type": "explore", "run_in_background": background});
    let server = Scripted::start([
        reply().when_told("Go").call("Agent", call(true)),
        reply().when_result("background_disabled").call("Agent", call(false)),
        reply().when_told("dig").text("dug"),
        reply().when_result("dug").text("Done."),
    ]);
    let url = server.url();
    let mut command = place.offshoot(&["exec", "--provider", "anthropic", "--base-url", &url, "Go"]);
    command.env("OFFSHOOT_DISABLE_BACKGROUND", "1").env("OFFSHOOT_SUBAGENT_MODEL", "claude-small");
    Done(command.output().await.unwrap()).expect(0);
    let requests = server.finish();
    let models: Vec<_> = requests.iter().map(|request| request.body["model"].as_str().unwrap()).collect();
    assert_eq!(models[2], "claude-small");
    assert!([0, 1, 3].iter().all(|at| models[*at] != "claude-small"), "{models:?}");
}

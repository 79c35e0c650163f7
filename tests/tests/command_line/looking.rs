//! Looking at what is stored, and at the machine.

use offshoot_tests::program::Done;
use offshoot_tests::{Gate, Scripted, reply};
use serde_json::{Value, json};

use super::Place;

#[tokio::test]
async fn a_second_program_reads_the_folder_and_says_so_but_does_nothing_there() {
    let place = Place::new();
    let gate = Gate::new();
    let server = Scripted::start([reply().gate(&gate).text("First.")]);
    let child = place.start(&server, &["Hello"]);
    server.request(1).await;
    let done = place.run(&["sessions", "--json"]).await;
    done.expect(0);
    assert!(done.err().contains("another Offshoot is using"), "{}", done.err());
    let listed: Vec<Value> = serde_json::from_str(&done.out()).unwrap();
    let id = listed[0]["id"].as_str().unwrap();
    let tree = place.run(&["tree", id, "--json"]).await;
    assert_eq!(
        serde_json::from_str::<Value>(&tree.expect(0).out()).unwrap()["session"]["agents"][0]["state"]["kind"],
        "running"
    );
    for refused in [&["sessions", "delete", id][..], &["exec", "--provider", "demo"], &["worktrees", "repair"]] {
        let done = place.run(refused).await;
        done.expect(1);
        assert!(done.err().to_lowercase().contains("another offshoot is using"), "{refused:?}: {}", done.err());
    }
    gate.open();
    Done(child.wait_with_output().await.unwrap()).expect(0);
    server.finish();
}

#[tokio::test]
async fn sessions_are_listed_shown_drawn_and_deleted() {
    let place = Place::new();
    let server = Scripted::start([
        reply().when_told("Go").call("Agent", json!({"prompt": "Look at a", "description": "look at a"})),
        reply().when_told("Look at a").text("A report."),
        reply().when_result("look at a").text("Started."),
        reply().when_mentioned("A report.").text("Done."),
    ]);
    place.exec(&server, &["--forks", "always", "Go"]).await.expect(0);
    let listed = place.sessions().await;
    let id = listed[0]["id"].as_str().unwrap();
    assert!(place.run(&["sessions"]).await.expect(0).out().contains(id));
    assert!(place.run(&["sessions", "show", id]).await.expect(0).out().contains("Agents 2"));
    let tree = place.run(&["tree", id]).await.expect(0).out();
    assert!(tree.contains("└─ look at a fork completed"), "{tree}");
    let json: Value = serde_json::from_str(&place.run(&["tree", id, "--json"]).await.out()).unwrap();
    let agents = json["session"]["agents"].as_array().unwrap();
    assert!(agents.len() == 2 && agents.iter().all(|agent| tree.contains(agent["id"].as_str().unwrap())), "{tree}");
    place.run(&["sessions", "delete", id]).await.expect(0);
    assert!(place.sessions().await.is_empty());
}

#[tokio::test]
async fn doctor_says_what_is_there_and_what_to_do() {
    let place = Place::new();
    let done = place.run(&["doctor", "--json"]).await;
    let checks: Vec<Value> = serde_json::from_str(&done.out()).unwrap();
    let of = |name: &str| checks.iter().find(|check| check["name"] == name).unwrap();
    assert_eq!(of("git")["state"], "ok");
    assert_eq!(of("model")["state"], "warning");
    assert!(of("model")["advice"].as_str().unwrap().contains("ANTHROPIC_API_KEY"));
    let blocked = place.repository.beside("blocked");
    std::fs::write(&blocked, "").unwrap();
    let folder = blocked.to_string_lossy();
    let done = place.run(&["doctor", "--data-dir", &folder]).await;
    done.expect(1);
    assert!(done.out().contains("problem data folder"), "{}", done.out());
}

#[tokio::test]
async fn roles_are_listed_shown_and_checked() {
    let place = Place::new();
    place
        .repository
        .write(".offshoot/roles/tidy.md", "---\nname: tidy\ndescription: Tidies up.\ncolour: red\n---\nTidy up.\n");
    let done = place.run(&["roles"]).await;
    assert!(done.expect(0).out().contains("explore  built-in"), "{}", done.out());
    assert!(!done.out().contains("tidy") && done.err().contains("isn't trusted"), "{}", done.err());

    let done = place.run(&["roles", "check"]).await;
    let out = done.expect(1).out();
    assert!(out.contains("tidy.md:4: ") && out.contains("colour"), "{out}");
    let done = place.run(&["roles", "check", ".offshoot/roles/tidy.md", "--json"]).await;
    let warnings: Value = serde_json::from_str(&done.expect(1).out()).unwrap();
    assert_eq!(warnings[0]["line"], 4);
    place.run(&["roles", "check", "nowhere.md"]).await.expect(2);
    place.repository.write(".offshoot/roles/tidy.md", "---\nname: tidy\ndescription: Tidies up.\n---\nTidy up.\n");
    assert_eq!(place.run(&["roles", "check"]).await.expect(0).out(), "");

    let done = place.run(&["roles", "show", "explore", "--json"]).await;
    let role: Value = serde_json::from_str(&done.expect(0).out()).unwrap();
    assert_eq!((&role["source"], &role["tools"][0]), (&json!("built_in"), &json!("Read")));
    let done = place.run(&["roles", "show", "exlore"]).await;
    assert!(done.expect(2).err().contains("did you mean explore?"), "{}", done.err());
}

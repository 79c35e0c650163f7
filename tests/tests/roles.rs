//! Roles through the workbench: an agent started with a role that the studio has just written, and what is said of it
//! afterwards.

#![allow(clippy::unwrap_used, reason = "a failed test is what a panic is for")]

use std::path::Path;

use offshoot_protocol::{AgentState, Command, Isolation, RejectedCode, RoleChange, RoleFields, RoleSource};
use offshoot_tests::{World, reply};

#[tokio::test]
async fn a_role_made_in_the_studio_is_used_and_remembered() {
    let world = World::new([
        reply().when(|request| request.system().contains("You count.")).text("There are 3."),
        reply().when_mentioned("There are 3.").text("Noted."),
    ])
    .await;
    let project = world.view().await.project;
    let project = Path::new(&project);
    let studio = world.workbench.studio(project);
    let fields = RoleFields {
        name: "counter".to_owned(),
        description: "Counts things.".to_owned(),
        tools: Some(vec!["Read".to_owned()]),
        body: "You count.".to_owned(),
        ..RoleFields::default()
    };
    let preview = studio.preview(None, &RoleChange::Fields { fields }).unwrap();
    let file = studio.create(RoleSource::Project, &preview.text).unwrap();
    assert_eq!(std::fs::read_to_string(&file.path).unwrap(), preview.text);
    assert_eq!(world.workbench.role_uses(project, "counter").await.unwrap(), []);

    let start = |role: &str| Command::StartSubagent {
        role: role.to_owned(),
        brief: "Count the files".to_owned(),
        isolation: Isolation::Shared,
    };
    world.wish(start("counter")).await;
    let done = |state: &AgentState| *state == AgentState::Completed;
    world.until("the count", |view| view.agents.iter().any(|agent| done(&agent.state))).await;
    world.settled().await;
    let found = world.workbench.role_uses(project, "counter").await.unwrap();
    let [used] = found.as_slice() else { panic!("{found:?}") };
    assert_eq!((used.title.as_str(), used.steps, &used.session), ("Count the files", 1, &world.session));
    assert!(used.usage.output > 0);
    assert_eq!(world.workbench.role_uses(project, "explore").await.unwrap(), []);
    assert_eq!(world.workbench.role_uses(Path::new("/elsewhere"), "counter").await.unwrap(), []);

    // A deleted role starts nobody.
    let trashed = studio.delete(&file.path).unwrap();
    assert_eq!(world.try_wish(start("counter")).await.unwrap_err().code, RejectedCode::NotFound);
    studio.restore(&trashed).unwrap();
    assert_eq!(std::fs::read_to_string(&file.path).unwrap(), preview.text);
}

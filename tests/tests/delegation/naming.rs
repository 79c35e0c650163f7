//! What a session is called until somebody gives it another name.

use offshoot_protocol::Command;
use offshoot_tests::{World, reply};

#[tokio::test]
async fn a_session_is_called_by_the_first_thing_it_is_asked() {
    let world = World::new([reply().repeated().text("Fine.")]).await;
    world.say("\n  Make the   parser lazy,\nand keep the order of rows.").await;
    assert_eq!(world.settled().await.title, "Make the parser lazy,");
    let listed = world.workbench.sessions().unwrap().remove(0);
    assert_eq!(listed.title, "Make the parser lazy,", "the list of sessions says the same");

    world.say("Something else").await;
    assert_eq!(world.settled().await.title, "Make the parser lazy,");
    world.server.finish();
}

#[tokio::test]
async fn a_session_that_was_named_keeps_its_name() {
    let world = World::new([reply().repeated().text("Fine.")]).await;
    world.wish(Command::Rename { title: "The parser".into() }).await;
    world.say("Make the parser lazy").await;
    assert_eq!(world.settled().await.title, "The parser");
    world.server.finish();
}

//! A session of ten thousand messages: what crosses to the window when it is opened, and when somebody scrolls up.

#![allow(clippy::unwrap_used, reason = "a failed test is what a panic is for")]

use offshoot_protocol::{Block, EventBody, Message, MessageRole, Origin};
use offshoot_tests::{Setup, World, reply};

const MESSAGES: u32 = 10_000;
/// How many the window reads at once.
const STRETCH: u32 = 200;
const TEXT: &str = "A message of some length, as they are. ";

fn message(index: u32) -> Message {
    let text = format!("{index}: {}", TEXT.repeat(20));
    if index.is_multiple_of(2) {
        return Message::user(text, Origin::User);
    }
    Message { role: MessageRole::Assistant, blocks: vec![Block::Text { text, origin: Origin::Model }] }
}

#[tokio::test]
async fn a_long_session_is_opened_by_its_end_and_read_in_pages() {
    let mut setup = Setup::default();
    // Many times what a model takes, and sent all the same.
    setup.settings.compaction.at_percent = 0;
    let world = World::with(setup, [reply().when_told("and now?").text("The end.")]).await;
    let root = world.root.clone();
    let facts = (0..MESSAGES)
        .map(|index| (root.clone(), EventBody::MessageAppended { index, message: message(index), inputs: Vec::new() }));
    let world = world.restart_with(facts.collect()).await;

    // Opening: the snapshot has no messages at all, and one page does for the screen.
    let snapshot = world.workbench.snapshot(&world.session).await.unwrap();
    let page = world.workbench.conversation(&world.session, &root, None, STRETCH).await.unwrap();
    let whole = MESSAGES as usize * message(0).text().len();
    let opened = serde_json::to_vec(&snapshot).unwrap().len() + serde_json::to_vec(&page).unwrap().len();
    assert!(opened < whole / 25, "{opened} bytes of {whole} cross to the window");
    assert_eq!((page.first, page.messages.len()), (MESSAGES - STRETCH, STRETCH as usize));
    assert_eq!(page.messages.last(), Some(&message(MESSAGES - 1)));

    // Subscribing from there repeats nothing.
    world.say("and now?").await;
    let mut subscription = world.workbench.subscribe(&world.session, snapshot.cursor).await.unwrap();
    let first = subscription.next().await.events;
    assert_eq!(first[0].seq, snapshot.cursor + 1);

    // Scrolling up: every message comes once, in order, page by page.
    let mut before = page.first;
    let mut pages = 1;
    while before > 0 {
        let older = world.workbench.conversation(&world.session, &root, Some(before), STRETCH).await.unwrap();
        assert_eq!(older.first + u32::try_from(older.messages.len()).unwrap(), before);
        assert_eq!(older.messages[0], message(older.first));
        before = older.first;
        pages += 1;
    }
    assert_eq!(pages, MESSAGES / STRETCH);
    world.settled().await;
    world.server.finish();
}

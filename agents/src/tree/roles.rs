//! Tells the root which roles there are, whenever that has changed: by a reminder behind everything it was told before.

use std::sync::Arc;

use offshoot_protocol::{AgentId, Block, EventBody, Input, InputId, Origin};

use super::{Tree, lock};
use crate::role::{CatalogWatch, is_announcement};
use crate::view::Fold;

impl Tree {
    /// Follows the project's roles for as long as the session is open.
    pub(super) fn watch_roles(self: &Arc<Self>) {
        let known = self.means.kit.toolbox.names().map(str::to_owned).collect();
        let watch = CatalogWatch::start(self.means.kit.role_folders(&self.project(), self.means.trusted), known);
        let (mut catalogs, tree) = (watch.subscribe(), self.me.clone());
        lock(&self.tasks).spawn(async move {
            // Ends with the session, and the watch with it.
            let _watch = watch;
            loop {
                let text = catalogs.borrow_and_update().announcement();
                let Some(tree) = tree.upgrade() else { return };
                tree.announce_roles(text);
                drop(tree);
                if catalogs.changed().await.is_err() {
                    return;
                }
            }
        });
    }

    /// Puts the list into the root's queue unless it is what the root was told last. Nobody is woken by it. A list that was
    /// not seen yet is out of date now, and withdrawn.
    fn announce_roles(&self, text: String) {
        let id = InputId(self.means.kit.ids.next("i-"));
        self.journal.decide(|fold| {
            let Some(root) = fold.root().map(|root| root.id.clone()) else { return (Vec::new(), ()) };
            if last_told(fold, &root).is_some_and(|told| told == text) {
                return (Vec::new(), ());
            }
            let unseen = unseen(fold, &root).map(|input| EventBody::InputWithdrawn { input: input.id.clone() });
            let mut bodies: Vec<EventBody> = unseen.collect();
            bodies.push(EventBody::InputReceived { input: Input { id, text, origin: Origin::Reminder, source: None } });
            (bodies.into_iter().map(|body| (Some(root.clone()), body)).collect(), ())
        });
    }
}

/// Lists that wait in the root's queue.
fn unseen<'f>(fold: &'f Fold, root: &AgentId) -> impl Iterator<Item = &'f Input> {
    let queue = fold.agent(root).map(|root| root.queue.as_slice()).unwrap_or_default();
    queue.iter().filter(|input| input.origin == Origin::Reminder && is_announcement(&input.text))
}

fn last_told(fold: &Fold, root: &AgentId) -> Option<String> {
    let waiting = unseen(fold, root).last().map(|input| input.text.clone());
    let announcement = |block: &Block| match block {
        Block::Text { text, origin: Origin::Reminder } if is_announcement(text) => Some(text.clone()),
        _ => None,
    };
    let transcript = fold.transcript(root);
    waiting.or_else(|| {
        transcript.newest_first().find_map(|stored| stored.message.blocks.iter().rev().find_map(announcement))
    })
}

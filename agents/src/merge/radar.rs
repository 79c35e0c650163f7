//! Which changes can't be brought home together, before anybody tries.

use offshoot_protocol::{AgentId, Clash};

use super::plan::{base_tree, fork_tree};
use super::record::Lock;
use super::three_way::{Collision, join};
use super::{MergeError, Merges, Place, target};
use crate::git::Trust;
use crate::worktree::{Parent, Worktree};

impl Merges {
    /// Merges every worktree with the checkout, and every pair of them, in memory. Says who conflicts with whom, where.
    pub fn radar(&self, parent: &Parent, trust: Trust, forks: &[Worktree]) -> Result<Vec<Clash>, MergeError> {
        let checkout = target(&self.0, parent, trust)?;
        let place = Place::of(&self.0, &checkout)?;
        let _lock = Lock::take(&place.folder)?;
        let library = place.store.library(&checkout)?;
        let ours = place.capture(&self.0.git, &checkout)?;
        let mut clashes = Vec::new();
        let mut homes = Vec::new();
        for fork in forks {
            let theirs = fork_tree(&self.0, &place, &checkout, fork)?;
            let joined = join(&library, base_tree(&library, fork)?, ours, theirs, Some(&place.settled(&fork.id)))?;
            clashes.extend(clash(fork, None, &joined.conflicts));
            homes.push((fork, joined.tree));
        }
        for (n, (one, tree)) in homes.iter().enumerate() {
            for (other, their_tree) in &homes[..n] {
                // Both as they would be at home: then the checkout is what they have in common.
                let joined = join(&library, ours, *their_tree, *tree, None)?;
                clashes.extend(clash(other, Some(one), &joined.conflicts));
            }
        }
        Ok(clashes)
    }
}

fn clash(one: &Worktree, other: Option<&Worktree>, collisions: &[Collision]) -> Option<Clash> {
    if collisions.is_empty() {
        return None;
    }
    let mut files: Vec<String> = collisions.iter().map(Collision::shown).collect();
    files.sort_unstable();
    files.dedup();
    let id = |fork: &Worktree| AgentId(fork.id.clone());
    Some(Clash { agent: id(one), other: other.map(id), files })
}

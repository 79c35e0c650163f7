//! What a model is told of where it works. Read when an agent starts, and fixed from then on.

use std::path::Path;

use super::Tree;
use crate::git::{self, Git, Head, Trust};
use crate::prompt::{self, Surroundings};

/// Longest name of a branch that is told, in characters.
const BRANCH_LIMIT: usize = 200;

impl Tree {
    /// What an agent in `directory` is told. `own_branch` is that of a worktree of its own, which may still be on its way;
    /// without one a few files of git's are read.
    pub(super) fn surroundings<'a>(
        &self,
        directory: &'a Path,
        instructions: &'a [(String, String)],
        own_branch: Option<String>,
    ) -> Surroundings<'a> {
        let now = self.journal.clock().now();
        Surroundings {
            directory,
            platform: std::env::consts::OS,
            date: jiff::tz::TimeZone::UTC.to_datetime(now).date(),
            branch: own_branch.or_else(|| branch(self.means.kit.worktrees.git(), directory)),
            instructions,
        }
    }
}

/// The branch that is checked out in `directory`, also where it has no commit yet. Nothing of the repository runs. Whoever
/// wrote the repository chose the name, so that it stands for nothing but itself.
fn branch(git: &Git, directory: &Path) -> Option<String> {
    let checkout = git::discover(git, directory, Trust::Untrusted).ok()?.checkout;
    let Head::Branch { name, .. } = checkout.head(&checkout.library().ok()?).ok()? else { return None };
    let name = name.strip_prefix("refs/heads/").unwrap_or(&name);
    Some(prompt::defang(&name.chars().take(BRANCH_LIMIT).collect::<String>()))
}

//! The result as text that `git apply` takes.

use offshoot_protocol::MergeId;

use super::{MergeError, Merges, Place};

impl Merges {
    /// What a preview would change in the checkout, as a patch. Files in conflict aren't in it.
    pub fn patch(&self, merge: &MergeId) -> Result<Vec<u8>, MergeError> {
        let planned = self.planned(merge)?;
        let place = Place::of(&self.0, &planned.checkout)?;
        let trees = [planned.ours.to_string(), planned.merged.to_string()];
        let command = place.store.apply(self.0.git.on(&planned.checkout), &planned.checkout);
        let args = ["diff-tree", "-r", "-p", "--binary", "--full-index", "-M", "--no-ext-diff", "--no-textconv"];
        Ok(command.args(args).args(["--src-prefix=a/", "--dst-prefix=b/"]).args(trees).run()?.stdout)
    }
}

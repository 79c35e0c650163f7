//! Worktrees of a large repository: made, and taken away, against `git worktree add` and the file system itself.

use crate::large::{FILES, Large, write_all};
use crate::measure::{middle, ms, time};
use crate::report::Report;

/// How often each is measured.
const ROUNDS: usize = 5;

pub(crate) fn run(report: &mut Report) {
    let Some(large) = Large::new() else {
        return report.missing("worktrees", "there is no file system in memory");
    };
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    let threads = std::thread::available_parallelism().map_or(2, usize::from);
    let worktrees = large.worktrees();
    let (mut limit, mut checkout, mut made, mut removed) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    // In turns, so that what else the machine does falls on all alike.
    for round in 0..ROUNDS {
        let folder = large.beside(&format!("limit-{round}"));
        limit.push(ms(time(|| write_all(&folder, &large.files, threads)).0));
        std::fs::remove_dir_all(folder).unwrap();

        let folder = large.beside(&format!("git-{round}"));
        let name = folder.to_str().unwrap();
        checkout.push(ms(time(|| large.git(&large.project(), &["worktree", "add", "--quiet", name])).0));
        large.git(&large.project(), &["worktree", "remove", "--force", name]);

        let (took, worktree) = time(|| runtime.block_on(worktrees.create(large.spec(round))).unwrap());
        made.push(ms(took));
        removed.push(ms(time(|| runtime.block_on(worktrees.discard(&worktree)).unwrap()).0));
        runtime.block_on(worktrees.settle());
    }
    let (limit, checkout, made) = (middle(limit), middle(checkout), middle(made));
    report.note(format!("{FILES} files written from memory, {threads} threads"), limit, "ms");
    report.note(format!("`git worktree add` of {FILES} files"), checkout, "ms");
    report.note(format!("a fork's worktree of {FILES} files"), made, "ms");
    report.at_most("its making against `git worktree add`", made / checkout, "×", 0.6);
    report.at_most("its making against writing the files", made / limit, "×", 1.5);
    report.note("discarding it, everything archived", middle(removed), "ms");
}

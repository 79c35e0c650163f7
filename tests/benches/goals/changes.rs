//! Changes in a large worktree: found at once when files are touched, and when everything has to be looked at.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use offshoot_agents::changes::{Changes, Touched, Watch};
use offshoot_agents::worktree::Worktree;

use crate::large::{FILES, Large};
use crate::measure::{middle, ms, time};
use crate::report::Report;

/// How often each is measured.
const ROUNDS: usize = 5;

pub(crate) fn run(report: &mut Report) {
    let Some(large) = Large::new() else {
        return report.missing("changes", "there is no file system in memory");
    };
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    let worktree = runtime.block_on(large.worktrees().create(large.spec(0))).unwrap();
    looks(report, &large, &worktree);
    touches(report, &large, &worktree);
}

/// A look at everything, against `git status` and against looking at each file once.
fn looks(report: &mut Report, large: &Large, worktree: &Worktree) {
    let changes = Changes::of(&large.settings(), worktree);
    changes.summary().unwrap();
    let (mut status, mut floor, mut look) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        status.push(ms(time(|| large.git(worktree.path(), &["status", "--porcelain"])).0));
        floor.push(ms(time(|| walk(worktree.path())).0));
        look.push(ms(time(|| changes.summary().unwrap()).0));
    }
    let (status, floor, look) = (middle(status), middle(floor), middle(look));
    report.note(format!("`git status` at {FILES} files"), status, "ms");
    report.note("a walk that looks at each file", floor, "ms");
    report.note("a look at everything", look, "ms");
    report.at_most("a look at everything against that walk", look / floor, "×", 1.2);
}

/// Walks and looks, on one thread.
fn walk(folder: &std::path::Path) -> usize {
    let mut files = 0;
    for entry in std::fs::read_dir(folder).unwrap().flatten() {
        let path = entry.path();
        if entry.file_type().unwrap().is_dir() {
            files += walk(&path);
        } else {
            files += usize::from(path.symlink_metadata().is_ok());
        }
    }
    files
}

/// From a write to the summary that has it.
fn touches(report: &mut Report, large: &Large, worktree: &Worktree) {
    let changes = Arc::new(Changes::of(&large.settings(), worktree));
    let setting_up = middle((0..3).map(|_| ms(time(|| Watch::start(worktree, |_| {})).0)).collect());
    report.at_most("beginning to watch", setting_up, "ms", 60.0);
    let (tell, told) = channel();
    let seen = changes.clone();
    let watch = Watch::start(worktree, move |touched| {
        let now = match &touched {
            Touched::Paths(paths) => seen.summary_after(paths),
            Touched::Everything => seen.summary(),
        };
        let _ = tell.send(now.unwrap().count.files);
    });
    changes.summary().unwrap();
    let mut all = 0;
    for (count, limit) in [(1, 20.0), (100, 40.0)] {
        let mut took = Vec::new();
        for _ in 0..ROUNDS {
            let files: Vec<_> =
                large.files[all..all + count].iter().map(|(path, _)| worktree.path().join(path)).collect();
            all += count;
            let start = Instant::now();
            for file in &files {
                std::fs::write(file, "changed\n").unwrap();
            }
            await_count(&told, u32::try_from(all).unwrap());
            took.push(ms(start.elapsed()));
        }
        report.at_most(format!("from writing {count} files to their summary"), middle(took), "ms", limit);
    }
    drop(watch);
}

fn await_count(told: &Receiver<u32>, wanted: u32) {
    while told.recv_timeout(Duration::from_secs(30)).unwrap() < wanted {}
}

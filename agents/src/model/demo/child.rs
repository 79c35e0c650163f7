//! What the forks and subagents of the demo do and report.

use serde_json::json;

use super::scene::{Cue, Outcome, Position, Scene, one_line};
use super::{Answer, Call};

/// A piece of work that a fork knows how to do.
pub(super) struct Work {
    /// In the ids of its calls.
    routine: &'static str,
    /// What the tree shows.
    pub(super) description: &'static str,
    /// What it is told; also what it is recognised by.
    pub(super) directive: &'static str,
    /// Read in its first step.
    reads: &'static [&'static str],
    /// Its changes: file, old text, new text. Without an old text the file is written.
    changes: &'static [(&'static str, &'static str, &'static str)],
    /// Whether it runs the tests at the end.
    tests: bool,
    /// What it says before it changes anything.
    intent: &'static str,
    /// What it reports when its changes were made.
    result: &'static str,
}

const PRINT_LINE: &str = "        printf '%s. [%s] %s\\n' \"$number\" \"$state\" \"$text\"\n";

pub(super) const TICKS: Work = Work {
    routine: "ticks",
    description: "Tick marks",
    directive: "Show items as `[x]` and `[ ]` instead of `[done]` and `[open]`. Change only lib/show.sh.",
    reads: &["lib/show.sh"],
    changes: &[(
        "lib/show.sh",
        PRINT_LINE,
        "        case $state in\n            done) mark=x ;;\n            *) mark=' ' ;;\n        esac\n        \
         printf '%s. [%s] %s\\n' \"$number\" \"$mark\" \"$text\"\n",
    )],
    tests: false,
    intent: "The line that prints an item is the only one that matters. I put a mark in place of the word.",
    result: "`show_items` prints `[x]` for finished items and `[ ]` for open ones.",
};

pub(super) const COLOUR: Work = Work {
    routine: "colour",
    description: "Dim finished items",
    directive: "Print finished items dim when the output is a terminal. Change only lib/show.sh.",
    reads: &["lib/show.sh"],
    changes: &[(
        "lib/show.sh",
        PRINT_LINE,
        "        case $state in\n            done) style='2' ;;\n            *) style='0' ;;\n        esac\n        \
         line=\"$number. [$state] $text\"\n        \
         if [ -t 1 ]; then printf '\\033[%sm%s\\033[0m\\n' \"$style\" \"$line\"; else printf '%s\\n' \"$line\"; fi\n",
    )],
    tests: false,
    intent: "Escape sequences belong on a terminal only, so the line that prints an item has to ask where it prints to.",
    result: "`show_items` prints finished items dim on a terminal, and as before into a pipe or file.",
};

pub(super) const STATS: Work = Work {
    routine: "stats",
    description: "Statistics",
    directive: "Add a command `stats` that says how many items are open and how many are done. Put it into a new file \
                lib/stats.sh, and run the tests.",
    reads: &["todo.sh", "README.md"],
    changes: &[
        (
            "lib/stats.sh",
            "",
            "# Counts the items that come on standard input.\n\nshow_stats() {\n    awk -F '\\t' '\n        \
             $1 == \"done\" { done++; next }\n        { open++ }\n        \
             END { printf \"%d open, %d done\\n\", open, done }\n    '\n}\n",
        ),
        (
            "todo.sh",
            "    list) store_read | show_items ;;\n",
            "    list) store_read | show_items ;;\n    stats)\n        . \"$here/lib/stats.sh\"\n        \
             store_read | show_stats\n        ;;\n",
        ),
        (
            "README.md",
            "- Statistics: say how many items are open.\n",
            "- Statistics: say how many items are open. (`sh todo.sh stats`)\n",
        ),
    ],
    tests: true,
    intent: "The counting goes into a file of its own; `todo.sh` only has to know the new word. The idea in the README is \
             not committed in the main checkout, yet it is here: this worktree began with a snapshot of it.",
    result: "`sh todo.sh stats` prints the number of open and of finished items.",
};

pub(super) const CHANGELOG: Work = Work {
    routine: "changelog",
    description: "A changelog",
    directive: "Write a short CHANGELOG.md that says what the program can do so far.",
    reads: &["README.md"],
    changes: &[(
        "CHANGELOG.md",
        "",
        "# Changes\n\n## 0.1\n\n- Items are added, listed and finished from the command line.\n- A test runs the whole \
         program.\n",
    )],
    tests: false,
    intent: "The README says what there is; that makes the first entry.",
    result: "CHANGELOG.md has a first entry.",
};

/// The forks of the tour.
pub(super) const TOUR_FORKS: [Work; 3] = [TICKS, COLOUR, STATS];

const WORKS: [Work; 4] = [TICKS, COLOUR, STATS, CHANGELOG];

/// What the subagent of the demo is told; also what it is recognised by.
pub(super) const SURVEY_BRIEF: &str = "Survey how this shell program stores its items. Read lib/store.sh, find out who \
                                       calls its functions, and report the file format and the callers. Change nothing.";

pub(super) const TEST_COMMAND: &str = "sh test.sh";

const SURVEY: &str = "survey";
/// A task that the demo doesn't know.
const FREE: &str = "free";

pub(super) fn answer(scene: &Scene<'_>) -> Answer {
    let (routine, step) = match scene.cue() {
        Cue::Said(_) => {
            return Answer::text(
                "I am the demo model, in the part of a worker: I did what I was told and reported above. I can't take \
                 further wishes here; look at my changes, or say `fork` to the main agent.",
            );
        }
        Cue::Task => (routine_of(scene.task()), 0),
        Cue::Results(Position { routine, step }) => (routine, step),
        // An answer that was cut off in the middle, or a resumed agent.
        Cue::Notified | Cue::Resumed => match scene.next_step() {
            Some(Position { routine, step }) => (routine, step),
            None => (routine_of(scene.task()), 0),
        },
    };
    match WORKS.iter().find(|work| work.routine == routine) {
        Some(work) => work.step(scene, step),
        None if routine == SURVEY => survey(scene, step),
        None => free(scene, step),
    }
}

fn routine_of(task: &str) -> String {
    let known = WORKS.iter().map(|work| (work.routine, work.directive)).chain([(SURVEY, SURVEY_BRIEF)]);
    let mut known = known.filter(|(_, text)| task.contains(text));
    known.next().map_or(FREE, |(routine, _)| routine).to_owned()
}

impl Work {
    fn step(&self, scene: &Scene<'_>, step: usize) -> Answer {
        let calls = match step {
            0 => self.reads.iter().map(|path| Call::new("Read", json!({"file_path": path}))).collect(),
            1 => self.changes.iter().map(change).collect(),
            2 if self.tests => {
                vec![Call::new("Bash", json!({"command": TEST_COMMAND, "description": "Run the tests"}))]
            }
            _ => return Answer::text(self.report(scene)),
        };
        let text = match step {
            0 => "I read what I am going to change, here in my own worktree.",
            1 => self.intent,
            _ => "Now the tests. A command needs the developer's permission.",
        };
        Answer::step(self.routine, step, text, calls)
    }

    fn report(&self, scene: &Scene<'_>) -> String {
        let outcomes = scene.outcomes();
        let mut changed: Vec<&str> = outcomes
            .iter()
            .filter(|outcome| matches!(outcome.name, "Edit" | "Write") && !outcome.is_error)
            .map(|outcome| outcome.field("file_path"))
            .collect();
        changed.dedup();
        let wanted = self.changes.len();
        let made =
            outcomes.iter().filter(|outcome| matches!(outcome.name, "Edit" | "Write") && !outcome.is_error).count();
        let mut result = match made {
            0 => "nothing was changed.".to_owned(),
            made if made < wanted => format!("only {made} of {wanted} changes could be made."),
            _ => self.result.to_owned(),
        };
        if let Some(test) = outcomes.iter().find(|outcome| outcome.name == "Bash" && !outcome.is_error) {
            result.push_str(" The tests said: ");
            result.push_str(&test_line(test.content));
        }
        let files = if changed.is_empty() { "none".to_owned() } else { changed.join(", ") };
        report(self.directive, &result, &self.reads.join(", "), &files, &issues(&outcomes))
    }
}

fn change((path, old, new): &(&str, &str, &str)) -> Call {
    if old.is_empty() {
        Call::new("Write", json!({"file_path": path, "content": new}))
    } else {
        Call::new("Edit", json!({"file_path": path, "old_string": old, "new_string": new}))
    }
}

fn survey(scene: &Scene<'_>, step: usize) -> Answer {
    if step == 0 {
        let calls = vec![
            Call::new("Read", json!({"file_path": "lib/store.sh"})),
            Call::new("Grep", json!({"pattern": "store_", "path": ".", "output_mode": "content"})),
        ];
        return Answer::step(SURVEY, 0, "I read the file and look for its callers.", calls);
    }
    let outcomes = scene.outcomes();
    let has_read = outcomes.iter().any(|outcome| outcome.name == "Read" && !outcome.is_error);
    let result = if has_read {
        "items are lines of `TODO_FILE`: `open` or `done`, a tab, the text. Only `todo.sh` calls `store_read`, `store_add` \
         and `store_done`."
    } else {
        "lib/store.sh could not be read, so there is nothing to report."
    };
    Answer::text(report(SURVEY_BRIEF, result, "lib/store.sh, todo.sh", "none", &issues(&outcomes)))
}

/// A task of the user's own words.
fn free(scene: &Scene<'_>, step: usize) -> Answer {
    if step == 0 && scene.has_tool("Read") {
        let calls = vec![Call::new("Read", json!({"file_path": "README.md"}))];
        return Answer::step(FREE, 0, "I begin with the README.", calls);
    }
    let outcomes = scene.outcomes();
    let task = scene.task();
    let task = task.split_once("<worktree-notice>").map_or(task, |(task, _)| task);
    let result = "nothing was done: this is the demo model, which only plays its own scenes. Choose a provider in the \
                  settings to have this carried out.";
    Answer::text(report(&one_line(task), result, "README.md", "none", &issues(&outcomes)))
}

fn report(scope: &str, result: &str, key_files: &str, changed: &str, issues: &str) -> String {
    format!("Scope: {scope}\nResult: {result}\nKey files: {key_files}\nFiles changed: {changed}\nIssues: {issues}")
}

fn issues(outcomes: &[Outcome<'_>]) -> String {
    let failed: Vec<String> = outcomes.iter().filter_map(Outcome::failure).collect();
    if failed.is_empty() { "none".to_owned() } else { failed.join(" ") }
}

/// What the sample's test script says in the end.
pub(super) fn test_line(output: &str) -> String {
    let line = output.lines().rev().find(|line| line.contains(" passed, "));
    one_line(line.unwrap_or(output))
}

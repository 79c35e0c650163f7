//! What the root agent of the demo does and says.

use std::fmt::Write as _;

use serde_json::json;

use super::child;
use super::scene::{Cue, Notice, Outcome, Position, Scene};
use super::{Answer, Call};

/// Looking around, planning and delegating.
const TOUR: &str = "tour";
/// Closing the plan when everybody has reported.
const WRAP: &str = "wrap";
/// One more fork.
const FORK: &str = "fork";
/// One more subagent.
const EXPLORE: &str = "explore";
/// Running the sample's test.
const TEST: &str = "test";

const HELP: &str = "I am the **demo model**: no network, no key, and a handful of things I know how to do. Everything \
around me is real, though: the loop, the tools, the worktrees, the permission requests. Try one of these:

- `show me around` — the tour, from the beginning
- `fork` — start one more fork in its own worktree
- `explore` — start a subagent that only reads
- `run the tests` — a command that needs your permission

You can also open any agent in the tree, read its whole conversation, and review and merge its changes. To do real work, \
choose a provider in the settings.";

pub(super) fn answer(scene: &Scene<'_>) -> Answer {
    match scene.cue() {
        Cue::Results(Position { routine, step }) => with_remark(scene, go_on(scene, &routine, step)),
        Cue::Said(_) if !scene.has_answered() => go_on(scene, TOUR, 0),
        Cue::Said(text) => {
            let mut answer = wish(text);
            answer.text = format!("{}{}", news(scene), answer.text);
            answer
        }
        Cue::Notified => notified(scene),
        // The root is given no task.
        Cue::Task | Cue::Resumed => Answer::text("I am here. Say `show me around` to begin again, or `help`."),
    }
}

fn go_on(scene: &Scene<'_>, routine: &str, step: usize) -> Answer {
    match (routine, step) {
        (TOUR, 0) => look(),
        (TOUR, 1) => plan(scene),
        (TOUR, 2) => delegate(),
        (TOUR, _) => delegated(scene, TOUR, 2),
        (WRAP, _) => Answer::text(summary(scene)),
        (FORK | EXPLORE, _) => delegated(scene, routine, 0),
        (TEST, _) => tested(scene),
        _ => Answer::text(HELP),
    }
}

fn look() -> Answer {
    let text = "Hello! I am the **demo model**: embedded in Offshoot, no network, no key. What I say is scripted; what I \
                *do* is real — real tools, real worktrees, real permission requests.\n\nI will look around in this \
                project, plan, and then delegate to several agents at once. First, a look at the code.";
    let calls = vec![
        Call::new("Read", json!({"file_path": "README.md"})),
        Call::new("Read", json!({"file_path": "todo.sh"})),
        Call::new("Grep", json!({"pattern": "show_items", "path": "."})),
    ];
    Answer::step(TOUR, 0, text, calls)
}

fn plan(scene: &Scene<'_>) -> Answer {
    let looked = scene.outcomes_of(TOUR, 0);
    let is_sample = looked.iter().any(|outcome| outcome.field("file_path") == "todo.sh" && !outcome.is_error);
    if !is_sample && scene.has_tool("Read") {
        let reasons = failures(&looked);
        return Answer::text(format!(
            "This isn't the sample project, and I only know my way around there, so I leave your files alone.{reasons}\n\n\
             Open the sample from the start page to see the tour, or choose a provider in the settings to work here."
        ));
    }
    let mut text = String::from(
        "A to-do program in shell: `todo.sh` reads the command line, `lib/store.sh` keeps the items, `lib/show.sh` prints \
         them. The README lists three ideas — and that list isn't even committed yet, so a worktree has to start from a \
         snapshot of it.",
    );
    text.push_str(&failures(&looked));
    text.push_str("\n\nThe ideas are independent of each other. That calls for forks.");
    let todos = json!({"todos": [
        {"content": "Look around", "status": "completed"},
        {"content": "Three forks: tick marks, dim colour, statistics", "status": "in_progress"},
        {"content": "A subagent to survey how items are stored", "status": "in_progress"},
        {"content": "Sum up what they report", "status": "pending"},
    ]});
    Answer::step(TOUR, 1, text, vec![Call::new("TodoWrite", todos)])
}

fn delegate() -> Answer {
    let text = "Now I start four agents in one message. Three are **forks**: they inherit this whole conversation, and each \
                works in its own git worktree, so they can't get in each other's way. The fourth is a **subagent** with the \
                role `explore`: it starts with an empty context, only reads, and I wait for its answer.";
    let mut calls: Vec<Call> = child::TOUR_FORKS.iter().map(fork_call).collect();
    calls.push(explore_call());
    Answer::step(TOUR, 2, text, calls)
}

fn fork_call(work: &child::Work) -> Call {
    Call::new("Agent", json!({"description": work.description, "prompt": work.directive, "isolation": "worktree"}))
}

fn explore_call() -> Call {
    Call::new(
        "Agent",
        json!({"description": "Survey the storage", "subagent_type": "explore", "prompt": child::SURVEY_BRIEF}),
    )
}

/// What came of starting agents.
fn delegated(scene: &Scene<'_>, routine: &str, step: usize) -> Answer {
    let started = scene.outcomes_of(routine, step);
    let mut text = String::new();
    for outcome in started.iter().filter(|outcome| !outcome.is_error && !outcome.is_launched()) {
        let finding = report_line(outcome.content);
        let _ = write!(text, "The subagent *{}* came back: {finding}\n\n", outcome.field("description"));
    }
    let launched = started.iter().filter(|outcome| outcome.is_launched()).count();
    match launched {
        0 => {}
        1 => text.push_str("One agent works in the background now. I am told when it ends."),
        _ => {
            let _ = write!(text, "{launched} agents work in the background now. I am told when each of them ends.");
        }
    }
    if launched > 0 && routine == TOUR {
        text.push_str(
            " Meanwhile you can open them in the tree and watch. They ask you before they change a file or run a command, \
             and the request says who asks. What they change, they change in their own worktrees.",
        );
    }
    text.push_str(&failures(&started));
    if text.trim().is_empty() {
        text.push_str("No agent was started.");
    }
    Answer::text(text)
}

fn notified(scene: &Scene<'_>) -> Answer {
    if !is_tour_over(scene) {
        return Answer::text(news(scene));
    }
    let text = format!("{}That was the last one. I close the plan and sum up.", news(scene));
    let todos = json!({"todos": [
        {"content": "Look around", "status": "completed"},
        {"content": "Three forks: tick marks, dim colour, statistics", "status": "completed"},
        {"content": "A subagent to survey how items are stored", "status": "completed"},
        {"content": "Sum up what they report", "status": "completed"},
    ]});
    Answer::step(WRAP, 0, text, vec![Call::new("TodoWrite", todos)])
}

/// Whether the last message says that the last fork of the tour has ended.
fn is_tour_over(scene: &Scene<'_>) -> bool {
    let is_of_tour = |description: &str| child::TOUR_FORKS.iter().any(|work| work.description == description);
    scene.new_notices().iter().any(|notice| is_of_tour(&notice.description))
        && !scene.awaited().iter().any(|description| is_of_tour(description))
}

/// What the notifications of the last message tell; empty when there are none.
fn news(scene: &Scene<'_>) -> String {
    let notices = scene.new_notices();
    if notices.is_empty() {
        return String::new();
    }
    let mut text = String::new();
    for notice in &notices {
        let _ = write!(text, "{}\n\n", told(notice));
    }
    let awaited = scene.awaited();
    if !awaited.is_empty() {
        let _ = write!(text, "Still at work: {}.\n\n", awaited.join(", "));
    }
    text
}

fn told(notice: &Notice) -> String {
    let Notice { description, status, result } = notice;
    match status.as_str() {
        "completed" => format!("**{description}** is done: {result}"),
        "stopped" => format!("**{description}** was stopped before it was done."),
        _ => format!("**{description}** did not succeed ({status}): {result}"),
    }
}

fn summary(scene: &Scene<'_>) -> String {
    let mut text = String::from("Everybody has reported:\n\n");
    let notices = scene.notices();
    for notice in &notices {
        let _ = writeln!(text, "- {}", told(notice));
    }
    let done = |description: &str| {
        notices.iter().any(|notice| notice.description == description && notice.status == "completed")
    };
    text.push_str(
        "\nNothing has touched your own files. What you can do next:\n\n\
         1. Open a fork in the tree and look at its changes, hunk by hunk. Discard what you don't like.\n\
         2. Merge a fork. Its worktree is kept until its work is safe.\n",
    );
    if done(child::TICKS.description) && done(child::COLOUR.description) {
        text.push_str(
            "3. Merge *Tick marks* and then *Dim finished items*: both change the same lines of `lib/show.sh`, on purpose, \
             so the second one shows you how a conflict is told and that nothing is lost by it.\n",
        );
    }
    text.push_str("\nSay `fork`, `explore` or `run the tests` to see more.");
    text
}

fn tested(scene: &Scene<'_>) -> Answer {
    let outcomes = scene.outcomes_of(TEST, 0);
    let text = match outcomes.first() {
        Some(outcome) if !outcome.is_error => {
            format!("The tests ran, and said: {}", child::test_line(outcome.content))
        }
        _ => format!("The tests did not run.{}", failures(&outcomes)),
    };
    Answer::text(text)
}

/// What the demo understands of a free text.
fn wish(text: &str) -> Answer {
    let text = text.to_lowercase();
    let says = |words: &[&str]| words.iter().any(|word| text.contains(word));
    if says(&["show me", "around", "tour", "again", "continue", "go on"]) {
        return look();
    }
    if says(&["fork"]) {
        let text = "One more fork, then: it writes a changelog in its own worktree.";
        return Answer::step(FORK, 0, text, vec![fork_call(&child::CHANGELOG)]);
    }
    if says(&["explore", "subagent", "survey"]) {
        return Answer::step(EXPLORE, 0, "I ask a subagent that only reads.", vec![explore_call()]);
    }
    if says(&["test"]) {
        let command = json!({"command": child::TEST_COMMAND, "description": "Run the sample's tests"});
        return Answer::step(TEST, 0, "I run the tests. You will be asked first.", vec![Call::new("Bash", command)]);
    }
    Answer::text(HELP)
}

/// Adds a word about what a person said while the agent worked.
fn with_remark(scene: &Scene<'_>, mut answer: Answer) -> Answer {
    if scene.said().is_some() {
        let remark = "I saw your message. I am scripted, so I finish this first; say it again when I am idle.\n\n";
        answer.text.insert_str(0, remark);
    }
    answer
}

/// The failures among outcomes, as an honest remark; empty when there were none.
fn failures(outcomes: &[Outcome<'_>]) -> String {
    let failed: Vec<String> = outcomes.iter().filter_map(Outcome::failure).collect();
    if failed.is_empty() { String::new() } else { format!("\n\nNot everything worked. {}", failed.join(" ")) }
}

/// The result line of a subagent's report, which stands as a text field in the call's result.
fn report_line(content: &str) -> String {
    let parsed: Option<serde_json::Value> = serde_json::from_str(content).ok();
    let report = parsed.as_ref().and_then(|value| value["report"].as_str()).unwrap_or(content);
    let line = report.lines().find_map(|line| line.trim().strip_prefix("Result:"));
    super::scene::one_line(line.unwrap_or(report))
}

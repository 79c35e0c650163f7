use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use futures_util::FutureExt;
use offshoot_protocol::{Message, MessageRole};
use serde_json::json;

use super::*;
use crate::model::{Provider, RequestHead, ToolDefinition};
use crate::transcript::Transcript;

const TOOLS: [&str; 8] = ["Read", "Write", "Edit", "Bash", "Grep", "Glob", "TodoWrite", "Agent"];

fn head(tools: &[&str]) -> Arc<RequestHead> {
    let tools = tools.iter().map(|name| ToolDefinition {
        name: (*name).to_owned(),
        description: String::new(),
        input_schema: json!({"type": "object"}),
    });
    Arc::new(RequestHead {
        provider: Provider::Demo,
        model: "demo".to_owned(),
        system: "You play.".to_owned(),
        tools: tools.collect(),
        max_tokens: 1000,
        thinking_budget: None,
    })
}

/// An agent that plays with stand-ins for the tools, on real files.
struct Player {
    transcript: Transcript,
    directory: PathBuf,
    tools: Vec<&'static str>,
    allows_commands: bool,
}

impl Player {
    fn new(directory: &Path) -> Self {
        let directory = directory.to_owned();
        Self { transcript: Transcript::default(), directory, tools: TOOLS.to_vec(), allows_commands: true }
    }

    fn answer(&self) -> Vec<Block> {
        let (session, agent) = ("s".into(), "a".into());
        let transcript = self.transcript.clone();
        let request = Request { head: head(&self.tools), transcript, fork_point: None, session, agent };
        let events: Vec<_> = Demo::new(Duration::ZERO).stream(request).collect::<Vec<_>>().now_or_never().unwrap();
        let mut blocks = Vec::new();
        let mut streamed = String::new();
        for event in &events {
            match event.as_ref().unwrap() {
                ModelEvent::BlockEnded { block, .. } => blocks.push(block.clone()),
                ModelEvent::TextDelta { text, .. } => streamed.push_str(text),
                _ => {}
            }
        }
        assert!(matches!(events.last(), Some(Ok(ModelEvent::Ended { .. }))));
        assert_eq!(blocks[0], Block::Text { text: streamed, origin: Origin::Model });
        blocks
    }

    /// Takes steps until there is nothing to do; returns the last text.
    fn turn(&mut self) -> String {
        loop {
            let message = Message { role: MessageRole::Assistant, blocks: self.answer() };
            self.transcript.push(message.clone());
            let results: Vec<Block> = message.calls().map(|(id, name, input)| self.run(id, name, &input.0)).collect();
            if results.is_empty() {
                return message.text();
            }
            self.transcript.push(Message { role: MessageRole::User, blocks: results });
        }
    }

    fn told(&mut self, text: &str, origin: Origin) -> String {
        self.transcript.push(Message::user(text, origin));
        self.turn()
    }

    fn run(&self, id: &offshoot_protocol::CallId, name: &str, input: &str) -> Block {
        let input: Value = serde_json::from_str(input).unwrap();
        let outcome = self.carry_out(name, &input);
        let is_error = outcome.is_err();
        let content = outcome.unwrap_or_else(|message| json!({"code": "failed", "message": message}).to_string());
        Block::Result { id: id.clone(), content, is_error }
    }

    fn carry_out(&self, name: &str, input: &Value) -> Result<String, String> {
        let field = |name: &str| input[name].as_str().unwrap();
        let path = || self.directory.join(field("file_path"));
        let missing = |error: std::io::Error| error.to_string();
        match name {
            "Read" => std::fs::read_to_string(path()).map_err(missing),
            "Write" => std::fs::write(path(), field("content")).map(|()| "written".to_owned()).map_err(missing),
            "Edit" => {
                let before = std::fs::read_to_string(path()).map_err(missing)?;
                if before.matches(field("old_string")).count() != 1 {
                    return Err("old_string does not occur exactly once".to_owned());
                }
                std::fs::write(path(), before.replace(field("old_string"), field("new_string"))).map_err(missing)?;
                Ok("edited".to_owned())
            }
            "Bash" if !self.allows_commands => Err("The developer did not allow this call.".to_owned()),
            "Bash" => {
                let output = Command::new("sh").args(["-c", field("command")]).current_dir(&self.directory).output();
                Ok(String::from_utf8(output.unwrap().stdout).unwrap())
            }
            "Agent" if input["subagent_type"] == "explore" => {
                Ok(json!({"status": "completed", "report": "Scope: x\nResult: it is a text file.\nIssues: none"})
                    .to_string())
            }
            "Agent" => Ok(json!({"status": "async_launched", "agent_id": "a1"}).to_string()),
            "Grep" | "TodoWrite" => Ok("fine".to_owned()),
            other => panic!("{other} is not played"),
        }
    }

    /// The last message with calls: name and input of each.
    fn last_calls(&self) -> Vec<(String, Value)> {
        let messages = self.transcript.messages();
        let last = messages.iter().rev().find(|stored| stored.message.calls().count() > 0).unwrap();
        let calls = last.message.calls();
        calls.map(|(_, name, input)| (name.to_owned(), serde_json::from_str(&input.0).unwrap())).collect()
    }

    /// A fork at the message that started the agents, in a copy of the directory.
    fn fork(&self, directive: &str, directory: &Path) -> Self {
        let messages = self.transcript.messages();
        let is_start = |message: &Message| message.calls().any(|(_, name, _)| name == "Agent");
        let at = messages.iter().rposition(|stored| is_start(&stored.message)).unwrap();
        let placeholder = |id: &offshoot_protocol::CallId| Block::Result {
            id: id.clone(),
            content: "Not part of this fork.".to_owned(),
            is_error: false,
        };
        let mut blocks: Vec<Block> = messages[at].message.calls().map(|(id, ..)| placeholder(id)).collect();
        blocks.push(Block::Text { text: "You are a fork.".to_owned(), origin: Origin::Reminder });
        let text = format!("{directive}\n<worktree-notice>\nYou work in your own worktree.\n</worktree-notice>");
        blocks.push(Block::Text { text, origin: Origin::Directive });
        let mut transcript = self.transcript.prefix(u32::try_from(at).unwrap() + 1);
        transcript.push(Message { role: MessageRole::User, blocks });
        copy(&self.directory, directory);
        Self { transcript, ..Self::new(directory) }
    }
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &target);
        } else {
            std::fs::copy(entry.path(), target).unwrap();
        }
    }
}

/// A notification in the program's form, of an agent that ended with this status and summary.
fn notification(description: &str, (status, summary): (&str, &str)) -> String {
    format!(
        "<task-notification>\nThe program wrote this, no person.\n<task_id>a1</task_id>\n<kind>fork</kind>\n\
         <status>{status}</status>\n<description>{description}</description>\n<usage>input 1 output 1</usage>\n\
         <summary>\n{summary}\n</summary>\n</task-notification>\n"
    )
}

const DONE: (&str, &str) = ("completed", "Scope: s\nResult: done\nIssues: none");
const STOPPED: (&str, &str) = ("stopped", "Stopped before it was done.");

/// A root that has just started its forks, and where it and its forks work.
fn on_tour() -> (tempfile::TempDir, Player, String) {
    let folder = tempfile::tempdir().unwrap();
    let directory = folder.path().join("sample");
    create_sample(&directory).unwrap();
    let mut root = Player::new(&directory);
    let text = root.told(OPENING, Origin::User);
    (folder, root, text)
}

#[test]
fn the_root_looks_plans_and_starts_four_agents_in_one_message() {
    let (_folder, root, text) = on_tour();
    let steps: Vec<Vec<String>> = root
        .transcript
        .messages()
        .iter()
        .filter(|stored| stored.message.role == MessageRole::Assistant)
        .map(|stored| stored.message.calls().map(|(_, name, _)| name.to_owned()).collect())
        .collect();
    let expected: [&[&str]; 4] = [&["Read", "Read", "Grep"], &["TodoWrite"], &["Agent"; 4], &[]];
    assert_eq!(steps, expected);
    let agents = root.last_calls();
    assert!(agents[..3].iter().all(|(_, input)| input["isolation"] == "worktree" && input["subagent_type"].is_null()));
    assert_eq!(agents[3].1["subagent_type"], "explore");
    assert!(text.contains("it is a text file.") && text.contains("3 agents work in the background"), "{text}");
}

#[test]
fn the_forks_change_what_they_were_told_to_and_two_of_them_conflict() {
    let (folder, root, _) = on_tour();
    let mut shown = Vec::new();
    for (number, (_, input)) in root.last_calls().iter().take(3).enumerate() {
        let mut fork = root.fork(input["prompt"].as_str().unwrap(), &folder.path().join(format!("fork-{number}")));
        let report = fork.turn();
        for field in ["Scope: ", "\nResult: ", "\nKey files: ", "\nFiles changed: ", "\nIssues: none"] {
            assert!(report.contains(field), "{report}");
        }
        let test = Command::new("sh").arg("test.sh").current_dir(&fork.directory).output().unwrap();
        assert!(test.status.success(), "{report}\n{test:?}");
        let read = |path: &str| std::fs::read_to_string(fork.directory.join(path)).unwrap();
        shown.push(read("lib/show.sh"));
        if number == 2 {
            assert!(report.contains("The tests said: 5 passed, 0 failed"), "{report}");
            assert!(report.contains("Files changed: lib/stats.sh, todo.sh, README.md"), "{report}");
            assert!(read("README.md").contains("(`sh todo.sh stats`)"), "the open edit is in the worktree");
            let command = "export TODO_FILE=t; sh todo.sh add a; sh todo.sh add b; sh todo.sh done 1; sh todo.sh stats";
            let output = Command::new("sh").args(["-c", command]).current_dir(&fork.directory).output().unwrap();
            assert_eq!(String::from_utf8(output.stdout).unwrap(), "1 open, 1 done\n");
        }
    }
    let original = std::fs::read_to_string(root.directory.join("lib/show.sh")).unwrap();
    assert!(shown[0] != original && shown[1] != original && shown[0] != shown[1]);
    assert_eq!(shown[2], original);
}

#[test]
fn a_refused_command_is_reported_as_such() {
    let (folder, root, _) = on_tour();
    let directive = root.last_calls()[2].1["prompt"].as_str().unwrap().to_owned();
    let mut fork = root.fork(&directive, &folder.path().join("fork"));
    fork.allows_commands = false;
    let report = fork.turn();
    assert!(!report.contains("The tests said"), "{report}");
    assert!(report.contains("Issues: Bash failed: The developer did not allow this call."), "{report}");
}

#[test]
fn failed_edits_are_not_reported_as_done() {
    let (folder, root, _) = on_tour();
    let directive = root.last_calls()[0].1["prompt"].as_str().unwrap().to_owned();
    let mut fork = root.fork(&directive, &folder.path().join("fork"));
    std::fs::write(fork.directory.join("lib/show.sh"), "changed by somebody\n").unwrap();
    let report = fork.turn();
    assert!(report.contains("Result: nothing was changed."), "{report}");
    assert!(report.contains("Files changed: none\nIssues: Edit failed"), "{report}");
}

#[test]
fn reports_are_taken_in_any_order_and_the_last_one_closes_the_plan() {
    let outcomes = [("Tick marks", DONE), ("Dim finished items", STOPPED), ("Statistics", DONE)];
    for order in [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]] {
        let (_folder, mut root, _) = on_tour();
        for (number, at) in order.into_iter().enumerate() {
            let (description, outcome) = outcomes[at];
            let text = root.told(&notification(description, outcome), Origin::Notification);
            assert_eq!(text.contains("Still at work"), number < 2, "{text}");
            assert_eq!(text.contains("Everybody has reported"), number == 2, "{text}");
            assert!(number < 2 || text.contains("**Dim finished items** was stopped"), "{text}");
            assert!(!text.contains("on purpose"), "no conflict without the second fork");
        }
        assert_eq!(root.last_calls()[0].0, "TodoWrite");
    }
}

#[test]
fn reports_may_come_together_and_with_a_persons_words() {
    let (_folder, mut root, _) = on_tour();
    let all = ["Tick marks", "Dim finished items", "Statistics"];
    let blocks = |words: Option<&str>| {
        let notices =
            all.map(|description| Block::Text { text: notification(description, DONE), origin: Origin::Notification });
        let words = words.map(|text| Block::Text { text: text.to_owned(), origin: Origin::User });
        Message { role: MessageRole::User, blocks: notices.into_iter().chain(words).collect() }
    };
    let mut other = Player { transcript: root.transcript.clone(), ..Player::new(&root.directory) };
    root.transcript.push(blocks(None));
    let text = root.turn();
    assert!(text.contains("Everybody has reported") && text.contains("on purpose"), "{text}");
    other.transcript.push(blocks(Some("what can you do?")));
    let text = other.turn();
    assert!(text.contains("**Statistics** is done") && text.contains("Try one of these"), "{text}");
}

#[test]
fn wishes_are_understood_and_others_get_a_friendly_word() {
    let (folder, mut root, _) = on_tour();
    assert!(root.told("what is the meaning of life?", Origin::User).contains("I am the **demo model**"));
    assert!(root.told("please run the tests", Origin::User).contains("5 passed, 0 failed"));
    let text = root.told("Fork, please", Origin::User);
    assert!(text.contains("One agent works in the background now"), "{text}");
    let directive = root.last_calls()[0].1["prompt"].as_str().unwrap().to_owned();
    let mut fork = root.fork(&directive, &folder.path().join("fork"));
    assert!(fork.turn().contains("Files changed: CHANGELOG.md"));
    assert!(fork.told("more!", Origin::User).contains("in the part of a worker"));
    let text = root.told(&notification("A changelog", DONE), Origin::Notification);
    assert!(text.contains("**A changelog** is done: done") && !text.contains("Everybody"), "{text}");
    assert!(root.told("explore", Origin::User).contains("it is a text file."));
    assert!(root.told("show me around again", Origin::User).contains("3 agents work"));
}

#[test]
fn other_projects_are_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let mut root = Player::new(folder.path());
    let text = root.told("hello", Origin::User);
    assert!(text.contains("This isn't the sample project"), "{text}");
    assert_eq!(root.last_calls().len(), 3, "nothing but the first look");
}

#[test]
fn subagents_are_known_by_their_brief_and_keep_to_their_tools() {
    let (_folder, root, _) = on_tour();
    let brief = root.last_calls()[3].1["prompt"].as_str().unwrap().to_owned();
    let mut subagent = Player::new(&root.directory);
    subagent.tools = vec!["Read", "Grep", "Glob"];
    let report = subagent.told(&brief, Origin::Brief);
    assert!(report.contains("Result: items are lines of `TODO_FILE`"), "{report}");
    let mut free = Player::new(&root.directory);
    free.tools = Vec::new();
    let report = free.told("Write a poem\n<worktree-notice>x</worktree-notice>", Origin::Brief);
    assert!(report.contains("Scope: Write a poem\nResult: nothing was done"), "{report}");
}

#[test]
fn an_interrupted_step_is_taken_again_and_a_cut_answer_goes_on() {
    let (folder, root, _) = on_tour();
    let directive = root.last_calls()[2].1["prompt"].as_str().unwrap().to_owned();
    let mut fork = root.fork(&directive, &folder.path().join("fork"));
    for _ in 0..2 {
        let message = Message { role: MessageRole::Assistant, blocks: fork.answer() };
        let result = |id: &offshoot_protocol::CallId| Block::Result {
            id: id.clone(),
            content: json!({"code": "interrupted", "message": "The program ended."}).to_string(),
            is_error: true,
        };
        let blocks = message.calls().map(|(id, ..)| result(id)).collect();
        fork.transcript.push(message);
        fork.transcript.push(Message { role: MessageRole::User, blocks });
    }
    fork.transcript.push(Message {
        role: MessageRole::Assistant,
        blocks: vec![Block::Text { text: "I rea".to_owned(), origin: Origin::Model }],
    });
    let before = fork.transcript.len();
    let report = fork.told("<reminder>\nYou were resumed.\n</reminder>", Origin::Reminder);
    assert!(report.contains("Files changed: lib/stats.sh, todo.sh, README.md"), "{report}");
    let first = &fork.transcript.messages()[before as usize + 1].message;
    assert!(first.calls().all(|(_, name, _)| name == "Read"), "what was interrupted is read again before it is edited");
}

#[test]
fn calls_have_their_own_ids_and_the_same_request_gets_the_same_answer() {
    let (_folder, mut root, _) = on_tour();
    root.told("show me around again", Origin::User);
    let messages = root.transcript.messages();
    let mut ids: Vec<_> =
        messages.iter().flat_map(|stored| stored.message.calls().map(|(id, ..)| id.clone())).collect();
    let count = ids.len();
    ids.sort();
    ids.dedup();
    assert_eq!(ids.len(), count);
    assert_eq!(root.answer(), root.answer());
}

#[tokio::test(start_paused = true)]
async fn pieces_are_small_and_come_with_pauses() {
    let mut transcript = Transcript::default();
    transcript.push(Message::user("hi", Origin::User));
    let request = Request { head: head(&TOOLS), transcript, fork_point: None, session: "s".into(), agent: "a".into() };
    let started = tokio::time::Instant::now();
    let events: Vec<_> = Demo::new(Duration::from_millis(10)).stream(request).collect().await;
    assert_eq!(started.elapsed(), Duration::from_millis(10) * u32::try_from(events.len()).unwrap());
    let longest = events.iter().filter_map(|event| match event {
        Ok(ModelEvent::TextDelta { text, .. } | ModelEvent::InputDelta { text, .. }) => Some(text.len()),
        _ => None,
    });
    assert!(longest.max().unwrap() < 60);
}

//! Three forks reviewed in the real window, once by mouse and once by keyboard alone: hunks of two of them are accepted,
//! one is rejected, a comment is sent, the conflict is seen before anything is merged, the rest comes home and is taken
//! out again.

#![allow(clippy::unwrap_used, reason = "a failed test is what a panic is for")]

use std::fmt::Write as _;
use std::path::PathBuf;
use std::sync::Arc;

use offshoot_agents::clock::SystemClock;
use offshoot_agents::settings::Settings;
use offshoot_agents::workbench::Workbench;
use offshoot_protocol::{AgentState, Command, PermissionMode, SessionId, SessionView};
use offshoot_tests::window::{DEADLINE, Desktop, Folders, Query, Scheme, Window};
use offshoot_tests::world::open_core;
use offshoot_tests::{Reply, Repository, Scripted, in_fork, in_root, reply};
use serde_json::json;

/// Keys, as `WebDriver` spells them.
const ENTER: char = '\u{e007}';
const DOWN: char = '\u{e015}';
const TAB: char = '\u{e004}';
const SPACE: char = ' ';
const CONTROL: char = '\u{e009}';

const ANSWERED: &str = "Scope: one\nResult: The constant has a name now.";

/// A module of a tide table, long enough for several hunks.
fn source(changes: &[(usize, &str)]) -> String {
    let mut text = String::from("//! Heights of the tide.\n\n");
    for n in 1..=12 {
        write!(text, "/// The height at the station number {n}, in metres.\npub fn station_{n}(hour: f64) -> f64 {{\n")
            .unwrap();
        let line = changes.iter().find(|(at, _)| *at == n).map_or("    1.5 * (hour / 6.2).cos()", |(_, line)| line);
        write!(text, "{line}\n}}\n\n").unwrap();
    }
    text
}

/// What a fork writes, and its report.
fn fork(directive: &'static str, files: &[(&str, String)]) -> Vec<Reply> {
    let begun = in_fork(directive).when_told(directive).call("Read", json!({"file_path": "src/tide.rs"}));
    let written = files.iter().fold(in_fork(directive).when_result("Heights"), |reply, (path, content)| {
        reply.call("Write", json!({"file_path": path, "content": content}))
    });
    let answered = in_fork(directive).when_told("I reviewed your changes").text(ANSWERED);
    vec![begun, written, answered, in_fork(directive).repeated().text("Scope: it\nResult: edited")]
}

/// Waits until the session is so.
async fn until(core: &Workbench, session: &SessionId, is_so: impl Fn(&SessionView) -> bool) {
    let end = std::time::Instant::now() + DEADLINE;
    loop {
        let view = core.snapshot(session).await.unwrap().session;
        if is_so(&view) {
            return;
        }
        assert!(std::time::Instant::now() < end, "waited in vain: {view:#?}");
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
}

/// A finished session with three forks, in the data folder that the window will use.
struct Session {
    repository: Repository,
    folders: Folders,
    // Ends with the test.
    _server: Scripted,
}

impl Session {
    async fn with_three_forks() -> Self {
        let first = source(&[
            (2, "    2.5 * (hour / 6.2).cos()"),
            (6, "    let speed = 6.2103;\n    1.5 * (hour / speed).cos()"),
            (11, "    0.0"),
        ]);
        let second = source(&[(2, "    2.75 * (hour / 6.2).cos()"), (9, "    1.5 * (hour / 6.2).sin()")]);
        let agent = |directive: &str, description: &str| json!({"prompt": directive, "description": description, "isolation": "worktree"});
        let mut script = vec![
            in_root()
                .when_told("begin")
                .call("Agent", agent("task one", "Tune the stations"))
                .call("Agent", agent("task two", "Shift the phases"))
                .call("Agent", agent("task three", "Describe the model")),
            in_root().when_result("async_launched").text("Three forks are at work."),
            in_root().when_told("<task-notification>").repeated().text("Noted."),
            reply().models(&["claude-test"]).repeated(),
        ];
        script.extend(fork("task one", &[("src/tide.rs", first)]));
        script.extend(fork("task two", &[("src/tide.rs", second)]));
        script.extend(fork("task three", &[("docs/model.md", "# The model\n\nEvery station is a cosine.\n".into())]));
        let server = Scripted::start(script);
        let repository = Repository::with(&[("src/tide.rs", &source(&[])), ("README.md", "# Tides\n")]);
        let folders = Folders::default();
        let settings = Settings { mode: PermissionMode::AcceptEdits, ..Settings::default() };
        let core = open_core(folders.path(), &server.url(), settings, Arc::new(SystemClock));
        let session = core.create_session(repository.path()).await.unwrap();
        let root = core.snapshot(&session).await.unwrap().session.agents[0].id.clone();
        core.command(&session, Command::SendMessage { agent: root, text: "begin".into() }).await.unwrap();
        until(&core, &session, |view| {
            let is_done = |state: &AgentState| matches!(state, AgentState::Completed | AgentState::Idle);
            let forks = view.agents.iter().skip(1);
            view.agents.len() == 4
                && view.agents.iter().all(|agent| is_done(&agent.state) && agent.queue.is_empty())
                && forks.into_iter().all(|fork| fork.changes.is_some())
        })
        .await;
        core.shut_down().await;
        drop(core);
        let model = json!({"provider": "anthropic", "baseUrl": server.url(), "model": "claude-test"});
        let config = folders.path().join("config");
        std::fs::create_dir_all(&config).unwrap();
        std::fs::write(config.join("settings.json"), model.to_string()).unwrap();
        let keys = config.join("credentials.json");
        std::fs::write(&keys, r#"{"anthropic": "sk-test"}"#).unwrap();
        std::fs::set_permissions(&keys, std::os::unix::fs::PermissionsExt::from_mode(0o600)).unwrap();
        Self { repository, folders, _server: server }
    }

    fn tide(&self) -> PathBuf {
        self.repository.path().join("src/tide.rs")
    }

    async fn wait_for_status(&self, window: &Window, wanted: &str) {
        window
            .wait(&format!("the checkout to be {wanted:?}"), async || {
                (self.repository.git(&["status", "--porcelain"]) == wanted).then_some(())
            })
            .await;
    }
}

/// A row of the tree, by the beginning of what it is called: its text also names the agents that it conflicts with.
fn row(containing: &str) -> Query<'_> {
    Query { role: "treeitem", containing: Some(containing), ..Query::default() }
}

fn in_changes<'a>(role: &'a str, name: &'a str) -> Query<'a> {
    Query { role, name: Some(name), within: Some("Changes"), ..Query::default() }
}

fn in_merge<'a>(role: &'a str, name: &'a str) -> Query<'a> {
    Query { role, name: Some(name), within: Some("Merge into your checkout"), ..Query::default() }
}

fn conflicts() -> Query<'static> {
    Query { role: "region", name: Some("Conflicts"), ..Query::default() }
}

/// Waits until as many of the hunk buttons of this name are there, and returns them from top to bottom.
async fn hunk_buttons(window: &Window, name: &str, count: usize) -> Vec<fantoccini::elements::Element> {
    window
        .wait(&format!("{count} buttons {name:?}"), async || {
            let found = window.look(&in_changes("button", name)).await;
            (found.len() == count).then_some(found)
        })
        .await
}

#[tokio::test(flavor = "multi_thread")]
async fn three_forks_are_reviewed_by_mouse() {
    let Some(desktop) = Desktop::start() else { return };
    let session = Session::with_three_forks().await;
    let window = desktop.open(&session.folders, Scheme::Light).await;
    window.client().set_window_size(1480, 920).await.unwrap();
    window.press_where(&row("Fork: Tune the stations")).await;
    window.press_where(&Query { role: "tab", containing: Some("Review"), ..Query::default() }).await;

    // The second hunk is accepted, the third one rejected.
    hunk_buttons(&window, "Accept hunk", 3).await[1].click().await.unwrap();
    window.wait_for_text(&in_changes("toolbar", "Review"), "Accept all").await;
    hunk_buttons(&window, "Reject hunk", 3).await[2].click().await.unwrap();
    window.wait_for_text(&in_changes("region", "Taken out"), "Taken out of src/tide.rs").await;
    hunk_buttons(&window, "Reject hunk", 2).await;

    // A comment on the first changed line.
    window
        .wait("the button beside the line", async || {
            let script = "const line = [...document.querySelectorAll('[data-kind=added]')].find((row) => row.textContent.includes('2.5 *'));
                line?.querySelector('button').click(); return line !== undefined";
            window.client().execute(script, Vec::new()).await.ok()?.as_bool()?.then_some(())
        })
        .await;
    let field =
        Query { role: "textbox", containing: Some("Comment on line"), within: Some("Changes"), ..Query::default() };
    window.find_where(&field).await.send_keys("Give this number a name.").await.unwrap();
    window.press_where(&in_changes("button", "Add comment")).await;
    let comment = Query { role: "article", containing: Some("Give this number a name."), ..Query::default() };
    window.find_where(&comment).await;
    window.picture("review-hunks-light").await;
    window.press_where(&in_changes("button", "Send 1 comment")).await;
    let conversation = Query { role: "region", name: Some("Conversation"), ..Query::default() };
    window.wait_for_text(&conversation, "The constant has a name now.").await;

    // One hunk of another fork.
    window.press_where(&row("Fork: Shift the phases")).await;
    hunk_buttons(&window, "Accept hunk", 2).await[1].click().await.unwrap();
    window.press_where(&in_changes("button", "Apply accepted…")).await;
    window.press_where(&in_merge("radio", "Everything")).await;
    window.wait_for_text(&conflicts(), "src/tide.rs").await;
    window.picture("review-conflict-light").await;
    assert_eq!(session.repository.git(&["status", "--porcelain"]), "", "looking changes nothing");
    window.press_where(&in_merge("radio", "Accepted")).await;
    window.wait("no conflict", async || window.look(&conflicts()).await.is_empty().then_some(())).await;
    window.picture("review-merge-light").await;
    window.press_where(&in_merge("button", "Apply to my checkout")).await;
    session.wait_for_status(&window, " M src/tide.rs").await;
    let both =
        source(&[(6, "    let speed = 6.2103;\n    1.5 * (hour / speed).cos()"), (9, "    1.5 * (hour / 6.2).sin()")]);
    assert_eq!(std::fs::read_to_string(session.tide()).unwrap(), both);
    window.press_where(&in_changes("button", "Undo")).await;
    session.wait_for_status(&window, "").await;
    window.close().await;
}

/// Sends keys to whatever has the focus.
async fn keys(window: &Window, keys: &[char]) {
    let text: String = keys.iter().collect();
    window.client().active_element().await.unwrap().send_keys(&text).await.unwrap();
}

/// Waits until the page's focus is where the script says.
async fn focused(window: &Window, what: &str, condition: &str) {
    window
        .wait(what, async || {
            let script = format!("const at = document.activeElement; return Boolean({condition})");
            window.client().execute(&script, Vec::new()).await.ok()?.as_bool()?.then_some(())
        })
        .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn three_forks_are_reviewed_by_keyboard_alone() {
    let Some(desktop) = Desktop::start() else { return };
    let session = Session::with_three_forks().await;
    let window = desktop.open(&session.folders, Scheme::Dark).await;
    window.client().set_window_size(1480, 920).await.unwrap();
    window.find_where(&row("Fork: Tune the stations")).await;
    // To the tree, one down, look at it; then to the inspector and into the changes.
    let alt = '\u{e00a}';
    keys(&window, &[alt, '1', alt]).await;
    focused(&window, "the tree", "at?.getAttribute('role') === 'treeitem'").await;
    to_row(&window, "Tune the stations").await;
    keys(&window, &[ENTER]).await;
    hunk_buttons(&window, "Accept hunk", 3).await;
    keys(&window, &[alt, '4', alt]).await;
    focused(&window, "the changes", "at?.getAttribute('aria-label') === 'Changes'").await;
    // To the second hunk and accept it; to the third one and reject it.
    keys(&window, &['n', 'n', 'a']).await;
    let accepted =
        Query { role: "button", name: Some("Apply accepted…"), within: Some("Changes"), ..Query::default() };
    window.find_where(&accepted).await;
    keys(&window, &['n', 'x']).await;
    window.wait_for_text(&in_changes("region", "Taken out"), "Taken out of src/tide.rs").await;
    // Back to the first hunk, down to its removed line, and a comment on it.
    keys(&window, &['p', 'p', 'j', 'j', 'j', 'j', 'c']).await;
    focused(
        &window,
        "the comment",
        "at instanceof HTMLTextAreaElement && at.getAttribute('aria-label').startsWith('Comment on')",
    )
    .await;
    window.client().active_element().await.unwrap().send_keys("Give this number a name.").await.unwrap();
    keys(&window, &[CONTROL, ENTER, CONTROL]).await;
    let comment = Query { role: "article", containing: Some("Give this number a name."), ..Query::default() };
    window.find_where(&comment).await;
    window.picture("review-hunks-dark").await;
    focused(&window, "the changes", "at?.getAttribute('aria-label') === 'Changes'").await;
    keys(&window, &['s']).await;
    let conversation = Query { role: "region", name: Some("Conversation"), ..Query::default() };
    window.wait_for_text(&conversation, "The constant has a name now.").await;

    // The next fork.
    keys(&window, &[alt, '1', alt]).await;
    focused(&window, "the tree", "at?.getAttribute('role') === 'treeitem'").await;
    to_row(&window, "Shift the phases").await;
    keys(&window, &[ENTER]).await;
    hunk_buttons(&window, "Accept hunk", 2).await;
    keys(&window, &[alt, '4', alt]).await;
    focused(&window, "the changes", "at?.getAttribute('aria-label') === 'Changes'").await;
    keys(&window, &['n', 'n', 'a']).await;
    window.find_where(&accepted).await;
    keys(&window, &['d']).await;
    window.picture("review-split-dark").await;
    keys(&window, &['d', 'm']).await;
    window.find_where(&in_merge("radio", "Everything")).await;
    focused(&window, "the dialog", "at?.closest('[role=dialog]')").await;
    to(&window, "Everything").await;
    keys(&window, &[SPACE]).await;
    window.wait_for_text(&conflicts(), "src/tide.rs").await;
    window.picture("review-conflict-dark").await;
    back_to(&window, "Accepted").await;
    keys(&window, &[SPACE]).await;
    window.wait("no conflict", async || window.look(&conflicts()).await.is_empty().then_some(())).await;
    window.find_where(&Query { enabled: true, ..in_merge("button", "Apply to my checkout") }).await;
    to(&window, "Apply to my checkout").await;
    keys(&window, &[ENTER]).await;
    session.wait_for_status(&window, " M src/tide.rs").await;
    keys(&window, &[alt, '4', alt]).await;
    focused(&window, "the changes", "at?.getAttribute('aria-label') === 'Changes'").await;
    window.find_where(&in_changes("button", "Undo")).await;
    to(&window, "Undo").await;
    keys(&window, &[ENTER]).await;
    session.wait_for_status(&window, "").await;
    window.close().await;
}

/// Moves in the tree to the agent of this title: forks that start together may stand in any order.
async fn to_row(window: &Window, title: &str) {
    const UP: char = '\u{e013}';
    keys(window, &[UP; 6]).await;
    for _ in 0..6 {
        let script = "return document.activeElement?.getAttribute('aria-label') ?? ''";
        let name = window.client().execute(script, Vec::new()).await.unwrap();
        if name.as_str().is_some_and(|name| name.contains(title)) {
            return;
        }
        keys(window, &[DOWN]).await;
    }
    panic!("{title:?} can't be reached by arrow keys");
}

/// Tabs forward until the focus is on what has this name.
async fn to(window: &Window, name: &str) {
    step_to(window, name, &[TAB]).await;
}

/// Tabs backward.
async fn back_to(window: &Window, name: &str) {
    let shift = '\u{e008}';
    step_to(window, name, &[shift, TAB, shift]).await;
}

async fn step_to(window: &Window, name: &str, step: &[char]) {
    for _ in 0..40 {
        let script = "const at = document.activeElement; return (at?.getAttribute('aria-label') ?? at?.textContent ?? '').trim()";
        if window.client().execute(script, Vec::new()).await.unwrap() == name {
            return;
        }
        keys(window, step).await;
    }
    panic!("{name:?} can't be reached by Tab");
}

/// What is drawn of a list, and how long the page needed for each of the steps of a scroll through all of it.
async fn scrolled(window: &Window, label: &str, drawn: &str) -> (u64, f64) {
    let script = format!(
        "const done = arguments[0];
        const box = document.querySelector('[aria-label={label:?}]');
        let most = 0, worst = 0, step = 0, last = performance.now();
        const next = () => {{
            const now = performance.now();
            worst = Math.max(worst, now - last);
            last = now;
            most = Math.max(most, box.querySelectorAll({drawn:?}).length);
            if (step++ === 60) return done([most, worst]);
            box.scrollTop = box.scrollHeight * step / 60;
            requestAnimationFrame(next);
        }};
        requestAnimationFrame(next);"
    );
    let found = window.client().execute_async(&script, Vec::new()).await.unwrap();
    (found[0].as_u64().unwrap(), found[1].as_f64().unwrap())
}

#[tokio::test(flavor = "multi_thread")]
async fn ten_thousand_lines_and_five_thousand_files_stay_fluent() {
    let Some(desktop) = Desktop::start() else { return };
    let command = "mkdir many && for n in $(seq 5000); do echo $n > many/file-$n.txt; done; seq 10000 > aaa-long.txt";
    let server = Scripted::start([
        in_root()
            .when_told("begin")
            .call("Agent", json!({"prompt": "the task", "description": "Write much", "isolation": "worktree"})),
        in_root().when_result("async_launched").text("Waiting."),
        in_fork("the task").when_told("the task").call("Bash", json!({"command": command, "description": "write"})),
        in_fork("the task").repeated().text("Scope: it\nResult: done"),
        in_root().when_told("<task-notification>").repeated().text("Noted."),
    ]);
    let repository = Repository::with(&[("README.md", "# Project\n")]);
    let folders = Folders::default();
    let settings = Settings { mode: PermissionMode::Bypass, ..Settings::default() };
    let core = open_core(folders.path(), &server.url(), settings, Arc::new(SystemClock));
    let session = core.create_session(repository.path()).await.unwrap();
    let root = core.snapshot(&session).await.unwrap().session.agents[0].id.clone();
    core.command(&session, Command::SendMessage { agent: root, text: "begin".into() }).await.unwrap();
    until(&core, &session, |view| view.agents.get(1).is_some_and(|fork| fork.changes.is_some())).await;
    core.shut_down().await;
    drop(core);

    let window = desktop.open(&folders, Scheme::Light).await;
    window.client().set_window_size(1480, 920).await.unwrap();
    window.press_where(&row("Write much")).await;
    window.press_where(&Query { role: "tab", containing: Some("Review"), ..Query::default() }).await;
    window.wait_for_text(&region_changes(), "5001 files").await;
    window
        .press_where(&Query {
            role: "button",
            containing: Some("aaa-long.txt"),
            within: Some("Changes"),
            ..Query::default()
        })
        .await;
    window.wait_for_text(&region_changes(), "aaa-long.txt").await;
    hunk_buttons(&window, "Accept hunk", 1).await;
    let (lines, worst) = scrolled(&window, "Diff of aaa-long.txt", "[data-kind]").await;
    assert!((1..400).contains(&lines), "{lines} lines are drawn at once");
    assert!(worst < 1500.0, "a step of a scroll through 10 000 lines took {worst:.0} ms");
    let (files, worst) = scrolled(&window, "Changed files", "button").await;
    assert!((1..300).contains(&files), "{files} files are drawn at once");
    assert!(worst < 1500.0, "a step of a scroll through 5 001 files took {worst:.0} ms");
    window.picture("review-large-light").await;
    window.close().await;
}

fn region_changes() -> Query<'static> {
    Query { role: "region", name: Some("Changes"), ..Query::default() }
}

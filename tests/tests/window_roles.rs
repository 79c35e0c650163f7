//! The role studio in the real window: roles are made, overridden, changed and started by dragging, and all of it again
//! by keyboard; what is on the disk afterwards is what the page showed.

#![allow(clippy::unwrap_used, reason = "a failed test is what a panic is for")]

use std::path::{Path, PathBuf};

use offshoot_tests::window::{Desktop, Folders, Query, Scheme, Window};

/// Keys, as `WebDriver` spells them.
const ENTER: char = '\u{e007}';
const LEFT: char = '\u{e012}';
const RIGHT: char = '\u{e014}';
const CONTROL: char = '\u{e009}';

/// A file as people really write them, of which nothing but what was meant may change.
const BY_HAND: &str = "---\r\n# do not rename, CI asks for it\r\nname:   by-hand   # odd spaces\r\ndescription: 'Use when: \
                       it is odd'\r\nx_custom: {a: 1}\r\n\r\ntools:\r\n  - Read   # first\r\n  - Grep\r\n---\r\nBody \
                       without a final line end";

fn button<'a>(name: &'a str, within: &'a str) -> Query<'a> {
    Query { role: "button", name: Some(name), within: Some(within), ..Query::default() }
}

fn region(name: &str) -> Query<'_> {
    Query { role: "region", name: Some(name), ..Query::default() }
}

fn group(name: &str) -> Query<'_> {
    Query { role: "group", name: Some(name), ..Query::default() }
}

fn menu_item(containing: &str) -> Query<'_> {
    Query { role: "menuitem", containing: Some(containing), ..Query::default() }
}

fn textbox(name: &str) -> Query<'_> {
    Query { role: "textbox", name: Some(name), ..Query::default() }
}

/// The sample project's folder of roles.
fn project_roles(folders: &Folders) -> PathBuf {
    folders.path().join("data/sample/.offshoot/roles")
}

/// Opens the window on the sample project and in it the studio.
async fn open(desktop: &Desktop, folders: &Folders, scheme: Scheme) -> Window {
    let roles = folders.path().join("config/roles");
    std::fs::create_dir_all(&roles).unwrap();
    std::fs::write(roles.join("by-hand.md"), BY_HAND).unwrap();
    let window = desktop.open(folders, scheme).await;
    window.press_where(&Query { role: "button", containing: Some("sample"), ..Query::default() }).await;
    window.find("textbox", "Message").await;
    window.press("Project").await;
    window.press_where(&menu_item("Roles")).await;
    window.find_where(&button("verify", "Built-in")).await;
    window
}

/// The file that the preview shows, without the lines that go.
async fn preview(window: &Window) -> String {
    let script = "return [...document.querySelectorAll(
        '[aria-label=\"File preview\"] [data-kind]:not([data-kind=removed]) code')].map((line) => line.textContent).join('\\n')";
    let text = window.client().execute(script, Vec::new()).await.unwrap();
    text.as_str().unwrap_or_default().to_owned()
}

async fn wait_for_preview(window: &Window, wanted: &[&str]) -> String {
    window
        .wait(&format!("a preview with {wanted:?}"), async || {
            let text = preview(window).await;
            wanted.iter().all(|piece| text.contains(piece)).then_some(text)
        })
        .await
}

/// Saves and waits until the file is as the page shows it.
async fn save(window: &Window) {
    window.press("Save").await;
    window.wait_for_text(&region("File preview"), "as on disk").await;
}

async fn file(window: &Window, path: &Path) -> String {
    window.wait(&path.display().to_string(), async || std::fs::read_to_string(path).ok()).await
}

async fn type_into(window: &Window, field: &Query<'_>, keys: &str) {
    window.find_where(field).await.send_keys(keys).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn roles_by_pointer() {
    let Some(desktop) = Desktop::start() else { return };
    let folders = Folders::default();
    let window = open(&desktop, &folders, Scheme::Light).await;
    window.picture("roles-board-light").await;

    // A role is made by dragging tools, and the file is what was shown.
    window.press("New role").await;
    window.press_where(&menu_item("From scratch")).await;
    type_into(&window, &textbox("Name"), "tester").await;
    window.press("Make it").await;
    window.drag(&button("Edit", "Tools"), &group("Ask")).await;
    window.find_where(&button("Edit", "Ask")).await;
    window.drag(&button("Write", "Tools"), &group("Denied")).await;
    window.find_where(&button("Write", "Denied")).await;
    window.drag(&button("Bash", "Tools"), &group("Allowed")).await;
    type_into(&window, &textbox("Rule for Bash"), &format!("cargo test *{ENTER}")).await;
    let wanted = ["name: tester", "tools: [Read, Grep, Glob, Edit, Bash(cargo test *)]", "disallowed_tools: [Write]"];
    let shown = wait_for_preview(&window, &wanted).await;
    window.picture("roles-editor-light").await;
    save(&window).await;
    let made = project_roles(&folders).join("tester.md");
    assert_eq!(file(&window, &made).await, format!("{shown}\n"));
    window.press("Back to the roles").await;

    // A built-in one is overridden by dragging its card.
    window.drag(&button("verify", "Built-in"), &region("Project")).await;
    window.find_where(&button("verify", "Project")).await;
    let copy = file(&window, &project_roles(&folders).join("verify.md")).await;
    assert_eq!(copy, include_str!("../../agents/roles/verify.md"));
    window.wait_for_text(&region("Built-in"), "Overridden by Project").await;

    // Of a file written by hand nothing changes but what was meant.
    window.press_where(&button("by-hand", "User")).await;
    wait_for_preview(&window, &["x_custom"]).await;
    window.drag(&button("Bash", "Tools"), &group("Ask")).await;
    wait_for_preview(&window, &["  - Bash"]).await;
    save(&window).await;
    let path = folders.path().join("config/roles/by-hand.md");
    assert_eq!(file(&window, &path).await, BY_HAND.replace("  - Grep\r\n", "  - Grep\r\n  - Bash\r\n"));

    // Another program changes it while it is being changed here: neither side is lost.
    window.drag(&button("Glob", "Tools"), &group("Allowed")).await;
    wait_for_preview(&window, &["  - Glob"]).await;
    let theirs = BY_HAND.replace("Body without", "Theirs, without");
    std::fs::write(&path, &theirs).unwrap();
    window.wait_for_text(&region("Roles"), "The file was changed on disk.").await;
    assert_eq!(std::fs::read_to_string(&path).unwrap(), theirs);
    window.picture("roles-conflict-light").await;
    window.press("Put mine on top of theirs").await;
    wait_for_preview(&window, &["Theirs, without", "  - Glob"]).await;
    save(&window).await;
    assert!(
        file(&window, &path)
            .await
            .starts_with("---\r\n# do not rename, CI asks for it\r\nname:   by-hand   # odd spaces\r\n")
    );
    window.press("Back to the roles").await;

    // Dropped on the composer it starts an agent.
    let message = Query { role: "textbox", name: Some("Message"), ..Query::default() };
    window.drag(&button("tester", "Project"), &message).await;
    type_into(&window, &textbox("Brief"), &format!("Try the tests{ENTER}")).await;
    let agent =
        Query { role: "treeitem", containing: Some("Try the tests"), within: Some("Agents"), ..Query::default() };
    window.find_where(&agent).await;
    window.picture("roles-started-light").await;

    // Tried, it has a session of its own.
    window.press("Project").await;
    window.press_where(&menu_item("Roles")).await;
    window.press_where(&button("tester", "Project")).await;
    window.press("Try it").await;
    type_into(&window, &textbox("Brief"), &format!("Try it out{ENTER}")).await;
    let tried = Query { role: "treeitem", containing: Some("Try it out"), within: Some("Agents"), ..Query::default() };
    window.find_where(&tried).await;
    assert!(window.look(&agent).await.is_empty(), "the other session's agent is in the other session");
    window.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn roles_by_keyboard() {
    let Some(desktop) = Desktop::start() else { return };
    let folders = Folders::default();
    let window = open(&desktop, &folders, Scheme::Dark).await;

    type_into(&window, &button("New role", "Roles"), &ENTER.to_string()).await;
    type_into(&window, &menu_item("From scratch"), &ENTER.to_string()).await;
    type_into(&window, &textbox("Name"), &format!("tester{ENTER}")).await;
    // Allowed is the first target: one to the right is Ask, one to the left, around, Denied.
    type_into(&window, &button("Edit", "Tools"), &format!(" {RIGHT} ")).await;
    window.find_where(&button("Edit", "Ask")).await;
    type_into(&window, &button("Write", "Tools"), &format!(" {LEFT} ")).await;
    window.find_where(&button("Write", "Denied")).await;
    type_into(&window, &button("Bash", "Tools"), &format!(" {ENTER}")).await;
    type_into(&window, &textbox("Rule for Bash"), &format!("cargo test *{ENTER}")).await;
    let shown = wait_for_preview(&window, &["Edit, Bash(cargo test *)]", "disallowed_tools: [Write]"]).await;
    window.picture("roles-editor-dark").await;
    type_into(&window, &textbox("Role name"), &format!("{CONTROL}s")).await;
    let made = project_roles(&folders).join("tester.md");
    assert_eq!(file(&window, &made).await, format!("{shown}\n"));
    type_into(&window, &button("Back to the roles", "Roles"), &ENTER.to_string()).await;

    type_into(&window, &button("verify", "Built-in"), "  ").await;
    window.find_where(&button("verify", "Project")).await;
    let copy = file(&window, &project_roles(&folders).join("verify.md")).await;
    assert_eq!(copy, include_str!("../../agents/roles/verify.md"));

    type_into(&window, &button("by-hand", "User"), &ENTER.to_string()).await;
    wait_for_preview(&window, &["x_custom"]).await;
    type_into(&window, &button("Bash", "Tools"), &format!(" {RIGHT} ")).await;
    wait_for_preview(&window, &["  - Bash"]).await;
    type_into(&window, &textbox("Role name"), &format!("{CONTROL}s")).await;
    window.wait_for_text(&region("File preview"), "as on disk").await;
    let path = folders.path().join("config/roles/by-hand.md");
    assert_eq!(file(&window, &path).await, BY_HAND.replace("  - Grep\r\n", "  - Grep\r\n  - Bash\r\n"));
    type_into(&window, &button("Back to the roles", "Roles"), &ENTER.to_string()).await;
    window.picture("roles-board-dark").await;

    // Of a project's card the targets are User, the message, the tree.
    type_into(&window, &button("tester", "Project"), &format!(" {RIGHT} ")).await;
    type_into(&window, &textbox("Brief"), &format!("Try the tests{ENTER}")).await;
    let agent =
        Query { role: "treeitem", containing: Some("Try the tests"), within: Some("Agents"), ..Query::default() };
    window.find_where(&agent).await;
    window.close().await;
}

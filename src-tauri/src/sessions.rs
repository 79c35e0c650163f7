//! `offshoot sessions` and `offshoot tree`: what is stored, as lists and as a tree.

use std::collections::BTreeMap;
use std::process::ExitCode;

use anyhow::Context;
use offshoot_agents::workbench::Workbench;
use offshoot_protocol::{
    AgentId, AgentKind, AgentView, Command, PriceList, SessionId, SessionSummary, Snapshot, Timestamp, WorktreeState,
};
use serde::Serialize;

use crate::activity::state_word;
use crate::arguments::{FolderArguments, Misused, SessionsArguments, SessionsWish, TreeArguments};
use crate::console::{Console, Painted, Tone, cut};
use crate::costs::{self, AgentSums, Sum};
use crate::surroundings::Surroundings;
use crate::workplace;

/// Lists, shows, renames or deletes.
pub(crate) async fn run(
    arguments: &SessionsArguments,
    folders: &FolderArguments,
    console: &mut Console,
) -> anyhow::Result<ExitCode> {
    let workbench = workplace::look(&Surroundings::read(folders)?, console).await?;
    let done = match &arguments.wish {
        None | Some(SessionsWish::List) => list(&workbench, arguments.json, console),
        Some(SessionsWish::Show { id }) => show(&workbench, id, arguments.json, console).await,
        Some(SessionsWish::Rename { id, title }) => rename(&workbench, id, title, arguments.json, console).await,
        Some(SessionsWish::Delete { id }) => delete(&workbench, id, arguments.json, console).await,
    };
    workbench.shut_down().await;
    done.map(|()| ExitCode::SUCCESS)
}

/// Draws a session's tree.
pub(crate) async fn tree(
    arguments: &TreeArguments,
    folders: &FolderArguments,
    console: &mut Console,
) -> anyhow::Result<ExitCode> {
    let workbench = workplace::look(&Surroundings::read(folders)?, console).await?;
    let drawn = draw(&workbench, &arguments.id, arguments.json, console).await;
    workbench.shut_down().await;
    drawn.map(|()| ExitCode::SUCCESS)
}

/// The session whose id is `text` or begins with it.
pub(crate) fn find(workbench: &Workbench, text: &str) -> anyhow::Result<SessionId> {
    let sessions = workbench.sessions()?;
    Ok(one_of(&sessions, text)?)
}

/// The agent whose id is `text` or begins with it, or whose worktree `text` is a path in; with its session.
pub(crate) async fn find_agent(workbench: &Workbench, text: &str) -> anyhow::Result<(SessionId, AgentView)> {
    let path = std::path::Path::new(text).canonicalize().ok();
    let mut found = Vec::new();
    for summary in workbench.sessions()? {
        for agent in workbench.snapshot(&summary.id).await?.session.agents {
            let is_inside = |path: &std::path::PathBuf| {
                agent.worktree.as_ref().is_some_and(|worktree| path.starts_with(&worktree.path))
            };
            if agent.id.as_str() == text || path.as_ref().is_some_and(is_inside) {
                return Ok((summary.id, agent));
            }
            if !text.is_empty() && agent.id.as_str().starts_with(text) {
                found.push((summary.id.clone(), agent));
            }
        }
    }
    let count = found.len();
    match found.pop() {
        Some(only) if count == 1 => Ok(only),
        None => Err(Misused(format!("there is no agent “{text}”; `offshoot tree ID` lists a session's")).into()),
        Some(_) => Err(Misused(format!("“{text}” begins the ids of {count} agents; write more of it")).into()),
    }
}

fn one_of(sessions: &[SessionSummary], text: &str) -> Result<SessionId, Misused> {
    let matching: Vec<_> = sessions.iter().filter(|session| session.id.as_str().starts_with(text)).collect();
    match (text, matching.as_slice()) {
        ("", _) | (_, []) => Err(Misused(format!("there is no session “{text}”; `offshoot sessions` lists them"))),
        (_, [only]) => Ok(only.id.clone()),
        (_, several) => {
            let exact = several.iter().find(|session| session.id.as_str() == text);
            let vague = || Misused(format!("“{text}” begins the ids of {} sessions; write more of it", several.len()));
            exact.map(|session| session.id.clone()).ok_or_else(vague)
        }
    }
}

fn list(workbench: &Workbench, json: bool, console: &mut Console) -> anyhow::Result<()> {
    let mut sessions = workbench.sessions()?;
    sessions.sort_by_key(|session| std::cmp::Reverse(session.updated_at));
    if json {
        return print_json(console, &sessions);
    }
    if sessions.is_empty() {
        console.note("No sessions yet. `offshoot` opens the window, `offshoot exec` runs a prompt here.");
    }
    for session in &sessions {
        let pieces = [
            console.painted(session.id.as_str(), Tone::Strong),
            Painted::plain(&moment(session.updated_at)),
            Painted::plain(&cut(&session.title, 60)),
            console.painted(&session.project, Tone::Faint),
        ];
        console.print_pieces(&spaced(pieces))?;
    }
    Ok(())
}

async fn show(workbench: &Workbench, id: &str, json: bool, console: &mut Console) -> anyhow::Result<()> {
    let snapshot = workbench.snapshot(&find(workbench, id)?).await?;
    if json {
        return print_json(console, &snapshot);
    }
    let session = &snapshot.session;
    let rows = [
        ("Session", session.id.to_string()),
        ("Title", session.title.clone()),
        ("Project", session.project.clone()),
        ("Began", moment(session.created_at)),
        ("Agents", session.agents.len().to_string()),
        ("Requests", session.requests.len().to_string()),
        ("Used", Sum::of(&session.agents, &workbench.prices()).to_string()),
    ];
    for (name, value) in rows {
        let pieces = [console.painted(name, Tone::Faint), Painted::plain(&value)];
        console.print_pieces(&spaced(pieces))?;
    }
    Ok(())
}

async fn rename(workbench: &Workbench, id: &str, title: &str, json: bool, console: &mut Console) -> anyhow::Result<()> {
    let session = find(workbench, id)?;
    workbench.command(&session, Command::Rename { title: title.to_owned() }).await?;
    if json {
        return print_json(console, &serde_json::json!({"renamed": session}));
    }
    console.note(&format!("Renamed {session}."));
    Ok(())
}

async fn delete(workbench: &Workbench, id: &str, json: bool, console: &mut Console) -> anyhow::Result<()> {
    let session = find(workbench, id)?;
    let agents = workbench.snapshot(&session).await?.session.agents;
    workbench.delete_session(&session).await?;
    if json {
        return print_json(console, &serde_json::json!({"deleted": session}));
    }
    console.note(&format!("Deleted {session}."));
    // What is in them may be nowhere else, so the person takes them away.
    let worktrees = agents.iter().filter_map(|agent| agent.worktree.as_ref());
    for kept in worktrees.filter(|worktree| worktree.state == WorktreeState::Live) {
        console.note(&format!("Kept: {} on branch {}; `git worktree remove` takes it away.", kept.path, kept.branch));
    }
    Ok(())
}

async fn draw(workbench: &Workbench, id: &str, json: bool, console: &mut Console) -> anyhow::Result<()> {
    let snapshot = workbench.snapshot(&find(workbench, id)?).await?;
    let prices = workbench.prices();
    for warning in &prices.warnings {
        console.note(&format!("offshoot: {warning}"));
    }
    if json {
        let costs = costs::by_agent(&snapshot.session.agents, &prices);
        return print_json(console, &Priced { snapshot, costs });
    }
    for row in rows(&snapshot) {
        let (state, tone) = state_word(&row.agent.state);
        let pieces = [
            Painted::drawn(&row.stem),
            console.painted(&row.agent.title, Tone::Strong),
            Painted::plain(row.kind),
            console.painted(state, tone),
            console.painted(&figures(row.agent, &prices), Tone::Faint),
            console.painted(row.agent.id.as_str(), Tone::Faint),
        ];
        console.print_pieces(&spaced(pieces))?;
        for missed in &row.agent.misses {
            let pieces = [Painted::drawn("   "), console.painted(&costs::miss(missed), Tone::Faint)];
            console.print_pieces(&spaced(pieces))?;
        }
    }
    let all = &snapshot.session.agents;
    if all.len() > 1 {
        let pieces = [console.painted("together", Tone::Faint), Painted::plain(&Sum::of(all, &prices).to_string())];
        console.print_pieces(&spaced(pieces))?;
    }
    Ok(())
}

/// A session with what its agents cost.
#[derive(Serialize)]
struct Priced {
    #[serde(flatten)]
    snapshot: Snapshot,
    /// By agent.
    costs: BTreeMap<String, AgentSums>,
}

/// A row of the drawn tree.
struct Row<'a> {
    stem: String,
    agent: &'a AgentView,
    kind: &'static str,
}

fn rows(snapshot: &Snapshot) -> Vec<Row<'_>> {
    let mut rows = Vec::new();
    let agents = &snapshot.session.agents;
    if let Some(root) = agents.first() {
        rows.push(Row { stem: String::new(), agent: root, kind: "root" });
        branch(agents, &root.id, "", &mut rows);
    }
    rows
}

fn branch<'a>(agents: &'a [AgentView], parent: &AgentId, stem: &str, rows: &mut Vec<Row<'a>>) {
    let children: Vec<_> = agents.iter().filter(|agent| agent.parent.as_ref() == Some(parent)).collect();
    for (at, child) in children.iter().enumerate() {
        let is_last = at + 1 == children.len();
        let (fork, below) = if is_last { ("└─", "   ") } else { ("├─", "│  ") };
        let kind = match child.kind {
            AgentKind::Root => "root",
            AgentKind::Fork => "fork",
            AgentKind::Subagent => "subagent",
            AgentKind::Teammate => "teammate",
        };
        rows.push(Row { stem: format!("{stem}{fork}"), agent: child, kind });
        branch(agents, &child.id, &format!("{stem}{below}"), rows);
    }
}

fn figures(agent: &AgentView, prices: &PriceList) -> String {
    let changes = agent.changes.filter(|changes| changes.files > 0).map_or(String::new(), |changes| {
        format!(", {} changed (+{} -{})", changes.files, changes.added, changes.removed)
    });
    format!("{}{changes}", Sum::of([agent], prices))
}

/// To the minute, in the machine's time zone.
fn moment(at: Timestamp) -> String {
    at.to_zoned_datetime(jiff::tz::TimeZone::system()).strftime("%Y-%m-%d %H:%M").to_string()
}

/// Pieces with a blank between them.
pub(crate) fn spaced<const N: usize>(pieces: [Painted; N]) -> Vec<Painted> {
    let mut row = Vec::with_capacity(2 * N);
    for piece in pieces.into_iter().filter(|piece| !piece.is_empty()) {
        if !row.is_empty() {
            row.push(Painted::drawn(" "));
        }
        row.push(piece);
    }
    row
}

pub(crate) fn print_json(console: &mut Console, value: &impl Serialize) -> anyhow::Result<()> {
    let text = serde_json::to_string_pretty(value).context("the result could not be written as JSON")?;
    console.print(&text).context("standard output could not be written")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn summary(id: &str) -> SessionSummary {
        SessionSummary {
            id: id.into(),
            title: String::new(),
            project: String::new(),
            created_at: Timestamp::UNIX_EPOCH,
            updated_at: Timestamp::UNIX_EPOCH,
        }
    }

    #[test]
    fn a_short_id_must_name_one_session() {
        let sessions = [summary("s-ab"), summary("s-abc"), summary("s-x")];
        assert_eq!(one_of(&sessions, "s-x").unwrap().as_str(), "s-x");
        assert_eq!(one_of(&sessions, "s-ab").unwrap().as_str(), "s-ab", "an exact id wins");
        for vague in ["s-a", "s-", "", "nothing"] {
            assert!(one_of(&sessions, vague).is_err(), "{vague}");
        }
    }
}

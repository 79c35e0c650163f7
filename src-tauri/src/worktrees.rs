//! `offshoot worktrees`: what agents' worktrees there are, and putting them away.

use std::process::ExitCode;

use offshoot_agents::workbench::Workbench;
use offshoot_agents::worktree::{Listed, Standing};
use offshoot_protocol::Command;
use serde::Serialize;

use crate::arguments::{FolderArguments, WorktreesArguments, WorktreesWish};
use crate::console::{Console, Painted, Tone};
use crate::sessions::{find_agent, print_json, spaced};
use crate::surroundings::Surroundings;
use crate::workplace::{self, Choice};

/// Lists, archives, restores, discards or repairs.
pub(crate) async fn run(
    arguments: &WorktreesArguments,
    folders: &FolderArguments,
    console: &mut Console,
) -> anyhow::Result<ExitCode> {
    let workbench = workplace::open(&Surroundings::read(folders)?, Choice::default()).await?;
    let done = carry_out(&workbench, arguments, console).await;
    workbench.shut_down().await;
    done.map(|()| ExitCode::SUCCESS)
}

async fn carry_out(workbench: &Workbench, arguments: &WorktreesArguments, console: &mut Console) -> anyhow::Result<()> {
    match &arguments.wish {
        None | Some(WorktreesWish::List) => {
            let listed = workbench.worktrees().list().await?;
            list(console, &listed, arguments.json)
        }
        Some(WorktreesWish::Repair) => {
            let listed = workbench.worktrees().repair().await?;
            workbench.worktrees().settle().await;
            list(console, &listed, arguments.json)
        }
        Some(WorktreesWish::Archive { agent }) => {
            wish(workbench, agent, |agent| Command::ArchiveWorktree { agent }, arguments.json, console).await
        }
        Some(WorktreesWish::Discard { agent }) => {
            wish(workbench, agent, |agent| Command::DiscardWorktree { agent }, arguments.json, console).await
        }
        Some(WorktreesWish::Restore { agent }) => {
            wish(workbench, agent, |agent| Command::RestoreWorktree { agent }, arguments.json, console).await
        }
    }
}

async fn wish(
    workbench: &Workbench,
    agent: &str,
    command: impl FnOnce(offshoot_protocol::AgentId) -> Command,
    json: bool,
    console: &mut Console,
) -> anyhow::Result<()> {
    let (session, agent) = find_agent(workbench, agent).await?;
    workbench.command(&session, command(agent.id.clone())).await?;
    workbench.worktrees().settle().await;
    let snapshot = workbench.snapshot(&session).await?;
    let now = snapshot.session.agents.into_iter().find(|other| other.id == agent.id);
    let worktree = now.and_then(|agent| agent.worktree);
    if json {
        return print_json(console, &worktree);
    }
    if let Some(worktree) = worktree {
        let text = match worktree.state {
            offshoot_protocol::WorktreeState::Live => format!("{} is there again.", worktree.path),
            offshoot_protocol::WorktreeState::Removed { kept_as } => {
                format!("Kept as {}.", kept_as.as_deref().unwrap_or("nothing"))
            }
        };
        console.note(&text);
    }
    Ok(())
}

/// One worktree, for programs.
#[derive(Serialize)]
struct Row<'a> {
    path: String,
    agent: Option<&'a str>,
    branch: Option<&'a str>,
    base: Option<&'a str>,
    standing: &'static str,
    reason: Option<&'a str>,
}

impl<'a> Row<'a> {
    fn of(listed: &'a Listed) -> Self {
        let (standing, reason) = match &listed.standing {
            Standing::Live => ("live", None),
            Standing::Unfinished => ("unfinished", None),
            Standing::Missing { reason } => ("missing", Some(reason.as_str())),
            Standing::Unknown => ("unknown", None),
        };
        let worktree = listed.worktree.as_ref();
        Self {
            path: listed.path.display().to_string(),
            agent: worktree.map(|worktree| worktree.id.as_str()),
            branch: worktree.map(|worktree| worktree.branch.as_str()),
            base: worktree.map(|worktree| worktree.base.as_str()),
            standing,
            reason,
        }
    }
}

fn list(console: &mut Console, listed: &[Listed], json: bool) -> anyhow::Result<()> {
    let rows: Vec<Row<'_>> = listed.iter().map(Row::of).collect();
    if json {
        return print_json(console, &rows);
    }
    if rows.is_empty() {
        console.note("No worktrees.");
    }
    for row in &rows {
        let tone = if row.standing == "live" { Tone::Good } else { Tone::Warning };
        let pieces = [
            console.painted(row.agent.unwrap_or("-"), Tone::Strong),
            console.painted(row.standing, tone),
            Painted::plain(row.branch.unwrap_or("-")),
            console.painted(&row.path, Tone::Faint),
        ];
        console.print_pieces(&spaced(pieces))?;
    }
    Ok(())
}

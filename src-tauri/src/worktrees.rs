//! `offshoot worktrees`: what agents' worktrees there are, on the disk and in archives, and putting them away.

use std::path::Path;
use std::process::ExitCode;

use anyhow::Context as _;
use offshoot_agents::trust::Project;
use offshoot_agents::workbench::Workbench;
use offshoot_agents::worktree::{Kept, Listed, Mended, Standing, Worktree};
use offshoot_protocol::{AgentId, AgentView, Command, SessionId, Timestamp, WorktreeState};
use serde::Serialize;

use crate::arguments::{FolderArguments, Misused, WorktreesArguments, WorktreesWish};
use crate::console::{Console, Painted, Tone};
use crate::sessions::{find_agent, print_json, spaced};
use crate::surroundings::Surroundings;
use crate::workplace::{self, Choice};

/// How many GB worktrees may take where nothing is set: a few of a large project, build folders included.
const BUDGET: u64 = 20;

/// In bytes.
const GIGABYTE: u64 = 1_000_000_000;

/// Lists, archives, restores, discards or repairs.
pub(crate) async fn run(
    arguments: &WorktreesArguments,
    folders: &FolderArguments,
    console: &mut Console,
) -> anyhow::Result<ExitCode> {
    let surroundings = Surroundings::read(folders)?;
    let here = workplace::folder(Path::new(".")).map_err(|error| Misused(error.to_string()))?;
    let project = Project::open(&here, &surroundings.config_dir, &surroundings.home);
    let budget = project.loaded.worktree.budget.unwrap_or(BUDGET).saturating_mul(GIGABYTE);
    let workbench = workplace::open(&surroundings, Choice::default()).await?;
    let done = carry_out(&workbench, arguments, budget, console).await;
    workbench.shut_down().await;
    done.map(|()| ExitCode::SUCCESS)
}

async fn carry_out(
    workbench: &Workbench,
    arguments: &WorktreesArguments,
    budget: u64,
    console: &mut Console,
) -> anyhow::Result<()> {
    let json = arguments.json;
    match &arguments.wish {
        None | Some(WorktreesWish::List) => {
            let rows = rows(workbench, &workbench.worktrees().list().await?).await?;
            if json { print_json(console, &rows) } else { list(console, &rows, budget) }
        }
        Some(WorktreesWish::Repair) => {
            let repaired = workbench.worktrees().repair().await?;
            workbench.worktrees().settle().await;
            let rows = rows(workbench, &repaired.there).await?;
            let done: Vec<String> = repaired.done.iter().map(words_of).collect();
            if json {
                return print_json(console, &serde_json::json!({"done": done, "worktrees": rows}));
            }
            if done.is_empty() {
                console.note("Nothing had to be put right.");
            }
            for line in done {
                console.note(&line);
            }
            list(console, &rows, budget)
        }
        Some(WorktreesWish::Archive { agent }) => put_away(workbench, agent, Keep::Forever, json, console).await,
        Some(WorktreesWish::Discard { agent }) => put_away(workbench, agent, Keep::ForAWhile, json, console).await,
        Some(WorktreesWish::Restore { agent }) => restore(workbench, agent, json, console).await,
    }
}

#[derive(Clone, Copy)]
enum Keep {
    Forever,
    ForAWhile,
}

/// Whom a person means: an agent that some session knows, or what is left of one whose session is deleted.
enum Meant<T> {
    InSession(SessionId, Box<AgentView>),
    LeftBehind(T),
}

/// Finds it by its id, the beginning of that, or a path; the session first, since it is told.
async fn meant<T>(
    workbench: &Workbench,
    text: &str,
    left_behind: Vec<T>,
    id: impl Fn(&T) -> &str,
) -> anyhow::Result<Meant<T>> {
    let in_session = find_agent(workbench, text).await;
    let mut fitting: Vec<T> = left_behind.into_iter().filter(|left| id(left).starts_with(text)).collect();
    match (in_session, fitting.len()) {
        (Ok((session, agent)), _) => Ok(Meant::InSession(session, Box::new(agent))),
        (Err(_), 1) if !text.is_empty() => Ok(Meant::LeftBehind(fitting.remove(0))),
        (Err(_), several @ 2..) if !text.is_empty() => {
            Err(Misused(format!("“{text}” begins the ids of {several} agents; write more of it")).into())
        }
        (Err(error), _) => Err(error),
    }
}

async fn put_away(
    workbench: &Workbench,
    text: &str,
    keep: Keep,
    json: bool,
    console: &mut Console,
) -> anyhow::Result<()> {
    let live: Vec<Worktree> = workbench.worktrees().list().await?.into_iter().filter_map(|row| row.worktree).collect();
    let path = Path::new(text).canonicalize().ok();
    let by_path = live.iter().find(|worktree| path.as_ref().is_some_and(|path| path.starts_with(worktree.path())));
    let text = by_path.map_or(text, |worktree| worktree.id.as_str()).to_owned();
    let agent = match meant(workbench, &text, live, |worktree| worktree.id.as_str()).await? {
        Meant::InSession(session, agent) => {
            let id = agent.id.clone();
            let command = match keep {
                Keep::Forever => Command::ArchiveWorktree { agent: id },
                Keep::ForAWhile => Command::DiscardWorktree { agent: id },
            };
            workbench.command(&session, command).await?;
            agent.id
        }
        Meant::LeftBehind(worktree) => {
            match keep {
                Keep::Forever => workbench.worktrees().archive(&worktree).await?,
                Keep::ForAWhile => workbench.worktrees().discard(&worktree).await?,
            };
            AgentId(worktree.id)
        }
    };
    workbench.worktrees().settle().await;
    let kept = workbench.worktrees().all_archives().await?;
    let newest =
        kept.into_iter().filter(|kept| kept.archived.id == agent.0).max_by_key(|kept| kept.archived.archived_at);
    let kept = newest.context("the worktree was put away, but its archive isn't to be found")?;
    if json {
        return print_json(console, &Row::of_archive(&kept));
    }
    let until = match kept.archived.expires_at {
        Some(time) => format!(" until {}, then it is deleted", day(time)),
        None => String::new(),
    };
    console.note(&format!(
        "Everything in it is kept as {}{until}. `offshoot worktrees restore {agent}` brings it back.",
        kept.archived.reference
    ));
    Ok(())
}

async fn restore(workbench: &Workbench, text: &str, json: bool, console: &mut Console) -> anyhow::Result<()> {
    let mut archives = workbench.worktrees().all_archives().await?;
    // Of several archives of one agent the newest is meant.
    archives.sort_by(|a, b| (&a.archived.id, b.archived.archived_at).cmp(&(&b.archived.id, a.archived.archived_at)));
    archives.dedup_by(|a, b| a.archived.id == b.archived.id);
    let path = match meant(workbench, text, archives, |kept| kept.archived.id.as_str()).await? {
        Meant::InSession(session, agent) => {
            workbench.command(&session, Command::RestoreWorktree { agent: agent.id.clone() }).await?;
            let snapshot = workbench.snapshot(&session).await?;
            let now = snapshot.session.agents.into_iter().find(|other| other.id == agent.id);
            let worktree = now.and_then(|agent| agent.worktree).filter(|it| it.state == WorktreeState::Live);
            worktree.context("the worktree isn't there")?.path
        }
        Meant::LeftBehind(Kept { repository, archived }) => {
            let project = repository.top_level.as_deref().unwrap_or(&repository.common_dir);
            let trust = workbench.git_trust(project);
            let made = workbench.worktrees().restore(&repository, trust, &archived.reference, None).await?;
            made.path().display().to_string()
        }
    };
    if json {
        return print_json(console, &serde_json::json!({"path": path}));
    }
    console.note(&format!("{path} is there again."));
    Ok(())
}

/// One worktree, for programs.
#[derive(Serialize)]
struct Row {
    /// Where it is; of an archive, its ref.
    path: String,
    agent: Option<String>,
    branch: Option<String>,
    base: Option<String>,
    standing: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    /// Bytes on disk.
    #[serde(skip_serializing_if = "Option::is_none")]
    bytes: Option<u64>,
    /// When an archive is deleted (UTC).
    #[serde(skip_serializing_if = "Option::is_none")]
    expires_at: Option<Timestamp>,
}

impl Row {
    fn of(listed: &Listed, bytes: Option<u64>) -> Self {
        let (standing, reason) = match &listed.standing {
            Standing::Live => ("live", None),
            Standing::Unfinished => ("unfinished", None),
            Standing::Missing { reason } => ("missing", Some(reason.clone())),
            Standing::Unknown => ("unknown", None),
        };
        let worktree = listed.worktree.as_ref();
        Self {
            path: listed.path.display().to_string(),
            agent: worktree.map(|worktree| worktree.id.clone()),
            branch: worktree.map(|worktree| worktree.branch.clone()),
            base: worktree.map(|worktree| worktree.base.clone()),
            standing,
            reason,
            bytes,
            expires_at: None,
        }
    }

    fn of_archive(Kept { archived, .. }: &Kept) -> Self {
        Self {
            path: archived.reference.clone(),
            agent: Some(archived.id.clone()),
            branch: Some(archived.branch.clone()),
            base: Some(archived.base.clone()),
            standing: if archived.expires_at.is_some() { "discarded" } else { "archived" },
            reason: None,
            bytes: None,
            expires_at: archived.expires_at,
        }
    }
}

/// Those on the disk, and then the archives.
async fn rows(workbench: &Workbench, listed: &[Listed]) -> anyhow::Result<Vec<Row>> {
    let mut rows = Vec::new();
    for listed in listed {
        let bytes = match (&listed.worktree, &listed.standing) {
            (Some(worktree), Standing::Live) => Some(workbench.worktrees().disk_use(worktree).await?),
            _ => None,
        };
        rows.push(Row::of(listed, bytes));
    }
    rows.extend(workbench.worktrees().all_archives().await?.iter().map(Row::of_archive));
    Ok(rows)
}

fn list(console: &mut Console, rows: &[Row], budget: u64) -> anyhow::Result<()> {
    if rows.is_empty() {
        console.note("No worktrees.");
    }
    for row in rows {
        let tone = match row.standing {
            "live" => Tone::Good,
            "archived" | "discarded" => Tone::Faint,
            _ => Tone::Warning,
        };
        let size = row.bytes.map_or(String::new(), size);
        let until = row.expires_at.map_or(String::new(), |time| format!("until {}", day(time)));
        let pieces = [
            console.painted(row.agent.as_deref().unwrap_or("-"), Tone::Strong),
            console.painted(row.standing, tone),
            Painted::plain(&size),
            Painted::plain(&until),
            Painted::plain(row.branch.as_deref().unwrap_or("-")),
            console.painted(&row.path, Tone::Faint),
        ];
        console.print_pieces(&spaced(pieces))?;
        if let Some(reason) = &row.reason {
            console.print_pieces(&[console.painted(&format!("  {reason}"), Tone::Faint)])?;
        }
    }
    let live: Vec<(&str, u64)> = rows.iter().filter_map(|row| Some((row.agent.as_deref()?, row.bytes?))).collect();
    if let Some(words) = sum(live, budget) {
        console.note(&words);
    }
    Ok(())
}

/// What all worktrees take, and which could be archived first where that is more than it may be. Nothing to add up for one
/// that is within the budget. None is at work: whoever reads this has the data folder alone.
fn sum(mut live: Vec<(&str, u64)>, budget: u64) -> Option<String> {
    /// How many are named.
    const NAMED: usize = 5;
    let all: u64 = live.iter().map(|(_, bytes)| bytes).sum();
    if all <= budget && live.len() < 2 {
        return None;
    }
    let total = format!("{} worktrees take {}", live.len(), size(all));
    if all <= budget {
        return Some(format!("{total}."));
    }
    live.sort_by_key(|(_, bytes)| std::cmp::Reverse(*bytes));
    let named = live.iter().take(NAMED).map(|(agent, bytes)| format!("{agent} ({})", size(*bytes)));
    let named = named.collect::<Vec<_>>().join(", ");
    Some(format!(
        "{total}, more than the {} of the setting `worktree.budget`. Archiving frees their folders: {named}.",
        size(budget)
    ))
}

fn words_of(mended: &Mended) -> String {
    match mended {
        Mended::Undone(path) => format!("Undone, since it was half made: {}", path.display()),
        Mended::Removed(path) => format!("Removed, as it was to be when the program ended: {}", path.display()),
        Mended::KeptAfterAll(path) => format!("Whole after all, its removal had not begun: {}", path.display()),
        Mended::Unlocked(path) => format!("Removed, the lock of a process that is dead: {}", path.display()),
        Mended::Emptied(path) => format!("Deleted, as it had been thrown away: {}", path.display()),
    }
}

/// A date, without the time of the day.
fn day(time: Timestamp) -> String {
    time.to_string().chars().take_while(|letter| *letter != 'T').collect()
}

/// Bytes for people.
fn size(bytes: u64) -> String {
    let (unit, name) = match bytes {
        0..1_000_000 => (1_000, "KB"),
        1_000_000..1_000_000_000 => (1_000_000, "MB"),
        _ => (1_000_000_000, "GB"),
    };
    let tenths = (bytes * 10).div_ceil(unit);
    if tenths >= 100 {
        format!("{} {name}", tenths.div_ceil(10))
    } else {
        format!("{}.{} {name}", tenths / 10, tenths % 10)
    }
}

#[cfg(test)]
mod tests {
    use super::{size, sum};

    #[test]
    fn what_is_over_the_budget_is_named_the_largest_first() {
        assert_eq!(sum(vec![("a-1", 5)], 10), None);
        assert_eq!(sum(vec![("a-1", 5_000), ("a-2", 4_000)], 10_000).unwrap(), "2 worktrees take 9.0 KB.");
        let over = sum(vec![("a-1", 5_000), ("a-2", 9_000)], 10_000).unwrap();
        assert!(over.contains("14 KB, more than the 10 KB") && over.ends_with("a-2 (9.0 KB), a-1 (5.0 KB)."), "{over}");
    }

    #[test]
    fn sizes_are_short() {
        assert_eq!(size(0), "0.0 KB");
        assert_eq!(size(4_096), "4.1 KB");
        assert_eq!(size(12_345_678), "13 MB");
        assert_eq!(size(3_200_000_000), "3.2 GB");
    }
}

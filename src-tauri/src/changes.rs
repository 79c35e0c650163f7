//! `offshoot changes`, `offshoot merge` and `offshoot conflicts`: review without a window.

use std::process::ExitCode;

use anyhow::Context;
use offshoot_agents::workbench::Workbench;
use offshoot_protocol::{
    AgentId, AppliedView, ChangeKind, ChangedFile, FileDiff, LineKind, MergeHow, MergePreview, MergeSelection,
    SessionId,
};

use crate::arguments::{ChangesArguments, ConflictsArguments, FolderArguments, HowArgument, MergeArguments, Misused};
use crate::console::{Console, Painted, Tone};
use crate::sessions::{find, find_agent, print_json, spaced};
use crate::surroundings::Surroundings;
use crate::workplace::{self, Choice};

/// Shows what an agent changed.
pub(crate) async fn run(
    arguments: &ChangesArguments,
    folders: &FolderArguments,
    console: &mut Console,
) -> anyhow::Result<ExitCode> {
    let workbench = workplace::open(&Surroundings::read(folders)?, Choice::default()).await?;
    let shown = show(&workbench, arguments, console).await;
    workbench.shut_down().await;
    shown.map(|()| ExitCode::SUCCESS)
}

/// Brings changes home.
pub(crate) async fn merge(
    arguments: &MergeArguments,
    folders: &FolderArguments,
    console: &mut Console,
) -> anyhow::Result<ExitCode> {
    let workbench = workplace::open(&Surroundings::read(folders)?, Choice::default()).await?;
    let done = bring_home(&workbench, arguments, console).await;
    workbench.shut_down().await;
    done
}

/// Shows which worktrees don't go together.
pub(crate) async fn conflicts(
    arguments: &ConflictsArguments,
    folders: &FolderArguments,
    console: &mut Console,
) -> anyhow::Result<ExitCode> {
    let workbench = workplace::open(&Surroundings::read(folders)?, Choice::default()).await?;
    let shown = list_conflicts(&workbench, arguments, console).await;
    workbench.shut_down().await;
    shown.map(|()| ExitCode::SUCCESS)
}

async fn show(workbench: &Workbench, arguments: &ChangesArguments, console: &mut Console) -> anyhow::Result<()> {
    let (session, agent) = find_agent(workbench, &arguments.agent).await?;
    let summary = workbench.changes(&session, &agent.id).await?;
    if arguments.hunks {
        let mut diffs = Vec::new();
        for file in &summary.files {
            diffs.push(workbench.file_diff(&session, &agent.id, &file.path, true).await?);
        }
        if arguments.json {
            return print_json(console, &diffs);
        }
        return diffs.iter().try_for_each(|diff| print_diff(console, diff));
    }
    if arguments.json {
        return print_json(console, &summary);
    }
    if summary.files.is_empty() {
        console.note("Nothing has changed.");
    }
    print_files(console, &summary.files)
}

async fn bring_home(
    workbench: &Workbench,
    arguments: &MergeArguments,
    console: &mut Console,
) -> anyhow::Result<ExitCode> {
    if arguments.undo {
        return undo(workbench, &arguments.agents, console).await;
    }
    let (session, agents) = wanted(workbench, &arguments.agents).await?;
    let selection = if !arguments.files.is_empty() {
        MergeSelection::Files { paths: arguments.files.clone() }
    } else if !arguments.hunks.is_empty() {
        MergeSelection::Hunks { hashes: arguments.hunks.clone() }
    } else if arguments.accepted {
        MergeSelection::Accepted
    } else {
        MergeSelection::All
    };
    let preview = workbench.merge_preview(&session, &agents, selection).await?;
    if !preview.unknown.is_empty() {
        return Err(Misused(format!("not among the changes: {}", preview.unknown.join(", "))).into());
    }
    if arguments.dry_run {
        print_preview(console, &preview, arguments.json)?;
        return Ok(if preview.conflicts.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE });
    }
    if !preview.conflicts.is_empty() && !arguments.skip_conflicts {
        print_preview(console, &preview, arguments.json)?;
        console.note("offshoot: there are conflicts; nothing was touched. `--skip-conflicts` leaves these files out.");
        return Ok(ExitCode::FAILURE);
    }
    let how = match arguments.how.unwrap_or(HowArgument::Apply) {
        HowArgument::Patch => {
            let patch = workbench.merge_patch(&session, &preview.merge).await?;
            // Git takes no other encoding than the files'; what isn't text is encoded in the patch.
            let patch = String::from_utf8(patch).context("the patch holds text that isn't UTF-8")?;
            if let Some(patch) = patch.strip_suffix('\n') {
                console.print(patch)?;
            }
            return Ok(ExitCode::SUCCESS);
        }
        HowArgument::Apply => MergeHow::Apply,
        HowArgument::Merge => MergeHow::Merge { message: arguments.message.clone().unwrap_or_default() },
        HowArgument::Rebase => MergeHow::Rebase,
        HowArgument::CherryPick => MergeHow::CherryPick,
        HowArgument::Squash => MergeHow::Squash { message: arguments.message.clone().unwrap_or_default() },
    };
    let done = workbench.merge_apply(&session, &preview.merge, arguments.skip_conflicts, how).await?;
    if arguments.json {
        print_json(console, &done)?;
        return Ok(ExitCode::SUCCESS);
    }
    print_files(console, &preview.files)?;
    let commit = done.commit.as_ref().map_or(String::new(), |commit| format!(" as commit {commit}"));
    console.note(&format!("Applied {} files to {}{commit}.", done.count.files, preview.target));
    Ok(ExitCode::SUCCESS)
}

/// Takes out again what was brought home last of an agent's changes.
async fn undo(workbench: &Workbench, texts: &[String], console: &mut Console) -> anyhow::Result<ExitCode> {
    let (session, agents) = wanted(workbench, texts).await?;
    let view = workbench.snapshot(&session).await?.session;
    let is_meant =
        |applied: &&AppliedView| !applied.undone && applied.agents.iter().any(|agent| agents.contains(agent));
    let Some(applied) = view.applied.iter().rev().find(is_meant) else {
        return Err(
            Misused("nothing of this agent's changes is in the checkout that could be taken out".to_owned()).into()
        );
    };
    workbench.merge_undo(&session, &applied.merge).await?;
    console.note(&format!("Took {} files out again.", applied.changes.files));
    Ok(ExitCode::SUCCESS)
}

/// The agents that are meant; all of one session.
async fn wanted(workbench: &Workbench, texts: &[String]) -> anyhow::Result<(SessionId, Vec<AgentId>)> {
    let mut agents = Vec::new();
    let mut sessions = Vec::new();
    for text in texts {
        let (session, agent) = find_agent(workbench, text).await?;
        agents.push(agent.id);
        sessions.push(session);
    }
    sessions.dedup();
    match sessions.as_slice() {
        [session] => Ok((session.clone(), agents)),
        _ => Err(Misused("agents of several sessions can't be merged together".to_owned()).into()),
    }
}

fn print_preview(console: &mut Console, preview: &MergePreview, json: bool) -> anyhow::Result<()> {
    if json {
        return print_json(console, preview);
    }
    print_files(console, &preview.files)?;
    for conflict in &preview.conflicts {
        let with = conflict.other.as_ref().map_or("the checkout", AgentId::as_str);
        let pieces = [
            console.painted("conflict", Tone::Bad),
            Painted::plain(&conflict.path),
            console.painted(&format!("{} and {with}: {}", conflict.agent, conflict.reason), Tone::Faint),
        ];
        console.print_pieces(&spaced(pieces))?;
    }
    Ok(())
}

async fn list_conflicts(
    workbench: &Workbench,
    arguments: &ConflictsArguments,
    console: &mut Console,
) -> anyhow::Result<()> {
    let session = find(workbench, &arguments.id)?;
    let clashes = workbench.conflicts(&session).await?;
    if arguments.json {
        return print_json(console, &clashes);
    }
    if clashes.is_empty() {
        console.note("No conflicts.");
    }
    for clash in &clashes {
        let with = clash.other.as_ref().map_or("the checkout", AgentId::as_str);
        for file in &clash.files {
            let pieces = [
                console.painted(clash.agent.as_str(), Tone::Strong),
                console.painted(with, Tone::Strong),
                Painted::plain(file),
            ];
            console.print_pieces(&spaced(pieces))?;
        }
    }
    Ok(())
}

fn print_files(console: &mut Console, files: &[ChangedFile]) -> anyhow::Result<()> {
    for file in files {
        let letter = match file.kind {
            ChangeKind::Added => "A",
            ChangeKind::Modified => "M",
            ChangeKind::Deleted => "D",
            ChangeKind::Renamed => "R",
        };
        let from = file.old_path.as_ref().map_or(String::new(), |old| format!("{old} -> "));
        let pieces = [
            console.painted(letter, Tone::Strong),
            Painted::plain(&format!("{from}{}", file.path)),
            console.painted(&format!("+{}", file.added), Tone::Good),
            console.painted(&format!("-{}", file.removed), Tone::Bad),
            console.painted(&file.labels.join(", "), Tone::Faint),
        ];
        console.print_pieces(&spaced(pieces))?;
    }
    Ok(())
}

fn print_diff(console: &mut Console, diff: &FileDiff) -> anyhow::Result<()> {
    print_files(console, std::slice::from_ref(&diff.file))?;
    for hunk in &diff.hunks {
        let hash = &hunk.hash;
        let place =
            format!("@@ -{},{} +{},{} @@ {hash}", hunk.old_start, hunk.old_lines, hunk.new_start, hunk.new_lines);
        console.print_pieces(&[console.painted(&place, Tone::Faint)])?;
        for line in &hunk.lines {
            let sign = match line.kind {
                LineKind::Context => ' ',
                LineKind::Added => '+',
                LineKind::Removed => '-',
            };
            console.print(&format!("{sign}{}", line.text))?;
        }
    }
    Ok(())
}

//! `offshoot exec`: one non-interactive run, from a prompt to an exit code.

use std::io::Read;
use std::path::Path;
use std::process::ExitCode;

use anyhow::Context;
use offshoot_agents::journal::Subscription;
use offshoot_agents::model::Provider;
use offshoot_agents::model::demo::OPENING;
use offshoot_agents::workbench::Workbench;
use offshoot_protocol::{Command, SessionId, Trust, TurnOutcome};

use crate::access;
use crate::activity::{Activity, is_limit};
use crate::arguments::{ExecArguments, FolderArguments, Misused};
use crate::console::{Console, Tone, one_line};
use crate::costs::Sum;
use crate::surroundings::Surroundings;
use crate::workplace::{self, Choice};

mod storage;

/// Most bytes of a prompt that are read from standard input.
const PROMPT_LIMIT: u64 = 4 * 1024 * 1024;

/// How a run ended, as the exit code tells it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    Done,
    Failed,
    Denied,
    Limit,
    Interrupted,
}

impl From<End> for ExitCode {
    fn from(end: End) -> Self {
        Self::from(match end {
            End::Done => 0,
            End::Failed => 1,
            End::Denied => 3,
            End::Limit => 4,
            End::Interrupted => 130,
        })
    }
}

/// Runs it. The exit code tells how it ended; an error is one that kept it from running.
pub(crate) async fn run(
    arguments: &ExecArguments,
    folders: &FolderArguments,
    console: &mut Console,
) -> anyhow::Result<ExitCode> {
    let mut choice = Choice::of_exec(arguments);
    let mut surroundings = Surroundings::read(folders)?;
    if choice.provider != Some(Provider::Demo) {
        surroundings = surroundings.with_stored_keys().await;
    }
    let is_demo = access::answers(&surroundings, &choice).provider == Provider::Demo;
    // The demo knows its own project and no other. There nobody has to be asked.
    let is_at_home = is_demo && !arguments.names_place();
    let project = if is_at_home {
        choice.permit_tour();
        None
    } else {
        let named = arguments.directory.as_deref().unwrap_or(Path::new("."));
        Some(workplace::folder(named).map_err(|error| Misused(error.to_string()))?)
    };
    let prompt = match &arguments.prompt {
        None if is_at_home => OPENING.to_owned(),
        _ => {
            let nothing = || Misused("there is nothing to do: give a prompt, or `-` to read one".to_owned());
            prompt(arguments).await?.ok_or_else(nothing)?
        }
    };
    let is_wanted = choice.provider.or(surroundings.settings.model.provider) == Some(Provider::Demo);
    workplace::check_settings(&surroundings)?;
    workplace::rules(&choice)?;
    access::check(&surroundings, &choice)?;
    access::settle_model(&surroundings, &mut choice).await?;
    let workbench = workplace::open(&surroundings, choice).await?;
    let done = async {
        // The sample lies in the data folder: it is made by whoever has that.
        let project = match project {
            Some(project) => project,
            None => workplace::demo_project(&surroundings).await?,
        };
        if is_at_home {
            tell_of_demo(&project, is_wanted, console);
        }
        settle_trust(&workbench, &project, arguments.trust, console).await?;
        storage::guard(&workbench, follow(&workbench, arguments, &project, prompt, console)).await
    };
    let done = done.await;
    workbench.shut_down().await;
    match done? {
        Ok(end) => Ok(end.into()),
        Err(stuck) => {
            console.note(&format!("offshoot: {stuck}"));
            Ok(End::Failed.into())
        }
    }
}

/// Says that nothing is done in the current folder, and why.
fn tell_of_demo(sample: &Path, is_wanted: bool, console: &mut Console) {
    let place = format!("the demo answers, in its own sample project, {}.", sample.display());
    console.note(&if is_wanted {
        format!("offshoot: {place}")
    } else {
        format!("offshoot: no provider is set up, so {place} `offshoot key` stores a key; `offshoot doctor` says more.")
    });
}

/// Trusts the folder if that is wanted; else says what it would ask for, where nobody has said yet whether it may.
async fn settle_trust(
    workbench: &Workbench,
    project: &Path,
    wanted: bool,
    console: &mut Console,
) -> anyhow::Result<()> {
    if wanted {
        workbench.set_trust(project, true).await?;
        console.note(&format!("offshoot: {} is trusted from now on.", workbench.trust(project).await?.place));
        return Ok(());
    }
    let question = workbench.trust(project).await?;
    if question.trust == Trust::Unknown && !question.would_activate.is_empty() {
        let ignored = question.would_activate.join("; ");
        let line =
            format!("offshoot: this folder isn't trusted yet, so this is ignored: {ignored}. `--trust` trusts it.");
        console.note(&one_line(&line));
    }
    Ok(())
}

/// The prompt: the argument or standard input. Blank ones are none.
async fn prompt(arguments: &ExecArguments) -> anyhow::Result<Option<String>> {
    let text = match arguments.prompt.as_deref() {
        Some("-") => {
            let read = || std::io::read_to_string(std::io::stdin().lock().take(PROMPT_LIMIT + 1));
            let text = tokio::task::spawn_blocking(read).await?.context("standard input could not be read as text")?;
            anyhow::ensure!(text.len() as u64 <= PROMPT_LIMIT, "the prompt is longer than 4 MiB");
            text
        }
        Some(text) => text.to_owned(),
        None => return Ok(None),
    };
    Ok(Some(text).filter(|text| !text.trim().is_empty()))
}

/// Sends the prompt and follows the session until nothing more happens.
async fn follow(
    workbench: &Workbench,
    arguments: &ExecArguments,
    project: &Path,
    prompt: String,
    console: &mut Console,
) -> anyhow::Result<End> {
    let (session, is_new) = session(workbench, arguments, project).await?;
    console.note_of("session", Tone::Faint, session.as_str());
    let mut activity = Activity::new(session.clone());
    let mut subscription = workbench.subscribe(&session, 0).await?;
    // What is stored already isn't told again.
    let stored = if is_new { 0 } else { workbench.snapshot(&session).await?.cursor };
    while activity.cursor() < stored || activity.root().is_none() {
        let batch = subscription.next().await;
        for event in &batch.events {
            let line = activity.take(event);
            if event.seq > stored {
                show(console, arguments, event, line)?;
            }
        }
    }
    activity.begin_run();
    // A new session begins in its mode already.
    if let Some(mode) = arguments.mode().filter(|_| !is_new) {
        workbench.command(&session, Command::SetMode { mode }).await?;
    }
    let root = activity.root().context("the session has no root agent")?.id.clone();
    workbench.command(&session, Command::SendMessage { agent: root.clone(), text: prompt }).await?;
    let interrupted = watch(&mut activity, &mut subscription, arguments, console).await?;
    if interrupted {
        console.note("offshoot: interrupted; the session is kept, see `offshoot sessions`.");
        // Already idle is as good as interrupted.
        let _ = workbench.command(&session, Command::Interrupt { agent: root }).await;
        return Ok(End::Interrupted);
    }
    let end = conclude(&activity, arguments, console)?;
    let used = Sum::of(&workbench.snapshot(&session).await?.session.agents, &workbench.prices());
    console.note(&format!("offshoot: session {session} used {used}"));
    Ok(end)
}

/// The session that the run belongs to: a new one, a named one, or the newest of the project. Also whether it is new.
async fn session(
    workbench: &Workbench,
    arguments: &ExecArguments,
    project: &Path,
) -> anyhow::Result<(SessionId, bool)> {
    if let Some(id) = &arguments.resume {
        return Ok((crate::sessions::find(workbench, id)?, false));
    }
    if arguments.continue_newest {
        let sessions = workbench.sessions()?;
        let here = sessions.into_iter().filter(|session| Path::new(&session.project) == project);
        let newest = here.max_by_key(|session| session.updated_at);
        let newest =
            newest.ok_or_else(|| Misused(format!("there is no session of {} to continue", project.display())))?;
        return Ok((newest.id, false));
    }
    Ok((workbench.create_session(project).await?, true))
}

/// Shows what happens until the run is over. Returns whether a person ended it.
async fn watch(
    activity: &mut Activity,
    subscription: &mut Subscription,
    arguments: &ExecArguments,
    console: &mut Console,
) -> anyhow::Result<bool> {
    let mut interrupt = std::pin::pin!(told_to_end());
    loop {
        let is_over = if arguments.no_wait { activity.is_answered() } else { activity.is_over() };
        if is_over {
            return Ok(false);
        }
        let batch = tokio::select! {
            batch = subscription.next() => batch,
            () = &mut interrupt => return Ok(true),
        };
        if let Some(line) = batch.storage.as_ref().map(storage::line) {
            console.note(&line);
        }
        for event in &batch.events {
            let line = activity.take(event);
            show(console, arguments, event, line)?;
        }
    }
}

fn show(
    console: &mut Console,
    arguments: &ExecArguments,
    event: &offshoot_protocol::Event,
    line: Option<crate::activity::Line>,
) -> anyhow::Result<()> {
    if arguments.json {
        let text = serde_json::to_string(event).context("an event could not be written as JSON")?;
        console.print(&text).context("standard output could not be written")?;
    }
    if let Some(line) = line {
        console.note_of(&line.name, line.tone, &line.text);
    }
    Ok(())
}

/// Says how it ended.
fn conclude(activity: &Activity, arguments: &ExecArguments, console: &mut Console) -> anyhow::Result<End> {
    let at_work = activity.at_work();
    if !at_work.is_empty() {
        console.note(&format!("offshoot: not waited for, stopped: {}", at_work.join(", ")));
    }
    for denied in activity.denied() {
        console.note_of("denied", Tone::Bad, denied);
    }
    match activity.outcome() {
        Some(TurnOutcome::Finished) => {
            if !arguments.json {
                console.print(activity.answer().trim_end()).context("standard output could not be written")?;
            }
            Ok(if activity.denied().is_empty() { End::Done } else { End::Denied })
        }
        Some(outcome) if is_limit(outcome) => Ok(End::Limit),
        Some(TurnOutcome::Interrupted) => Ok(End::Interrupted),
        Some(TurnOutcome::Failed { .. }) | None => Ok(End::Failed),
    }
}

/// Waits until the terminal or the system asks the program to end.
#[cfg(unix)]
async fn told_to_end() {
    use tokio::signal::unix::{SignalKind, signal};
    let listen = |kind| signal(kind).ok();
    let (Some(mut interrupt), Some(mut terminate), Some(mut hang_up)) =
        (listen(SignalKind::interrupt()), listen(SignalKind::terminate()), listen(SignalKind::hangup()))
    else {
        return std::future::pending().await;
    };
    tokio::select! {
        _ = interrupt.recv() => {}
        _ = terminate.recv() => {}
        _ = hang_up.recv() => {}
    }
}

#[cfg(not(unix))]
async fn told_to_end() {
    if tokio::signal::ctrl_c().await.is_err() {
        std::future::pending().await
    }
}

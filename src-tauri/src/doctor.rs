//! `offshoot doctor`: checks this machine and says what to do.

use std::path::Path;
use std::process::{ExitCode, Stdio};
use std::time::Duration;

use anyhow::Context;
use offshoot_agents::model::{Provider, local};
use offshoot_agents::sandbox::Confinement;
use serde::Serialize;

use crate::access;
use crate::arguments::{DoctorArguments, FolderArguments};
use crate::console::{Console, Painted, Tone};
use crate::keys::Account;
use crate::surroundings::Surroundings;
use crate::workplace::{self, Choice};

/// Oldest git that has everything the worktrees need (`git worktree repair`, `--no-optional-locks` reads).
const GIT: (u32, u32) = (2, 30);

/// How long a program may take to answer.
const LIMIT: Duration = Duration::from_secs(10);

/// What was looked at and found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
struct Check {
    /// What.
    name: &'static str,
    /// How it is.
    state: State,
    /// What was found.
    found: String,
    /// What to do about it; empty when nothing.
    advice: String,
}

/// How something is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
enum State {
    /// As it should be.
    Ok,
    /// It works, with less.
    Warning,
    /// Nothing goes without it.
    Problem,
}

impl Check {
    fn ok(name: &'static str, found: impl Into<String>) -> Self {
        Self { name, state: State::Ok, found: found.into(), advice: String::new() }
    }

    fn warning(name: &'static str, found: impl Into<String>, advice: impl Into<String>) -> Self {
        Self { name, state: State::Warning, found: found.into(), advice: advice.into() }
    }

    fn problem(name: &'static str, found: impl Into<String>, advice: impl Into<String>) -> Self {
        Self { name, state: State::Problem, found: found.into(), advice: advice.into() }
    }
}

/// Checks and reports. The exit code is 1 when something must be fixed first.
pub(crate) async fn run(
    arguments: &DoctorArguments,
    folders: &FolderArguments,
    console: &mut Console,
) -> anyhow::Result<ExitCode> {
    let surroundings = Surroundings::read(folders)?.with_stored_keys().await;
    let checks = [
        git().await,
        sandbox(&surroundings).await,
        web_view(),
        settings(&surroundings),
        model(&surroundings),
        local_servers().await,
        keychain(&surroundings).await,
        writable("data folder", &surroundings.data_dir),
        writable("config folder", &surroundings.config_dir),
    ];
    report(&checks, arguments.json, console)?;
    let is_ready = checks.iter().all(|check| check.state != State::Problem);
    Ok(if is_ready { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn report(checks: &[Check], json: bool, console: &mut Console) -> anyhow::Result<()> {
    if json {
        let text = serde_json::to_string_pretty(checks).context("the result could not be written as JSON")?;
        return console.print(&text).context("standard output could not be written");
    }
    for check in checks {
        let (word, tone) = match check.state {
            State::Ok => ("ok      ", Tone::Good),
            State::Warning => ("warning ", Tone::Warning),
            State::Problem => ("problem ", Tone::Bad),
        };
        let mark = console.painted(word.trim(), tone);
        let pad = " ".repeat(word.len() - word.trim().len());
        let name = Painted::drawn(&format!("{pad}{:<14} ", check.name));
        console.print_pieces(&[mark, name, Painted::plain(&check.found)])?;
        if !check.advice.is_empty() {
            console.print_pieces(&[Painted::drawn("        "), Painted::plain(&check.advice)])?;
        }
    }
    Ok(())
}

async fn git() -> Check {
    const NAME: &str = "git";
    const ADVICE: &str = "Install git 2.30 or newer (Debian, Ubuntu: sudo apt-get install git).";
    let Some(text) = output("git", &["--version"]).await else {
        return Check::problem(NAME, "not found", ADVICE);
    };
    match version(&text) {
        Some(found) if found >= GIT => Check::ok(NAME, text),
        Some(_) => Check::problem(NAME, format!("{text} is too old"), ADVICE),
        None => Check::warning(NAME, format!("unknown version: {text}"), ADVICE),
    }
}

/// The first two numbers of `git version 2.39.5`.
fn version(text: &str) -> Option<(u32, u32)> {
    let number = text.split_whitespace().find(|word| word.starts_with(|c: char| c.is_ascii_digit()))?;
    let mut parts = number.split('.');
    Some((parts.next()?.parse().ok()?, parts.next()?.parse().ok()?))
}

/// Really runs a command that must work and one that must not.
async fn sandbox(surroundings: &Surroundings) -> Check {
    const NAME: &str = "sandbox";
    let sandbox = workplace::sandbox(surroundings).await;
    match sandbox.confinement() {
        Confinement::Bubblewrap { .. } => return Check::ok(NAME, sandbox.label(false)),
        Confinement::Landlock { reason } => {
            return Check::warning(
                NAME,
                format!("{}: {reason}", sandbox.label(false)),
                "Commands of agents can't write elsewhere, read keys or use sockets; but in a folder that they may write, \
                 they may write all of it. Bubblewrap confines wholly: install it (Debian, Ubuntu: sudo apt-get install \
                 bubblewrap) and allow it user namespaces.",
            );
        }
        Confinement::NotConfined { .. } => {}
    }
    Check::warning(
        NAME,
        sandbox.label(false),
        "Commands of agents run with all your rights, so each of them asks. Install bubblewrap (Debian, Ubuntu: sudo \
         apt-get install bubblewrap); in a container, user namespaces must be allowed. Where the machine itself is the \
         wall, `\"permissions\": {\"unconfinedCommands\": \"allow\"}` in your settings lets rules decide.",
    )
}

/// Asks the program that has the window: this one isn't linked with what draws, and runs where that is missing.
fn web_view() -> Check {
    const NAME: &str = "web view";
    let Ok(program) = crate::window_program() else {
        return Check::warning(NAME, "this build has no window", "Use `offshoot exec`, or install the desktop build.");
    };
    let answer = std::process::Command::new(program).arg(crate::WEB_VIEW_VERSION).output();
    let reason = match answer {
        Ok(answer) if answer.status.success() => {
            return Check::ok(NAME, String::from_utf8_lossy(&answer.stdout).trim());
        }
        Ok(answer) => String::from_utf8_lossy(&answer.stderr).trim().to_owned(),
        Err(error) => error.to_string(),
    };
    Check::problem(
        NAME,
        format!("not usable: {reason}"),
        "Install WebKitGTK 4.1 (Debian, Ubuntu: sudo apt-get install libwebkit2gtk-4.1-0). The command line works without.",
    )
}

fn settings(surroundings: &Surroundings) -> Check {
    const NAME: &str = "settings";
    match workplace::warnings(surroundings).as_slice() {
        [] => Check::ok(NAME, surroundings.config_dir.join("settings.json").display().to_string()),
        warnings => Check::warning(NAME, warnings.join("; "), "Correct the file; everything else in it holds."),
    }
}

fn model(surroundings: &Surroundings) -> Check {
    const NAME: &str = "model";
    let choice = Choice::default();
    let answers = access::answers(surroundings, &choice);
    if answers.provider == Provider::Demo {
        return Check::warning(
            NAME,
            "neither a key nor a server: the demo model answers",
            "Store a key with `offshoot key set`, set ANTHROPIC_API_KEY or OPENAI_API_KEY, or name a server in the settings.",
        );
    }
    let server = access::address(surroundings, &choice, answers.provider);
    let key = Account::of(answers.provider).and_then(|account| surroundings.access(account).key.as_ref());
    let key = key.map_or_else(|| "without a key".to_owned(), |key| format!("with a key from {}", key.place.words()));
    let found = format!("{} from {} at {server}, {key}", answers.model, access::title(answers.provider));
    match access::check(surroundings, &choice) {
        Ok(()) => Check::ok(NAME, found),
        Err(wrong) => Check::problem(NAME, found, format!("Nothing can be asked: {wrong}.")),
    }
}

/// Model servers on this machine. There need not be one.
async fn local_servers() -> Check {
    let found = local::find(&local::USUAL_PORTS).await;
    let shown = found.iter().map(|server| {
        let more =
            if server.models.len() > 1 { format!(" and {} more", server.models.len() - 1) } else { String::new() };
        let first = server.models.first().map_or("", |model| model.id.as_str());
        format!("{} at {} ({first}{more})", server.name, server.base_url)
    });
    let shown = shown.collect::<Vec<_>>().join("; ");
    let ports = || local::USUAL_PORTS.map(|(_, port)| port.to_string()).join(", ");
    Check::ok("local servers", if shown.is_empty() { format!("none on ports {}", ports()) } else { shown })
}

/// The keychain need not be there, either, but whoever wants to store a key should know.
async fn keychain(surroundings: &Surroundings) -> Check {
    match surroundings.keys.check_keychain().await {
        Ok(()) => Check::ok("keychain", "usable"),
        Err(error) => Check::warning(
            "keychain",
            error.to_string(),
            "Keys can come from the environment, or from a file that only you can read: `offshoot key set … --file`.",
        ),
    }
}

/// Really writes: permission bits don't tell about read-only file systems and full disks.
fn writable(name: &'static str, folder: &Path) -> Check {
    let shown = folder.display();
    let probe = folder.join(format!(".doctor-{}", std::process::id()));
    let written = std::fs::create_dir_all(folder).and_then(|()| std::fs::write(&probe, b"offshoot"));
    let removed = written.and_then(|()| std::fs::remove_file(&probe));
    match removed {
        Ok(()) => Check::ok(name, shown.to_string()),
        Err(error) => Check::problem(
            name,
            format!("{shown} can't be written: {error}"),
            "Make it writable, or name another with --data-dir and --config-dir.",
        ),
    }
}

/// What a program prints, without the line end; `None` when it is missing, fails or hangs.
async fn output(program: &str, arguments: &[&str]) -> Option<String> {
    let mut command = tokio::process::Command::new(program);
    command.args(arguments).stdin(Stdio::null()).stderr(Stdio::null()).kill_on_drop(true);
    let answer = tokio::time::timeout(LIMIT, command.output()).await.ok()?.ok()?;
    answer.status.success().then(|| String::from_utf8_lossy(&answer.stdout).trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::console::tests::captured;

    #[test]
    fn versions_of_git_are_compared_as_numbers() {
        assert_eq!(version("git version 2.39.5 (Apple Git-154)"), Some((2, 39)));
        assert!(version("git version 2.9.0") < Some(GIT));
        assert_eq!(version("no git"), None);
    }

    #[test]
    fn a_folder_that_can_not_be_written_is_a_problem() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(writable("x", &folder.path().join("new/deep")).state, State::Ok);
        let file = folder.path().join("file");
        std::fs::write(&file, "").unwrap();
        let check = writable("x", &file.join("below"));
        assert_eq!(check.state, State::Problem);
        assert!(!check.advice.is_empty());
    }

    #[test]
    fn both_forms_say_the_same() {
        let checks = [Check::ok("git", "2.39"), Check::warning("model", "demo", "Set a key.")];
        let (mut console, out, _) = captured();
        report(&checks, false, &mut console).unwrap();
        assert_eq!(out.text(), "ok      git            2.39\nwarning model          demo\n        Set a key.\n");
        let (mut console, out, _) = captured();
        report(&checks, true, &mut console).unwrap();
        let json: serde_json::Value = serde_json::from_str(&out.text()).unwrap();
        assert_eq!(json[1]["state"], "warning");
    }
}

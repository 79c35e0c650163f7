//! Offshoot's shell: the window and the command line around the core.
//!
//! This is where the outside is read: arguments, environment variables, folders, the terminal. Decisions are the core's
//! (`offshoot-agents`); drawing is the page's (`ui`).
//!
//! | module | what |
//! |---|---|
//! | [`arguments`] | the command line, parsed |
//! | [`console`] | standard output and error; nothing else prints |
//! | [`surroundings`] | folders, keys and the login shell's `PATH` |
//! | [`keys`] | providers' keys, in the keychain or a file |
//! | [`access`] | who answers: provider, address, key, model |
//! | [`workplace`] | opens the core with all of that |
//! | [`activity`] | one line per event, for people |
//! | [`exec`] | one non-interactive run |
//! | [`sessions`] | lists, trees, titles, deletion |
//! | [`moving`] | sessions as files |
//! | [`permissions`] | how calls are decided |
//! | [`roles`] | the catalog, and what is wrong in it |
//! | [`changes`] | changes, merging, conflicts |
//! | [`worktrees`] | worktrees, looked after |
//! | [`models`] | which models there are, and the keys for them |
//! | [`doctor`] | checks the machine and says what to do |
//! | `window`, `bridge` | the window, and the commands its page may call; only with the feature `desktop`, and only in the
//! program `offshoot-window`: `offshoot` itself isn't linked with what draws |

mod access;
mod activity;
mod arguments;
#[cfg(feature = "desktop")]
mod bridge;
mod changes;
mod console;
mod costs;
mod doctor;
mod exec;
mod keys;
mod models;
mod moving;
mod permissions;
mod roles;
mod sessions;
mod surroundings;
#[cfg(feature = "desktop")]
mod window;
mod workplace;
mod worktrees;

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context;
use tokio::runtime::Runtime;

use arguments::{Arguments, Misused, Wish};
use console::Console;

/// Opens the window, one way or another, and stays until it is closed.
type OpenWindow = fn(&Runtime, &Arguments) -> anyhow::Result<ExitCode>;

/// The program `offshoot`, with the arguments of this process. Draws nothing: the window is another program.
pub fn main() -> ExitCode {
    run(start_window_program)
}

/// The program `offshoot-window`, with the arguments of this process.
#[cfg(feature = "desktop")]
pub fn window_main() -> ExitCode {
    if std::env::args_os().nth(1).is_some_and(|argument| argument == WEB_VIEW_VERSION) {
        return tell_web_view_version();
    }
    run(window::open)
}

/// Makes `offshoot-window` tell the version of its web view, for `offshoot doctor`.
const WEB_VIEW_VERSION: &str = "--web-view-version";

#[cfg(feature = "desktop")]
fn tell_web_view_version() -> ExitCode {
    let mut console = Console::standard();
    match tauri::webview_version() {
        Ok(version) => console.print(&version).map_or(ExitCode::FAILURE, |()| ExitCode::SUCCESS),
        Err(error) => {
            console.note(&error.to_string());
            ExitCode::FAILURE
        }
    }
}

fn run(open_window: OpenWindow) -> ExitCode {
    #[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
    if let Some(code) = confine_command() {
        return code;
    }
    let arguments = Arguments::of_process();
    let mut console = Console::standard();
    let runtime = match tokio::runtime::Builder::new_multi_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => {
            console.note(&format!("offshoot: the program could not start its threads: {error}"));
            return ExitCode::FAILURE;
        }
    };
    let done = match arguments.wish {
        None => open_window(&runtime, &arguments),
        Some(Wish::Exec(ref wish)) => runtime.block_on(exec::run(wish, &arguments.folders, &mut console)),
        Some(Wish::Sessions(ref wish)) => runtime.block_on(sessions::run(wish, &arguments.folders, &mut console)),
        Some(Wish::Export(ref wish)) => runtime.block_on(moving::export(wish, &arguments.folders, &mut console)),
        Some(Wish::Import(ref wish)) => runtime.block_on(moving::import(wish, &arguments.folders, &mut console)),
        Some(Wish::Tree(ref wish)) => runtime.block_on(sessions::tree(wish, &arguments.folders, &mut console)),
        Some(Wish::Permissions(ref wish)) => permissions::run(wish, &arguments.folders, &mut console),
        Some(Wish::Roles(ref wish)) => roles::run(wish, &arguments.folders, &mut console),
        Some(Wish::Changes(ref wish)) => runtime.block_on(changes::run(wish, &arguments.folders, &mut console)),
        Some(Wish::Merge(ref wish)) => runtime.block_on(changes::merge(wish, &arguments.folders, &mut console)),
        Some(Wish::Conflicts(ref wish)) => runtime.block_on(changes::conflicts(wish, &arguments.folders, &mut console)),
        Some(Wish::Worktrees(ref wish)) => runtime.block_on(worktrees::run(wish, &arguments.folders, &mut console)),
        Some(Wish::Models(ref wish)) => runtime.block_on(models::run(wish, &arguments.folders, &mut console)),
        Some(Wish::Key(ref wish)) => runtime.block_on(models::key(wish, &arguments.folders, &mut console)),
        Some(Wish::Doctor(ref wish)) => runtime.block_on(doctor::run(wish, &arguments.folders, &mut console)),
    };
    // A read that blocks (a terminal, a hung file system) must not keep the program from ending.
    runtime.shutdown_timeout(std::time::Duration::from_millis(200));
    done.unwrap_or_else(|error| {
        console.note(&format!("offshoot: {error:#}"));
        if error.is::<Misused>() { ExitCode::from(2) } else { ExitCode::FAILURE }
    })
}

/// Does the part of a helper, when the program was started as one: by itself, to put a command behind a wall.
#[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
fn confine_command() -> Option<ExitCode> {
    use offshoot_agents::sandbox;
    let mut arguments = std::env::args_os().skip(1);
    arguments.next().filter(|first| first == sandbox::CONFINE)?;
    let (status, words) = sandbox::confine(&arguments.collect::<Vec<_>>());
    if let Some(words) = words {
        Console::standard().note(&words);
    }
    Some(ExitCode::from(status))
}

/// The program with the window.
fn window_program() -> anyhow::Result<PathBuf> {
    let own = std::env::current_exe().context("the program's own place could not be found")?;
    let program = own.with_file_name(format!("offshoot-window{}", std::env::consts::EXE_SUFFIX));
    anyhow::ensure!(
        program.exists(),
        "there is no window here ({} is missing). `offshoot exec` runs a prompt without one; see `offshoot --help`",
        program.display()
    );
    Ok(program)
}

/// Turns this process into the one with the window, which lies beside it.
fn start_window_program(_: &Runtime, _: &Arguments) -> anyhow::Result<ExitCode> {
    let program = window_program()?;
    let mut command = std::process::Command::new(&program);
    command.args(std::env::args_os().skip(1));
    become_program(&mut command).with_context(|| format!("{} could not be started", program.display()))
}

#[cfg(unix)]
fn become_program(command: &mut std::process::Command) -> std::io::Result<ExitCode> {
    use std::os::unix::process::CommandExt;
    Err(command.exec())
}

#[cfg(not(unix))]
fn become_program(command: &mut std::process::Command) -> std::io::Result<ExitCode> {
    let code = command.status()?.code().and_then(|code| u8::try_from(code).ok());
    Ok(code.map_or(ExitCode::FAILURE, ExitCode::from))
}

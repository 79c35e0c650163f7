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
//! | [`sessions`] | lists, trees, deletion |
//! | [`permissions`] | how calls are decided |
//! | [`roles`] | the catalog, and what is wrong in it |
//! | [`changes`] | changes, merging, conflicts |
//! | [`worktrees`] | worktrees, looked after |
//! | [`models`] | which models there are, and the keys for them |
//! | [`doctor`] | checks the machine and says what to do |
//! | `window`, `bridge` | the window, and the commands its page may call; only with the feature `desktop` |

mod access;
mod activity;
mod arguments;
#[cfg(feature = "desktop")]
mod bridge;
mod changes;
mod console;
mod doctor;
mod exec;
mod keys;
mod models;
mod permissions;
mod roles;
mod sessions;
mod surroundings;
#[cfg(feature = "desktop")]
mod window;
mod workplace;
mod worktrees;

use std::process::ExitCode;

use clap::Parser;

use arguments::{Arguments, Misused, Wish};
use console::Console;

/// Runs the program with the arguments of this process.
pub fn main() -> ExitCode {
    #[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
    if let Some(code) = confine_command() {
        return code;
    }
    let arguments = Arguments::parse();
    let mut console = Console::standard();
    let runtime = match tokio::runtime::Builder::new_multi_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => {
            console.note(&format!("offshoot: the program could not start its threads: {error}"));
            return ExitCode::FAILURE;
        }
    };
    let done = match arguments.wish {
        None => open_window(&runtime, &arguments, &mut console),
        Some(Wish::Exec(ref wish)) => runtime.block_on(exec::run(wish, &arguments.folders, &mut console)),
        Some(Wish::Sessions(ref wish)) => runtime.block_on(sessions::run(wish, &arguments.folders, &mut console)),
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

#[cfg(feature = "desktop")]
fn open_window(runtime: &tokio::runtime::Runtime, arguments: &Arguments, _: &mut Console) -> anyhow::Result<ExitCode> {
    window::open(runtime, arguments)
}

#[cfg(not(feature = "desktop"))]
fn open_window(_: &tokio::runtime::Runtime, _: &Arguments, console: &mut Console) -> anyhow::Result<ExitCode> {
    console.note("offshoot: this build has no window. `offshoot exec` runs a prompt here; see `offshoot --help`.");
    Ok(ExitCode::from(2))
}

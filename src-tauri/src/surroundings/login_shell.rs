//! The `PATH` of the login shell. A program that the desktop starts gets a short one, without what people add in their
//! shell's start files, and then neither `cargo` nor `node` is found.

use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use tokio::io::AsyncReadExt;

/// How long start files may take. Slow ones are the person's own, but the window must not wait for them.
const LIMIT: Duration = Duration::from_secs(3);

/// Most bytes that are read of what the shell prints.
const BOUND: u64 = 64 * 1024;

/// Stands around the value, because start files print things too.
const MARK: &str = "\u{1}offshoot\u{1}";

/// The `PATH` for child processes: this process's own, or the login shell's when the program was started from the desktop
/// (there is no `TERM` then).
pub(crate) async fn search_path() -> String {
    let own = std::env::var("PATH").unwrap_or_default();
    if cfg!(windows) || std::env::var_os("TERM").is_some() {
        return own;
    }
    let Some(shell) = std::env::var_os("SHELL") else { return own };
    of_shell(Path::new(&shell), LIMIT).await.unwrap_or(own)
}

/// Asks a shell; `None` when it doesn't answer in time or not with an absolute path.
async fn of_shell(shell: &Path, limit: Duration) -> Option<String> {
    // `env` prints the variable as child processes see it: fish, for one, keeps it as a list.
    let script = format!("printf '%s' '{MARK}'; /usr/bin/env printenv PATH; printf '%s' '{MARK}'");
    let mut command = tokio::process::Command::new(shell);
    command.args(["-l", "-i", "-c", &script]);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null()).kill_on_drop(true);
    // An interactive shell would otherwise fight for the terminal, if there is one after all.
    #[cfg(unix)]
    command.process_group(0);
    let mut child = command.spawn().ok()?;
    let output = child.stdout.take()?;
    let mut printed = Vec::new();
    tokio::time::timeout(limit, output.take(BOUND).read_to_end(&mut printed)).await.ok()?.ok()?;
    let text = String::from_utf8(printed).ok()?;
    let value = text.split(MARK).nth(1)?.trim();
    value.split(':').any(|part| part.starts_with('/')).then(|| value.to_owned())
}

#[cfg(unix)]
#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    fn shell(folder: &Path, script: &str) -> std::path::PathBuf {
        let path = folder.join("shell");
        std::fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
        path
    }

    #[tokio::test]
    async fn what_start_files_print_is_not_taken_for_the_path() {
        let folder = tempfile::tempdir().unwrap();
        let shell = shell(folder.path(), "echo welcome; PATH=/opt/tools:$PATH; export PATH; eval \"$4\"; echo bye");
        let found = of_shell(&shell, LIMIT).await.unwrap();
        assert!(found.starts_with("/opt/tools:/"), "{found}");
    }

    #[tokio::test]
    async fn a_shell_that_hangs_is_given_up() {
        let folder = tempfile::tempdir().unwrap();
        let shell = shell(folder.path(), "exec tail -f /dev/null");
        assert_eq!(of_shell(&shell, Duration::from_millis(50)).await, None);
    }

    #[tokio::test]
    async fn a_shell_that_is_missing_is_no_error() {
        assert_eq!(of_shell(Path::new("/nowhere/sh"), LIMIT).await, None);
    }
}

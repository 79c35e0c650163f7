//! What has to be on the machine: system packages, Node.
//!
//! On Debian and Ubuntu missing packages are installed; elsewhere they are named.

use std::process::{Command, Stdio};

use crate::steps::{run, show};

/// What it takes to build and to run.
const BUILD: &[&str] = &["libwebkit2gtk-4.1-dev", "build-essential", "pkg-config", "git", "bubblewrap"];

/// What the tests need beside that: `strace` kills the program at its writes.
const TESTS: &[&str] = &["strace"];

/// What the window tests need beside that. Without the fonts some scripts are drawn as boxes.
const WINDOW_TESTS: &[&str] = &[
    "xvfb",
    "xauth",
    "webkit2gtk-driver",
    "xdotool",
    "imagemagick",
    "fonts-noto-core",
    "fonts-noto-mono",
    "fonts-noto-color-emoji",
    "fonts-noto-cjk",
];

/// Oldest Node that the UI's tools run on.
const NODE: u32 = 20;

/// What is going to be done.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// Build and run.
    Run,
    /// Build and test, without the window.
    Tests,
    /// Build and test the window.
    WindowTests,
}

/// Makes sure that everything is there for `purpose`, or says what is missing.
pub(crate) fn prepare(purpose: Purpose) -> Result<(), String> {
    if cfg!(target_os = "linux") {
        packages(purpose)?;
    }
    node()
}

fn packages(purpose: Purpose) -> Result<(), String> {
    let mut wanted = BUILD.to_vec();
    if purpose != Purpose::Run {
        wanted.extend(TESTS);
    }
    if purpose == Purpose::WindowTests {
        wanted.extend(WINDOW_TESTS);
    }
    let Some(installed) = installed(&wanted) else {
        return elsewhere(purpose);
    };
    let mut missing: Vec<&str> = wanted.into_iter().filter(|name| !installed.contains(&(*name).to_owned())).collect();
    // A Node that came from elsewhere is left alone, and one that is too old is not worth installing.
    if output("node", &["--version"]).is_none() && packaged_node().is_some_and(|version| version >= NODE) {
        missing.extend(["nodejs", "npm"]);
    }
    if missing.is_empty() { Ok(()) } else { install(&missing) }
}

/// Which of the packages are installed; `None` where there is no dpkg.
fn installed(names: &[&str]) -> Option<Vec<String>> {
    let mut query = Command::new("dpkg-query");
    query.args(["--show", "--showformat=${Package} ${db:Status-Status}\n"]).args(names);
    // Its exit status is 1 as soon as one package is unknown; the list is complete all the same.
    let answer = query.stderr(Stdio::null()).output().ok()?;
    let text = String::from_utf8_lossy(&answer.stdout);
    Some(text.lines().filter_map(|line| line.strip_suffix(" installed")).map(str::to_owned).collect())
}

fn install(missing: &[&str]) -> Result<(), String> {
    eprintln!("xtask: missing packages: {}", missing.join(" "));
    let mut update = as_root(&["apt-get", "update"])?;
    let mut install = as_root(&["apt-get", "install", "--yes", "--no-install-recommends"])?;
    install.args(missing);
    for command in [&mut update, &mut install] {
        eprintln!("xtask: {}", show(command));
        run(command)?;
    }
    Ok(())
}

/// A command that runs as root: directly, or through `sudo`.
fn as_root(words: &[&str]) -> Result<Command, String> {
    let quiet = "DEBIAN_FRONTEND=noninteractive";
    if output("id", &["-u"]).as_deref() == Some("0") {
        let mut command = Command::new("env");
        command.arg(quiet).args(words);
        return Ok(command);
    }
    if output("sudo", &["--version"]).is_none() {
        return Err(format!("run `{} …` as root: there is no sudo here", words.join(" ")));
    }
    let mut command = Command::new("sudo");
    command.args(["env", quiet]).args(words);
    Ok(command)
}

/// The major version of the Node that the distribution would install.
fn packaged_node() -> Option<u32> {
    let policy = output("apt-cache", &["policy", "nodejs"])?;
    let candidate = policy.lines().find_map(|line| line.trim().strip_prefix("Candidate: "))?;
    major(candidate)
}

fn elsewhere(purpose: Purpose) -> Result<(), String> {
    let mut missing = Vec::new();
    if output("pkg-config", &["--exists", "webkit2gtk-4.1"]).is_none() {
        missing.push("pkg-config, a C compiler and the development files of WebKitGTK 4.1 (webkit2gtk-4.1)");
    }
    if output("git", &["--version"]).is_none() {
        missing.push("git");
    }
    if output("bwrap", &["--version"]).is_none() {
        eprintln!("xtask: bubblewrap (bwrap) is missing: commands of agents can't be confined without it.");
    }
    if purpose != Purpose::Run && output("strace", &["--version"]).is_none() {
        eprintln!("xtask: strace is missing: the tests that kill the program at its writes are left out.");
    }
    if purpose == Purpose::WindowTests && output("WebKitWebDriver", &["--version"]).is_none() {
        missing.push("WebKitWebDriver, Xvfb and the Noto fonts");
    }
    if missing.is_empty() {
        return Ok(());
    }
    Err(format!("this system has no apt-get; please install: {}", missing.join("; ")))
}

/// Checks Node and npm.
fn node() -> Result<(), String> {
    const ADVICE: &str = "install Node 20 or newer with npm (https://nodejs.org/en/download) and try again";
    let Some(version) = output("node", &["--version"]) else {
        return Err(format!("Node is missing: {ADVICE}"));
    };
    match major(version.trim_start_matches('v')) {
        Some(found) if found >= NODE => {}
        _ => return Err(format!("Node {version} is too old: {ADVICE}")),
    }
    if output("npm", &["--version"]).is_none() {
        return Err(format!("npm is missing: {ADVICE}"));
    }
    Ok(())
}

fn major(version: &str) -> Option<u32> {
    version.split(['.', ':', '-', '+', '~']).next()?.parse().ok()
}

/// What a program prints, without the line end; `None` when it is missing or fails.
fn output(program: &str, arguments: &[&str]) -> Option<String> {
    let answer = Command::new(program).args(arguments).stderr(Stdio::null()).output().ok()?;
    answer.status.success().then(|| String::from_utf8_lossy(&answer.stdout).trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::major;

    #[test]
    fn versions_are_read() {
        assert_eq!(major("20.19.2+dfsg-1"), Some(20));
        assert_eq!(major("18.20.4"), Some(18));
        assert_eq!(major("(none)"), None);
    }
}

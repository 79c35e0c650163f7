//! Keys in the real keychain of a desktop: a bus and a Secret Service of the test's own.
//!
//! Skipped, with a notice, where `dbus-run-session` or `gnome-keyring-daemon` is missing (Debian, Ubuntu: `sudo apt-get
//! install --no-install-recommends dbus-daemon gnome-keyring`).

#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "a failed test is what a panic is for")]

use std::io::Write as _;
use std::process::{Command, Stdio};

use offshoot_tests::{Scripted, program, reply};

/// What is done on the bus. The service asks for its password on standard input; then keys are stored, listed, used and
/// deleted, each by the program itself.
const SCRIPT: &str = r#"
set -e
printf 'a password' | gnome-keyring-daemon --foreground --unlock --components=secrets > /dev/null 2>&1 &
service=$!
trap 'kill $service 2> /dev/null || true' EXIT
tries=0
until printf 'sk-kept-in-the-keychain' | "$OFFSHOOT" key set openai; do
    tries=$((tries + 1))
    test $tries -lt 100
    sleep 0.1
done
"$OFFSHOOT" key
"$OFFSHOOT" exec --provider openai --base-url "$SERVER" --model m Hi
"$OFFSHOOT" doctor --json || true
"$OFFSHOOT" key delete openai
"$OFFSHOOT" key list --json
"#;

fn is_there(name: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder| folder.join(name).is_file())
}

#[test]
fn a_key_is_kept_in_the_keychain_and_sent_from_there() {
    let missing = ["dbus-run-session", "gnome-keyring-daemon"].into_iter().find(|name| !is_there(name));
    if let Some(missing) = missing {
        let _ = writeln!(std::io::stderr(), "skipped: {missing} is not installed; see tests/tests/keychain.rs");
        return;
    }
    let answer = r#"{"choices":[{"index":0,"delta":{"content":"Hello."},"finish_reason":"stop"}]}"#;
    let server = Scripted::start([reply().chunks([answer, "[DONE]"])]);
    let home = tempfile::tempdir().unwrap();
    let folder = |name: &str| {
        let path = home.path().join(name);
        std::fs::create_dir_all(&path).unwrap();
        path
    };
    let mut command = Command::new("dbus-run-session");
    command.args(["--", "sh", "-c", SCRIPT]).env_clear().current_dir(folder("project"));
    command.env("PATH", std::env::var_os("PATH").unwrap()).env("HOME", home.path()).env("TERM", "dumb");
    command.env("XDG_RUNTIME_DIR", folder("run")).env("XDG_DATA_HOME", folder("data"));
    command.env("XDG_CONFIG_HOME", folder("config")).env("XDG_CACHE_HOME", folder("cache"));
    command.env("OFFSHOOT", program::offshoot()).env("SERVER", server.url());
    let done = command.stdin(Stdio::null()).output().unwrap();
    let (out, err) = (String::from_utf8_lossy(&done.stdout), String::from_utf8_lossy(&done.stderr));
    assert!(done.status.success(), "out:\n{out}\nerr:\n{err}");
    assert!(out.contains("openai     the keychain"), "{out}\n{err}");
    assert!(out.contains("Hello."), "{out}");
    assert!(out.contains(r#""name": "keychain""#) && out.contains("usable"), "{out}");
    assert!(out.contains(r#"{"account":"openai","place":null}"#), "{out}");
    assert!(!out.contains("sk-kept") && !err.contains("sk-kept"));
    assert_eq!(server.finish()[0].header("authorization"), "Bearer sk-kept-in-the-keychain");
    assert!(!home.path().join("config/offshoot/credentials.json").exists());
}

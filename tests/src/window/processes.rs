//! The processes beside the program: the display and the driver. Each ends when it is dropped.

use std::io::{BufRead, BufReader};
use std::net::{Ipv4Addr, TcpListener};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use super::{DEADLINE, PACE};

/// Whether a program is on the `PATH`.
pub(super) fn is_there(name: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder| folder.join(name).is_file())
}

/// An X server without a screen.
pub(super) struct Display {
    process: Child,
    number: String,
}

impl Display {
    /// Starts one on a number that is free; the server finds it itself.
    pub(super) fn start() -> Self {
        let mut process = Command::new("Xvfb")
            .args(["-displayfd", "1", "-screen", "0", "1280x800x24", "-nolisten", "tcp", "-noreset"])
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("Xvfb can be started");
        let output = process.stdout.take().expect("its output is piped");
        let mut number = String::new();
        BufReader::new(output).read_line(&mut number).expect("Xvfb says its display");
        assert!(!number.trim().is_empty(), "Xvfb found no display");
        Self { process, number: format!(":{}", number.trim()) }
    }
}

impl Drop for Display {
    fn drop(&mut self) {
        end(&mut self.process);
    }
}

/// A `WebDriver` for one window.
pub(super) struct Driver {
    process: Child,
    port: u16,
}

impl Driver {
    /// Starts one whose programs appear on `display`, with `home` as home folder and this GTK theme.
    pub(super) async fn start(display: &Display, home: &Path, theme: &str) -> Self {
        let port = free_port();
        let process = Command::new("WebKitWebDriver")
            .args(["--host=127.0.0.1", &format!("--port={port}")])
            .envs([
                ("TAURI_WEBVIEW_AUTOMATION", "true"),
                // With the other ways of software rendering, screenshots through the driver hang.
                ("WEBKIT_SKIA_ENABLE_CPU_RENDERING", "1"),
                ("GTK_THEME", theme),
                ("DISPLAY", &display.number),
                // As from a terminal: start files of a shell have no place in a test.
                ("TERM", "dumb"),
            ])
            .env("HOME", home)
            .env_remove("WAYLAND_DISPLAY")
            .env_remove("XDG_DATA_HOME")
            .env_remove("XDG_CONFIG_HOME")
            .env_remove("ANTHROPIC_API_KEY")
            .env_remove("ANTHROPIC_BASE_URL")
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("WebKitWebDriver can be started");
        let driver = Self { process, port };
        let end = Instant::now() + DEADLINE;
        while tokio::net::TcpStream::connect((Ipv4Addr::LOCALHOST, port)).await.is_err() {
            assert!(Instant::now() < end, "WebKitWebDriver doesn't answer");
            tokio::time::sleep(PACE).await;
        }
        driver
    }

    /// The programs that it started and that run.
    pub(super) fn programs(&self) -> Vec<u32> {
        let id = self.process.id();
        let children = std::fs::read_to_string(format!("/proc/{id}/task/{id}/children")).unwrap_or_default();
        children.split_whitespace().filter_map(|child| child.parse().ok()).collect()
    }

    pub(super) fn address(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }
}

impl Drop for Driver {
    fn drop(&mut self) {
        end(&mut self.process);
    }
}

/// The processes beneath `program` that pages live in.
pub(super) fn pages_of(program: u32) -> Vec<u32> {
    // The system keeps the first fifteen bytes of a name (proc(5)).
    let is_page = |id: &u32| stat(*id).is_some_and(|stat| stat.name == "WebKitWebProces" && stat.is_alive);
    family(program).into_iter().filter(is_page).collect()
}

/// A process and all beneath it.
pub(super) fn family(ancestor: u32) -> Vec<u32> {
    let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let all: Vec<(u32, u32)> = entries
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
        .filter_map(|id| Some((id, stat(id)?.parent)))
        .collect();
    let mut family = vec![ancestor];
    let mut at = 0;
    while let Some(&parent) = family.get(at) {
        family.extend(all.iter().filter(|(_, other)| *other == parent).map(|(id, _)| *id));
        at += 1;
    }
    family
}

/// Processor time that a process has used, by user and system; none once it is gone.
pub(super) fn processor_time(process: u32) -> Duration {
    Duration::from_millis(stat(process).map_or(0, |stat| stat.ticks * 10))
}

/// What a process holds in memory, in MB (10⁶ bytes).
pub(super) fn memory(process: u32) -> f64 {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kibibytes = line.and_then(|line| line.trim().strip_suffix(" kB")?.trim().parse::<f64>().ok());
    kibibytes.unwrap_or_default() * 1024.0 / 1e6
}

/// What the system tells about a process (proc(5)).
struct Stat {
    name: String,
    is_alive: bool,
    parent: u32,
    /// Of processor time, in hundredths of a second.
    ticks: u64,
}

fn stat(process: u32) -> Option<Stat> {
    let text = std::fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    // The name stands in brackets and may hold anything; the state follows it.
    let (head, rest) = text.rsplit_once(") ")?;
    let fields: Vec<&str> = rest.split(' ').collect();
    Some(Stat {
        name: head.split_once('(')?.1.to_owned(),
        is_alive: *fields.first()? != "Z",
        parent: fields.get(1)?.parse().ok()?,
        ticks: fields.get(11)?.parse::<u64>().ok()? + fields.get(12)?.parse::<u64>().ok()?,
    })
}

/// Kills a process at once.
pub(super) fn kill(process: u32) {
    let id = i32::try_from(process).ok().and_then(rustix::process::Pid::from_raw).expect("a process has an id");
    // It may have ended by itself.
    let _ = rustix::process::kill_process(id, rustix::process::Signal::KILL);
}

/// Whether a process is there and hasn't ended; one that nobody has waited for yet has ended.
pub(super) fn is_running(process: u32) -> bool {
    stat(process).is_some_and(|stat| stat.is_alive)
}

fn free_port() -> u16 {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port is free");
    listener.local_addr().expect("a bound socket has an address").port()
}

fn end(process: &mut Child) {
    // Both fail only when it has ended already.
    let _ = process.kill();
    let _ = process.wait();
}

//! What the product promises about time and memory, measured: `cargo xtask bench [SECTION…] [--json FILE]`.
//!
//! Every figure stands beside its limit. Where the machine decides how fast anything can be (a socket, a copy, the disk),
//! the limit is a ratio to that, taken in the same run. Nothing here fails on a time: it is no test. A section is a file
//! with one function, named in [`SECTIONS`].

#![allow(clippy::unwrap_used, reason = "a measurement that can't be made has nothing to say")]
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "the table is what it is for")]
#![allow(clippy::cast_precision_loss, reason = "figures are rounded for people")]

mod changes;
mod fork;
mod large;
mod log;
mod measure;
mod program;
mod provider;
mod report;
mod sink;
mod streaming;
mod tools;
mod window;
mod wire;
mod worktrees;

use std::path::PathBuf;
use std::process::ExitCode;

use peak_alloc::PeakAlloc;
use report::Report;

/// Counts what this process has allocated, for the sections that measure memory within it.
#[global_allocator]
pub(crate) static MEMORY: PeakAlloc = PeakAlloc;

/// A group of figures.
struct Section {
    name: &'static str,
    /// What it measures, for the heading.
    about: &'static str,
    run: fn(&mut Report),
}

const SECTIONS: &[Section] = &[
    Section { name: "fork", about: "making a fork and its request, in memory", run: fork::run },
    Section { name: "wire", about: "sending requests, against raw TCP", run: wire::run },
    Section { name: "program", about: "the whole program, headless, against a provider here", run: program::run },
    Section { name: "streaming", about: "reading answers, against a client that doesn't parse", run: streaming::run },
    Section { name: "log", about: "events written and read", run: log::run },
    Section { name: "worktrees", about: "made and taken away, 80 000 files in memory", run: worktrees::run },
    Section { name: "changes", about: "found and told, 80 000 files in memory", run: changes::run },
    Section { name: "tools", about: "searching and running, 80 000 files in memory", run: tools::run },
    Section { name: "window", about: "the real window, on a display without a graphics card", run: window::run },
];

fn main() -> ExitCode {
    let wanted = match Wanted::of(std::env::args().skip(1)) {
        Ok(wanted) => wanted,
        Err(message) => {
            let names: Vec<_> = SECTIONS.iter().map(|section| section.name).collect();
            eprintln!("{message}\nUsage: cargo xtask bench [SECTION…] [--json FILE]\nSections: {}", names.join(", "));
            return ExitCode::from(2);
        }
    };
    let mut report = Report::default();
    for section in SECTIONS.iter().filter(|section| wanted.names(section.name)) {
        report.begin(section.name, section.about);
        (section.run)(&mut report);
    }
    report.conclude();
    if let Some(path) = wanted.json
        && let Err(error) = std::fs::write(&path, report.json())
    {
        eprintln!("{}: {error}", path.display());
        return ExitCode::FAILURE;
    }
    ExitCode::SUCCESS
}

/// What the command line asks for.
#[derive(Default)]
struct Wanted {
    sections: Vec<String>,
    json: Option<PathBuf>,
}

impl Wanted {
    fn of(mut arguments: impl Iterator<Item = String>) -> Result<Self, String> {
        let mut wanted = Self::default();
        while let Some(argument) = arguments.next() {
            match argument.as_str() {
                // Cargo adds it to the arguments of every bench.
                "--bench" => {}
                // The section by the name that options have.
                "--window" => wanted.sections.push("window".to_owned()),
                "--json" => wanted.json = Some(arguments.next().ok_or("--json needs a file")?.into()),
                name if SECTIONS.iter().any(|section| section.name == name) => wanted.sections.push(argument),
                other => return Err(format!("there is no section {other:?}")),
            }
        }
        Ok(wanted)
    }

    fn names(&self, section: &str) -> bool {
        self.sections.is_empty() || self.sections.iter().any(|name| name == section)
    }
}

//! Searching files on several threads, handed on in order.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use grep_matcher::{LineTerminator, Matcher as _};
use grep_regex::RegexMatcher;
use grep_searcher::{BinaryDetection, Searcher, SearcherBuilder, Sink, SinkContext, SinkMatch};

use super::super::disk;

/// Most bytes of a line that is searched.
const MAX_LINE: usize = 16 * 1024 * 1024;
/// Most bytes of a line that is shown.
const SHOWN: usize = 400;
/// Files that are searched before results are handed on.
const BATCH: usize = 512;
const MAX_THREADS: usize = 8;

/// What is searched for, and how much of it is wanted from each file.
pub(super) struct Search<'a> {
    pub(super) matcher: &'a RegexMatcher,
    pub(super) before: usize,
    pub(super) after: usize,
    /// Most lines kept.
    pub(super) lines: usize,
    /// Most matches looked for.
    pub(super) matches: u64,
    pub(super) stop: &'a AtomicBool,
}

/// What a file holds; nothing that doesn't match comes here.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Found {
    pub(super) matches: u64,
    pub(super) lines: Vec<Line>,
}

/// A line of a file, with its number from 1.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Line {
    Match(u64, String),
    Context(u64, String),
    /// Lines are left out here.
    Gap,
}

impl Search<'_> {
    /// Searches `files` and hands on those with a match, in order, and those that can't be searched as `None`, until
    /// `take` says that it has enough.
    pub(super) fn each(&self, files: Vec<PathBuf>, mut take: impl FnMut(PathBuf, Option<Found>) -> bool) {
        let threads = std::thread::available_parallelism().map_or(1, usize::from).min(MAX_THREADS);
        let mut files = files.into_iter();
        loop {
            let batch: Vec<PathBuf> = files.by_ref().take(BATCH).collect();
            if batch.is_empty() || self.stop.load(Ordering::Relaxed) {
                return;
            }
            let part = batch.len().div_ceil(threads);
            let found: Vec<Option<Found>> = std::thread::scope(|scope| {
                let work = |files: &[PathBuf]| {
                    let mut searcher = self.searcher();
                    files.iter().map(|file| self.file(&mut searcher, file)).collect::<Vec<_>>()
                };
                let parts: Vec<_> = batch.chunks(part).map(|files| scope.spawn(move || work(files))).collect();
                parts.into_iter().flat_map(|part| part.join().unwrap_or_default()).collect()
            });
            for (path, found) in batch.into_iter().zip(found) {
                if found.as_ref().is_none_or(|found| found.matches > 0) && !take(path, found) {
                    return;
                }
            }
        }
    }

    fn searcher(&self) -> Searcher {
        SearcherBuilder::new()
            .line_terminator(LineTerminator::crlf())
            .before_context(self.before)
            .after_context(self.after)
            .heap_limit(Some(MAX_LINE))
            .binary_detection(BinaryDetection::quit(0))
            .build()
    }

    fn file(&self, searcher: &mut Searcher, path: &Path) -> Option<Found> {
        let file = disk::open_regular(path).ok()?;
        let mut sink = Collect { search: self, found: Found::default() };
        let result = searcher.search_reader(self.matcher, Stoppable { file, stop: self.stop }, &mut sink);
        // A file that breaks off after a match has still matched.
        (result.is_ok() || sink.found.matches > 0).then_some(sink.found)
    }

    /// A line as it is shown: without its end, and if it is long, only what stands around the match.
    fn shorten(&self, line: &[u8]) -> String {
        let text = String::from_utf8_lossy(line);
        let text = text.trim_end_matches(['\r', '\n']);
        if text.len() <= SHOWN {
            return text.to_owned();
        }
        let at = self.matcher.find(text.as_bytes()).ok().flatten().map_or(0, |found| found.start());
        let boundary = |mut at: usize| {
            while !text.is_char_boundary(at) {
                at -= 1;
            }
            at
        };
        let first = boundary(at.saturating_sub(SHOWN / 4));
        let last = boundary((first + SHOWN).min(text.len()));
        let (before, after) = (if first > 0 { "…" } else { "" }, if last < text.len() { "…" } else { "" });
        format!("{before}{}{after}", &text[first..last])
    }
}

struct Collect<'a> {
    search: &'a Search<'a>,
    found: Found,
}

impl Collect<'_> {
    fn keep(&mut self, line: impl FnOnce(&Search<'_>) -> Line) {
        if self.found.lines.len() < self.search.lines {
            let line = line(self.search);
            self.found.lines.push(line);
        }
    }
}

impl Sink for Collect<'_> {
    type Error = io::Error;

    fn matched(&mut self, _: &Searcher, line: &SinkMatch<'_>) -> io::Result<bool> {
        self.found.matches += 1;
        self.keep(|search| Line::Match(line.line_number().unwrap_or_default(), search.shorten(line.bytes())));
        Ok(self.found.matches < self.search.matches)
    }

    fn context(&mut self, _: &Searcher, line: &SinkContext<'_>) -> io::Result<bool> {
        self.keep(|search| Line::Context(line.line_number().unwrap_or_default(), search.shorten(line.bytes())));
        Ok(true)
    }

    fn context_break(&mut self, _: &Searcher) -> io::Result<bool> {
        self.keep(|_| Line::Gap);
        Ok(true)
    }
}

/// A file that ends in an error once nobody wants the result any more.
struct Stoppable<'a> {
    file: File,
    stop: &'a AtomicBool,
}

impl Read for Stoppable<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.stop.load(Ordering::Relaxed) {
            return Err(io::Error::other("stopped"));
        }
        self.file.read(buffer)
    }
}

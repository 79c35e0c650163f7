//! `Read`: a stretch of a text file, with line numbers.

use std::fmt::Write as _;

use async_trait::async_trait;
use offshoot_protocol::Access;
use serde::Deserialize;
use serde_json::{Value, json};

use super::text::{NotText, Text};
use super::{Tool, ToolContext, ToolError, ToolOutput, blocking, disk, input};
use crate::boundary::Place;

/// Lines shown when the call doesn't say.
const DEFAULT_LINES: u32 = 2000;
/// Characters shown of one line.
const MAX_LINE: usize = 2000;
/// Bytes shown in all.
const MAX_SHOWN: usize = 128 * 1024;

/// The tool.
#[derive(Debug)]
pub(super) struct Read;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Input {
    file_path: String,
    offset: Option<u32>,
    limit: Option<u32>,
}

fn parse(input: &Value) -> Result<Input, ToolError> {
    let parsed: Input = input::parse(input)?;
    input::path("file_path", &parsed.file_path)?;
    if parsed.limit == Some(0) {
        return Err(ToolError::invalid("`limit` must be at least 1."));
    }
    Ok(parsed)
}

#[async_trait]
impl Tool for Read {
    fn name(&self) -> &'static str {
        "Read"
    }

    fn description(&self) -> &'static str {
        include_str!("read.md")
    }

    fn schema(&self) -> Value {
        json!({
            "type": "object",
            "properties": {
                "file_path": {"type": "string", "description": "Absolute path, or relative to your directory"},
                "offset": {"type": "integer", "minimum": 1, "description": "First line to show, from 1"},
                "limit": {"type": "integer", "minimum": 1, "description": "Most lines to show (2000)"},
            },
            "required": ["file_path"],
            "additionalProperties": false,
        })
    }

    fn is_parallel(&self) -> bool {
        true
    }

    fn access(&self, input: &Value, place: &Place) -> Result<Access, ToolError> {
        let input = parse(input)?;
        let path = place.absolute(&input.file_path)?;
        Ok(Access::Read { path: path.display().to_string() })
    }

    async fn run(&self, input: Value, context: &ToolContext) -> Result<ToolOutput, ToolError> {
        let input = parse(&input)?;
        let path = context.place.absolute(&input.file_path)?;
        let files = context.files.clone();
        blocking(move || {
            let file = disk::open_regular(&path)?;
            let bytes = disk::read_all(&path, &file)?;
            // Edit and Write look a file up under its real path.
            files.remember(&path.canonicalize().unwrap_or_else(|_| path.clone()), &bytes);
            show(&path.display().to_string(), &bytes, &input).map(ToolOutput::text)
        })
        .await
    }
}

fn show(path: &str, bytes: &[u8], input: &Input) -> Result<String, ToolError> {
    if bytes.is_empty() {
        return Ok("[the file is empty]".to_owned());
    }
    let mut notes = Vec::new();
    let content = match Text::decode(bytes) {
        Ok(text) => {
            if text.encoding != super::text::Encoding::Utf8 {
                notes.push(format!("the file is {}; Edit and Write keep that", text.encoding.name()));
            }
            if text.is_crlf() {
                notes.push("lines end in CR LF; Edit and Write keep that, and you write plain line ends".to_owned());
            }
            text.content
        }
        Err(NotText::Binary) => {
            let message = format!("{path} is a binary file of {} bytes, and can't be shown as text.", bytes.len());
            return Err(ToolError::new("binary_file", message));
        }
        Err(NotText::Unknown(lossy)) => {
            notes.push(
                "the file is not UTF-8, perhaps Latin-1: bytes that can't be shown are U+FFFD here, and Edit refuses it"
                    .to_owned(),
            );
            lossy
        }
    };
    let total = content.lines().count();
    let first = input.offset.unwrap_or(1).max(1) as usize;
    if first > total {
        let message = format!("`offset`: {path} has only {total} lines.");
        return Err(ToolError::invalid(message));
    }
    let limit = input.limit.unwrap_or(DEFAULT_LINES) as usize;
    let mut out = String::new();
    let mut last = first - 1;
    for (index, line) in content.lines().enumerate().skip(first - 1).take(limit) {
        if out.len() > MAX_SHOWN {
            break;
        }
        last = index + 1;
        match line.char_indices().nth(MAX_LINE) {
            None => _ = writeln!(out, "{last:>6}\t{line}"),
            Some((cut, _)) => {
                _ = writeln!(out, "{last:>6}\t{}… [{} more bytes in this line]", &line[..cut], line.len() - cut);
            }
        }
    }
    if last < total {
        notes.push(format!("lines {first} to {last} of {total}; go on with offset {}", last + 1));
    }
    if !content.ends_with('\n') && last == total {
        notes.push("no line end at the end of the file".to_owned());
    }
    for note in notes {
        let _ = writeln!(out, "[{note}]");
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::super::testing::Bench;
    use super::*;

    #[tokio::test]
    async fn lines_are_numbered_and_a_stretch_can_be_asked_for() {
        let bench = Bench::new();
        bench.file("a.txt", "one\ntwo\nthree\n");
        let whole = bench.run(&Read, json!({"file_path": "a.txt"})).await.unwrap().content;
        assert_eq!(whole, "     1\tone\n     2\ttwo\n     3\tthree\n");
        let part = bench.run(&Read, json!({"file_path": "a.txt", "offset": 2, "limit": 1})).await.unwrap().content;
        assert_eq!(part, "     2\ttwo\n[lines 2 to 2 of 3; go on with offset 3]\n");
        let beyond = bench.run(&Read, json!({"file_path": "a.txt", "offset": 9})).await.unwrap_err();
        assert!(beyond.message.contains("only 3 lines"), "{beyond}");
    }

    #[tokio::test]
    async fn long_lines_and_long_files_are_bounded_at_character_boundaries() {
        let bench = Bench::new();
        bench.file("long.txt", "👩‍💻".repeat(100_000));
        let shown = bench.run(&Read, json!({"file_path": "long.txt"})).await.unwrap().content;
        assert!(shown.len() < 10_000 && shown.contains("more bytes in this line"), "{}", shown.len());
        bench.file("big.txt", format!("{}\n", "z".repeat(150)).repeat(5000));
        let shown = bench.run(&Read, json!({"file_path": "big.txt", "limit": 5000})).await.unwrap().content;
        assert!(shown.len() < MAX_SHOWN + 4096 && shown.contains("of 5000; go on with offset"), "{}", shown.len());
    }

    #[tokio::test]
    async fn encodings_are_shown_decoded_and_named() {
        let bench = Bench::new();
        let utf16 = crate::tool::text::Encoding::Utf16Le.encode("β\r\nx\r\n");
        bench.file("wide.txt", utf16);
        let shown = bench.run(&Read, json!({"file_path": "wide.txt"})).await.unwrap().content;
        assert!(shown.starts_with("     1\tβ\n     2\tx\n["), "{shown}");
        assert!(shown.contains("UTF-16 (little-endian)") && shown.contains("CR LF"), "{shown}");
        bench.file("mark.txt", b"\xEF\xBB\xBFa\n");
        let shown = bench.run(&Read, json!({"file_path": "mark.txt"})).await.unwrap().content;
        assert!(shown.starts_with("     1\ta\n"), "{shown}");
        bench.file("latin.txt", b"caf\xE9\n");
        let shown = bench.run(&Read, json!({"file_path": "latin.txt"})).await.unwrap().content;
        assert!(shown.contains("not UTF-8"), "{shown}");
        bench.file("empty.txt", "");
        assert!(bench.run(&Read, json!({"file_path": "empty.txt"})).await.unwrap().content.contains("empty"));
        bench.file("program", b"\x7fELF\0\0");
        assert_eq!(bench.run(&Read, json!({"file_path": "program"})).await.unwrap_err().code, "binary_file");
    }

    #[tokio::test]
    async fn what_is_no_file_is_refused_and_says_so() {
        let bench = Bench::new();
        let code = async |path: &str| bench.run(&Read, json!({"file_path": path})).await.unwrap_err().code;
        assert_eq!(code(".").await, "is_directory");
        assert_eq!(code("missing").await, "not_found");
        assert_eq!(code("a\0b").await, "invalid_arguments");
        assert_eq!(code("").await, "invalid_arguments");
    }

    #[cfg(target_os = "linux")]
    #[tokio::test]
    async fn pipes_devices_sockets_and_process_files_are_refused_at_once() {
        let bench = Bench::new();
        let fifo = bench.place.directory.join("fifo");
        rustix::fs::mknodat(rustix::fs::CWD, &fifo, rustix::fs::FileType::Fifo, 0o600.into(), 0).unwrap();
        let _socket = std::os::unix::net::UnixListener::bind(bench.place.directory.join("socket")).unwrap();
        std::os::unix::fs::symlink("/proc/self/environ", bench.place.directory.join("link")).unwrap();
        for path in [
            "fifo",
            "socket",
            "/dev/zero",
            "/dev/tty",
            "/dev/fd/0",
            "/proc/self/root/etc/passwd",
            "/proc/self/environ",
            "/proc/self/cwd/Cargo.toml",
            "link",
        ] {
            let error = bench.run(&Read, json!({"file_path": path})).await.unwrap_err();
            assert!(matches!(error.code, "not_a_regular_file" | "io_error"), "{path}: {error:?}");
        }
    }
}

//! `Write`: a whole file, new or replaced.

use async_trait::async_trait;
use offshoot_protocol::{Access, ResultDetail};
use serde::Deserialize;
use serde_json::{Value, json};

use super::disk::{Found, Slot};
use super::text::{self, NotText, Text};
use super::{FileMemory, Tool, ToolContext, ToolError, ToolOutput, blocking, diff, input};
use crate::boundary::{Place, Target};

/// The tool.
#[derive(Debug)]
pub(super) struct Write;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Input {
    file_path: String,
    content: String,
}

fn parse(input: &Value) -> Result<Input, ToolError> {
    let parsed: Input = input::parse(input)?;
    input::path("file_path", &parsed.file_path)?;
    Ok(parsed)
}

#[async_trait]
impl Tool for Write {
    fn name(&self) -> &'static str {
        "Write"
    }

    fn description(&self) -> &'static str {
        include_str!("write.md")
    }

    fn schema(&self) -> Value {
        json!({
            "type": "object",
            "properties": {
                "file_path": {"type": "string", "description": "Absolute path, or relative to your directory"},
                "content": {"type": "string", "description": "The whole new content"},
            },
            "required": ["file_path", "content"],
            "additionalProperties": false,
        })
    }

    fn access(&self, input: &Value, place: &Place) -> Result<Access, ToolError> {
        let input = parse(input)?;
        let target = place.target(&input.file_path)?;
        // A file that can't be replaced has no diff; the call itself says why, once it may look at the file.
        let change = Slot::open(&target, false).ok().and_then(|slot| slot.read().ok());
        let diff = match change {
            None | Some(None) => Some(diff::unified("", &input.content)),
            Some(Some(found)) => Replacement::of(&found, &input.content).ok().map(|it| diff::unified(&it.old, &it.new)),
        };
        Ok(Access::Edit { path: target.path().display().to_string(), diff })
    }

    async fn run(&self, input: Value, context: &ToolContext) -> Result<ToolOutput, ToolError> {
        let input = parse(&input)?;
        let target = context.place.target(&input.file_path)?;
        let files = context.files.clone();
        blocking(move || write(&target, &input.content, &files)).await
    }
}

fn write(target: &Target, content: &str, files: &FileMemory) -> Result<ToolOutput, ToolError> {
    let slot = Slot::open(target, true)?;
    let path = slot.path().display().to_string();
    let Some(found) = slot.read()? else {
        slot.replace(content.as_bytes(), None)?;
        files.remember(slot.path(), content.as_bytes());
        let detail = ResultDetail::Edited { path: path.clone(), diff: diff::unified("", content) };
        return Ok(ToolOutput { detail: Some(detail), ..ToolOutput::text(format!("Created {path}.")) });
    };
    super::edit::require_current(&path, files.seen(slot.path(), &found.content), "overwriting")?;
    let replacement = Replacement::of(&found, content)
        .map_err(|reason| ToolError::new("unknown_encoding", format!("{path} {reason} It was left as it is.")))?;
    slot.replace(&replacement.bytes, Some(&found))?;
    files.remember(slot.path(), &replacement.bytes);
    let detail = ResultDetail::Edited { path: path.clone(), diff: diff::unified(&replacement.old, &replacement.new) };
    Ok(ToolOutput { detail: Some(detail), ..ToolOutput::text(format!("Wrote {path}.{}", replacement.kept)) })
}

/// New content for an existing file, written down as the old one was.
struct Replacement {
    old: String,
    new: String,
    bytes: Vec<u8>,
    /// What was kept of the old form, as a sentence behind the others; often empty.
    kept: String,
}

impl Replacement {
    fn of(found: &Found, content: &str) -> Result<Self, &'static str> {
        let old = Text::decode(&found.content).map_err(|error| match error {
            NotText::Binary => "is a binary file, and this would make text of it.",
            NotText::Unknown(_) => "is not in UTF-8 (perhaps Latin-1), and this would convert it.",
        })?;
        let mut kept = Vec::new();
        let mut new = content.to_owned();
        if old.encoding != text::Encoding::Utf8 {
            // A mark that the model repeats would be there twice.
            new = new.trim_start_matches('\u{feff}').to_owned();
            kept.push(old.encoding.name());
        }
        if old.is_crlf() {
            new = text::with_line_ends(&new, "\r\n");
            kept.push("CR LF line ends");
        }
        let kept = if kept.is_empty() { String::new() } else { format!(" Kept as before: {}.", kept.join(", ")) };
        Ok(Self { bytes: old.encoding.encode(&new), old: old.content, new, kept })
    }
}

#[cfg(test)]
mod tests {
    use super::super::read::Read;
    use super::super::testing::Bench;
    use super::super::text::Encoding;
    use super::*;

    #[tokio::test]
    async fn a_new_file_is_created_with_its_folders_and_exactly_its_content() {
        let bench = Bench::new();
        let output = bench.run(&Write, json!({"file_path": "a/b/c.txt", "content": "x\r\ny"})).await.unwrap();
        assert_eq!(bench.bytes("a/b/c.txt"), b"x\r\ny");
        let Some(ResultDetail::Edited { diff, path }) = output.detail else { panic!("no diff") };
        assert!(path.ends_with("/a/b/c.txt") && diff.contains("+y"), "{diff}");
        // What it wrote it knows.
        bench.run(&Write, json!({"file_path": "a/b/c.txt", "content": "z"})).await.unwrap();
    }

    #[tokio::test]
    async fn an_existing_file_must_have_been_read_and_not_changed_since() {
        let bench = Bench::new();
        bench.file("a.txt", "one");
        let write = json!({"file_path": "a.txt", "content": "two"});
        assert_eq!(bench.run(&Write, write.clone()).await.unwrap_err().code, "not_read");
        bench.run(&Read, json!({"file_path": "a.txt"})).await.unwrap();
        bench.file("a.txt", "someone else");
        assert_eq!(bench.run(&Write, write.clone()).await.unwrap_err().code, "changed_since_read");
        assert_eq!(bench.bytes("a.txt"), b"someone else");
        bench.run(&Read, json!({"file_path": "a.txt"})).await.unwrap();
        bench.run(&Write, write).await.unwrap();
        assert_eq!(bench.bytes("a.txt"), b"two");
    }

    #[tokio::test]
    async fn encoding_mark_and_line_ends_stay() {
        let bench = Bench::new();
        for encoding in [Encoding::Utf8Mark, Encoding::Utf16Le, Encoding::Utf16Be, Encoding::Utf8] {
            bench.file("a.txt", encoding.encode("ä\r\n"));
            bench.run(&Read, json!({"file_path": "a.txt"})).await.unwrap();
            let output = bench.run(&Write, json!({"file_path": "a.txt", "content": "ö\nü\n"})).await.unwrap();
            assert_eq!(bench.bytes("a.txt"), encoding.encode("ö\r\nü\r\n"), "{}", encoding.name());
            assert!(output.content.contains("CR LF"), "{}", output.content);
        }
        bench.file("latin.txt", b"caf\xE9");
        bench.run(&Read, json!({"file_path": "latin.txt"})).await.unwrap();
        let refused = bench.run(&Write, json!({"file_path": "latin.txt", "content": "x"})).await.unwrap_err();
        assert_eq!((refused.code, bench.bytes("latin.txt").as_slice()), ("unknown_encoding", b"caf\xE9".as_slice()));
    }

    #[tokio::test]
    async fn the_request_shows_what_would_change() {
        let bench = Bench::new();
        bench.file("a.txt", "one\ntwo\n");
        let access = Write.access(&json!({"file_path": "a.txt", "content": "one\n2\n"}), &bench.place).unwrap();
        let Access::Edit { diff: Some(diff), .. } = access else { panic!("{access:?}") };
        assert_eq!(diff, "@@ -1,2 +1,2 @@\n one\n-two\n+2\n");
        let outside = Write.access(&json!({"file_path": "/etc/passwd", "content": ""}), &bench.place).unwrap_err();
        assert_eq!(outside.code, "outside_boundary");
        let main = bench.place.main_checkout.clone().unwrap().join("src/a.rs");
        let error = Write.access(&json!({"file_path": main, "content": ""}), &bench.place).unwrap_err();
        assert!(error.message.contains(bench.place.directory.join("src/a.rs").to_str().unwrap()), "{error}");
    }

    #[cfg(unix)]
    #[tokio::test]
    async fn mode_is_kept_links_are_written_through_and_nothing_is_left_behind() {
        use std::os::unix::fs::{PermissionsExt, symlink};
        let bench = Bench::new();
        bench.file("run.sh", "#!/bin/sh\n");
        let path = bench.place.directory.join("run.sh");
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o751)).unwrap();
        symlink("run.sh", bench.place.directory.join("link")).unwrap();
        bench.run(&Read, json!({"file_path": "link"})).await.unwrap();
        bench.run(&Write, json!({"file_path": "link", "content": "#!/bin/bash\n"})).await.unwrap();
        assert_eq!(bench.bytes("run.sh"), b"#!/bin/bash\n");
        assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o7777, 0o751);
        assert!(bench.place.directory.join("link").is_symlink());
        let names = std::fs::read_dir(&bench.place.directory).unwrap();
        assert_eq!(names.count(), 2);
        let refused = bench.run(&Write, json!({"file_path": ".", "content": ""})).await.unwrap_err();
        assert_eq!(refused.code, "is_directory");
    }

    #[cfg(unix)]
    #[test]
    fn a_folder_that_became_a_link_after_the_check_is_not_followed() {
        let bench = Bench::new();
        bench.file("folder/a.txt", "in");
        let target = bench.place.target("folder/a.txt").unwrap();
        let outside = bench.place.main_checkout.clone().unwrap();
        std::fs::write(outside.join("a.txt"), "out").unwrap();
        std::fs::rename(bench.place.directory.join("folder"), bench.place.directory.join("moved")).unwrap();
        std::os::unix::fs::symlink(&outside, bench.place.directory.join("folder")).unwrap();
        let error = write(&target, "evil", &FileMemory::default()).unwrap_err();
        assert_eq!(error.code, "outside_boundary", "{error}");
        assert_eq!(std::fs::read(outside.join("a.txt")).unwrap(), b"out");
        // The file itself, swapped for a link.
        let target = bench.place.target("moved/a.txt").unwrap();
        std::fs::remove_file(target.path()).unwrap();
        std::os::unix::fs::symlink(outside.join("a.txt"), target.path()).unwrap();
        assert_eq!(write(&target, "evil", &FileMemory::default()).unwrap_err().code, "outside_boundary");
        assert_eq!(std::fs::read(outside.join("a.txt")).unwrap(), b"out");
    }
}

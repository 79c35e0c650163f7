//! Values to text and back, and the lines that differ. Pure.

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use offshoot_protocol::{DiffLine, Isolation, LineKind, Rejected, RoleFields};
use sha2::{Digest, Sha256};
use similar::{Algorithm, DiffOp};

use super::super::Role;
use super::super::write::{Change, RoleEdit, edit};
use super::invalid;

/// How long the best alignment of two texts is looked for.
const PATIENCE: Duration = Duration::from_millis(200);

/// SHA-256 in hex.
pub(super) fn fingerprint(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().fold(String::with_capacity(64), |mut hex, byte| {
        write!(hex, "{byte:02x}").expect("a string takes everything");
        hex
    })
}

/// A role's values.
pub(super) fn fields(role: &Role) -> RoleFields {
    RoleFields {
        name: role.name.clone(),
        description: role.description.clone(),
        tools: role.tools.clone(),
        disallowed_tools: role.disallowed_tools.clone(),
        model: role.model.clone(),
        max_turns: role.max_turns,
        permission: role.permission,
        background: role.background,
        isolation: role.isolation,
        color: role.color.clone(),
        without_instructions: role.without_instructions,
        body: role.body.clone(),
    }
}

/// The text `base`, or a new file, with these values.
pub(super) fn written(base: Option<&str>, wanted: &RoleFields) -> Result<String, Rejected> {
    let (base, now) = match base {
        Some(base) => (base.to_owned(), super::fields(base.as_bytes())),
        None => skeleton(wanted),
    };
    let now = now.ok_or_else(|| invalid("The front matter can't be read, so no value in it can be changed."))?;
    let bytes =
        edit(base.as_bytes(), &difference(&now, wanted)).map_err(|error| invalid(&capital(&error.to_string())))?;
    String::from_utf8(bytes).map_err(|_| invalid("The changed file would not be UTF-8."))
}

/// The least text that the values can be written into, and what it says.
fn skeleton(wanted: &RoleFields) -> (String, Option<RoleFields>) {
    let mut text = String::from("---\n");
    let mut now = RoleFields::default();
    // Placeholders, replaced by what is wanted: how a value is quoted is the writer's business.
    if !wanted.name.trim().is_empty() {
        text.push_str("name: x\n");
        "x".clone_into(&mut now.name);
    }
    if !wanted.description.trim().is_empty() {
        text.push_str("description: x\n");
        "x".clone_into(&mut now.description);
    }
    text.push_str("---\n");
    (text, Some(now))
}

fn difference(now: &RoleFields, wanted: &RoleFields) -> RoleEdit {
    fn text(now: &str, wanted: &str) -> Change<String> {
        if now.trim() == wanted.trim() { Change::Keep } else { Change::Set(wanted.to_owned()) }
    }
    fn value<T: Clone + PartialEq>(now: Option<&T>, wanted: Option<&T>) -> Change<T> {
        match wanted {
            same if same == now => Change::Keep,
            Some(wanted) => Change::Set(wanted.clone()),
            None => Change::Remove,
        }
    }
    fn flag<T: Copy + PartialEq>(now: T, wanted: T) -> Change<T> {
        if now == wanted { Change::Keep } else { Change::Set(wanted) }
    }
    let disallowed_tools = match &wanted.disallowed_tools {
        same if *same == now.disallowed_tools => Change::Keep,
        none if none.is_empty() => Change::Remove,
        some => Change::Set(some.clone()),
    };
    RoleEdit {
        name: text(&now.name, &wanted.name),
        description: text(&now.description, &wanted.description),
        tools: value(now.tools.as_ref(), wanted.tools.as_ref()),
        disallowed_tools,
        model: value(now.model.as_ref(), wanted.model.as_ref()),
        max_turns: value(now.max_turns.as_ref(), wanted.max_turns.as_ref()),
        permission: value(now.permission.as_ref(), wanted.permission.as_ref()),
        background: flag(now.background, wanted.background),
        isolation: flag::<Isolation>(now.isolation, wanted.isolation),
        color: value(now.color.as_ref(), wanted.color.as_ref()),
        without_instructions: flag(now.without_instructions, wanted.without_instructions),
        body: (now.body.trim() != wanted.body.trim()).then(|| wanted.body.clone()),
    }
}

/// `text`, which came through a field that knows only `\n`, with the line ends of the lines it kept; new lines get the
/// ends of the first line.
pub(super) fn with_line_ends_of(base: &str, text: &str) -> String {
    if text.contains('\r') || !base.contains('\r') {
        return text.to_owned();
    }
    let usual =
        if base.split_inclusive('\n').next().is_some_and(|line| line.ends_with("\r\n")) { "\r\n" } else { "\n" };
    let (old, new): (Vec<&str>, Vec<&str>) =
        (base.split_inclusive('\n').collect(), text.split_inclusive('\n').collect());
    let mut out = String::with_capacity(text.len() + new.len());
    for op in aligned(&old, &new) {
        if let DiffOp::Equal { old_index, len, .. } = op {
            out.extend(old[old_index..old_index + len].iter().copied());
            continue;
        }
        for line in &new[op.new_range()] {
            match line.strip_suffix('\n') {
                Some(content) => out.extend([content, usual]),
                None => out.push_str(line),
            }
        }
    }
    out
}

/// All lines of `new`, and before each changed place the lines of `old` that go.
pub(super) fn lines(old: &str, new: &str) -> Vec<DiffLine> {
    let (old, new): (Vec<&str>, Vec<&str>) = (old.split_inclusive('\n').collect(), new.split_inclusive('\n').collect());
    let mut lines = Vec::with_capacity(new.len());
    for op in aligned(&old, &new) {
        if let DiffOp::Equal { .. } = op {
            lines.extend(new[op.new_range()].iter().map(|text| line(LineKind::Context, text)));
        } else {
            lines.extend(old[op.old_range()].iter().map(|text| line(LineKind::Removed, text)));
            lines.extend(new[op.new_range()].iter().map(|text| line(LineKind::Added, text)));
        }
    }
    lines
}

/// Lines are the same if their content is.
fn aligned(old: &[&str], new: &[&str]) -> Vec<DiffOp> {
    let content = |lines: &[&str]| -> Vec<String> { lines.iter().map(|line| bare(line).to_owned()).collect() };
    let deadline = Some(Instant::now() + PATIENCE);
    similar::capture_diff_slices_deadline(Algorithm::Myers, &content(old), &content(new), deadline)
}

fn bare(line: &str) -> &str {
    line.strip_suffix('\n').map_or(line, |line| line.strip_suffix('\r').unwrap_or(line))
}

fn line(kind: LineKind, text: &str) -> DiffLine {
    DiffLine { kind, text: bare(text).to_owned(), no_newline: !text.ends_with('\n') }
}

fn capital(text: &str) -> String {
    let mut rest = text.chars();
    let first = rest.next().map(|first| first.to_uppercase().collect::<String>()).unwrap_or_default();
    format!("{first}{}", rest.as_str())
}

//! Changes a list of tools where it stands: what stays keeps its bytes, its separators and its comments.

use std::ops::Range;

use super::emit::{Spot, is_plain, plain_or_quoted};
use super::layout::Entry;
use super::list::{self, Item};
use super::value::{TextStyle, Value, ValueKind};

/// Replace these bytes of the file by that text.
pub(super) type Splice = (Range<usize>, String);

/// How a new list is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ListStyle {
    /// `[Read, Grep]`
    Flow,
    /// `Read, Grep`
    Commas,
    /// A line with a dash for each, with this many spaces before it.
    Dashes(usize),
}

/// The style of a value, if it is a list.
pub(super) fn style(text: &str, entry: &Entry, value: &Value) -> Option<ListStyle> {
    match &value.kind {
        ValueKind::List { flow: true, .. } => Some(ListStyle::Flow),
        ValueKind::List { flow: false, .. } => {
            let line = text[entry.lines.start..value.span.start].rfind('\n')? + 1;
            Some(ListStyle::Dashes(value.span.start - entry.lines.start - line))
        }
        ValueKind::Text { style: TextStyle::Plain | TextStyle::Loose, .. } => Some(ListStyle::Commas),
        _ => None,
    }
}

/// A whole list, as it stands behind the colon of a new entry (with the space or line break before it).
pub(super) fn fresh(wanted: &[String], style: ListStyle, line_ending: &str) -> String {
    let fits_commas = |item: &String| is_plain(item, Spot::Block) && list::is_balanced(item);
    match style {
        ListStyle::Dashes(indent) if !wanted.is_empty() => {
            let line = |item: &String| format!("{line_ending}{:indent$}- {}", "", plain_or_quoted(item, Spot::Block));
            wanted.iter().map(line).collect()
        }
        ListStyle::Commas if !wanted.is_empty() && wanted.iter().all(fits_commas) => format!(" {}", wanted.join(", ")),
        _ => format!(" {}", flow(wanted)),
    }
}

fn flow(wanted: &[String]) -> String {
    let items: Vec<String> = wanted.iter().map(|item| plain_or_quoted(item, Spot::Flow)).collect();
    format!("[{}]", items.join(", "))
}

/// What to change so that the list at `value` has the entries `wanted`.
pub(super) fn change(text: &str, entry: &Entry, value: &Value, wanted: &[String], line_ending: &str) -> Vec<Splice> {
    let whole = || vec![(value.span.clone(), flow(wanted))];
    match &value.kind {
        ValueKind::Empty => vec![(value.span.clone(), format!(" {}", flow(wanted)))],
        ValueKind::List { items, flow: false } => dashes(text, entry, items, wanted, line_ending),
        ValueKind::List { items, flow: true } if !items.is_empty() && !wanted.is_empty() => {
            let encode = |item: &str| Some(plain_or_quoted(item, Spot::Flow));
            separated(text, items, wanted, line_ending, &encode).unwrap_or_else(whole)
        }
        ValueKind::Text { style, .. } if !wanted.is_empty() => {
            let Some(inner) = inner(text, value, *style) else { return whole() };
            let items = list::commas(text, inner);
            let encode = |item: &str| {
                let fits = match style {
                    TextStyle::Plain => is_plain(item, Spot::Block),
                    TextStyle::Double => !item.contains(['"', '\\']),
                    TextStyle::Single => !item.contains('\''),
                    TextStyle::Loose => !item.contains(" #") && !item.starts_with(['"', '\'', '*', '[', '-']),
                    TextStyle::Block => false,
                };
                (fits && list::is_balanced(item)).then(|| item.to_owned())
            };
            separated(text, &items, wanted, line_ending, &encode).unwrap_or_else(whole)
        }
        ValueKind::Text { .. } | ValueKind::List { .. } | ValueKind::Other => whole(),
    }
}

/// The bytes of a text with commas, if they say what they look like.
fn inner(text: &str, value: &Value, style: TextStyle) -> Option<Range<usize>> {
    let span = value.span.clone();
    match style {
        TextStyle::Plain | TextStyle::Loose => Some(span),
        TextStyle::Double | TextStyle::Single => {
            let inner = span.start + 1..span.end.checked_sub(1)?;
            (!text[inner.clone()].contains(['\\', '\'', '"', '\n'])).then_some(inner)
        }
        TextStyle::Block => None,
    }
}

/// One step from the old list to the new one.
enum Step<'w> {
    Keep(usize),
    Drop(usize),
    Add(&'w str),
}

/// The shortest way from `old` to `wanted`, over their longest common subsequence.
fn steps<'w>(old: &[Item], wanted: &'w [String]) -> Vec<Step<'w>> {
    let width = wanted.len() + 1;
    let mut common = vec![0_usize; (old.len() + 1) * width];
    for i in (0..old.len()).rev() {
        for j in (0..wanted.len()).rev() {
            common[i * width + j] = if old[i].text == wanted[j] {
                common[(i + 1) * width + j + 1] + 1
            } else {
                common[(i + 1) * width + j].max(common[i * width + j + 1])
            };
        }
    }
    let (mut i, mut j) = (0, 0);
    let mut steps = Vec::new();
    while i < old.len() || j < wanted.len() {
        if i < old.len() && j < wanted.len() && old[i].text == wanted[j] {
            steps.push(Step::Keep(i));
            (i, j) = (i + 1, j + 1);
        } else if j == wanted.len() || i < old.len() && common[(i + 1) * width + j] >= common[i * width + j + 1] {
            steps.push(Step::Drop(i));
            i += 1;
        } else {
            steps.push(Step::Add(&wanted[j]));
            j += 1;
        }
    }
    steps
}

/// A list with commas, in brackets or not. Nothing where a new item can't be written in it.
fn separated(
    text: &str,
    items: &[Item],
    wanted: &[String],
    line_ending: &str,
    encode: &dyn Fn(&str) -> Option<String>,
) -> Option<Vec<Splice>> {
    let (first, last) = (items.first()?, items.last()?);
    let gap = |after: usize| items.get(after + 1).map(|next| &text[items[after].span.end..next.span.start]);
    let mut out = String::new();
    // The old item that was written last, with nothing new behind it.
    let mut previous: Option<usize> = None;
    let mut separator = gap(0).map_or_else(|| ", ".to_owned(), |gap| plain_gap(gap, line_ending));
    for step in steps(items, wanted) {
        let (index, piece) = match step {
            Step::Drop(_) => continue,
            Step::Keep(index) => (Some(index), text[items[index].span.clone()].to_owned()),
            Step::Add(item) => (None, encode(item)?),
        };
        if !out.is_empty() {
            match (previous, index) {
                (Some(before), Some(index)) if before + 1 == index => out.push_str(gap(before).unwrap_or(", ")),
                _ => out.push_str(&separator),
            }
        }
        if let Some(gap) = index.and_then(gap) {
            separator = plain_gap(gap, line_ending);
        }
        out.push_str(&piece);
        previous = index;
    }
    Some(vec![(first.span.start..last.span.end, out)])
}

/// What stands between two items, without its comments.
fn plain_gap(gap: &str, line_ending: &str) -> String {
    if !gap.contains('#') {
        return gap.to_owned();
    }
    match gap.rsplit_once('\n') {
        Some((_, indent)) => format!(",{line_ending}{indent}"),
        None => ", ".to_owned(),
    }
}

/// A list with dashes: whole lines go and come.
fn dashes(text: &str, entry: &Entry, items: &[Item], wanted: &[String], line_ending: &str) -> Vec<Splice> {
    let key_line_end =
        text[entry.after_colon..].find('\n').map_or(text.len(), |newline| entry.after_colon + newline + 1);
    let lines: Option<Vec<Range<usize>>> = items.iter().map(|item| line_of(text, item)).collect();
    let (Some(lines), false) = (lines, wanted.is_empty()) else {
        // A comment behind the key stays, the lines of the items go.
        let instead = format!(" {}", flow(wanted));
        return vec![(entry.after_colon..entry.after_colon, instead), (key_line_end..entry.lines.end, String::new())];
    };
    let Some(first) = lines.first() else { return Vec::new() };
    let indent = text[first.start..items[0].span.start].split('-').next().unwrap_or_default();
    let mut splices: Vec<Splice> = Vec::new();
    let mut at = first.start;
    for step in steps(items, wanted) {
        match step {
            Step::Keep(index) => at = lines[index].end,
            Step::Drop(index) => {
                splices.push((lines[index].clone(), String::new()));
                at = lines[index].end;
            }
            Step::Add(item) => {
                splices.push((at..at, format!("{indent}- {}{line_ending}", plain_or_quoted(item, Spot::Block))));
            }
        }
    }
    splices
}

/// The lines of an item with its dash; nothing if the dash stands elsewhere.
fn line_of(text: &str, item: &Item) -> Option<Range<usize>> {
    let start = text[..item.span.start].rfind('\n').map_or(0, |newline| newline + 1);
    let end = text[item.span.end..].find('\n').map_or(text.len(), |newline| item.span.end + newline + 1);
    (text[start..item.span.start].trim() == "-").then_some(start..end)
}

//! The `hooks` of a settings file.

use std::time::Duration;

use crate::hooks::{DEFAULT_TIMEOUT, HookEntry, HookEvent, HookMatcher};

use super::json::{Node, Shape};
use super::key::{self, nearest};
use super::layer::Reader;
use super::value::{self, quoted};

/// Longest time that a hook may be given.
const TIMEOUT_LIMIT: f64 = 3600.0;

/// Reads the entries that are right; the others become warnings.
pub(super) fn read(node: &Node, reader: &mut Reader<'_>) -> Vec<HookEntry> {
    let mut entries = Vec::new();
    let Some(events) = node.members() else {
        reader.warn(node, format!("`hooks` was left out: it must be an object, not {}", node.kind()));
        return entries;
    };
    for event in events {
        let Some(known) = HookEvent::from_name(&event.key) else {
            let names = HookEvent::ALL.map(HookEvent::name);
            let meant = nearest(&event.key, &names).map(|name| format!("; did you mean `{name}`?")).unwrap_or_default();
            let message = format!("hooks for {} never run: there is no such event{meant}", quoted(&event.key));
            reader.warn_at(event.key_start, message);
            continue;
        };
        for group in reader.list(&event.value, known.name()) {
            read_group(group, known, reader, &mut entries);
        }
    }
    entries
}

fn read_group(group: &Node, event: HookEvent, reader: &mut Reader<'_>, entries: &mut Vec<HookEntry>) {
    if group.members().is_none() {
        let message =
            format!("this entry of {event} was left out: it must be an object with `hooks`, not {}", group.kind());
        return reader.warn(group, message);
    }
    reader.check_keys(group, &key::GROUP);
    let matcher = match group.member("matcher").map(|node| (node, node.text().map(HookMatcher::new))) {
        None => HookMatcher::all(),
        Some((node, Some(Ok(matcher)))) => {
            if !event.has_subject() && matcher != HookMatcher::all() {
                reader.warn(node, format!("`matcher` is ignored: there is nothing to match at {event}"));
            }
            matcher
        }
        Some((node, Some(Err(why)))) => {
            let message = format!("these hooks of {event} were left out because of their matcher: {why}");
            return reader.warn(node, message);
        }
        Some((node, None)) => {
            let message =
                format!("these hooks of {event} were left out: `matcher` must be a text, not {}", node.kind());
            return reader.warn(node, message);
        }
    };
    let Some(hooks) = group.member("hooks") else {
        return reader.warn(group, format!("this entry of {event} has no `hooks`"));
    };
    for hook in reader.list(hooks, "hooks") {
        match read_hook(hook, reader) {
            Ok((command, timeout)) => {
                let (matcher, path) = (matcher.clone(), reader.path.to_path_buf());
                entries.push(HookEntry { event, matcher, command, timeout, path });
            }
            Err(why) => reader.warn(hook, format!("a hook of {event} was left out: {why}")),
        }
    }
}

fn read_hook(hook: &Node, reader: &mut Reader<'_>) -> value::Read<(String, Duration)> {
    if hook.members().is_none() {
        return Err(format!("it must be an object with `type` and `command`, not {}", hook.kind()));
    }
    reader.check_keys(hook, &key::HOOK);
    match hook.member("type").map(Node::text) {
        Some(Some("command")) => {}
        Some(Some(other)) => {
            return Err(format!("hooks of the type {} are not supported, only `command`", quoted(other)));
        }
        Some(None) | None => return Err("it must say `\"type\": \"command\"`".to_owned()),
    }
    let command = hook.member("command").ok_or("it has no `command`")?;
    let command = value::text(command).map_err(|why| format!("`command`: {why}"))?;
    if let Some(narrowed) = hook.member("if") {
        reader.warn(narrowed, "`if` is not supported: this hook runs whenever its matcher fits".to_owned());
    }
    let timeout = hook.member("timeout").map_or(DEFAULT_TIMEOUT, |node| {
        let seconds = if let Shape::Scalar(value) = &node.shape { value.as_f64() } else { None };
        if let Some(seconds) = seconds.filter(|seconds| *seconds > 0.0 && *seconds <= TIMEOUT_LIMIT) {
            return Duration::from_secs_f64(seconds);
        }
        // A guard with the usual limit is better than none.
        reader.warn(node, format!("`timeout` must be a number of seconds up to {TIMEOUT_LIMIT}; 60 is used"));
        DEFAULT_TIMEOUT
    });
    Ok((command, timeout))
}

//! What a hook answers, from its exit status and what it prints.

use serde::Deserialize;

use super::HookEvent;
use super::process::{Ending, Ran};

/// Most bytes of one text that a hook hands over: a reason, a context.
const TEXT_LIMIT: usize = 16 * 1024;

/// One hook's answer. All that it can say is a restriction or an addition; there is no field that allows anything.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Answer {
    pub(super) blocked: Option<String>,
    pub(super) ask: Option<String>,
    pub(super) context: Option<String>,
    pub(super) stop: Option<String>,
    pub(super) warnings: Vec<String>,
}

/// The JSON that a hook may print. Unknown fields are for other programs.
#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Printed {
    #[serde(rename = "continue")]
    go_on: Option<bool>,
    stop_reason: Option<String>,
    system_message: Option<String>,
    decision: Option<String>,
    reason: Option<String>,
    hook_specific_output: Option<Specific>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Specific {
    hook_event_name: Option<String>,
    permission_decision: Option<String>,
    permission_decision_reason: Option<String>,
    additional_context: Option<String>,
    updated_input: Option<serde_json::Value>,
    decision: Option<Behavior>,
}

/// How a `PermissionRequest` hook answers.
#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Behavior {
    #[serde(rename = "behavior")]
    verdict: Option<String>,
    message: Option<String>,
    updated_input: Option<serde_json::Value>,
}

impl Answer {
    /// Reads the answer of a hook that ran for `event`.
    pub(super) fn of(event: HookEvent, command: &str, ran: &Ran) -> Self {
        let mut answer = Self::default();
        match &ran.ending {
            Ending::Exited(Some(0)) => answer.take_output(event, &ran.stdout),
            Ending::Exited(Some(2)) => {
                let reason = bounded(&ran.stderr);
                let none = || format!("The hook `{}` blocked this and gave no reason.", bounded_to(command, 200));
                answer.blocked = Some(if reason.is_empty() { none() } else { reason });
            }
            Ending::Exited(Some(status)) => {
                let said = ran.stderr.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
                let colon = if said.is_empty() { "" } else { ": " };
                answer.warnings.push(format!("exit status {status}{colon}{}", bounded_to(said, 500)));
            }
            Ending::Exited(None) => answer.unusable(event, "it was ended by a signal".to_owned()),
            Ending::TimedOut(limit) => answer.unusable(event, format!("it was ended after {} s", limit.as_secs_f32())),
            Ending::TooMuchOutput => answer.unusable(event, "it was ended because it printed too much".to_owned()),
            Ending::NotStarted(why) => answer.unusable(event, format!("it could not be started: {why}")),
        }
        answer
    }

    fn take_output(&mut self, event: HookEvent, stdout: &str) {
        let stdout = stdout.trim();
        if !stdout.starts_with('{') {
            if event.takes_plain_text() && !stdout.is_empty() {
                self.context = Some(bounded(stdout));
            }
            return;
        }
        match serde_json::from_str::<Printed>(stdout) {
            Ok(printed) => self.take(event, printed),
            Err(error) => {
                self.unusable(event, format!("its answer can't be read: {}", bounded_to(&error.to_string(), 300)));
            }
        }
    }

    fn take(&mut self, event: HookEvent, printed: Printed) {
        let Printed { go_on, stop_reason, system_message, decision, reason, hook_specific_output } = printed;
        if go_on == Some(false) {
            self.stop = Some(stop_reason.map_or_else(|| "A hook ended the work.".to_owned(), |text| bounded(&text)));
        }
        self.warnings.extend(system_message.map(|text| bounded_to(&text, 500)));
        match decision.as_deref() {
            Some("block" | "deny") => self.block(reason.as_deref()),
            // Whatever else is decided stays decided: this only means that the hook has no objection.
            Some("approve" | "allow") | None => {}
            Some("ask") => self.ask = Some(reason_or(reason.as_deref(), "A hook wants a person to decide.")),
            Some(other) => {
                self.unusable(event, format!("it answered with an unknown decision: {}", bounded_to(other, 100)));
            }
        }
        let Some(specific) = hook_specific_output else { return };
        if let Some(name) = specific.hook_event_name.as_deref().filter(|name| *name != event.name()) {
            let name = bounded_to(name, 100);
            self.warnings.push(format!("it answered as if for {name}; the answer was taken for {event}"));
        }
        let reason = specific.permission_decision_reason.as_deref();
        match specific.permission_decision.as_deref() {
            Some("deny") => self.block(reason),
            Some("ask") => self.ask = Some(reason_or(reason, "A hook wants a person to decide.")),
            Some("allow") | None => {}
            Some(other) => {
                self.unusable(event, format!("it answered with an unknown decision: {}", bounded_to(other, 100)));
            }
        }
        let behavior = specific.decision.unwrap_or_default();
        match behavior.verdict.as_deref() {
            Some("deny") => self.block(behavior.message.as_deref()),
            Some("allow") | None => {}
            Some(other) => {
                self.unusable(event, format!("it answered with an unknown behavior: {}", bounded_to(other, 100)));
            }
        }
        if specific.updated_input.is_some() || behavior.updated_input.is_some() {
            self.warnings.push("`updatedInput` was ignored: hooks don't change what is called".to_owned());
        }
        self.context = specific.additional_context.map(|text| bounded(&text)).filter(|text| !text.is_empty());
    }

    fn block(&mut self, reason: Option<&str>) {
        self.blocked.get_or_insert_with(|| reason_or(reason, "A hook blocked this and gave no reason."));
    }

    /// A hook that came to no answer. It may have been there to forbid the call, and a call can be written so that a hook
    /// fails on it: a person decides instead.
    fn unusable(&mut self, event: HookEvent, why: String) {
        if event == HookEvent::PreToolUse {
            self.ask.get_or_insert_with(|| format!("A hook that looks at such calls gave no usable answer: {why}."));
        }
        self.warnings.push(why);
    }
}

fn reason_or(reason: Option<&str>, otherwise: &str) -> String {
    reason.map(bounded).filter(|reason| !reason.is_empty()).unwrap_or_else(|| otherwise.to_owned())
}

fn bounded(text: &str) -> String {
    bounded_to(text, TEXT_LIMIT)
}

/// `text` without space around it, at most `limit` bytes, cut between characters with a mark.
fn bounded_to(text: &str, limit: usize) -> String {
    let text = text.trim();
    if text.len() <= limit {
        return text.to_owned();
    }
    let end = (0..=limit).rev().find(|end| text.is_char_boundary(*end)).unwrap_or_default();
    format!("{} […]", &text[..end])
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn ran(exit: i32, stdout: &str, stderr: &str) -> Ran {
        Ran {
            ending: Ending::Exited(Some(exit)),
            stdout: stdout.to_owned(),
            stderr: stderr.to_owned(),
            duration: Duration::ZERO,
        }
    }

    fn printed(event: HookEvent, stdout: &str) -> Answer {
        Answer::of(event, "x", &ran(0, stdout, ""))
    }

    #[test]
    fn exit_statuses() {
        let silent = Answer::of(HookEvent::PreToolUse, "x", &ran(0, "all fine\n", "noise"));
        assert_eq!(silent, Answer::default());
        let blocked = Answer::of(HookEvent::PreToolUse, "x", &ran(2, "{}", " not here \n"));
        assert_eq!(blocked.blocked.as_deref(), Some("not here"));
        let blocked = Answer::of(HookEvent::PreToolUse, "check.sh", &ran(2, "", ""));
        assert_eq!(blocked.blocked.as_deref(), Some("The hook `check.sh` blocked this and gave no reason."));
        let failed = Answer::of(HookEvent::PreToolUse, "x", &ran(1, r#"{"decision":"block"}"#, "\n oops\nmore"));
        assert_eq!(failed, Answer { warnings: vec!["exit status 1: oops".to_owned()], ..Answer::default() });
    }

    #[test]
    fn no_answer_loosens_anything() {
        for allow in [
            r#"{"decision":"approve","reason":"r"}"#,
            r#"{"decision":"allow"}"#,
            r#"{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow","permissionDecisionReason":"r"}}"#,
            r#"{"hookSpecificOutput":{"hookEventName":"PreToolUse","decision":{"behavior":"allow"}}}"#,
            r#"{"continue":true,"suppressOutput":true}"#,
        ] {
            assert_eq!(printed(HookEvent::PreToolUse, allow), Answer::default(), "{allow}");
        }
    }

    #[test]
    fn every_way_to_forbid_forbids() {
        for deny in [
            r#"{"decision":"block","reason":"r"}"#,
            r#"{"decision":"deny","reason":"r"}"#,
            r#"{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"r"}}"#,
            r#"{"decision":"approve","hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"r"}}"#,
            r#"{"hookSpecificOutput":{"hookEventName":"PreToolUse","decision":{"behavior":"deny","message":"r"}}}"#,
        ] {
            assert_eq!(printed(HookEvent::PreToolUse, deny).blocked.as_deref(), Some("r"), "{deny}");
        }
        let other = r#"{"hookSpecificOutput":{"hookEventName":"Stop","permissionDecision":"deny"}}"#;
        let answer = printed(HookEvent::PreToolUse, other);
        assert!(answer.blocked.is_some() && answer.warnings[0].contains("as if for Stop"), "{answer:?}");
    }

    #[test]
    fn asking_stopping_and_telling() {
        let ask = r#"{"hookSpecificOutput":{"permissionDecision":"ask","permissionDecisionReason":"look"}}"#;
        assert_eq!(printed(HookEvent::PreToolUse, ask).ask.as_deref(), Some("look"));
        let stop = r#"{"continue":false,"stopReason":"enough","systemMessage":"hm"}"#;
        let answer = printed(HookEvent::PostToolUse, stop);
        assert_eq!((answer.stop.as_deref(), answer.warnings), (Some("enough"), vec!["hm".to_owned()]));
        let tell = r#"{"hookSpecificOutput":{"hookEventName":"PostToolUse","additionalContext":" c "}}"#;
        assert_eq!(printed(HookEvent::PostToolUse, tell).context.as_deref(), Some("c"));
        assert_eq!(printed(HookEvent::SessionStart, "plain\n").context.as_deref(), Some("plain"));
        let changed = r#"{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow","updatedInput":{"a":1}}}"#;
        let answer = printed(HookEvent::PreToolUse, changed);
        assert!(answer.warnings[0].contains("updatedInput") && answer.ask.is_none(), "{answer:?}");
    }

    #[test]
    fn a_guard_without_a_usable_answer_makes_the_call_asked_about() {
        let timed_out = Ran { ending: Ending::TimedOut(Duration::from_secs(60)), ..ran(0, "", "") };
        let answer = Answer::of(HookEvent::PreToolUse, "x", &timed_out);
        assert!(answer.ask.unwrap().contains("ended after 60 s"));
        assert_eq!(answer.warnings, ["it was ended after 60 s"]);
        assert_eq!(Answer::of(HookEvent::PostToolUse, "x", &timed_out).ask, None);
        for broken in [r#"{"decision":"block""#, r#"{"decision":5}"#, r#"{"decision":"blokc"}"#] {
            let answer = printed(HookEvent::PreToolUse, broken);
            assert!(answer.ask.is_some() && answer.warnings.len() == 1, "{broken} {answer:?}");
        }
    }

    #[test]
    fn texts_are_bounded_at_whole_characters() {
        let wrong = printed(HookEvent::Stop, &format!(r#"{{"continue": "{}"}}"#, "x".repeat(100_000)));
        assert!(wrong.warnings[0].len() < 400);
        let reason = Answer::of(HookEvent::PreToolUse, "x", &ran(2, "", &"é".repeat(100_000))).blocked.unwrap();
        assert!(reason.len() < TEXT_LIMIT + 10 && reason.ends_with("é […]"));
    }
}

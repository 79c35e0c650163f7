//! `offshoot permissions explain`: which rule decides on a call, and why, without running anything.

use std::io::{BufRead as _, Read as _};
use std::path::Path;
use std::process::ExitCode;

use anyhow::Context;
use offshoot_agents::policy::{
    Decision, DiskPaths, Question, Surroundings as From, Verdict, as_json, batch_line, explanation,
};
use offshoot_agents::trust::Project;
use serde_json::Value;

use crate::arguments::{ExplainArguments, FolderArguments, Misused, PermissionsArguments, PermissionsWish, mode_named};
use crate::console::{Console, Painted, Tone};
use crate::surroundings::Surroundings;
use crate::workplace;

/// Most bytes of an input that are read from standard input.
const INPUT_LIMIT: u64 = 4 * 1024 * 1024;

/// Answers the question, or one for each line of standard input.
pub(crate) fn run(
    arguments: &PermissionsArguments,
    folders: &FolderArguments,
    console: &mut Console,
) -> anyhow::Result<ExitCode> {
    let PermissionsWish::Explain(wish) = &arguments.wish;
    let surroundings = Surroundings::read(folders)?;
    let named = wish.directory.as_deref().unwrap_or(Path::new("."));
    let folder = workplace::folder(named).map_err(|error| Misused(error.to_string()))?;
    let project = Project::open(&folder, &surroundings.config_dir, &surroundings.home);
    let (rules, of_rules) = project.loaded.rules();
    for warning in project.loaded.warnings.iter().chain(&of_rules) {
        console.note_of("settings", Tone::Warning, &warning.to_string());
    }
    let settings = vec![surroundings.config_dir];
    let from = From { project: folder, home: surroundings.home, settings, rules, paths: &DiskPaths };
    if wish.batch {
        answer_lines(&from, console)?;
        return Ok(ExitCode::SUCCESS);
    }
    let decision = explanation(&question(wish)?, &from).map_err(Misused)?;
    if wish.json {
        console.print(&as_json(&decision).to_string()).context("standard output could not be written")?;
    } else {
        show(&decision, console)?;
    }
    Ok(ExitCode::SUCCESS)
}

fn question(wish: &ExplainArguments) -> anyhow::Result<Question> {
    let missing = || Misused("name a tool and its input, or use --batch".to_owned());
    let (Some(tool), Some(input)) = (&wish.tool, &wish.input) else { return Err(missing().into()) };
    let text = if input == "-" {
        let text = std::io::read_to_string(std::io::stdin().lock().take(INPUT_LIMIT + 1));
        let text = text.context("standard input could not be read as text")?;
        anyhow::ensure!(text.len() as u64 <= INPUT_LIMIT, "the input is longer than 4 MiB");
        text
    } else {
        input.clone()
    };
    Ok(Question {
        tool: tool.clone(),
        input: value(tool, &text)?,
        mode: wish.mode.as_deref().and_then(mode_named).unwrap_or_default(),
        cwd: None,
        allow: wish.allow.clone(),
        ask: wish.ask.clone(),
        deny: wish.deny.clone(),
    })
}

/// A JSON object; for `Bash` also the bare command.
fn value(tool: &str, text: &str) -> Result<Value, Misused> {
    match serde_json::from_str::<Value>(text) {
        Ok(value) if value.is_object() => Ok(value),
        _ if tool == "Bash" => Ok(text.trim_end_matches('\n').into()),
        Ok(_) => Err(Misused(format!("the input of {tool} must be a JSON object"))),
        Err(error) => Err(Misused(format!("the input of {tool} must be a JSON object: {error}"))),
    }
}

fn answer_lines(from: &From<'_>, console: &mut Console) -> anyhow::Result<()> {
    for line in std::io::stdin().lock().lines() {
        let line = line.context("standard input could not be read as text")?;
        if !line.trim().is_empty() {
            console.print(&batch_line(&line, from)).context("standard output could not be written")?;
        }
    }
    Ok(())
}

fn show(decision: &Decision, console: &mut Console) -> anyhow::Result<()> {
    let row = |console: &Console, verdict, text: &str, rule: Option<&str>| {
        let (word, tone) = word(verdict);
        let rule = rule.map(|rule| format!("  rule {rule}")).unwrap_or_default();
        [console.painted(word, tone), Painted::drawn("  "), Painted::plain(text), console.painted(&rule, Tone::Faint)]
    };
    let verdict = row(console, decision.verdict, &decision.reason, decision.rule.as_deref());
    console.print_pieces(&verdict)?;
    for part in &decision.parts {
        let [verdict, gap, text, rule] = row(console, part.verdict, &part.text, part.rule.as_deref());
        console.print_pieces(&[Painted::drawn("  "), verdict, gap, text, rule])?;
    }
    for rule in &decision.suggested_rules {
        let line = [console.painted("would be allowed by", Tone::Faint), Painted::drawn("  "), Painted::plain(rule)];
        console.print_pieces(&line)?;
    }
    Ok(())
}

fn word(verdict: Verdict) -> (&'static str, Tone) {
    match verdict {
        Verdict::Allow => ("allow", Tone::Good),
        Verdict::Ask => ("ask  ", Tone::Warning),
        Verdict::Deny => ("deny ", Tone::Bad),
    }
}

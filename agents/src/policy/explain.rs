//! What `offshoot permissions explain` prints: from strings to strings.

use std::path::PathBuf;

use offshoot_protocol::{Access, PermissionMode};
use serde::Deserialize;
use serde_json::{Value, json};

use super::{Call, Decision, Paths, RuleKind, RuleSource, Rules, Verdict, decide, rule};

/// One question: a line of `--batch`, or what the command line says.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Question {
    /// The tool's name.
    pub tool: String,
    /// Its input; for `Bash` also the bare command.
    pub input: Value,
    /// The mode; absent: `default`.
    #[serde(default)]
    pub mode: PermissionMode,
    /// The agent's directory; absent: the project.
    pub cwd: Option<PathBuf>,
    /// Rules on top of the settings'.
    #[serde(default)]
    pub allow: Vec<String>,
    /// Rules on top of the settings'.
    #[serde(default)]
    pub ask: Vec<String>,
    /// Rules on top of the settings'.
    #[serde(default)]
    pub deny: Vec<String>,
}

/// Where a question is asked from.
pub struct Surroundings<'a> {
    /// The project.
    pub project: PathBuf,
    /// The home directory.
    pub home: PathBuf,
    /// Folders of Offshoot's own settings.
    pub settings: Vec<PathBuf>,
    /// The settings' rules.
    pub rules: Rules,
    /// The file system.
    pub paths: &'a dyn Paths,
}

/// What a call of a tool that Offshoot knows would touch. The error says what is wrong with the input.
pub fn access_of(tool: &str, input: &Value, directory: &std::path::Path) -> Result<Access, String> {
    let text = |keys: &[&str]| keys.iter().find_map(|key| input.get(key)?.as_str()).map(str::to_owned);
    let path = |keys: &[&str]| -> Option<String> { Some(directory.join(text(keys)?).to_string_lossy().into_owned()) };
    let missing = |what: &str| format!("the input of {tool} has no `{what}`");
    Ok(match tool {
        "Bash" => {
            let bare = input.as_str().map(str::to_owned);
            Access::Command { command: bare.or_else(|| text(&["command"])).ok_or_else(|| missing("command"))? }
        }
        "Read" | "NotebookRead" => {
            Access::Read { path: path(&["file_path", "path", "notebook_path"]).ok_or_else(|| missing("file_path"))? }
        }
        "Grep" | "Glob" | "LS" => {
            Access::Read { path: path(&["path"]).unwrap_or_else(|| directory.to_string_lossy().into_owned()) }
        }
        "Edit" | "Write" | "MultiEdit" | "NotebookEdit" => Access::Edit {
            path: path(&["file_path", "path", "notebook_path"]).ok_or_else(|| missing("file_path"))?,
            diff: None,
        },
        "Agent" | "Task" => {
            let role = text(&["subagent_type"]).map(|role| role.trim().to_owned()).filter(|role| !role.is_empty());
            Access::Delegate { role: role.unwrap_or_else(|| "fork".to_owned()) }
        }
        // In the project's own checkout; an agent in a worktree commits there without asking.
        "Commit" => Access::Command { command: "git add --all && git commit".to_owned() },
        _ if !rule::is_known_tool(tool) => return Err(format!("there is no tool {tool}, so that no call of it runs")),
        _ => Access::Own,
    })
}

/// Answers a question. The error says what is wrong with it.
pub fn explanation(question: &Question, from: &Surroundings<'_>) -> Result<Decision, String> {
    let directory = match &question.cwd {
        Some(cwd) => from.project.join(cwd),
        None => from.project.clone(),
    };
    let access = access_of(&question.tool, &question.input, &directory)?;
    let mut rules = from.rules.clone();
    let before = rules.problems.len();
    rules.add(RuleKind::Allow, RuleSource::CommandLine, &question.allow);
    rules.add(RuleKind::Ask, RuleSource::CommandLine, &question.ask);
    rules.add(RuleKind::Deny, RuleSource::CommandLine, &question.deny);
    if let Some(problem) = rules.problems[before..].iter().find(|problem| problem.left_out) {
        return Err(problem.to_string());
    }
    let call = Call {
        tool: &question.tool,
        access: &access,
        input: &question.input,
        directory: &directory,
        home: &from.home,
        project: &from.project,
        settings: &from.settings,
        paths: from.paths,
    };
    Ok(decide(&call, &rules, question.mode))
}

/// A decision as `--json` prints it.
pub fn as_json(decision: &Decision) -> Value {
    json!({
        "verdict": decision.verdict,
        "reason": decision.reason,
        "rule": decision.rule,
        "parts": decision.parts,
    })
}

/// One line of `--batch`: a question as JSON in, a decision as JSON out. What isn't a question is answered with the
/// verdict `deny` and an `error`.
pub fn batch_line(line: &str, from: &Surroundings<'_>) -> String {
    let answer = serde_json::from_str::<Question>(line)
        .map_err(|error| format!("not a question: {error}"))
        .and_then(|question| explanation(&question, from));
    match answer {
        Ok(decision) => as_json(&decision).to_string(),
        Err(error) => json!({
            "verdict": Verdict::Deny,
            "reason": error,
            "rule": null,
            "parts": [],
            "error": true,
        })
        .to_string(),
    }
}

//! What a folder's files would do if it were trusted, in words, for the question.

use std::path::Path;

use offshoot_protocol::{PermissionMode, RoleSource};

use crate::instructions;
use crate::role::{Catalog, RoleFolders};
use crate::settings::{Loaded, SettingsFolders, load, quoted, read_text};

use super::main_checkout;

/// Most lines of one kind; the others are counted.
const LINES_LIMIT: usize = 20;

/// What would become active if `project` were trusted: a line each, the most powerful things first; empty if there is
/// nothing. Nothing is run to find out. The texts come from the folder; what is invisible in them is made visible.
pub fn would_activate(project: &Path) -> Vec<String> {
    let Ok(main) = main_checkout(project) else { return Vec::new() };
    let mut lines = Vec::new();
    let folders = SettingsFolders {
        config_dir: None,
        project: Some(project.to_path_buf()),
        main_checkout: Some(main.clone()),
        home: None,
        trusted: true,
    };
    add_settings(&load(&folders), &mut lines);
    add(&mut lines, "MCP servers", servers(project).map(|name| format!("MCP server {} of .mcp.json", quoted(&name))));
    add(
        &mut lines,
        "git filters",
        filters(&main).map(|(name, run)| format!("git filter {}: runs {}", quoted(&name), quoted(&run))),
    );
    let folders = RoleFolders { user: None, plugins: None, project: Some(project.to_path_buf()), trusted: true };
    let roles = Catalog::load(&folders, &[]).all().into_iter().filter(|role| role.source == RoleSource::Project);
    add(&mut lines, "roles", roles.map(|role| format!("role {} in {}", quoted(&role.name), quoted(&role.path))));
    lines.extend(instructions::read(project).into_iter().map(|(name, _)| format!("instructions for agents in {name}")));
    lines
}

fn add_settings(loaded: &Loaded, lines: &mut Vec<String>) {
    let hooks = loaded.hooks.iter().map(|hook| format!("hook at {}: runs {}", hook.event, quoted(&hook.command)));
    add(lines, "hooks", hooks);
    let setup = loaded.worktree.setup.iter().map(|command| format!("new worktrees: runs {}", quoted(command)));
    add(lines, "commands in new worktrees", setup);
    if loaded.worktree.hooks {
        lines.push("new worktrees: the repository's git hooks run".to_owned());
    }
    add(lines, "rules", loaded.allow.iter().map(|rule| format!("runs without asking: {}", quoted(&rule.text))));
    let mode = match loaded.settings.mode {
        PermissionMode::Default => None,
        PermissionMode::AcceptEdits => Some("sessions start in the mode that accepts edits"),
        PermissionMode::Plan => Some("sessions start in the mode that only reads"),
        PermissionMode::DontAsk => Some("sessions start in the mode that refuses instead of asking"),
        PermissionMode::Bypass => Some("sessions start in the mode that allows instead of asking"),
    };
    lines.extend(mode.map(str::to_owned));
    let writable = loaded.additional_directories.iter().chain(&loaded.worktree.directory);
    add(lines, "folders", writable.map(|path| format!("agents write in {}", quoted(&path.to_string_lossy()))));
    let model = &loaded.model;
    lines.extend(model.base_url.iter().map(|url| format!("conversations and your key are sent to {}", quoted(url))));
    lines.extend(model.provider.iter().map(|provider| format!("provider: {provider:?}")));
    lines.extend(model.model.iter().map(|model| format!("model: {}", quoted(model))));
    add(
        lines,
        "variables",
        loaded.environment.iter().map(|name| format!("commands see the variable {}", quoted(name))),
    );
}

fn add(lines: &mut Vec<String>, kind: &str, new: impl Iterator<Item = String>) {
    let mut new = new.peekable();
    lines.extend(new.by_ref().take(LINES_LIMIT));
    if new.peek().is_some() {
        lines.push(format!("… and {} more {kind}", new.count()));
    }
}

/// Names of the servers in the project's `.mcp.json`, the field's file for them.
fn servers(project: &Path) -> impl Iterator<Item = String> + use<> {
    let text = read_text(&project.join(".mcp.json"), Some(project)).ok().flatten();
    let value = text.and_then(|text| serde_json::from_str::<serde_json::Value>(&text).ok()).unwrap_or_default();
    let names: Vec<String> =
        value["mcpServers"].as_object().into_iter().flatten().map(|(name, _)| name.clone()).collect();
    names.into_iter()
}

/// Filters that the repository's own configuration sets: their names and what they run.
fn filters(main: &Path) -> impl Iterator<Item = (String, String)> + use<> {
    let mut found = Vec::new();
    for file in [".git/config", ".git/config.worktree", "config"].map(|name| main.join(name)) {
        // Only a bare repository, or a checkout's `.git`, has that beside a HEAD.
        let is_repository = file.with_file_name("HEAD").is_file();
        if !is_repository || !matches!(read_text(&file, None), Ok(Some(_))) {
            continue;
        }
        let Ok(config) = git2::Config::open(&file) else { continue };
        let Ok(mut entries) = config.entries(Some(r"^filter\..*\.(clean|smudge|process)$")) else { continue };
        while let Some(Ok(entry)) = entries.next() {
            if let (Ok(name), Ok(value)) = (entry.name(), entry.value()) {
                let name = name.trim_start_matches("filter.");
                found.push((name.rsplit_once('.').map_or(name, |(name, _)| name).to_owned(), value.to_owned()));
            }
        }
    }
    found.into_iter()
}

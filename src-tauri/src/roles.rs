//! `offshoot roles`: the catalog, one role, and what is wrong with role files.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Context;
use offshoot_agents::policy::mode_name;
use offshoot_agents::role::{Catalog, Role, RoleFolders};
use offshoot_agents::trust::TrustFile;
use offshoot_agents::workbench::tool_names;
use offshoot_protocol::{Isolation, RoleSource, RoleSummary, RoleWarning};
use serde_json::json;

use crate::arguments::{FolderArguments, Misused, RolesArguments, RolesWish};
use crate::console::{Console, Painted, Tone, cut};
use crate::surroundings::Surroundings;
use crate::workplace;

/// Lists, shows or checks.
pub(crate) fn run(
    arguments: &RolesArguments,
    folders: &FolderArguments,
    console: &mut Console,
) -> anyhow::Result<ExitCode> {
    let surroundings = Surroundings::read(folders)?;
    let named = arguments.directory.as_deref().unwrap_or(Path::new("."));
    let project = workplace::folder(named).map_err(|error| Misused(error.to_string()))?;
    match &arguments.wish {
        None | Some(RolesWish::List) => list(&catalog(&surroundings, &project, false), arguments.json, console)?,
        Some(RolesWish::Show { name }) => {
            show(&catalog(&surroundings, &project, false), name, arguments.json, console)?;
        }
        Some(RolesWish::Check { path }) => {
            let catalog = match path {
                Some(path) => Catalog::check(&there(path)?, &tool_names()),
                // Checking runs nothing, so trust doesn't matter.
                None => catalog(&surroundings, &project, true),
            };
            // What comes with the program is not theirs to put right.
            let theirs = |warning: &&RoleWarning| !warning.path.starts_with("built-in:");
            let warnings: Vec<_> = catalog.warnings().iter().filter(theirs).cloned().collect();
            return check(&warnings, arguments.json, console);
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn there(path: &Path) -> Result<PathBuf, Misused> {
    let missing = |error| Misused(format!("{} can't be checked: {error}", path.display()));
    path.canonicalize().map_err(missing)
}

fn catalog(surroundings: &Surroundings, project: &Path, whatever: bool) -> Catalog {
    let trusted = whatever || TrustFile::open(&surroundings.config_dir).0.of(project).is_trusted();
    let folders = RoleFolders {
        user: Some(surroundings.config_dir.join("roles")),
        plugins: Some(surroundings.config_dir.join("plugins")),
        project: Some(project.to_path_buf()),
        trusted,
    };
    Catalog::load(&folders, &tool_names())
}

fn list(catalog: &Catalog, is_json: bool, console: &mut Console) -> anyhow::Result<()> {
    let roles = catalog.all();
    if is_json {
        return print(console, &json!({"roles": roles, "warnings": catalog.warnings()}));
    }
    for RoleSummary { name, description, source, shadowed_by, .. } in &roles {
        let hidden = shadowed_by.as_ref().map(|path| format!("hidden by {path}")).unwrap_or_default();
        let pieces = [
            console.painted(name, if hidden.is_empty() { Tone::Strong } else { Tone::Faint }),
            Painted::drawn("  "),
            Painted::plain(source_word(*source)),
            Painted::drawn("  "),
            console.painted(if hidden.is_empty() { cut(description, 80) } else { hidden }.as_str(), Tone::Faint),
        ];
        console.print_pieces(&pieces)?;
    }
    for warning in catalog.warnings() {
        console.note_of("roles", Tone::Warning, &line(warning));
    }
    Ok(())
}

fn show(catalog: &Catalog, name: &str, is_json: bool, console: &mut Console) -> anyhow::Result<()> {
    let role = catalog.get(name).ok_or_else(|| {
        let closest = catalog.closest(name);
        let meant = if closest.is_empty() { String::new() } else { format!("; did you mean {}?", closest.join(", ")) };
        Misused(format!("there is no role “{name}”{meant} `offshoot roles` lists them"))
    })?;
    let Role { name, description, body, tools, disallowed_tools, model, max_turns, permission, .. } = &**role;
    let isolation = if role.isolation == Isolation::Worktree { "worktree" } else { "shared" };
    if is_json {
        let value = json!({
            "name": name,
            "description": description,
            "source": role.source,
            "path": role.path,
            "tools": tools,
            "disallowed_tools": disallowed_tools,
            "model": model,
            "max_turns": max_turns,
            "permission": permission,
            "background": role.background,
            "isolation": isolation,
            "color": role.color,
            "body": body,
        });
        return print(console, &value);
    }
    let rows = [
        ("Name", Some(name.clone())),
        ("From", Some(format!("{}, {}", source_word(role.source), role.path))),
        ("For", Some(description.clone())),
        ("Tools", Some(tools.as_ref().map_or_else(|| "all".to_owned(), |tools| tools.join(", ")))),
        ("Not", Some(disallowed_tools.join(", ")).filter(|tools| !tools.is_empty())),
        ("Model", model.clone()),
        ("Turns", max_turns.map(|turns| turns.to_string())),
        ("Mode", permission.map(|mode| mode_name(mode).to_owned())),
        ("Works in", Some(isolation.to_owned())),
    ];
    for (title, value) in rows {
        if let Some(value) = value {
            let pieces = [console.painted(title, Tone::Faint), Painted::drawn("  "), Painted::plain(&value)];
            console.print_pieces(&pieces)?;
        }
    }
    console.print("").context("standard output could not be written")?;
    console.print(body.trim_end()).context("standard output could not be written")
}

/// Prints what is wrong. Anything is a failure: this is for scripts that guard a repository.
fn check(warnings: &[RoleWarning], is_json: bool, console: &mut Console) -> anyhow::Result<ExitCode> {
    if is_json {
        print(console, &json!(warnings))?;
    } else {
        for warning in warnings {
            console.print_pieces(&[Painted::plain(&line(warning))])?;
        }
    }
    Ok(if warnings.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn line(warning: &RoleWarning) -> String {
    let RoleWarning { path, line, message } = warning;
    if *line == 0 { format!("{path}: {message}") } else { format!("{path}:{line}: {message}") }
}

fn print(console: &mut Console, value: &serde_json::Value) -> anyhow::Result<()> {
    console.print(&format!("{value:#}")).context("standard output could not be written")
}

fn source_word(source: RoleSource) -> &'static str {
    match source {
        RoleSource::Plugin => "plugin",
        RoleSource::BuiltIn => "built-in",
        RoleSource::User => "user",
        RoleSource::Project => "project",
    }
}

//! The files laid over each other.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use offshoot_protocol::PermissionMode;

use crate::hooks::HookEntry;
use crate::model::Provider;
use crate::worktree::Base;

use super::json::{Document, Member, Node};
use super::value::{self, quoted};
use super::{Settings, hook_list, key, read_text};

/// Most warnings about one file; further ones are counted.
const WARNINGS_LIMIT: usize = 50;

/// Which of the files, the weakest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Layer {
    /// The person's own: `<config dir>/settings.json`.
    User,
    /// The project's: `<project>/.offshoot/settings.json`.
    Project,
    /// The person's own for this project: `<main checkout>/.offshoot/settings.local.json`.
    Local,
}

/// Where the files are looked for. Absolute paths; none of the files has to exist.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SettingsFolders {
    /// The person's settings folder.
    pub config_dir: Option<PathBuf>,
    /// The folder that was opened.
    pub project: Option<PathBuf>,
    /// Where the project's local settings are: see [`crate::trust::main_checkout`].
    pub main_checkout: Option<PathBuf>,
    /// What `~/` stands for.
    pub home: Option<PathBuf>,
    /// Whether the person trusts the project.
    pub trusted: bool,
}

/// Everything that is set.
#[derive(Clone, Debug, Default)]
pub struct Loaded {
    /// Plain values.
    pub settings: Settings,
    /// Rules that allow calls, from all files.
    pub allow: Vec<SettingRule>,
    /// Rules that make calls be asked about.
    pub ask: Vec<SettingRule>,
    /// Rules that deny calls.
    pub deny: Vec<SettingRule>,
    /// Folders outside of the project that agents may write: absolute, links and `..` not resolved.
    pub additional_directories: Vec<PathBuf>,
    /// Hooks, from all files.
    pub hooks: Vec<HookEntry>,
    /// Who is asked.
    pub model: ModelChoice,
    /// How worktrees are made.
    pub worktree: WorktreeSettings,
    /// Names of variables of this program's environment that commands see.
    pub environment: Vec<String>,
    /// Networks that pages are fetched from although they aren't public.
    pub fetch_networks: Vec<ipnet::IpNet>,
    /// How the window looks.
    pub theme: Option<Theme>,
    /// Whether the desktop tells of pending requests while the window is in the background.
    pub notifications: Option<bool>,
    /// Everything that was wrong, by file and line.
    pub warnings: Vec<SettingWarning>,
    /// Files that are there and say nothing, since they can't be read: none of their rules holds.
    pub unread: Vec<PathBuf>,
    /// What may have been meant to deny something and can't be understood, with its place.
    pub doubts: Vec<String>,
    /// Whether commands that can't be confined run where rules allow them. Otherwise each is asked about.
    pub unconfined_allowed: bool,
}

/// Which model is asked, and where.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ModelChoice {
    /// A model's id or alias.
    pub model: Option<String>,
    /// Names for models, and the ids that they stand for.
    pub aliases: BTreeMap<String, String>,
    /// Its provider.
    pub provider: Option<Provider>,
    /// The provider's address, without a slash at its end.
    pub base_url: Option<String>,
}

/// How worktrees are made.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WorktreeSettings {
    /// What they start from.
    pub base: Base,
    /// How many GB (10⁹ bytes) they may take on disk before somebody is told; absent: nobody has said.
    pub budget: Option<u64>,
    /// Where they are; absent: in the data folder.
    pub directory: Option<PathBuf>,
    /// Whether the repository's own hooks run when one is made.
    pub hooks: bool,
    /// Commands that run in a new one, inside the boundary.
    pub setup: Vec<String>,
}

/// How the window looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Theme {
    /// As the desktop does.
    System,
    /// Light.
    Light,
    /// Dark.
    Dark,
    /// With high contrast.
    HighContrast,
}

/// A rule, as written: it may still be malformed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SettingRule {
    /// Which file it stands in.
    pub layer: Layer,
    /// That file.
    pub path: Arc<Path>,
    /// Line in it, from 1.
    pub line: u32,
    /// Its text, without space around it.
    pub text: String,
}

/// Something wrong in a settings file, and what was done about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SettingWarning {
    /// The file.
    pub path: PathBuf,
    /// Line in it, from 1; absent when it is about the whole file.
    pub line: Option<u32>,
    /// For people.
    pub message: String,
}

impl std::fmt::Display for SettingWarning {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}", self.path.display())?;
        if let Some(line) = self.line {
            write!(f, ":{line}")?;
        }
        write!(f, ": {}", self.message)
    }
}

/// The file that "always allow" is saved in, for a main checkout.
pub fn local_file(main_checkout: &Path) -> PathBuf {
    main_checkout.join(".offshoot/settings.local.json")
}

/// Reads all files. Never fails: what can't be read is a warning.
pub fn load(folders: &SettingsFolders) -> Loaded {
    let mut loaded = Loaded::default();
    let user = folders.config_dir.as_ref().map(|folder| (Layer::User, folder.join("settings.json"), None));
    let project = folders.project.as_deref();
    let project = project.map(|folder| (Layer::Project, folder.join(".offshoot/settings.json"), Some(folder)));
    let local = folders.main_checkout.as_deref();
    let local = local.map(|folder| (Layer::Local, local_file(folder), Some(folder)));
    for (layer, path, within) in [user, project, local].into_iter().flatten() {
        Reader::read(&path, within, layer, folders, &mut loaded);
    }
    loaded
}

/// One file on its way into what is loaded. Files come the weakest first, so a value simply replaces the earlier one.
pub(super) struct Reader<'r> {
    pub(super) path: &'r Path,
    layer: Layer,
    document: &'r Document,
    folders: &'r SettingsFolders,
    warnings: Vec<SettingWarning>,
    unlisted: usize,
}

impl<'r> Reader<'r> {
    fn read(path: &'r Path, within: Option<&Path>, layer: Layer, folders: &'r SettingsFolders, loaded: &mut Loaded) {
        let whole = |line: Option<u32>, message: String| SettingWarning { path: path.to_path_buf(), line, message };
        let text = match read_text(path, within) {
            Ok(Some(text)) if !text.trim_start_matches('\u{feff}').trim().is_empty() => text,
            Ok(_) => return,
            Err(why) => {
                loaded.unread.push(path.to_path_buf());
                return loaded.warnings.push(whole(None, format!("the file was left out: {why}")));
            }
        };
        let document = match Document::parse(text) {
            Ok(document) => document,
            Err(error) => {
                let message =
                    format!("the file was left out: it is no JSON: {} in column {}", error.message, error.column);
                loaded.unread.push(path.to_path_buf());
                return loaded.warnings.push(whole(Some(error.line), message));
            }
        };
        let mut reader = Reader { path, layer, document: &document, folders, warnings: Vec::new(), unlisted: 0 };
        reader.apply(loaded);
        let Reader { mut warnings, unlisted, .. } = reader;
        warnings.sort_by_key(|warning| warning.line);
        if unlisted > 0 {
            warnings.push(whole(None, format!("there are {unlisted} more warnings about this file")));
        }
        loaded.warnings.append(&mut warnings);
    }

    fn apply(&mut self, loaded: &mut Loaded) {
        let document = self.document;
        let root = &document.root;
        let Some(members) = root.members() else {
            let message = format!("the file was left out: it must be an object, not {}", root.kind());
            loaded.unread.push(self.path.to_path_buf());
            return self.warn(root, message);
        };
        self.check_keys(root, &key::TOP);
        if let Some(permissions) = root.member("permissions") {
            self.apply_permissions(permissions, loaded);
        }
        if !self.is_trusted() {
            self.tell_ignored(members);
            return;
        }
        if let Some(hooks) = root.member("hooks") {
            loaded.hooks.extend(hook_list::read(hooks, self));
        }
        self.apply_values(root, loaded);
        if let Some(aliases) = root.member("modelAliases") {
            self.apply_aliases(aliases, &mut loaded.model.aliases);
        }
        if let Some(worktree) = root.member("worktree") {
            self.apply_worktree(worktree, &mut loaded.worktree);
        }
        if let Some(networks) = root.member("fetchNetworks") {
            self.apply_networks(networks, &mut loaded.fetch_networks);
        }
        if let Some(names) = root.member("environment") {
            self.apply_environment(names, &mut loaded.environment);
        }
    }

    fn is_trusted(&self) -> bool {
        self.layer == Layer::User || self.folders.trusted
    }

    fn tell_ignored(&mut self, members: &[Member]) {
        let mut ignored: Vec<&str> = Vec::new();
        for Member { key, value, .. } in members {
            if key == "permissions" {
                let inner = value.members().unwrap_or_default().iter().map(|member| member.key.as_str());
                ignored.extend(inner.filter(|key| key::PERMISSIONS.contains(key) && !matches!(*key, "ask" | "deny")));
            } else if key::TOP.contains(&key.as_str()) && key != "$schema" {
                ignored.push(key);
            }
        }
        if !ignored.is_empty() {
            let ignored: Vec<String> = ignored.iter().map(|key| format!("`{key}`")).collect();
            let ignored = ignored.join(", ");
            let message =
                format!("the folder isn't trusted, so only its `ask` and `deny` rules hold; ignored: {ignored}");
            self.warnings.push(SettingWarning { path: self.path.to_path_buf(), line: None, message });
        }
    }

    fn apply_permissions(&mut self, permissions: &Node, loaded: &mut Loaded) {
        if permissions.members().is_none() {
            let message = format!("`permissions` was left out: it must be an object, not {}", permissions.kind());
            self.doubt(permissions, "`permissions` is no object", loaded);
            return self.warn(permissions, message);
        }
        self.check_keys(permissions, &key::PERMISSIONS);
        for member in permissions.members().unwrap_or_default() {
            let is_known = key::PERMISSIONS.contains(&member.key.as_str());
            if !is_known && key::nearest(&member.key, &key::PERMISSIONS) == Some("deny") {
                self.doubt(&member.value, &format!("`{}` may have been meant as `deny`", member.key), loaded);
            }
            let items = member.value.items().unwrap_or_default();
            if member.key == "deny"
                && (member.value.items().is_none() || items.iter().any(|item| value::text(item).is_err()))
            {
                self.doubt(&member.value, "`deny` holds what is no rule", loaded);
            }
        }
        for (name, rules) in [("deny", &mut loaded.deny), ("ask", &mut loaded.ask)] {
            self.apply_rules(permissions, name, rules);
        }
        if !self.is_trusted() {
            return;
        }
        self.apply_rules(permissions, "allow", &mut loaded.allow);
        if let Some(node) = permissions.member("defaultMode") {
            match value::mode(node) {
                // Everybody who clones the project would get it.
                Ok(PermissionMode::Bypass) if self.layer == Layer::Project => {
                    let message = "`defaultMode` was left out: shared settings can't turn asking off";
                    self.warn(node, message.to_owned());
                }
                Ok(mode) => loaded.settings.mode = mode,
                Err(why) => self.warn(node, format!("`defaultMode` was left out: {why}")),
            }
        }
        if let Some(node) = permissions.member("unconfinedCommands") {
            match value::unconfined(node) {
                Ok(_) if self.layer != Layer::User => {
                    let message = "`unconfinedCommands` was left out: it counts only in your own settings";
                    self.warn(node, message.to_owned());
                }
                Ok(allowed) => loaded.unconfined_allowed = allowed,
                Err(why) => self.warn(node, format!("`unconfinedCommands` was left out: {why}")),
            }
        }
        if let Some(node) = permissions.member("additionalDirectories") {
            for item in self.list(node, "additionalDirectories") {
                match value::path(item, self.folders.project.as_deref(), self.folders.home.as_deref()) {
                    Ok(path) if loaded.additional_directories.contains(&path) => {}
                    Ok(path) => loaded.additional_directories.push(path),
                    Err(why) => self.warn(item, format!("a folder of `additionalDirectories` was left out: {why}")),
                }
            }
        }
    }

    /// Notes that something may have been meant to deny.
    fn doubt(&self, node: &Node, what: &str, loaded: &mut Loaded) {
        let line = self.document.line(node.span.start);
        loaded.doubts.push(format!("{what} ({}:{line})", self.path.display()));
    }

    fn apply_rules(&mut self, permissions: &Node, name: &str, rules: &mut Vec<SettingRule>) {
        // Written twice by mistake, both lists of what is forbidden hold; of what is allowed the last.
        let members = permissions.members().unwrap_or_default().iter().filter(|member| member.key == name);
        let skipped = if name == "allow" { members.clone().count().saturating_sub(1) } else { 0 };
        let path: Arc<Path> = self.path.into();
        for node in members.skip(skipped).map(|member| &member.value) {
            for item in self.list(node, name) {
                match value::text(item) {
                    Ok(text) => rules.push(SettingRule {
                        layer: self.layer,
                        path: path.clone(),
                        line: self.document.line(item.span.start),
                        text,
                    }),
                    Err(why) => self.warn(item, format!("a rule of `{name}` was left out: {why}")),
                }
            }
        }
    }

    fn apply_values(&mut self, root: &Node, loaded: &mut Loaded) {
        let Loaded { settings, model, theme, notifications, .. } = loaded;
        self.single(root, "notifications", |node| value::flag(node).map(Some), notifications);
        self.single(root, "forks", value::forks, &mut settings.forks);
        self.single(root, "background", value::flag, &mut settings.background);
        let seconds = |node: &Node| value::number(node, 1, 86_400).map(Duration::from_secs);
        self.single(root, "foregroundTimeout", seconds, &mut settings.foreground_timeout);
        self.single(root, "runningLimit", |node| count(node, 64), &mut settings.running_limit);
        self.single(root, "agentLimit", |node| count(node, 10_000), &mut settings.agent_limit);
        self.single(root, "wakeParent", value::flag, &mut settings.wake_parent);
        let percent = |node: &Node| value::number(node, 0, 95).map(|number| u8::try_from(number).unwrap_or(95));
        self.single(root, "compactAt", percent, &mut settings.compaction.at_percent);
        let tokens = |node: &Node| value::number(node, 1000, 100_000_000).map(Some);
        self.single(root, "contextWindow", tokens, &mut settings.compaction.window);
        self.single(root, "model", |node| value::text(node).map(Some), &mut model.model);
        self.single(root, "provider", |node| value::provider(node).map(Some), &mut model.provider);
        self.single(root, "baseUrl", |node| value::base_url(node).map(Some), &mut model.base_url);
        self.single(root, "theme", |node| value::theme(node).map(Some), theme);
    }

    fn apply_worktree(&mut self, worktree: &Node, settings: &mut WorktreeSettings) {
        if worktree.members().is_none() {
            let message = format!("`worktree` was left out: it must be an object, not {}", worktree.kind());
            return self.warn(worktree, message);
        }
        self.check_keys(worktree, &key::WORKTREE);
        let (base, home) = (self.folders.main_checkout.clone(), self.folders.home.clone());
        let directory = |node: &Node| value::path(node, base.as_deref(), home.as_deref()).map(Some);
        self.single(worktree, "base", value::worktree_base, &mut settings.base);
        let gigabytes = |node: &Node| value::number(node, 1, 1_000_000).map(Some);
        self.single(worktree, "budget", gigabytes, &mut settings.budget);
        self.single(worktree, "directory", directory, &mut settings.directory);
        self.single(worktree, "hooks", value::flag, &mut settings.hooks);
        self.single(worktree, "setup", value::commands, &mut settings.setup);
    }

    fn apply_aliases(&mut self, aliases: &Node, all: &mut BTreeMap<String, String>) {
        let Some(members) = aliases.members() else {
            let message = format!("`modelAliases` was left out: it must be an object, not {}", aliases.kind());
            return self.warn(aliases, message);
        };
        for Member { key, value, .. } in members {
            match value::text(value) {
                Ok(id) => drop(all.insert(key.trim().to_lowercase(), id)),
                Err(why) => self.warn(value, format!("a name of `modelAliases` was left out: {why}")),
            }
        }
    }

    fn apply_networks(&mut self, networks: &Node, all: &mut Vec<ipnet::IpNet>) {
        if self.layer != Layer::User {
            let message = "`fetchNetworks` was left out: it counts only in your own settings";
            return self.warn(networks, message.to_owned());
        }
        for item in self.list(networks, "fetchNetworks") {
            match value::network(item) {
                Ok(network) => all.push(network),
                Err(why) => self.warn(item, format!("a network of `fetchNetworks` was left out: {why}")),
            }
        }
    }

    fn apply_environment(&mut self, names: &Node, all: &mut Vec<String>) {
        for item in self.list(names, "environment") {
            match value::variable(item) {
                Ok(name) if self.layer != Layer::User && value::is_secret_name(&name) => {
                    let name = quoted(&name);
                    let message =
                        format!("{name} was left out: a name like a secret's counts only in your own settings");
                    self.warn(item, message);
                }
                Ok(name) if all.contains(&name) => {}
                Ok(name) => all.push(name),
                Err(why) => self.warn(item, format!("a name of `environment` was left out: {why}")),
            }
        }
    }

    /// Sets `target` to a member's value if it is there and right.
    fn single<T>(&mut self, parent: &Node, key: &str, read: impl FnOnce(&Node) -> value::Read<T>, target: &mut T) {
        let Some(node) = parent.member(key) else { return };
        match read(node) {
            Ok(value) => *target = value,
            Err(why) => self.warn(node, format!("`{key}` was left out: {why}")),
        }
    }

    /// The items of a list; if it is none, a warning and nothing.
    pub(super) fn list<'n>(&mut self, node: &'n Node, name: &str) -> &'n [Node] {
        if let Some(items) = node.items() {
            return items;
        }
        self.warn(node, format!("`{name}` was left out: it must be a list, not {}", node.kind()));
        &[]
    }

    pub(super) fn check_keys(&mut self, node: &Node, known: &[&str]) {
        let mut found = Vec::new();
        key::check(node, known, self.document, |line, message| found.push((line, message)));
        for (line, message) in found {
            self.push(line, message);
        }
    }

    pub(super) fn warn(&mut self, node: &Node, message: String) {
        self.warn_at(node.span.start, message);
    }

    pub(super) fn warn_at(&mut self, at: usize, message: String) {
        self.push(self.document.line(at), message);
    }

    fn push(&mut self, line: u32, message: String) {
        if self.warnings.len() < WARNINGS_LIMIT {
            self.warnings.push(SettingWarning { path: self.path.to_path_buf(), line: Some(line), message });
        } else {
            self.unlisted += 1;
        }
    }
}

fn count(node: &Node, most: u64) -> value::Read<usize> {
    value::number(node, 1, most).map(|number| usize::try_from(number).unwrap_or(usize::MAX))
}

#[cfg(test)]
#[path = "layer_tests.rs"]
mod tests;

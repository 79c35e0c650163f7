//! Reads a role file. Lenient where the author's meaning is plain, and never silent: whatever is not taken as written is
//! a warning with its line. It opens no file, and it decides nothing about permission.

use offshoot_protocol::{Isolation, PermissionMode, RoleSource, RoleWarning};

use super::field;
use super::grant::Grant;
use super::key::{self, Key};
use super::layout::{Entry, Layout, Unreadable, decode};
use super::value::{self, TextStyle, Value, ValueKind};
use super::{Role, announce, list};

/// Most warnings of one file; what is beyond is one more, saying so.
const WARNING_LIMIT: usize = 32;
/// Most entries of a list of tools.
const LIST_LIMIT: usize = 512;

/// Where a role file comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Origin {
    /// Which kind of folder. A plugin's roles may not set permission, hooks or MCP servers.
    pub source: RoleSource,
    /// Absolute path, or `built-in:<name>.md`.
    pub path: String,
}

/// What a file came to.
#[derive(Clone, Debug, PartialEq)]
pub struct Parsed {
    /// The role, unless a warning says why there is none.
    pub role: Option<Role>,
    /// Everything that wasn't taken as written, in the file's order.
    pub warnings: Vec<RoleWarning>,
    /// The line of the name, from 1; of the front matter where there is none.
    pub name_line: u32,
}

/// Reads the bytes of a role file. `known_tools` are the names that `tools` and `disallowed_tools` may speak of, besides
/// `mcp__…`; another name is a warning.
pub fn parse(bytes: &[u8], origin: &Origin, known_tools: &[&str]) -> Parsed {
    match decode(bytes).and_then(|text| Draft::read(text, origin, known_tools)) {
        Ok(draft) => {
            let name_line = line_of(&draft.layout, &draft.found, Key::Name);
            Parsed { role: draft.loads.then_some(draft.role), warnings: draft.warnings.0, name_line }
        }
        Err(unreadable) => {
            let mut warnings = Warnings::default();
            warnings.add(&origin.path, unreadable.line, format!("not loaded: {}", unreadable.message));
            Parsed { role: None, warnings: warnings.0, name_line: unreadable.line }
        }
    }
}

/// A file, read as far as it could be: what the writer compares before and after.
pub(super) struct Draft {
    /// What its entries say. Name and description are empty where the file has none.
    pub(super) role: Role,
    /// Whether it is a role.
    pub(super) loads: bool,
    /// Where things stand.
    pub(super) layout: Layout,
    /// The entry that counts for each key, as an index into the layout's, and its value.
    pub(super) found: Vec<(Key, usize, Value)>,
    pub(super) warnings: Warnings,
}

#[derive(Default)]
pub(super) struct Warnings(Vec<RoleWarning>);

impl Warnings {
    fn add(&mut self, path: &str, line: u32, message: String) {
        match self.0.len() {
            count if count < WARNING_LIMIT => self.0.push(RoleWarning { path: path.to_owned(), line, message }),
            WARNING_LIMIT => {
                let message = "there are more problems, which are not listed".to_owned();
                self.0.push(RoleWarning { path: path.to_owned(), line: 0, message });
            }
            _ => {}
        }
    }
}

impl Draft {
    pub(super) fn read(text: &str, origin: &Origin, known_tools: &[&str]) -> Result<Self, Unreadable> {
        let layout = Layout::of(text)?;
        let body = text[layout.body.clone()].replace("\r\n", "\n").trim().to_owned();
        let mut reader = Reader { text, origin, known_tools, warnings: Warnings::default(), role: blank(origin, body) };
        let mut found: Vec<(Key, usize, Value)> = Vec::new();
        for (index, entry) in layout.entries.iter().enumerate() {
            // Entries without a meaning here are read too: an anchor is refused wherever it stands.
            let value = value::read(text, entry)?;
            let Some(key) = Key::of(&entry.key) else {
                reader.unknown_key(entry);
                continue;
            };
            if let Some((_, first, _)) = found.iter().find(|(other, ..)| *other == key) {
                let first = layout.entries[*first].line;
                let key = key.snake();
                reader.warn(entry.line, format!("`{key}` is set twice; what line {first} says counts"));
                continue;
            }
            reader.take(key, entry, &value)?;
            found.push((key, index, value));
        }
        let loads = reader.check(&layout, &found);
        let Reader { warnings, role, .. } = reader;
        Ok(Self { role, loads, layout, found, warnings })
    }
}

fn blank(origin: &Origin, body: String) -> Role {
    Role {
        name: String::new(),
        description: String::new(),
        body,
        tools: None,
        disallowed_tools: Vec::new(),
        model: None,
        max_turns: None,
        permission: None,
        background: false,
        isolation: Isolation::Shared,
        color: None,
        without_instructions: false,
        source: origin.source,
        path: origin.path.clone(),
    }
}

struct Reader<'a> {
    text: &'a str,
    origin: &'a Origin,
    known_tools: &'a [&'a str],
    warnings: Warnings,
    role: Role,
}

impl Reader<'_> {
    fn warn(&mut self, line: u32, message: String) {
        self.warnings.add(&self.origin.path, line, message);
    }

    fn take(&mut self, key: Key, entry: &Entry, value: &Value) -> Result<(), Unreadable> {
        match key {
            Key::Name => self.role.name = self.required(entry, value),
            Key::Description => {
                self.role.description = self.required(entry, value);
                self.cut_by_comment(entry, value);
            }
            Key::Tools => self.role.tools = self.tools(entry, value)?,
            Key::DisallowedTools => {
                // Nothing here means nothing is denied; that is what an author without a list wants.
                let denied = if value.kind == ValueKind::Empty { None } else { self.entries(entry, value)? };
                self.role.disallowed_tools = denied.unwrap_or_default();
            }
            Key::Model => {
                self.role.model = self.optional(entry, value, "the parent's model", field::model);
                if let Some(doubt) = self.role.model.as_deref().and_then(field::doubtful_model) {
                    self.warn(entry.line, doubt);
                }
            }
            Key::MaxTurns => self.role.max_turns = self.optional(entry, value, "the default", field::max_turns),
            Key::Permission if self.origin.source == RoleSource::Plugin => {
                self.warn(entry.line, "a plugin's role may not set `permission`; it is ignored".to_owned());
            }
            Key::Permission => {
                let mode: Option<Option<PermissionMode>> =
                    self.optional(entry, value, "the parent's mode", field::permission);
                self.role.permission = mode.flatten();
            }
            Key::Background => {
                self.role.background = self.optional(entry, value, "`false`", field::boolean).unwrap_or_default();
            }
            Key::Isolation => {
                self.role.isolation =
                    self.optional(entry, value, "the shared directory", field::isolation).unwrap_or_default();
            }
            Key::Color => self.role.color = self.optional(entry, value, "no colour", field::color),
            Key::WithoutInstructions => {
                let out = self.optional(entry, value, "`false`", field::boolean);
                self.role.without_instructions = out.unwrap_or_default();
            }
        }
        Ok(())
    }

    /// A text that must be there: whatever stands there is meant as text, `yes`, `3000` and `[x] y` too.
    fn required(&self, entry: &Entry, value: &Value) -> String {
        match &value.kind {
            ValueKind::Empty => String::new(),
            ValueKind::Text { text, .. } => text.trim().to_owned(),
            ValueKind::List { .. } | ValueKind::Other => value::words(self.text, entry),
        }
    }

    /// A value that may be missing, and that counts as missing, with a warning, where `read` can't make sense of it.
    fn optional<T>(
        &mut self,
        entry: &Entry,
        value: &Value,
        default: &str,
        read: fn(&str) -> Result<T, String>,
    ) -> Option<T> {
        let bad = match &value.kind {
            ValueKind::Empty => return None,
            ValueKind::Text { text, style: TextStyle::Plain } if field::is_null(text) => return None,
            ValueKind::Text { text, .. } => match read(text.trim()) {
                Ok(value) => return Some(value),
                Err(problem) => problem,
            },
            ValueKind::List { .. } => "a list stands where one value is meant".to_owned(),
            ValueKind::Other => "this is not a plain value".to_owned(),
        };
        self.warn(entry.line, format!("`{}`: {bad}; {default} is used", entry.key));
        None
    }

    fn tools(&mut self, entry: &Entry, value: &Value) -> Result<Option<Vec<String>>, Unreadable> {
        let tools = match &value.kind {
            // Nothing at all could mean "none" as well as "all": the narrower one, and a word about it.
            ValueKind::Empty => Some(Vec::new()),
            _ => self.entries(entry, value)?,
        };
        if tools.as_ref().is_some_and(Vec::is_empty) {
            let message = "`tools` lists nothing, so the role can't start; remove the line to allow all tools";
            self.warn(entry.line, message.to_owned());
        }
        // A list that names everything is no list.
        Ok(tools.filter(|tools| tools.iter().any(|tool| tool != "*") || tools.is_empty()))
    }

    /// The entries of a list of tools; nothing where the author wrote `null`.
    fn entries(&mut self, entry: &Entry, value: &Value) -> Result<Option<Vec<String>>, Unreadable> {
        let items: Vec<(u32, String)> = match &value.kind {
            ValueKind::Empty => Vec::new(),
            ValueKind::Text { text, style: TextStyle::Plain } if field::is_null(text) => return Ok(None),
            ValueKind::Text { text, .. } => {
                list::commas(text, 0..text.len()).into_iter().map(|item| (entry.line, item.text)).collect()
            }
            ValueKind::List { items, .. } => {
                let (mut line, mut at) = (entry.line, entry.lines.start);
                let mut numbered = Vec::with_capacity(items.len());
                for item in items {
                    line += newlines(&self.text[at..item.span.start]);
                    at = item.span.start;
                    numbered.push((line, item.text.clone()));
                }
                numbered
            }
            ValueKind::Other => {
                // A list that can't be read must not come to "everything is allowed".
                let message = format!("`{}` must be a list, or a text with commas", entry.key);
                return Err(Unreadable::new(entry.line, message));
            }
        };
        if items.len() > LIST_LIMIT {
            return Err(Unreadable::new(entry.line, format!("`{}` has more than {LIST_LIMIT} entries", entry.key)));
        }
        for (line, item) in &items {
            self.check_entry(*line, item, &entry.key);
        }
        Ok(Some(items.into_iter().map(|(_, item)| item).filter(|item| !item.is_empty()).collect()))
    }

    fn check_entry(&mut self, line: u32, item: &str, key: &str) {
        let Some(grant) = Grant::parse(item) else {
            let effect = if Key::of(key) == Some(Key::Tools) { "it has no effect" } else { "the whole tool is denied" };
            self.warn(line, format!("`{key}`: {} is not a tool or `Tool(argument)`; {effect}", shown(item)));
            return;
        };
        let is_known = grant.tool.starts_with("mcp__") || self.known_tools.iter().any(|known| grant.covers(known));
        if !is_known {
            let near = closest(grant.tool, self.known_tools.iter().copied());
            let hint = near.first().map(|name| format!("; did you mean `{name}`?")).unwrap_or_default();
            self.warn(line, format!("`{key}`: there is no tool {}{hint}", shown(grant.tool)));
        } else if grant.argument.is_some()
            && self.origin.source == RoleSource::Plugin
            && Key::of(key) == Some(Key::Tools)
        {
            let message = format!("a plugin's role can't allow calls by rule: {} allows the tool only", shown(item));
            self.warn(line, message);
        }
    }

    /// A plain description that YAML ends at a `#`, although the author may have meant it: `issue #12`.
    fn cut_by_comment(&mut self, entry: &Entry, value: &Value) {
        let ValueKind::Text { style: TextStyle::Plain, .. } = value.kind else { return };
        let rest = self.text[value.span.end..entry.lines.end].trim_start_matches([' ', '\t']);
        if let Some(comment) = rest.strip_prefix('#')
            && comment.starts_with(|character: char| character.is_alphanumeric())
        {
            let message =
                "the description ends at ` #`, where YAML starts a comment; put it in quotes to keep the rest";
            self.warn(entry.line, message.to_owned());
        }
    }

    fn unknown_key(&mut self, entry: &Entry) {
        let plain = key::plain(&entry.key);
        if key::UNSUPPORTED.contains(&plain.as_str()) {
            let key = shown(&entry.key);
            let message = match self.origin.source {
                RoleSource::Plugin => format!("a plugin's role may not set {key}; it is ignored"),
                _ => format!("{key} has no effect in a role here"),
            };
            self.warn(entry.line, message);
        } else if let Some(near) =
            Key::ALL.iter().find(|key| strsim::damerau_levenshtein(&plain, &key::plain(key.snake())) == 1)
        {
            // A misspelt deny list that is passed over in silence would be a hole.
            self.warn(entry.line, format!("unknown key {}; did you mean `{}`?", shown(&entry.key), near.snake()));
        }
    }

    /// What must be true of the whole. Whether the file is a role.
    fn check(&mut self, layout: &Layout, found: &[(Key, usize, Value)]) -> bool {
        let mut loads = true;
        if let Err(problem) = field::name(&self.role.name) {
            self.warn(line_of(layout, found, Key::Name), format!("not loaded: {problem}"));
            loads = false;
        }
        if self.role.description.is_empty() {
            self.warn(
                line_of(layout, found, Key::Description),
                "not loaded: `description` is missing: it says when to use the role".to_owned(),
            );
            loads = false;
        }
        if loads && self.role.body.is_empty() {
            let line = layout.fence_line + newlines(&self.text[layout.front.clone()]) + 1;
            self.warn(line, "the role has no prompt".to_owned());
        }
        loads
    }
}

fn line_of(layout: &Layout, found: &[(Key, usize, Value)], wanted: Key) -> u32 {
    let found = found.iter().find(|(key, ..)| *key == wanted);
    found.map_or(layout.fence_line, |(_, index, _)| layout.entries[*index].line)
}

fn newlines(text: &str) -> u32 {
    u32::try_from(text.matches('\n').count()).unwrap_or(u32::MAX)
}

/// A piece of a file inside a message: bounded, and without characters that draw something else.
pub(super) fn shown(text: &str) -> String {
    let mut out = String::from("`");
    for (count, character) in text.chars().enumerate() {
        if count == 60 {
            out.push('…');
            break;
        }
        let is_seen = !character.is_control() && !announce::is_invisible(character);
        out.push(if is_seen { character } else { '\u{fffd}' });
    }
    out.push('`');
    out
}

/// Names that look like `wanted`, the most similar first, at most three.
pub(super) fn closest<'n>(wanted: &str, names: impl Iterator<Item = &'n str>) -> Vec<&'n str> {
    let wanted = wanted.to_lowercase();
    let mut near: Vec<(f64, &str)> = names
        .map(|name| (strsim::jaro_winkler(&wanted, &name.to_lowercase()), name))
        .filter(|(similarity, _)| *similarity >= 0.8)
        .collect();
    near.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(b.1)));
    near.into_iter().take(3).map(|(_, name)| name).collect()
}

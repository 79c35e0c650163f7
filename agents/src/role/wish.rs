//! What an edit asks for: the role that shall come out, and what each entry of its file shall say.

use offshoot_protocol::Isolation;

use super::key::Key;
use super::parse::shown;
use super::write::{Change, EditError, RoleEdit};
use super::{Grant, Role, field};

/// A value that an entry shall have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Wish {
    /// None: its lines go.
    Remove,
    /// A text, or a word of this program.
    Value {
        /// How it is spelt as a rule.
        snake: String,
        /// How it is spelt where the key is in camel case.
        camel: String,
    },
    /// Tools.
    List(Vec<String>),
}

/// Everything that an edit asks for.
pub(super) struct Wishes {
    /// What the file shall say when it is read again.
    pub(super) role: Role,
    /// What that means for its entries, in the order of the keys.
    pub(super) entries: Vec<(Key, Wish)>,
}

impl Wishes {
    /// Checks every value; `now` is what the file says before.
    pub(super) fn of(edit: &RoleEdit, now: &Role) -> Result<Self, EditError> {
        let mut wishes = Self { role: now.clone(), entries: Vec::new() };
        if let Some(name) = wishes.text(Key::Name, &edit.name, |name| field::name(name).map(|()| name.to_owned()))? {
            wishes.role.name = name.unwrap_or_default();
        }
        if let Some(description) = wishes.text(Key::Description, &edit.description, description)? {
            wishes.role.description = description.unwrap_or_default();
        }
        if let Some(tools) = wishes.list(Key::Tools, &edit.tools)? {
            // A list that names everything is no list.
            wishes.role.tools = tools.filter(|tools| tools.is_empty() || tools.iter().any(|tool| tool != "*"));
        }
        if let Some(denied) = wishes.list(Key::DisallowedTools, &edit.disallowed_tools)? {
            wishes.role.disallowed_tools = denied.unwrap_or_default();
        }
        if let Some(model) = wishes.text(Key::Model, &edit.model, field::model)? {
            wishes.role.model = model;
        }
        if let Some(color) = wishes.text(Key::Color, &edit.color, field::color)? {
            wishes.role.color = color;
        }
        if let Some(turns) = wishes.word(Key::MaxTurns, &edit.max_turns, |turns, _| turns.to_string()) {
            if let Some(turns) = turns {
                field::max_turns(&turns.to_string()).map_err(|message| invalid(Key::MaxTurns, message))?;
            }
            wishes.role.max_turns = turns;
        }
        let mode = |mode, camel| field::permission_text(mode, camel).to_owned();
        if let Some(permission) = wishes.word(Key::Permission, &edit.permission, mode) {
            wishes.role.permission = permission;
        }
        if let Some(background) = wishes.word(Key::Background, &edit.background, |value, _| value.to_string()) {
            wishes.role.background = background.unwrap_or_default();
        }
        let place = |isolation, _| if isolation == Isolation::Worktree { "worktree" } else { "shared" }.to_owned();
        if let Some(isolation) = wishes.word(Key::Isolation, &edit.isolation, place) {
            wishes.role.isolation = isolation.unwrap_or_default();
        }
        let flag = wishes.word(Key::WithoutInstructions, &edit.without_instructions, |value, _| value.to_string());
        if let Some(flag) = flag {
            wishes.role.without_instructions = flag.unwrap_or_default();
        }
        if let Some(body) = &edit.body {
            body.replace("\r\n", "\n").trim().clone_into(&mut wishes.role.body);
        }
        wishes.entries.sort_by_key(|(key, _)| *key);
        Ok(wishes)
    }

    /// Nothing where the entry stays; else its new value, or none where it goes.
    #[allow(clippy::option_option, reason = "an entry stays, goes, or gets a value")]
    fn text(
        &mut self,
        key: Key,
        change: &Change<String>,
        check: fn(&str) -> Result<String, String>,
    ) -> Result<Option<Option<String>>, EditError> {
        match change {
            Change::Keep => Ok(None),
            Change::Remove => {
                self.entries.push((key, Wish::Remove));
                Ok(Some(None))
            }
            Change::Set(value) => {
                let value = value.replace("\r\n", "\n");
                let value = check(value.trim()).map_err(|message| invalid(key, message))?;
                self.entries.push((key, Wish::Value { snake: value.clone(), camel: value.clone() }));
                Ok(Some(Some(value)))
            }
        }
    }

    #[allow(clippy::option_option, reason = "an entry stays, goes, or gets a value")]
    fn word<T: Copy>(&mut self, key: Key, change: &Change<T>, spell: impl Fn(T, bool) -> String) -> Option<Option<T>> {
        match change {
            Change::Keep => None,
            Change::Remove => {
                self.entries.push((key, Wish::Remove));
                Some(None)
            }
            Change::Set(value) => {
                self.entries.push((key, Wish::Value { snake: spell(*value, false), camel: spell(*value, true) }));
                Some(Some(*value))
            }
        }
    }

    #[allow(clippy::option_option, reason = "an entry stays, goes, or gets a value")]
    fn list(&mut self, key: Key, change: &Change<Vec<String>>) -> Result<Option<Option<Vec<String>>>, EditError> {
        match change {
            Change::Keep => Ok(None),
            Change::Remove => {
                self.entries.push((key, Wish::Remove));
                Ok(Some(None))
            }
            Change::Set(list) => {
                let list: Vec<String> = list.iter().map(|entry| entry.trim().to_owned()).collect();
                let is_bad = |entry: &&String| Grant::parse(entry).is_none() || entry.contains(char::is_control);
                if let Some(bad) = list.iter().find(is_bad) {
                    return Err(invalid(key, format!("{} is not a tool or `Tool(argument)`", shown(bad))));
                }
                self.entries.push((key, Wish::List(list.clone())));
                Ok(Some(Some(list)))
            }
        }
    }
}

fn description(text: &str) -> Result<String, String> {
    if text.is_empty() { Err("it must say when to use the role".to_owned()) } else { Ok(text.to_owned()) }
}

fn invalid(key: Key, message: String) -> EditError {
    EditError::Invalid { key: key.snake(), message }
}

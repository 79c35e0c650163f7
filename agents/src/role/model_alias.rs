//! Which model a role or call means. Pure: what is known and what is asked for is handed in.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// The aliases that roles may rely on, and the word for the parent's model.
pub const NAMES: [&str; 5] = ["haiku", "sonnet", "opus", "fable", INHERIT];

/// The word for the parent's model.
pub const INHERIT: &str = "inherit";

/// Aliases and the model ids they stand for. In JSON, one object: `{"haiku": "…", …}`; names that it leaves out keep
/// their defaults.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "BTreeMap<String, String>", into = "BTreeMap<String, String>")]
pub struct ModelAliases(BTreeMap<String, String>);

impl Default for ModelAliases {
    /// The newest of each family when this was written (Anthropic's model overview).
    fn default() -> Self {
        let table = [
            ("haiku", "claude-haiku-4-5"),
            ("sonnet", "claude-sonnet-5"),
            ("opus", "claude-opus-5"),
            ("fable", "claude-fable-5-1"),
        ];
        Self(table.into_iter().map(|(alias, id)| (alias.to_owned(), id.to_owned())).collect())
    }
}

impl From<BTreeMap<String, String>> for ModelAliases {
    fn from(table: BTreeMap<String, String>) -> Self {
        let mut aliases = Self::default();
        for (alias, id) in table {
            aliases.set(&alias, &id);
        }
        aliases
    }
}

impl From<ModelAliases> for BTreeMap<String, String> {
    fn from(aliases: ModelAliases) -> Self {
        aliases.0
    }
}

/// What was asked for, from the strongest to the weakest. Empty texts count as not given.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ModelWishes<'a> {
    /// The environment's override for all children.
    pub override_env: Option<&'a str>,
    /// The call's `model`.
    pub call: Option<&'a str>,
    /// The role's `model`.
    pub role: Option<&'a str>,
}

/// The model an agent gets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Resolved {
    /// Its id.
    pub model: String,
    /// Why it isn't the one that was asked for. To be stored, shown on the node and told to the parent.
    pub warning: Option<String>,
}

impl ModelAliases {
    /// Lets `alias` (in any case) stand for the model `id`. [`INHERIT`] can't be changed; an empty text changes nothing.
    pub fn set(&mut self, alias: &str, id: &str) {
        let (alias, id) = (alias.trim().to_lowercase(), id.trim());
        if alias != INHERIT && !alias.is_empty() && !id.is_empty() {
            self.0.insert(alias, id.to_owned());
        }
    }

    /// The id that `alias` stands for.
    pub fn get(&self, alias: &str) -> Option<&str> {
        self.0.get(&alias.to_lowercase()).map(String::as_str)
    }

    /// Aliases and ids, sorted.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(alias, id)| (alias.as_str(), id.as_str()))
    }

    /// The model for an agent: the strongest wish counts, alone; without one, or with `inherit`, it is `parent`.
    ///
    /// `known` are the ids that the provider is known to have; empty when that isn't known, and then every text that
    /// could be an id is one. A wish that can't be met gives the parent's model and a warning, never the next wish's:
    /// the author of the strongest meant to overrule the others.
    pub fn resolve(&self, wishes: ModelWishes<'_>, parent: &str, known: &[&str]) -> Resolved {
        let sources = [(wishes.override_env, "the environment"), (wishes.call, "the call"), (wishes.role, "the role")];
        let given = |(wish, source): (Option<&'_ str>, &'static str)| {
            wish.map(str::trim).filter(|wish| !wish.is_empty()).map(|wish| (wish.to_owned(), source))
        };
        let inherited = || Resolved { model: parent.to_owned(), warning: None };
        let Some((wish, source)) = sources.into_iter().find_map(given) else { return inherited() };
        if wish.eq_ignore_ascii_case(INHERIT) {
            return inherited();
        }
        let id = self.get(&wish).unwrap_or(&wish);
        let exists = if known.is_empty() { could_be_an_id(id) } else { known.iter().any(|known| is_meant(known, id)) };
        if exists || id == parent {
            return Resolved { model: id.to_owned(), warning: None };
        }
        let shown = super::parse::shown(&wish);
        let meant = if id == wish { String::new() } else { format!(" (`{id}`)") };
        let warning =
            format!("{source} asks for the model {shown}{meant}, which is unknown; the parent's, `{parent}`, is used");
        Resolved { model: parent.to_owned(), warning: Some(warning) }
    }
}

/// Whether `id` means a model that is listed as `known`: providers list models with the day they are of, and also take the
/// names without it, or with `latest` in its place.
fn is_meant(known: &str, id: &str) -> bool {
    let stem = id.strip_suffix("-latest").unwrap_or(id);
    let day = known.strip_prefix(stem).and_then(|rest| rest.strip_prefix('-'));
    known == id || day.is_some_and(|day| day.len() == 8 && day.bytes().all(|byte| byte.is_ascii_digit()))
}

fn could_be_an_id(text: &str) -> bool {
    let fits = |character: char| character.is_ascii_alphanumeric() || "-_.:/@[]+".contains(character);
    text.len() <= 200 && text.chars().all(fits) && text.chars().any(char::is_alphabetic)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wishes<'a>(override_env: &'a str, call: &'a str, role: &'a str) -> ModelWishes<'a> {
        ModelWishes { override_env: Some(override_env), call: Some(call), role: Some(role) }
    }

    #[test]
    fn the_strongest_wish_counts() {
        let aliases = ModelAliases::default();
        let model = |wishes| aliases.resolve(wishes, "parent-1", &[]).model;
        assert_eq!(model(wishes("e-1", "c-1", "r-1")), "e-1");
        assert_eq!(model(wishes(" ", "c-1", "r-1")), "c-1");
        assert_eq!(model(wishes("", "", "r-1")), "r-1");
        assert_eq!(model(ModelWishes::default()), "parent-1");
        assert_eq!(model(wishes("", "Inherit", "r-1")), "parent-1");
        assert_eq!(model(wishes("", "Haiku", "r-1")), aliases.get("haiku").unwrap());
    }

    #[test]
    fn what_cannot_be_met_warns_and_never_falls_to_the_next_wish() {
        let aliases = ModelAliases::default();
        let resolved = aliases.resolve(wishes("", "gpt-99", "r-1"), "parent-1", &["parent-1", "r-1"]);
        assert_eq!(resolved.model, "parent-1");
        let warning = resolved.warning.unwrap();
        assert!(
            warning.contains("the call") && warning.contains("gpt-99") && warning.contains("parent-1"),
            "{warning}"
        );
        assert!(aliases.resolve(wishes("", "", "3000"), "p", &[]).warning.is_some());
        assert!(aliases.resolve(wishes("", "", "opus"), "p", &["p"]).warning.unwrap().contains("claude-opus"));
        // The parent runs on it, so it exists.
        assert_eq!(aliases.resolve(wishes("", "p", ""), "p", &["q"]).warning, None);
    }

    #[test]
    fn a_listed_model_may_be_named_without_its_day() {
        let aliases = ModelAliases::default();
        let known = ["claude-haiku-4-5-20251001", "claude-x-1"];
        for (wish, is_known) in [
            ("haiku", true),
            ("claude-haiku-4-5", true),
            ("claude-haiku-4-5-latest", true),
            ("claude-haiku-4-5-20251001", true),
            ("claude-haiku-4", false),
            ("claude-haiku", false),
            ("claude-x", false),
        ] {
            let resolved = aliases.resolve(wishes("", wish, ""), "p", &known);
            assert_eq!(resolved.warning.is_none(), is_known, "{wish}: {resolved:?}");
        }
    }

    #[test]
    fn the_table_is_edited_and_read_from_json() {
        let aliases: ModelAliases =
            serde_json::from_str(r#"{"Haiku": "small-1", "local": "qwen", "inherit": "x"}"#).unwrap();
        assert_eq!(aliases.get("haiku"), Some("small-1"));
        assert_eq!(aliases.get("LOCAL"), Some("qwen"));
        assert_eq!(aliases.get("inherit"), None);
        assert!(aliases.get("opus").is_some(), "what the table leaves out stays");
        let again: ModelAliases = serde_json::from_str(&serde_json::to_string(&aliases).unwrap()).unwrap();
        assert_eq!(again, aliases);
    }
}

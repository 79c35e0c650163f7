//! The keys of the front matter that mean something, in both spellings.

/// A key that a role file may set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Key {
    /// `name`
    Name,
    /// `description`
    Description,
    /// `tools`
    Tools,
    /// `disallowed_tools`
    DisallowedTools,
    /// `model`
    Model,
    /// `max_turns`
    MaxTurns,
    /// `permission`, also `permissionMode`
    Permission,
    /// `background`
    Background,
    /// `isolation`
    Isolation,
    /// `color`
    Color,
    /// `without_instructions`
    WithoutInstructions,
}

/// Keys of other programs' role files that grant what a role can't grant here.
pub(super) const UNSUPPORTED: [&str; 2] = ["hooks", "mcpservers"];

impl Key {
    /// All, in the order in which a new file lists them.
    pub const ALL: [Self; 11] = [
        Self::Name,
        Self::Description,
        Self::Tools,
        Self::DisallowedTools,
        Self::Model,
        Self::MaxTurns,
        Self::Permission,
        Self::Background,
        Self::Isolation,
        Self::Color,
        Self::WithoutInstructions,
    ];

    /// How this program spells it.
    pub fn snake(self) -> &'static str {
        match self {
            Self::Name => "name",
            Self::Description => "description",
            Self::Tools => "tools",
            Self::DisallowedTools => "disallowed_tools",
            Self::Model => "model",
            Self::MaxTurns => "max_turns",
            Self::Permission => "permission",
            Self::Background => "background",
            Self::Isolation => "isolation",
            Self::Color => "color",
            Self::WithoutInstructions => "without_instructions",
        }
    }

    /// How other programs spell it.
    pub fn camel(self) -> &'static str {
        match self {
            Self::DisallowedTools => "disallowedTools",
            Self::MaxTurns => "maxTurns",
            Self::Permission => "permissionMode",
            Self::WithoutInstructions => "withoutInstructions",
            same => same.snake(),
        }
    }

    /// The key that `written` means, in whatever of the spellings.
    pub fn of(written: &str) -> Option<Self> {
        let plain = plain(written);
        Self::ALL.into_iter().find(|key| {
            let spellings = [key.snake().replace('_', ""), key.camel().to_ascii_lowercase()];
            spellings.contains(&plain)
        })
    }
}

/// `written` without what the spellings differ in.
pub(super) fn plain(written: &str) -> String {
    written.chars().filter(|character| !matches!(character, '_' | '-')).collect::<String>().to_ascii_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_spellings() {
        for key in Key::ALL {
            assert_eq!(Key::of(key.snake()), Some(key));
            assert_eq!(Key::of(key.camel()), Some(key));
        }
        assert_eq!(Key::of("disallowed-tools"), Some(Key::DisallowedTools));
        assert_eq!(Key::of("permission_mode"), Some(Key::Permission));
        assert_eq!(Key::of("tool"), None);
    }
}

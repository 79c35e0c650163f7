//! A key: usable, never shown.

/// A provider's key. Printing it prints nothing of it.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// Takes a key; white space around it, as files and clipboards add it, is dropped.
    pub fn new(text: &str) -> Self {
        Self(text.trim().to_owned())
    }

    /// The key itself, to be sent.
    pub(crate) fn reveal(&self) -> &str {
        &self.0
    }

    /// `text` without the key in it: providers and proxies quote what they were sent.
    pub fn redact(&self, text: &str) -> String {
        if self.0.is_empty() { text.to_owned() } else { text.replace(&self.0, "[key]") }
    }
}

impl std::fmt::Debug for Secret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Secret")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_prints_it() {
        let key = Secret::new(" sk-1234\n");
        assert_eq!(format!("{key:?}"), "Secret");
        assert_eq!(key.redact("bad key sk-1234: sk-1234 is unknown"), "bad key [key]: [key] is unknown");
        assert_eq!(Secret::new("").redact("text"), "text");
    }
}

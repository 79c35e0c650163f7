//! One word of a command line, as far as it can be known without running anything.

/// A part of a [`Word`].
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Piece {
    /// Exactly this text.
    Text(String),
    /// An unquoted `*` or `?`: the word becomes the names of files that match.
    Glob(char),
    /// A leading `~`: the home directory.
    Home,
    /// The value of a variable; unquoted, it may become several words or none.
    Variable {
        /// The variable's name, without `$`.
        name: String,
        /// Whether it stands in double quotes.
        quoted: bool,
    },
    /// Output of a command, or whatever else can't be known; unquoted, it may become several words or none.
    Unknown {
        /// Whether it stands in double quotes.
        quoted: bool,
    },
}

/// One word: a name, an argument, a value or a target.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Word {
    /// What it consists of. Adjacent texts are joined; no pieces is the empty word.
    pub pieces: Vec<Piece>,
}

impl Word {
    /// A word that is exactly `text`.
    pub fn literal_of(text: impl Into<String>) -> Self {
        let mut word = Self::default();
        word.push_text(&text.into());
        word
    }

    /// Appends known text.
    pub fn push_text(&mut self, text: &str) {
        match self.pieces.last_mut() {
            Some(Piece::Text(last)) => last.push_str(text),
            _ if text.is_empty() => {}
            _ => self.pieces.push(Piece::Text(text.to_owned())),
        }
    }

    /// Appends a piece.
    pub fn push(&mut self, piece: Piece) {
        match piece {
            Piece::Text(text) => self.push_text(&text),
            other => self.pieces.push(other),
        }
    }

    /// The whole word, when it is known and is one word.
    pub fn literal(&self) -> Option<&str> {
        match self.pieces.as_slice() {
            [] => Some(""),
            [Piece::Text(text)] => Some(text),
            _ => None,
        }
    }

    /// The text that the word surely begins with.
    pub fn prefix(&self) -> &str {
        match self.pieces.first() {
            Some(Piece::Text(text)) => text,
            Some(Piece::Home) => "/",
            _ => "",
        }
    }

    /// Whether the word could become an option: it begins with `-`, or nothing is known of its beginning.
    pub fn may_be_option(&self) -> bool {
        match self.pieces.first() {
            Some(Piece::Text(text)) => text.starts_with('-') || self.may_split(),
            Some(Piece::Home) | None => self.may_split(),
            Some(_) => true,
        }
    }

    /// Whether it may become several words of which only the first is known to begin with [`Word::prefix`].
    pub fn may_split(&self) -> bool {
        let splits =
            |piece: &Piece| matches!(piece, Piece::Variable { quoted: false, .. } | Piece::Unknown { quoted: false });
        self.pieces.iter().any(splits)
    }

    /// Whether it holds an unquoted wildcard.
    pub fn has_glob(&self) -> bool {
        self.pieces.iter().any(|piece| matches!(piece, Piece::Glob(_)))
    }

    /// Whether everything but the names of matching files and the home directory is known.
    pub fn is_known(&self) -> bool {
        !self.pieces.iter().any(|piece| matches!(piece, Piece::Variable { .. } | Piece::Unknown { .. }))
    }
}

//! Reads a command line, without running or expanding anything.
//!
//! Two readings for two questions:
//! - [`parse`], strict, for *may this run by rule?* It accepts only what it can prove that it reads as bash does; the rest
//!   is [`NotUnderstood`] and has to be asked for.
//! - [`everything`], lenient, for *could this start what a rule forbids?* It accepts any text and errs on the side of
//!   finding too much: inside substitutions, function bodies, wrappers (`timeout`, `sudo`, `xargs`, …), `bash -c`.
//!
//! Pure: no files, no clock, no environment. Both are bounded in time and depth whatever the text is.

mod characters;
mod expand;
mod lenient;
mod look_through;
mod strict;
mod word;

#[cfg(test)]
mod oracle;

pub use characters::odd_character;
pub use expand::Variables;
pub use look_through::{Everything, everything};
pub use strict::parse;
pub use word::{Piece, Word};

/// The longest text that [`parse`] looks at, in bytes.
pub const MAX_PARSED: usize = 16 * 1024;

/// The longest single argument that Linux passes to a program, in bytes (`MAX_ARG_STRLEN`, 32 pages). A longer command
/// can't be handed to a shell at all.
pub const MAX_COMMAND: usize = 128 * 1024;

/// A command line that was understood: everything that it would start, in the order of the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parsed {
    /// The simple commands, those of substitutions before the command that uses them.
    pub parts: Vec<SimpleCommand>,
}

/// One command with its arguments, or only assignments or redirections when `argv` is empty.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SimpleCommand {
    /// The name and the arguments.
    pub argv: Vec<Word>,
    /// `NAME=value` in front of the name.
    pub assignments: Vec<Assignment>,
    /// `> file` and the like, those of an enclosing group included.
    pub redirections: Vec<Redirection>,
    /// The piece of the command line that it was read from.
    pub text: String,
}

/// `NAME=value`; also the variable of a `for`, once per value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Assignment {
    /// The variable.
    pub name: String,
    /// Its value.
    pub value: Word,
}

/// Where a command's input comes from or its output goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Redirection {
    /// What is done with the target.
    pub kind: RedirectionKind,
    /// The file.
    pub target: Word,
}

/// What a redirection does with its target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RedirectionKind {
    /// `<`
    Read,
    /// `>`, `>>`, `>|`, `&>`, `&>>`, `<>`: creates or changes it.
    Write,
}

/// Why a text isn't understood.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotUnderstood {
    /// Longer than [`MAX_PARSED`].
    #[error("it is longer than {MAX_PARSED} bytes")]
    TooLong,
    /// A character that a reader might not see, or might see as another.
    #[error("it contains {0}")]
    OddCharacter(String),
    /// Too many or too deep brackets, or the parser's budget is used up.
    #[error("it is nested too deeply")]
    TooComplex,
    /// The parser reports an error.
    #[error("it isn't valid shell syntax")]
    Syntax,
    /// Valid, but beyond what is read with certainty.
    #[error("it uses {0}")]
    Construct(String),
}

/// A text as one word of a command line: as it is where that is plain, else in single quotes.
pub fn quoted(text: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./+:@%,=".contains(c);
    if !text.is_empty() && text.chars().all(plain) {
        return text.to_owned();
    }
    format!("'{}'", text.replace('\'', "'\\''"))
}

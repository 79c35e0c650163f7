//! Standard output and standard error. Nothing else in the program prints.
//!
//! A closed pipe is no error: what comes after it is dropped. Text of models, repositories and files is made harmless
//! before a terminal sees it.

use std::io::{self, IsTerminal, Write};

/// The two streams of this process.
pub(crate) struct Console {
    out: Stream,
    err: Stream,
}

struct Stream {
    to: Box<dyn Write + Send>,
    is_terminal: bool,
    has_color: bool,
    is_open: bool,
}

/// How a piece of text is set off.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tone {
    /// Names.
    Strong,
    /// What matters less.
    Faint,
    /// What went well.
    Good,
    /// What a person should look at.
    Warning,
    /// What went wrong.
    Bad,
}

impl Tone {
    fn code(self) -> &'static str {
        match self {
            Self::Strong => "1",
            Self::Faint => "2",
            Self::Good => "32",
            Self::Warning => "33",
            Self::Bad => "31",
        }
    }
}

impl Console {
    /// Standard output as it is, for a whole file's worth.
    pub(crate) fn raw_output() -> impl std::io::Write + Send {
        std::io::stdout()
    }

    /// The streams of this process; coloured only on a terminal, and only if `NO_COLOR` isn't set.
    pub(crate) fn standard() -> Self {
        let is_set = |name| std::env::var_os(name).is_some_and(|value| !value.is_empty());
        let wanted = !is_set("NO_COLOR") && std::env::var_os("TERM").is_none_or(|term| term != "dumb");
        let (out, err) = (io::stdout(), io::stderr());
        let (out_terminal, err_terminal) = (out.is_terminal(), err.is_terminal());
        Self {
            out: Stream::new(Box::new(out), out_terminal, wanted && out_terminal),
            err: Stream::new(Box::new(err), err_terminal, wanted && err_terminal),
        }
    }

    /// A line (or several) of result on standard output.
    ///
    /// # Errors
    /// When it can't be written, but for a closed pipe.
    pub(crate) fn print(&mut self, text: &str) -> io::Result<()> {
        if self.out.is_terminal { self.out.line(&harmless(text)) } else { self.out.line(text) }
    }

    /// A line of activity on standard error. One that can't be written is lost: there is nowhere to say so.
    pub(crate) fn note(&mut self, text: &str) {
        let _ = self.err.line(&harmless(text));
    }

    /// A line of activity that begins with a name.
    pub(crate) fn note_of(&mut self, name: &str, tone: Tone, text: &str) {
        let name = paint(self.err.has_color, &one_line(name), tone);
        let _ = self.err.line(&format!("{name}: {}", one_line(text)));
    }

    /// `text` set off with `tone` where standard output has colours. `text` is made harmless and one line.
    pub(crate) fn painted(&self, text: &str, tone: Tone) -> Painted {
        Painted(paint(self.out.has_color, &one_line(text), tone))
    }

    /// A line of result that was put together from painted pieces.
    ///
    /// # Errors
    /// When it can't be written, but for a closed pipe.
    pub(crate) fn print_pieces(&mut self, pieces: &[Painted]) -> io::Result<()> {
        let line: String = pieces.iter().map(|piece| piece.0.as_str()).collect();
        self.out.line(line.trim_end())
    }
}

/// A piece of a line, harmless, perhaps with colour.
pub(crate) struct Painted(String);

impl Painted {
    /// Plain text, made harmless.
    pub(crate) fn plain(text: &str) -> Self {
        Self(one_line(text))
    }

    /// The program's own lines and blanks, as they are.
    pub(crate) fn drawn(text: &str) -> Self {
        Self(text.to_owned())
    }

    /// Whether there is nothing to see.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl Stream {
    fn new(to: Box<dyn Write + Send>, is_terminal: bool, has_color: bool) -> Self {
        Self { to, is_terminal, has_color, is_open: true }
    }

    fn line(&mut self, text: &str) -> io::Result<()> {
        if !self.is_open {
            return Ok(());
        }
        let mut bytes = Vec::with_capacity(text.len() + 1);
        bytes.extend_from_slice(text.as_bytes());
        bytes.push(b'\n');
        match self.to.write_all(&bytes).and_then(|()| self.to.flush()) {
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {
                self.is_open = false;
                Ok(())
            }
            other => other,
        }
    }
}

fn paint(has_color: bool, text: &str, tone: Tone) -> String {
    if has_color { format!("\x1b[{}m{text}\x1b[0m", tone.code()) } else { text.to_owned() }
}

/// Text that can't steer a terminal or reorder what is read: control and bidirectional characters are replaced; line
/// ends and tabs stay.
pub(crate) fn harmless(text: &str) -> String {
    text.chars().map(|c| if c == '\n' || c == '\t' { c } else { visible(c) }).collect()
}

/// The same on a single line: runs of white space become one blank.
pub(crate) fn one_line(text: &str) -> String {
    let words = text.split_whitespace().map(|word| word.chars().map(visible).collect::<String>());
    words.collect::<Vec<_>>().join(" ")
}

fn visible(c: char) -> char {
    match c {
        // Control Pictures has a sign for each of the first 32 and for DEL.
        '\0'..='\u{1f}' => char::from_u32(0x2400 + c as u32).unwrap_or('\u{fffd}'),
        '\u{7f}' => '\u{2421}',
        '\u{80}'..='\u{9f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => '\u{fffd}',
        other => other,
    }
}

/// The first `width` characters of a line; what is cut is marked.
pub(crate) fn cut(text: &str, width: usize) -> String {
    if text.chars().count() <= width {
        return text.to_owned();
    }
    let mut short: String = text.chars().take(width.saturating_sub(1)).collect();
    short.push('…');
    short
}

#[cfg(test)]
pub(crate) mod tests {
    use std::sync::{Arc, Mutex};

    use super::*;

    /// What was written to a stream.
    #[derive(Clone, Default)]
    pub(crate) struct Written(Arc<Mutex<Vec<u8>>>);

    impl Written {
        pub(crate) fn text(&self) -> String {
            String::from_utf8(self.0.lock().unwrap().clone()).unwrap()
        }
    }

    impl Write for Written {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().extend_from_slice(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    struct Failing(io::ErrorKind);

    impl Write for Failing {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(self.0.into())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    /// A console that keeps what is written: output, error.
    pub(crate) fn captured() -> (Console, Written, Written) {
        let (out, err) = (Written::default(), Written::default());
        let stream = |to: &Written| Stream::new(Box::new(to.clone()), false, false);
        (Console { out: stream(&out), err: stream(&err) }, out, err)
    }

    fn writing_to(out: impl Write + Send + 'static) -> Console {
        Console { out: Stream::new(Box::new(out), false, false), err: Stream::new(Box::new(io::sink()), false, false) }
    }

    #[test]
    fn a_closed_pipe_is_no_error_but_a_full_disk_is() {
        let mut console = writing_to(Failing(io::ErrorKind::BrokenPipe));
        assert!(console.print("a").is_ok() && console.print("b").is_ok());
        assert!(writing_to(Failing(io::ErrorKind::StorageFull)).print("a").is_err());
    }

    #[test]
    fn hostile_text_cannot_steer_the_terminal() {
        let (mut console, _, err) = captured();
        console.note_of("evil\x1b[2J\nname", Tone::Strong, "x\r\x1b]52;c;aGk=\x07 \u{202e}y\u{9b}");
        assert_eq!(err.text(), "evil␛[2J name: x ␛]52;c;aGk=␇ \u{fffd}y\u{fffd}\n");
    }

    #[test]
    fn cutting_counts_characters() {
        assert_eq!(cut("äöü", 3), "äöü");
        assert_eq!(cut("äöüß", 3), "äö…");
    }

    #[test]
    fn colours_only_where_asked_for() {
        assert_eq!(paint(false, "x", Tone::Bad), "x");
        assert_eq!(paint(true, "x", Tone::Bad), "\x1b[31mx\x1b[0m");
    }
}

//! Words: quotations, expansions, substitutions.

use tree_sitter::Node;

use super::super::{Piece, Word};
use super::{Read, Walk, children, construct, is_name, name_of};

impl Walk<'_> {
    pub(super) fn word(&mut self, node: Node<'_>) -> Read<Word> {
        let mut word = Word::default();
        self.pieces(node, true, &mut word)?;
        Ok(word)
    }

    /// Appends what `node` contributes to a word; `first`: it is the word's beginning.
    fn pieces(&mut self, node: Node<'_>, first: bool, word: &mut Word) -> Read<()> {
        match node.kind() {
            "word" | "number" => plain(self.source(node), first, word),
            // Only a `~` that ends the word or stands before a `/` is the home directory.
            "concatenation" if self.source(node).starts_with('~') && !self.source(node).starts_with("~/") => {
                construct("`~` with a name")
            }
            "raw_string" => match self.source(node).strip_prefix('\'').and_then(|text| text.strip_suffix('\'')) {
                Some(text) if !text.contains('\'') => {
                    word.push_text(text);
                    Ok(())
                }
                _ => construct("a quotation that isn't understood"),
            },
            "string" => self.string(node, word),
            "simple_expansion" | "expansion" => self.variable_value(node, false, word),
            "command_substitution" => self.substitution(node, "$(", false, word),
            "process_substitution" => {
                let open = if self.source(node).starts_with('<') { "<(" } else { ">(" };
                self.substitution(node, open, true, word)
            }
            "concatenation" => {
                let mut end = node.start_byte();
                for child in children(node) {
                    if child.start_byte() != end || !child.is_named() {
                        return construct("a word that isn't understood");
                    }
                    self.pieces(child, end == node.start_byte(), word)?;
                    end = child.end_byte();
                }
                Ok(())
            }
            other => construct(name_of(other)),
        }
    }

    /// `"…"`. The text between the expansions is read from the source: the tree leaves blanks and newlines out of it.
    fn string(&mut self, node: Node<'_>, word: &mut Word) -> Read<()> {
        let source = self.source(node);
        if source.len() < 2 || !source.starts_with('"') || !source.ends_with('"') {
            return construct("a quotation that isn't understood");
        }
        let last = node.end_byte() - 1;
        let mut at = node.start_byte() + 1;
        for child in children(node).into_iter().filter(Node::is_named) {
            let kind = child.kind();
            if kind == "string_content" {
                continue;
            }
            // The opening token may hold the blanks before it.
            let start = child.end_byte() - self.source(child).trim_start_matches([' ', '\n']).len();
            quoted(self.text.get(at..start).unwrap_or("$"), word)?;
            at = child.end_byte();
            match kind {
                "simple_expansion" | "expansion" => self.variable_value(child, true, word)?,
                "command_substitution" => self.substitution(child, "$(", true, word)?,
                other => return construct(name_of(other)),
            }
        }
        quoted(self.text.get(at..last).unwrap_or("$"), word)
    }

    fn variable_value(&mut self, node: Node<'_>, quoted: bool, word: &mut Word) -> Read<()> {
        let source = self.source(node).trim_start_matches([' ', '\n']);
        let name = match source.strip_prefix("${") {
            Some(rest) => rest.strip_suffix('}'),
            None => source.strip_prefix('$'),
        };
        match name {
            Some(name) if is_name(name) || matches!(name, "?" | "#" | "$") => {
                word.push(Piece::Variable { name: name.to_owned(), quoted });
                Ok(())
            }
            _ => construct("an expansion beyond `$NAME`"),
        }
    }

    fn substitution(&mut self, node: Node<'_>, open: &str, quoted: bool, word: &mut Word) -> Read<()> {
        let inside = self.source(node).trim_start_matches([' ', '\n']).strip_prefix(open);
        if !inside.is_some_and(|inside| inside.ends_with(')') && !inside.starts_with('(')) {
            return construct("a substitution that isn't understood");
        }
        let before = self.parts.len();
        self.statements(node, &[open, ")"], &[])?;
        if self.parts.len() == before {
            return construct("an empty substitution");
        }
        word.push(Piece::Unknown { quoted });
        Ok(())
    }
}

/// An unquoted word: only characters that mean themselves, `*`, `?`, and a `~` in front.
fn plain(text: &str, first: bool, word: &mut Word) -> Read<()> {
    let mut rest = text;
    if first && let Some(behind) = text.strip_prefix('~') {
        if !behind.is_empty() && !behind.starts_with('/') {
            return construct("`~` with a name");
        }
        word.push(Piece::Home);
        rest = behind;
    }
    let mut before = ' ';
    for c in rest.chars() {
        match c {
            '*' | '?' => word.push(Piece::Glob(c)),
            // Bash expands it behind `=` and `:` in whatever looks like an assignment.
            '~' if matches!(before, '=' | ':') => return construct("`~` in the middle of a word"),
            c if c.is_ascii_alphanumeric() || "-_./,:=@%+^~".contains(c) => word.push_text(c.encode_utf8(&mut [0; 4])),
            c => return construct(format!("an unquoted `{c}`")),
        }
        before = c;
    }
    Ok(())
}

/// Text in double quotes, between expansions.
fn quoted(text: &str, word: &mut Word) -> Read<()> {
    let mut chars = text.chars();
    let mut out = String::with_capacity(text.len());
    while let Some(c) = chars.next() {
        match c {
            '\\' => match chars.next() {
                Some(c @ ('\\' | '"' | '$' | '`')) => out.push(c),
                Some('\n') | None => return construct("a line that is continued"),
                Some(c) => out.extend(['\\', c]),
            },
            '$' | '`' | '"' => return construct("a quotation that isn't understood"),
            c => out.push(c),
        }
    }
    word.push_text(&out);
    Ok(())
}

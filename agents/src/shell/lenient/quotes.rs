//! Quotations, expansions and substitutions within words.

use super::super::{Piece, Word};
use super::{MAX_DEPTH, Scan, balanced};

impl Scan<'_> {
    pub(super) fn double_quoted(&mut self, depth: usize, word: &mut Word) {
        word.push_text("");
        while let Some(c) = self.peek() {
            match c {
                '"' => {
                    self.at += 1;
                    return;
                }
                '\\' => {
                    self.at += 1;
                    let Some(next) = self.peek() else { return };
                    self.at += next.len_utf8();
                    if !matches!(next, '\\' | '"' | '$' | '`' | '\n') {
                        word.push_text("\\");
                    }
                    if next != '\n' {
                        word.push_text(next.encode_utf8(&mut [0; 4]));
                    }
                }
                '$' => self.dollar(true, depth, word),
                '`' => self.backtick(true, depth, word),
                c => {
                    self.at += c.len_utf8();
                    word.push_text(c.encode_utf8(&mut [0; 4]));
                }
            }
        }
        self.uncertain = true;
    }

    pub(super) fn dollar(&mut self, quoted: bool, depth: usize, word: &mut Word) {
        self.at += 1;
        if self.take("'") && !quoted {
            return self.ansi_quoted(word);
        }
        match self.peek() {
            Some('(') => {
                self.at += 1;
                if depth < MAX_DEPTH {
                    self.uncertain |= self.rest().starts_with('(');
                    self.run(depth + 1, &[')']);
                    self.take(")");
                } else {
                    self.overflow = true;
                }
                word.push(Piece::Unknown { quoted });
            }
            Some('{') => self.braced(quoted, depth, word),
            Some('"') if !quoted => {
                self.at += 1;
                self.double_quoted(depth, word);
            }
            Some(c) if c.is_ascii_alphabetic() || c == '_' => {
                let end =
                    self.rest().find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(self.rest().len());
                let name = self.rest()[..end].to_owned();
                self.at += end;
                word.push(Piece::Variable { name, quoted });
            }
            Some(c) if c.is_ascii_digit() || "@*#?-$!".contains(c) => {
                self.at += 1;
                word.push(Piece::Unknown { quoted });
            }
            _ => word.push_text("$"),
        }
    }

    /// `${…}`: commands may hide in the operand, and the operand may be what the word becomes.
    fn braced(&mut self, quoted: bool, depth: usize, word: &mut Word) {
        self.at += 1;
        let inside = balanced(self.rest(), '{', '}');
        let content = &self.rest()[..inside];
        self.at = (self.at + inside + 1).min(self.text.len());
        let name_end = content.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(content.len());
        let (name, operand) = content.split_at(name_end);
        if operand.is_empty() {
            word.push(Piece::Variable { name: name.to_owned(), quoted });
            return;
        }
        self.uncertain = true;
        self.nested(operand, depth);
        let operand = operand.trim_start_matches([':', '-', '=', '+', '?']).trim_matches(['"', '\'']);
        if operand.contains(['$', '`', '#', '%', '/', '[', '^', ',', '@']) || operand.is_empty() {
            word.push(Piece::Unknown { quoted });
        } else {
            word.push_text(operand);
        }
    }

    pub(super) fn backtick(&mut self, quoted: bool, depth: usize, word: &mut Word) {
        self.at += 1;
        let mut inside = String::new();
        while let Some(c) = self.peek() {
            self.at += c.len_utf8();
            match c {
                '`' => break,
                '\\' => {
                    if let Some(next) = self.peek() {
                        self.at += next.len_utf8();
                        if !matches!(next, '`' | '\\' | '$') {
                            inside.push('\\');
                        }
                        inside.push(next);
                    }
                }
                c => inside.push(c),
            }
        }
        self.nested(&inside, depth);
        word.push(Piece::Unknown { quoted });
    }

    /// Reads a text inside this one.
    pub(super) fn nested(&mut self, text: &str, depth: usize) {
        if depth >= MAX_DEPTH {
            self.overflow = true;
            return;
        }
        let mut inner = Scan::new(text, self.documents);
        inner.commands = std::mem::take(&mut self.commands);
        inner.run(depth + 1, &[]);
        self.uncertain |= inner.uncertain;
        self.overflow |= inner.overflow;
        self.commands = inner.commands;
    }

    /// `$'…'` (bash manual, *ANSI-C Quoting*), as far as it can spell a name.
    pub(super) fn ansi_quoted(&mut self, word: &mut Word) {
        while let Some(c) = self.peek() {
            self.at += c.len_utf8();
            match c {
                '\'' => return,
                '\\' => {
                    let Some(kind) = self.peek() else { return };
                    self.at += kind.len_utf8();
                    let (radix, most) = match kind {
                        'x' => (16, 2),
                        'u' => (16, 4),
                        'U' => (16, 8),
                        '0'..='7' => {
                            self.at -= 1;
                            (8, 3)
                        }
                        _ => {
                            let plain = match kind {
                                'n' => '\n',
                                't' => '\t',
                                'e' | 'E' => '\u{1b}',
                                other => other,
                            };
                            word.push_text(plain.encode_utf8(&mut [0; 4]));
                            continue;
                        }
                    };
                    let digits = self.rest().chars().take(most).take_while(|c| c.is_digit(radix)).count();
                    let code = u32::from_str_radix(&self.rest()[..digits], radix).ok().and_then(char::from_u32);
                    self.at += digits;
                    word.push_text(code.unwrap_or('?').encode_utf8(&mut [0; 4]));
                }
                c => word.push_text(c.encode_utf8(&mut [0; 4])),
            }
        }
    }
}

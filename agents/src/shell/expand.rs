//! Replaces variables whose values are known.

use std::collections::{BTreeSet, HashMap};

use super::{Piece, SimpleCommand, Word};

/// Values remembered for one variable, and commands that one command may become.
const MAX_CHOICES: usize = 16;
/// Variables remembered; what isn't, isn't known.
const MAX_VARIABLES: usize = 200;
/// Replacements within replacements.
const MAX_ROUNDS: usize = 4;

/// Values that variables may have at some point of a text. More than one when it is assigned more than once.
#[derive(Clone, Debug, Default)]
pub struct Variables(HashMap<String, Vec<Word>>);

impl Variables {
    /// Adds a value.
    pub fn add(&mut self, name: &str, value: Word) {
        if self.0.len() >= MAX_VARIABLES && !self.0.contains_key(name) {
            return;
        }
        let values = self.0.entry(name.to_owned()).or_default();
        if values.len() < MAX_CHOICES && !values.contains(&value) {
            values.push(value);
        }
    }

    /// Adds what the commands assign.
    pub fn add_assigned(&mut self, commands: &[SimpleCommand]) {
        for assignment in commands.iter().flat_map(|command| &command.assignments) {
            self.add(&assignment.name, assignment.value.clone());
        }
    }

    /// The commands that `command` may become. Variables without a known value stay.
    pub fn expand(&self, command: &SimpleCommand) -> Vec<SimpleCommand> {
        let mut commands = vec![command.clone()];
        for _ in 0..MAX_ROUNDS {
            let Some(next) = self.round(&commands) else { break };
            commands = next;
        }
        commands
    }

    fn round(&self, commands: &[SimpleCommand]) -> Option<Vec<SimpleCommand>> {
        let mut out = Vec::new();
        let mut changed = false;
        for command in commands {
            let mut choices: Vec<HashMap<&str, Word>> = vec![HashMap::new()];
            for name in used(command) {
                let Some(values) = self.0.get(name).filter(|values| choices.len() * values.len() <= MAX_CHOICES) else {
                    continue;
                };
                changed = true;
                let mut next = Vec::new();
                for choice in &choices {
                    next.extend(values.iter().map(|value| {
                        let mut choice = choice.clone();
                        choice.insert(name, value.clone());
                        choice
                    }));
                }
                choices = next;
            }
            out.extend(choices.iter().map(|choice| replace(command, choice)));
        }
        (changed && out.len() <= MAX_CHOICES).then_some(out)
    }
}

fn used(command: &SimpleCommand) -> BTreeSet<&str> {
    let words = command.argv.iter().chain(command.redirections.iter().map(|redirection| &redirection.target));
    let names = |piece: &'_ Piece| matches!(piece, Piece::Variable { .. });
    words
        .flat_map(|word| word.pieces.iter().filter(|piece| names(piece)))
        .filter_map(|piece| if let Piece::Variable { name, .. } = piece { Some(name.as_str()) } else { None })
        .collect()
}

fn replace(command: &SimpleCommand, values: &HashMap<&str, Word>) -> SimpleCommand {
    let mut out = command.clone();
    out.argv = command.argv.iter().flat_map(|word| replace_in(word, values)).collect();
    for redirection in &mut out.redirections {
        if let Some(target) = replace_in(&redirection.target, values).into_iter().next() {
            redirection.target = target;
        }
    }
    out
}

/// The words that `word` becomes: unquoted values are split at blanks, as bash does with its default `IFS`.
fn replace_in(word: &Word, values: &HashMap<&str, Word>) -> Vec<Word> {
    let mut done = Vec::new();
    let mut current = Word::default();
    for piece in &word.pieces {
        let (name, quoted) = match piece {
            Piece::Variable { name, quoted } => (name.as_str(), *quoted),
            other => {
                current.push(other.clone());
                continue;
            }
        };
        match values.get(name) {
            None => current.push(piece.clone()),
            Some(value) if quoted => value.pieces.iter().for_each(|piece| current.push(piece.clone())),
            Some(value) => {
                for piece in &value.pieces {
                    let Piece::Text(text) = piece else {
                        current.push(piece.clone());
                        continue;
                    };
                    for (at, part) in text.split([' ', '\t', '\n']).enumerate() {
                        if at > 0 && !current.pieces.is_empty() {
                            done.push(std::mem::take(&mut current));
                        }
                        part.chars().for_each(|c| match c {
                            '*' | '?' => current.push(Piece::Glob(c)),
                            c => current.push_text(c.encode_utf8(&mut [0; 4])),
                        });
                    }
                }
            }
        }
    }
    if !current.pieces.is_empty() || word.pieces.is_empty() {
        done.push(current);
    }
    done
}

#[cfg(test)]
mod tests {
    use super::*;

    fn expanded(assigned: &[(&str, &str)], text: &str) -> Vec<Vec<String>> {
        let mut variables = Variables::default();
        for (name, value) in assigned {
            variables.add(name, Word::literal_of(*value));
        }
        let parsed = super::super::parse(text).unwrap();
        let argv =
            |command: SimpleCommand| command.argv.iter().map(|word| word.literal().unwrap().to_owned()).collect();
        variables.expand(&parsed.parts[0]).into_iter().map(argv).collect()
    }

    #[test]
    fn unquoted_values_are_split_and_quoted_ones_are_not() {
        assert_eq!(expanded(&[("X", "a b")], r#"c $X "$X""#), [["c", "a", "b", "a b"]]);
    }

    #[test]
    fn every_value_is_tried() {
        assert_eq!(expanded(&[("X", "a"), ("X", "b")], "c $X"), [["c", "a"], ["c", "b"]]);
    }
}

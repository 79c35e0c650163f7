//! What stands in the brackets of `Read(…)` and `Edit(…)`: patterns in the manner of gitignore.
//!
//! `//a` is absolute, `~/a` in the home directory, `/a` in the project (or the agent's own worktree of it), `a/b` and `./a`
//! in the agent's directory or the project, `a` alone anywhere below. `*` and `?` stay within a component, `**` spans
//! them. What is in a folder that matches, matches too.

use super::paths::{Form, Places};
use super::wildcard::{self, Token};

/// A pattern for paths.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct PathPattern {
    anchor: Anchor,
    /// `../` in front.
    ups: usize,
    parts: Vec<Part>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Anchor {
    Root,
    Home,
    Project,
    /// Any depth.
    Name,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Part {
    Literal(String),
    Glob(Vec<Token>),
    /// `**`
    Deep,
}

impl PathPattern {
    /// Reads `spec`; the error says what is wrong with it.
    pub(super) fn parse(spec: &str) -> Result<Self, String> {
        let spec = spec.trim();
        let (anchor, rest) = if let Some(rest) = spec.strip_prefix("//") {
            (Anchor::Root, rest)
        } else if let Some(rest) = spec.strip_prefix("~/") {
            (Anchor::Home, rest)
        } else if spec == "~" {
            (Anchor::Home, "")
        } else if spec.starts_with('~') {
            return Err("`~` with a name isn't supported".to_owned());
        } else if let Some(rest) = spec.strip_prefix('/') {
            (Anchor::Project, rest)
        } else if spec.starts_with("./") || spec.starts_with("../") || spec.trim_end_matches('/').contains('/') {
            (Anchor::Project, spec)
        } else {
            (Anchor::Name, spec)
        };
        let mut ups = 0;
        let mut parts = Vec::new();
        for part in rest.split('/') {
            match part {
                "" | "." => {}
                ".." if parts.is_empty() && anchor == Anchor::Project => ups += 1,
                ".." => return Err("`..` is only understood in front".to_owned()),
                "**" if parts.last() == Some(&Part::Deep) => {}
                "**" => parts.push(Part::Deep),
                part => parts.push(part_of(part)),
            }
        }
        if parts.is_empty() && anchor == Anchor::Name {
            return Err("the path is empty".to_owned());
        }
        Ok(Self { anchor, ups, parts })
    }

    /// Whether `form` matches.
    pub(super) fn matches(&self, form: &Form, places: &Places) -> bool {
        self.bases(places).any(|base| {
            let Some(below) = form.below(base) else { return false };
            match self.anchor {
                Anchor::Name => {
                    (0..below.len()).any(|from| match_parts(&self.parts, &below[from..], places.folds_case))
                }
                _ => match_parts(&self.parts, below, places.folds_case),
            }
        })
    }

    /// Whether it matches, by its last part, this very name: a rule for the file, not for a whole folder.
    pub(super) fn names(&self, name: &str) -> bool {
        matches!(self.parts.last(), Some(Part::Literal(last)) if last == name)
    }

    /// Whether some path that `glob` (components with wildcards, absolute) stands for matches.
    pub(super) fn overlaps(&self, glob: &[Vec<Token>], places: &Places) -> bool {
        self.bases(places).any(|base| {
            if glob.len() < base.len() {
                return false;
            }
            let literal = |text: &str| text.chars().map(Token::Char).collect::<Vec<_>>();
            let (above, below) = glob.split_at(base.len());
            if !base.iter().zip(above).all(|(part, glob)| wildcard::overlap(&literal(part), glob)) {
                return false;
            }
            match self.anchor {
                Anchor::Name => (0..below.len()).any(|from| overlap_parts(&self.parts, &below[from..])),
                _ => overlap_parts(&self.parts, below),
            }
        })
    }

    /// The folders it is meant from, as components.
    fn bases<'a>(&'a self, places: &'a Places) -> impl Iterator<Item = &'a [String]> {
        const ROOT: &[Vec<String>] = &[Vec::new()];
        let bases = match self.anchor {
            Anchor::Root => ROOT,
            Anchor::Home => &places.home,
            Anchor::Project | Anchor::Name => &places.roots,
        };
        bases.iter().map(|base| &base[..base.len().saturating_sub(self.ups)])
    }
}

fn part_of(part: &str) -> Part {
    let mut tokens = Vec::new();
    let mut literal = String::new();
    let mut chars = part.chars();
    let mut is_literal = true;
    while let Some(c) = chars.next() {
        let token = match c {
            '\\' => Token::Char(chars.next().unwrap_or('\\')),
            '*' => Token::Any,
            '?' => Token::One,
            c => Token::Char(c),
        };
        match token {
            Token::Char(c) => literal.push(c),
            _ => is_literal = false,
        }
        tokens.push(token);
    }
    if is_literal { Part::Literal(super::paths::composed(&literal)) } else { Part::Glob(tokens) }
}

fn match_parts(pattern: &[Part], path: &[String], folds_case: bool) -> bool {
    let Some((part, rest)) = pattern.split_first() else { return true };
    match part {
        Part::Deep if rest.is_empty() => !path.is_empty(),
        Part::Deep => (0..=path.len()).any(|from| match_parts(rest, &path[from..], folds_case)),
        Part::Literal(text) => {
            path.first().is_some_and(|name| name == text || folds_case && name.to_lowercase() == text.to_lowercase())
                && match_parts(rest, &path[1..], folds_case)
        }
        Part::Glob(tokens) => {
            path.first().is_some_and(|name| {
                wildcard::matches(tokens, name.chars())
                    || folds_case && wildcard::matches(&lower(tokens), name.to_lowercase().chars())
            }) && match_parts(rest, &path[1..], folds_case)
        }
    }
}

fn lower(tokens: &[Token]) -> Vec<Token> {
    let lower = |token: &Token| match token {
        Token::Char(c) => c.to_lowercase().map(Token::Char).collect(),
        other => vec![*other],
    };
    tokens.iter().flat_map(lower).collect()
}

fn overlap_parts(pattern: &[Part], path: &[Vec<Token>]) -> bool {
    let Some((part, rest)) = pattern.split_first() else { return true };
    match part {
        Part::Deep if rest.is_empty() => !path.is_empty(),
        Part::Deep => (0..=path.len()).any(|from| overlap_parts(rest, &path[from..])),
        Part::Literal(text) => {
            let tokens: Vec<Token> = text.chars().map(Token::Char).collect();
            path.first().is_some_and(|name| wildcard::overlap(&tokens, name)) && overlap_parts(rest, &path[1..])
        }
        Part::Glob(tokens) => {
            path.first().is_some_and(|name| wildcard::overlap(tokens, name)) && overlap_parts(rest, &path[1..])
        }
    }
}

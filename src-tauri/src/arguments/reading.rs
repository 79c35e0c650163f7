//! From words to arguments, and what somebody probably meant whose words are none.

use std::ffi::{OsStr, OsString};
use std::path::Path;

use clap::error::ErrorKind;
use clap::{CommandFactory, Parser};

use super::Arguments;

/// How many letters of a command may be wrong for it to be proposed.
const SLIPS: usize = 2;

impl Arguments {
    /// Those of this process. Ends it where they make no sense, or ask only for help.
    pub(crate) fn of_process() -> Self {
        Self::understand(std::env::args_os().collect()).unwrap_or_else(|error| error.exit())
    }

    /// The words of a command line, the program's name first.
    fn understand(words: Vec<OsString>) -> Result<Self, clap::Error> {
        let first = first_name(&words[1..]).map(OsStr::to_os_string);
        let arguments = Self::try_parse_from(words).map_err(|error| {
            // `offshoot exce 'Fix it'`: the second word is too much only because the first is no command.
            let is_stray = matches!(error.kind(), ErrorKind::UnknownArgument | ErrorKind::InvalidSubcommand);
            first.as_deref().filter(|_| is_stray).and_then(not_there).unwrap_or(error)
        })?;
        match (&arguments.project, &arguments.wish) {
            (Some(project), Some(_)) => {
                let message = format!(
                    "{} stands before a command, which doesn't open the window; most commands take the folder as -C DIR",
                    project.display()
                );
                Err(Self::command().error(ErrorKind::ArgumentConflict, message))
            }
            (Some(project), None) => not_there(project.as_os_str()).map_or(Ok(arguments), Err),
            _ => Ok(arguments),
        }
    }
}

/// The first word that is no option and no option's value.
fn first_name(words: &[OsString]) -> Option<&OsStr> {
    let mut words = words.iter();
    while let Some(word) = words.next() {
        match word.to_str() {
            Some("--data-dir" | "--config-dir") => drop(words.next()),
            Some(option) if option.starts_with('-') => {}
            _ => return Some(word),
        }
    }
    None
}

/// What to say of a word that stands where a folder or a command is expected, looks like a command and is neither.
fn not_there(word: &OsStr) -> Option<clap::Error> {
    let text = word.to_str()?;
    let is_path = text.contains(['/', '\\']) || text.starts_with(['.', '~']);
    let mut definition = Arguments::command();
    let names: Vec<String> = definition.get_subcommands().map(|command| command.get_name().to_owned()).collect();
    if is_path || names.iter().any(|name| name == text) || Path::new(word).symlink_metadata().is_ok() {
        return None;
    }
    let distance = |name: &String| strsim::osa_distance(&text.to_lowercase(), name);
    let nearest = names.iter().filter(|name| distance(name) <= SLIPS).min_by_key(|name| distance(name));
    let meant = match nearest {
        Some(name) => format!("did you mean `offshoot {name}`?"),
        None => "`offshoot --help` lists the commands".to_owned(),
    };
    let message = format!("there is no command `{text}` and no folder of that name here; {meant}");
    Some(definition.error(ErrorKind::InvalidSubcommand, message))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arguments::Wish;

    fn understand(words: &[&str]) -> Result<Arguments, String> {
        let words = std::iter::once("offshoot").chain(words.iter().copied()).map(OsString::from);
        Arguments::understand(words.collect()).map_err(|error| error.to_string())
    }

    #[test]
    fn folders_may_stand_before_the_command() {
        for words in [
            &["--data-dir", "/x", "exec", "--no-wait", "Fix it"][..],
            &["--data-dir=/x", "--config-dir", "/y", "exec", "Fix it"],
            &["exec", "--data-dir", "/x", "Fix it"],
        ] {
            let arguments = understand(words).unwrap();
            assert_eq!(arguments.folders.data_dir.as_deref(), Some(Path::new("/x")), "{words:?}");
            let Some(Wish::Exec(exec)) = arguments.wish else { panic!("{words:?}") };
            assert_eq!(exec.prompt.as_deref(), Some("Fix it"));
        }
    }

    #[test]
    fn a_slip_of_the_fingers_is_no_folder() {
        for words in [&["exce"][..], &["exce", "Fix it"], &["exce", "x"], &["--data-dir", "/x", "Exec2", "Fix it"]] {
            let error = understand(words).unwrap_err();
            assert!(error.contains("did you mean `offshoot exec`?"), "{words:?}: {error}");
        }
        let error = understand(&["frobnicate"]).unwrap_err();
        assert!(error.contains("`frobnicate`") && error.contains("--help"), "{error}");
        // A folder that isn't there is one all the same, when it is written as a path.
        for path in ["./exce", "/nowhere/exce", "../x", "~/x"] {
            assert_eq!(understand(&[path]).unwrap().project.as_deref(), Some(Path::new(path)));
        }
        assert!(understand(&["."]).unwrap().wish.is_none());
    }

    #[test]
    fn a_folder_before_a_command_is_refused_and_not_forgotten() {
        let error = understand(&["/tmp", "exec", "Fix it"]).unwrap_err();
        assert!(error.contains("/tmp") && error.contains("-C DIR"), "{error}");
    }
}

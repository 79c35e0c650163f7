//! What the program finds around it: folders, keys, the person's settings, the login shell's `PATH`. The only reader of environment variables
//! that mean something to the core.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::Context;
use offshoot_agents::model::Secret;
use offshoot_agents::settings::{self, Loaded, SettingsFolders};

use crate::arguments::FolderArguments;
use crate::keys::{Account, Key, KeyError, Keys, Place};

mod login_shell;

pub(crate) use login_shell::search_path;

/// Folders, keys and names, read once at the start.
#[derive(Clone)]
pub(crate) struct Surroundings {
    /// Where sessions are stored. Absolute; may not exist yet.
    pub(crate) data_dir: PathBuf,
    /// Where settings and roles are read. Absolute; may not exist.
    pub(crate) config_dir: PathBuf,
    /// The person's home directory.
    pub(crate) home: PathBuf,
    /// `LANG`, for child processes.
    pub(crate) language: Option<String>,
    /// How Anthropic's API is reached.
    pub(crate) anthropic: Access,
    /// How the API of `OpenAI`, or a compatible server, is reached.
    pub(crate) openai: Access,
    /// Certificates, in PEM, that are trusted beside the web's: those of `SSL_CERT_FILE`.
    pub(crate) authorities: Option<Arc<[u8]>>,
    /// Where keys are stored.
    pub(crate) keys: Keys,
    /// Why stored keys could not be read.
    pub(crate) key_problem: Option<KeyError>,
    /// Variables that git needs to find the person's configuration.
    pub(crate) for_git: Vec<(OsString, OsString)>,
    /// The person's own settings.
    pub(crate) settings: Loaded,
    /// A model that every subagent gets, whatever its call and role say: `OFFSHOOT_SUBAGENT_MODEL`.
    pub(crate) subagent_model: Option<String>,
    /// Whether `OFFSHOOT_DISABLE_BACKGROUND` turns background agents and commands off.
    pub(crate) background_disabled: bool,
    /// The variables that those let commands of agents see: names and values.
    pub(crate) for_commands: Vec<(String, String)>,
}

/// How a provider is reached, as far as that was found.
#[derive(Clone, Default)]
pub(crate) struct Access {
    /// The key: the environment's, or a stored one.
    pub(crate) key: Option<Key>,
    /// The environment's address.
    pub(crate) base_url: Option<String>,
}

impl Access {
    /// Whether anything was found.
    pub(crate) fn is_some(&self) -> bool {
        self.key.is_some() || self.base_url.is_some()
    }
}

impl Surroundings {
    /// Reads the environment of this process.
    pub(crate) fn read(arguments: &FolderArguments) -> anyhow::Result<Self> {
        Self::from_variables(arguments, &|name| std::env::var_os(name), std::env::home_dir())
    }

    /// The folders, as arguments that would find them again.
    #[cfg(feature = "desktop")]
    pub(crate) fn folders(&self) -> FolderArguments {
        FolderArguments { data_dir: Some(self.data_dir.clone()), config_dir: Some(self.config_dir.clone()) }
    }

    /// Adds the stored keys for accounts that the environment has no key for. May wait for the keychain, but not for long.
    pub(crate) async fn with_stored_keys(mut self) -> Self {
        for account in Account::ALL {
            if self.access(account).key.is_some() {
                continue;
            }
            let (key, problem) = self.keys.stored(account).await;
            self.key_problem = problem.or(self.key_problem);
            match account {
                Account::Anthropic => self.anthropic.key = key,
                Account::Openai => self.openai.key = key,
            }
        }
        self
    }

    /// How the provider of an account is reached.
    pub(crate) fn access(&self, account: Account) -> &Access {
        match account {
            Account::Anthropic => &self.anthropic,
            Account::Openai => &self.openai,
        }
    }

    /// What there is with these variables and this home directory.
    pub(crate) fn from_variables(
        arguments: &FolderArguments,
        variable: &dyn Fn(&str) -> Option<OsString>,
        home: Option<PathBuf>,
    ) -> anyhow::Result<Self> {
        let home = home.filter(|home| home.is_absolute()).context("there is no home directory: set HOME")?;
        let text =
            |name: &str| variable(name).and_then(|value| value.into_string().ok()).filter(|value| !value.is_empty());
        let folder = |chosen: &Option<PathBuf>, standard: PathBuf| match chosen {
            Some(folder) => std::path::absolute(folder).with_context(|| format!("no folder: {}", folder.display())),
            None => Ok(standard.join("offshoot")),
        };
        let config_dir = folder(&arguments.config_dir, config_home(variable, &home))?;
        let files = SettingsFolders {
            config_dir: Some(config_dir.clone()),
            home: Some(home.clone()),
            ..SettingsFolders::default()
        };
        let settings = settings::load(&files);
        let access = |account: Account| {
            let key = text(account.variable()).map(|key| Key { secret: Secret::new(&key), place: Place::Environment });
            Access { key, base_url: text(account.address_variable()) }
        };
        let visible = settings.environment.iter().filter_map(|name| Some((name.clone(), text(name)?)));
        Ok(Self {
            data_dir: folder(&arguments.data_dir, data_home(variable, &home))?,
            for_commands: visible.collect(),
            subagent_model: text("OFFSHOOT_SUBAGENT_MODEL"),
            background_disabled: text("OFFSHOOT_DISABLE_BACKGROUND").is_some_and(|value| is_yes(&value)),
            settings,
            keys: Keys::new(&config_dir),
            config_dir,
            language: text("LC_ALL").or_else(|| text("LANG")),
            anthropic: access(Account::Anthropic),
            openai: access(Account::Openai),
            // One that can't be read is as good as none: connections that need it then say that they aren't trusted.
            authorities: text("SSL_CERT_FILE").and_then(|path| std::fs::read(path).ok()).map(Into::into),
            key_problem: None,
            for_git: ["XDG_CONFIG_HOME", "SystemRoot"]
                .into_iter()
                .filter_map(|name| Some((name.into(), variable(name)?)))
                .collect(),
            home,
        })
    }
}

/// Whether a switch is on: any value but one that says no.
fn is_yes(value: &str) -> bool {
    !matches!(value.trim().to_lowercase().as_str(), "" | "0" | "no" | "false" | "off")
}

/// A folder from a variable. The XDG specification says to ignore relative ones.
#[cfg_attr(target_os = "macos", allow(dead_code, reason = "macOS has fixed folders"))]
fn from_variable(variable: &dyn Fn(&str) -> Option<OsString>, name: &str) -> Option<PathBuf> {
    variable(name).map(PathBuf::from).filter(|path| path.is_absolute())
}

#[cfg(not(any(windows, target_os = "macos")))]
fn data_home(variable: &dyn Fn(&str) -> Option<OsString>, home: &Path) -> PathBuf {
    from_variable(variable, "XDG_DATA_HOME").unwrap_or_else(|| home.join(".local/share"))
}

#[cfg(not(any(windows, target_os = "macos")))]
fn config_home(variable: &dyn Fn(&str) -> Option<OsString>, home: &Path) -> PathBuf {
    from_variable(variable, "XDG_CONFIG_HOME").unwrap_or_else(|| home.join(".config"))
}

#[cfg(target_os = "macos")]
fn data_home(_: &dyn Fn(&str) -> Option<OsString>, home: &Path) -> PathBuf {
    home.join("Library/Application Support")
}

#[cfg(target_os = "macos")]
fn config_home(_: &dyn Fn(&str) -> Option<OsString>, home: &Path) -> PathBuf {
    home.join(".config")
}

#[cfg(windows)]
fn data_home(variable: &dyn Fn(&str) -> Option<OsString>, home: &Path) -> PathBuf {
    from_variable(variable, "LOCALAPPDATA").unwrap_or_else(|| home.join("AppData/Local"))
}

#[cfg(windows)]
fn config_home(variable: &dyn Fn(&str) -> Option<OsString>, home: &Path) -> PathBuf {
    from_variable(variable, "APPDATA").unwrap_or_else(|| home.join("AppData/Roaming"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(variables: &[(&str, &str)], arguments: &FolderArguments) -> Surroundings {
        let variable = |name: &str| variables.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).into());
        Surroundings::from_variables(arguments, &variable, Some("/home/ada".into())).unwrap()
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn folders_follow_xdg_and_ignore_relative_ones() {
        let found = read(&[("XDG_DATA_HOME", "/data"), ("XDG_CONFIG_HOME", "relative")], &FolderArguments::default());
        assert_eq!(found.data_dir, Path::new("/data/offshoot"));
        assert_eq!(found.config_dir, Path::new("/home/ada/.config/offshoot"));
    }

    #[test]
    fn folders_of_the_command_line_win_and_are_taken_as_they_are() {
        let arguments = FolderArguments { data_dir: Some("/d".into()), config_dir: Some("/c".into()) };
        let found = read(&[("XDG_DATA_HOME", "/data")], &arguments);
        assert_eq!((found.data_dir.as_path(), found.config_dir.as_path()), (Path::new("/d"), Path::new("/c")));
    }

    #[test]
    fn commands_see_the_variables_that_the_settings_name() {
        let place = tempfile::tempdir().unwrap();
        std::fs::write(place.path().join("settings.json"), r#"{"environment": ["GOPATH", "UNSET"]}"#).unwrap();
        let arguments = FolderArguments { data_dir: None, config_dir: Some(place.path().to_path_buf()) };
        let found = read(&[("GOPATH", "/go"), ("OTHER", "x")], &arguments);
        assert_eq!(found.for_commands, [("GOPATH".to_owned(), "/go".to_owned())], "{:?}", found.settings.warnings);
    }

    #[test]
    fn a_switch_is_on_unless_its_value_says_no() {
        for (value, is_on) in [("1", true), ("true", true), ("yes", true), ("0", false), ("False", false), ("", false)]
        {
            let found = read(&[("OFFSHOOT_DISABLE_BACKGROUND", value)], &FolderArguments::default());
            assert_eq!(found.background_disabled, is_on, "{value:?}");
        }
    }

    #[test]
    fn an_empty_key_is_no_key() {
        assert!(read(&[("ANTHROPIC_API_KEY", "")], &FolderArguments::default()).anthropic.key.is_none());
    }
}

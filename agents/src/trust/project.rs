//! A project as it stands now: whether it is trusted, and what is set for it.

use std::path::{Path, PathBuf};

use crate::settings::{Loaded, SettingsFolders, load};

use super::{Trust, TrustFile, main_checkout};

/// What is found out about a folder before anything runs in it.
#[derive(Clone, Debug)]
pub struct Project {
    /// What the person said about it.
    pub trust: Trust,
    /// The main checkout that it belongs to; the folder itself where that can't be found out.
    pub main_checkout: PathBuf,
    /// What the settings files say, as far as the trust lets them. What is wrong with the file of answers is among its
    /// warnings.
    pub loaded: Loaded,
}

impl Project {
    /// Looks at the folder and at the person's files in `config_dir`. Never fails: what can't be read is a warning, and
    /// trusts nothing. Blocks on the disk.
    pub fn open(folder: &Path, config_dir: &Path, home: &Path) -> Self {
        let (answers, unreadable) = TrustFile::open(config_dir);
        let trust = answers.of(folder);
        let main_checkout = main_checkout(folder).unwrap_or_else(|_| folder.to_path_buf());
        let mut loaded = load(&SettingsFolders {
            config_dir: Some(config_dir.to_path_buf()),
            project: Some(folder.to_path_buf()),
            main_checkout: Some(main_checkout.clone()),
            home: Some(home.to_path_buf()),
            trusted: trust.is_trusted(),
        });
        loaded.warnings.extend(unreadable);
        Self { trust, main_checkout, loaded }
    }
}

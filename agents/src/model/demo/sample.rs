//! The sample project: a small to-do program in POSIX shell, as a real git repository with a history and an edit that isn't
//! committed yet.

use std::path::{Path, PathBuf};

use git2::{Repository, RepositoryInitOptions, Signature, Time};

const README: &str = include_str!("sample/README.md");
const IDEAS: &str = include_str!("sample/ideas.md");
const TODO: &str = include_str!("sample/todo.sh");
const STORE: &str = include_str!("sample/lib/store.sh");
const SHOW: &str = include_str!("sample/lib/show.sh");
const TEST: &str = include_str!("sample/test.sh");
const IGNORED: &str = include_str!("sample/gitignore");

/// The history: a subject and the files that it adds.
const COMMITS: [(&str, &[(&str, &str)]); 3] = [
    ("Keep and show items", &[("todo.sh", TODO), ("lib/store.sh", STORE), ("lib/show.sh", SHOW)]),
    ("Test the program by running it", &[("test.sh", TEST)]),
    ("Say what it is and how it is used", &[("README.md", README), (".gitignore", IGNORED)]),
];

/// When the first commit was made (seconds since 1970): 2026-01-05 09:00 UTC. The others follow an hour apart, so that
/// every sample has the same commits.
const FIRST_COMMIT: i64 = 1_767_603_600;

/// Why there is no sample.
#[derive(Debug, thiserror::Error)]
pub enum SampleError {
    /// Something is there already. It was not touched.
    #[error("{} is not empty; choose another place for the sample", .0.display())]
    Occupied(PathBuf),
    /// A file could not be written.
    #[error("could not write {}: {source}", .path.display())]
    File {
        /// Which.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// The repository could not be made.
    #[error("could not make the sample's git repository: {}", .0.message())]
    Git(#[from] git2::Error),
}

/// Makes the sample project in `directory`, which is created; it must not hold anything yet.
pub fn create_sample(directory: &Path) -> Result<(), SampleError> {
    let file_error = |path: &Path| {
        let path = path.to_owned();
        move |source| SampleError::File { path, source }
    };
    std::fs::create_dir_all(directory).map_err(file_error(directory))?;
    if std::fs::read_dir(directory).map_err(file_error(directory))?.next().is_some() {
        return Err(SampleError::Occupied(directory.to_owned()));
    }
    let mut options = RepositoryInitOptions::new();
    // A template of the machine could bring hooks along.
    options.initial_head("main").external_template(false).no_reinit(true);
    let repository = Repository::init_opts(directory, &options)?;
    let mut config = repository.config()?.open_level(git2::ConfigLevel::Local)?;
    config.set_str("user.name", "Sample")?;
    config.set_str("user.email", "sample@offshoot.invalid")?;
    let mut at = FIRST_COMMIT;
    for (subject, files) in COMMITS {
        for (path, content) in files {
            write(&directory.join(path), content).map_err(file_error(&directory.join(path)))?;
        }
        commit(&repository, subject, files.iter().map(|(path, _)| *path), at)?;
        at += 3600;
    }
    let readme = directory.join("README.md");
    write(&readme, &format!("{README}{IDEAS}")).map_err(file_error(&readme))
}

fn write(path: &Path, content: &str) -> std::io::Result<()> {
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder)?;
    }
    std::fs::write(path, content)?;
    #[cfg(unix)]
    if content.starts_with("#!") {
        use std::os::unix::fs::PermissionsExt;
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755))?;
    }
    Ok(())
}

fn commit<'a>(
    repository: &Repository,
    subject: &str,
    paths: impl Iterator<Item = &'a str>,
    at: i64,
) -> Result<(), git2::Error> {
    let mut index = repository.index()?;
    for path in paths {
        index.add_path(Path::new(path))?;
    }
    index.write()?;
    let tree = repository.find_tree(index.write_tree()?)?;
    let author = Signature::new("Sample", "sample@offshoot.invalid", &Time::new(at, 0))?;
    let parent = repository.head().ok().map(|head| head.peel_to_commit()).transpose()?;
    let parents: Vec<_> = parent.iter().collect();
    repository.commit(Some("HEAD"), &author, &author, subject, &tree, &parents)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    #[test]
    fn the_sample_is_a_repository_with_a_history_and_an_open_edit_and_its_test_passes() {
        let folder = tempfile::tempdir().unwrap();
        let directory = folder.path().join("sample");
        create_sample(&directory).unwrap();
        let repository = Repository::open(&directory).unwrap();
        let mut walk = repository.revwalk().unwrap();
        walk.push_head().unwrap();
        assert_eq!(walk.count(), 3);
        assert_eq!(repository.head().unwrap().shorthand().unwrap(), "main");
        let statuses = repository.statuses(None).unwrap();
        let changed: Vec<_> = statuses.iter().map(|entry| entry.path().unwrap().to_owned()).collect();
        assert_eq!(changed, ["README.md"]);
        let output = Command::new("sh").arg("test.sh").current_dir(&directory).output().unwrap();
        assert!(output.status.success(), "{output:?}");
        assert!(String::from_utf8(output.stdout).unwrap().ends_with("5 passed, 0 failed\n"));
    }

    #[test]
    fn what_is_there_already_is_not_touched() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("mine.txt"), "mine").unwrap();
        assert!(matches!(create_sample(folder.path()), Err(SampleError::Occupied(_))));
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    }
}

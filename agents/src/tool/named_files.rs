//! Files by a few letters of their path, for a person who names one in a message.

use std::path::PathBuf;

use super::ToolError;
use super::tree_walk::{list, shown, stoppable};

/// The files beneath `root` whose path has `letters`, best first, at most `most`; relative to `root`. Hidden and ignored
/// ones are left out. Ends early when the future is dropped.
///
/// # Errors
/// When `root` can't be read.
pub async fn named_files(root: PathBuf, letters: String, most: usize) -> Result<Vec<String>, ToolError> {
    stoppable(move |stop| {
        let wanted = letters.to_lowercase();
        let paths = list(&root, stop)?.files.into_iter().map(|file| shown(&root, &file));
        let mut found: Vec<(Fit, String)> = paths.filter_map(|path| Some((fit(&wanted, &path)?, path))).collect();
        let most = most.min(found.len());
        if most < found.len() {
            found.select_nth_unstable(most);
            found.truncate(most);
        }
        found.sort_unstable();
        Ok(found.into_iter().map(|(_, path)| path).collect())
    })
    .await
}

/// How well a path fits, best first; among the same, the shorter one.
type Fit = (Place, usize);

#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Place {
    /// The file's name begins so.
    StartOfName,
    /// Somewhere in the file's name.
    InName,
    /// Somewhere in the path.
    InPath,
    /// The letters stand in the path one after the other, with others between them.
    Scattered,
}

fn fit(wanted: &str, path: &str) -> Option<Fit> {
    let path = path.to_lowercase();
    let name = path.rsplit('/').next().unwrap_or(&path);
    let mut rest = path.chars();
    let place = match () {
        () if name.starts_with(wanted) => Place::StartOfName,
        () if name.contains(wanted) => Place::InName,
        () if path.contains(wanted) => Place::InPath,
        () if wanted.chars().all(|letter| rest.any(|other| other == letter)) => Place::Scattered,
        () => return None,
    };
    Some((place, path.len()))
}

#[cfg(test)]
mod tests {
    use super::named_files;

    #[tokio::test]
    async fn the_best_fitting_files_come_first() {
        let folder = tempfile::tempdir().unwrap();
        for path in
            ["src/table.rs", "src/stable.rs", "table/mod.rs", "docs/two_able_words.md", ".git/table", "out/table.o"]
        {
            let path = folder.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, "").unwrap();
        }
        std::fs::write(folder.path().join(".gitignore"), "out/\n").unwrap();
        let find = async |letters: &str, most| {
            named_files(folder.path().to_path_buf(), letters.to_owned(), most).await.unwrap()
        };
        assert_eq!(find("Table", 9).await, ["src/table.rs", "src/stable.rs", "table/mod.rs", "docs/two_able_words.md"]);
        assert_eq!(find("table", 1).await, ["src/table.rs"]);
        assert_eq!(find("", 2).await.len(), 2);
        assert!(find("nothing", 9).await.is_empty());
    }
}

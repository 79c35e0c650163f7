//! Outputs that are too long for the model: kept whole by hash, and given as head, tail and a path that `Read` understands.

use std::path::{Path, PathBuf};

use offshoot_protocol::BlobHash;

use super::Worker;

/// Most characters of an output that the model is given; the whole is kept. What tools of this kind allow.
const LIMIT: usize = 30_000;

/// Cuts an output that is too long between characters and keeps the whole: by hash in the log, from where the file that the
/// model is told of can be made again.
pub(super) async fn bounded(worker: &Worker, content: String) -> (String, Option<BlobHash>) {
    // A character has at least one byte.
    if content.len() <= LIMIT || content.chars().count() <= LIMIT {
        return (content, None);
    }
    let hash = worker.journal.log().put_blob(content.clone().into_bytes());
    let file = worker.upkeep.outputs.join(format!("{}.txt", hash.0));
    write(&file, content.as_bytes()).await;
    let (head, left_out, tail) = cut(&content);
    let place = file.display();
    let text =
        format!("{head}\n\n[{left_out} characters left out here; the whole is in {place}, which Read shows]\n\n{tail}");
    (text, Some(hash))
}

/// The first two thirds of what is given, how much is left out, and the last third.
fn cut(content: &str) -> (&str, usize, &str) {
    let at = |number: usize| content.char_indices().nth(number).map_or(content.len(), |(at, _)| at);
    let count = content.chars().count();
    let (head, tail) = (LIMIT * 2 / 3, LIMIT / 3);
    (&content[..at(head)], count.saturating_sub(head + tail), &content[at(count.saturating_sub(tail).max(head))..])
}

/// The file here of the output that `path` is the name of, made again from the log where it is missing: the folder may have
/// been cleared, or the session come from another machine, where the file stood elsewhere. Absent when something is at
/// `path`, or when the log has no such output.
pub(super) async fn restore(worker: &Worker, path: &Path) -> Option<PathBuf> {
    let hash = hash_of(path).filter(|_| !path.exists())?;
    // Only where outputs are kept is anything written, whatever path was asked for.
    let file = worker.upkeep.outputs.join(format!("{}.txt", hash.0));
    if file.exists() {
        return Some(file);
    }
    match worker.journal.log().blob(&hash) {
        Ok(bytes) => {
            write(&file, &bytes?).await;
            Some(file)
        }
        Err(error) => {
            tracing::warn!(%error, "an output could not be read from the log");
            None
        }
    }
}

fn hash_of(path: &Path) -> Option<BlobHash> {
    let name = path.file_name()?.to_str()?.strip_suffix(".txt")?;
    let is_hash = name.len() == 64 && name.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
    is_hash.then(|| BlobHash(name.to_owned()))
}

async fn write(file: &PathBuf, content: &[u8]) {
    let folder = file.parent().expect("the name was joined to a folder");
    let written = match tokio::fs::create_dir_all(folder).await {
        Ok(()) => tokio::fs::write(file, content).await,
        Err(error) => Err(error),
    };
    if let Err(error) = written {
        // The log has it, and it is written again when it is read.
        tracing::warn!(file = %file.display(), %error, "an output's file could not be written");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outputs_are_cut_between_characters_and_nothing_is_counted_twice() {
        for character in ["a", "é", "漢", "👩"] {
            let content = character.repeat(LIMIT + 7);
            let (head, left_out, tail) = cut(&content);
            assert_eq!(head.chars().count() + left_out + tail.chars().count(), LIMIT + 7);
            assert_eq!(left_out, 7);
        }
    }

    #[test]
    fn only_names_of_outputs_are_hashes() {
        let hash = "0123456789abcdef".repeat(4);
        assert_eq!(hash_of(Path::new(&format!("/x/{hash}.txt"))), Some(BlobHash(hash.clone())));
        for name in [hash.clone(), format!("{}.txt", &hash[1..]), format!("{}.txt", hash.to_uppercase())] {
            assert_eq!(hash_of(Path::new(&name)), None);
        }
    }
}

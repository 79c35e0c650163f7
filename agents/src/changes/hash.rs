//! What a changed place is told apart by.

use std::collections::HashMap;
use std::fmt::Write;

use offshoot_protocol::{Hunk, LineKind};
use sha2::{Digest, Sha256};

use super::lines;

/// The changed places of a file, each with its hash.
pub(crate) fn hunks(path: &str, old: &[u8], new: &[u8]) -> Vec<Hunk> {
    let mut hunks = lines::hunks(old, new);
    let mut seen: HashMap<String, u32> = HashMap::new();
    for hunk in &mut hunks {
        let first = hash(path, hunk, 0);
        let times = seen.entry(first.clone()).or_default();
        // The same lines may change the same way in several places; each is a place of its own.
        hunk.hash = if *times == 0 { first } else { hash(path, hunk, *times) };
        *times += 1;
    }
    hunks
}

/// Of the file and the lines, wherever they stand. In lower-case hexadecimal.
fn hash(path: &str, hunk: &Hunk, before: u32) -> String {
    let mut hash = Sha256::new();
    hash.update(path.as_bytes());
    for line in &hunk.lines {
        let sign = match line.kind {
            LineKind::Context => b' ',
            LineKind::Added => b'+',
            LineKind::Removed => b'-',
        };
        hash.update([0, sign, u8::from(line.no_newline)]);
        hash.update(line.text.as_bytes());
    }
    if before > 0 {
        hash.update(before.to_be_bytes());
    }
    hex(&hash.finalize())
}

pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        write!(text, "{byte:02x}").expect("a string takes everything");
        text
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Lines 1 to 60, some of them replaced.
    fn lines(replaced: &[(u32, &str)]) -> String {
        (1..=60).fold(String::new(), |text, n| {
            let line = replaced.iter().find(|(at, _)| *at == n);
            text + &line.map_or(format!("line {n}\n"), |(_, line)| format!("{line}\n"))
        })
    }

    fn hashes(new: &str) -> Vec<String> {
        hunks("a.txt", lines(&[]).as_bytes(), new.as_bytes()).into_iter().map(|hunk| hunk.hash).collect()
    }

    #[test]
    fn a_hash_stays_while_others_change_and_falls_with_its_own_lines() {
        let before = hashes(&lines(&[(10, "ten"), (40, "forty")]));
        let elsewhere = hashes(&format!("a new line at the top\n{}", lines(&[(10, "ten"), (40, "changed")])));
        assert_eq!(elsewhere.len(), 3);
        assert_eq!(elsewhere[1], before[0], "another hunk changed, and this one moved by a line");
        assert_ne!(elsewhere[2], before[1]);
        assert_ne!(hunks("b.txt", b"", b"x\n")[0].hash, hunks("a.txt", b"", b"x\n")[0].hash);
    }

    #[test]
    fn the_same_change_in_two_places_has_two_hashes() {
        let old = "same\nsame\nsame\nold\nsame\nsame\nsame\n".repeat(4);
        let new = old.replace("old", "new");
        let all = hunks("a.txt", old.as_bytes(), new.as_bytes());
        let mut hashes: Vec<_> = all.iter().map(|hunk| &hunk.hash).collect();
        hashes.sort_unstable();
        hashes.dedup();
        assert_eq!(hashes.len(), all.len());
    }
}

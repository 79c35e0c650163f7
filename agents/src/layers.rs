//! The modules use only modules above them, and the packages know nothing of those above.

use std::path::{Path, PathBuf};

/// Modules in the order of `lib.rs`.
fn modules() -> Vec<String> {
    let declared = include_str!("lib.rs").lines().filter_map(|line| {
        let line = line.strip_prefix("pub ").unwrap_or(line);
        line.strip_prefix("mod ")?.strip_suffix(';')
    });
    declared.filter(|name| *name != "layers").map(str::to_owned).collect()
}

fn files(at: &Path, found: &mut Vec<PathBuf>) {
    // Tests look from above.
    if at.file_stem().is_some_and(|name| name == "tests") {
        return;
    }
    if at.is_file() {
        found.push(at.to_path_buf());
    }
    for entry in std::fs::read_dir(at).into_iter().flatten() {
        files(&entry.unwrap().path(), found);
    }
}

/// What a manifest depends on, tests left out.
fn dependencies(manifest: &str) -> Vec<String> {
    let (_, after) = manifest.split_once("[dependencies]").expect("a manifest has dependencies");
    let (own, _) = after.split_once("\n[").unwrap_or((after, ""));
    own.lines().filter_map(|line| line.split(['.', ' ', '=']).next()).map(str::to_owned).collect()
}

#[test]
fn packages_do_not_know_what_stands_above_them() {
    let core = dependencies(include_str!("../Cargo.toml"));
    assert!(core.contains(&"tokio".to_owned()), "the list was not found: {core:?}");
    for absent in ["tauri", "offshoot", "clap", "offshoot-tests"] {
        assert!(!core.contains(&absent.to_owned()), "the core depends on {absent}");
    }
    let protocol = dependencies(include_str!("../protocol/Cargo.toml"));
    for absent in ["tokio", "rusqlite", "git2", "offshoot-agents"] {
        assert!(!protocol.contains(&absent.to_owned()), "the protocol depends on {absent}");
    }
}

#[test]
fn arrows_go_one_way() {
    let modules = modules();
    assert!(modules.len() > 15, "the list was not found: {modules:?}");
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut wrong = Vec::new();
    for (place, module) in modules.iter().enumerate() {
        let mut found = Vec::new();
        files(&source.join(module), &mut found);
        files(&source.join(format!("{module}.rs")), &mut found);
        assert!(!found.is_empty(), "no file for {module}");
        for file in found.iter().filter(|file| file.extension().is_some_and(|extension| extension == "rs")) {
            let text = std::fs::read_to_string(file).unwrap();
            for (used, name) in modules.iter().enumerate().skip(place + 1) {
                let uses = |line: &&str| {
                    let code = line.trim_start();
                    !code.starts_with("//") && code.contains(&format!("crate::{name}::"))
                };
                if text.lines().any(|line| uses(&line)) {
                    wrong.push(format!("{} uses {name} ({used}), which stands below {module}", file.display()));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

//! The built program.

use std::path::PathBuf;

/// The path of `offshoot`, as the workspace built it last.
///
/// # Panics
/// When it isn't there: cargo builds the programs of other packages only when told to.
pub fn offshoot() -> PathBuf {
    let test = std::env::current_exe().expect("a running test has a path");
    let folder = test.ancestors().nth(2).expect("tests lie in <target>/<profile>/deps");
    let program = folder.join(format!("offshoot{}", std::env::consts::EXE_SUFFIX));
    let how = "build it first: cargo build --workspace --bin offshoot --bin offshoot-window (`cargo xtask test` does)";
    assert!(program.exists(), "{} is missing; {how}", program.display());
    program
}

/// The folder that cargo builds into.
///
/// # Panics
/// Never in a test.
pub fn target() -> PathBuf {
    let test = std::env::current_exe().expect("a running test has a path");
    test.ancestors().nth(3).expect("tests lie in <target>/<profile>/deps").to_path_buf()
}

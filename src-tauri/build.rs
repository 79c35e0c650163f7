//! Declares to Tauri which commands exist; without the `desktop` feature there is nothing to do.

fn main() {
    #[cfg(feature = "desktop")]
    window();
}

/// Every command that the bridge answers (`src/bridge.rs`). What isn't named here can't be called.
#[cfg(feature = "desktop")]
const COMMANDS: &[&str] = &[
    "startup",
    "pick_folder",
    "open_project",
    "open_demo",
    "sessions",
    "create_session",
    "delete_session",
    "export_session",
    "import_session",
    "snapshot",
    "conversation",
    "subscribe",
    "command",
    "changes",
    "file_diff",
    "merge_preview",
    "merge_apply",
    "merge_undo",
    "conflicts",
    "files",
    "blob",
    "roles",
    "role_board",
    "role_file",
    "role_preview",
    "role_save",
    "role_create",
    "role_copy",
    "role_delete",
    "role_restore",
    "role_rule",
    "role_uses",
    "model_setup",
    "model_list",
    "model_test",
    "model_save",
    "key_delete",
    "prices",
    "trust",
    "set_trust",
    "open_external",
];

#[cfg(feature = "desktop")]
fn window() {
    // Cargo would otherwise not see edits there.
    println!("cargo:rerun-if-changed=src-tauri/capabilities");
    // The page is part of the program, so a new page is a new program.
    println!("cargo:rerun-if-changed=ui/dist");
    assert!(
        std::path::Path::new("ui/dist/index.html").exists(),
        "ui/dist is missing. Run `cargo xtask run`, or `npm ci && npm run build` in ui; \
         or build the command line alone with `--no-default-features`."
    );
    let manifest = tauri_build::AppManifest::new().commands(COMMANDS);
    let attributes = tauri_build::Attributes::new()
        .capabilities_path_pattern("./src-tauri/capabilities/**/*")
        .app_manifest(manifest);
    if let Err(error) = tauri_build::try_build(attributes) {
        panic!("{error:#}");
    }
}

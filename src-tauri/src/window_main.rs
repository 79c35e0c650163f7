//! The program `offshoot-window`: what `offshoot` becomes when it is to open its window.

// A window needs no console beside it.
#![cfg_attr(all(windows, not(debug_assertions)), windows_subsystem = "windows")]

fn main() -> std::process::ExitCode {
    offshoot::window_main()
}

//! The program `offshoot`.

// A window needs no console beside it.
#![cfg_attr(all(windows, not(debug_assertions)), windows_subsystem = "windows")]

fn main() -> std::process::ExitCode {
    offshoot::main()
}

//! The program on a disk that fails it: killed at its writes, out of space, told that what it wrote is not safe. The calls
//! of the real program are tampered with by `strace`, on the log's files alone.
//!
//! The usual run takes a sample of the writes. All of them, one life each (minutes):
//!
//! ```sh
//! cargo test -p offshoot-tests --test storage -- --ignored --nocapture
//! ```

#![allow(clippy::unwrap_used, reason = "a failed test is what a panic is for")]
#![allow(clippy::print_stderr, reason = "a test that can't run here says so")]
#![cfg(target_os = "linux")]

mod failing;
mod killed;
mod life;

//! What an agent's requests are made of, end to end: compaction, another model, reminders, long outputs.

#![allow(clippy::unwrap_used, reason = "a failed test is what a panic is for")]

mod compaction;
mod costs;
mod killed;
mod model;
mod moved;
mod news;
mod output;
mod overflow;

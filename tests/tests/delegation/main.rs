//! Delegation, end to end: the real loop, log, git and HTTP client against a scripted server.

mod catalog;
mod crash;
mod early;
mod failures;
mod forks;
mod guards;
mod hand_over;
mod permission;
mod prefix;
mod restart;
mod routing;
mod soak;
mod spans;
mod subagents;
mod tasks;
mod telling;
mod turns;

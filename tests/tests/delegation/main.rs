//! Delegation, end to end: the real loop, log, git and HTTP client against a scripted server.

#![allow(clippy::unwrap_used, reason = "a failed test is what a panic is for")]
#![allow(clippy::print_stdout, reason = "shares and sums are for whoever runs the tests")]

mod cache;
mod catalog;
mod commits;
mod crash;
mod early;
mod failures;
mod forks;
mod guards;
mod hand_over;
mod large;
mod live;
mod making;
mod models;
mod naming;
mod permission;
mod prefix;
mod restart;
mod routing;
mod soak;
mod spans;
mod subagents;
mod surroundings;
mod tasks;
mod telling;
mod turns;

/// Rules that allow, as the command line would give them.
fn allow(rules: &[&str]) -> offshoot_agents::policy::Rules {
    let texts: Vec<String> = rules.iter().map(|rule| (*rule).to_owned()).collect();
    let mut rules = offshoot_agents::policy::Rules::default();
    rules.add(offshoot_agents::policy::RuleKind::Allow, offshoot_agents::policy::RuleSource::CommandLine, &texts);
    rules
}

//! The tools that agents have, and what hooks see of the environment that commands see.

use std::ffi::OsString;
use std::sync::Arc;

use crate::sandbox::{Limits, Sandbox};
use crate::tool::{self, Toolbox};

/// The names of all tools, in the order in which models are told of them: what roles may name.
pub fn tool_names() -> Vec<&'static str> {
    toolbox(tool::Options {
        sandbox: Arc::new(Sandbox::not_confined("nothing runs")),
        environment: tool::Environment::default(),
        network: false,
        writable: Vec::new(),
        limits: Limits::default(),
        web: tool::Web::default(),
        unconfined_allowed: false,
    })
    .names()
    .collect()
}

/// All tools.
pub(super) fn toolbox(options: tool::Options) -> Toolbox {
    let mut tools = tool::standard(options);
    tools.push(Arc::new(tool::agent::AgentTool));
    Toolbox::new(tools)
}

/// What hooks see of an environment: what commands do.
pub(super) fn hook_environment(environment: &tool::Environment) -> Vec<(OsString, OsString)> {
    let tool::Environment { path, home, lang, term, extra } = environment;
    let fixed = [("PATH", path), ("HOME", home), ("LANG", lang), ("TERM", term)];
    let fixed = fixed.into_iter().map(|(name, value)| (name.into(), value.into()));
    fixed.chain(extra.iter().map(|(name, value)| (name.into(), value.into()))).collect()
}

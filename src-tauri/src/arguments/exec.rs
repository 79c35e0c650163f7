//! `offshoot exec`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use offshoot_agents::model::Provider;
use offshoot_protocol::PermissionMode;

use super::permissions::{mode_named, permission_mode};

/// `offshoot exec`.
#[derive(Debug, Args)]
#[command(after_help = "\
The final text goes to standard output, what happens on the way to standard error. A permission request
that no rule answers is denied: there is nobody to ask.

Exit codes: 0 done, 1 the turn failed, 2 usage, 3 something was denied, 4 a limit was reached, 130 interrupted.

Examples:
  offshoot exec 'Explain src/main.rs'
  git diff | offshoot exec -                               the prompt comes from standard input
  offshoot exec --allow 'Bash(cargo test *)' 'Fix the failing test'
  offshoot exec --json 'Review the last commit' | jq -r 'select(.type == \"agent_ended\")'
  offshoot exec --continue 'And now the documentation'     the newest session of this folder
  offshoot exec --provider openai --base-url http://127.0.0.1:11434/v1 --model qwen3 'Explain src/main.rs'
  offshoot exec --provider demo                            the demo in its own sample project, without a key or network")]
#[allow(clippy::struct_excessive_bools, reason = "each is a switch of the command line")]
pub(crate) struct ExecArguments {
    /// What to do; `-` reads it from standard input. The demo has a prompt of its own
    #[arg(value_name = "PROMPT")]
    pub(crate) prompt: Option<String>,
    /// The project folder [default: the current one; the demo's: its sample]
    #[arg(short = 'C', long = "directory", value_name = "DIR", value_hint = clap::ValueHint::DirPath)]
    pub(crate) directory: Option<PathBuf>,
    /// Who answers [default: what is set, else whoever there is a key or a base URL for, else demo]
    #[arg(long, value_name = "PROVIDER")]
    pub(crate) provider: Option<ProviderName>,
    #[arg(long, help = "The provider's address [default: $ANTHROPIC_BASE_URL, $OPENAI_BASE_URL]", value_name = "URL")]
    pub(crate) base_url: Option<String>,
    /// The model's id, as the provider knows it; `offshoot models` lists them
    #[arg(long, value_name = "MODEL")]
    pub(crate) model: Option<String>,
    /// How calls are decided that no rule decides
    #[arg(long, value_name = "MODE", value_parser = permission_mode())]
    pub(crate) permission_mode: Option<String>,
    /// Allow what this rule covers; repeatable
    #[arg(long, value_name = "RULE")]
    pub(crate) allow: Vec<String>,
    /// Deny what this rule covers; repeatable, and stronger than any allow
    #[arg(long, value_name = "RULE")]
    pub(crate) deny: Vec<String>,
    /// Trust the folder for good: what its own settings, hooks, roles and instructions ask for counts
    #[arg(long)]
    pub(crate) trust: bool,
    /// Whether work that is delegated without a role becomes a fork
    #[arg(long, value_name = "WHEN")]
    pub(crate) forks: Option<ForksArgument>,
    /// Most model calls of one turn
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) max_turns: Option<u32>,
    /// Go on with this session
    #[arg(long, value_name = "ID", conflicts_with = "continue_newest")]
    pub(crate) resume: Option<String>,
    /// Go on with the newest session of the folder
    #[arg(long = "continue")]
    pub(crate) continue_newest: bool,
    /// End with the answer; background agents that still run are stopped and listed
    #[arg(long)]
    pub(crate) no_wait: bool,
    /// Print every event as one line of JSON
    #[arg(long)]
    pub(crate) json: bool,
}

impl ExecArguments {
    /// Whether it is said where to work: a folder, or a session that has one.
    pub(crate) fn names_place(&self) -> bool {
        self.directory.is_some() || self.resume.is_some()
    }

    /// The mode that was asked for.
    pub(crate) fn mode(&self) -> Option<PermissionMode> {
        mode_named(self.permission_mode.as_ref()?)
    }
}

/// Providers that this program has a client for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ProviderName {
    /// Anthropic Messages
    Anthropic,
    /// Chat Completions: `OpenAI`, Ollama, llama.cpp, vLLM, LM Studio, `OpenRouter` and other compatible servers
    Openai,
    /// `OpenAI` Responses
    OpenaiResponses,
    /// The embedded demo: no key, no network
    Demo,
}

impl From<ProviderName> for Provider {
    fn from(name: ProviderName) -> Self {
        match name {
            ProviderName::Anthropic => Self::Anthropic,
            ProviderName::Openai => Self::Openai,
            ProviderName::OpenaiResponses => Self::OpenaiResponses,
            ProviderName::Demo => Self::Demo,
        }
    }
}

/// Whether forks are made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ForksArgument {
    /// Work that is delegated without a role becomes a fork
    Always,
    /// It goes to the role general-purpose instead
    Never,
}

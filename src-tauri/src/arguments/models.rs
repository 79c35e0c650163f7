//! `offshoot models` and `offshoot key`.

use clap::{Args, Subcommand, ValueEnum};

use super::exec::ProviderName;
use crate::keys::Account;

/// `offshoot models`.
#[derive(Debug, Args)]
#[command(after_help = "\
Without --provider: the models of every provider that there is a key or an address for, and of the model
servers on this machine (Ollama, LM Studio, llama.cpp, vLLM on their usual ports).

Exit codes: 0 at least one list was read, 1 none was, 2 usage.

Examples:
  offshoot models
  offshoot models --provider openai --base-url http://127.0.0.1:11434/v1
  offshoot models --json | jq -r '.[].models[].id'")]
pub(crate) struct ModelsArguments {
    /// Whose models
    #[arg(long, value_name = "PROVIDER")]
    pub(crate) provider: Option<ProviderName>,
    /// The provider's address
    #[arg(long, value_name = "URL", requires = "provider")]
    pub(crate) base_url: Option<String>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// `offshoot key`.
#[derive(Debug, Args)]
#[command(after_help = "\
A key is read from standard input, never from an argument, which other programs could see. It is kept in the
system's keychain; with --file in a file of the settings folder that only you can read.

Examples:
  offshoot key                                which keys there are, and where
  offshoot key set anthropic                  then type or paste the key
  pass show openai | offshoot key set openai
  offshoot key set openai --file              on a machine without a keychain
  offshoot key delete openai")]
pub(crate) struct KeyArguments {
    /// What to do [default: list]
    #[command(subcommand)]
    pub(crate) wish: Option<KeyWish>,
}

/// What to do with keys.
#[derive(Debug, Subcommand)]
pub(crate) enum KeyWish {
    /// List for whom there are keys, and where they are
    List {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Store a key, read from standard input
    Set {
        /// Whose key
        #[arg(value_name = "ACCOUNT")]
        account: AccountName,
        /// Keep it in a file that only you can read, rather than in the keychain
        #[arg(long)]
        file: bool,
    },
    /// Delete a stored key, wherever it is
    Delete {
        /// Whose key
        #[arg(value_name = "ACCOUNT")]
        account: AccountName,
    },
}

/// Whom a key is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum AccountName {
    /// Anthropic
    Anthropic,
    /// `OpenAI`, and compatible servers that want a key
    Openai,
}

impl From<AccountName> for Account {
    fn from(name: AccountName) -> Self {
        match name {
            AccountName::Anthropic => Self::Anthropic,
            AccountName::Openai => Self::Openai,
        }
    }
}

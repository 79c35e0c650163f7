//! Identifiers. Each is its own type, so that one can't be passed for another.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

macro_rules! id {
    ($($(#[$doc:meta])* $name:ident;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, TS)]
        #[serde(transparent)]
        pub struct $name(pub String);

        impl $name {
            /// The text of the id.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl From<&str> for $name {
            fn from(text: &str) -> Self {
                Self(text.to_owned())
            }
        }
    )*};
}

id! {
    /// One root agent and everything it delegated.
    SessionId;
    /// A node of the tree. Unique in the whole data folder. Also the id of the task that the agent is.
    AgentId;
    /// A tool call, as the model named it. Unique only within one agent.
    CallId;
    /// A pending permission request.
    RequestId;
    /// A text on its way to an agent: queued first, then part of a message.
    InputId;
    /// Something that runs in the background: a shell command's own id, or an agent's.
    TaskId;
    /// Changes that were, or could be, brought home in one step.
    MergeId;
    /// SHA-256 of stored content, in lower-case hexadecimal.
    BlobHash;
}

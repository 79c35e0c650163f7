//! Model servers on this machine, found by asking at their usual ports.
//!
//! Other programs use these ports, too: a server counts only when it answers with a list of models. It is asked once, for
//! a short time, and is sent nothing but the question.

use std::time::Duration;

use futures_util::future::join_all;
use serde::Serialize;

use super::listing::{self, ListedModel};
use super::{Endpoint, Provider};

/// How long a server on this machine may take to answer. One that is there answers in a few milliseconds.
const LIMIT: Duration = Duration::from_millis(500);

/// The servers' names and usual ports.
pub const USUAL_PORTS: [(&str, u16); 4] = [("Ollama", 11434), ("LM Studio", 1234), ("llama.cpp", 8080), ("vLLM", 8000)];

/// A server that was found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct LocalServer {
    /// The program that usually listens there.
    pub name: String,
    /// Its address, for [`Provider::Openai`].
    pub base_url: String,
    /// Its models, in its own order; there is at least one.
    pub models: Vec<ListedModel>,
}

/// Asks at these ports of this machine, all at once.
pub async fn find(ports: &[(&str, u16)]) -> Vec<LocalServer> {
    let asked = ports.iter().map(|(name, port)| async move {
        let base_url = format!("http://127.0.0.1:{port}/v1");
        let endpoint = Endpoint { idle_limit: LIMIT, ..Endpoint::new(base_url.clone(), None) };
        let models = listing::within(Provider::Openai, &endpoint, LIMIT).await.ok().filter(|models| !models.is_empty());
        models.map(|models| LocalServer { name: (*name).to_owned(), base_url, models })
    });
    join_all(asked).await.into_iter().flatten().collect()
}

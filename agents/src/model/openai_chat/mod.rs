//! The client for `OpenAI` Chat Completions and everything compatible: Ollama, llama.cpp, vLLM, LM Studio, `OpenRouter` …
//!
//! The format's dialects differ; [`decode`] understands those known. Reasoning is shown but not sent back: the format has
//! no agreed place for it.

use bytes::Bytes;
use futures_util::stream::BoxStream;
use offshoot_protocol::Seller;
use reqwest::header::{HeaderMap, HeaderValue};
use reqwest::{Client, Url};

use super::body::{Body, Shared};
use super::http::{self, Exchange};
use super::{Endpoint, Model, ModelError, ModelEvent, Request, openai};
use decode::Decoder;

mod decode;
mod encode;

/// A client for Chat Completions. Keeps its connections.
pub struct OpenAiChat {
    client: Client,
    url: Url,
    endpoint: Endpoint,
    headers: HeaderMap,
    is_own: bool,
    shared: Shared,
}

impl OpenAiChat {
    /// A client for the endpoint; `base_url` is given without `chat/completions`, with or without `v1`. Fails when it is no
    /// HTTP address or when the key can't be sent; nothing is sent yet.
    pub fn new(endpoint: Endpoint) -> Result<Self, ModelError> {
        let url = http::join(&endpoint.base_url, &["v1", "chat", "completions"])?;
        let mut headers = HeaderMap::new();
        headers.insert("content-type", HeaderValue::from_static("application/json"));
        headers.insert("accept", HeaderValue::from_static("text/event-stream"));
        if let Some(key) = &endpoint.key {
            headers.insert("authorization", http::key_header(key, "Bearer ")?);
        }
        let is_own = openai::is_own(&url);
        let form = if is_own { &encode::OWN_FORM } else { &encode::COMPATIBLE_FORM };
        Ok(Self { client: http::client(&endpoint)?, url, endpoint, headers, is_own, shared: Shared::new(form) })
    }
}

impl Model for OpenAiChat {
    fn stream(&self, request: Request) -> BoxStream<'static, Result<ModelEvent, ModelError>> {
        let exchange = Exchange::new(&self.url, &self.endpoint);
        let headers = http::agent_headers(self.headers.clone(), &request);
        let tail = if self.is_own { encode::tail(&request) } else { Bytes::from_static(encode::TAIL) };
        let body = reqwest::Body::wrap(Body::new(&request, &self.shared, tail));
        let decoder = Decoder::new(request.transcript);
        exchange.stream(self.client.post(self.url.clone()).headers(headers).body(body), decoder)
    }

    fn seller(&self) -> Seller {
        self.endpoint.seller()
    }
}

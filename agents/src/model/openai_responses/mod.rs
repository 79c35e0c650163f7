//! The client for `OpenAI` Responses, and for servers that speak it.
//!
//! Stateless: nothing is stored at the provider, and the whole conversation goes with every request. Reasoning comes back
//! as items whose content only the provider can read; they are kept whole ([`offshoot_protocol::Block::Thinking`]) and sent
//! back byte for byte.

use futures_util::stream::BoxStream;
use offshoot_protocol::Seller;
use reqwest::header::{HeaderMap, HeaderValue};
use reqwest::{Client, Url};

use super::body::{Body, Shared};
use super::http::{self, Exchange};
use super::{Endpoint, Model, ModelError, ModelEvent, Request};
use decode::Decoder;

mod decode;
mod encode;

/// A client for Responses. Keeps its connections.
pub struct OpenAiResponses {
    client: Client,
    url: Url,
    endpoint: Endpoint,
    headers: HeaderMap,
    shared: Shared,
}

impl OpenAiResponses {
    /// A client for the endpoint; `base_url` is given without `responses`, with or without `v1`. Fails when it is no HTTP
    /// address or when the key can't be sent; nothing is sent yet.
    pub fn new(endpoint: Endpoint) -> Result<Self, ModelError> {
        let url = http::join(&endpoint.base_url, &["v1", "responses"])?;
        let mut headers = HeaderMap::new();
        headers.insert("content-type", HeaderValue::from_static("application/json"));
        headers.insert("accept", HeaderValue::from_static("text/event-stream"));
        if let Some(key) = &endpoint.key {
            headers.insert("authorization", http::key_header(key, "Bearer ")?);
        }
        Ok(Self { client: http::client(&endpoint)?, url, endpoint, headers, shared: Shared::new(&encode::FORM) })
    }
}

impl Model for OpenAiResponses {
    fn stream(&self, request: Request) -> BoxStream<'static, Result<ModelEvent, ModelError>> {
        let exchange = Exchange::new(&self.url, &self.endpoint);
        let headers = http::agent_headers(self.headers.clone(), &request);
        let body = reqwest::Body::wrap(Body::new(&request, &self.shared, encode::tail(&request)));
        let decoder = Decoder::new(request.transcript);
        exchange.stream(self.client.post(self.url.clone()).headers(headers).body(body), decoder)
    }

    fn seller(&self) -> Seller {
        self.endpoint.seller()
    }
}

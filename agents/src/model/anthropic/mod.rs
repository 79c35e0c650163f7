//! The client for Anthropic Messages, and for gateways that speak it.
//!
//! Sends shared bytes ([`super::body`]) and decodes the stream ([`decode`]); it never retries.

use bytes::Bytes;
use reqwest::header::{HeaderMap, HeaderValue};
use reqwest::{Client, Url};

use futures_util::stream::BoxStream;
use offshoot_protocol::Seller;

use super::body::{Body, Shared};
use super::http::{self, Exchange};
use super::{Endpoint, Model, ModelError, ModelEvent, Request};
use decode::Decoder;

mod decode;
pub(super) mod encode;
mod opaque;

/// The API version that is spoken. Source: <https://platform.claude.com/docs/en/api/versioning>.
pub(super) const VERSION: &str = "2023-06-01";

/// A client for Anthropic Messages. Keeps its connections.
pub struct Anthropic {
    client: Client,
    url: Url,
    endpoint: Endpoint,
    headers: HeaderMap,
    shared: Shared,
}

impl Anthropic {
    /// A client for the endpoint; `base_url` is given without `v1/messages`. Fails when it is no HTTP address or when the
    /// key can't be sent; nothing is sent yet.
    pub fn new(endpoint: Endpoint) -> Result<Self, ModelError> {
        let url = http::join(&endpoint.base_url, &["v1", "messages"])?;
        let mut headers = HeaderMap::new();
        headers.insert("anthropic-version", HeaderValue::from_static(VERSION));
        headers.insert("content-type", HeaderValue::from_static("application/json"));
        headers.insert("accept", HeaderValue::from_static("text/event-stream"));
        if let Some(key) = &endpoint.key {
            headers.insert("x-api-key", http::key_header(key, "")?);
        }
        Ok(Self { client: http::client(&endpoint)?, url, endpoint, headers, shared: Shared::new(&encode::FORM) })
    }
}

impl Model for Anthropic {
    fn stream(&self, request: Request) -> BoxStream<'static, Result<ModelEvent, ModelError>> {
        let exchange = Exchange::new(&self.url, &self.endpoint);
        let headers = http::agent_headers(self.headers.clone(), &request);
        let body = reqwest::Body::wrap(Body::new(&request, &self.shared, Bytes::from_static(encode::TAIL)));
        exchange.stream(self.client.post(self.url.clone()).headers(headers).body(body), Decoder::default())
    }

    fn seller(&self) -> Seller {
        self.endpoint.seller()
    }
}

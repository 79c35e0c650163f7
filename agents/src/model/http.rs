//! What the providers' clients have in common: a connection that surprises nobody, and one streamed exchange over it.
//!
//! No redirect is followed (it would carry the key elsewhere), no proxy is taken from the environment, nothing is sent a
//! second time. Every error text that leaves here is free of the key and of credentials in the address.

use std::collections::VecDeque;
use std::error::Error as _;
use std::fmt::Write as _;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures_util::StreamExt;
use futures_util::stream::{self, BoxStream};
use offshoot_protocol::Seller;
use reqwest::header::{CONTENT_TYPE, HeaderMap, HeaderValue, RETRY_AFTER};
use reqwest::{Client, RequestBuilder, Response, Url};
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;
use serde_json::Value;
use tokio::time::timeout;

use super::sse::Splitter;
use super::{ModelError, ModelEvent, Request, Secret};

/// How long a connection may take to come about.
const CONNECT_LIMIT: Duration = Duration::from_secs(30);
/// Most bytes of one answer. A body that doesn't stop ends the request.
const MAX_ANSWER: usize = 64 * 1024 * 1024;
/// Most bytes read of an error's body.
const MAX_ERROR_BODY: usize = 64 * 1024;
/// Most characters of an error's body that are shown when it isn't in the expected form.
const MAX_ERROR_TEXT: usize = 500;
/// Longest wait that a provider can ask for.
const MAX_RETRY_AFTER: Duration = Duration::from_secs(24 * 60 * 60);

/// Where a provider is.
#[derive(Clone, Debug)]
pub struct Endpoint {
    /// Its address, without the path of the API.
    pub base_url: String,
    /// The key; local servers need none.
    pub key: Option<Secret>,
    /// How long no byte may come before an answer is given up.
    pub idle_limit: Duration,
    /// Certificates, in PEM, that are trusted beside the web's: a company's own, say.
    pub authorities: Option<Arc<[u8]>>,
}

impl Endpoint {
    /// The usual limit: 120 s without a byte. Pings count.
    pub const IDLE_LIMIT: Duration = Duration::from_secs(120);

    /// An endpoint with the usual limit.
    pub fn new(base_url: impl Into<String>, key: Option<Secret>) -> Self {
        Self { base_url: base_url.into(), key, idle_limit: Self::IDLE_LIMIT, authorities: None }
    }

    /// Who answers there.
    pub fn seller(&self) -> Seller {
        let url = Url::parse(&self.base_url).ok();
        let is_here = url.as_ref().and_then(Url::host_str).is_some_and(|host| {
            let host = host.trim_start_matches('[').trim_end_matches(']');
            host == "localhost" || host.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback())
        });
        if is_here { Seller::ThisMachine } else { Seller::Provider }
    }
}

/// Understands the events of one provider's answers.
pub(super) trait Decode: Send + 'static {
    /// Takes the data of one event. Returns whether the answer is complete; then the last of `out` says how it ended.
    fn take(&mut self, data: &[u8], out: &mut VecDeque<ModelEvent>) -> Result<bool, ModelError>;

    /// The connection ended. Returns whether the answer is complete all the same.
    fn finish(&mut self, _out: &mut VecDeque<ModelEvent>) -> Result<bool, ModelError> {
        Ok(false)
    }
}

/// A client over TLS with the web's root certificates and the endpoint's, or in the clear where the address says so.
pub(super) fn client(endpoint: &Endpoint) -> Result<Client, ModelError> {
    let failed = |error: &reqwest::Error| not_configured(format!("the HTTP client can't be set up: {}", causes(error)));
    builder(endpoint.authorities.as_deref())?.build().map_err(|error| failed(&error))
}

/// What every client begins with: no proxy, no redirect, no retry. `authorities` are root certificates (PEM) besides the
/// web's.
pub(crate) fn builder(authorities: Option<&[u8]>) -> Result<reqwest::ClientBuilder, ModelError> {
    let mut roots = rustls::RootCertStore::empty();
    roots.extend(webpki_roots::TLS_SERVER_ROOTS.iter().cloned());
    if let Some(pem) = authorities {
        let certificates: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(pem).collect();
        let certificates = certificates
            .map_err(|error| not_configured(format!("the file of certificates can't be read: {error:?}")))?;
        // As TLS libraries do it: one that can't be used is passed over, since such files gather all kinds.
        roots.add_parsable_certificates(certificates);
    }
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut tls = rustls::ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| not_configured(format!("encryption can't be set up: {error}")))?
        .with_root_certificates(roots)
        .with_no_client_auth();
    tls.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    Ok(Client::builder()
        .tls_backend_preconfigured(tls)
        .no_proxy()
        .redirect(reqwest::redirect::Policy::none())
        .retry(reqwest::retry::never())
        .connect_timeout(CONNECT_LIMIT)
        .user_agent(concat!("offshoot/", env!("CARGO_PKG_VERSION"))))
}

/// `base` with `path` behind it. Parts of `path` that `base` already ends with are not repeated, so that addresses with and
/// without `/v1` both work.
pub(super) fn join(base: &str, path: &[&str]) -> Result<Url, ModelError> {
    let wrong = |reason: &str| not_configured(format!("the provider's address {base:?} can't be used: {reason}"));
    let mut url = Url::parse(base.trim()).map_err(|error| wrong(&error.to_string()))?;
    if !matches!(url.scheme(), "http" | "https") {
        return Err(wrong("it must begin with http:// or https://"));
    }
    let present: Vec<String> =
        url.path_segments().into_iter().flatten().filter(|part| !part.is_empty()).map(str::to_owned).collect();
    // An address that names its own version isn't given a second one.
    let is_version =
        |part: &String| part.strip_prefix('v').is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
    let path = if path.first() == Some(&"v1") && !present.contains(&"v1".to_owned()) && present.iter().any(is_version) {
        &path[1..]
    } else {
        path
    };
    let repeated = (1..=path.len())
        .rev()
        .find(|count| present.ends_with(&path[..*count].iter().map(|part| (*part).to_owned()).collect::<Vec<_>>()));
    url.path_segments_mut()
        .map_err(|()| wrong("it has no path"))?
        .pop_if_empty()
        .extend(&path[repeated.unwrap_or(0)..]);
    Ok(url)
}

/// The key as a header's value behind `prefix`, kept out of debug output.
pub(super) fn key_header(key: &Secret, prefix: &str) -> Result<HeaderValue, ModelError> {
    let mut value = HeaderValue::from_str(&format!("{prefix}{}", key.reveal()))
        .map_err(|_| not_configured("the key holds characters that can't be sent; enter it again".to_owned()))?;
    value.set_sensitive(true);
    Ok(value)
}

/// `headers` and the ones that tell gateways and logs agents apart.
pub(super) fn agent_headers(mut headers: HeaderMap, request: &Request) -> HeaderMap {
    let ids = [("x-offshoot-session", request.session.as_str()), ("x-offshoot-agent", request.agent.as_str())];
    for (name, id) in ids {
        // An id that is no header is left out rather than failing the request: nothing hangs on it.
        if let Ok(value) = HeaderValue::from_str(id) {
            headers.insert(name, value);
        }
    }
    headers
}

fn not_configured(reason: String) -> ModelError {
    ModelError::NotConfigured { reason }
}

/// One request and its answer.
pub(super) struct Exchange {
    /// Address without credentials, for error texts.
    url: String,
    key: Option<Secret>,
    idle_limit: Duration,
}

impl Exchange {
    pub(super) fn new(url: &Url, endpoint: &Endpoint) -> Self {
        let mut shown = url.clone();
        // Fails only for addresses that can't have credentials.
        let _ = shown.set_username("");
        let _ = shown.set_password(None);
        shown.set_query(None);
        Self { url: shown.into(), key: endpoint.key.clone(), idle_limit: endpoint.idle_limit }
    }

    /// Sends the request and decodes its answer. Dropping the stream ends the request.
    pub(super) fn stream(
        self,
        request: RequestBuilder,
        decoder: impl Decode,
    ) -> BoxStream<'static, Result<ModelEvent, ModelError>> {
        let opened = async move {
            match self.open(request).await {
                Ok(response) => Answer::new(self, response, decoder).events(),
                Err(error) => stream::iter([Err(self.redact(error))]).boxed(),
            }
        };
        stream::once(opened).flatten().boxed()
    }

    /// Sends the request and reads its whole answer, of at most `most` bytes.
    pub(super) async fn whole(&self, request: RequestBuilder, most: usize) -> Result<Vec<u8>, ModelError> {
        let read = async {
            let response = self.send(request).await?;
            let body = self.read_bounded(response, most + 1).await;
            if body.len() > most {
                return Err(ModelError::Protocol { reason: format!("it is longer than {} MiB", most / (1024 * 1024)) });
            }
            Ok(body)
        };
        read.await.map_err(|error| self.redact(error))
    }

    /// Sends the request and waits for an answer that is a stream of events.
    async fn open(&self, request: RequestBuilder) -> Result<Response, ModelError> {
        let response = self.send(request).await?;
        // A login page or a whole JSON answer would otherwise look like a stream that broke off.
        let kind = response.headers().get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
        if ["text/html", "application/json"].iter().any(|wrong| kind.to_ascii_lowercase().starts_with(wrong)) {
            let reason = format!("{} answered {kind} instead of a stream of events", self.url);
            return Err(ModelError::Protocol { reason });
        }
        Ok(response)
    }

    /// Sends the request and waits for an answer that is no error.
    async fn send(&self, request: RequestBuilder) -> Result<Response, ModelError> {
        let response = match timeout(self.idle_limit, request.send()).await {
            Ok(Ok(response)) => response,
            Ok(Err(error)) => {
                return Err(ModelError::Connection { url: self.url.clone(), reason: causes(&error.without_url()) });
            }
            Err(_) => return Err(self.idle()),
        };
        let status = response.status();
        if !status.is_success() {
            let retry_after = retry_after(response.headers());
            let message = message_of(&self.read_bounded(response, MAX_ERROR_BODY).await);
            let reason = || status.canonical_reason().unwrap_or("without a message").to_owned();
            let message = if message.is_empty() { reason() } else { message };
            return Err(ModelError::Status { status: status.as_u16(), message, retry_after });
        }
        Ok(response)
    }

    /// The beginning of a body; what came until it broke off or fell silent.
    async fn read_bounded(&self, mut response: Response, most: usize) -> Vec<u8> {
        let mut body = Vec::new();
        while body.len() < most {
            match timeout(self.idle_limit, response.chunk()).await {
                Ok(Ok(Some(chunk))) => body.extend_from_slice(&chunk),
                _ => break,
            }
        }
        body.truncate(most);
        body
    }

    fn idle(&self) -> ModelError {
        ModelError::Idle { limit: self.idle_limit }
    }

    /// The error without the key in its texts.
    fn redact(&self, mut error: ModelError) -> ModelError {
        let Some(key) = &self.key else { return error };
        match &mut error {
            ModelError::Connection { reason, .. }
            | ModelError::Truncated { reason }
            | ModelError::Protocol { reason }
            | ModelError::NotConfigured { reason } => *reason = key.redact(reason),
            ModelError::Status { message, .. } => *message = key.redact(message),
            ModelError::Idle { .. } => {}
        }
        error
    }
}

/// An answer that is being read.
struct Answer<D> {
    exchange: Exchange,
    response: Response,
    splitter: Splitter,
    decoder: D,
    ready: VecDeque<ModelEvent>,
    /// What follows `ready`: nothing yet, the end, or an error.
    end: Option<Result<(), ModelError>>,
    received: usize,
}

impl<D: Decode> Answer<D> {
    fn new(exchange: Exchange, response: Response, decoder: D) -> Self {
        let (splitter, ready) = (Splitter::default(), VecDeque::new());
        Self { exchange, response, splitter, decoder, ready, end: None, received: 0 }
    }

    fn events(self) -> BoxStream<'static, Result<ModelEvent, ModelError>> {
        stream::unfold(self, |mut answer| async move { answer.next().await.map(|event| (event, answer)) }).boxed()
    }

    async fn next(&mut self) -> Option<Result<ModelEvent, ModelError>> {
        loop {
            if let Some(event) = self.ready.pop_front() {
                return Some(Ok(event));
            }
            match self.end.replace(Ok(())) {
                None => {
                    self.end = match self.read().await {
                        Ok(is_complete) => is_complete.then_some(Ok(())),
                        Err(error) => Some(Err(error)),
                    };
                }
                Some(Ok(())) => return None,
                Some(Err(error)) => return Some(Err(self.exchange.redact(error))),
            }
        }
    }

    /// Waits for more bytes and decodes them. Returns whether the answer is complete.
    async fn read(&mut self) -> Result<bool, ModelError> {
        match timeout(self.exchange.idle_limit, self.response.chunk()).await {
            Ok(Ok(Some(chunk))) => self.decode(&chunk),
            Ok(Ok(None)) if self.decoder.finish(&mut self.ready)? => Ok(true),
            Ok(Ok(None)) => {
                Err(ModelError::Truncated { reason: "the connection ended before the answer did".to_owned() })
            }
            Ok(Err(error)) => Err(ModelError::Truncated { reason: causes(&error.without_url()) }),
            Err(_) => Err(self.exchange.idle()),
        }
    }

    fn decode(&mut self, chunk: &Bytes) -> Result<bool, ModelError> {
        self.received += chunk.len();
        if self.received > MAX_ANSWER {
            let reason = format!("it is longer than {} MiB", MAX_ANSWER / (1024 * 1024));
            return Err(ModelError::Protocol { reason });
        }
        let mut rest = &chunk[..];
        let too_large = |error: super::sse::TooLarge| ModelError::Protocol { reason: error.to_string() };
        while let Some(data) = self.splitter.next(&mut rest).map_err(too_large)? {
            if self.decoder.take(data, &mut self.ready)? {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

/// How long the provider asks to wait, in whole seconds. Dates aren't read: none of the providers sends one.
fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let seconds: u64 = headers.get(RETRY_AFTER)?.to_str().ok()?.trim().parse().ok()?;
    Some(Duration::from_secs(seconds).min(MAX_RETRY_AFTER))
}

/// The message in an error's body, or the beginning of what it is instead.
fn message_of(body: &[u8]) -> String {
    if let Ok(value) = serde_json::from_slice::<Value>(body) {
        let candidates = [value.pointer("/error/message"), value.get("error"), value.get("message")];
        if let Some(message) = candidates.into_iter().flatten().find_map(Value::as_str) {
            return message.to_owned();
        }
    }
    let text = String::from_utf8_lossy(body);
    let text = text.trim();
    match text.char_indices().nth(MAX_ERROR_TEXT) {
        Some((cut, _)) => format!("{}…", &text[..cut]),
        None => text.to_owned(),
    }
}

/// An error and what caused it, on one line.
pub(crate) fn causes(error: &reqwest::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        let _ = write!(text, ": {cause}");
        source = cause.source();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_with_and_without_a_version_work() {
        for (base, url) in [
            ("https://api.anthropic.com", "https://api.anthropic.com/v1/messages"),
            ("https://api.anthropic.com/", "https://api.anthropic.com/v1/messages"),
            ("https://gateway.example/anthropic/v1/", "https://gateway.example/anthropic/v1/messages"),
            ("http://127.0.0.1:80/v1/messages", "http://127.0.0.1/v1/messages"),
            ("https://models.example/v1beta/openai/", "https://models.example/v1beta/openai/messages"),
        ] {
            assert_eq!(join(base, &["v1", "messages"]).unwrap().as_str(), url);
        }
        for wrong in ["", "api.anthropic.com", "ftp://x", "mailto:x@y"] {
            assert!(matches!(join(wrong, &["v1"]), Err(ModelError::NotConfigured { .. })), "{wrong}");
        }
    }

    #[test]
    fn error_bodies_of_all_kinds_give_a_message() {
        assert_eq!(message_of(br#"{"type":"error","error":{"type":"x","message":"No"}}"#), "No");
        assert_eq!(message_of(br#"{"error":"no such model"}"#), "no such model");
        assert_eq!(message_of(b"<h1>Bad Gateway</h1>\n"), "<h1>Bad Gateway</h1>");
        assert_eq!(message_of("🦀".repeat(501).as_bytes()), format!("{}…", "🦀".repeat(500)));
        assert_eq!(message_of(b""), "");
    }

    #[test]
    fn a_wait_is_read_in_seconds_and_bounded() {
        let wait =
            |text: &'static str| retry_after(&HeaderMap::from_iter([(RETRY_AFTER, HeaderValue::from_static(text))]));
        assert_eq!(wait("3"), Some(Duration::from_secs(3)));
        assert_eq!(wait("99999999999"), Some(MAX_RETRY_AFTER));
        assert_eq!(wait("soon"), None);
    }

    #[test]
    fn errors_show_neither_key_nor_credentials() {
        let endpoint = Endpoint::new("http://user:pass@127.0.0.1/?token=t", Some(Secret::new("sk-1")));
        let exchange = Exchange::new(&join(&endpoint.base_url, &["v1"]).unwrap(), &endpoint);
        assert_eq!(exchange.url, "http://127.0.0.1/v1");
        let error = exchange.redact(ModelError::Protocol { reason: "got sk-1".to_owned() });
        assert_eq!(error.to_string(), "the answer can't be understood: got [key]");
        assert!(!format!("{endpoint:?}").contains("sk-1"));
    }
}

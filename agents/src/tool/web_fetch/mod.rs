//! `WebFetch`: the text behind one address of the public web.
//!
//! The wall is around what is connected to, not around what is written: a name is looked up once, every address it has is
//! judged, and the connection goes to the very addresses that were judged. Each redirect begins anew, and leads to another
//! host only by another call, on which the rules for that host decide.

use std::net::IpAddr;
use std::time::Duration;

use async_trait::async_trait;
use offshoot_protocol::Access;
use reqwest::header::{ACCEPT, CONTENT_TYPE, HeaderMap, LOCATION};
use reqwest::{Client, Response, Url};
use serde::Deserialize;
use serde_json::{Value, json};

use super::{Tool, ToolContext, ToolError, ToolOutput, input};
use crate::boundary::Place;
use crate::model::http::{builder, causes};

mod address;
mod lookup;
mod markup;
mod page;

pub use lookup::{Lookup, SystemLookup, Web};

/// Most redirects that are followed.
const REDIRECTS: usize = 5;
/// How long all of it may take.
const TIME: Duration = Duration::from_secs(30);
/// Most bytes of a body.
const BODY: usize = 5 * 1000 * 1000;
/// Most bytes of an address.
const ADDRESS: usize = 4096;

/// The tool.
pub(super) struct WebFetch(pub(super) Web);

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Input {
    url: String,
}

/// Reads an address and refuses what is never fetched, whatever rules say.
fn parse(value: &Value) -> Result<Url, ToolError> {
    let Input { url } = input::parse(value)?;
    let text = url.trim();
    if text.len() > ADDRESS {
        return Err(ToolError::invalid("`url` has more than 4096 bytes."));
    }
    let url = Url::parse(text).map_err(|error| ToolError::invalid(format!("`url` is no address: {error}.")))?;
    check(&url)?;
    Ok(url)
}

fn check(url: &Url) -> Result<(), ToolError> {
    if !matches!(url.scheme(), "http" | "https") {
        let message = format!("Only http and https can be fetched, not {}.", url.scheme());
        return Err(ToolError::invalid(message));
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(ToolError::invalid("The address has a user name or password in it. Leave them out."));
    }
    Ok(())
}

#[async_trait]
impl Tool for WebFetch {
    fn name(&self) -> &'static str {
        "WebFetch"
    }

    fn description(&self) -> &'static str {
        include_str!("../web_fetch.md")
    }

    fn schema(&self) -> Value {
        json!({
            "type": "object",
            "properties": {"url": {"type": "string", "description": "The whole address, with http:// or https://"}},
            "required": ["url"],
            "additionalProperties": false,
        })
    }

    fn is_parallel(&self) -> bool {
        true
    }

    fn access(&self, input: &Value, _: &Place) -> Result<Access, ToolError> {
        parse(input).map(|_| Access::Own)
    }

    async fn run(&self, input: Value, _: &ToolContext) -> Result<ToolOutput, ToolError> {
        let url = parse(&input)?;
        let late = || ToolError::new("fetch_timed_out", format!("It took longer than {} s.", TIME.as_secs()));
        tokio::time::timeout(TIME, self.fetch(url)).await.unwrap_or_else(|_| Err(late()))
    }
}

impl WebFetch {
    async fn fetch(&self, mut url: Url) -> Result<ToolOutput, ToolError> {
        let client = self.client()?;
        for _ in 0..=REDIRECTS {
            self.check_literal(&url)?;
            let asked =
                client.get(url.clone()).header(ACCEPT, "text/markdown, text/html;q=0.9, text/*;q=0.8, */*;q=0.5");
            let response = asked.send().await.map_err(|error| failed(&url, &error))?;
            let Some(next) = next_of(&url, &response)? else { return read(&url, response).await };
            if next.host_str() != url.host_str() {
                let message = format!(
                    "{url} redirects to another host: {next}. It was not followed. If that is what you want, fetch that \
                     address."
                );
                return Ok(ToolOutput::text(message));
            }
            url = next;
        }
        Err(ToolError::new("fetch_failed", format!("More than {REDIRECTS} redirects; the last was to {url}.")))
    }

    /// A client of its own for each call: no connection is kept from one call to the next.
    fn client(&self) -> Result<Client, ToolError> {
        let builder = builder(self.0.authorities.as_deref())
            .map_err(|error| ToolError::new("fetch_failed", error.to_string()))?;
        let client = builder.dns_resolver(lookup::Guarded::new(self.0.clone())).build();
        client.map_err(|error| ToolError::new("fetch_failed", causes(&error)))
    }

    /// Hosts that are addresses already are not looked up.
    fn check_literal(&self, url: &Url) -> Result<(), ToolError> {
        let host = url.host_str().unwrap_or_default();
        let literal = host.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>();
        match literal {
            Ok(address) if !self.0.may_reach(address) => {
                Err(ToolError::new("address_refused", lookup::refusal(address)))
            }
            _ => Ok(()),
        }
    }
}

/// Where a response redirects to, if it does.
fn next_of(url: &Url, response: &Response) -> Result<Option<Url>, ToolError> {
    if !response.status().is_redirection() {
        return Ok(None);
    }
    let Some(location) = response.headers().get(LOCATION) else { return Ok(None) };
    let target = location.to_str().ok().and_then(|text| url.join(text).ok());
    let next =
        target.ok_or_else(|| ToolError::new("fetch_failed", format!("{url} redirects to what is no address.")))?;
    check(&next)?;
    if url.scheme() == "https" && next.scheme() == "http" {
        let message =
            format!("{url} redirects from https to http ({next}), which anybody on the way could have changed.");
        return Err(ToolError::new("fetch_failed", message));
    }
    Ok(Some(next))
}

/// Reads a response to its end or its limit.
async fn read(url: &Url, mut response: Response) -> Result<ToolOutput, ToolError> {
    let status = response.status();
    let kind = page::Kind::of(text_of(response.headers(), CONTENT_TYPE.as_str()));
    if status.is_success() && !kind.is_text() {
        let message = format!("{url} is no text but {kind}. It was not fetched.");
        return Err(ToolError::new("fetch_failed", message));
    }
    let mut body = Vec::new();
    let mut is_cut = false;
    while let Some(piece) = response.chunk().await.map_err(|error| failed(url, &error))? {
        let room = BODY - body.len();
        body.extend_from_slice(&piece[..piece.len().min(room)]);
        if piece.len() > room {
            is_cut = true;
            break;
        }
    }
    drop(response);
    let made = tokio::task::spawn_blocking(move || kind.text(&body)).await;
    let text = made.unwrap_or_else(|error| Err(error.to_string()));
    let text = text.map_err(|why| ToolError::new("fetch_failed", format!("{url} could not be read: {why}.")))?;
    let cut = if is_cut { ", cut at 5 MB" } else { "" };
    let told = page::frame(url.as_str(), &format!("{status}{cut}"), &text);
    if status.is_success() {
        return Ok(ToolOutput::text(told));
    }
    Err(ToolError { output: told, ..ToolError::new("fetch_failed", format!("{url} answers {status}.")) })
}

fn text_of<'a>(headers: &'a HeaderMap, name: &str) -> &'a str {
    headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default()
}

fn failed(url: &Url, error: &reqwest::Error) -> ToolError {
    let text = causes(error);
    let code = if text.contains(lookup::NOT_PUBLIC) { "address_refused" } else { "fetch_failed" };
    ToolError::new(code, format!("{url} could not be fetched: {text}."))
}

#[cfg(test)]
mod tests;

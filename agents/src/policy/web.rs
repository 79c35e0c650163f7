//! Hosts in rules and in addresses.

use reqwest::Url;

/// `domain:…`: a host name, or `*.` and one for whatever is below it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct DomainPattern {
    host: String,
    below: bool,
}

impl DomainPattern {
    /// Reads a pattern; the error says what is wrong with it.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let (host, below) = match text.strip_prefix("*.") {
            Some(host) => (host, true),
            None => (text, false),
        };
        let url = Url::parse(&format!("http://{host}/")).ok();
        let parsed =
            url.as_ref().and_then(|url| host_of(url).ok()).filter(|_| !host.contains(['/', '*', ':', '@', '?', '#']));
        let host = parsed.ok_or_else(|| format!("`{text}` is no host name"))?;
        Ok(Self { host, below })
    }

    /// Whether `host`, as [`host`] gives it, matches. Addresses in numbers match only themselves.
    pub(super) fn matches(&self, host: &str) -> bool {
        if !self.below {
            return host == self.host;
        }
        host.strip_suffix(&self.host).is_some_and(|rest| rest.len() > 1 && rest.ends_with('.'))
    }
}

/// The host of an address that may be fetched by rule: `http` or `https`, no user name in it. In lower case, without the
/// dot that may end it, international names in their ASCII form.
pub(super) fn host(address: &str) -> Result<String, &'static str> {
    let url = Url::parse(address).map_err(|_| "it is no address")?;
    if !matches!(url.scheme(), "http" | "https") {
        return Err("only http and https can be fetched");
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err("it has a user name in front of the host");
    }
    host_of(&url)
}

fn host_of(url: &Url) -> Result<String, &'static str> {
    let host = url.host_str().map(|host| host.strip_suffix('.').unwrap_or(host)).unwrap_or_default();
    if host.is_empty() { Err("it has no host") } else { Ok(host.to_ascii_lowercase()) }
}

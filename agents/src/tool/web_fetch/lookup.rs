//! Names become addresses here, and addresses that aren't public are refused here: between the two nothing can change.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use async_trait::async_trait;
use ipnet::IpNet;
use reqwest::dns::{Addrs, Name, Resolve, Resolving};

use super::address::is_public;

/// In every refusal; errors on their way through the client keep only their text.
pub(super) const NOT_PUBLIC: &str = "is not an address of the public internet";

/// Looks names up.
#[async_trait]
pub trait Lookup: Send + Sync {
    /// All addresses of a host.
    async fn lookup(&self, host: &str) -> io::Result<Vec<IpAddr>>;
}

/// As the operating system does.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemLookup;

#[async_trait]
impl Lookup for SystemLookup {
    async fn lookup(&self, host: &str) -> io::Result<Vec<IpAddr>> {
        Ok(tokio::net::lookup_host((host, 0)).await?.map(|address| address.ip()).collect())
    }
}

/// What `WebFetch` may reach, and how it finds it.
#[derive(Clone)]
pub struct Web {
    /// Looks names up.
    pub lookup: Arc<dyn Lookup>,
    /// Networks that may be reached although they aren't public.
    pub networks: Vec<IpNet>,
    /// Root certificates (PEM) besides the web's, as for models.
    pub authorities: Option<Arc<[u8]>>,
}

impl Default for Web {
    /// The public internet alone.
    fn default() -> Self {
        Self { lookup: Arc::new(SystemLookup), networks: Vec::new(), authorities: None }
    }
}

impl Web {
    pub(super) fn may_reach(&self, address: IpAddr) -> bool {
        let plain = address.to_canonical();
        is_public(address) || self.networks.iter().any(|network| network.contains(&plain))
    }
}

pub(super) fn refusal(address: IpAddr) -> String {
    format!("{address} {NOT_PUBLIC}, so it is not fetched")
}

/// Tells the client the addresses of a name, if all of them may be reached. A name that has both kinds is a trick.
pub(super) struct Guarded(Web);

impl Guarded {
    pub(super) fn new(web: Web) -> Arc<Self> {
        Arc::new(Self(web))
    }
}

impl Resolve for Guarded {
    fn resolve(&self, name: Name) -> Resolving {
        let web = self.0.clone();
        Box::pin(async move {
            let found = web.lookup.lookup(name.as_str()).await?;
            if let Some(address) = found.iter().find(|address| !web.may_reach(**address)) {
                return Err(format!("{} is at {}", name.as_str(), refusal(*address)).into());
            }
            let addresses: Addrs = Box::new(found.into_iter().map(|address| SocketAddr::new(address, 0)));
            Ok(addresses)
        })
    }
}

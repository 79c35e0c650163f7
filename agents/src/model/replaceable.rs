//! A client that can be exchanged while agents hold it: a key that was wrong, an address that changed.

use std::sync::{Arc, PoisonError, RwLock};

use futures_util::StreamExt;
use futures_util::stream::{self, BoxStream};
use offshoot_protocol::Seller;

use super::{Model, ModelError, ModelEvent, Request};

/// Passes requests on to whichever client it was given last. Requests under way are left to the one that they began with.
pub struct Replaceable(RwLock<Result<Arc<dyn Model>, String>>);

impl Replaceable {
    /// No client yet: every request fails, with `reason` (what is missing and what to do).
    pub fn missing(reason: impl Into<String>) -> Self {
        Self(RwLock::new(Err(reason.into())))
    }

    /// Lets `client` answer from now on.
    pub fn set(&self, client: Result<Arc<dyn Model>, String>) {
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = client;
    }
}

impl Model for Replaceable {
    fn stream(&self, request: Request) -> BoxStream<'static, Result<ModelEvent, ModelError>> {
        match &*self.0.read().unwrap_or_else(PoisonError::into_inner) {
            Ok(client) => client.stream(request),
            Err(reason) => {
                let error = ModelError::NotConfigured { reason: reason.clone() };
                stream::once(async { Err(error) }).boxed()
            }
        }
    }

    fn seller(&self) -> Seller {
        match &*self.0.read().unwrap_or_else(PoisonError::into_inner) {
            Ok(client) => client.seller(),
            // It answers nothing that could cost anything.
            Err(_) => Seller::Provider,
        }
    }
}

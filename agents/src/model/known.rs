//! The models that servers said they have.

use std::collections::HashMap;
use std::sync::{PoisonError, RwLock};

use super::Provider;

/// See the module. Empty until somebody asked a server.
#[derive(Debug, Default)]
pub struct KnownModels(RwLock<HashMap<Provider, Vec<String>>>);

impl KnownModels {
    /// Remembers a provider's models. An empty list means that they aren't known.
    pub fn set(&self, provider: Provider, models: Vec<String>) {
        self.0.write().unwrap_or_else(PoisonError::into_inner).insert(provider, models);
    }

    /// A provider's models; none when they aren't known.
    pub fn of(&self, provider: Provider) -> Vec<String> {
        self.0.read().unwrap_or_else(PoisonError::into_inner).get(&provider).cloned().unwrap_or_default()
    }
}

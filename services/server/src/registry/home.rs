//! The default workspace: the first start of a catalog registers the operator's home, so that a first list is
//! not empty. Removing it is remembered; it does not come back.

use std::sync::Arc;
use std::time::{Duration, Instant};

use compozy_domain::workspace::IdentityPolicy;
use compozy_domain::{CatalogError, Principal};

use super::register::RegisterWanted;
use super::{Caller, NamedPath, Registry, WriteCall};

/// For the whole registration.
const PATIENCE: Duration = Duration::from_secs(10);

impl Registry {
    /// Registers the operator's home if this is the first start. One that can't be registered is a warning in the
    /// log, never a failed start.
    ///
    /// # Errors
    /// Only when the store can't tell whether this is the first start.
    pub async fn register_home(self: &Arc<Self>) -> Result<(), CatalogError> {
        // Asked even if nothing is to be registered: the first start is the first one, whatever it was told.
        let is_first = self.store.claim_first_start().await?;
        if !is_first || !self.settings.register_home || self.host.is_none() {
            return Ok(());
        }
        let Some(home) = &self.settings.operator_home else {
            return Ok(());
        };
        if let Err(error) = self.register_directory(home).await {
            tracing::warn!(%error, home, "the home directory was not registered as default workspace");
        }
        Ok(())
    }

    async fn register_directory(self: &Arc<Self>, home: &str) -> Result<(), CatalogError> {
        let wanted = RegisterWanted {
            path: NamedPath::parse(home, "path")?,
            name: None,
            title: None,
            additional_dirs: Vec::new(),
            default_agent: None,
            policy: IdentityPolicy::Share,
            reuse_enclosing: false,
            validate_only: false,
            is_default: true,
            profile: None,
        };
        let caller = Caller {
            principal: Arc::new(Principal::local()),
            deadline: Instant::now() + PATIENCE,
        };
        Arc::clone(self)
            .register(WriteCall { caller, repeat: None }, wanted)
            .await?;
        Ok(())
    }
}

//! Removing a registration. Its directory is never touched.

use std::sync::Arc;

use compozy_domain::{CatalogError, Etag};
use compozy_store::{Remove, Removed, Written};

use super::{Reference, Registry, Reply, WriteCall};

/// A removal that a caller wants.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RemoveWanted {
    /// Which workspace.
    pub reference: Reference,
    /// Only in this state.
    pub etag: Option<Etag>,
    /// A workspace that is not there is a success.
    pub allow_missing: bool,
    /// Whether its sessions go too.
    pub delete_sessions: bool,
    /// Whether live sessions stay, without a workspace; otherwise they keep it from being removed.
    pub ungroup_live: bool,
}

impl Registry {
    /// Removes a registration.
    ///
    /// # Errors
    /// [`CatalogError`] of references and etags.
    pub async fn remove(
        self: Arc<Self>,
        call: WriteCall<Written<Removed>>,
        wanted: RemoveWanted,
    ) -> Result<Reply<Written<Removed>>, CatalogError> {
        self.carry_out(call, move |registry, call| async move {
            let RemoveWanted {
                reference,
                etag,
                allow_missing,
                delete_sessions,
                ungroup_live,
            } = wanted;
            let id = match registry.find(&call.caller, &reference).await {
                Ok(workspace) => Some(workspace.id),
                Err(CatalogError::WorkspaceNotFound { .. }) if allow_missing => None,
                Err(error) => return Err(error),
            };
            let forgotten = id.clone();
            let remove = Remove {
                id,
                etag,
                allow_missing,
                delete_sessions,
                ungroup_live,
                reference: reference.text,
            };
            let reply = registry
                .write(&call, Written::clone, |call| registry.store.remove(remove, call))
                .await;
            if let Some(id) = forgotten {
                registry.resolution.forget(&id);
            }
            reply
        })
        .await
    }
}

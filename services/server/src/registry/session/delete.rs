//! Deleting a session.

use std::sync::Arc;

use compozy_domain::{CatalogError, Etag, SessionId};
use compozy_store::{DeleteSession, Written};

use crate::registry::{Registry, Reply, WriteCall};

/// A deletion that a caller wants.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeleteWanted {
    /// Which session; `None` for a text that is no id.
    pub id: Option<SessionId>,
    /// As the caller wrote it.
    pub reference: String,
    /// Also a live one.
    pub force: bool,
    /// A missing one is a success.
    pub allow_missing: bool,
    /// Only in this state.
    pub etag: Option<Etag>,
}

impl Registry {
    /// Removes a session with everything that is kept of it. Its children stay.
    ///
    /// # Errors
    /// [`CatalogError::SessionNotFound`], [`CatalogError::SessionState`], [`CatalogError::EtagMismatch`].
    pub async fn delete_session(
        self: Arc<Self>,
        call: WriteCall<Written<Option<SessionId>>>,
        wanted: DeleteWanted,
    ) -> Result<Reply<Written<Option<SessionId>>>, CatalogError> {
        self.carry_out(call, move |registry, call| async move {
            let DeleteWanted {
                id,
                reference,
                force,
                allow_missing,
                etag,
            } = wanted;
            let delete = DeleteSession {
                id,
                reference,
                force,
                allow_missing,
                etag,
            };
            registry
                .write(&call, Written::clone, |call| {
                    registry.store.delete_session(delete, call)
                })
                .await
        })
        .await
    }
}

//! The manual order.

use std::sync::Arc;

use compozy_domain::CatalogError;
use compozy_store::{MoveBefore, Moved, Written};

use super::{Reference, Registry, Reply, WriteCall};

/// A move that a caller wants.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MoveWanted {
    /// Which workspace.
    pub reference: Reference,
    /// In front of this one; `None` = to the end.
    pub before: Option<Reference>,
}

impl Registry {
    /// Moves a workspace in the manual order.
    ///
    /// # Errors
    /// [`CatalogError`] of references, of the moved one first.
    pub async fn move_workspace(
        self: Arc<Self>,
        call: WriteCall<Written<Moved>>,
        wanted: MoveWanted,
    ) -> Result<Reply<Written<Moved>>, CatalogError> {
        self.carry_out(call, move |registry, call| async move {
            let MoveWanted { reference, before } = wanted;
            let id = registry.find(&call.caller, &reference).await?.id;
            let before = match before {
                None => None,
                Some(anchor) => Some(registry.find(&call.caller, &anchor).await?.id),
            };
            let moving = MoveBefore { id, before };
            registry
                .write(&call, Written::clone, |call| {
                    registry.store.move_before(moving, call)
                })
                .await
        })
        .await
    }
}

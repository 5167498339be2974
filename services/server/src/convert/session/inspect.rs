//! One session, looked at closely.

use std::time::Duration;

use compozy_domain::{CatalogError, SessionAt, SessionId};
use compozy_proto::session::v1 as pb;

use super::lease::id;
use super::record::{health, session, transition};
use crate::registry::session::inspect::Inspected;
use crate::resume_token;
use crate::seal::Seal;

/// Reads a request of `InspectSession`.
///
/// # Errors
/// [`CatalogError::SessionNotFound`] for a text that is no id.
pub fn wanted(request: pb::InspectSessionRequest) -> Result<SessionId, CatalogError> {
    let pb::InspectSessionRequest { session_id } = request;
    id(session_id)
}

/// Reads a request of `GetSessionHealth`.
///
/// # Errors
/// [`CatalogError::SessionNotFound`] for a text that is no id.
pub fn health_wanted(request: pb::GetSessionHealthRequest) -> Result<SessionId, CatalogError> {
    let pb::GetSessionHealthRequest { session_id } = request;
    id(session_id)
}

/// Makes the response of `InspectSession`.
#[must_use]
pub fn inspected(seal: &Seal, inspected: &Inspected) -> pb::InspectSessionResponse {
    let Inspected {
        session: at,
        transitions,
        stale_after,
        revision,
    } = inspected;
    pb::InspectSessionResponse {
        session: Some(session(at, *stale_after, true)),
        transitions: transitions.iter().map(transition).collect(),
        // Questions are events, and the vault has a store of its own: neither is kept by this release.
        pending_permissions: Vec::new(),
        vault: Vec::new(),
        revision: resume_token::encode(seal, revision),
    }
}

/// Makes the response of `GetSessionHealth`.
#[must_use]
pub fn health_seen(at: &SessionAt, stale_after: Duration) -> pb::GetSessionHealthResponse {
    let view = at.session.view(at.at, stale_after);
    pb::GetSessionHealthResponse {
        health: Some(health(&view)),
    }
}

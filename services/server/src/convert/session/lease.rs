//! Leases of runtimes and operators: requests and their answers.

use std::time::Duration;

use compozy_domain::session::fields::{LeaseBounds, parse_holder};
use compozy_domain::{CatalogError, LeaseHash, LeaseToken, Session, SessionId};
use compozy_proto::session::v1 as pb;

use super::super::timestamp;
use super::record::session;
use crate::registry::session::leases::{AttachWanted, BindingWanted, LeaseWanted, Leased, lease_hash};
use crate::resume_token;
use crate::seal::Seal;

/// Reads the hash of a lease. A text that is no token is a lease that is over.
///
/// # Errors
/// [`CatalogError::LeaseLost`].
pub fn hash(token: &str) -> Result<LeaseHash, CatalogError> {
    let token = LeaseToken::parse(token).ok_or(CatalogError::LeaseLost)?;
    Ok(lease_hash(&token))
}

/// Reads the id of a session. A text that is no id names none.
///
/// # Errors
/// [`CatalogError::SessionNotFound`].
pub fn id(text: String) -> Result<SessionId, CatalogError> {
    SessionId::parse(&text).ok_or(CatalogError::SessionNotFound { id: text })
}

/// Reads who wants to bind a runtime, and for how long.
///
/// # Errors
/// [`CatalogError::InvalidField`] naming `holder` or `ttl`.
pub fn binding(binding: pb::RuntimeBinding) -> Result<BindingWanted, CatalogError> {
    let pb::RuntimeBinding { holder, ttl } = binding;
    let bounds = LeaseBounds::runtime(Duration::ZERO);
    Ok(BindingWanted {
        holder: parse_holder(holder)?,
        ttl: ttl
            .map(|ttl| bounds.parse(Some((ttl.seconds, ttl.nanos)), "ttl"))
            .transpose()?,
    })
}

/// The runtime lease of a session for its holder; `None` without one. A repeated answer has no token to tell.
#[must_use]
pub fn runtime_lease(session: &Session, token: Option<&LeaseToken>) -> Option<pb::RuntimeLease> {
    let lease = session.live.as_ref()?.lease.as_ref()?;
    Some(pb::RuntimeLease {
        token: token.map(|token| token.expose().to_owned()).unwrap_or_default(),
        session_id: session.id.to_string(),
        holder: session.runtime_holder.clone(),
        generation: session.generation,
        expires_at: Some(timestamp(lease.expires_at)),
    })
}

/// Reads a request.
///
/// # Errors
/// [`CatalogError::SessionNotFound`], [`CatalogError::InvalidField`].
pub fn bind(request: pb::BindRuntimeRequest) -> Result<LeaseWanted<BindingWanted>, CatalogError> {
    let pb::BindRuntimeRequest {
        session_id,
        binding: wanted,
        request_id: _,
    } = request;
    Ok(LeaseWanted {
        wanted: binding(wanted.unwrap_or_default())?,
        id: id(session_id)?,
    })
}

/// Makes the response.
#[must_use]
pub fn bound(seal: &Seal, leased: &Leased) -> pb::BindRuntimeResponse {
    let Leased {
        session: at,
        revision,
        stale_after,
        token,
    } = leased;
    pb::BindRuntimeResponse {
        lease: runtime_lease(&at.session, token.as_ref()),
        session: Some(session(at, *stale_after, false)),
        revision: resume_token::encode(seal, revision),
    }
}

/// Reads a request.
///
/// # Errors
/// [`CatalogError::SessionNotFound`], [`CatalogError::InvalidField`].
pub fn resume(request: pb::ResumeSessionRequest) -> Result<LeaseWanted<Option<BindingWanted>>, CatalogError> {
    let pb::ResumeSessionRequest {
        session_id,
        bind,
        request_id: _,
    } = request;
    Ok(LeaseWanted {
        wanted: bind.map(binding).transpose()?,
        id: id(session_id)?,
    })
}

/// Makes the response.
#[must_use]
pub fn resumed(seal: &Seal, leased: &Leased) -> pb::ResumeSessionResponse {
    let Leased {
        session: at,
        revision,
        stale_after,
        token,
    } = leased;
    let lease = token
        .as_ref()
        .and_then(|token| runtime_lease(&at.session, Some(token)));
    pb::ResumeSessionResponse {
        session: Some(session(at, *stale_after, false)),
        lease,
        revision: resume_token::encode(seal, revision),
    }
}

/// Reads a request.
///
/// # Errors
/// [`CatalogError::SessionNotFound`], [`CatalogError::InvalidField`].
pub fn acquire(request: pb::AcquireAttachLeaseRequest) -> Result<LeaseWanted<AttachWanted>, CatalogError> {
    let pb::AcquireAttachLeaseRequest {
        session_id,
        holder,
        ttl,
        request_id: _,
    } = request;
    let wanted = AttachWanted {
        holder: parse_holder(holder)?,
        ttl: LeaseBounds::ATTACH.parse(ttl.map(|ttl| (ttl.seconds, ttl.nanos)), "ttl")?,
    };
    let id = id(session_id)?;
    Ok(LeaseWanted { id, wanted })
}

/// Makes the response.
#[must_use]
pub fn acquired(seal: &Seal, leased: &Leased) -> pb::AcquireAttachLeaseResponse {
    pb::AcquireAttachLeaseResponse {
        session: Some(session(&leased.session, leased.stale_after, false)),
        revision: resume_token::encode(seal, &leased.revision),
    }
}

/// Reads a request.
///
/// # Errors
/// [`CatalogError::SessionNotFound`], [`CatalogError::InvalidField`].
pub fn release(request: pb::ReleaseAttachLeaseRequest) -> Result<LeaseWanted<String>, CatalogError> {
    let pb::ReleaseAttachLeaseRequest {
        session_id,
        holder,
        request_id: _,
    } = request;
    Ok(LeaseWanted {
        wanted: parse_holder(holder)?,
        id: id(session_id)?,
    })
}

/// Makes the response.
#[must_use]
pub fn released(seal: &Seal, leased: &Leased) -> pb::ReleaseAttachLeaseResponse {
    pb::ReleaseAttachLeaseResponse {
        session: Some(session(&leased.session, leased.stale_after, false)),
        revision: resume_token::encode(seal, &leased.revision),
    }
}

/// Reads a request.
///
/// # Errors
/// [`CatalogError::SessionNotFound`].
pub fn seen(request: pb::MarkSessionSeenRequest) -> Result<LeaseWanted<()>, CatalogError> {
    let pb::MarkSessionSeenRequest {
        session_id,
        request_id: _,
    } = request;
    Ok(LeaseWanted {
        id: id(session_id)?,
        wanted: (),
    })
}

/// Makes the response.
#[must_use]
pub fn marked_seen(seal: &Seal, leased: &Leased) -> pb::MarkSessionSeenResponse {
    pb::MarkSessionSeenResponse {
        session: Some(session(&leased.session, leased.stale_after, false)),
        revision: resume_token::encode(seal, &leased.revision),
    }
}

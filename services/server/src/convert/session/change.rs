//! Changes of a record, stops and deletions: requests and their answers.

use std::time::Duration;

use compozy_domain::session::change::SessionChange;
use compozy_domain::session::fields::{DETAIL_BYTES_MAX, SessionName, cut_prose, parse_detail, parse_labels};
use compozy_domain::{CatalogError, Revision, SessionAt, SessionId};
use compozy_proto::session::v1 as pb;
use compozy_resolver::config::secrets::redacted;
use compozy_store::Written;

use super::super::etag;
use super::lease::id;
use super::{record, words};
use crate::convert::mask::Mask;
use crate::registry::session::change::{ChangeWanted, Changed, StopWanted};
use crate::registry::session::delete::DeleteWanted;
use crate::resume_token;
use crate::seal::Seal;

/// Reads a request.
///
/// # Errors
/// [`CatalogError`] naming the field, or the path of the mask.
pub fn update(request: pb::UpdateSessionRequest) -> Result<ChangeWanted, CatalogError> {
    let pb::UpdateSessionRequest {
        session_id,
        session,
        update_mask,
        etag: known,
        request_id: _,
    } = request;
    // Everything else is set by the server: a caller that sends back what it read changes nothing of it.
    let pb::Session {
        labels,
        permission_mode,
        ..
    } = session.unwrap_or_default();
    let mode = words::permission_mode_from_wire(permission_mode);
    let mask = Mask::read(update_mask, &["labels", "permission_mode"], "")?;
    let means_mode = mask.means("permission_mode", mode.is_some());
    if means_mode && mode.is_none() {
        return Err(CatalogError::invalid_field(
            "session.permission_mode",
            "must be set: the mask names it",
        ));
    }
    let labels = mask
        .means("labels", false)
        .then(|| parse_labels(labels.into_iter().collect(), "session.labels"))
        .transpose()?;
    Ok(ChangeWanted {
        change: SessionChange::Update {
            labels,
            permission_mode: mode.filter(|_| means_mode),
        },
        etag: etag(known)?,
        id: id(session_id)?,
    })
}

/// Makes the response.
#[must_use]
pub fn updated(seal: &Seal, changed: &Changed) -> pb::UpdateSessionResponse {
    let (session, revision) = told(seal, changed);
    pb::UpdateSessionResponse { session, revision }
}

/// Reads a request.
///
/// # Errors
/// [`CatalogError`] naming the field.
pub fn rename(request: pb::RenameSessionRequest) -> Result<ChangeWanted, CatalogError> {
    let pb::RenameSessionRequest {
        session_id,
        name,
        etag: known,
        request_id: _,
    } = request;
    Ok(ChangeWanted {
        change: SessionChange::Rename(SessionName::parse(&name, "name")?),
        etag: etag(known)?,
        id: id(session_id)?,
    })
}

/// Makes the response.
#[must_use]
pub fn renamed(seal: &Seal, changed: &Changed) -> pb::RenameSessionResponse {
    let (session, revision) = told(seal, changed);
    pb::RenameSessionResponse { session, revision }
}

/// Reads a request.
///
/// # Errors
/// [`CatalogError`] naming the field.
pub fn archive(request: pb::ArchiveSessionRequest) -> Result<ChangeWanted, CatalogError> {
    let pb::ArchiveSessionRequest {
        session_id,
        etag: known,
        request_id: _,
    } = request;
    Ok(ChangeWanted {
        change: SessionChange::Archive,
        etag: etag(known)?,
        id: id(session_id)?,
    })
}

/// Makes the response.
#[must_use]
pub fn archived(seal: &Seal, changed: &Changed) -> pb::ArchiveSessionResponse {
    let (session, revision) = told(seal, changed);
    pb::ArchiveSessionResponse { session, revision }
}

/// Reads a request.
///
/// # Errors
/// [`CatalogError`] naming the field.
pub fn unarchive(request: pb::UnarchiveSessionRequest) -> Result<ChangeWanted, CatalogError> {
    let pb::UnarchiveSessionRequest {
        session_id,
        etag: known,
        request_id: _,
    } = request;
    Ok(ChangeWanted {
        change: SessionChange::Unarchive,
        etag: etag(known)?,
        id: id(session_id)?,
    })
}

/// Makes the response.
#[must_use]
pub fn unarchived(seal: &Seal, changed: &Changed) -> pb::UnarchiveSessionResponse {
    let (session, revision) = told(seal, changed);
    pb::UnarchiveSessionResponse { session, revision }
}

/// Reads a request.
///
/// # Errors
/// [`CatalogError`] naming the field.
pub fn stop(request: pb::StopSessionRequest) -> Result<StopWanted, CatalogError> {
    let pb::StopSessionRequest {
        session_id,
        cause,
        detail,
        wait,
        etag: known,
        request_id: _,
    } = request;
    // What is put in the place of a secret may be longer than the secret.
    let detail = cut_prose(&redacted(&parse_detail(detail)?), DETAIL_BYTES_MAX);
    let wait = match wait {
        None => Duration::ZERO,
        Some(wait) => span(wait)
            .ok_or_else(|| CatalogError::invalid_field("wait", "must be a span that is not negative"))?,
    };
    let change = ChangeWanted {
        change: SessionChange::Stop {
            cause: words::stop_cause_from_wire(cause),
            detail,
        },
        etag: etag(known)?,
        id: id(session_id)?,
    };
    Ok(StopWanted { change, wait })
}

/// Makes the response.
#[must_use]
pub fn stopped(seal: &Seal, changed: &Changed) -> pb::StopSessionResponse {
    let (session, revision) = told(seal, changed);
    pb::StopSessionResponse { session, revision }
}

/// Reads a request.
///
/// # Errors
/// [`CatalogError::InvalidField`] naming `etag`.
pub fn delete(request: pb::DeleteSessionRequest) -> Result<DeleteWanted, CatalogError> {
    let pb::DeleteSessionRequest {
        session_id,
        force,
        allow_missing,
        etag: known,
        request_id: _,
    } = request;
    Ok(DeleteWanted {
        id: SessionId::parse(&session_id),
        reference: session_id,
        force,
        allow_missing,
        etag: etag(known)?,
    })
}

/// Makes the response.
#[must_use]
pub fn deleted(seal: &Seal, written: &Written<Option<SessionId>>) -> pb::DeleteSessionResponse {
    let Written { value, revision } = written;
    pb::DeleteSessionResponse {
        id: value.as_ref().map(SessionId::to_string).unwrap_or_default(),
        revision: resume_token::encode(seal, revision),
    }
}

/// Reads a request: which session, and whether with its health.
///
/// # Errors
/// [`CatalogError::SessionNotFound`] for a text that is no id.
pub fn get(request: pb::GetSessionRequest) -> Result<(SessionId, bool), CatalogError> {
    let pb::GetSessionRequest {
        session_id,
        include_health,
    } = request;
    Ok((id(session_id)?, include_health))
}

/// Makes the response.
#[must_use]
pub fn got(
    seal: &Seal,
    (session, revision): &(SessionAt, Revision),
    stale_after: Duration,
    include_health: bool,
) -> pb::GetSessionResponse {
    pb::GetSessionResponse {
        session: Some(record::session(session, stale_after, include_health)),
        revision: resume_token::encode(seal, revision),
    }
}

fn told(seal: &Seal, changed: &Changed) -> (Option<pb::Session>, String) {
    let Changed {
        session,
        revision,
        stale_after,
    } = changed;
    (
        Some(record::session(session, *stale_after, false)),
        resume_token::encode(seal, revision),
    )
}

/// A span that is not negative and well formed.
fn span(duration: prost_types::Duration) -> Option<Duration> {
    let prost_types::Duration { seconds, nanos } = duration;
    let nanos = u32::try_from(nanos).ok().filter(|nanos| *nanos < 1_000_000_000)?;
    Some(Duration::new(u64::try_from(seconds).ok()?, nanos))
}

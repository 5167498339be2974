//! Pruning.

use std::time::Duration;

use compozy_domain::CatalogError;
use compozy_proto::workspace::v1 as pb;
use compozy_store::{Pruned, Written};

use super::workspace::record;
use crate::registry::PruneWanted;
use crate::resume_token;
use crate::seal::Seal;

/// A root that has been missing for less is no candidate: the observer looks once a minute.
const SHORTEST: Duration = Duration::from_secs(60);

/// Reads a request.
///
/// # Errors
/// [`CatalogError::InvalidField`] naming `missing_for`.
#[expect(clippy::needless_pass_by_value, reason = "every reader of a request takes it")]
pub fn wanted(request: pb::PruneWorkspacesRequest) -> Result<PruneWanted, CatalogError> {
    let pb::PruneWorkspacesRequest {
        missing_for,
        validate_only,
        request_id: _,
    } = request;
    match missing_for.and_then(span) {
        Some(missing_for) if missing_for >= SHORTEST => Ok(PruneWanted {
            missing_for,
            validate_only,
        }),
        _ => Err(CatalogError::invalid_field(
            "missing_for",
            "must be set to one minute or more",
        )),
    }
}

/// A span that is not negative and well formed.
fn span(duration: prost_types::Duration) -> Option<Duration> {
    let prost_types::Duration { seconds, nanos } = duration;
    let nanos = u32::try_from(nanos).ok().filter(|nanos| *nanos < 1_000_000_000)?;
    Some(Duration::new(u64::try_from(seconds).ok()?, nanos))
}

/// Makes the response.
#[must_use]
pub fn answer(seal: &Seal, written: &Written<Pruned>) -> pb::PruneWorkspacesResponse {
    let Written {
        value: Pruned { workspaces, has_more },
        revision,
    } = written;
    pb::PruneWorkspacesResponse {
        workspaces: workspaces
            .iter()
            .map(|workspace| record(workspace, None))
            .collect(),
        has_more: *has_more,
        revision: resume_token::encode(seal, revision),
    }
}

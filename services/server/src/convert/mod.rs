//! Between the wire and the domain. Requests are read at the edge and checked there; messages and records are
//! taken apart field by field, so that a new field does not compile until somebody decides about it.

pub mod change;
pub mod definition;
pub mod diagnostic;
pub mod directory;
mod fitted;
pub mod identity;
pub mod list;
mod mask;
pub mod mcp;
pub mod order;
pub mod page;
pub mod profile;
pub mod prune;
pub mod reference;
pub mod register;
pub mod relink;
pub mod remove;
pub mod request_id;
pub mod resolve;
pub mod session;
pub mod tree;
pub mod update;
pub mod workspace;

use compozy_domain::{CatalogError, Etag, Timestamp};

/// Bytes of an etag of a request at most.
const ETAG_BYTES_MAX: usize = 128;

/// The etag of a request; an empty one asks for no state.
fn etag(text: String) -> Result<Option<Etag>, CatalogError> {
    if text.is_empty() {
        return Ok(None);
    }
    if text.len() > ETAG_BYTES_MAX {
        return Err(CatalogError::invalid_field("etag", "must have at most 128 bytes"));
    }
    Ok(Some(Etag::from_stored(text)))
}

fn timestamp(at: Timestamp) -> prost_types::Timestamp {
    let (seconds, nanos) = at.parts();
    prost_types::Timestamp {
        seconds,
        nanos: i32::try_from(nanos).unwrap_or_default(),
    }
}

fn count(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

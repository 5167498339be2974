//! Revisions on the wire: a position of the change log as an opaque token, from which any watch can start.

use compozy_domain::{CatalogError, CursorFault, Revision};
use prost::Message as _;

use crate::seal::{Seal, TokenKind};

/// What the token carries.
#[derive(Clone, PartialEq, prost::Message)]
struct Payload {
    #[prost(string, tag = "1")]
    epoch: String,
    #[prost(int64, tag = "2")]
    position: i64,
}

/// The token of a revision.
#[must_use]
pub fn encode(seal: &Seal, revision: &Revision) -> String {
    let Revision { epoch, position } = revision;
    let payload = Payload {
        epoch: epoch.clone(),
        position: *position,
    };
    seal.seal(TokenKind::Revision, &payload.encode_to_vec())
}

/// The revision of a token. Whether its epoch is still the log's is for the reader of the log to see.
///
/// # Errors
/// As [`Seal::open`].
pub async fn decode(seal: &Seal, token: &str) -> Result<Revision, CatalogError> {
    let bytes = seal.open(TokenKind::Revision, token).await?;
    let Payload { epoch, position } =
        Payload::decode(bytes.as_slice()).map_err(|_| CatalogError::Cursor(CursorFault::Malformed))?;
    Ok(Revision { epoch, position })
}

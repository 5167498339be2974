//! Cursors of lists of sessions.
//!
//! Everything about them but the workspace is checked before storage is touched. The workspace is carried by its id,
//! because a request may name it otherwise: that is compared when the name has been looked up.

use compozy_domain::session::AttentionClass;
use compozy_domain::session::filter::{SessionPlace, SessionSort, SessionSortKey};
use compozy_domain::{
    CatalogError, CursorFault, Rank, Revision, SessionId, Timestamp, Visibility, WorkspaceId,
};
use prost::Message as _;

use super::{QueryHash, malformed, opened, visibility_hash};
use crate::seal::{Seal, TokenKind};

/// Where a walk over sessions stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionCursor {
    /// The last row seen.
    pub place: SessionPlace,
    /// The workspace of the walk.
    pub workspace: Option<WorkspaceId>,
    /// The walk's first instant, by the catalog's clock.
    pub at: Timestamp,
    /// Total of the walk and the revision at which it was counted, if it was counted for the same eyes.
    pub counted: Option<(Revision, u64)>,
}

impl SessionCursor {
    /// Checks that it is of a walk over this workspace, or over no particular one.
    ///
    /// # Errors
    /// [`CursorFault::OtherQuery`].
    pub fn check_workspace(&self, workspace: Option<&WorkspaceId>) -> Result<(), CatalogError> {
        if self.workspace.as_ref() == workspace {
            return Ok(());
        }
        Err(CatalogError::Cursor(CursorFault::OtherQuery))
    }
}

#[derive(Clone, PartialEq, prost::Message)]
struct Payload {
    #[prost(bytes = "vec", tag = "1")]
    query: Vec<u8>,
    #[prost(bytes = "vec", tag = "2")]
    visibility: Vec<u8>,
    #[prost(uint64, tag = "3")]
    total: u64,
    #[prost(string, tag = "4")]
    epoch: String,
    #[prost(int64, tag = "5")]
    position: i64,
    #[prost(string, tag = "6")]
    workspace: String,
    #[prost(sint64, tag = "7")]
    at: i64,
    #[prost(string, tag = "8")]
    id: String,
    #[prost(bytes = "vec", optional, tag = "9")]
    rank: Option<Vec<u8>>,
    #[prost(int64, optional, tag = "10")]
    class: Option<i64>,
    /// The first time of the sort key.
    #[prost(sint64, tag = "11")]
    time: i64,
    /// The second one.
    #[prost(sint64, tag = "12")]
    created_at: i64,
}

/// Makes the cursor of a page for some eyes.
#[must_use]
pub fn encode(seal: &Seal, query: QueryHash, visibility: &Visibility, cursor: &SessionCursor) -> String {
    let SessionCursor {
        place: SessionPlace { key, id },
        workspace,
        at,
        counted,
    } = cursor;
    let mut payload = Payload {
        query: query.bytes().to_vec(),
        visibility: visibility_hash(visibility),
        workspace: workspace.as_ref().map(WorkspaceId::to_string).unwrap_or_default(),
        at: at.nanos(),
        id: id.to_string(),
        ..Payload::default()
    };
    if let Some((Revision { epoch, position }, total)) = counted {
        epoch.clone_into(&mut payload.epoch);
        (payload.position, payload.total) = (*position, *total);
    }
    match key {
        SessionSortKey::Times(time, created_at) => {
            (payload.time, payload.created_at) = (time.nanos(), created_at.nanos());
        }
        SessionSortKey::Rank(rank) => payload.rank = Some(rank.as_bytes().to_vec()),
        SessionSortKey::Attention(class, time) => {
            (payload.class, payload.time) = (Some(class.number()), time.nanos());
        }
    }
    seal.seal(TokenKind::Cursor, &payload.encode_to_vec())
}

/// Reads the cursor of a request. The total that was counted for other eyes is left out.
///
/// # Errors
/// As [`Seal::open`], and [`CursorFault::OtherQuery`].
pub async fn decode(
    seal: &Seal,
    query: QueryHash,
    sort: SessionSort,
    visibility: &Visibility,
    token: &str,
) -> Result<SessionCursor, CatalogError> {
    let bytes = opened(seal, query, token).await?;
    let payload = Payload::decode(bytes.as_slice()).map_err(|_| malformed())?;
    let same_eyes = payload.visibility == visibility_hash(visibility);
    let mut cursor = payload.into_cursor(sort).ok_or_else(malformed)?;
    cursor.counted = cursor.counted.filter(|_| same_eyes);
    Ok(cursor)
}

impl Payload {
    fn into_cursor(self, sort: SessionSort) -> Option<SessionCursor> {
        let Self {
            query: _,
            visibility: _,
            total,
            epoch,
            position,
            workspace,
            at,
            id,
            rank,
            class,
            time,
            created_at,
        } = self;
        let time = Timestamp::from_nanos(time);
        let key = match sort {
            SessionSort::Recent | SessionSort::LastActivity => {
                SessionSortKey::Times(time, Timestamp::from_nanos(created_at))
            }
            SessionSort::Manual => SessionSortKey::Rank(Rank::from_stored(rank?)),
            SessionSort::Attention => SessionSortKey::Attention(AttentionClass::of_number(class?)?, time),
        };
        Some(SessionCursor {
            // A row that this release does not understand may have any id; it was sealed by this catalog.
            place: SessionPlace {
                key,
                id: SessionId::from_stored(id),
            },
            workspace: (!workspace.is_empty()).then(|| WorkspaceId::from_stored(workspace)),
            at: Timestamp::from_nanos(at),
            counted: Some((Revision { epoch, position }, total)),
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const SORTS: [SessionSort; 4] = [
        SessionSort::Recent,
        SessionSort::LastActivity,
        SessionSort::Manual,
        SessionSort::Attention,
    ];

    proptest! {
        #[test]
        fn any_payload_is_read_without_a_panic(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
            for sort in SORTS {
                let read = Payload::decode(bytes.as_slice()).ok();
                let _cursor = read.and_then(|payload| payload.into_cursor(sort));
            }
        }
    }
}

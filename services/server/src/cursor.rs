//! Cursors of lists: the sort key of the last row by value, bound to the query that it belongs to. Deleting or
//! changing that row between two pages is harmless. Those of sessions are in [`session`].

pub mod session;

use compozy_domain::workspace::{WorkspacePlace, WorkspaceSortKey};
use compozy_domain::{CatalogError, CursorFault, Rank, Revision, Timestamp, Visibility, WorkspaceId, limits};
use prost::Message as _;
use sha2::{Digest, Sha256};

use crate::seal::{Seal, TokenKind};

/// What a cursor is bound to: the method, its order and those of its filters that are not default, so that a
/// new filter field breaks no cursor of an older release.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct QueryHash([u8; 32]);

impl QueryHash {
    /// The hash of a query. `request` is the request without limit, cursor and what only adds to the rows.
    #[must_use]
    pub fn of(method: &str, request: &impl prost::Message) -> Self {
        let mut hash = Sha256::new();
        hash.update(method.as_bytes());
        hash.update([0]);
        hash.update(request.encode_to_vec());
        Self(hash.finalize().into())
    }

    /// The bytes of the hash.
    #[must_use]
    pub const fn bytes(self) -> [u8; 32] {
        self.0
    }
}

/// Where a walk over workspaces stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkspaceCursor {
    /// The last row seen.
    pub place: WorkspacePlace,
    /// Whether the root in `place` was too long for a cursor and had to be cut. The row's own root, if the row is
    /// still at its place, is to be taken instead.
    pub root_cut: bool,
    /// Total of the walk and the revision at which it was counted, if it was counted for the same eyes.
    pub counted: Option<(Revision, u64)>,
}

/// What the payload of every cursor begins with, whatever list it is of.
#[derive(Clone, PartialEq, prost::Message)]
struct Bound {
    #[prost(bytes = "vec", tag = "1")]
    query: Vec<u8>,
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
    #[prost(bytes = "vec", optional, tag = "6")]
    rank: Option<Vec<u8>>,
    #[prost(string, optional, tag = "7")]
    name: Option<String>,
    #[prost(sint64, optional, tag = "8")]
    time: Option<i64>,
    #[prost(string, tag = "9")]
    id: String,
    #[prost(string, tag = "10")]
    root_dir: String,
    #[prost(bool, tag = "11")]
    root_cut: bool,
}

/// Makes the cursor of a page that ends at a place, counted at a revision for some eyes.
#[must_use]
pub fn encode(
    seal: &Seal,
    query: QueryHash,
    visibility: &Visibility,
    place: &WorkspacePlace,
    (revision, total): (&Revision, u64),
) -> String {
    let (rank, name, time) = match &place.key {
        WorkspaceSortKey::Rank(rank) => (Some(rank.as_bytes().to_vec()), None, None),
        WorkspaceSortKey::Name(key) => (None, Some(key.clone()), None),
        WorkspaceSortKey::Time(time) => (None, None, Some(time.nanos())),
    };
    let mut payload = Payload {
        query: query.0.to_vec(),
        visibility: visibility_hash(visibility),
        total,
        epoch: revision.epoch.clone(),
        position: revision.position,
        rank,
        name,
        time,
        id: place.id.to_string(),
        root_dir: place.root_dir.clone(),
        root_cut: false,
    };
    let token = seal.seal(TokenKind::Cursor, &payload.encode_to_vec());
    if token.len() <= limits::TOKEN_BYTES_MAX {
        return token;
    }
    cut_root(&mut payload, token.len() - limits::TOKEN_BYTES_MAX);
    seal.seal(TokenKind::Cursor, &payload.encode_to_vec())
}

/// Reads the cursor of a request. The total that was counted for other eyes is left out.
///
/// # Errors
/// As [`Seal::open`], and [`CursorFault::OtherQuery`].
pub async fn decode(
    seal: &Seal,
    query: QueryHash,
    visibility: &Visibility,
    token: &str,
) -> Result<WorkspaceCursor, CatalogError> {
    let bytes = opened(seal, query, token).await?;
    let payload = Payload::decode(bytes.as_slice()).map_err(|_| malformed())?;
    let same_eyes = payload.visibility == visibility_hash(visibility);
    let mut cursor = payload.into_cursor().ok_or_else(malformed)?;
    cursor.counted = cursor.counted.filter(|_| same_eyes);
    Ok(cursor)
}

/// Makes the cursor of a list in the order of names, which everybody sees alike.
#[must_use]
pub fn encode_name(seal: &Seal, query: QueryHash, name: &str, (revision, total): (&Revision, u64)) -> String {
    let payload = Payload {
        query: query.0.to_vec(),
        total,
        epoch: revision.epoch.clone(),
        position: revision.position,
        name: Some(name.to_owned()),
        ..Payload::default()
    };
    seal.seal(TokenKind::Cursor, &payload.encode_to_vec())
}

/// Reads the cursor of such a list: the last name, and the total with the revision at which it was counted.
///
/// # Errors
/// As [`Seal::open`], and [`CursorFault::OtherQuery`].
pub async fn decode_name(
    seal: &Seal,
    query: QueryHash,
    token: &str,
) -> Result<(String, Option<(Revision, u64)>), CatalogError> {
    let bytes = opened(seal, query, token).await?;
    let payload = Payload::decode(bytes.as_slice()).map_err(|_| malformed())?;
    let revision = Revision {
        epoch: payload.epoch,
        position: payload.position,
    };
    let name = payload.name.ok_or_else(malformed)?;
    Ok((name, Some((revision, payload.total))))
}

/// The payload of a cursor of this query. Nothing but the query is looked at: the rest differs from list to list.
async fn opened(seal: &Seal, query: QueryHash, token: &str) -> Result<Vec<u8>, CatalogError> {
    let bytes = seal.open(TokenKind::Cursor, token).await?;
    let bound = Bound::decode(bytes.as_slice()).map_err(|_| malformed())?;
    if bound.query != query.0 {
        return Err(CatalogError::Cursor(CursorFault::OtherQuery));
    }
    Ok(bytes)
}

const fn malformed() -> CatalogError {
    CatalogError::Cursor(CursorFault::Malformed)
}

impl Payload {
    fn into_cursor(self) -> Option<WorkspaceCursor> {
        let Self {
            query: _,
            visibility: _,
            total,
            epoch,
            position,
            rank,
            name,
            time,
            id,
            root_dir,
            root_cut,
        } = self;
        let key = match (rank, name, time) {
            (Some(rank), None, None) => WorkspaceSortKey::Rank(Rank::from_stored(rank)),
            (None, Some(name), None) => WorkspaceSortKey::Name(name),
            (None, None, Some(time)) => WorkspaceSortKey::Time(Timestamp::from_nanos(time)),
            _ => return None,
        };
        // A row that this release does not understand may have any id; it was sealed by this catalog.
        let id = WorkspaceId::from_stored(id);
        Some(WorkspaceCursor {
            place: WorkspacePlace { key, root_dir, id },
            root_cut,
            counted: Some((Revision { epoch, position }, total)),
        })
    }
}

/// Cuts the root so that the token gets shorter by `excess` characters. What is left ends in the greatest
/// character, so that the place lies behind the row that it was made of, never before it.
fn cut_root(payload: &mut Payload, excess: usize) {
    const GREATEST: char = char::MAX;
    const FIELD_GROWTH: usize = 4;
    let keep = payload
        .root_dir
        .len()
        .saturating_sub(excess + GREATEST.len_utf8() + FIELD_GROWTH);
    let keep = (0..=keep)
        .rev()
        .find(|at| payload.root_dir.is_char_boundary(*at))
        .unwrap_or(0);
    payload.root_dir.truncate(keep);
    payload.root_dir.push(GREATEST);
    payload.root_cut = true;
}

/// Enough of a hash to tell one set of visible workspaces from another.
fn visibility_hash(visibility: &Visibility) -> Vec<u8> {
    match visibility {
        Visibility::All => Vec::new(),
        Visibility::Only(ids) => {
            let mut ids: Vec<&str> = ids.iter().map(WorkspaceId::as_str).collect();
            ids.sort_unstable();
            ids.dedup();
            Sha256::digest(ids.join(",").as_bytes())[..16].to_vec()
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn payload(root_dir: String) -> Payload {
        Payload {
            id: "ws_0123456789abcdef".into(),
            time: Some(1),
            root_dir,
            ..Payload::default()
        }
    }

    #[test]
    fn a_place_that_was_cut_lies_behind_its_row() {
        for root in ["/a/b/c".repeat(100), "/é".repeat(300)] {
            let mut cut = payload(root.clone());
            cut_root(&mut cut, 100);
            assert!(cut.root_cut && cut.root_dir > root);
            assert!(cut.encode_to_vec().len() + 100 <= payload(root).encode_to_vec().len() + 4);
        }
        let mut short = payload("/a".into());
        cut_root(&mut short, 1_000);
        assert_eq!(short.root_dir, char::MAX.to_string());
    }

    #[test]
    fn w213_the_hash_is_of_method_and_request() {
        let request = |name: &str| payload(name.to_owned());
        assert_eq!(
            QueryHash::of("a", &request("x")),
            QueryHash::of("a", &request("x"))
        );
        assert_ne!(
            QueryHash::of("a", &request("x")),
            QueryHash::of("b", &request("x"))
        );
        assert_ne!(
            QueryHash::of("a", &request("x")),
            QueryHash::of("a", &request("y"))
        );
    }

    #[test]
    fn eyes_are_told_apart_by_what_they_see() {
        let only = |ids: &[&str]| {
            Visibility::Only(
                ids.iter()
                    .map(|id| WorkspaceId::from_stored((*id).into()))
                    .collect(),
            )
        };
        assert_eq!(
            visibility_hash(&only(&["b", "a", "a"])),
            visibility_hash(&only(&["a", "b"]))
        );
        assert_ne!(
            visibility_hash(&only(&["a"])),
            visibility_hash(&only(&["a", "b"]))
        );
        assert_ne!(visibility_hash(&only(&[])), visibility_hash(&Visibility::All));
    }

    proptest! {
        #[test]
        fn any_payload_is_read_without_a_panic(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
            let _cursor = Payload::decode(bytes.as_slice()).ok().and_then(Payload::into_cursor);
        }
    }
}

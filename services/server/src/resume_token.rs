//! Positions of the change log on the wire, as opaque tokens. A *revision* comes with pages and answers and starts any
//! watch. The token of a watch is bound to its filters: resumed under others it would promise what it can't hold.

use std::sync::Arc;

use compozy_domain::{CatalogError, CursorFault, Revision};
use prost::Message as _;

use crate::cursor::QueryHash;
use crate::seal::{Seal, TokenKind};

/// The filters that a token is bound to: the beginning of a hash over those that are not default, so that a new
/// filter field breaks no token of an older release.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Binding([u8; 16]);

impl Binding {
    /// The binding of a watch. `request` is the request with nothing but its filters, in their normal form.
    #[must_use]
    pub fn of(method: &str, request: &impl prost::Message) -> Self {
        let hash = QueryHash::of(method, request).bytes();
        let mut bytes = [0; 16];
        bytes.copy_from_slice(&hash[..16]);
        Self(bytes)
    }
}

/// A token that was opened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResumeToken {
    /// Where it stands.
    pub revision: Revision,
    /// What it is bound to; `None` for the revision of a page or answer.
    pub binding: Option<Binding>,
}

/// What a token carries.
#[derive(Clone, PartialEq, prost::Message)]
struct Payload {
    #[prost(string, tag = "1")]
    epoch: String,
    #[prost(int64, tag = "2")]
    position: i64,
    #[prost(bytes = "vec", tag = "3")]
    binding: Vec<u8>,
}

/// The token of a revision.
#[must_use]
pub fn encode(seal: &Seal, revision: &Revision) -> String {
    let Revision { epoch, position } = revision;
    let payload = Payload {
        epoch: epoch.clone(),
        position: *position,
        binding: Vec::new(),
    };
    seal.seal(TokenKind::Revision, &payload.encode_to_vec())
}

/// Opens a revision or the token of a watch. Whether its epoch is still the log's is for the reader of the log to see.
///
/// # Errors
/// As [`Seal::open`].
pub async fn decode(seal: &Seal, token: &str) -> Result<ResumeToken, CatalogError> {
    let kinds = [TokenKind::Revision, TokenKind::Watch];
    let (kind, bytes) = seal.open_any(&kinds, token).await?;
    let malformed = || CatalogError::Cursor(CursorFault::Malformed);
    let payload = Payload::decode(bytes.as_slice()).map_err(|_| malformed())?;
    let Payload {
        epoch,
        position,
        binding,
    } = payload;
    let binding = match kind {
        TokenKind::Watch => Some(Binding(binding.try_into().map_err(|_| malformed())?)),
        TokenKind::Revision | TokenKind::Cursor => None,
    };
    Ok(ResumeToken {
        revision: Revision { epoch, position },
        binding,
    })
}

/// Makes the tokens of one watch.
#[derive(Debug)]
pub struct WatchTokens {
    seal: Arc<Seal>,
    payload: Payload,
}

impl WatchTokens {
    /// Tokens of an epoch, bound to filters.
    #[must_use]
    pub fn new(seal: Arc<Seal>, epoch: &str, binding: Binding) -> Self {
        let payload = Payload {
            epoch: epoch.to_owned(),
            position: 0,
            binding: binding.0.to_vec(),
        };
        Self { seal, payload }
    }

    /// The token of a position.
    #[must_use]
    pub fn at(&mut self, position: i64) -> String {
        self.payload.position = position;
        self.seal.seal(TokenKind::Watch, &self.payload.encode_to_vec())
    }

    /// The number of the key that tokens are sealed with now, or of one before it.
    #[must_use]
    pub fn key_number(&self) -> i64 {
        self.seal.newest_number()
    }

    /// From now on, tokens of another epoch.
    pub fn begin_epoch(&mut self, epoch: &str) {
        epoch.clone_into(&mut self.payload.epoch);
    }
}

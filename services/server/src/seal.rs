//! Opaque tokens: cursors and revisions that a caller carries for the catalog. A token is authenticated with
//! a key of the catalog, so that replicas and restored backups take each other's, and an edited one is told
//! from a valid one. It carries no authority: what it leads to is authorised anew.
//!
//! Layout before base64: version, length of the catalog id, catalog id, key number (8 bytes), kind, payload,
//! HMAC-SHA256 over all of that (32 bytes).

use std::sync::{Arc, PoisonError, RwLock};
use std::time::{Duration, Instant};

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use compozy_domain::{CatalogError, CatalogId, CursorFault, limits};
use compozy_store::{CatalogKey, Store};
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;
use tokio::sync::Mutex;
use tokio_util::sync::CancellationToken;

const VERSION: u8 = 1;
const TAG_BYTES: usize = 32;
const NUMBER_BYTES: usize = 8;
/// Numbers above the newest key that is known are looked up at most this often, whatever callers send.
const LOOKUP_PAUSE: Duration = Duration::from_secs(1);
/// How often the keys are read again.
const REFRESH_PERIOD: Duration = Duration::from_millis(500);
/// Within this time every process that serves the catalog knows of a new key, and so which one is retired.
pub const NOTICED_WITHIN: Duration = Duration::from_secs(1);

/// What a token is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TokenKind {
    /// The place where a page of a list ended.
    Cursor,
    /// A position of the change log.
    Revision,
    /// A position of the change log, bound to the filters of a watch.
    Watch,
}

impl TokenKind {
    const fn byte(self) -> u8 {
        match self {
            Self::Cursor => 1,
            Self::Revision => 2,
            Self::Watch => 3,
        }
    }
}

/// Makes and opens tokens. Holds the catalog's keys in memory.
#[derive(Debug)]
pub struct Seal {
    store: Arc<dyn Store>,
    catalog_id: CatalogId,
    keys: RwLock<Keys>,
    last_lookup: Mutex<Option<Instant>>,
}

/// The valid keys.
#[derive(Debug)]
struct Keys {
    newest: Key,
    older: Vec<Key>,
}

/// A key, taken in once: a stream seals a token for every change.
#[derive(Debug, Clone)]
struct Key {
    number: i64,
    mac: Hmac<Sha256>,
}

impl Seal {
    /// Reads the keys of the catalog.
    ///
    /// # Errors
    /// [`CatalogError`] when the store can't be read, or holds no key.
    pub async fn load(store: Arc<dyn Store>) -> Result<Self, CatalogError> {
        let keys = Keys::of(store.keys().await?)?;
        Ok(Self {
            catalog_id: store.catalog_id().clone(),
            keys: RwLock::new(keys),
            last_lookup: Mutex::new(None),
            store,
        })
    }

    /// Reads the keys again, so that a retired one stops being valid here.
    ///
    /// # Errors
    /// As [`Seal::load`]; the keys in memory stay then.
    pub async fn refresh(&self) -> Result<(), CatalogError> {
        let keys = Keys::of(self.store.keys().await?)?;
        *self.keys.write().unwrap_or_else(PoisonError::into_inner) = keys;
        Ok(())
    }

    /// Reads the keys again and again, until it is told to stop.
    pub async fn keep_fresh(self: Arc<Self>, stop: CancellationToken) {
        loop {
            tokio::select! {
                () = stop.cancelled() => return,
                () = tokio::time::sleep(REFRESH_PERIOD) => {}
            }
            // Health tells when the store is away.
            if let Err(error) = self.refresh().await {
                tracing::debug!(%error, "the keys could not be read again");
            }
        }
    }

    /// Makes a token, sealed with the newest key.
    #[must_use]
    pub fn seal(&self, kind: TokenKind, payload: &[u8]) -> String {
        let keys = self.keys.read().unwrap_or_else(PoisonError::into_inner);
        let catalog = self.catalog_id.as_str().as_bytes();
        let mut token = Vec::with_capacity(2 + catalog.len() + NUMBER_BYTES + 1 + payload.len() + TAG_BYTES);
        token.push(VERSION);
        token.push(u8::try_from(catalog.len()).expect("a catalog id is a ULID of 26 bytes"));
        token.extend_from_slice(catalog);
        token.extend_from_slice(&keys.newest.number.to_be_bytes());
        token.push(kind.byte());
        token.extend_from_slice(payload);
        let tag = mac(&keys.newest, &token).finalize().into_bytes();
        token.extend_from_slice(&tag);
        URL_SAFE_NO_PAD.encode(token)
    }

    /// Opens a token and answers its payload. Storage is asked only for a key that is not known yet.
    ///
    /// # Errors
    /// [`CatalogError::Cursor`] with the fault, in this order: size, form, catalog, key, tag, kind. Whatever the
    /// store answers when it has to be asked for a key and can't be reached.
    pub async fn open(&self, kind: TokenKind, token: &str) -> Result<Vec<u8>, CatalogError> {
        let (_, payload) = self.open_any(&[kind], token).await?;
        Ok(payload)
    }

    /// Opens a token of one of several kinds, and says of which one it is.
    ///
    /// # Errors
    /// As [`Self::open`].
    pub async fn open_any(
        &self,
        kinds: &[TokenKind],
        token: &str,
    ) -> Result<(TokenKind, Vec<u8>), CatalogError> {
        if token.len() > limits::TOKEN_BYTES_MAX {
            return Err(CatalogError::Cursor(CursorFault::TooLarge));
        }
        let bytes = URL_SAFE_NO_PAD.decode(token).map_err(|_| malformed())?;
        let parts = Parts::read(&bytes).ok_or_else(malformed)?;
        if parts.catalog != self.catalog_id.as_str().as_bytes() {
            return Err(CatalogError::Cursor(CursorFault::OtherCatalog));
        }
        let key = self.key(parts.key_number).await?;
        mac(&key, parts.sealed)
            .verify_slice(parts.tag)
            .map_err(|_| malformed())?;
        let kind = kinds.iter().copied().find(|kind| kind.byte() == parts.kind);
        let kind = kind.ok_or(CatalogError::Cursor(CursorFault::OtherQuery))?;
        Ok((kind, parts.payload.to_vec()))
    }

    async fn key(&self, number: i64) -> Result<Key, CatalogError> {
        if let Some(key) = self.known_key(number) {
            return Ok(key);
        }
        let retired = CatalogError::Cursor(CursorFault::KeyRetired);
        // Numbers grow, so one below the known keys can't come back; one above them may be news.
        if number < self.newest_number() {
            return Err(retired);
        }
        let mut last_lookup = self.last_lookup.lock().await;
        if self.known_key(number).is_none() && last_lookup.is_none_or(|last| last.elapsed() >= LOOKUP_PAUSE) {
            self.refresh().await?;
            *last_lookup = Some(Instant::now());
        }
        self.known_key(number).ok_or(retired)
    }

    fn known_key(&self, number: i64) -> Option<Key> {
        let keys = self.keys.read().unwrap_or_else(PoisonError::into_inner);
        std::iter::once(&keys.newest)
            .chain(&keys.older)
            .find(|key| key.number == number)
            .cloned()
    }

    /// The number of the newest key that is known here.
    #[must_use]
    pub fn newest_number(&self) -> i64 {
        self.keys
            .read()
            .unwrap_or_else(PoisonError::into_inner)
            .newest
            .number
    }
}

impl Keys {
    fn of(keys: Vec<CatalogKey>) -> Result<Self, CatalogError> {
        let mut keys = keys.into_iter().map(Key::of);
        let newest = keys.next().ok_or_else(|| CatalogError::Defect {
            detail: "the catalog has no key, although its first migration makes one".to_owned(),
        })?;
        Ok(Self {
            newest,
            older: keys.collect(),
        })
    }
}

/// A token taken apart, nothing of it verified.
struct Parts<'a> {
    catalog: &'a [u8],
    key_number: i64,
    kind: u8,
    payload: &'a [u8],
    sealed: &'a [u8],
    tag: &'a [u8],
}

impl<'a> Parts<'a> {
    fn read(bytes: &'a [u8]) -> Option<Self> {
        let (sealed, tag) = bytes.split_at_checked(bytes.len().checked_sub(TAG_BYTES)?)?;
        let (version, rest) = sealed.split_first()?;
        if *version != VERSION {
            return None;
        }
        let (length, rest) = rest.split_first()?;
        let (catalog, rest) = rest.split_at_checked(usize::from(*length))?;
        let (number, rest) = rest.split_first_chunk::<NUMBER_BYTES>()?;
        let (kind, payload) = rest.split_first()?;
        Some(Self {
            catalog,
            key_number: i64::from_be_bytes(*number),
            kind: *kind,
            payload,
            sealed,
            tag,
        })
    }
}

impl Key {
    fn of(key: CatalogKey) -> Self {
        let CatalogKey { number, bytes } = key;
        let mac = Hmac::new_from_slice(&bytes).expect("HMAC takes a key of any length");
        Self { number, mac }
    }
}

fn mac(key: &Key, message: &[u8]) -> Hmac<Sha256> {
    key.mac.clone().chain_update(message)
}

const fn malformed() -> CatalogError {
    CatalogError::Cursor(CursorFault::Malformed)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use std::collections::BTreeSet;

    use compozy_store::{CatalogStore as _, SqlStore};
    use proptest::prelude::*;

    use super::*;
    use crate::random::SystemRandom;

    async fn seal() -> (Arc<SqlStore>, Seal) {
        let options = compozy_store::OpenOptions {
            address: compozy_store::StoreAddress::SqliteMemory,
            access: compozy_store::Access::Serve,
            durability: compozy_store::Durability::Normal,
            binary: "0.1.0",
            now: compozy_domain::Timestamp::from_nanos(1),
            random: &SystemRandom,
        };
        let store = Arc::new(SqlStore::open(options).await.unwrap());
        let seal = Seal::load(Arc::clone(&store) as Arc<dyn Store>).await.unwrap();
        (store, seal)
    }

    fn fault(outcome: Result<Vec<u8>, CatalogError>) -> CursorFault {
        match outcome.unwrap_err() {
            CatalogError::Cursor(fault) => fault,
            other => panic!("{other:?}"),
        }
    }

    #[tokio::test]
    async fn a_token_opens_to_what_was_sealed() {
        let (_, seal) = seal().await;
        for payload in [&b""[..], b"x", &[0; 500]] {
            let token = seal.seal(TokenKind::Cursor, payload);
            assert!(
                token
                    .bytes()
                    .all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_'))
            );
            assert_eq!(seal.open(TokenKind::Cursor, &token).await.unwrap(), payload);
            let other_kind = seal.open(TokenKind::Revision, &token).await;
            assert_eq!(fault(other_kind), CursorFault::OtherQuery);
        }
    }

    #[tokio::test]
    async fn w214_every_edited_byte_is_noticed() {
        let (_, seal) = seal().await;
        let token = seal.seal(TokenKind::Cursor, b"payload");
        let bytes = URL_SAFE_NO_PAD.decode(&token).unwrap();
        let mut faults = BTreeSet::new();
        for at in 0..bytes.len() {
            let mut edited = bytes.clone();
            edited[at] ^= 1;
            let token = URL_SAFE_NO_PAD.encode(edited);
            faults.insert(fault(seal.open(TokenKind::Cursor, &token).await).as_str());
        }
        assert!(faults.contains("malformed"), "{faults:?}");
        let long = "A".repeat(limits::TOKEN_BYTES_MAX + 1);
        assert_eq!(
            fault(seal.open(TokenKind::Cursor, &long).await),
            CursorFault::TooLarge
        );
    }

    #[tokio::test]
    async fn w216_another_catalog_is_told_before_anything_else() {
        let ((_, one), (_, two)) = (seal().await, seal().await);
        let token = one.seal(TokenKind::Revision, b"");
        assert_eq!(
            fault(two.open(TokenKind::Cursor, &token).await),
            CursorFault::OtherCatalog
        );
    }

    #[tokio::test]
    async fn w215_a_known_key_needs_no_storage() {
        let (store, seal) = seal().await;
        let token = seal.seal(TokenKind::Cursor, b"payload");
        store.close().await;
        assert_eq!(seal.open(TokenKind::Cursor, &token).await.unwrap(), b"payload");
    }

    #[tokio::test]
    async fn w323_the_two_newest_keys_are_valid() {
        let (store, seal) = seal().await;
        let replica = Seal::load(Arc::clone(&store) as Arc<dyn Store>).await.unwrap();
        let token = seal.seal(TokenKind::Cursor, b"payload");
        let now = compozy_domain::Timestamp::from_nanos(2);
        store.rotate_key([1; 32], now).await.unwrap();
        seal.refresh().await.unwrap();
        assert!(seal.open(TokenKind::Cursor, &token).await.is_ok());
        // A replica that has not heard of the new key looks it up.
        let newer = seal.seal(TokenKind::Cursor, b"newer");
        assert_eq!(replica.open(TokenKind::Cursor, &newer).await.unwrap(), b"newer");
        store.rotate_key([2; 32], now).await.unwrap();
        seal.refresh().await.unwrap();
        assert_eq!(
            fault(seal.open(TokenKind::Cursor, &token).await),
            CursorFault::KeyRetired
        );
    }

    proptest! {
        #[test]
        fn any_bytes_are_taken_apart_without_a_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            if let Some(parts) = Parts::read(&bytes) {
                prop_assert_eq!(parts.sealed.len() + parts.tag.len(), bytes.len());
            }
        }
    }
}

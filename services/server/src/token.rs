//! Who a TCP caller is: the local token of the home, the tokens and certificates of `auth.tokens_file`. Tokens
//! are kept as SHA-256 hashes and compared in constant time; a changed file counts within a second.

mod file;
mod local;

use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock};

use compozy_domain::{CatalogError, Clock, Principal, Random, Scope, Timestamp, Visibility};
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;

use crate::failure::Failure;
use crate::home::Home;
use crate::watched::Watched;

pub use self::local::{LOCAL_TOKEN_ID, ensure_local_token};

/// A SHA-256 hash.
pub type TokenHash = [u8; 32];

/// The hash of a token.
#[must_use]
pub fn hash(token: &str) -> TokenHash {
    Sha256::digest(token.as_bytes()).into()
}

/// What a token or a certificate is good for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Grant {
    id: String,
    scopes: Vec<Scope>,
    visibility: Visibility,
    expires_at: Option<Timestamp>,
}

/// Everything that opens the door, at one time.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Entries {
    tokens: Vec<(TokenHash, Grant)>,
    certificates: Vec<(String, Grant)>,
}

/// Turns tokens and certificates into principals.
#[derive(Debug)]
pub struct Tokens {
    local: PathBuf,
    shared: Option<PathBuf>,
    entries: RwLock<Arc<Entries>>,
    watched: Watched,
    clock: Arc<dyn Clock>,
}

impl Tokens {
    /// Reads the home's token, which is made if it is missing, and the tokens file.
    ///
    /// # Errors
    /// A failure that names the file.
    pub fn load(
        home: &Home,
        shared: Option<&Path>,
        clock: Arc<dyn Clock>,
        random: &dyn Random,
    ) -> Result<Self, Failure> {
        ensure_local_token(home, random)?;
        Self::look(home, shared, clock)
    }

    /// Reads what is there and makes nothing.
    ///
    /// # Errors
    /// A failure that names the file.
    pub fn look(home: &Home, shared: Option<&Path>, clock: Arc<dyn Clock>) -> Result<Self, Failure> {
        let local = home.token_path();
        let watched = Watched::begin(
            std::iter::once(local.as_path())
                .chain(shared)
                .map(Path::to_owned)
                .collect(),
        );
        let entries = read(&local, shared)?;
        let entries = RwLock::new(Arc::new(entries));
        Ok(Self {
            local,
            shared: shared.map(Path::to_owned),
            entries,
            watched,
            clock,
        })
    }

    /// How many tokens and certificates are known.
    #[must_use]
    pub fn count(&self) -> usize {
        let entries = self.current();
        entries.tokens.len() + entries.certificates.len()
    }

    /// The caller who showed this token.
    ///
    /// # Errors
    /// [`CatalogError::TokenInvalid`] for an unknown or expired one.
    pub fn by_token(&self, token: &str) -> Result<Principal, CatalogError> {
        self.by_hash(&hash(token))
    }

    /// The caller who showed a token with this hash.
    ///
    /// # Errors
    /// [`CatalogError::TokenInvalid`] for an unknown or expired one.
    pub fn by_hash(&self, shown: &TokenHash) -> Result<Principal, CatalogError> {
        let entries = self.current();
        let mut found = None;
        // Every hash is compared, so that the time tells nothing about which one came close.
        for (known, grant) in &entries.tokens {
            if bool::from(known.ct_eq(shown)) {
                found = Some(grant);
            }
        }
        found
            .and_then(|grant| self.principal(grant))
            .ok_or(CatalogError::TokenInvalid)
    }

    /// The caller who showed a certificate with these names, if one of them is known.
    #[must_use]
    pub fn by_certificate(&self, names: &[String]) -> Option<Principal> {
        let entries = self.current();
        let known = entries.certificates.iter().find(|(name, _)| names.contains(name));
        known.and_then(|(_, grant)| self.principal(grant))
    }

    fn principal(&self, grant: &Grant) -> Option<Principal> {
        if grant.expires_at.is_some_and(|at| self.clock.now() >= at) {
            return None;
        }
        let Grant {
            id,
            scopes,
            visibility,
            expires_at: _,
        } = grant.clone();
        Some(Principal {
            id,
            scopes,
            visibility,
            local: false,
        })
    }

    /// The entries as the files have them now. A file that got broken leaves the last good ones in force.
    fn current(&self) -> Arc<Entries> {
        if self.watched.changed() {
            match read(&self.local, self.shared.as_deref()) {
                Ok(entries) => {
                    *self.entries.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(entries);
                    tracing::info!("tokens were read again");
                }
                Err(failure) => tracing::error!(%failure, "changed tokens can't be used, the old ones go on"),
            }
        }
        Arc::clone(&self.entries.read().unwrap_or_else(PoisonError::into_inner))
    }
}

fn read(local: &Path, shared: Option<&Path>) -> Result<Entries, Failure> {
    let mut entries = shared.map(file::read).transpose()?.unwrap_or_default();
    let local = local::read(local)?;
    if let Some(token) = local {
        entries.tokens.push((hash(&token), local::grant()));
    }
    Ok(entries)
}

#[cfg(test)]
mod tests;

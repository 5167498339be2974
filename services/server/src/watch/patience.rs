//! How long a watch waits for the store. A stream that says nothing is worse than one that ends: its client had better
//! ask elsewhere.

use std::time::Duration;

use compozy_domain::CatalogError;

/// For one question to the store.
pub(super) const PATIENCE: Duration = Duration::from_secs(10);
/// Without a look at the log for so long, "nothing new" would be a guess: watches end.
pub(super) const BLIND: Duration = Duration::from_secs(15);

/// Waits for the store, not for ever.
pub(super) async fn patiently<T, E>(work: impl Future<Output = Result<T, E>>) -> Result<T, CatalogError>
where
    CatalogError: From<E>,
{
    match tokio::time::timeout(PATIENCE, work).await {
        Ok(outcome) => outcome.map_err(CatalogError::from),
        Err(_) => Err(unavailable()),
    }
}

/// The store does not answer.
pub(super) const fn unavailable() -> CatalogError {
    CatalogError::StoreUnavailable {
        outcome_unknown: false,
    }
}

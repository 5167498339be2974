//! `compozyd rotate-key`: a new key for cursors and tokens, also while daemons run.

use compozy_domain::{Clock as _, Random as _};
use compozy_store::CatalogStore as _;

use super::{runtime, store_config, tell};
use crate::clock::SystemClock;
use crate::failure::{Failure, FailureKind};
use crate::home::Home;
use crate::plug;
use crate::random::SystemRandom;
use crate::seal::NOTICED_WITHIN;

pub(super) fn rotate_key() -> Result<(), Failure> {
    let config = store_config(&Home::locate()?)?;
    let mut key = [0_u8; 32];
    SystemRandom.fill(&mut key)?;
    let number = runtime()?.block_on(async {
        let store = plug::maintain(&config, &SystemClock, &SystemRandom).await?;
        let rotated = store.rotate_key(key, SystemClock.now()).await;
        store.close().await;
        let rotated = rotated.map_err(|error| {
            Failure::new(
                FailureKind::Unavailable,
                format!("the key was not rotated: {error}"),
            )
        })?;
        // Whoever is told that it is done may rely on every running daemon to know.
        tokio::time::sleep(NOTICED_WITHIN).await;
        Ok::<_, Failure>(rotated.number)
    })?;
    tell(&format!(
        "key {number} is in use; what the key before it made stays valid, what older ones made does not"
    ))
}

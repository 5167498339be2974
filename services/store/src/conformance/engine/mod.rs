//! The engines that the suite runs on.

mod account;
mod pooled;
mod pooler;
mod postgres;
mod sqlite;

use std::panic::{AssertUnwindSafe, resume_unwind};
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use futures::FutureExt as _;

pub use self::account::Account;
pub use self::pooled::PooledPostgres;
pub use self::pooler::{POOL_SIZE, Pooler};
pub use self::postgres::{Postgres, postgres_programs};
pub use self::sqlite::{SqliteFile, SqliteMemory};
use super::fixture::Catalog;
use crate::open::StoreAddress;

/// For one test, which waits on conditions that may never come to pass.
const PATIENCE: Duration = Duration::from_secs(180);

/// Room for one catalog, to which nobody else has access.
#[async_trait]
pub trait Engine: std::fmt::Debug + Send + Sync + Sized + 'static {
    /// Moves of the one test that asks for thousands of them.
    const MOVES: usize;

    /// Entries of the one test that fills the log with twice as many as are kept. Where it does not depend on the
    /// engine any more, fewer.
    const ENTRIES: u64;

    /// Makes the room; `None` when the engine is not there, which is noted as the test's reason to end.
    async fn begin(test: &str) -> Option<Self>;

    /// Where its catalog lies.
    fn address(&self) -> StoreAddress;

    /// Checks what has to be so whenever nobody works on the catalog.
    async fn check(&self) {}

    /// Gives everything back.
    async fn end(&self);
}

/// Runs one test on a fresh catalog of an engine, and gives everything back however it ends.
pub async fn run<E: Engine, F: Future<Output = ()>>(test: &str, body: impl FnOnce(Catalog<E>) -> F) {
    run_unopened::<E, _>(test, async |engine| {
        let catalog = Catalog::open(engine).await;
        let (store, engine) = (Arc::clone(&catalog.store), Arc::clone(&catalog.engine));
        body(catalog).await;
        engine.check().await;
        crate::CatalogStore::close(&*store).await;
    })
    .await;
}

/// Runs one test in the room of an engine, and gives everything back however it ends.
pub async fn run_unopened<E: Engine, F: Future<Output = ()>>(test: &str, body: impl FnOnce(Arc<E>) -> F) {
    let Some(engine) = E::begin(test).await else {
        return;
    };
    let engine = Arc::new(engine);
    let outcome = AssertUnwindSafe(tokio::time::timeout(PATIENCE, body(Arc::clone(&engine))))
        .catch_unwind()
        .await;
    engine.end().await;
    match outcome {
        Ok(in_time) => in_time.unwrap_or_else(|_| panic!("{test} waited in vain")),
        Err(panic) => resume_unwind(panic),
    }
}

//! Postgres behind a transaction pooler: every promise holds, and nothing outlives a transaction.

use async_trait::async_trait;

use super::pooler::Pooler;
use super::{Engine, Postgres};
use crate::open::StoreAddress;

/// A database of its own behind a pooler of its own.
#[derive(Debug)]
pub struct PooledPostgres {
    postgres: Postgres,
    pooler: Pooler,
}

impl PooledPostgres {
    /// The database without the pooler.
    #[must_use]
    pub fn direct(&self) -> &Postgres {
        &self.postgres
    }
}

#[async_trait]
impl Engine for PooledPostgres {
    const MOVES: usize = 300;
    const ENTRIES: u64 = 20_000;

    async fn begin(test: &str) -> Option<Self> {
        let program = Pooler::find(test)?;
        let postgres = Postgres::begin(test).await?;
        let pooler = Pooler::start(&program, &postgres).await;
        Some(Self { postgres, pooler })
    }

    fn address(&self) -> StoreAddress {
        StoreAddress::Postgres {
            url: self.pooler.url(self.postgres.database()),
            pooler: true,
        }
    }

    async fn check(&self) {
        self.pooler.check(self.postgres.database()).await;
    }

    async fn end(&self) {
        self.pooler.stop();
        self.postgres.end().await;
    }
}

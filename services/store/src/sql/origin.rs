//! What the change log's epoch was made on, on Postgres: the server's identity and its timeline. A server that was
//! promoted may lack the last positions that readers have seen, so that another epoch begins there.

use std::sync::{Mutex, PoisonError};

use sqlx::postgres::PgConnection;

/// The server's identity and timeline; NULL while it is in recovery.
const CURRENT: &str = "SELECT CASE WHEN pg_is_in_recovery() THEN NULL ELSE \
     (SELECT system_identifier::text FROM pg_control_system()) || '/' || \
     left(pg_walfile_name(pg_current_wal_lsn()), 8) END";
/// The same where a hosted server does not tell: only whether it is in recovery.
const UNKNOWN: &str = "SELECT CASE WHEN pg_is_in_recovery() THEN NULL ELSE '' END";
/// Of several processes that find another origin, one makes the epoch.
const SETTLE: &str = "UPDATE change_head SET made_on = $1, \
     epoch = CASE made_on WHEN '' THEN epoch ELSE gen_random_uuid()::text END WHERE one = 1 AND made_on <> $1";

/// The origin that this process serves; not known before the catalog is open.
#[derive(Debug, Default)]
pub(crate) struct Origin(Mutex<Option<String>>);

impl Origin {
    /// Begins to serve: the epoch is settled for the server behind this connection, and from now on for every
    /// server behind a new one.
    pub(crate) async fn begin(&self, connection: &mut PgConnection) -> sqlx::Result<()> {
        if let Some(current) = current(connection).await? {
            self.settle(connection, current).await?;
        }
        Ok(())
    }

    /// Looks at the server behind a new connection. `false` if it is in recovery.
    pub(crate) async fn meet(&self, connection: &mut PgConnection) -> sqlx::Result<bool> {
        let Some(current) = current(connection).await? else {
            return Ok(false);
        };
        let is_other = self.known().is_some_and(|known| known != current);
        if is_other {
            self.settle(connection, current).await?;
        }
        Ok(true)
    }

    /// Takes an origin for the one that is served.
    pub(crate) fn set(&self, origin: String) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(origin);
    }

    async fn settle(&self, connection: &mut PgConnection, current: String) -> sqlx::Result<()> {
        if !current.is_empty() {
            let settled = sqlx::query(SETTLE).persistent(false).bind(current.as_str());
            if settled.execute(connection).await?.rows_affected() == 1 {
                tracing::info!(
                    origin = current,
                    "the epoch of the change log belongs to this server now"
                );
            }
        }
        self.set(current);
        Ok(())
    }

    fn known(&self) -> Option<String> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

async fn current(connection: &mut PgConnection) -> sqlx::Result<Option<String>> {
    let told = sqlx::query_scalar(CURRENT)
        .persistent(false)
        .fetch_one(&mut *connection)
        .await;
    match told {
        // Not allowed, or not offered, by this server.
        Err(sqlx::Error::Database(refusal)) if !is_ending(refusal.code().as_deref()) => {
            tracing::debug!(%refusal, "the server does not tell its identity");
            sqlx::query_scalar(UNKNOWN)
                .persistent(false)
                .fetch_one(connection)
                .await
        }
        told => told,
    }
}

/// Whether the server refuses because it ends or starts.
fn is_ending(code: Option<&str>) -> bool {
    code.is_some_and(|code| code.starts_with("57P"))
}

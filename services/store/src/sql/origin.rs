//! What the change log's epoch was made on, on Postgres: the server's identity and its timeline. A server that was
//! promoted may lack the last positions that readers have seen, so that another epoch begins there.

use std::sync::{Mutex, PoisonError};

use sqlx::postgres::PgConnection;
use sqlx::{Connection as _, Row as _};

use crate::sql::server_session::BEGIN_WRITE_POOLED;

/// The server's identity and timeline; NULL while it is in recovery.
pub(super) const CURRENT: &str = "SELECT CASE WHEN pg_is_in_recovery() THEN NULL ELSE \
     (SELECT system_identifier::text FROM pg_control_system()) || '/' || \
     left(pg_walfile_name(pg_current_wal_lsn()), 8) END";
/// The same where a hosted server does not tell: only whether it is in recovery.
const UNKNOWN: &str = "SELECT CASE WHEN pg_is_in_recovery() THEN NULL ELSE '' END";
/// Of several processes that find another origin, one makes the epoch.
pub(super) const SETTLE: &str = "UPDATE change_head SET made_on = $1, \
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
            let mut transaction = connection.begin_with(BEGIN_WRITE_POOLED).await?;
            let settling = sqlx::query(SETTLE).persistent(false).bind(current.as_str());
            let settled = settling.execute(&mut *transaction).await?.rows_affected();
            transaction.commit().await?;
            if settled == 1 {
                tracing::info!(
                    origin = current,
                    "the epoch of the change log belongs to this server now"
                );
            }
        }
        self.set(current);
        Ok(())
    }

    /// Whether the server tells its identity.
    pub(crate) fn is_told(&self) -> bool {
        self.known().is_some_and(|known| !known.is_empty())
    }

    fn known(&self) -> Option<String> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

async fn current(connection: &mut PgConnection) -> sqlx::Result<Option<String>> {
    match ask(connection, CURRENT).await {
        // Not allowed, or not offered, by this server.
        Err(sqlx::Error::Database(refusal)) if !is_ending(refusal.code().as_deref()) => {
            tracing::debug!(%refusal, "the server does not tell its identity");
            ask(connection, UNKNOWN).await
        }
        told => told,
    }
}

/// In one message, which needs no transaction behind a pooler.
async fn ask(connection: &mut PgConnection, sql: &'static str) -> sqlx::Result<Option<String>> {
    sqlx::raw_sql(sql).fetch_one(connection).await?.try_get(0)
}

/// Whether the server refuses because it ends or starts.
fn is_ending(code: Option<&str>) -> bool {
    code.is_some_and(|code| code.starts_with("57P"))
}

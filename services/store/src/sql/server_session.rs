//! Sessions with a Postgres server: how they are opened, what they are told at their beginning, and which of
//! them may be used again.
//!
//! Behind a transaction pooler such as PgBouncer a session with the server lasts for one transaction. There
//! nothing is set when a connection begins, no statement has a name, and whatever is bound is bound inside an
//! explicit transaction: the driver describes a statement and carries it out in two exchanges, between which the
//! pooler may turn to another server connection.

use std::str::FromStr as _;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use sqlx::postgres::{PgConnectOptions, PgConnection, PgPoolOptions};
use sqlx::{Connection as _, Row as _};

use crate::error::Result;
use crate::sql::origin::Origin;
use crate::sql::postgres::{fault, unavailable};
use crate::sql::reach::PATIENCE;

const STANDBY: &str = "the Postgres server is a standby: point store.url at the primary";

/// Begins a write and sets what a direct connection sets at its start.
pub(super) const BEGIN_WRITE_POOLED: &str = "BEGIN ISOLATION LEVEL READ COMMITTED; \
     SET LOCAL synchronous_commit = on; SET LOCAL statement_timeout = '60s'; \
     SET LOCAL idle_in_transaction_session_timeout = '10s'";

/// How to talk to the server.
#[derive(Debug)]
pub(super) struct Manner {
    /// Begins a write, which locks before it looks.
    pub(super) begin_write: &'static str,
    /// Begins a read of several statements in one snapshot.
    pub(super) begin_read: &'static str,
    /// Begins a read of one statement, where it needs a transaction.
    pub(super) begin_look_up: Option<&'static str>,
    /// Begins a transaction that only holds a lock.
    pub(super) begin_lock: &'static str,
    /// Whether statements are prepared under names.
    pub(super) prepares: bool,
    /// Connections that only hold locks. Behind a pooler each of them keeps a server connection from everybody
    /// else, all replicas included.
    pub(super) lock_connections: u32,
    /// How often the log is read for what no notification has told.
    pub(super) poll_period: Duration,
}

static DIRECT: Manner = Manner {
    begin_write: "BEGIN ISOLATION LEVEL READ COMMITTED",
    begin_read: "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY",
    begin_look_up: None,
    begin_lock: "BEGIN; SET LOCAL idle_in_transaction_session_timeout = '300s'",
    prepares: true,
    lock_connections: 16,
    poll_period: Duration::from_secs(1),
};

static POOLED: Manner = Manner {
    begin_write: BEGIN_WRITE_POOLED,
    begin_read: "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; SET LOCAL statement_timeout = '60s'; \
                 SET LOCAL idle_in_transaction_session_timeout = '10s'",
    begin_look_up: Some(
        "BEGIN ISOLATION LEVEL READ COMMITTED READ ONLY; SET LOCAL statement_timeout = '60s'; \
         SET LOCAL idle_in_transaction_session_timeout = '10s'",
    ),
    begin_lock: "BEGIN; SET LOCAL statement_timeout = '60s'; \
                 SET LOCAL idle_in_transaction_session_timeout = '300s'",
    prepares: false,
    lock_connections: 4,
    poll_period: Duration::from_millis(250),
};

impl Manner {
    pub(super) const fn of(pooler: bool) -> &'static Self {
        if pooler { &POOLED } else { &DIRECT }
    }
}

/// Where one connection was lost or turned out to take no writes, those opened before it lead to the same
/// server: after a failover that is the wrong one.
#[derive(Debug, Default)]
pub(super) struct TrustedSince(Mutex<Option<Instant>>);

impl TrustedSince {
    pub(super) fn begin_anew(&self) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(Instant::now());
    }

    fn covers(&self, age: Duration) -> bool {
        let since = *self.0.lock().unwrap_or_else(PoisonError::into_inner);
        since.is_none_or(|since| age < since.elapsed())
    }
}

pub(super) fn connect_options(url: &str, pooler: bool) -> Result<PgConnectOptions> {
    let options = PgConnectOptions::from_str(url)
        .map_err(|_| unavailable("store.url is no valid postgres:// URL: check its parts"))?
        .application_name("compozyd");
    if pooler {
        // A pooler refuses a session that begins with a setting which it does not know.
        return Ok(options.statement_cache_capacity(0).extra_float_digits(None));
    }
    Ok(options.options([
        ("synchronous_commit", "on"),
        ("statement_timeout", "60s"),
        // What a process that is stopped in the midst of a write has locked is free again soon.
        ("idle_in_transaction_session_timeout", "10s"),
    ]))
}

pub(super) fn pool_options(
    connections: u32,
    trusted_since: &Arc<TrustedSince>,
    origin: &Arc<Origin>,
) -> PgPoolOptions {
    let (trusted_since, origin) = (Arc::clone(trusted_since), Arc::clone(origin));
    PgPoolOptions::new()
        .max_connections(connections)
        .acquire_timeout(PATIENCE)
        // A broken connection is found by its first statement, and the transaction repeated.
        .test_before_acquire(false)
        .after_connect(move |connection, _| {
            let origin = Arc::clone(&origin);
            Box::pin(async move { meet_server(&origin, connection).await })
        })
        .before_acquire(move |_, metadata| {
            let is_trusted = trusted_since.covers(metadata.age);
            Box::pin(async move { Ok(is_trusted) })
        })
}

/// The server has to be a primary of version 14 or newer.
pub(super) async fn check_server(options: &PgConnectOptions) -> Result<()> {
    let mut connection = PgConnection::connect_with(options).await.map_err(fault)?;
    let sql = "SELECT current_setting('server_version_num')::bigint, pg_is_in_recovery()";
    let row = sqlx::raw_sql(sql)
        .fetch_one(&mut connection)
        .await
        .map_err(fault)?;
    let version: i64 = row.try_get(0).map_err(fault)?;
    let in_recovery: bool = row.try_get(1).map_err(fault)?;
    // What it told counts, however the connection ends.
    let _closed = connection.close().await;
    if in_recovery {
        return Err(unavailable(STANDBY));
    }
    if version < 140_000 {
        return Err(unavailable(
            "the Postgres server is older than version 14: upgrade it",
        ));
    }
    Ok(())
}

/// Refuses a new connection to a server in recovery: the address may lead elsewhere after a failover. Where it
/// leads to a server that was promoted, the change log begins another epoch.
async fn meet_server(origin: &Origin, connection: &mut PgConnection) -> sqlx::Result<()> {
    if origin.meet(connection).await? {
        Ok(())
    } else {
        Err(sqlx::Error::Io(std::io::Error::other(STANDBY)))
    }
}

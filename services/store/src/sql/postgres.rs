//! Postgres: pools, whole transactions repeated when they have to be, and commits whose answer was lost.

use std::future::Future;
use std::sync::Arc;
use std::time::{Duration, Instant};

use sqlx::Executor as _;
use sqlx::postgres::PgPool;
use tokio::sync::Notify;
use tokio_util::task::TaskTracker;

use crate::error::{Error, Result};
use crate::sql::db::{Driver, Faults, Transaction, Tx};
use crate::sql::hints::Hints;
use crate::sql::origin::Origin;
use crate::sql::reach::{PATIENCE, Reach};
use crate::sql::server_session::{Manner, TrustedSince, check_server, connect_options, pool_options};

const CONNECTIONS: u32 = 16;
/// For a read: longer than the server gives a statement, so only where nothing comes back at all.
const READ_PATIENCE: Duration = Duration::from_secs(75);
/// How long an answer to COMMIT, and then the outcome of a lost one, is waited for.
const COMMIT_TIMEOUT: Duration = Duration::from_secs(15);
/// Conflicts with other transactions that are met before giving up.
const REPEATS_MAX: u32 = 50;
/// Lost connections before a write gives up. A pool may hold a connection of before a restart per place.
const LOSSES_MAX: u32 = CONNECTIONS + 4;

/// An open Postgres catalog.
#[derive(Debug)]
pub(crate) struct Postgres {
    pool: PgPool,
    manner: &'static Manner,
    /// Connections from before this instant are not used again.
    trusted_since: Arc<TrustedSince>,
    origin: Arc<Origin>,
    reach: Arc<Reach>,
    /// Connections that only hold locks. Apart from the others, so that a holder never waits for a
    /// connection that another holder keeps from it.
    locks: PgPool,
    /// Writes, and transactions that begin.
    tasks: TaskTracker,
    /// Told after each commit of this process that appended to the change log.
    appended: Arc<Notify>,
    /// `None` behind a transaction pooler, which passes no notifications on.
    hints: Option<Box<Hints>>,
    faults: Arc<Faults>,
}

/// An advisory lock that is held until it is dropped.
#[derive(Debug)]
pub(crate) struct SharedLock {
    _transaction: sqlx::Transaction<'static, sqlx::Postgres>,
}

impl Postgres {
    /// Connects, and checks that the server is a primary of version 14 or newer.
    pub(crate) async fn connect(url: &str, pooler: bool) -> Result<Self> {
        let (options, manner) = (connect_options(url, pooler)?, Manner::of(pooler));
        let hints = (!pooler).then(|| Box::new(Hints::new(&options)));
        let first = tokio::time::timeout(PATIENCE, check_server(&options)).await;
        first.map_err(|_| unavailable("the Postgres server does not answer"))??;
        let (trusted_since, origin) = (Arc::<TrustedSince>::default(), Arc::<Origin>::default());
        let pool = pool_options(CONNECTIONS, &trusted_since, &origin)
            .connect_with(options.clone())
            .await
            .map_err(fault)?;
        let locks = pool_options(manner.lock_connections, &trusted_since, &origin).connect_lazy_with(options);
        Ok(Self {
            pool,
            manner,
            trusted_since,
            origin,
            reach: Arc::default(),
            locks,
            tasks: TaskTracker::new(),
            appended: Arc::default(),
            hints,
            faults: Arc::default(),
        })
    }

    pub(crate) fn faults(&self) -> &Faults {
        &self.faults
    }

    /// From now on the epoch of the change log follows the server. The schema has to be there.
    pub(crate) async fn follow_server(&self) -> Result<()> {
        let mut connection = self.pool.acquire().await.map_err(fault)?;
        self.origin.begin(&mut connection).await.map_err(fault)
    }

    #[cfg(feature = "conformance")]
    pub(crate) fn origin(&self) -> &Origin {
        &self.origin
    }

    /// Waits for the next commit of this process that appends to the log, or returns at once if there was one since
    /// the last wait.
    pub(crate) async fn appended(&self) {
        self.appended.notified().await;
    }

    pub(crate) async fn hinted(&self) {
        match &self.hints {
            Some(hints) => hints.heard().await,
            None => std::future::pending().await,
        }
    }

    pub(crate) fn hint(&self) {
        if let Some(hints) = &self.hints {
            hints.give();
        }
    }

    pub(crate) const fn poll_period(&self) -> Duration {
        self.manner.poll_period
    }

    /// A pooler may turn to a promoted server without any connection to it being lost. Only a server that tells its
    /// identity can be told from another one.
    pub(crate) fn may_move(&self) -> bool {
        !self.manner.prepares && self.origin.is_told()
    }

    pub(crate) async fn close(&self) {
        if let Some(hints) = &self.hints {
            hints.close().await;
        }
        self.tasks.close();
        self.tasks.wait().await;
        self.locks.close().await;
        self.pool.close().await;
    }

    /// Waits for the advisory lock of a text.
    pub(crate) async fn lock(&self, text: &str) -> Result<SharedLock> {
        let mut losses = 0;
        loop {
            match self.lock_once(text).await {
                Err(Error::Lost(detail)) if losses == LOSSES_MAX => return Err(unavailable(&detail)),
                // Places of the pool may hold connections from before a restart of the server.
                Err(Error::Lost(_)) => {
                    self.trusted_since.begin_anew();
                    losses += 1;
                }
                outcome => return outcome,
            }
        }
    }

    async fn lock_once(&self, text: &str) -> Result<SharedLock> {
        let begun = begin(&self.tasks, &self.locks, self.manner.begin_lock);
        let mut transaction = self.reach.wait_for(begun).await?;
        sqlx::query("SELECT pg_advisory_xact_lock(hashtextextended($1, 0)) IS NULL")
            .bind(text)
            .persistent(self.manner.prepares)
            .execute(&mut *transaction)
            .await
            .map_err(fault)?;
        Ok(SharedLock {
            _transaction: transaction,
        })
    }

    pub(crate) async fn read<O: Send + 'static>(
        &self,
        work: Arc<dyn Transaction<Output = O>>,
        snapshot: bool,
    ) -> Result<O> {
        let patience = tokio::time::timeout(READ_PATIENCE, self.read_until_settled(&*work, snapshot));
        patience
            .await
            .unwrap_or_else(|_| Err(unavailable("the Postgres server has fallen silent")))
    }

    async fn read_until_settled<O: Send + 'static>(
        &self,
        work: &dyn Transaction<Output = O>,
        snapshot: bool,
    ) -> Result<O> {
        let mut losses = 0;
        loop {
            let outcome = self.read_once(work, snapshot).await;
            match outcome {
                Err(Error::Lost(detail) | Error::Repeat(detail)) if losses == LOSSES_MAX => {
                    return Err(unavailable(&detail));
                }
                Err(Error::Lost(_)) => {
                    self.trusted_since.begin_anew();
                    losses += 1;
                }
                Err(Error::Repeat(_)) => losses += 1,
                outcome => return outcome,
            }
        }
    }

    async fn read_once<O: Send + 'static>(
        &self,
        work: &dyn Transaction<Output = O>,
        snapshot: bool,
    ) -> Result<O> {
        let begin = match (snapshot, self.manner.begin_look_up) {
            (true, _) => self.manner.begin_read,
            (false, Some(begin)) => begin,
            (false, None) => {
                let connection = self.reach.wait_for(self.pool.acquire()).await?;
                let mut tx = Tx::new(Driver::PostgresStatement(connection));
                return work.run(&mut tx).await;
            }
        };
        let begun = self::begin(&self.tasks, &self.pool, begin);
        let transaction = self.reach.wait_for(begun).await?;
        let mut tx = Tx::new(Driver::Postgres(transaction));
        tx.prepares = self.manner.prepares;
        let output = work.run(&mut tx).await?;
        into_transaction(tx)?.commit().await.map_err(fault)?;
        Ok(output)
    }

    pub(crate) async fn write<O: Send + 'static>(
        &self,
        deadline: Instant,
        work: Arc<dyn Transaction<Output = O>>,
    ) -> Result<O> {
        let writer = Writer {
            pool: self.pool.clone(),
            manner: self.manner,
            tasks: self.tasks.clone(),
            reach: Arc::clone(&self.reach),
            trusted_since: Arc::clone(&self.trusted_since),
            appended: Arc::clone(&self.appended),
            faults: Arc::clone(&self.faults),
        };
        let write = self
            .tasks
            .spawn(async move { write_until_settled(&writer, deadline, &*work).await });
        write
            .await
            .map_err(|error| Error::Defect(format!("a write panicked: {error}")))?
    }
}

/// What a write works with, whether or not its caller waits.
struct Writer {
    pool: PgPool,
    manner: &'static Manner,
    tasks: TaskTracker,
    reach: Arc<Reach>,
    trusted_since: Arc<TrustedSince>,
    appended: Arc<Notify>,
    faults: Arc<Faults>,
}

/// Begins a transaction in a task of its own, which ends it again if nobody waits for it any more. A BEGIN that is
/// dropped half-way is not undone by the driver: its connection would go back to the pool inside a transaction, and
/// show the next reader the past.
async fn begin(
    tasks: &TaskTracker,
    pool: &PgPool,
    statement: &'static str,
) -> sqlx::Result<sqlx::Transaction<'static, sqlx::Postgres>> {
    let pool = pool.clone();
    let begun = tasks.spawn(async move { pool.begin_with(statement).await });
    begun.await.unwrap_or(Err(sqlx::Error::WorkerCrashed))
}

async fn write_until_settled<O: Send + 'static>(
    writer: &Writer,
    deadline: Instant,
    work: &dyn Transaction<Output = O>,
) -> Result<O> {
    let Writer {
        pool,
        manner,
        tasks,
        trusted_since,
        appended,
        faults,
        ..
    } = writer;
    let (mut repeats, mut losses) = (0_u32, 0_u32);
    loop {
        if deadline <= Instant::now() {
            return Err(Error::DeadlineExceeded);
        }
        let begun = begin(tasks, pool, manner.begin_write);
        let preparing = prepare(writer, begun, work);
        let prepared = tokio::time::timeout_at(deadline.into(), preparing).await;
        let outcome = match prepared {
            Err(_) => return Err(Error::DeadlineExceeded),
            Ok(Ok(Prepared::ToCommit {
                output,
                moves_log,
                transaction,
                transaction_id,
            })) => {
                faults.check_commit()?;
                let patience = *faults.commit_patience.get().unwrap_or(&COMMIT_TIMEOUT);
                let outcome = commit(pool, transaction, &transaction_id, patience).await;
                // Also where nobody knows what became of it.
                if moves_log {
                    appended.notify_one();
                }
                outcome.map(|()| output)
            }
            Ok(Ok(Prepared::Done(output))) => Ok(output),
            Ok(Err(error)) => Err(error),
        };
        match outcome {
            Err(Error::Repeat(detail)) if repeats == REPEATS_MAX => {
                return Err(Error::Unavailable {
                    outcome_unknown: false,
                    detail,
                });
            }
            Err(Error::Lost(detail)) if losses == LOSSES_MAX => {
                return Err(Error::Unavailable {
                    outcome_unknown: false,
                    detail,
                });
            }
            Err(Error::Repeat(_)) => {
                repeats += 1;
                // Give the transaction that won time to end; more of it the more often it happens.
                tokio::time::sleep(Duration::from_millis(u64::from(repeats.min(10)))).await;
            }
            Err(Error::Lost(_)) => {
                trusted_since.begin_anew();
                losses += 1;
            }
            outcome => return outcome,
        }
    }
}

enum Prepared<O> {
    ToCommit {
        output: O,
        moves_log: bool,
        transaction: sqlx::Transaction<'static, sqlx::Postgres>,
        transaction_id: String,
    },
    Done(O),
}

/// Everything before COMMIT.
async fn prepare<O: Send + 'static>(
    writer: &Writer,
    beginning: impl Future<Output = sqlx::Result<sqlx::Transaction<'static, sqlx::Postgres>>>,
    work: &dyn Transaction<Output = O>,
) -> Result<Prepared<O>> {
    let prepares = writer.manner.prepares;
    let transaction = writer.reach.wait_for(beginning).await?;
    let mut tx = Tx::new(Driver::Postgres(transaction));
    tx.prepares = prepares;
    #[cfg(feature = "planted-bugs")]
    {
        tx.beside = Some(writer.pool.clone());
    }
    let output = work.run(&mut tx).await?;
    let (discard, moves_log) = (tx.discard, tx.moves_log);
    let mut transaction = into_transaction(tx)?;
    if discard {
        transaction.rollback().await.map_err(fault)?;
        return Ok(Prepared::Done(output));
    }
    let transaction_id: Option<String> = sqlx::query_scalar("SELECT pg_current_xact_id_if_assigned()::text")
        .persistent(prepares)
        .fetch_one(&mut *transaction)
        .await
        .map_err(fault)?;
    match transaction_id {
        Some(transaction_id) => Ok(Prepared::ToCommit {
            output,
            moves_log,
            transaction,
            transaction_id,
        }),
        None => {
            // Nothing was written, so nothing depends on the answer.
            transaction.rollback().await.map_err(fault)?;
            Ok(Prepared::Done(output))
        }
    }
}

/// Commits, and finds out what became of a commit whose answer was lost.
async fn commit(
    pool: &PgPool,
    transaction: sqlx::Transaction<'static, sqlx::Postgres>,
    transaction_id: &str,
    patience: Duration,
) -> Result<()> {
    let answer = tokio::time::timeout(patience, transaction.commit()).await;
    let detail = match answer {
        Ok(Ok(())) => return Ok(()),
        Ok(Err(error)) => match fault(error) {
            Error::Lost(detail) | Error::Unavailable { detail, .. } => detail,
            refused => return Err(refused),
        },
        Err(_) => "no answer to COMMIT in time".to_owned(),
    };
    match tokio::time::timeout(patience, settled(pool, transaction_id)).await {
        Ok(Some(true)) => Ok(()),
        Ok(Some(false)) => Err(Error::Repeat(detail)),
        Ok(None) | Err(_) => Err(Error::Unavailable {
            outcome_unknown: true,
            detail,
        }),
    }
}

/// Whether a transaction was committed, once the server is there and can say; `None` if it never will.
async fn settled(pool: &PgPool, transaction_id: &str) -> Option<bool> {
    loop {
        match outcome_of(pool, transaction_id).await {
            Ok(Some(status)) if status == "committed" => return Some(true),
            Ok(Some(status)) if status == "aborted" => return Some(false),
            // Too old for the server to know, or another server altogether.
            Ok(None) => return None,
            // In progress, or the server is not back yet.
            Ok(Some(_)) | Err(_) => tokio::time::sleep(Duration::from_millis(50)).await,
        }
    }
}

async fn outcome_of(pool: &PgPool, transaction_id: &str) -> Result<Option<String>> {
    // Inside a transaction, and without a name: a pooler may stand between.
    let mut transaction = pool.begin().await.map_err(fault)?;
    sqlx::query_scalar("SELECT pg_xact_status($1::text::xid8)")
        .persistent(false)
        .bind(transaction_id)
        .fetch_one(&mut *transaction)
        .await
        .map_err(fault)
}

fn into_transaction(tx: Tx) -> Result<sqlx::Transaction<'static, sqlx::Postgres>> {
    match tx.driver {
        Driver::Postgres(transaction) => Ok(transaction),
        Driver::Sqlite(_) | Driver::PostgresStatement(_) => {
            Err(Error::Defect("not a Postgres transaction".into()))
        }
    }
}

pub(super) fn unavailable(detail: &str) -> Error {
    Error::Unavailable {
        outcome_unknown: false,
        detail: detail.to_owned(),
    }
}

/// Runs a script of several statements in one transaction.
pub(crate) async fn run_script(
    transaction: &mut sqlx::Transaction<'static, sqlx::Postgres>,
    script: &'static str,
) -> Result<()> {
    transaction.execute(sqlx::raw_sql(script)).await.map_err(fault)?;
    Ok(())
}

/// What a driver's error means.
#[expect(clippy::needless_pass_by_value, reason = "the shape that map_err takes")]
pub(crate) fn fault(error: sqlx::Error) -> Error {
    let detail = error.to_string();
    match &error {
        sqlx::Error::Database(database) => by_sqlstate(&database.code().unwrap_or_default(), detail),
        sqlx::Error::Io(_) | sqlx::Error::Tls(_) | sqlx::Error::Protocol(_) | sqlx::Error::WorkerCrashed => {
            Error::Lost(detail)
        }
        sqlx::Error::PoolTimedOut | sqlx::Error::PoolClosed => unavailable(&detail),
        _ => Error::Defect(detail),
    }
}

fn by_sqlstate(code: &str, detail: String) -> Error {
    match code {
        // Serialisation failure, deadlock, and a unique key that another transaction took first: the repeated
        // transaction sees that row and answers for itself.
        "40001" | "40P01" | "23505" => Error::Repeat(detail),
        "25006" | "25P03" | "57P05" | "57P01" | "57P02" | "57P03" => Error::Lost(detail),
        "53100" => Error::DiskFull,
        "57014" => Error::DeadlineExceeded,
        "XX001" | "XX002" => Error::Corrupt(detail),
        // A protocol violation, or a prepared statement that another session has, or has not: no connection was lost.
        "08P01" | "42P05" | "26000" => unavailable(&format!(
            "{detail} (if a pooler such as PgBouncer stands before the server: set store.pooler = \"transaction\")"
        )),
        _ if code.starts_with("08") => Error::Lost(detail),
        _ if code.starts_with("53")
            || code.starts_with("58")
            || code.starts_with("28")
            || code == "3D000" =>
        {
            unavailable(&detail)
        }
        _ => Error::Defect(detail),
    }
}

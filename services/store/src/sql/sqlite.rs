//! SQLite: one thread that writes, a few connections that read.
//!
//! The writer takes everything that waits, up to a bound, into one transaction, each member in a savepoint
//! of its own, and syncs once for all. A rejected member is rolled back alone. An error that ends the
//! transaction (a full disk, an I/O error) ends it for every member and none is applied. Answers follow
//! COMMIT. The writer is never interrupted; a member's deadline is looked at before it joins.

mod inspect;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use futures::FutureExt as _;
use rusqlite::{Connection, ErrorCode, InterruptHandle, OpenFlags};
use tokio::sync::{Notify, Semaphore, mpsc, oneshot};
use tokio_util::sync::CancellationToken;

use crate::error::{Error, Result};
use crate::open::Access;
use crate::sql::backup;
use crate::sql::db::{Driver, Faults, Transaction, Tx};
use crate::sql::migrate::CloseInOrder;
use crate::sql::session_clock::NewestInstant;

/// Marks a file as a catalog: "Cpzy".
const APPLICATION_ID: i32 = 0x4370_7a79;
const READERS: usize = 4;
const WAITING_WRITES_MAX: usize = 1_024;
const GROUP_MAX: usize = 64;
const STATEMENTS_CACHED: usize = 64;

/// An open SQLite catalog.
#[derive(Debug)]
pub(crate) struct Sqlite {
    /// `None` when it is closed, or was opened to look only.
    writer: Mutex<Option<mpsc::Sender<Box<dyn Member>>>>,
    thread: Mutex<Option<std::thread::JoinHandle<()>>>,
    /// `None` in memory, where the writer's connection is the only one.
    readers: Option<Readers>,
    /// `None` in memory.
    path: Option<PathBuf>,
    /// Whether it is served in a way in which the last commits may not survive the end of the system.
    loses_commits: bool,
    /// Told after each commit that appended to the change log.
    appended: Arc<Notify>,
    newest: Arc<NewestInstant>,
    faults: Arc<Faults>,
}

/// A file to open.
#[derive(Debug)]
pub(crate) struct SqliteFile {
    pub(crate) path: PathBuf,
    pub(crate) access: Access,
    pub(crate) synchronous_full: bool,
}

#[derive(Debug)]
struct Readers {
    idle: Arc<Mutex<Vec<Tx>>>,
    permits: Arc<Semaphore>,
}

impl Sqlite {
    /// Opens a file, or with `None` a catalog in memory. `prepare` runs on the first connection, before anything
    /// is written.
    pub(crate) fn open(
        file: Option<SqliteFile>,
        prepare: impl FnOnce(&mut Tx) -> Result<()>,
    ) -> Result<Self> {
        let Some(SqliteFile {
            path,
            access,
            synchronous_full,
        }) = file
        else {
            let mut tx = Tx::new(Driver::Sqlite(Connection::open_in_memory().map_err(fault)?));
            prepare(&mut tx)?;
            return Self::with_writer(tx, None, None);
        };
        match access {
            Access::Serve => create_private(&path)?,
            Access::Maintain | Access::Inspect => inspect::require(&path)?,
        }
        if access == Access::Inspect {
            let mut tx = Tx::new(Driver::Sqlite(inspect::open(&path)?));
            prepare(&mut tx)?;
            let newest = Arc::clone(&tx.newest);
            return Ok(Self {
                writer: Mutex::new(None),
                thread: Mutex::new(None),
                readers: Some(Readers::new(vec![tx])),
                path: Some(path),
                loses_commits: false,
                appended: Arc::default(),
                newest,
                faults: Arc::default(),
            });
        }
        let mut tx = Tx::new(Driver::Sqlite(open_file(&path)?));
        prepare(&mut tx)?;
        write_ahead(connection(&tx)?, synchronous_full)?;
        let readers = Readers::open(&path, &tx.newest)?;
        let opened = Self::with_writer(tx, Some(readers), Some(path))?;
        Ok(Self {
            loses_commits: access == Access::Serve && !synchronous_full,
            ..opened
        })
    }

    fn with_writer(tx: Tx, readers: Option<Readers>, path: Option<PathBuf>) -> Result<Self> {
        let (appended, faults) = (Arc::<Notify>::default(), Arc::<Faults>::default());
        let newest = Arc::clone(&tx.newest);
        let (sender, receiver) = mpsc::channel(WAITING_WRITES_MAX);
        let (tell, thread_faults) = (Arc::clone(&appended), Arc::clone(&faults));
        let thread = std::thread::Builder::new()
            .name("sqlite-writer".into())
            .spawn(move || write_groups(tx, receiver, &tell, &thread_faults))
            .map_err(|error| Error::Unavailable {
                outcome_unknown: false,
                detail: error.to_string(),
            })?;
        Ok(Self {
            writer: Mutex::new(Some(sender)),
            thread: Mutex::new(Some(thread)),
            readers,
            path,
            loses_commits: false,
            appended,
            newest,
            faults,
        })
    }

    /// Copies the catalog into a new file; `false` in memory.
    pub(crate) async fn copy_to(&self, target: &Path, stop: &CancellationToken) -> Result<bool> {
        let Some(path) = &self.path else {
            return Ok(false);
        };
        backup::copy(path, target, stop).await?;
        Ok(true)
    }

    pub(crate) fn faults(&self) -> &Faults {
        &self.faults
    }

    /// The newest instant that was stored of sessions.
    pub(crate) fn newest(&self) -> &NewestInstant {
        &self.newest
    }

    /// Waits for the next commit that appends to the log, or returns at once if there was one since the last wait.
    pub(crate) async fn appended(&self) {
        self.appended.notified().await;
    }

    pub(crate) async fn write<O: Send + 'static>(
        &self,
        deadline: Instant,
        work: Arc<dyn Transaction<Output = O>>,
    ) -> Result<O> {
        self.join_group(deadline, work, false).await
    }

    async fn join_group<O: Send + 'static>(
        &self,
        deadline: Instant,
        work: Arc<dyn Transaction<Output = O>>,
        reads_only: bool,
    ) -> Result<O> {
        let sender = lock(&self.writer).clone().ok_or_else(closed)?;
        let (reply, answer) = oneshot::channel();
        let member = Box::new(Write {
            work,
            deadline,
            reads_only,
            result: None,
            reply,
        });
        tokio::time::timeout_at(deadline.into(), sender.send(member))
            .await
            .map_err(|_| Error::DeadlineExceeded)?
            .map_err(|_| closed())?;
        answer.await.map_err(|_| closed())?
    }

    pub(crate) async fn read<O: Send + 'static>(&self, work: Arc<dyn Transaction<Output = O>>) -> Result<O> {
        let Some(readers) = &self.readers else {
            let deadline = Instant::now() + Duration::from_secs(60);
            return self.join_group(deadline, work, true).await;
        };
        let permit = Arc::clone(&readers.permits)
            .acquire_owned()
            .await
            .map_err(|_| closed())?;
        let idle = Arc::clone(&readers.idle);
        let running = Arc::new(Mutex::new(None));
        let interrupt = Interrupt(Arc::clone(&running));
        let outcome = tokio::task::spawn_blocking(move || {
            let _permit = permit;
            let mut tx = lock(&idle).pop().ok_or_else(closed)?;
            *lock(&running) = connection(&tx).map(Connection::get_interrupt_handle).ok();
            let outcome = read_snapshot(&mut tx, &*work);
            *lock(&running) = None;
            lock(&idle).push(tx);
            outcome
        })
        .await;
        drop(interrupt);
        outcome.map_err(|error| Error::Defect(format!("a read panicked: {error}")))?
    }

    /// A read of one statement, which needs no transaction to see one snapshot. It is done in place: a look-up by
    /// key takes less time than another thread takes to wake up.
    pub(crate) async fn look_up<O: Send + 'static>(
        &self,
        work: Arc<dyn Transaction<Output = O>>,
    ) -> Result<O> {
        let Some(readers) = &self.readers else {
            return self.read(work).await;
        };
        let _permit = readers.permits.acquire().await.map_err(|_| closed())?;
        let mut tx = lock(&readers.idle).pop().ok_or_else(closed)?;
        let outcome = run_in_place(&*work, &mut tx);
        lock(&readers.idle).push(tx);
        outcome
    }

    pub(crate) async fn close(&self) {
        if self.loses_commits {
            let soon = Instant::now() + Duration::from_secs(5);
            // Without it the next start after a reboot begins a new epoch, which is safe.
            let _told = self.write(soon, Arc::new(CloseInOrder)).await;
        }
        drop(self.writer.lock().unwrap_or_else(PoisonError::into_inner).take());
        let thread = lock(&self.thread).take();
        if let Some(thread) = thread {
            // The thread ends once its queue is empty; a panic in it was answered as it happened.
            let _joined = tokio::task::spawn_blocking(move || thread.join()).await;
        }
        if let Some(readers) = &self.readers {
            readers.permits.close();
            lock(&readers.idle).clear();
        }
    }
}

impl Readers {
    fn open(path: &Path, newest: &Arc<NewestInstant>) -> Result<Self> {
        let mut idle = Vec::with_capacity(READERS);
        for _ in 0..READERS {
            let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
            let connection = Connection::open_with_flags(path, flags).map_err(fault)?;
            connection.set_prepared_statement_cache_capacity(STATEMENTS_CACHED);
            keep_plans(&connection)?;
            connection.busy_timeout(Duration::from_secs(5)).map_err(fault)?;
            connection
                .pragma_update(None, "query_only", true)
                .map_err(fault)?;
            let mut tx = Tx::new(Driver::Sqlite(connection));
            tx.newest = Arc::clone(newest);
            idle.push(tx);
        }
        Ok(Self::new(idle))
    }

    fn new(idle: Vec<Tx>) -> Self {
        Self {
            permits: Arc::new(Semaphore::new(idle.len())),
            idle: Arc::new(Mutex::new(idle)),
        }
    }
}

/// Interrupts a read whose caller has gone, and only while it is that caller's.
struct Interrupt(Arc<Mutex<Option<InterruptHandle>>>);

impl Drop for Interrupt {
    fn drop(&mut self) {
        if let Some(handle) = lock(&self.0).take() {
            handle.interrupt();
        }
    }
}

/// Opens the file, which has to be there, and changes nothing in it unless it is empty.
fn open_file(path: &Path) -> Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags).map_err(fault)?;
    connection.set_prepared_statement_cache_capacity(STATEMENTS_CACHED);
    keep_plans(&connection)?;
    connection.busy_timeout(Duration::from_secs(5)).map_err(fault)?;
    if is_empty(&connection, path)? {
        connection
            .pragma_update(None, "application_id", APPLICATION_ID)
            .map_err(fault)?;
    }
    Ok(connection)
}

/// Whether a file is still to become a catalog. One that is something else is refused.
fn is_empty(connection: &Connection, path: &Path) -> Result<bool> {
    let found: i32 = connection
        .pragma_query_value(None, "application_id", |row| row.get(0))
        .map_err(fault)?;
    let pages: i64 = connection
        .pragma_query_value(None, "page_count", |row| row.get(0))
        .map_err(fault)?;
    if found != APPLICATION_ID && pages > 0 {
        let problem = format!("{} is no catalog of this product", path.display());
        return Err(Error::Corrupt(problem));
    }
    Ok(pages == 0)
}

/// After the schema was looked at, because it writes to a file that is not in this mode.
fn write_ahead(connection: &Connection, synchronous_full: bool) -> Result<()> {
    connection
        .pragma_update(None, "journal_mode", "WAL")
        .map_err(fault)?;
    let synchronous = if synchronous_full { "FULL" } else { "NORMAL" };
    connection
        .pragma_update(None, "synchronous", synchronous)
        .map_err(fault)
}

/// Plans a statement once. With the statistics that the bundled library supports, a bound value could change the
/// plan, and so every execution would plan anew: 23 us instead of 1.6 for a look-up by key.
fn keep_plans(connection: &Connection) -> Result<()> {
    let option = rusqlite::config::DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG;
    connection.set_db_config(option, true).map_err(fault)?;
    Ok(())
}

/// Makes the file with mode 0600 before SQLite sees it; its companions take the mode over.
fn create_private(path: &Path) -> Result<()> {
    use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
    let unusable = |problem: &dyn std::fmt::Display| Error::Unavailable {
        outcome_unknown: false,
        detail: format!("{}: {problem}", path.display()),
    };
    // Opening a FIFO would wait for somebody at its other end.
    if std::fs::metadata(path).is_ok_and(|found| !found.is_file()) {
        return Err(unusable(&"it is no regular file"));
    }
    let opened = std::fs::OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(false)
        .mode(0o600)
        .open(path);
    // Whatever the umask took away.
    let private = std::fs::Permissions::from_mode(0o600);
    match opened.and_then(|file| file.set_permissions(private)) {
        Ok(()) => Ok(()),
        Err(error) if error.kind() == std::io::ErrorKind::StorageFull => Err(Error::DiskFull),
        Err(error) => Err(unusable(&error)),
    }
}

/// A write that waits for, or takes part in, a group.
trait Member: Send {
    /// When it is too late to join.
    fn deadline(&self) -> Instant;
    /// Does the work and keeps its result. `Err` only for what ends the whole transaction.
    fn run(&mut self, tx: &mut Tx) -> Step;
    /// Answers: the kept result, unless the group as a whole failed.
    fn finish(self: Box<Self>, group: Result<()>);
}

enum Step {
    Keep,
    Undo,
    EndGroup(Error),
}

struct Write<O> {
    work: Arc<dyn Transaction<Output = O>>,
    deadline: Instant,
    /// Nothing of it is to be kept, and no commit has to succeed for it.
    reads_only: bool,
    result: Option<Result<O>>,
    reply: oneshot::Sender<Result<O>>,
}

impl<O: Send + 'static> Member for Write<O> {
    fn deadline(&self) -> Instant {
        self.deadline
    }

    fn run(&mut self, tx: &mut Tx) -> Step {
        tx.discard = false;
        tx.moves_log = false;
        tx.instant = None;
        let changes = total_changes(tx);
        let outcome = run_in_place(&*self.work, tx);
        if total_changes(tx) == changes {
            // It has looked only: no instant is stored.
            tx.instant = None;
        }
        let step = match &outcome {
            Ok(_) if tx.discard || self.reads_only => Step::Undo,
            Ok(_) => Step::Keep,
            Err(error) if ends_transaction(error) || is_autocommit(tx) => Step::EndGroup(error.clone()),
            Err(_) => Step::Undo,
        };
        self.result = Some(outcome);
        step
    }

    fn finish(self: Box<Self>, group: Result<()>) {
        let result = match (group, self.result) {
            (Err(error), _) => Err(error),
            (Ok(()), Some(result)) => result,
            (Ok(()), None) => Err(Error::DeadlineExceeded),
        };
        // The caller may have gone; the write stands all the same.
        let _answered = self.reply.send(result);
    }
}

/// Polls work once. Nothing in it can wait: every statement is carried out in place.
fn run_in_place<O: Send + 'static>(work: &dyn Transaction<Output = O>, tx: &mut Tx) -> Result<O> {
    let outcome = catch_unwind(AssertUnwindSafe(|| work.run(tx).now_or_never()));
    match outcome {
        Ok(Some(result)) => result,
        Ok(None) => Err(Error::Defect(
            "a transaction waited for something else than a statement".into(),
        )),
        Err(_) => Err(Error::Defect("a transaction panicked".into())),
    }
}

fn read_snapshot<O: Send + 'static>(tx: &mut Tx, work: &dyn Transaction<Output = O>) -> Result<O> {
    batch(tx, "BEGIN")?;
    let outcome = run_in_place(work, tx);
    batch(tx, "ROLLBACK")?;
    outcome
}

fn write_groups(mut tx: Tx, mut queue: mpsc::Receiver<Box<dyn Member>>, appended: &Notify, faults: &Faults) {
    while let Some(first) = queue.blocking_recv() {
        let mut group = vec![first];
        while group.len() < GROUP_MAX {
            let Ok(next) = queue.try_recv() else { break };
            group.push(next);
        }
        let outcome = write_group(&mut tx, &mut group, faults);
        // Before the answers, so that whoever has one finds that this was said.
        if matches!(outcome, Ok(Group { moves_log: true })) {
            appended.notify_one();
        }
        let outcome = outcome.map(drop);
        for member in group {
            member.finish(outcome.clone());
        }
    }
}

/// What a committed group did.
struct Group {
    moves_log: bool,
}

fn write_group(tx: &mut Tx, group: &mut [Box<dyn Member>], faults: &Faults) -> Result<Group> {
    let outcome = batch(tx, "BEGIN IMMEDIATE").and_then(|()| write_members(tx, group, faults));
    if outcome.is_err() && !is_autocommit(tx) {
        // A transaction that can't even be rolled back is rolled back by SQLite when the file is next opened.
        let _rolled_back = batch(tx, "ROLLBACK");
    }
    outcome
}

fn write_members(tx: &mut Tx, group: &mut [Box<dyn Member>], faults: &Faults) -> Result<Group> {
    let (mut kept, mut moves_log) = (false, false);
    for member in group.iter_mut() {
        if member.deadline() <= Instant::now() {
            continue;
        }
        batch(tx, "SAVEPOINT member")?;
        match member.run(tx) {
            Step::Keep => {
                kept = true;
                moves_log |= tx.moves_log;
                batch(tx, "RELEASE member")?;
                if let Some(stored) = tx.instant.take() {
                    tx.newest.raise(stored);
                }
            }
            Step::Undo => batch(tx, "ROLLBACK TO member; RELEASE member")?,
            Step::EndGroup(error) => return Err(error),
        }
    }
    if kept {
        faults.check_commit()?;
    }
    batch(tx, "COMMIT")?;
    Ok(Group { moves_log })
}

fn batch(tx: &Tx, sql: &'static str) -> Result<()> {
    connection(tx)?.execute_batch(sql).map_err(fault)
}

fn is_autocommit(tx: &Tx) -> bool {
    connection(tx).is_ok_and(Connection::is_autocommit)
}

/// How many rows the connection has touched since it was opened.
fn total_changes(tx: &Tx) -> u64 {
    connection(tx).map_or(0, Connection::total_changes)
}

fn connection(tx: &Tx) -> Result<&Connection> {
    match &tx.driver {
        Driver::Sqlite(connection) => Ok(connection),
        Driver::Postgres(_) | Driver::PostgresStatement(_) => {
            Err(Error::Defect("not an SQLite transaction".into()))
        }
    }
}

/// Whether the error is the store's, not the member's. A damaged row is the member's that met it.
fn ends_transaction(error: &Error) -> bool {
    matches!(error, Error::DiskFull | Error::Unavailable { .. })
}

fn closed() -> Error {
    Error::Unavailable {
        outcome_unknown: false,
        detail: "the store is closed".into(),
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What a driver's error means.
#[expect(clippy::needless_pass_by_value, reason = "the shape that map_err takes")]
pub(crate) fn fault(error: rusqlite::Error) -> Error {
    let code = error.sqlite_error_code();
    let detail = error.to_string();
    match code {
        Some(ErrorCode::DiskFull) => Error::DiskFull,
        Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => Error::Corrupt(detail),
        Some(
            ErrorCode::SystemIoFailure
            | ErrorCode::CannotOpen
            | ErrorCode::ReadOnly
            | ErrorCode::DatabaseBusy
            | ErrorCode::DatabaseLocked
            | ErrorCode::OutOfMemory
            | ErrorCode::PermissionDenied
            | ErrorCode::FileLockingProtocolFailed,
        ) => Error::Unavailable {
            outcome_unknown: false,
            detail,
        },
        Some(ErrorCode::OperationInterrupted) => Error::DeadlineExceeded,
        None if is_damage(&error) => Error::Corrupt(detail),
        _ => Error::Defect(detail),
    }
}

/// Whether a stored value is of a kind that is never written.
fn is_damage(error: &rusqlite::Error) -> bool {
    matches!(
        error,
        rusqlite::Error::Utf8Error(..) | rusqlite::Error::InvalidColumnType(..)
    )
}

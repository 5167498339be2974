//! A copy of an SQLite catalog while it is used: one snapshot, read on a connection of its own, so that neither
//! readers nor the writer wait for it.

use std::fs::{File, OpenOptions, Permissions};
use std::io;
use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rusqlite::{Connection, InterruptHandle, OpenFlags};
use tokio_util::sync::CancellationToken;

use crate::error::{Error, Result};
use crate::sql::sqlite::fault;

/// How often a copy that is to stop is told so: an interrupt between two statements is lost.
const INSISTENCE: Duration = Duration::from_millis(20);

/// The statement that can be interrupted right now.
type Running = Arc<Mutex<Option<InterruptHandle>>>;

/// Copies a catalog into a new file, marked as a backup, and waits until it is on the disk.
pub(crate) async fn copy(source: &Path, target: &Path, stop: &CancellationToken) -> Result<()> {
    if stop.is_cancelled() {
        return Err(Error::DeadlineExceeded);
    }
    let running = Running::default();
    let mut copying = tokio::task::spawn_blocking({
        let (source, target, running) = (source.to_owned(), target.to_owned(), Arc::clone(&running));
        move || copy_in_place(&source, &target, &running)
    });
    let done = tokio::select! {
        done = &mut copying => done,
        () = stop.cancelled() => loop {
            if let Some(handle) = &*running.lock().unwrap_or_else(PoisonError::into_inner) {
                handle.interrupt();
            }
            if let Ok(done) = tokio::time::timeout(INSISTENCE, &mut copying).await {
                break done;
            }
        }
    };
    done.map_err(|error| Error::Defect(format!("a backup panicked: {error}")))?
}

fn copy_in_place(source: &Path, target: &Path, running: &Running) -> Result<()> {
    create(target).map_err(|error| io_fault(target, &error))?;
    let outcome = fill(source, target, running);
    *running.lock().unwrap_or_else(PoisonError::into_inner) = None;
    if outcome.is_err() {
        // The error that matters is the first one.
        let _ = std::fs::remove_file(target);
    }
    outcome
}

/// Makes the file before SQLite does, so that nobody else can ever read it.
fn create(target: &Path) -> io::Result<()> {
    let file = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(target)?;
    // The umask may have taken bits away.
    file.set_permissions(Permissions::from_mode(0o600))
}

fn fill(source: &Path, target: &Path, running: &Running) -> Result<()> {
    let name = target
        .to_str()
        .ok_or_else(|| Error::Defect(format!("{} is not UTF-8", target.display())))?;
    let reading = open(source, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
    show(running, &reading);
    reading.execute("VACUUM INTO ?1", [name]).map_err(fault)?;
    drop(reading);
    mark(target, running)?;
    sync(target).map_err(|error| io_fault(target, &error))
}

/// Makes the copy one that its first opening recognises. What was under way on the disk when it was made is
/// finished by the catalog that it was copied from; the copy must not undo it.
fn mark(target: &Path, running: &Running) -> Result<()> {
    let writing = open(target, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
    show(running, &writing);
    // No second file beside the copy; it is removed if this fails.
    writing
        .pragma_update(None, "journal_mode", "MEMORY")
        .map_err(fault)?;
    writing
        .execute_batch("BEGIN; UPDATE catalog SET is_backup = 1; DELETE FROM intent; COMMIT")
        .map_err(fault)
}

fn open(path: &Path, access: OpenFlags) -> Result<Connection> {
    let flags = access | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags).map_err(fault)?;
    connection.busy_timeout(Duration::from_secs(5)).map_err(fault)?;
    Ok(connection)
}

fn show(running: &Running, connection: &Connection) {
    let handle = connection.get_interrupt_handle();
    *running.lock().unwrap_or_else(PoisonError::into_inner) = Some(handle);
}

fn sync(target: &Path) -> io::Result<()> {
    File::open(target)?.sync_all()?;
    let directory = target.parent().map_or_else(|| PathBuf::from("."), Path::to_owned);
    File::open(directory)?.sync_all()
}

fn io_fault(path: &Path, error: &io::Error) -> Error {
    if matches!(
        error.kind(),
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded
    ) {
        return Error::DiskFull;
    }
    Error::Unavailable {
        outcome_unknown: false,
        detail: format!("{}: {error}", path.display()),
    }
}

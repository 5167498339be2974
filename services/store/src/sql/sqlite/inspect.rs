//! Opening a file to look at it, so that nothing is written: no catalog, no log beside it, no index of the log.

use std::ffi::OsString;
use std::fmt::Write as _;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::time::Duration;

use rusqlite::{Connection, OpenFlags};

use super::{STATEMENTS_CACHED, fault, is_empty};
use crate::error::{Error, Result};
use crate::sql::migrate::newest_version;

/// Refuses a path at which there is no file yet. Whatever else is wrong with it shows when it is opened.
pub(super) fn require(path: &Path) -> Result<()> {
    if path.try_exists().unwrap_or(true) {
        return Ok(());
    }
    Err(no_schema())
}

/// Opens a catalog for reading.
pub(super) fn open(path: &Path) -> Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let opened = if has_companion(path) {
        // Somebody has it open, or died with it open: what is not in the file yet has to be read too.
        Connection::open_with_flags(path, flags)
    } else {
        // Only so does SQLite make no log beside the file.
        Connection::open_with_flags(immutable(path), flags | OpenFlags::SQLITE_OPEN_URI)
    };
    let connection = opened.map_err(fault)?;
    connection.set_prepared_statement_cache_capacity(STATEMENTS_CACHED);
    connection.busy_timeout(Duration::from_secs(5)).map_err(fault)?;
    if is_empty(&connection, path)? {
        return Err(no_schema());
    }
    Ok(connection)
}

fn no_schema() -> Error {
    Error::Behind {
        version: 0,
        newest: newest_version(),
    }
}

fn has_companion(path: &Path) -> bool {
    ["-wal", "-journal"].iter().any(|suffix| {
        let mut companion = OsString::from(path);
        companion.push(suffix);
        // One that can't be looked at may be there.
        Path::new(&companion).try_exists().unwrap_or(true)
    })
}

/// The URI that says that nobody else uses the file. Every byte with a meaning in a URI is escaped.
fn immutable(path: &Path) -> String {
    let mut uri = "file:".to_owned();
    for byte in path.as_os_str().as_bytes() {
        if byte.is_ascii_alphanumeric() || b"/-_.".contains(byte) {
            uri.push(char::from(*byte));
        } else {
            // Writing to a String can't fail.
            let _ = write!(uri, "%{byte:02X}");
        }
    }
    uri.push_str("?immutable=1");
    uri
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_escaped() {
        assert_eq!(
            immutable(Path::new("/a b/ä?#%")),
            "file:/a%20b/%C3%A4%3F%23%25?immutable=1"
        );
    }
}

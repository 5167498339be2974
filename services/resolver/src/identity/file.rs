//! The file on the disk: read, made, changed, and each of it undone.
//!
//! A valid file is never rewritten but by [`fork`], [`restore`] and [`replace`]; an invalid one only by
//! [`repair`] with force; one that can't be read never.

use compozy_domain::{CatalogError, DurableId, IdentityFault};

use super::remedy::{invalid, missing, unread, unwritten};
use super::{DIRECTORY_PATH, FILE_BYTES_MAX, FILE_PATH, Identity, encode, parse, with_durable_id};
use crate::files::{ContentHash, Directory, Files, Kind, ReadFault, WriteFault};

/// A valid identity file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// What it says.
    pub identity: Identity,
    /// Its content.
    pub bytes: Vec<u8>,
}

/// The file after a creation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Created {
    /// The file that is there: the new one, or the one of somebody who was quicker.
    pub found: Found,
    /// Whether the file is the new one.
    pub made_file: bool,
    /// Whether `.compozy` was made for it.
    pub made_directory: bool,
}

/// The file after a change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Written {
    /// The file that is there now.
    pub found: Found,
    /// Whether it was written; a file that says what it should stays as it is.
    pub written: bool,
}

/// Reads the file of a root; `None` if there is none.
///
/// # Errors
/// [`CatalogError::Identity`] for one that is invalid or can't be read, [`CatalogError::Path`] for a root
/// that can't be used.
pub fn read(files: &dyn Files, root: &Directory) -> Result<Option<Found>, CatalogError> {
    judge(&root.path, files.read_below(root, &FILE_PATH, FILE_BYTES_MAX))
}

/// What the content of a root's file says, however it was read; `None` if there is none.
///
/// # Errors
/// As [`read`].
pub fn judge(root: &str, content: Result<Option<Vec<u8>>, ReadFault>) -> Result<Option<Found>, CatalogError> {
    let Some(bytes) = content.map_err(|fault| unread(root, fault))? else {
        return Ok(None);
    };
    found(root, bytes).map(Some)
}

/// Whether `.compozy` is there already, so that an undo has to leave it.
///
/// # Errors
/// As [`read`].
pub fn has_directory(files: &dyn Files, root: &Directory) -> Result<bool, CatalogError> {
    let kind = files.kind_below(root, &DIRECTORY_PATH);
    Ok(kind.map_err(|fault| unread(&root.path, fault))? == Some(Kind::Directory))
}

/// Makes the file. If somebody else makes one first, that one is read and counts.
///
/// # Errors
/// [`CatalogError::Identity`] or [`CatalogError::DiskFull`], with nothing left of the file; also when the one
/// that came first is invalid.
pub fn create(files: &dyn Files, root: &Directory, identity: &Identity) -> Result<Created, CatalogError> {
    let bytes = encode(identity);
    match files.create_below(root, &FILE_PATH, &bytes) {
        Ok(made) => Ok(Created {
            found: found(&root.path, bytes)?,
            made_file: true,
            made_directory: made.directory,
        }),
        Err(WriteFault::AlreadyThere) => Ok(Created {
            // One that is gone again is a change in the meantime.
            found: read(files, root)?.ok_or_else(|| unwritten(&root.path, WriteFault::Changed))?,
            made_file: false,
            made_directory: false,
        }),
        Err(fault) => Err(unwritten(&root.path, fault)),
    }
}

/// Undoes a creation: removes the file if it still has the content that was written, what a crash left of it,
/// and `.compozy` if it was made for it and is empty. Answers whether the file was removed.
///
/// # Errors
/// [`CatalogError::Identity`] when something can't be removed.
pub fn undo_create(
    files: &dyn Files,
    root: &Directory,
    written: &ContentHash,
    made_directory: bool,
) -> Result<bool, CatalogError> {
    let removed = files.remove_below_if(root, &FILE_PATH, written, made_directory);
    removed.map_err(|fault| unwritten(&root.path, fault))
}

/// Removes what a crash left half-written of a file whose registration has gone on without it.
///
/// # Errors
/// [`CatalogError::Identity`] when something can't be removed.
pub fn sweep(files: &dyn Files, root: &Directory, written: &ContentHash) -> Result<(), CatalogError> {
    files
        .sweep_below(root, &FILE_PATH, written)
        .map_err(|fault| unwritten(&root.path, fault))
}

/// Replaces the content `old` by `new`; the file is left alone if it is not `old` any more.
///
/// # Errors
/// [`CatalogError::Identity`] or [`CatalogError::DiskFull`]; the file has its old content then.
pub fn replace(files: &dyn Files, root: &Directory, old: &[u8], new: &[u8]) -> Result<(), CatalogError> {
    let expected = ContentHash::of(old);
    let replaced = files.replace_below(root, &FILE_PATH, new, Some(&expected));
    replaced.map_err(|fault| unwritten(&root.path, fault))
}

/// Undoes a replacement if the file still has the content that was written, and removes what a crash left of
/// it. Answers whether the file had that content.
///
/// # Errors
/// [`CatalogError::Identity`] or [`CatalogError::DiskFull`] when the old content can't be brought back.
pub fn undo_replace(
    files: &dyn Files,
    root: &Directory,
    written: &ContentHash,
    old: &[u8],
) -> Result<bool, CatalogError> {
    let undone = match files.replace_below(root, &FILE_PATH, old, Some(written)) {
        Ok(()) => true,
        Err(WriteFault::Changed) => false,
        Err(fault) => return Err(unwritten(&root.path, fault)),
    };
    // The file does not have that content any more; only what a crash left of it is removed.
    undo_create(files, root, written, false)?;
    Ok(undone)
}

/// Makes a missing file, and with `force` replaces an invalid one; a valid one stays, whatever its id is.
///
/// # Errors
/// As [`create`], and as [`read`] for a file that stays.
pub fn repair(
    files: &dyn Files,
    root: &Directory,
    wanted: &Identity,
    force: bool,
) -> Result<Written, CatalogError> {
    match read(files, root) {
        Ok(Some(found)) => Ok(Written {
            found,
            written: false,
        }),
        Ok(None) => {
            let created = create(files, root, wanted)?;
            Ok(Written {
                found: created.found,
                written: created.made_file,
            })
        }
        Err(error) if force && is_invalid(&error) => {
            let bytes = encode(wanted);
            let replaced = files.replace_below(root, &FILE_PATH, &bytes, None);
            replaced.map_err(|fault| unwritten(&root.path, fault))?;
            Ok(Written {
                found: found(&root.path, bytes)?,
                written: true,
            })
        }
        Err(error) => Err(error),
    }
}

/// Writes an id into an existing valid file; everything else in it stays.
///
/// # Errors
/// As [`read`] and [`replace`]; [`CatalogError::Identity`] if there is no file.
pub fn restore(files: &dyn Files, root: &Directory, durable_id: &DurableId) -> Result<Written, CatalogError> {
    let old = read(files, root)?.ok_or_else(|| missing(&root.path))?;
    if old.identity.durable_id == *durable_id {
        return Ok(Written {
            found: old,
            written: false,
        });
    }
    rewrite(files, root, &old, durable_id, None)
}

/// Gives a copy an id of its own: writes it into the file that was found, with the id it had before as
/// `forked_from`.
///
/// # Errors
/// As [`replace`].
pub fn fork(
    files: &dyn Files,
    root: &Directory,
    old: &Found,
    durable_id: &DurableId,
) -> Result<Written, CatalogError> {
    rewrite(files, root, old, durable_id, Some(&old.identity.durable_id))
}

fn rewrite(
    files: &dyn Files,
    root: &Directory,
    old: &Found,
    durable_id: &DurableId,
    forked_from: Option<&DurableId>,
) -> Result<Written, CatalogError> {
    let new = with_durable_id(&old.bytes, durable_id, forked_from);
    let found = found(&root.path, new.map_err(|problem| invalid(&root.path, problem))?)?;
    replace(files, root, &old.bytes, &found.bytes)?;
    Ok(Written { found, written: true })
}

fn found(root: &str, bytes: Vec<u8>) -> Result<Found, CatalogError> {
    match parse(&bytes) {
        Ok(identity) => Ok(Found { identity, bytes }),
        Err(problem) => Err(invalid(root, problem)),
    }
}

fn is_invalid(error: &CatalogError) -> bool {
    matches!(
        error,
        CatalogError::Identity {
            fault: IdentityFault::Invalid { .. },
            ..
        }
    )
}

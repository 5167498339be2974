//! What the rows of the change stream share: clients that watch, clients that write at a pace, and the bare streams
//! that both are held against.

pub(crate) mod bare;
mod raw;
pub(crate) mod source;
pub(crate) mod watchers;
pub(crate) mod writer;

/// A change as the clients here tell it from others: the number of its workspace and the version of the record.
pub(crate) type Key = (u64, i64);

/// The workspace whose changes say that everything before was told.
pub(crate) const MARK: u64 = 1;

/// The id of the workspace with a number.
pub(crate) fn id_of(number: u64) -> String {
    format!("ws_{number:016x}")
}

/// The number in an id.
pub(crate) fn number_of(id: &[u8]) -> u64 {
    let digits = id
        .strip_prefix(b"ws_")
        .and_then(|digits| str::from_utf8(digits).ok());
    u64::from_str_radix(digits.unwrap(), 16).unwrap()
}

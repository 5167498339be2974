//! Request ids: what makes a repeated write the same write.

use std::time::{SystemTime, UNIX_EPOCH};

use crate::Error;

/// A new ULID.
///
/// # Errors
///
/// When the operating system gives no random bytes: without an id a write could not be repeated
/// safely, so it is not sent at all.
pub(crate) fn new() -> Result<String, Error> {
    let mut random = [0_u8; 16];
    getrandom::fill(&mut random)
        .map_err(|error| Error::configuration(format!("the system gives no random bytes: {error}")))?;
    Ok(ulid::Ulid::from_parts(milliseconds(), u128::from_be_bytes(random)).to_string())
}

/// Fills in an id where the caller gave none.
pub(crate) fn fill(request_id: &mut String) -> Result<(), Error> {
    if request_id.is_empty() {
        *request_id = new()?;
    }
    Ok(())
}

/// A ULID starts with the time, so that ids of one client sort; nothing depends on it being right.
#[expect(
    clippy::disallowed_methods,
    reason = "the only place of the client that needs the wall clock"
)]
fn milliseconds() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn ids_are_ulids_and_differ() {
        let (one, other) = (new().unwrap(), new().unwrap());
        assert_eq!(one.len(), 26);
        assert!(ulid::Ulid::from_string(&one).is_ok());
        assert_ne!(one, other);
    }

    #[test]
    fn the_callers_own_id_is_kept() {
        let mut id = "mine".to_owned();
        fill(&mut id).unwrap();
        assert_eq!(id, "mine");
    }
}

//! Counted pages. No page exceeds 3 MiB: it ends early instead.

use compozy_domain::limits;
use prost::Message;

/// Kept free in a response for everything that is no row: cursor, revision, counts.
pub(super) const ROOM: usize = 8 * 1024;

/// Bytes of a message as an element of a repeated field.
pub(crate) fn framed_len(message: &impl Message) -> usize {
    let length = message.encoded_len();
    1 + prost::length_delimiter_len(length) + length
}

/// How many of the rows fit on a page: at least one, so that every walk gets on.
#[must_use]
pub(super) fn fitting<M: Message>(rows: &[M]) -> usize {
    let mut room = limits::RESPONSE_BYTES_MAX - ROOM;
    for (at, row) in rows.iter().enumerate() {
        match room.checked_sub(framed_len(row)) {
            Some(left) => room = left,
            None => return at.max(1),
        }
    }
    rows.len()
}

#[cfg(test)]
mod tests {
    use compozy_proto::workspace::v1 as pb;

    use super::*;

    fn row(bytes: usize) -> pb::Workspace {
        pb::Workspace {
            root_dir: "x".repeat(bytes),
            ..pb::Workspace::default()
        }
    }

    #[test]
    fn w331_rows_are_cut_by_their_size() {
        let rows: Vec<_> = (0..100).map(|_| row(64_000)).collect();
        let count = fitting(&rows);
        assert!((1..100).contains(&count));
        let bytes: usize = rows[..count].iter().map(framed_len).sum();
        assert!(bytes + ROOM <= limits::RESPONSE_BYTES_MAX);
        assert!(bytes + framed_len(&rows[0]) + ROOM > limits::RESPONSE_BYTES_MAX);
        assert_eq!(fitting(&[row(4_000_000), row(1)]), 1);
        assert_eq!(fitting::<pb::Workspace>(&[]), 0);
    }
}

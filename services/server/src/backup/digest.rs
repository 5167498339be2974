//! One pass over a file: what it weighs and what its bytes are, while they go somewhere else.

use std::fmt::Write as _;
use std::io::{self, Read, Write};

use sha2::{Digest as _, Sha256};
use tokio_util::sync::CancellationToken;

const BUFFER_BYTES: usize = 128 * 1024;

/// What a pass saw.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Digest {
    /// Bytes.
    pub(super) size: u64,
    /// In lower-case hex.
    pub(super) sha256: String,
}

/// Reads to the end and passes everything on. [`io::ErrorKind::Interrupted`] soon after `stop` is cancelled.
pub(super) fn pass(
    from: &mut impl Read,
    to: &mut impl Write,
    stop: &CancellationToken,
) -> io::Result<Digest> {
    let (mut hash, mut size) = (Sha256::new(), 0_u64);
    let mut buffer = vec![0_u8; BUFFER_BYTES];
    loop {
        if stop.is_cancelled() {
            return Err(io::ErrorKind::Interrupted.into());
        }
        let bytes = match from.read(&mut buffer) {
            Ok(0) => break,
            Ok(count) => &buffer[..count],
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        hash.update(bytes);
        size += bytes.len() as u64;
        to.write_all(bytes)?;
    }
    let mut sha256 = String::with_capacity(64);
    for byte in hash.finalize() {
        // Writing to a String can't fail.
        let _ = write!(sha256, "{byte:02x}");
    }
    Ok(Digest { size, sha256 })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn a_pass_counts_hashes_and_copies_and_can_be_stopped() {
        let (mut copy, go_on) = (Vec::new(), CancellationToken::new());
        let digest = pass(&mut b"abc".as_slice(), &mut copy, &go_on).unwrap();
        assert_eq!((digest.size, copy.as_slice()), (3, b"abc".as_slice()));
        assert_eq!(
            digest.sha256,
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
        );
        go_on.cancel();
        let stopped = pass(&mut b"abc".as_slice(), &mut io::sink(), &go_on).unwrap_err();
        assert_eq!(stopped.kind(), io::ErrorKind::Interrupted);
    }
}

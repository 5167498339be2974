//! Identifiers. Each is checked where it enters and trusted afterwards; a text that is not well formed
//! never becomes one, so it never reaches a statement or a path.

use std::fmt;

use crate::clock::Timestamp;
use crate::random::{Random, RandomFailed};

macro_rules! text_id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(String);

        impl $name {
            /// The text of the identifier.
            #[must_use]
            pub fn as_str(&self) -> &str {
                &self.0
            }

            /// Takes a stored text as it is. Only for values that this catalog wrote itself.
            #[must_use]
            pub fn from_stored(text: String) -> Self {
                Self(text)
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str(&self.0)
            }
        }
    };
}

text_id! {
    /// Names one registration for ever: `ws_` and 16 lower-case hex digits.
    WorkspaceId
}
text_id! {
    /// The identity that travels with a directory: a ULID in upper case.
    DurableId
}
text_id! {
    /// Whose disk a root lies on: a ULID, or what replicas that share a mount were told.
    HostId
}
text_id! {
    /// Names one session for ever: `sess-` and 16 lower-case hex digits.
    SessionId
}
text_id! {
    /// Names one profile for ever: a ULID.
    ProfileId
}
text_id! {
    /// Names a catalog, over restarts and replicas: a ULID.
    CatalogId
}
text_id! {
    /// Names one request of a caller: a UUID or a ULID, in the caller's spelling.
    RequestId
}
text_id! {
    /// The state of a record as its reader saw it. Opaque to callers.
    Etag
}

impl WorkspaceId {
    /// The prefix that tells a workspace id from a name.
    pub const PREFIX: &'static str = "ws_";

    /// Reads a well-formed id; anything else is no id.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let digits = text.strip_prefix(Self::PREFIX)?;
        let well_formed =
            digits.len() == 16 && digits.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'));
        well_formed.then(|| Self(text.to_owned()))
    }

    /// A new id.
    ///
    /// # Errors
    /// [`RandomFailed`].
    pub fn generate(random: &dyn Random) -> Result<Self, RandomFailed> {
        let mut bytes = [0_u8; 8];
        random.fill(&mut bytes)?;
        Ok(Self(format!(
            "{}{:016x}",
            Self::PREFIX,
            u64::from_be_bytes(bytes)
        )))
    }
}

impl DurableId {
    /// Reads a ULID in upper case; anything else is no durable id.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        is_ulid(text).then(|| Self(text.to_owned()))
    }

    /// A new id.
    ///
    /// # Errors
    /// [`RandomFailed`].
    pub fn generate(now: Timestamp, random: &dyn Random) -> Result<Self, RandomFailed> {
        new_ulid(now, random).map(Self)
    }
}

impl HostId {
    /// The host id of a daemon that looks at no disk.
    pub const NONE: &'static str = "none";

    /// Whether this is the id of a daemon that looks at no disk.
    #[must_use]
    pub fn is_none(&self) -> bool {
        self.0 == Self::NONE
    }

    /// Reads a configured host id: 1 to 64 letters, digits, `.`, `_`, `-`.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let well_formed = (1..=64).contains(&text.len())
            && text
                .bytes()
                .all(|b| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'_' | b'-'));
        well_formed.then(|| Self(text.to_owned()))
    }

    /// A new id, a ULID.
    ///
    /// # Errors
    /// [`RandomFailed`].
    pub fn generate(now: Timestamp, random: &dyn Random) -> Result<Self, RandomFailed> {
        new_ulid(now, random).map(Self)
    }
}

impl ProfileId {
    /// Reads a ULID in upper case; anything else is no id.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        is_ulid(text).then(|| Self(text.to_owned()))
    }

    /// A new id.
    ///
    /// # Errors
    /// [`RandomFailed`].
    pub fn generate(now: Timestamp, random: &dyn Random) -> Result<Self, RandomFailed> {
        new_ulid(now, random).map(Self)
    }
}

impl CatalogId {
    /// A new id.
    ///
    /// # Errors
    /// [`RandomFailed`].
    pub fn generate(now: Timestamp, random: &dyn Random) -> Result<Self, RandomFailed> {
        new_ulid(now, random).map(Self)
    }
}

impl RequestId {
    /// Reads a UUID (`8-4-4-4-12` hex digits) or a ULID, in any case; `None` for anything else.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let well_formed = is_uuid(text) || is_ulid(&text.to_ascii_uppercase());
        well_formed.then(|| Self(text.to_owned()))
    }
}

impl SessionId {
    /// What every session id starts with.
    pub const PREFIX: &'static str = "sess-";

    /// Reads a well-formed id; anything else is no id.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let digits = text.strip_prefix(Self::PREFIX)?;
        let well_formed =
            digits.len() == 16 && digits.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'));
        well_formed.then(|| Self(text.to_owned()))
    }

    /// A new id.
    ///
    /// # Errors
    /// [`RandomFailed`].
    pub fn generate(random: &dyn Random) -> Result<Self, RandomFailed> {
        let mut bytes = [0_u8; 8];
        random.fill(&mut bytes)?;
        Ok(Self(format!(
            "{}{:016x}",
            Self::PREFIX,
            u64::from_be_bytes(bytes)
        )))
    }
}

/// A secret that its holder speaks for the runtime of a session with: `lease_` and a ULID. Never stored or shown: the
/// store keeps its hash.
#[derive(Clone, PartialEq, Eq)]
pub struct LeaseToken(String);

impl LeaseToken {
    /// What every lease token starts with.
    pub const PREFIX: &'static str = "lease_";

    /// Reads a well-formed token; anything else is none.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        is_ulid(text.strip_prefix(Self::PREFIX)?).then(|| Self(text.to_owned()))
    }

    /// A new token.
    ///
    /// # Errors
    /// [`RandomFailed`].
    pub fn generate(now: Timestamp, random: &dyn Random) -> Result<Self, RandomFailed> {
        Ok(Self(format!("{}{}", Self::PREFIX, new_ulid(now, random)?)))
    }

    /// The secret itself, for its holder.
    #[must_use]
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for LeaseToken {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("LeaseToken(..)")
    }
}

/// SHA-256 of a lease token.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LeaseHash(pub [u8; 32]);

impl fmt::Debug for LeaseHash {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("LeaseHash(..)")
    }
}

impl Etag {
    /// The etag of the given state of a record; states count from 1.
    #[must_use]
    pub fn of_state(number: i64) -> Self {
        Self(format!("r{number:x}"))
    }
}

/// Whether a text is a ULID in upper case: 26 digits of Crockford's base 32, the first one 0 to 7.
#[must_use]
pub fn is_ulid(text: &str) -> bool {
    text.len() == 26
        && matches!(text.as_bytes()[0], b'0'..=b'7')
        && text.bytes().all(|b| {
            b.is_ascii_digit() || (b.is_ascii_uppercase() && !matches!(b, b'I' | b'L' | b'O' | b'U'))
        })
}

/// A new ULID in upper case.
///
/// # Errors
/// [`RandomFailed`].
pub fn new_ulid(now: Timestamp, random: &dyn Random) -> Result<String, RandomFailed> {
    let mut bytes = [0_u8; 16];
    random.fill(&mut bytes[6..])?;
    let tail = u128::from_be_bytes(bytes);
    Ok(ulid::Ulid::from_parts(now.millis(), tail).to_string())
}

fn is_uuid(text: &str) -> bool {
    text.len() == 36
        && text.bytes().enumerate().all(|(at, byte)| match at {
            8 | 13 | 18 | 23 => byte == b'-',
            _ => byte.is_ascii_hexdigit(),
        })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[derive(Debug)]
    struct Fixed(u8);
    impl Random for Fixed {
        fn fill(&self, buffer: &mut [u8]) -> Result<(), RandomFailed> {
            buffer.fill(self.0);
            Ok(())
        }
    }

    #[test]
    fn a_generated_id_reads_back() {
        let id = WorkspaceId::generate(&Fixed(0xab)).unwrap();
        assert_eq!(id.as_str(), "ws_abababababababab");
        assert_eq!(WorkspaceId::parse(id.as_str()), Some(id));
        let now = Timestamp::from_nanos(1_800_000_000_000_000_000);
        let durable = DurableId::generate(now, &Fixed(0xff)).unwrap();
        assert_eq!(DurableId::parse(durable.as_str()), Some(durable));
    }

    #[test]
    fn texts_of_other_forms_are_no_ids() {
        for text in [
            "",
            "ws_",
            "ws_ABCDEFABCDEFABCD",
            "ws_../../etc/passwd",
            "x",
            "ws_0123456789abcdef0",
        ] {
            assert_eq!(WorkspaceId::parse(text), None, "{text}");
        }
        let good = "01HXJ9YR4QZ0V7M3T5B8N2C6KD";
        assert!(is_ulid(good));
        for bad in [
            &good[1..],
            &good.to_lowercase(),
            "81HXJ9YR4QZ0V7M3T5B8N2C6KD",
            "01HXJ9YR4QZ0V7M3T5B8N2C6KI",
            "é1HXJ9YR4QZ0V7M3T5B8N2C6K",
        ] {
            assert!(!is_ulid(bad), "{bad}");
        }
        for bad in [
            "abc",
            "",
            "123e4567-e89b-12d3-a456-42661417400",
            "123e4567xe89b-12d3-a456-426614174000",
        ] {
            assert_eq!(RequestId::parse(bad), None, "{bad}");
        }
        assert!(RequestId::parse("123e4567-e89b-12d3-a456-426614174000").is_some());
    }
}

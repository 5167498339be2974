//! What a caller may write into a session: each field is read once, at the edge, with the bounds of the contract.

use std::collections::BTreeMap;
use std::time::Duration;

use super::Origin;
use crate::error::CatalogError;
use crate::id::SessionId;
use crate::text::refuse_control_characters;

/// Code points of a name at most.
pub const NAME_CHARS_MAX: usize = 64;
/// Code points of the name of an agent or provider, of a tool or a turn at most.
pub const WORD_CHARS_MAX: usize = 128;
/// Code points of the name of a model, of a holder, or of an id in another tool at most.
pub const LONG_WORD_CHARS_MAX: usize = 256;
/// Code points of a spawn role, or of a kind of activity at most.
pub const ROLE_CHARS_MAX: usize = 64;
/// Labels at most.
pub const LABELS_MAX: usize = 32;
/// Code points of a label's key at most.
pub const LABEL_KEY_CHARS_MAX: usize = 63;
/// Code points of a label's value at most.
pub const LABEL_VALUE_CHARS_MAX: usize = 255;
/// Code points of the cause of a start at most.
pub const START_CAUSE_CHARS_MAX: usize = 500;
/// Bytes of a stop's detail, or of an error at most.
pub const DETAIL_BYTES_MAX: usize = 2_048;
/// Bytes of an activity's detail at most.
pub const ACTIVITY_BYTES_MAX: usize = 1_024;

/// How long a lease may last.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LeaseBounds {
    /// When the caller does not say.
    pub default: Duration,
    /// At most. At least one second.
    pub max: Duration,
}

impl LeaseBounds {
    /// Those of an operator's lease.
    pub const ATTACH: Self = Self {
        default: Duration::from_secs(900),
        max: Duration::from_secs(86_400),
    };

    /// Those of a runtime lease.
    #[must_use]
    pub const fn runtime(default: Duration) -> Self {
        Self {
            default,
            max: Duration::from_secs(3_600),
        }
    }

    /// Reads the span of a request, seconds and nanoseconds of the second as they came; `None` is the default.
    ///
    /// # Errors
    /// [`CatalogError::InvalidField`] naming `field`.
    pub fn parse(self, given: Option<(i64, i32)>, field: &str) -> Result<Duration, CatalogError> {
        let Some((seconds, nanos)) = given else {
            return Ok(self.default);
        };
        let span = u64::try_from(seconds)
            .ok()
            .zip(u32::try_from(nanos).ok().filter(|nanos| *nanos < 1_000_000_000))
            .map(|(seconds, nanos)| Duration::new(seconds, nanos));
        match span {
            Some(span) if (Duration::from_secs(1)..=self.max).contains(&span) => Ok(span),
            _ => Err(CatalogError::invalid_field(
                field,
                format!("must be 1 s to {} s, or left out", self.max.as_secs()),
            )),
        }
    }
}

/// A valid display label.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionName(String);

impl SessionName {
    /// Reads a name: white space runs collapse to one space, the ends are trimmed, then 1 to 64 code points without
    /// control characters.
    ///
    /// # Errors
    /// [`CatalogError::InvalidField`] naming `field`.
    pub fn parse(given: &str, field: &str) -> Result<Self, CatalogError> {
        let words: Vec<&str> = given.split_whitespace().collect();
        let name = words.join(" ");
        refuse_control_characters(&name, field)?;
        match name.chars().count() {
            1..=NAME_CHARS_MAX => Ok(Self(name)),
            _ => Err(CatalogError::invalid_field(
                field,
                "must have 1 to 64 characters that are not white space",
            )),
        }
    }

    /// The text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Reads the id that a caller chose for a new session.
///
/// # Errors
/// [`CatalogError::InvalidField`] naming `id`.
pub fn parse_new_id(text: &str) -> Result<SessionId, CatalogError> {
    SessionId::parse(text).ok_or_else(|| {
        CatalogError::invalid_field("id", "must be 'sess-' and 16 lower-case hex digits, or left out")
    })
}

/// Reads the name of an agent or provider, kept exactly: not blank, at most 128 code points.
///
/// # Errors
/// [`CatalogError::InvalidField`] naming `field`.
pub fn parse_name(text: String, field: &str) -> Result<String, CatalogError> {
    parse_word(text, WORD_CHARS_MAX, field)
}

/// Reads the name of a model, kept exactly: not blank, at most 256 code points.
///
/// # Errors
/// [`CatalogError::InvalidField`] naming `model`.
pub fn parse_model(text: String) -> Result<String, CatalogError> {
    parse_word(text, LONG_WORD_CHARS_MAX, "model")
}

/// Reads the holder of a lease: not blank, at most 256 code points.
///
/// # Errors
/// [`CatalogError::InvalidField`] naming `holder`.
pub fn parse_holder(text: String) -> Result<String, CatalogError> {
    parse_word(text, LONG_WORD_CHARS_MAX, "holder")
}

/// Reads what a parent starts a session for: at most 64 code points.
///
/// # Errors
/// [`CatalogError::InvalidField`] naming `spawn_role`.
pub fn parse_spawn_role(text: String) -> Result<String, CatalogError> {
    at_most(text, ROLE_CHARS_MAX, "spawn_role")
}

/// Reads why a session is started: at most 500 code points.
///
/// # Errors
/// [`CatalogError::InvalidField`] naming `start_cause`.
pub fn parse_start_cause(text: String) -> Result<String, CatalogError> {
    check_length(
        text.chars().count(),
        START_CAUSE_CHARS_MAX,
        "characters",
        "start_cause",
    )?;
    parse_prose(text, "start_cause")
}

/// Reads the detail of a stop that is asked for: at most 2,048 bytes. Not redacted yet: whoever reads a request takes
/// secrets out with the resolver's `config::secrets::redacted`, here and in errors, activities and causes of starts.
///
/// # Errors
/// [`CatalogError::InvalidField`] naming `detail`.
pub fn parse_detail(text: String) -> Result<String, CatalogError> {
    check_length(text.len(), DETAIL_BYTES_MAX, "bytes", "detail")?;
    parse_prose(text, "detail")
}

/// Free text: lines and tabs are allowed, other control characters are not.
///
/// # Errors
/// [`CatalogError::InvalidField`] naming `field`.
pub fn parse_prose(text: String, field: &str) -> Result<String, CatalogError> {
    let visible: String = text
        .chars()
        .filter(|c| !matches!(c, '\n' | '\r' | '\t'))
        .collect();
    refuse_control_characters(&visible, field)?;
    Ok(text)
}

/// Free text of a runtime that has the last word: never refused. Control characters but lines and tabs are left out,
/// and what is too long is cut at a character.
#[must_use]
pub fn cut_prose(text: &str, bytes: usize) -> String {
    let mut kept = String::new();
    for letter in text.chars() {
        if letter.is_control() && !matches!(letter, '\n' | '\r' | '\t') {
            continue;
        }
        if kept.len() + letter.len_utf8() > bytes {
            break;
        }
        kept.push(letter);
    }
    kept
}

/// Reads labels: at most 32 pairs, keys of 1 to 63 and values of at most 255 code points.
///
/// # Errors
/// [`CatalogError::InvalidField`] naming `field`.
pub fn parse_labels(
    labels: BTreeMap<String, String>,
    field: &str,
) -> Result<BTreeMap<String, String>, CatalogError> {
    if labels.len() > LABELS_MAX {
        return Err(CatalogError::invalid_field(field, "must hold at most 32 pairs"));
    }
    for (key, value) in &labels {
        if !(1..=LABEL_KEY_CHARS_MAX).contains(&key.chars().count()) {
            return Err(CatalogError::invalid_field(
                field,
                "must have keys of 1 to 63 characters",
            ));
        }
        if value.chars().count() > LABEL_VALUE_CHARS_MAX {
            return Err(CatalogError::invalid_field(
                field,
                "must have values of at most 255 characters",
            ));
        }
        refuse_control_characters(key, field)?;
        refuse_control_characters(value, field)?;
    }
    Ok(labels)
}

/// Reads the tool that a session is imported from: 1 to 64 lower-case letters, digits, `.`, `_` and `-`; its id there at
/// most 256 code points. The word `native` has no id.
///
/// # Errors
/// [`CatalogError::InvalidField`] naming `origin`.
pub fn parse_origin(tool: String, id: String) -> Result<Origin, CatalogError> {
    let is_word = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || matches!(b, b'.' | b'_' | b'-');
    if !(1..=64).contains(&tool.len()) || !tool.bytes().all(is_word) {
        return Err(CatalogError::invalid_field(
            "origin.tool",
            "must have 1 to 64 lower-case letters, digits, '.', '_' and '-'",
        ));
    }
    if tool == Origin::NATIVE && !id.is_empty() {
        return Err(CatalogError::invalid_field(
            "origin.id",
            "must be empty for a native session",
        ));
    }
    let id = at_most(id, LONG_WORD_CHARS_MAX, "origin.id")?;
    Ok(Origin { tool, id })
}

/// Reads a short text without control characters; empty is allowed.
///
/// # Errors
/// [`CatalogError::InvalidField`] naming `field`.
pub fn at_most(text: String, chars: usize, field: &str) -> Result<String, CatalogError> {
    check_length(text.chars().count(), chars, "characters", field)?;
    refuse_control_characters(&text, field)?;
    Ok(text)
}

fn parse_word(text: String, chars: usize, field: &str) -> Result<String, CatalogError> {
    if text.trim().is_empty() {
        return Err(CatalogError::invalid_field(field, "must not be blank"));
    }
    at_most(text, chars, field)
}

fn check_length(length: usize, max: usize, unit: &str, field: &str) -> Result<(), CatalogError> {
    if length > max {
        return Err(CatalogError::invalid_field(
            field,
            format!("must have at most {max} {unit}"),
        ));
    }
    Ok(())
}

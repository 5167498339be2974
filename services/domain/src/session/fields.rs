//! What a caller may write into a session: each field is read once, at the edge, with the bounds of the contract.

use crate::error::CatalogError;
use crate::text::refuse_control_characters;

/// Code points of a name at most.
pub const NAME_CHARS_MAX: usize = 64;

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

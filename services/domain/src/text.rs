//! Texts that people write and search: titles, agent names, search texts.

use icu_casemap::CaseMapper;
use icu_normalizer::ComposingNormalizerBorrowed;

use crate::error::CatalogError;
use crate::limits;

/// Checks a title: at most 200 code points, no control characters.
///
/// # Errors
/// [`CatalogError::InvalidField`] naming `field`.
pub fn check_title(title: &str, field: &str) -> Result<(), CatalogError> {
    if title.chars().count() > limits::TITLE_CHARS_MAX {
        return Err(CatalogError::invalid_field(
            field,
            "must have at most 200 characters",
        ));
    }
    refuse_control_characters(title, field)
}

/// Checks the name of an agent: empty, or `^[a-z][a-z0-9_-]{0,105}$`.
///
/// # Errors
/// [`CatalogError::InvalidField`] naming `field`.
pub fn check_agent(agent: &str, field: &str) -> Result<(), CatalogError> {
    let mut bytes = agent.bytes();
    let Some(first) = bytes.next() else { return Ok(()) };
    let well_formed = agent.len() <= 106
        && first.is_ascii_lowercase()
        && bytes.all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || matches!(b, b'_' | b'-'));
    if well_formed {
        return Ok(());
    }
    Err(CatalogError::invalid_field(
        field,
        "must be empty, or start with a lower-case letter and hold up to 106 lower-case letters, digits, '_' and '-'",
    ))
}

/// Refuses control characters, NUL among them.
///
/// # Errors
/// [`CatalogError::InvalidField`] naming `field`.
pub fn refuse_control_characters(text: &str, field: &str) -> Result<(), CatalogError> {
    match text.chars().find(|c| c.is_control()) {
        None => Ok(()),
        Some(found) => Err(CatalogError::invalid_field(
            field,
            format!("must not hold the control character U+{:04X}", u32::from(found)),
        )),
    }
}

/// The form in which texts are searched: compatibility forms, width and case do not count (NFKC with full
/// case folding). Both engines store and compare this form, so that they find the same.
#[must_use]
pub fn fold_for_search(text: &str) -> String {
    let normalizer = ComposingNormalizerBorrowed::new_nfkc();
    let folded = CaseMapper::new()
        .fold_string(&normalizer.normalize(text))
        .into_owned();
    normalizer.normalize(&folded).into_owned()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn search_ignores_case_and_width() {
        assert_eq!(fold_for_search("ＡＰＩ Straße"), fold_for_search("api STRASSE"));
        assert_eq!(fold_for_search("a%_*\\"), "a%_*\\");
    }

    #[test]
    fn w087_title_bounds() {
        assert!(check_title(&"t".repeat(200), "title").is_ok());
        assert!(check_title(&"t".repeat(201), "title").is_err());
        assert!(check_title("bell\u{7}", "title").is_err());
    }

    #[test]
    fn w089_w090_agent_grammar() {
        assert!(check_agent(&format!("a{}", "b".repeat(105)), "default_agent").is_ok());
        for bad in [&format!("a{}", "b".repeat(106)), "Bad Name", "1a", "-a", "é"] {
            assert!(check_agent(bad, "default_agent").is_err(), "{bad}");
        }
        assert!(check_agent("", "default_agent").is_ok());
    }
}

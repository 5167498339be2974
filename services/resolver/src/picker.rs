//! The pure part of the directory picker: the way to a directory, and which names a new one may have.

use compozy_domain::CatalogError;
use compozy_domain::limits::PATH_COMPONENT_BYTES_MAX;
use compozy_domain::text::refuse_control_characters;

use crate::files::{is_plain_name, prefixes};

/// Child directories that a picker shows at most.
pub const LISTED_MAX: usize = 1_000;

/// The paths from `/` to a canonical path, both included.
#[must_use]
pub fn crumbs(canonical: &str) -> Vec<String> {
    let mut crumbs: Vec<String> = prefixes(canonical).map(str::to_owned).collect();
    crumbs.reverse();
    crumbs
}

/// Checks the name of a new directory: one plain segment that is not blank.
///
/// # Errors
/// [`CatalogError::InvalidField`] naming `field`.
pub fn check_segment(name: &str, field: &str) -> Result<(), CatalogError> {
    refuse_control_characters(name, field)?;
    if name.trim().is_empty() {
        return Err(CatalogError::invalid_field(field, "must not be blank"));
    }
    if name.len() > PATH_COMPONENT_BYTES_MAX {
        return Err(CatalogError::invalid_field(field, "must have at most 255 bytes"));
    }
    if !is_plain_name(name) {
        let problem = "must be one name: not '.', not '..', without '/'";
        return Err(CatalogError::invalid_field(field, problem));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn w274_crumbs_lead_from_the_top() {
        assert_eq!(crumbs("/a/b"), ["/", "/a", "/a/b"]);
        assert_eq!(crumbs("/"), ["/"]);
    }

    #[test]
    fn w279_only_one_plain_segment_is_taken() {
        for bad in ["a/b", "..", ".", "", "  ", "a\0", "a\nb"] {
            assert!(check_segment(bad, "name").is_err(), "{bad:?}");
        }
        assert!(check_segment(&"x".repeat(256), "name").is_err());
        for good in ["new", ".hidden", "a b", "é"] {
            assert!(check_segment(good, "name").is_ok(), "{good}");
        }
    }
}

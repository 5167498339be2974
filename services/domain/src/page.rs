//! Counted pages.

use crate::change::Revision;
use crate::error::CatalogError;
use crate::limits;

/// Rows on a page: 1 to 100.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PageLimit(u32);

impl PageLimit {
    /// Reads a request's limit; 0 is the default of 50.
    ///
    /// # Errors
    /// [`CatalogError::InvalidField`] naming `limit`.
    pub fn parse(limit: i32) -> Result<Self, CatalogError> {
        match u32::try_from(limit) {
            Ok(0) => Ok(Self(limits::PAGE_LIMIT_DEFAULT)),
            Ok(rows @ 1..=limits::PAGE_LIMIT_MAX) => Ok(Self(rows)),
            _ => Err(CatalogError::invalid_field(
                "limit",
                "must be 0 (for 50) or 1 to 100",
            )),
        }
    }

    /// The number of rows.
    #[must_use]
    pub fn get(self) -> u32 {
        self.0
    }
}

/// One page as the store answers it. Rows, total and revision come from one snapshot.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page<T> {
    /// The rows, at most as many as asked for.
    pub rows: Vec<T>,
    /// Exact number of matches over all pages.
    pub total: u64,
    /// Whether rows follow.
    pub has_more: bool,
    /// Head of the change log.
    pub revision: Revision,
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn w208_limits() {
        assert_eq!(PageLimit::parse(0).unwrap().get(), 50);
        assert_eq!(PageLimit::parse(1).unwrap().get(), 1);
        assert_eq!(PageLimit::parse(100).unwrap().get(), 100);
        assert!(PageLimit::parse(101).is_err() && PageLimit::parse(-1).is_err());
    }
}

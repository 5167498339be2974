//! Which fields an update means.

use compozy_domain::CatalogError;
use prost_types::FieldMask;

/// Paths at most, repetitions included.
const PATHS_MAX: usize = 16;

/// The paths of a mask; without any, the fields that are set count.
#[derive(Debug)]
pub(super) struct Mask(Option<Vec<String>>);

impl Mask {
    /// Reads a mask that may name the fields of `known`; `elsewhere` ends the complaint about another one.
    ///
    /// # Errors
    /// [`CatalogError::InvalidField`] naming the path.
    pub(super) fn read(
        mask: Option<FieldMask>,
        known: &[&str],
        elsewhere: &str,
    ) -> Result<Self, CatalogError> {
        let wrong = |problem: String| Err(CatalogError::invalid_field("update_mask", problem));
        let paths = mask.map(|mask| mask.paths).filter(|paths| !paths.is_empty());
        let given = paths.as_deref().unwrap_or_default();
        if given.len() > PATHS_MAX {
            return wrong(format!("must hold at most {PATHS_MAX} paths"));
        }
        if let Some(other) = given.iter().find(|path| !known.contains(&path.as_str())) {
            let shown: String = other.chars().take(64).flat_map(char::escape_debug).collect();
            let (last, others) = known.split_last().unwrap_or((&"nothing", &[]));
            let others = others.join(", ");
            return wrong(format!(
                "must hold only {others} and {last}, not '{shown}'{elsewhere}"
            ));
        }
        Ok(Self(paths))
    }

    /// Whether the update means a field, which may be set in it.
    pub(super) fn means(&self, field: &str, is_set: bool) -> bool {
        match &self.0 {
            Some(paths) => paths.iter().any(|path| path == field),
            None => is_set,
        }
    }
}

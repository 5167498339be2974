//! Which part of the disk a caller may name. Whether a path lies in it is decided on the directory that the
//! path leads to, never on the path's text.

use compozy_domain::path::contains;
use compozy_domain::{AbsolutePath, CatalogError, PathFault};

use crate::files::{Directory, DirectoryFault, Files, Kind, RelativePath, prefixes};

/// The directories below which a caller may name paths.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AllowedRoots {
    /// The whole disk.
    Everything,
    /// These and what lies below them, in canonical form. None at all allows nothing.
    Only(Vec<String>),
}

impl AllowedRoots {
    /// Whether a canonical path lies in an allowed root, compared by component.
    #[must_use]
    pub fn contain(&self, canonical: &str) -> bool {
        match self {
            Self::Everything => true,
            Self::Only(roots) => roots.iter().any(|root| contains(root, canonical)),
        }
    }

    /// Resolves a path that a caller gave in `field` to a directory that it may name.
    ///
    /// # Errors
    /// [`PathFault::NotAllowed`] for a path that leads out, whether or not there is anything: the answer
    /// tells nothing about what lies outside. Otherwise as [`DirectoryFault::into_error`].
    pub fn directory(
        &self,
        files: &dyn Files,
        path: &AbsolutePath,
        field: &str,
    ) -> Result<Directory, CatalogError> {
        let path = path.as_str();
        match files.directory(path) {
            Ok(found) if self.contain(&found.path) => Ok(found),
            Err(fault) if self.fails_inside(files, path, &fault) => Err(fault.into_error(field, path)),
            Ok(_) | Err(_) => Err(CatalogError::path(field, path, PathFault::NotAllowed)),
        }
    }

    /// Whether the way to a path that can't be used breaks off inside, so that its fault may be told.
    fn fails_inside(&self, files: &dyn Files, path: &str, fault: &DirectoryFault) -> bool {
        if matches!(self, Self::Everything) {
            return true;
        }
        // What is wrong with the daemon says nothing about the disk.
        if matches!(fault, DirectoryFault::Other { .. }) {
            return true;
        }
        for prefix in prefixes(path).skip(1) {
            let Ok(reached) = files.directory(prefix) else {
                continue;
            };
            return self.contain(&reached.path) && !goes_on_through_link(files, &reached, prefix, path);
        }
        false
    }
}

/// Whether the first name that could not be followed is a link: where it leads must not be told.
fn goes_on_through_link(files: &dyn Files, reached: &Directory, prefix: &str, path: &str) -> bool {
    let rest = path.get(prefix.len()..).unwrap_or_default();
    let next = rest.split('/').find(|part| !part.is_empty()).unwrap_or_default();
    let Some(next) = RelativePath::parse(next) else {
        return true;
    };
    match files.kind_below(reached, &next) {
        Ok(kind) => kind == Some(Kind::Link),
        // A directory that can't be searched can't be left either.
        Err(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn w110_containment_is_by_component() {
        let roots = AllowedRoots::Only(vec!["/t/ok".to_owned()]);
        assert!(roots.contain("/t/ok") && roots.contain("/t/ok/a"));
        assert!(!roots.contain("/t/ok-2") && !roots.contain("/t/other") && !roots.contain("/t"));
    }

    #[test]
    fn no_roots_allow_nothing() {
        assert!(!AllowedRoots::Only(Vec::new()).contain("/t"));
        assert!(AllowedRoots::Everything.contain("/t"));
    }
}

//! Paths as callers write them. Resolving a path is the disk's business; here only its text is checked.

use crate::error::{CatalogError, PathFault};
use crate::limits;
use crate::text::refuse_control_characters;

/// An absolute path in the caller's spelling: UTF-8, no control characters, bounded.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct AbsolutePath(String);

/// What tells one file from another on a host, whatever its path is called.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct FileIdentity {
    /// Device number.
    pub device: u64,
    /// Inode number on that device.
    pub inode: u64,
}

impl AbsolutePath {
    /// Reads the path in `field` of a request.
    ///
    /// # Errors
    /// [`CatalogError::InvalidField`] for an empty, too long or control character holding text,
    /// [`CatalogError::Path`] with [`PathFault::NotAbsolute`] for a relative one.
    pub fn parse(text: &str, field: &str) -> Result<Self, CatalogError> {
        if text.is_empty() {
            return Err(CatalogError::invalid_field(
                field,
                "must be set to an absolute path",
            ));
        }
        if text.len() > limits::PATH_BYTES_MAX {
            return Err(CatalogError::invalid_field(field, "must have at most 4096 bytes"));
        }
        refuse_control_characters(text, field)?;
        if text
            .split('/')
            .any(|part| part.len() > limits::PATH_COMPONENT_BYTES_MAX)
        {
            return Err(CatalogError::invalid_field(
                field,
                "must not hold a component of more than 255 bytes",
            ));
        }
        if !text.starts_with('/') {
            return Err(CatalogError::path(field, text, PathFault::NotAbsolute));
        }
        Ok(Self(text.to_owned()))
    }

    /// The path as it was written.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The path with `.` and `..` and empty components taken out of the text, without a look at the disk.
    /// Only good for a directory that is not there any more.
    #[must_use]
    pub fn lexically_normal(&self) -> String {
        let mut parts: Vec<&str> = Vec::new();
        for part in self.0.split('/') {
            match part {
                "" | "." => {}
                ".." => {
                    parts.pop();
                }
                other => parts.push(other),
            }
        }
        format!("/{}", parts.join("/"))
    }
}

/// The last component of a canonical path, or nothing for `/`.
#[must_use]
pub fn base_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or_default()
}

/// Whether `path` is `root` or lies below it, both canonical, compared by component.
#[must_use]
pub fn contains(root: &str, path: &str) -> bool {
    let root = root.trim_end_matches('/');
    path.strip_prefix(root)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// Number of components of a canonical path; 0 for `/`.
#[must_use]
pub fn depth(path: &str) -> usize {
    path.split('/').filter(|part| !part.is_empty()).count()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn w080_w081_bad_texts_name_the_field() {
        for bad in [
            format!("/{}", "x".repeat(256)),
            "/a\0b".into(),
            "/a\nb".into(),
            "/a\u{1b}b".into(),
            String::new(),
        ] {
            let error = AbsolutePath::parse(&bad, "path").unwrap_err();
            assert!(
                matches!(error, CatalogError::InvalidField { ref field, .. } if field == "path"),
                "{error:?}"
            );
        }
        assert!(AbsolutePath::parse(&format!("/{}", "x".repeat(255)), "path").is_ok());
    }

    #[test]
    fn w075_relative_paths_are_refused() {
        for bad in ["a", "./a", "~/a", "C:\\x"] {
            let error = AbsolutePath::parse(bad, "path").unwrap_err();
            assert!(
                matches!(
                    error,
                    CatalogError::Path {
                        fault: PathFault::NotAbsolute,
                        ..
                    }
                ),
                "{bad}"
            );
        }
    }

    #[test]
    fn containment_is_by_component() {
        assert!(contains("/w/alpha", "/w/alpha/x"));
        assert!(contains("/w/alpha", "/w/alpha"));
        assert!(!contains("/w/alpha", "/w/alpha-2"));
        assert!(contains("/", "/w"));
        assert_eq!(depth("/"), 0);
        assert_eq!(depth("/a/b"), 2);
        assert_eq!(
            AbsolutePath::parse("/a/./x/../b//", "path")
                .unwrap()
                .lexically_normal(),
            "/a/b"
        );
    }
}

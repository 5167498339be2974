//! Paths below a root, made of names that lead nowhere but down.

/// A path below a directory: one or more plain names. No name is `.` or `..`, so it can't lead out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RelativePath(String);

impl RelativePath {
    /// Reads a path of names that are joined by single slashes; anything else is no such path.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        text.split('/').all(is_plain_name).then(|| Self(text.to_owned()))
    }

    /// The text of the path.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The directories that lead to the file, outermost first, and its name.
    pub(crate) fn split(&self) -> (Vec<&str>, &str) {
        match self.0.rsplit_once('/') {
            Some((directories, name)) => (directories.split('/').collect(), name),
            None => (Vec::new(), &self.0),
        }
    }
}

/// Whether a text names one child of a directory.
pub(crate) fn is_plain_name(name: &str) -> bool {
    !matches!(name, "" | "." | "..") && !name.contains(['/', '\0'])
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn only_plain_names_make_a_path() {
        let path = RelativePath::parse(".compozy/workspace.toml").unwrap();
        assert_eq!(path.split(), (vec![".compozy"], "workspace.toml"));
        assert_eq!(RelativePath::parse("x").unwrap().split(), (vec![], "x"));
        for bad in ["", "/a", "a/", "a//b", ".", "..", "a/../b", "a\0"] {
            assert_eq!(RelativePath::parse(bad), None, "{bad:?}");
        }
    }
}

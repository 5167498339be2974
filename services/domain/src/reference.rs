//! References to workspaces, decided by syntax alone.

use crate::error::CatalogError;
use crate::id::{DurableId, WorkspaceId};
use crate::name::WorkspaceName;
use crate::path::AbsolutePath;

/// A reference whose form is decided.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WorkspaceRef {
    /// A registration by id.
    Id(WorkspaceId),
    /// By the identity of its directory.
    Durable(DurableId),
    /// By name; the key to look up.
    Name(String),
    /// The nearest registered root that contains the path.
    Path(AbsolutePath),
    /// A text of the forced form that can't name anything.
    Nothing,
}

impl WorkspaceRef {
    /// Reads an id reference.
    #[must_use]
    pub fn id(text: &str) -> Self {
        WorkspaceId::parse(text).map_or(Self::Nothing, Self::Id)
    }

    /// Reads a durable id reference.
    #[must_use]
    pub fn durable(text: &str) -> Self {
        DurableId::parse(text).map_or(Self::Nothing, Self::Durable)
    }

    /// Reads a name reference.
    #[must_use]
    pub fn name(text: &str) -> Self {
        let key = WorkspaceName::lookup_key(text);
        if key.chars().count() > crate::name::NAME_CHARS_MAX {
            Self::Nothing
        } else {
            Self::Name(key)
        }
    }

    /// Reads a path reference.
    ///
    /// # Errors
    /// As [`AbsolutePath::parse`].
    pub fn path(text: &str, field: &str) -> Result<Self, CatalogError> {
        AbsolutePath::parse(text, field).map(Self::Path)
    }

    /// Reads a reference of any form: a forcing prefix, else a workspace id, a durable id, an absolute path,
    /// else a name.
    ///
    /// # Errors
    /// [`CatalogError::InvalidField`] for a blank one, otherwise as [`AbsolutePath::parse`].
    pub fn any(text: &str, field: &str) -> Result<Self, CatalogError> {
        let text = text.trim();
        if text.is_empty() {
            return Err(CatalogError::invalid_field(field, "must name a workspace"));
        }
        if let Some(rest) = text.strip_prefix("id:") {
            return Ok(Self::id(rest.trim()));
        }
        if let Some(rest) = text.strip_prefix("name:") {
            return Ok(Self::name(rest));
        }
        if let Some(rest) = text.strip_prefix("durable:") {
            return Ok(Self::durable(rest.trim()));
        }
        if let Some(rest) = text.strip_prefix("path:") {
            return Self::path(rest, field);
        }
        if let Some(id) = WorkspaceId::parse(text) {
            return Ok(Self::Id(id));
        }
        if let Some(durable) = DurableId::parse(text) {
            return Ok(Self::Durable(durable));
        }
        if text.starts_with('/') {
            return Self::path(text, field);
        }
        Ok(Self::name(text))
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    const ID1: &str = "01HXJ9YR4QZ0V7M3T5B8N2C6KD";

    #[test]
    fn w143_to_w150_the_syntax_decides() {
        let any = |text: &str| WorkspaceRef::any(text, "ref.any");
        assert_eq!(any("  api  ").unwrap(), WorkspaceRef::Name("api".into()));
        assert_eq!(any("name:API").unwrap(), WorkspaceRef::Name("api".into()));
        assert!(matches!(any("ws_0123456789abcdef").unwrap(), WorkspaceRef::Id(_)));
        assert_eq!(any("id:api").unwrap(), WorkspaceRef::Nothing);
        assert!(matches!(any(ID1).unwrap(), WorkspaceRef::Durable(_)));
        assert!(matches!(
            any(&format!("durable:{ID1}")).unwrap(),
            WorkspaceRef::Durable(_)
        ));
        assert!(matches!(any("/a/b").unwrap(), WorkspaceRef::Path(_)));
        assert!(any("path:a/b").is_err());
        assert!(any("   ").is_err());
        for malformed in ["ws_ABC", "ws_../../etc/passwd", "x"] {
            assert_eq!(WorkspaceRef::id(malformed), WorkspaceRef::Nothing);
        }
        assert_eq!(WorkspaceRef::durable(&ID1.to_lowercase()), WorkspaceRef::Nothing);
        assert_eq!(
            any("my project").unwrap(),
            WorkspaceRef::Name("my project".into())
        );
    }
}

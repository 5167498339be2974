//! Callers: who they are, what they may do and which workspaces exist for them.

use crate::error::CatalogError;
use crate::id::WorkspaceId;

/// What a method may need.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Scope {
    /// Reading the catalog.
    Read,
    /// Changing the catalog.
    Write,
    /// Steering the server.
    Admin,
    /// Receiving what an agent is started with, secrets included.
    Launch,
}

impl Scope {
    /// The scope's word in tokens and errors.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::Admin => "admin",
            Self::Launch => "launch",
        }
    }

    /// Reads a scope's word.
    #[must_use]
    pub fn parse(word: &str) -> Option<Self> {
        [Self::Read, Self::Write, Self::Admin, Self::Launch]
            .into_iter()
            .find(|scope| scope.as_str() == word)
    }
}

/// The workspaces that exist for a caller: a predicate of every get, list, total and change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Visibility {
    /// Every workspace.
    All,
    /// These and no others.
    Only(Vec<WorkspaceId>),
}

impl Visibility {
    /// Whether a workspace exists for the caller.
    #[must_use]
    pub fn includes(&self, id: &WorkspaceId) -> bool {
        match self {
            Self::All => true,
            Self::Only(ids) => ids.contains(id),
        }
    }
}

/// An authenticated caller.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Principal {
    /// Stable id, such as `local` or a token's name. Request ids are remembered under it.
    pub id: String,
    /// What the caller may do.
    pub scopes: Vec<Scope>,
    /// What exists for the caller.
    pub visibility: Visibility,
    /// Whether the caller came over the socket, as the daemon's own user. Others may only name paths under
    /// the configured roots.
    pub local: bool,
}

impl Principal {
    /// The caller on the socket: the daemon's own user.
    #[must_use]
    pub fn local() -> Self {
        Self {
            id: "local".to_owned(),
            scopes: vec![Scope::Read, Scope::Write, Scope::Admin, Scope::Launch],
            visibility: Visibility::All,
            local: true,
        }
    }

    /// Checks that the caller has a scope.
    ///
    /// # Errors
    /// [`CatalogError::ScopeDenied`].
    pub fn require(&self, scope: Scope) -> Result<(), CatalogError> {
        if self.scopes.contains(&scope) {
            return Ok(());
        }
        Err(CatalogError::ScopeDenied {
            scope: scope.as_str(),
        })
    }
}

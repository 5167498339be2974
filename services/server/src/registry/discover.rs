//! Discovery: which registered root owns a directory. The cost does not grow with the number of workspaces: the
//! ancestors of the path are looked up, not every row.

use compozy_domain::{CatalogError, Visibility, Workspace};
use compozy_resolver::{Directory, Files, RootPresence};

use super::call::not_found;
use super::{Caller, NamedPath, Registry, within};

/// The owner of a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Discovered {
    /// The owner.
    pub workspace: Workspace,
    /// How it was found.
    pub method: DiscoveryMethod,
    /// The path in canonical form.
    pub canonical_path: String,
}

/// How an owner was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DiscoveryMethod {
    /// The path is the root.
    Root,
    /// The root is an ancestor of the path, by its components.
    Ancestor,
    /// An ancestor of the path, or the path, is the same file as the root.
    SameFile,
}

impl Registry {
    /// The registration that owns a path.
    ///
    /// # Errors
    /// [`CatalogError::WorkspaceNotFound`], and what may be wrong with a path.
    pub async fn discover(&self, caller: &Caller, path: &NamedPath) -> Result<Discovered, CatalogError> {
        let directory = self.admit(caller, path).await?;
        let owner = self.owner_of(caller, &directory).await?;
        let (workspace, method) = owner.ok_or_else(|| not_found(path.path.as_str()))?;
        Ok(Discovered {
            workspace,
            method,
            canonical_path: directory.path,
        })
    }

    /// The visible registration whose root is nearest above a directory. Roots of other rows that are gone or
    /// can't be looked at play no part.
    pub(super) async fn owner_of(
        &self,
        caller: &Caller,
        directory: &Directory,
    ) -> Result<Option<(Workspace, DiscoveryMethod)>, CatalogError> {
        self.nearest(caller, directory, &caller.principal.visibility)
            .await
    }

    /// The registration whose root is nearest above a directory, whoever may see it.
    pub(super) async fn true_owner_of(
        &self,
        caller: &Caller,
        directory: &Directory,
    ) -> Result<Option<(Workspace, DiscoveryMethod)>, CatalogError> {
        self.nearest(caller, directory, &Visibility::All).await
    }

    async fn nearest(
        &self,
        caller: &Caller,
        directory: &Directory,
        visibility: &Visibility,
    ) -> Result<Option<(Workspace, DiscoveryMethod)>, CatalogError> {
        let path = directory.path.clone();
        let ancestors = self
            .look(caller.deadline, move |files| files.ancestors(&path))
            .await?;
        let mut rows = self.rows_at(caller, &ancestors).await?;
        rows.retain(|row| visibility.includes(&row.id));
        if rows.is_empty() {
            return Ok(None);
        }
        self.look(caller.deadline, move |files| {
            nearest_owner(files, &ancestors, rows)
        })
        .await
    }

    /// The registration of a directory itself, whoever may see it: by its path, or as the same file under another
    /// one.
    pub(super) async fn registered_as(
        &self,
        caller: &Caller,
        directory: &Directory,
    ) -> Result<Option<Workspace>, CatalogError> {
        let itself = vec![directory.clone()];
        let rows = self.rows_at(caller, &itself).await?;
        if let Some(row) = rows.iter().find(|row| row.root_dir == directory.path) {
            return Ok(Some(row.clone()));
        }
        if rows.is_empty() {
            return Ok(None);
        }
        let owner = self
            .look(caller.deadline, move |files| nearest_owner(files, &itself, rows))
            .await?;
        Ok(owner.map(|(workspace, _)| workspace))
    }

    async fn rows_at(&self, caller: &Caller, places: &[Directory]) -> Result<Vec<Workspace>, CatalogError> {
        let paths: Vec<_> = places.iter().map(|place| place.path.clone()).collect();
        let files: Vec<_> = places.iter().map(|place| place.file).collect();
        within(
            caller.deadline,
            self.store.find_by_roots(&self.host, &paths, &files),
        )
        .await
    }
}

/// Of rows in the order of their ids, the first that matches the innermost ancestor. A root matches by its path,
/// or when a look at it now shows the very same directory: what the row recorded may be long out of date.
fn nearest_owner(
    files: &dyn Files,
    ancestors: &[Directory],
    rows: Vec<Workspace>,
) -> Option<(Workspace, DiscoveryMethod)> {
    let mut nearest: Option<(usize, DiscoveryMethod, Workspace)> = None;
    for row in rows {
        let Some((depth, method)) = match_of(files, ancestors, &row) else {
            continue;
        };
        // The default workspace owns its root and nothing below it.
        if row.is_default && depth > 0 {
            continue;
        }
        let is_nearer = match &nearest {
            None => true,
            Some((best, _, of)) => (depth, &row.id) < (*best, &of.id),
        };
        if is_nearer {
            nearest = Some((depth, method, row));
        }
    }
    nearest.map(|(_, method, row)| (row, method))
}

/// How many steps above the directory a row's root lies, if it does.
fn match_of(files: &dyn Files, ancestors: &[Directory], row: &Workspace) -> Option<(usize, DiscoveryMethod)> {
    if let Some(depth) = ancestors.iter().position(|place| place.path == row.root_dir) {
        let method = if depth == 0 {
            DiscoveryMethod::Root
        } else {
            DiscoveryMethod::Ancestor
        };
        return Some((depth, method));
    }
    let depth = ancestors.iter().position(|place| place.file == row.root_file)?;
    let now = files.root_presence(&row.root_dir);
    (now == RootPresence::Present(ancestors[depth].file)).then_some((depth, DiscoveryMethod::SameFile))
}

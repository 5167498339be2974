//! Paths of requests: from a caller's spelling to a directory that the caller may name.

use std::time::Instant;

use compozy_domain::path::contains;
use compozy_domain::{AbsolutePath, CatalogError, limits};
use compozy_resolver::{AllowedRoots, Directory, Files};

use super::{Caller, Registry};

/// A path and the field of the request that it stands in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamedPath {
    /// The path as it was written.
    pub path: AbsolutePath,
    /// Path of the field, for errors.
    pub field: String,
}

impl NamedPath {
    /// Reads the path in a field of a request.
    ///
    /// # Errors
    /// As [`AbsolutePath::parse`].
    pub fn parse(text: &str, field: impl Into<String>) -> Result<Self, CatalogError> {
        let field = field.into();
        let path = AbsolutePath::parse(text, &field)?;
        Ok(Self { path, field })
    }

    /// Reads the paths of a repeated field.
    ///
    /// # Errors
    /// As [`AbsolutePath::parse`], naming the element.
    pub fn parse_all(texts: &[String], field: &str) -> Result<Vec<Self>, CatalogError> {
        let mut paths = Vec::with_capacity(texts.len());
        for (at, text) in texts.iter().enumerate() {
            paths.push(Self::parse(text, format!("{field}[{at}]"))?);
        }
        Ok(paths)
    }
}

impl Registry {
    /// Finds the directory of a path, which has to lie below the allowed roots. What lies outside is refused in
    /// the same words whether it exists or not.
    pub(super) async fn admit(&self, caller: &Caller, named: &NamedPath) -> Result<Directory, CatalogError> {
        self.require_host()?;
        let configured = self.settings.allowed_roots.clone();
        let everything = configured.is_empty() && caller.principal.local;
        let NamedPath { path, field } = named.clone();
        self.look(caller.deadline, move |files| {
            let roots = if everything {
                AllowedRoots::Everything
            } else {
                canonical_roots(files, &configured)
            };
            roots.directory(files, &path, &field)
        })
        .await?
    }

    /// As [`Registry::admit`], for the root of a workspace: neither `/` nor the daemon's home, in any guise.
    pub(super) async fn admit_root(
        &self,
        caller: &Caller,
        named: &NamedPath,
    ) -> Result<Directory, CatalogError> {
        let directory = self.admit(caller, named).await?;
        if directory.path.len() > limits::ROOT_BYTES_MAX {
            let problem = format!(
                "must have at most {} bytes in canonical form",
                limits::ROOT_BYTES_MAX
            );
            return Err(CatalogError::invalid_field(&named.field, problem));
        }
        if self.is_forbidden_root(caller.deadline, &directory).await? {
            return Err(CatalogError::HomeForbidden { path: directory.path });
        }
        Ok(directory)
    }

    /// Whether a directory that nobody asked for, where a root leads now, may be the root of a workspace, too.
    pub(super) async fn may_become_root(
        &self,
        deadline: Instant,
        directory: &Directory,
    ) -> Result<bool, CatalogError> {
        if directory.path.len() > limits::ROOT_BYTES_MAX
            || self.is_forbidden_root(deadline, directory).await?
        {
            return Ok(false);
        }
        let configured = self.settings.allowed_roots.clone();
        if configured.is_empty() {
            return Ok(true);
        }
        let path = directory.path.clone();
        self.look(deadline, move |files| {
            canonical_roots(files, &configured).contain(&path)
        })
        .await
    }

    async fn is_forbidden_root(
        &self,
        deadline: Instant,
        directory: &Directory,
    ) -> Result<bool, CatalogError> {
        let home = self.settings.catalog_home.clone();
        let directory = directory.clone();
        self.look(deadline, move |files| is_forbidden(files, &home, &directory))
            .await
    }

    /// The canonical paths of several directories, in their order.
    pub(super) async fn admit_all(
        &self,
        caller: &Caller,
        named: &[NamedPath],
    ) -> Result<Vec<String>, CatalogError> {
        let mut paths = Vec::with_capacity(named.len());
        for path in named {
            paths.push(self.admit(caller, path).await?.path);
        }
        Ok(paths)
    }

    /// The canonical form of a path that is only compared: by the disk where it can, otherwise by the text.
    pub(super) async fn canonical_for_comparison(
        &self,
        caller: &Caller,
        path: &AbsolutePath,
    ) -> Result<String, CatalogError> {
        let spelled = path.as_str().to_owned();
        let found = self
            .look(caller.deadline, move |files| files.directory(&spelled))
            .await?;
        Ok(found.map_or_else(|_| path.lexically_normal(), |directory| directory.path))
    }
}

/// The configured roots as they lie on the disk now. One that is away allows nothing.
pub(super) fn canonical_roots(files: &dyn Files, configured: &[String]) -> AllowedRoots {
    let found = configured.iter().filter_map(|root| files.directory(root).ok());
    AllowedRoots::Only(found.map(|directory| directory.path).collect())
}

/// Whether a directory is `/`, the daemon's home or below it: by its path, and as the same file elsewhere.
fn is_forbidden(files: &dyn Files, home: &str, directory: &Directory) -> bool {
    if directory.path == "/" || contains(home, &directory.path) {
        return true;
    }
    if files.directory("/").is_ok_and(|top| top.file == directory.file) {
        return true;
    }
    let Ok(home) = files.directory(home) else {
        return false;
    };
    files
        .ancestors(&directory.path)
        .iter()
        .any(|above| above.file == home.file)
}

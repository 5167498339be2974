//! The directory picker.

use std::sync::Arc;

use compozy_domain::CatalogError;
use compozy_domain::path::base_name;
use compozy_resolver::picker::{LISTED_MAX, check_segment, crumbs};

use super::{Caller, NamedPath, Registry, Reply, WriteCall};

/// The children of a directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DirectoryListing {
    /// The directory, canonical.
    pub path: String,
    /// Child directories by name.
    pub entries: Vec<DirectoryEntry>,
    /// Whether there are more.
    pub truncated: bool,
    /// The way from `/` to the directory: names and paths.
    pub crumbs: Vec<(String, String)>,
}

/// One child directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DirectoryEntry {
    /// Its name; of a link its own.
    pub name: String,
    /// Its absolute path, by that name.
    pub path: String,
    /// Whether the name starts with a dot.
    pub hidden: bool,
}

/// A directory that was made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DirectoryMade {
    /// Its absolute path.
    pub path: String,
}

impl Registry {
    /// The child directories of a directory; without a path of the operator's home.
    ///
    /// # Errors
    /// [`CatalogError`] of paths.
    pub async fn list_directory(
        &self,
        caller: &Caller,
        path: Option<NamedPath>,
    ) -> Result<DirectoryListing, CatalogError> {
        self.require_host()?;
        let path = match (path, &self.settings.operator_home) {
            (Some(path), _) => path,
            (None, Some(home)) => NamedPath::parse(home, "path")?,
            (None, None) => {
                return Err(CatalogError::invalid_field(
                    "path",
                    "must be set: the daemon's user has no home",
                ));
            }
        };
        let directory = self.admit(caller, &path).await?;
        let looked_at = directory.clone();
        let listing = self
            .look(caller.deadline, move |files| {
                files.list_directories(&looked_at, LISTED_MAX)
            })
            .await?;
        let listing = listing.map_err(|fault| fault.into_error(&path.field, path.path.as_str()))?;
        let entries = listing.entries.into_iter().map(|entry| DirectoryEntry {
            path: child(&directory.path, &entry.name),
            name: entry.name,
            hidden: entry.hidden,
        });
        let crumbs = crumbs(&directory.path).into_iter().map(|path| {
            let name = if path == "/" { "/" } else { base_name(&path) };
            (name.to_owned(), path)
        });
        Ok(DirectoryListing {
            entries: entries.collect(),
            truncated: listing.truncated,
            crumbs: crumbs.collect(),
            path: directory.path,
        })
    }

    /// Makes one directory in an existing one.
    ///
    /// # Errors
    /// [`CatalogError`] of paths, [`CatalogError::DirectoryExists`], [`CatalogError::DiskFull`].
    pub async fn create_directory(
        self: Arc<Self>,
        call: WriteCall<DirectoryMade>,
        (parent, name): (NamedPath, String),
    ) -> Result<Reply<DirectoryMade>, CatalogError> {
        check_segment(&name, "name")?;
        self.carry_out(call, move |registry, call| async move {
            let parent = registry.admit(&call.caller, &parent).await?;
            let (made_in, segment) = (parent.clone(), name.clone());
            let created = registry
                .touch(move |files| files.create_directory(&made_in, &segment))
                .await?;
            created.map_err(|fault| fault.into_error(&parent.path, &name))?;
            let made = DirectoryMade {
                path: child(&parent.path, &name),
            };
            let answer = made.clone();
            match registry.answer_without_row(&call, move |_| answer.clone()).await {
                // The directory is there, whether or not the answer could be kept for a repetition.
                Err(error) => {
                    tracing::warn!(%error, path = made.path, "the answer to a new directory was not kept");
                    Ok(Reply::Fresh(made))
                }
                reply => reply,
            }
        })
        .await
    }
}

fn child(parent: &str, name: &str) -> String {
    format!("{}/{name}", parent.trim_end_matches('/'))
}

//! References: from what a caller calls a workspace to the workspace.

use compozy_domain::{CatalogError, DurableId, Workspace, WorkspaceRef};

use super::call::not_found;
use super::{Caller, NamedPath, Registry, within};

/// A reference of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reference {
    /// What it refers to, decided by syntax.
    pub form: WorkspaceRef,
    /// As the caller wrote it, for errors.
    pub text: String,
    /// Path of its field in the request.
    pub field: String,
}

impl Registry {
    /// The workspace that a reference names, of those that exist for the caller.
    pub(crate) async fn find(
        &self,
        caller: &Caller,
        reference: &Reference,
    ) -> Result<Workspace, CatalogError> {
        let visibility = &caller.principal.visibility;
        let found = match &reference.form {
            WorkspaceRef::Nothing => None,
            WorkspaceRef::Id(id) => within(caller.deadline, self.store.find(id, visibility)).await?.0,
            WorkspaceRef::Name(key) => {
                within(caller.deadline, self.store.find_by_name(key, visibility)).await?
            }
            WorkspaceRef::Durable(durable) => self.find_durable(caller, durable).await?,
            WorkspaceRef::Path(path) => {
                let named = NamedPath {
                    path: path.clone(),
                    field: reference.field.clone(),
                };
                let directory = self.admit(caller, &named).await?;
                self.owner_of(caller, &directory)
                    .await?
                    .map(|(workspace, _)| workspace)
            }
        };
        found.ok_or_else(|| not_found(&reference.text))
    }

    /// A durable id prefers the registration of this host before it is ambiguous.
    async fn find_durable(
        &self,
        caller: &Caller,
        durable: &DurableId,
    ) -> Result<Option<Workspace>, CatalogError> {
        let visibility = &caller.principal.visibility;
        let all = within(caller.deadline, self.store.find_by_durable(durable, visibility)).await?;
        let (own, other): (Vec<_>, Vec<_>) = all.into_iter().partition(|row| row.host_id == self.host);
        let mut candidates = if own.is_empty() { other } else { own };
        if candidates.len() > 1 {
            return Err(CatalogError::AmbiguousReference {
                durable_id: durable.to_string(),
                ids: candidates.into_iter().map(|row| row.id).collect(),
            });
        }
        Ok(candidates.pop())
    }
}

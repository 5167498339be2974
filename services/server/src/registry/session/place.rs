//! Where a new session belongs: its workspace, which a path may have to be registered for, and its directory.

use compozy_domain::path::contains;
use compozy_domain::session::Origin;
use compozy_domain::workspace::IdentityPolicy;
use compozy_domain::{
    CatalogError, ProfileId, Revision, Scope, SessionId, Visibility, Workspace, WorkspaceId, WorkspaceRef,
};
use compozy_resolver::Directory;

use super::create::{CreateWanted, mismatch};
use super::defaults::Unnamed;
use crate::registry::register::RegisterWanted;
use crate::registry::{Caller, NamedPath, Reference, Registry, Reply, WriteCall, within};
use crate::resolution::Subject;

/// Where a caller wants a session to belong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PlaceWanted {
    /// To this workspace.
    Workspace(Reference),
    /// To the workspace that encloses this directory, registered if there is none.
    Path(NamedPath),
    /// To none.
    Nowhere,
}

/// Where a session belongs, and what follows from it.
#[derive(Debug)]
pub(super) struct Place {
    /// The workspace, and its root when its files were read.
    pub(super) workspace: Option<(WorkspaceId, String)>,
    /// The directory as given; empty if none is known.
    pub(super) cwd: String,
    /// The directory in canonical form, in the root of the workspace; empty if none is known.
    pub(super) canonical_cwd: String,
    /// What holds where the caller names nothing.
    pub(super) unnamed: Unnamed,
    /// The profile.
    pub(super) profile_id: ProfileId,
    /// Of the snapshot, or empty.
    pub(super) snapshot_fingerprint: String,
}

impl Registry {
    /// The workspace that is wanted, if any, and a position of the change log before it was registered, if it was.
    pub(super) async fn workspace_for(
        &self,
        caller: &Caller,
        wanted: &CreateWanted,
    ) -> Result<(Option<Reference>, Option<Revision>), CatalogError> {
        let path = match &wanted.place {
            PlaceWanted::Nowhere => return Ok((None, None)),
            PlaceWanted::Workspace(reference) => return Ok((Some(reference.clone()), None)),
            PlaceWanted::Path(path) => path,
        };
        let root = self.admit_root(caller, path).await?;
        if let Some((owner, _)) = self.owner_of(caller, &root).await? {
            return Ok((Some(by_id(&owner.id, path)), None));
        }
        self.check_before_registering(caller, wanted, &root).await?;
        let register = RegisterWanted {
            path: path.clone(),
            name: None,
            title: None,
            additional_dirs: Vec::new(),
            default_agent: None,
            policy: IdentityPolicy::Share,
            reuse_enclosing: true,
            validate_only: false,
            is_default: false,
            profile: named_profile(wanted),
        };
        let call = WriteCall {
            caller: caller.clone(),
            repeat: None,
        };
        match self.register_now(&call, register).await? {
            Reply::Fresh(registration) => {
                let workspace = &registration.workspace;
                let is_written = registration.created || registration.relinked_from.is_some();
                let before = is_written.then(|| workspace.revision.clone());
                Ok((Some(by_id(&workspace.value.id, path)), before))
            }
            Reply::Remembered(_) => Err(CatalogError::Defect {
                detail: "a registration without a request id was remembered".to_owned(),
            }),
        }
    }

    /// What a look at the request and at rows can tell, before a registration that would stay.
    async fn check_before_registering(
        &self,
        caller: &Caller,
        wanted: &CreateWanted,
        root: &Directory,
    ) -> Result<(), CatalogError> {
        self.active_profile(caller, None, &wanted.profile).await?;
        if let Some(cwd) = &wanted.cwd {
            let directory = self.admit(caller, cwd).await?;
            let owner = self.true_owner_of(caller, &directory).await?;
            if owner.is_some() || !contains(&root.path, &directory.path) {
                return Err(mismatch(cwd.path.as_str()));
            }
        }
        if let Some(id) = &wanted.id
            && within(caller.deadline, self.store.is_session_id_taken(id)).await?
        {
            return Err(CatalogError::SessionIdConflict { id: id.to_string() });
        }
        if wanted.parent.is_some() && wanted.parent == wanted.id {
            return Err(CatalogError::invalid_field(
                "parent_session_id",
                "is the session itself: name another one, or leave it out",
            ));
        }
        if let Some(parent) = &wanted.parent
            && let Some(found) = self.look_up(caller, parent).await?
            && found.session.workspace.is_some()
        {
            return Err(CatalogError::invalid_field(
                "parent_session_id",
                "must be in the same workspace",
            ));
        }
        Ok(())
    }

    async fn look_up(
        &self,
        caller: &Caller,
        id: &SessionId,
    ) -> Result<Option<compozy_domain::SessionAt>, CatalogError> {
        let visibility = &caller.principal.visibility;
        let find = self.store.find_session(id, visibility, self.now());
        Ok(within(caller.deadline, find).await?.0)
    }

    /// A place in no workspace.
    pub(super) async fn place_nowhere(
        &self,
        caller: &Caller,
        wanted: &CreateWanted,
    ) -> Result<Place, CatalogError> {
        // A caller for whom only some workspaces exist could not see the new one.
        if caller.principal.visibility != Visibility::All {
            return Err(CatalogError::ScopeDenied {
                scope: Scope::Write.as_str(),
            });
        }
        let (cwd, canonical_cwd) = match &wanted.cwd {
            Some(cwd) => {
                let directory = self.admit(caller, cwd).await?;
                (cwd.path.as_str().to_owned(), directory.path)
            }
            None if wanted.origin.tool == Origin::NATIVE => {
                return Err(CatalogError::invalid_field(
                    "cwd",
                    "must be set for a session of no workspace",
                ));
            }
            None => Default::default(),
        };
        let active = self.active_profile(caller, None, &wanted.profile).await?;
        let unnamed = self.unnamed_outside(caller, &active.profile).await?;
        Ok(Place {
            workspace: None,
            cwd,
            canonical_cwd,
            unnamed,
            profile_id: active.profile.id,
            snapshot_fingerprint: String::new(),
        })
    }

    /// A place in a workspace, by a fresh resolve.
    pub(super) async fn place_in(
        &self,
        caller: &Caller,
        reference: &Reference,
        wanted: &CreateWanted,
    ) -> Result<Place, CatalogError> {
        // Before anything else is looked at: what lies outside the allowed roots gets one and the same answer.
        let directory = match &wanted.cwd {
            None => None,
            Some(cwd) => Some((cwd, self.admit(caller, cwd).await?)),
        };
        let subject = Subject {
            reference: reference.clone(),
            profile: wanted.profile.clone(),
            agent: None,
        };
        let resolved = self.resolved(caller, subject, false).await?;
        let workspace = &resolved.workspace;
        let (cwd, canonical_cwd) = match directory {
            None => (workspace.root_dir.clone(), workspace.root_dir.clone()),
            Some((named, directory)) => {
                let place = self.owned_place(caller, workspace, &directory).await?;
                let cwd = named.path.as_str().to_owned();
                match place {
                    Some(canonical) => (cwd, canonical),
                    None => return Err(mismatch(&cwd)),
                }
            }
        };
        Ok(Place {
            workspace: Some((workspace.id.clone(), workspace.root_dir.clone())),
            cwd,
            canonical_cwd,
            unnamed: Unnamed::of_snapshot(&resolved.snapshot, wanted.agent.as_deref())?,
            profile_id: resolved.profile.id.clone(),
            snapshot_fingerprint: resolved.fingerprint.clone(),
        })
    }

    /// The canonical path of a directory that a workspace owns, below the root as the record has it; `None` if it owns
    /// it not.
    pub(super) async fn owned_place(
        &self,
        caller: &Caller,
        workspace: &Workspace,
        directory: &Directory,
    ) -> Result<Option<String>, CatalogError> {
        let owner = self.true_owner_of(caller, directory).await?;
        if owner.is_none_or(|(owner, _)| owner.id != workspace.id) {
            return Ok(None);
        }
        if contains(&workspace.root_dir, &directory.path) {
            return Ok(Some(directory.path.clone()));
        }
        // The root under another path: a bind mount, or another case of the same name.
        let path = directory.path.clone();
        let ancestors = self
            .look(caller.deadline, move |files| files.ancestors(&path))
            .await?;
        let root = ancestors.iter().find(|above| above.file == workspace.root_file);
        Ok(root.and_then(|root| {
            let below = directory.path.strip_prefix(&root.path)?;
            Some(format!("{}{below}", workspace.root_dir))
        }))
    }
}

/// A reference to a workspace that a path led to.
fn by_id(id: &WorkspaceId, path: &NamedPath) -> Reference {
    Reference {
        form: WorkspaceRef::Id(id.clone()),
        text: id.to_string(),
        field: path.field.clone(),
    }
}

fn named_profile(wanted: &CreateWanted) -> Option<String> {
    let asked = &wanted.profile;
    asked.request.clone().or_else(|| asked.environment.clone())
}

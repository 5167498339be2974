//! Accounts: which sessions belong to a workspace, and in which order. Ownership is looked at by the disk as it is now.

use std::sync::Arc;

use compozy_domain::error::SessionCwdFault;
use compozy_domain::{CatalogError, Session, SessionId, Workspace, WorkspaceId};
use compozy_resolver::files::DirectoryFault;
use compozy_store::{
    AttachSession, DetachSession, MoveSession, MovedSession, Regrouped, SessionAnchor, Written,
};

use super::create::mismatch;
use crate::registry::{Caller, Reference, Registry, Reply, WriteCall};

/// A session that a caller wants on an account.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AttachSessionWanted {
    /// Whose account.
    pub workspace: Reference,
    /// Which session.
    pub id: SessionId,
}

/// A session that a caller wants off its account.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DetachSessionWanted {
    /// Only off this account.
    pub workspace: Option<Reference>,
    /// Which session.
    pub id: SessionId,
}

/// A move within an account that a caller wants. Texts that are no ids are looked up like any other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MoveSessionWanted {
    /// Which session, as the caller wrote it.
    pub reference: String,
    /// In front of this one; `None` = to the end.
    pub before: Option<String>,
}

impl Registry {
    /// Puts a session in front of a workspace's account. One that is there already is left alone.
    ///
    /// # Errors
    /// [`CatalogError`] of references; [`CatalogError::SessionNotFound`]; [`CatalogError::SessionCwd`].
    pub async fn attach_session(
        self: Arc<Self>,
        call: WriteCall<Written<Regrouped>>,
        wanted: AttachSessionWanted,
    ) -> Result<Reply<Written<Regrouped>>, CatalogError> {
        self.carry_out(call, move |registry, call| async move {
            let AttachSessionWanted { workspace, id } = wanted;
            let workspace = registry.find(&call.caller, &workspace).await?;
            let session = registry.get_session(&call.caller, &id).await?.0.session;
            let is_member = session
                .workspace
                .as_ref()
                .is_some_and(|own| own.id == workspace.id);
            let canonical_cwd = if is_member {
                // A cwd that can't be seen now hides nothing.
                session.canonical_cwd.clone()
            } else {
                registry.place_for(&call.caller, &workspace, &session).await?
            };
            let attach = AttachSession {
                id,
                workspace_id: workspace.id,
                root_dir: workspace.root_dir,
                canonical_cwd,
                stale_after: registry.settings.sessions.stale_after,
            };
            registry
                .write(&call, Written::clone, |call| {
                    registry.store.attach_session(attach, call)
                })
                .await
        })
        .await
    }

    /// Takes a session off its account.
    ///
    /// # Errors
    /// [`CatalogError`] of references; [`CatalogError::SessionNotFound`].
    pub async fn detach_session(
        self: Arc<Self>,
        call: WriteCall<Written<Regrouped>>,
        wanted: DetachSessionWanted,
    ) -> Result<Reply<Written<Regrouped>>, CatalogError> {
        self.carry_out(call, move |registry, call| async move {
            let DetachSessionWanted { workspace, id } = wanted;
            let workspace_id: Option<WorkspaceId> = match workspace {
                None => None,
                Some(reference) => Some(registry.find(&call.caller, &reference).await?.id),
            };
            let detach = DetachSession {
                id,
                workspace_id,
                stale_after: registry.settings.sessions.stale_after,
            };
            registry
                .write(&call, Written::clone, |call| {
                    registry.store.detach_session(detach, call)
                })
                .await
        })
        .await
    }

    /// Moves a session within its account.
    ///
    /// # Errors
    /// [`CatalogError::SessionNotFound`] for the session, then for the anchor; [`CatalogError::MoveInvalid`].
    pub async fn move_session(
        self: Arc<Self>,
        call: WriteCall<Written<MovedSession>>,
        wanted: MoveSessionWanted,
    ) -> Result<Reply<Written<MovedSession>>, CatalogError> {
        self.carry_out(call, move |registry, call| async move {
            let MoveSessionWanted { reference, before } = wanted;
            let moving = MoveSession {
                id: SessionId::parse(&reference),
                reference,
                before: before.map(|reference| SessionAnchor {
                    id: SessionId::parse(&reference),
                    reference,
                }),
            };
            registry
                .write(&call, Written::clone, |call| {
                    registry.store.move_session(moving, call)
                })
                .await
        })
        .await
    }

    /// Where the directory of a session lies now, if the workspace owns that. The text that was given decides, as a link
    /// may lead elsewhere by now.
    async fn place_for(
        &self,
        caller: &Caller,
        workspace: &Workspace,
        session: &Session,
    ) -> Result<String, CatalogError> {
        self.require_own(workspace)?;
        workspace.check_understood()?;
        let fault = |fault| CatalogError::SessionCwd {
            cwd: session.cwd.clone(),
            fault,
        };
        if session.cwd.is_empty() {
            return Err(fault(SessionCwdFault::Absent));
        }
        if session.host_id != self.host {
            return Err(mismatch(&session.cwd));
        }
        let (named, recorded) = (session.cwd.clone(), session.canonical_cwd.clone());
        let found = self
            .look(caller.deadline, move |files| match files.directory(&named) {
                // The text is that of the first day: the directory may have moved along with a root.
                Err(DirectoryFault::NotFound) if recorded != named => files.directory(&recorded),
                found => found,
            })
            .await?;
        let directory = match found {
            Ok(directory) => directory,
            Err(DirectoryFault::NotDirectory) => return Err(fault(SessionCwdFault::NotDirectory)),
            // What can't be entered can't be told to be there either.
            Err(
                DirectoryFault::NotFound
                | DirectoryFault::Loop
                | DirectoryFault::Unreadable
                | DirectoryFault::NotText { .. }
                | DirectoryFault::NameTooLong,
            ) => return Err(fault(SessionCwdFault::NotFound)),
            Err(other @ DirectoryFault::Other { .. }) => return Err(other.into_error("", &session.cwd)),
        };
        let place = self.owned_place(caller, workspace, &directory).await?;
        place.ok_or_else(|| mismatch(&session.cwd))
    }
}

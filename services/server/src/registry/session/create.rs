//! Creating a session: where it belongs, what nobody named, then one write.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use compozy_domain::error::SessionCwdFault;
use compozy_domain::session::fields::SessionName;
use compozy_domain::session::{Origin, PermissionMode, Start};
use compozy_domain::{
    CatalogError, LeaseToken, Revision, SessionAt, SessionId, SessionState, SessionType, Visibility,
};
use compozy_store::{CreateSession, CreatedSession, Written};

use super::defaults::Unnamed;
use super::leases::BindingWanted;
use super::place::{Place, PlaceWanted};
use crate::registry::profile::active::ProfileAsked;
use crate::registry::{Caller, NamedPath, Registry, Reply, WriteCall, within};

/// How often a creation starts again because the root of its workspace moved while it was looked at.
const ATTEMPTS: u32 = 3;

/// A session that a caller wants. What is `None` is drawn or looked up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CreateWanted {
    /// An id of the caller's choice.
    pub id: Option<SessionId>,
    /// Where it belongs.
    pub place: PlaceWanted,
    /// The directory that it runs in.
    pub cwd: Option<NamedPath>,
    /// Display label.
    pub name: Option<SessionName>,
    /// Name of the agent.
    pub agent: Option<String>,
    /// Name of the provider, or empty.
    pub provider: Option<String>,
    /// Name of the model, or empty.
    pub model: Option<String>,
    /// What it is for.
    pub session_type: SessionType,
    /// `Active` or `Starting`.
    pub state: SessionState,
    /// What its agent may do without asking.
    pub permission_mode: Option<PermissionMode>,
    /// What the caller says about the profile.
    pub profile: ProfileAsked,
    /// The parent.
    pub parent: Option<SessionId>,
    /// What the parent starts it for, or empty.
    pub spawn_role: String,
    /// Checked labels.
    pub labels: BTreeMap<String, String>,
    /// Redacted text, or empty.
    pub start_cause: String,
    /// A runtime to bind in the same transaction.
    pub bind: Option<BindingWanted>,
    /// Which tool it comes from.
    pub origin: Origin,
}

/// What became of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Created {
    /// The session.
    pub session: SessionAt,
    /// The token of the lease that this very call gave. Never in what is remembered.
    pub token: Option<LeaseToken>,
    /// Whether the call registered the workspace.
    pub workspace_registered: bool,
    /// A position of the change log before the call's own writes.
    pub revision: Revision,
    /// Silence of a runtime that counts as too long.
    pub stale_after: Duration,
}

impl Registry {
    /// Creates a session. In a workspace it resolves first.
    ///
    /// A workspace that had to be registered stays registered if the session itself can't be created afterwards;
    /// everything that can be told from the request is checked before.
    ///
    /// # Errors
    /// [`CatalogError`] of references, paths, registrations, resolves and profiles; [`CatalogError::SessionCwd`];
    /// [`CatalogError::SessionIdConflict`]; [`CatalogError::InvalidField`].
    pub async fn create_session(
        self: Arc<Self>,
        call: WriteCall<Created>,
        wanted: CreateWanted,
    ) -> Result<Reply<Created>, CatalogError> {
        self.carry_out(call, move |registry, call| async move {
            registry.create_now(&call, wanted).await
        })
        .await
    }

    async fn create_now(
        &self,
        call: &WriteCall<Created>,
        mut wanted: CreateWanted,
    ) -> Result<Reply<Created>, CatalogError> {
        let caller = &call.caller;
        // Everything random is drawn before anything is made.
        let id = match wanted.id.clone() {
            Some(id) => id,
            None => SessionId::generate(self.random.as_ref())?,
        };
        let (token, bind) = match wanted.bind.take() {
            None => (None, None),
            Some(binding) => {
                let (token, lease) = self.new_lease(binding)?;
                (Some(token), Some(lease))
            }
        };
        let (reference, registered) = self.workspace_for(caller, &wanted).await?;
        let workspace_registered = registered.is_some();
        let mut attempt = 1;
        loop {
            let place = match &reference {
                None => self.place_nowhere(caller, &wanted).await?,
                Some(reference) => self.place_in(caller, reference, &wanted).await?,
            };
            let root = place.workspace.clone();
            let row = self.row_of(caller, id.clone(), &wanted, place, bind.clone());
            let stale_after = row.stale_after;
            let before = registered.clone();
            let outcome = move |written: &Written<CreatedSession>| Created {
                session: written.value.session.clone(),
                token: None,
                workspace_registered,
                revision: before.clone().unwrap_or_else(|| written.revision.clone()),
                stale_after,
            };
            let reply = self
                .write(call, outcome, |call| self.store.create_session(row, call))
                .await;
            match (reply, root) {
                // The record of the workspace was refreshed after it was looked at.
                (Err(CatalogError::SessionCwd { .. }), Some((id, root)))
                    if attempt < ATTEMPTS && self.root_moved(caller, &id, &root).await? =>
                {
                    attempt += 1;
                }
                (reply, _) => return reply.map(|reply| with_token(reply, token)),
            }
        }
    }

    async fn root_moved(
        &self,
        caller: &Caller,
        id: &compozy_domain::WorkspaceId,
        root: &str,
    ) -> Result<bool, CatalogError> {
        let found = within(caller.deadline, self.store.find(id, &Visibility::All))
            .await?
            .0;
        Ok(found.is_some_and(|workspace| workspace.root_dir != root))
    }

    fn row_of(
        &self,
        caller: &Caller,
        id: SessionId,
        wanted: &CreateWanted,
        place: Place,
        bind: Option<compozy_domain::session::change::NewLease>,
    ) -> CreateSession {
        let Place {
            workspace,
            cwd,
            canonical_cwd,
            unnamed,
            profile_id,
            snapshot_fingerprint,
        } = place;
        let Unnamed {
            agent,
            provider,
            model,
            permission_mode,
        } = unnamed;
        CreateSession {
            id,
            host_id: self.host.clone(),
            workspace,
            cwd,
            canonical_cwd,
            name: wanted
                .name
                .as_ref()
                .map(|name| name.as_str().to_owned())
                .unwrap_or_default(),
            agent: wanted.agent.clone().unwrap_or(agent),
            provider: wanted.provider.clone().unwrap_or(provider),
            model: wanted.model.clone().unwrap_or(model),
            session_type: wanted.session_type,
            state: wanted.state,
            parent: wanted.parent.clone(),
            spawn_role: wanted.spawn_role.clone(),
            permission_mode: wanted.permission_mode.unwrap_or(permission_mode),
            profile_id,
            start: Start {
                cause: wanted.start_cause.clone(),
                by: caller.principal.id.clone(),
            },
            snapshot_fingerprint,
            labels: wanted.labels.clone(),
            origin: wanted.origin.clone(),
            bind,
            stale_after: self.settings.sessions.stale_after,
        }
    }
}

/// The token is only in the answer of the call that it was drawn for.
fn with_token(reply: Reply<Created>, token: Option<LeaseToken>) -> Reply<Created> {
    match reply {
        Reply::Fresh(created) => Reply::Fresh(Created { token, ..created }),
        Reply::Remembered(bytes) => Reply::Remembered(bytes),
    }
}

/// The directory of a session is not its workspace's.
pub(super) fn mismatch(cwd: &str) -> CatalogError {
    CatalogError::SessionCwd {
        cwd: cwd.to_owned(),
        fault: SessionCwdFault::Mismatch,
    }
}

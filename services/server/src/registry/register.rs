//! Registering a directory, or finding that it is registered.

mod finish;
mod first;
mod plan;

use std::sync::Arc;

use compozy_domain::error::PathConflict;
use compozy_domain::workspace::{IdentityPolicy, clean_dirs};
use compozy_domain::{CatalogError, Diagnostic, IdentityFault, Scope, Visibility, Workspace, WorkspaceName};
use compozy_resolver::{Directory, identity};
use compozy_store::Written;

use self::plan::Plan;
use super::{NamedPath, Registry, Reply, WriteCall, within};

/// How often a registration starts again because somebody else changed the directory's identity or moved its
/// registration while it was looked at.
const ATTEMPTS: u32 = 4;

/// A registration that a caller wants. What is `None` is derived, or compared with nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RegisterWanted {
    /// The directory.
    pub path: NamedPath,
    /// The handle.
    pub name: Option<WorkspaceName>,
    /// Display text.
    pub title: Option<String>,
    /// Additional directories.
    pub additional_dirs: Vec<NamedPath>,
    /// Agent of new sessions.
    pub default_agent: Option<String>,
    /// What becomes of a copy.
    pub policy: IdentityPolicy,
    /// Answer the registration that already encloses the directory, if there is one.
    pub reuse_enclosing: bool,
    /// Only try.
    pub validate_only: bool,
    /// Whether this is the operator's home, registered by the first start.
    pub is_default: bool,
    /// Name or id of the profile of the first resolve; the active one if none.
    pub profile: Option<String>,
}

/// What became of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Registration {
    /// The record.
    pub workspace: Written<Workspace>,
    /// Whether it is new.
    pub created: bool,
    /// Whether it would be new, but was only tried: its ids and times mean nothing.
    pub provisional: bool,
    /// Where the root was before, if the directory was moved.
    pub relinked_from: Option<String>,
    /// What the caller should know, sorted.
    pub diagnostics: Vec<Diagnostic>,
}

/// A request whose paths are resolved.
#[derive(Debug)]
struct Checked {
    root: Directory,
    dirs: Vec<String>,
    wanted: RegisterWanted,
}

impl Registry {
    /// Registers a directory, or answers the registration that it has.
    ///
    /// # Errors
    /// [`CatalogError`] of paths, names, identities, profiles and conflicts; [`CatalogError::Config`] for a directory
    /// whose configuration or own agents are broken; nothing is left behind then.
    pub async fn register(
        self: Arc<Self>,
        call: WriteCall<Registration>,
        wanted: RegisterWanted,
    ) -> Result<Reply<Registration>, CatalogError> {
        self.carry_out(call, move |registry, call| async move {
            registry.register_now(&call, wanted).await
        })
        .await
    }

    /// As [`Registry::register`], in the task of the caller.
    pub(super) async fn register_now(
        &self,
        call: &WriteCall<Registration>,
        wanted: RegisterWanted,
    ) -> Result<Reply<Registration>, CatalogError> {
        let caller = &call.caller;
        let root = self.admit_root(caller, &wanted.path).await?;
        let dirs = self.admit_all(caller, &wanted.additional_dirs).await?;
        let dirs = clean_dirs(&root.path, &dirs, "additional_dirs")?;
        self.require_profile(caller, &wanted).await?;
        if wanted.reuse_enclosing
            && let Some((owner, _)) = self.owner_of(caller, &root).await?
            && let Some(reply) = self.answer_existing(call, &owner).await?
        {
            return Ok(reply);
        }
        let _lock = within(caller.deadline, self.store.lock_path(&self.host, &root.path)).await?;
        if !wanted.validate_only {
            self.sweep_after_the_dead(caller.deadline, &root).await?;
        }
        let checked = Checked { root, dirs, wanted };
        for _ in 0..ATTEMPTS {
            if let Some(reply) = self.try_to_register(call, &checked).await? {
                return Ok(reply);
            }
        }
        Err(CatalogError::Identity {
            path: identity::file_path(&checked.root.path),
            fault: IdentityFault::Unwritable {
                problem: "somebody else keeps changing it".to_owned(),
            },
            remedy: "try again".to_owned(),
        })
    }

    /// One try. `None` if what was looked at changed: look again.
    async fn try_to_register(
        &self,
        call: &WriteCall<Registration>,
        checked: &Checked,
    ) -> Result<Option<Reply<Registration>>, CatalogError> {
        let visibility = &call.caller.principal.visibility;
        let existing = self.registered_as(&call.caller, &checked.root).await?;
        if let Some(existing) = existing.filter(|row| visibility.includes(&row.id)) {
            if !checked.wanted.reuse_enclosing {
                checked.refuse_differences(&existing)?;
            }
            return self.answer_existing(call, &existing).await;
        }
        // A caller for whom only some workspaces exist could not see the new one.
        if *visibility != Visibility::All {
            return Err(CatalogError::ScopeDenied {
                scope: Scope::Write.as_str(),
            });
        }
        let holder = self.holder_of_name(call, checked).await?;
        let plan = self.plan(&call.caller, checked).await;
        if let (Some(name), Some(holder)) = (&checked.wanted.name, holder) {
            let moved_here = matches!(&plan, Ok(Plan::Relink(row)) if row.id == holder.id);
            if !moved_here {
                return Err(CatalogError::NameConflict {
                    name: name.as_str().to_owned(),
                    holder: Some(holder.id),
                });
            }
        }
        self.finish(call, checked, plan?).await
    }

    async fn holder_of_name(
        &self,
        call: &WriteCall<Registration>,
        checked: &Checked,
    ) -> Result<Option<Workspace>, CatalogError> {
        let Some(name) = &checked.wanted.name else {
            return Ok(None);
        };
        within(
            call.caller.deadline,
            self.store.find_by_name(name.key(), &Visibility::All),
        )
        .await
    }

    /// Answers a registration as it is. `None` if it is gone by now.
    async fn answer_existing(
        &self,
        call: &WriteCall<Registration>,
        existing: &Workspace,
    ) -> Result<Option<Reply<Registration>>, CatalogError> {
        let outcome = |workspace: &Written<Workspace>| Registration {
            workspace: workspace.clone(),
            created: false,
            provisional: false,
            relinked_from: None,
            diagnostics: Vec::new(),
        };
        match self.leave_as_it_is(call, existing, outcome).await {
            Err(CatalogError::WorkspaceNotFound { .. }) => Ok(None),
            reply => reply.map(Some),
        }
    }
}

impl Checked {
    /// A registration that is there is not changed by registering it again.
    fn refuse_differences(&self, existing: &Workspace) -> Result<(), CatalogError> {
        let RegisterWanted {
            name,
            title,
            default_agent,
            ..
        } = &self.wanted;
        let mut fields = Vec::new();
        if name.as_ref().is_some_and(|name| *name != existing.name) {
            fields.push("name");
        }
        if title.as_ref().is_some_and(|title| *title != existing.title) {
            fields.push("title");
        }
        if !self.wanted.additional_dirs.is_empty() && self.dirs != existing.additional_dirs {
            fields.push("additional_dirs");
        }
        if default_agent
            .as_ref()
            .is_some_and(|agent| *agent != existing.default_agent)
        {
            fields.push("default_agent");
        }
        if fields.is_empty() {
            return Ok(());
        }
        Err(CatalogError::PathConflict {
            path: self.root.path.clone(),
            holder: Some(existing.id.clone()),
            conflict: PathConflict::Registered { fields },
        })
    }
}

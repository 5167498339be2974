//! Carrying out what was planned: the file first, under an intent, then the row.

use compozy_domain::path::base_name;
use compozy_domain::workspace::{NewName, NewWorkspace};
use compozy_domain::{
    CatalogError, Diagnostic, DurableId, Layer, Severity, Workspace, WorkspaceId, WorkspaceName, limits,
};
use compozy_store::{IntentId, Register, Registered, Relink, Written};

use super::plan::{IdentityPlan, Plan};
use super::{Checked, Registration, WriteCall, first};
use crate::registry::file::Pending;
use crate::registry::{Caller, Registry, Reply};

impl Registry {
    pub(super) async fn finish(
        &self,
        call: &WriteCall<Registration>,
        checked: &Checked,
        plan: Plan,
    ) -> Result<Option<Reply<Registration>>, CatalogError> {
        // Everything random is drawn before anything is made.
        let id = WorkspaceId::generate(self.random.as_ref())?;
        let only_try = checked.wanted.validate_only;
        let plan = match plan {
            Plan::Relink(row) => return self.move_here(call, checked, &row).await,
            Plan::New(plan) => plan,
        };
        let is_without = matches!(&plan, IdentityPlan::Create(_));
        if is_without {
            self.check_creatable(&call.caller, &checked.root).await?;
        }
        // Before anything is written: what is refused leaves nothing behind.
        let mut diagnostics = self.first_look(call, checked, is_without).await?;
        if let IdentityPlan::Adopt {
            original: Some(original),
            ..
        } = &plan
        {
            diagnostics.push(identity_shared(&checked.root.path, original));
        }
        let diagnostics = first::shortened(diagnostics, &checked.root.path);
        let Some((durable_id, pending)) = self.make_identity(&call.caller, checked, plan).await? else {
            return Ok(None);
        };
        let intent = pending.as_ref().map(Pending::intent_id);
        let register = self.row(checked, id, durable_id, intent);
        let outcome = move |written: &Written<Registered>| registration(written, only_try, &diagnostics);
        let reply = self
            .write(call, outcome, |call| self.store.register(register, call))
            .await;
        self.settle(pending, &reply).await;
        reply.map(Some)
    }

    /// Sees to it that the directory carries its identity, unless the call only tries. `None` if somebody else made
    /// the file first: theirs counts, and may mean something else.
    async fn make_identity(
        &self,
        caller: &Caller,
        checked: &Checked,
        plan: IdentityPlan,
    ) -> Result<Option<(DurableId, Option<Pending>)>, CatalogError> {
        let root = &checked.root;
        let only_try = checked.wanted.validate_only;
        match plan {
            IdentityPlan::Adopt { durable_id, .. } => Ok(Some((durable_id, None))),
            IdentityPlan::Create(identity) if only_try => Ok(Some((identity.durable_id, None))),
            IdentityPlan::Fork { durable_id, .. } if only_try => Ok(Some((durable_id, None))),
            IdentityPlan::Create(identity) => {
                let durable_id = identity.durable_id.clone();
                let pending = self.create_identity(caller, root, identity).await?;
                Ok(pending.map(|pending| (durable_id, Some(pending))))
            }
            IdentityPlan::Fork { old, durable_id } => {
                let pending = self.fork_identity(caller, root, &old, &durable_id).await?;
                Ok(Some((durable_id, Some(pending))))
            }
        }
    }

    fn row(
        &self,
        checked: &Checked,
        id: WorkspaceId,
        durable_id: DurableId,
        intent: Option<IntentId>,
    ) -> Register {
        let wanted = &checked.wanted;
        let base_name = base_name(&checked.root.path);
        let name = match &wanted.name {
            Some(name) => NewName::Explicit(name.clone()),
            None => NewName::Derived(WorkspaceName::derived_from(base_name)),
        };
        let title = wanted.title.clone();
        Register {
            workspace: NewWorkspace {
                id,
                durable_id,
                host_id: self.host.clone(),
                root_dir: checked.root.path.clone(),
                root_file: checked.root.file,
                additional_dirs: checked.dirs.clone(),
                name,
                title: title.unwrap_or_else(|| base_name.chars().take(limits::TITLE_CHARS_MAX).collect()),
                default_agent: wanted.default_agent.clone().unwrap_or_default(),
                is_default: wanted.is_default,
                at: self.now(),
            },
            intent,
            validate_only: wanted.validate_only,
        }
    }

    /// The directory was moved: its registration follows it, and is as little changed as one that is registered
    /// again.
    async fn move_here(
        &self,
        call: &WriteCall<Registration>,
        checked: &Checked,
        row: &Workspace,
    ) -> Result<Option<Reply<Registration>>, CatalogError> {
        checked.refuse_differences(row)?;
        let diagnostics = self.look_at_moved(call, checked, row).await?;
        let diagnostics = first::shortened(diagnostics, &checked.root.path);
        let from_root = row.root_dir.clone();
        let relink = Relink {
            id: row.id.clone(),
            // What was looked at: a record that changed meanwhile may have moved elsewhere.
            etag: Some(row.etag()),
            from_root: from_root.clone(),
            root_dir: checked.root.path.clone(),
            root_file: checked.root.file,
            validate_only: checked.wanted.validate_only,
        };
        let outcome = move |workspace: &Written<Workspace>| Registration {
            workspace: workspace.clone(),
            created: false,
            provisional: false,
            relinked_from: Some(from_root.clone()),
            diagnostics: diagnostics.clone(),
        };
        let reply = self
            .write(call, outcome, |call| self.store.relink(relink, call))
            .await;
        self.resolution.forget(&row.id);
        match reply {
            Err(CatalogError::EtagMismatch { .. } | CatalogError::WorkspaceNotFound { .. }) => Ok(None),
            reply => reply.map(Some),
        }
    }
}

fn registration(written: &Written<Registered>, only_try: bool, diagnostics: &[Diagnostic]) -> Registration {
    let (workspace, created) = match &written.value {
        Registered::Created(workspace) => (workspace, true),
        Registered::Existing(workspace) => (workspace, false),
    };
    Registration {
        workspace: Written {
            value: workspace.clone(),
            revision: written.revision.clone(),
        },
        created,
        provisional: created && only_try,
        relinked_from: None,
        diagnostics: diagnostics.to_vec(),
    }
}

fn identity_shared(root: &str, original: &Workspace) -> Diagnostic {
    let message = format!(
        "the directory carries the durable id of workspace '{}' at '{}'",
        original.name.as_str(),
        original.root_dir
    );
    let remedy = "to tell them apart, run `compozy workspace identity fork` on one of them";
    Diagnostic::new(
        "identity_shared",
        Severity::Warning,
        Layer::Workspace,
        root,
        message,
        remedy,
    )
}

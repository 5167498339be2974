//! Carrying out what was planned: the file first, under an intent, then the row.

use compozy_domain::path::base_name;
use compozy_domain::workspace::{NewName, NewWorkspace};
use compozy_domain::{CatalogError, DurableId, Workspace, WorkspaceId, WorkspaceName, limits};
use compozy_store::{IntentId, Register, Registered, Relink, Written};

use super::plan::Plan;
use super::{Checked, Diagnostic, Registration, WriteCall};
use crate::registry::file::Pending;
use crate::registry::{Registry, Reply};

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
        let (durable_id, pending, diagnostics) = match plan {
            Plan::Relink(row) => return self.move_here(call, checked, &row).await,
            Plan::Adopt { durable_id, original } => {
                let shared = original.map(|original| identity_shared(&checked.root.path, &original));
                (durable_id, None, shared.into_iter().collect())
            }
            Plan::Create(identity) if only_try => {
                self.check_creatable(&call.caller, &checked.root).await?;
                (identity.durable_id, None, Vec::new())
            }
            Plan::Fork { durable_id, .. } if only_try => (durable_id, None, Vec::new()),
            Plan::Create(identity) => {
                let durable_id = identity.durable_id.clone();
                match self
                    .create_identity(&call.caller, &checked.root, identity)
                    .await?
                {
                    Some(pending) => (durable_id, Some(pending), Vec::new()),
                    // Somebody else made the file: theirs counts, and may mean something else.
                    None => return Ok(None),
                }
            }
            Plan::Fork { old, durable_id } => {
                let pending = self
                    .fork_identity(&call.caller, &checked.root, &old, &durable_id)
                    .await?;
                (durable_id, Some(pending), Vec::new())
            }
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
            diagnostics: Vec::new(),
        };
        match self
            .write(call, outcome, |call| self.store.relink(relink, call))
            .await
        {
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
    Diagnostic {
        code: "identity_shared",
        path: root.to_owned(),
        message: format!(
            "'{root}' carries the durable id of workspace '{}' at '{}'",
            original.name.as_str(),
            original.root_dir
        ),
        remedy: "to tell them apart, run `compozy workspace identity fork` on one of them".to_owned(),
    }
}

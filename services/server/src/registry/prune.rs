//! Pruning: removing the registrations whose roots have been seen missing for long.

use std::sync::Arc;
use std::time::Duration;

use compozy_domain::{CatalogError, WorkspaceStatus};
use compozy_store::{Call, Prune, Pruned, Written};

use super::{Registry, Reply, WriteCall};

/// Registrations that one call removes at most.
const PRUNED_MAX: u32 = 1_000;
/// Bytes of all records of an answer: what is left of a response's 3 MiB.
const ANSWER_ROOM: usize = 2_500_000;
/// Bytes of a record beside its texts, generously.
const RECORD_OVERHEAD: usize = 512;

/// A pruning that a caller wants.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PruneWanted {
    /// For how long the root must have been seen missing.
    pub missing_for: Duration,
    /// Only try.
    pub validate_only: bool,
}

impl Registry {
    /// Removes the visible registrations of this host that the observer has seen missing for so long. A root that
    /// is back, seen by a last look, is kept.
    ///
    /// # Errors
    /// [`CatalogError::HostNotServed`], and what the store answers.
    pub async fn prune(
        self: Arc<Self>,
        call: WriteCall<Written<Pruned>>,
        wanted: PruneWanted,
    ) -> Result<Reply<Written<Pruned>>, CatalogError> {
        self.carry_out(call, move |registry, call| async move {
            registry.prune_now(&call, &wanted).await
        })
        .await
    }

    async fn prune_now(
        &self,
        call: &WriteCall<Written<Pruned>>,
        wanted: &PruneWanted,
    ) -> Result<Reply<Written<Pruned>>, CatalogError> {
        self.require_host()?;
        let mut prune = Prune {
            host: self.host.clone(),
            missing_since: self.now().minus(wanted.missing_for),
            limit: PRUNED_MAX,
            apply: false,
        };
        let mut due = self.due(call, &prune).await?;
        if wanted.validate_only {
            let until = call.caller.deadline;
            let statuses = self.statuses(&due.value.workspaces, until).await;
            let mut statuses = statuses.into_iter();
            due.value
                .workspaces
                .retain(|_| statuses.next().flatten() == Some(WorkspaceStatus::RootMissing));
            shorten(&mut due.value);
            return Ok(Reply::Fresh(due));
        }
        // What is back by now is recorded as such, and so is no longer due.
        self.observe_rows(&due.value.workspaces).await?;
        shorten(&mut due.value);
        prune.limit = u32::try_from(due.value.workspaces.len())
            .unwrap_or(PRUNED_MAX)
            .max(1);
        prune.apply = true;
        let reply = self
            .write(call, Written::clone, |call| self.store.prune(prune, call))
            .await;
        if let Ok(Reply::Fresh(pruned)) = &reply {
            for workspace in &pruned.value.workspaces {
                self.resolution.forget(&workspace.id);
            }
        }
        reply
    }

    /// What is due, with nothing removed.
    async fn due(
        &self,
        call: &WriteCall<Written<Pruned>>,
        prune: &Prune,
    ) -> Result<Written<Pruned>, CatalogError> {
        let only_look = Call {
            visibility: call.caller.principal.visibility.clone(),
            now: self.now(),
            deadline: call.caller.deadline,
            remember: None,
        };
        match self.store.prune(prune.clone(), only_look).await? {
            compozy_store::Answer::Fresh(due) => Ok(due),
            compozy_store::Answer::Remembered(_) => Err(CatalogError::Defect {
                detail: "a prune without a request id was remembered".to_owned(),
            }),
        }
    }
}

/// Leaves as many records as an answer has room for.
fn shorten(pruned: &mut Pruned) {
    let mut room = ANSWER_ROOM;
    let fits = pruned.workspaces.iter().take_while(|workspace| {
        let texts = [&workspace.root_dir, &workspace.title, &workspace.default_agent];
        let dirs = workspace
            .additional_dirs
            .iter()
            .chain(texts)
            .map(|text| text.len() + 8);
        let shares = workspace.shares_identity_with.len() * 24;
        let bytes = dirs.sum::<usize>() + shares + RECORD_OVERHEAD;
        let is_first = room == ANSWER_ROOM;
        room = room.saturating_sub(bytes);
        room > 0 || is_first
    });
    let count = fits.count();
    if count < pruned.workspaces.len() {
        pruned.workspaces.truncate(count);
        pruned.has_more = true;
    }
}

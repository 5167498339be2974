//! Looks at roots: in parallel, with a bound over all of them. A root that does not answer in time is reported
//! as unreadable; nothing follows from that.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use compozy_domain::{Workspace, WorkspaceStatus};
use compozy_resolver::{Files, observe};
use tokio::task::JoinSet;

use super::{Caller, Registry};

/// How long a call looks at roots, all of them together.
pub(super) const BOUND: Duration = Duration::from_secs(2);

/// Roots that are being looked at, and since when. A look at a disk that hangs keeps its thread, so a root
/// whose last look hangs gets no second one.
#[derive(Debug, Clone, Default)]
pub(super) struct Looks {
    since: Arc<Mutex<HashMap<String, Instant>>>,
}

/// One look; ends when it is dropped.
#[derive(Debug)]
struct Look {
    looks: Looks,
    root: String,
}

impl Registry {
    /// What the root of one workspace shows now; `None` for a row that this release does not understand.
    pub(super) async fn status_of(&self, caller: &Caller, workspace: &Workspace) -> Option<WorkspaceStatus> {
        let until = caller.deadline.min(Instant::now() + BOUND);
        self.statuses(std::slice::from_ref(workspace), until)
            .await
            .pop()
            .flatten()
    }

    /// What the roots of several workspaces show now, in their order. Roots of other hosts are not looked at.
    pub(super) async fn statuses(&self, rows: &[Workspace], until: Instant) -> Vec<Option<WorkspaceStatus>> {
        let look = |row: &Workspace| {
            let (root, durable) = (row.root_dir.clone(), row.durable_id.clone());
            move |files: &dyn Files| observe(files, &root, &durable).status
        };
        let own: Vec<_> = rows
            .iter()
            .map(|row| (self.is_looked_at(row)).then(|| (row.root_dir.clone(), look(row))))
            .collect();
        let seen = self.look_at_each(own, until).await;
        rows.iter()
            .zip(seen)
            .map(|(row, seen)| self.status_from(row, seen))
            .collect()
    }

    /// Looks at several roots at once. `None` for those that there is no look for, and for those that did not
    /// answer in time.
    pub(super) async fn look_at_each<T, L>(
        &self,
        looks: Vec<Option<(String, L)>>,
        until: Instant,
    ) -> Vec<Option<T>>
    where
        T: Send + 'static,
        L: FnOnce(&dyn Files) -> T + Send + 'static,
    {
        let mut seen: Vec<Option<T>> = std::iter::repeat_with(|| None).take(looks.len()).collect();
        let mut running = JoinSet::new();
        for (at, wanted) in looks.into_iter().enumerate() {
            let Some((root, look)) = wanted else { continue };
            let Some(begun) = self.looks.begin(root) else {
                continue;
            };
            let files = Arc::clone(&self.files);
            running.spawn_blocking(move || {
                let _begun = begun;
                (at, look(files.as_ref()))
            });
        }
        while let Ok(Some(done)) = tokio::time::timeout_at(until.into(), running.join_next()).await {
            if let Ok((at, answer)) = done {
                seen[at] = Some(answer);
            }
        }
        running.detach_all();
        seen
    }

    fn is_looked_at(&self, row: &Workspace) -> bool {
        !self.host.is_none() && row.host_id == self.host && row.defect.is_none()
    }

    fn status_from(&self, row: &Workspace, seen: Option<WorkspaceStatus>) -> Option<WorkspaceStatus> {
        if row.defect.is_some() {
            None
        } else if self.is_looked_at(row) {
            Some(seen.unwrap_or(WorkspaceStatus::RootUnreadable))
        } else {
            Some(WorkspaceStatus::OtherHost)
        }
    }
}

impl Looks {
    fn begin(&self, root: String) -> Option<Look> {
        let mut since = self.since.lock().unwrap_or_else(PoisonError::into_inner);
        let now = Instant::now();
        let first = *since.entry(root.clone()).or_insert(now);
        (now.duration_since(first) < BOUND).then(|| Look {
            looks: self.clone(),
            root,
        })
    }
}

impl Drop for Look {
    fn drop(&mut self) {
        self.looks
            .since
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .remove(&self.root);
    }
}

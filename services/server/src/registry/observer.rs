//! The observer: looks at every root of this host about once a minute and keeps what it saw. It is the only one
//! that records a status; reads use what it last saw. In a record it changes nothing but a root that now leads
//! elsewhere, and it removes nothing.

use std::collections::BTreeSet;
use std::sync::{Arc, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use compozy_domain::{CatalogError, Visibility, Workspace, WorkspaceId, WorkspaceStatus};
use compozy_resolver::{Directory, Files, observe};
use compozy_store::{Call, Observation, Relink};
use tokio_util::sync::CancellationToken;

use super::{Registry, within};

/// Between two rounds.
const ROUND: Duration = Duration::from_secs(60);
/// A round that was begun this short a time ago, by any replica, is not begun again. Less than a round, so that
/// clocks and timers that are not quite even lose none.
const PERIOD: Duration = Duration::from_secs(50);
/// The same for a round that somebody asked for.
const PERIOD_WHEN_WOKEN: Duration = Duration::from_secs(1);
/// Between two looks that somebody asked for: whoever asks all the time has to wait.
const PAUSE_WHEN_WOKEN: Duration = Duration::from_secs(1);
/// Workspaces that may be asked for meanwhile; what is beyond waits for its round.
const WANTED_MAX: usize = 1_000;
/// Workspaces that are looked at together.
const BATCH: u32 = 100;
/// For all roots of one batch.
const BATCH_BOUND: Duration = Duration::from_secs(5);
/// For one write of the observer.
const WRITE_PATIENCE: Duration = Duration::from_secs(10);

/// What the observer is asked to look at before its next round.
#[derive(Debug, Default)]
pub(super) struct Wanted {
    /// Everything.
    round: bool,
    /// These workspaces.
    workspaces: BTreeSet<WorkspaceId>,
}

/// What a look at one root showed.
#[derive(Debug, Clone)]
struct Sight {
    status: WorkspaceStatus,
    /// Where the root leads now.
    directory: Option<Directory>,
}

impl Registry {
    /// Observes until it is told to stop.
    pub async fn run_observer(self: Arc<Self>, stop: CancellationToken) {
        let (mut next_round, mut next_woken) = (tokio::time::Instant::now(), tokio::time::Instant::now());
        let mut period = PERIOD;
        let mut wanted = Wanted {
            round: true,
            workspaces: BTreeSet::new(),
        };
        loop {
            if wanted.round {
                next_round = tokio::time::Instant::now() + ROUND;
                tell(self.observe_round(period).await.map(drop));
            }
            tell(self.observe_these(wanted.workspaces).await);
            wanted = tokio::select! {
                () = stop.cancelled() => return,
                () = tokio::time::sleep_until(next_round) => {
                    period = PERIOD;
                    self.take_wanted(true)
                }
                () = self.woken(next_woken) => {
                    next_woken = tokio::time::Instant::now() + PAUSE_WHEN_WOKEN;
                    period = PERIOD_WHEN_WOKEN;
                    self.take_wanted(false)
                }
            };
        }
    }

    async fn woken(&self, not_before: tokio::time::Instant) {
        tokio::time::sleep_until(not_before).await;
        self.observer_wake.notified().await;
    }

    fn take_wanted(&self, round: bool) -> Wanted {
        let mut wanted = std::mem::take(&mut *self.wanted());
        wanted.round |= round;
        wanted
    }

    /// Makes the observer look at everything now instead of at the end of its minute.
    pub fn wake_observer(&self) {
        self.wanted().round = true;
        self.observer_wake.notify_one();
    }

    /// Makes the observer look at one workspace now.
    pub fn wake_observer_for(&self, id: &WorkspaceId) {
        let mut wanted = self.wanted();
        if wanted.workspaces.len() < WANTED_MAX {
            wanted.workspaces.insert(id.clone());
        }
        drop(wanted);
        self.observer_wake.notify_one();
    }

    fn wanted(&self) -> MutexGuard<'_, Wanted> {
        self.observer_wanted
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// Looks at workspaces that somebody asked for, as far as they are of this host.
    async fn observe_these(&self, ids: BTreeSet<WorkspaceId>) -> Result<(), CatalogError> {
        if self.host.is_none() {
            return Ok(());
        }
        let ids: Vec<WorkspaceId> = ids.into_iter().collect();
        for some in ids.chunks(BATCH as usize) {
            let mut rows = self.store.find_all(some, &Visibility::All).await?;
            rows.retain(|row| row.host_id == self.host);
            self.observe_rows(&rows).await?;
        }
        Ok(())
    }

    /// One round over all roots of this host, unless one was begun within `period`. Says whether it took place.
    ///
    /// # Errors
    /// What the store answers.
    pub async fn observe_round(&self, period: Duration) -> Result<bool, CatalogError> {
        let period = i64::try_from(period.as_nanos()).unwrap_or(i64::MAX);
        if self.host.is_none()
            || !self
                .store
                .claim_round(&self.host, &self.owner, self.now(), period)
                .await?
        {
            return Ok(false);
        }
        let mut after = None;
        loop {
            let rows = self.store.of_host(&self.host, after.as_ref(), BATCH).await?;
            let Some(last) = rows.last() else { return Ok(true) };
            after = Some(last.id.clone());
            self.observe_rows(&rows).await?;
        }
    }

    /// Looks at the roots of some rows of this host now, and keeps what it saw.
    pub(super) async fn observe_rows(&self, rows: &[Workspace]) -> Result<(), CatalogError> {
        for batch in rows.chunks(BATCH as usize) {
            self.observe_batch(batch).await?;
        }
        Ok(())
    }

    async fn observe_batch(&self, rows: &[Workspace]) -> Result<(), CatalogError> {
        let look = |row: &Workspace| {
            let (root, durable_id) = (row.root_dir.clone(), row.durable_id.clone());
            move |files: &dyn Files| {
                let seen = observe(files, &root, &durable_id);
                Sight {
                    status: seen.status,
                    directory: seen.directory,
                }
            }
        };
        let looks = rows
            .iter()
            .map(|row| row.defect.is_none().then(|| (row.root_dir.clone(), look(row))))
            .collect();
        let sights = self.look_at_each(looks, Instant::now() + BATCH_BOUND).await;
        let mut seen = Vec::with_capacity(rows.len());
        for (row, sight) in rows.iter().zip(sights) {
            if row.defect.is_some() {
                continue;
            }
            let sight = sight.unwrap_or(Sight {
                status: WorkspaceStatus::RootUnreadable,
                directory: None,
            });
            let root_dir = self.root_after(row, sight.directory).await;
            seen.push(Observation {
                workspace_id: row.id.clone(),
                root_dir,
                status: sight.status,
            });
        }
        self.store.record(&seen, self.now()).await?;
        Ok(())
    }

    /// The root of a record, refreshed if it leads elsewhere now and nobody else has that root.
    async fn root_after(&self, row: &Workspace, directory: Option<Directory>) -> String {
        let Some(directory) = directory.filter(|directory| directory.path != row.root_dir) else {
            return row.root_dir.clone();
        };
        let new_root = directory.path.clone();
        match self.refresh_root(row, directory).await {
            Ok(true) => new_root,
            Ok(false) => row.root_dir.clone(),
            Err(error) => {
                tracing::warn!(%error, workspace = %row.id, "a root that leads elsewhere could not be refreshed");
                row.root_dir.clone()
            }
        }
    }

    async fn refresh_root(&self, row: &Workspace, directory: Directory) -> Result<bool, CatalogError> {
        let deadline = Instant::now() + WRITE_PATIENCE;
        if !self.may_become_root(deadline, &directory).await? {
            return Ok(false);
        }
        let _lock = within(deadline, self.store.lock_path(&self.host, &directory.path)).await?;
        let paths = [directory.path.clone()];
        if !within(deadline, self.store.find_by_roots(&self.host, &paths, &[]))
            .await?
            .is_empty()
        {
            return Ok(false);
        }
        let relink = Relink {
            id: row.id.clone(),
            etag: Some(row.etag()),
            from_root: row.root_dir.clone(),
            root_dir: directory.path,
            root_file: directory.file,
            validate_only: false,
        };
        let call = Call {
            visibility: Visibility::All,
            now: self.now(),
            deadline,
            remember: None,
        };
        let relinked = self.store.relink(relink, call).await;
        self.resolution.forget(&row.id);
        match relinked.map_err(CatalogError::from) {
            Ok(_) => Ok(true),
            // Somebody else was quicker; the next round sees what became of it.
            Err(
                CatalogError::EtagMismatch { .. }
                | CatalogError::WorkspaceNotFound { .. }
                | CatalogError::PathConflict { .. },
            ) => Ok(false),
            Err(error) => Err(error),
        }
    }
}

fn tell(observed: Result<(), CatalogError>) {
    if let Err(error) = observed {
        tracing::warn!(%error, "the roots could not be observed");
    }
}

//! Snapshots: what a session in a workspace would see, made from files when somebody asks, and kept as long as the
//! files are the same. Nothing here knows rows or callers: who may ask for what is the registry's part.

mod fault;
mod first;
mod flights;
mod metrics;
mod resolved;
mod wanted;

use std::hash::{Hash, Hasher};
use std::sync::Arc;
use std::time::{Duration, Instant};

use compozy_domain::{CatalogError, Clock, WorkspaceId};
use compozy_resolver::cache::{self, Bounds, Cache};
use compozy_resolver::snapshot::{Request, ResolveFault, Snapshot};
use compozy_resolver::{AllowedRoots, Files};
use tokio_util::sync::CancellationToken;

pub use self::first::FirstLook;
use self::flights::{Flights, Grouped, Turn};
pub use self::metrics::ResolutionMetrics;
pub use self::resolved::{ResolveOutcome, Resolved};
pub use self::wanted::{DefinitionWanted, ResolveWanted, Subject};
use crate::tasks::Tasks;

/// Snapshots that are made or checked at a time, four of them of one workspace. Each may read many files and holds a
/// thread.
const AT_ONCE: usize = 16;
/// Between two looks for snapshots that nobody has used for long.
const SWEEP_EVERY: Duration = Duration::from_secs(60);

/// A snapshot, or why there is none.
type Made = Result<Arc<Snapshot>, ResolveFault>;

/// Makes snapshots and keeps them.
#[derive(Debug)]
pub struct Resolution {
    files: Arc<dyn Files>,
    clock: Arc<dyn Clock>,
    cache: Arc<Cache>,
    flights: Flights<Key, Made>,
    metrics: ResolutionMetrics,
}

/// What has one snapshot at a time: two callers who differ in anything that decides about it share nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Key {
    workspace: WorkspaceId,
    request: Arc<Request>,
}

impl Hash for Key {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.workspace.hash(state);
        self.request.profile.hash(state);
    }
}

impl Grouped for Key {
    fn group(&self) -> &str {
        self.workspace.as_str()
    }
}

impl Resolution {
    /// Over a disk, with nothing kept.
    #[must_use]
    pub fn new(files: Arc<dyn Files>, clock: Arc<dyn Clock>, tasks: Tasks) -> Self {
        Self {
            cache: Arc::new(Cache::new(Arc::clone(&clock), Bounds::default())),
            files,
            clock,
            flights: Flights::new(tasks, AT_ONCE),
            metrics: ResolutionMetrics::default(),
        }
    }

    /// Its numbers.
    #[must_use]
    pub fn metrics(&self) -> &ResolutionMetrics {
        &self.metrics
    }

    /// The snapshot of a workspace: the kept one if nothing is different, a new one otherwise, or if everything is to
    /// be read anew. `field` is where the caller named the workspace.
    ///
    /// # Errors
    /// What is wrong with the root, the configuration or the identity; [`CatalogError::DeadlineExceeded`].
    pub(crate) async fn snapshot(
        &self,
        workspace: &WorkspaceId,
        request: Request,
        anew: bool,
        (field, deadline): (&str, Instant),
    ) -> Result<Arc<Snapshot>, CatalogError> {
        let request = Arc::new(request);
        let key = Key {
            workspace: workspace.clone(),
            request: Arc::clone(&request),
        };
        let work = self.work(workspace.clone(), Arc::clone(&request));
        let made = self.flights.join(key, anew, deadline, work).await;
        self.metrics.tell(self.cache.counts());
        made?.map_err(|fault| fault::error(fault, &request.root_dir, field))
    }

    /// Looks at a directory that is no workspace yet, or not there yet. Nothing is kept of that.
    ///
    /// # Errors
    /// As [`Resolution::snapshot`]; problems of files are no error here.
    pub(crate) async fn first_look(
        &self,
        request: Request,
        deadline: Instant,
    ) -> Result<FirstLook, CatalogError> {
        let (files, now) = (Arc::clone(&self.files), self.clock.now());
        let root = request.root_dir.clone();
        let look = move || first::look(files.as_ref(), &request, now);
        let looked = self.flights.alone(deadline, look).await?;
        looked.map_err(|fault| fault::error(fault, &root, "path"))
    }

    /// Drops what is kept of a workspace whose record has changed or is gone.
    pub(crate) fn forget(&self, workspace: &WorkspaceId) {
        self.cache.forget(workspace);
    }

    /// Drops what nobody has used for long, until it is told to stop.
    pub async fn keep_small(self: Arc<Self>, stop: CancellationToken) {
        loop {
            tokio::select! {
                () = stop.cancelled() => return,
                () = tokio::time::sleep(SWEEP_EVERY) => {}
            }
            self.cache.sweep();
            self.metrics.tell(self.cache.counts());
        }
    }

    fn work(&self, workspace_id: WorkspaceId, request: Arc<Request>) -> flights::Work<Made> {
        let (files, cache) = (Arc::clone(&self.files), Arc::clone(&self.cache));
        let key = cache::Key {
            workspace_id,
            profile: request.profile.clone(),
            is_restricted: request.allowed != AllowedRoots::Everything,
        };
        Arc::new(move |turn: &Turn<'_>| {
            let close = || turn.close();
            cache.resolve(files.as_ref(), &key, &request, turn.anew, &close)
        })
    }
}

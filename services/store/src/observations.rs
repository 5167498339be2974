//! What the observer saw of the roots.

use async_trait::async_trait;
use compozy_domain::{HostId, Timestamp, WorkspaceId, WorkspaceStatus};

use crate::error::Result;

/// What the observer saw of one root.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Observation {
    /// Whose root.
    pub workspace_id: WorkspaceId,
    /// The root that was looked at; a record that was relinked meanwhile is left alone.
    pub root_dir: String,
    /// What it shows.
    pub status: WorkspaceStatus,
}

/// What the observer last saw of one root.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LastObservation {
    /// What it showed.
    pub status: WorkspaceStatus,
    /// Since when it has been seen missing, without a break.
    pub missing_since: Option<Timestamp>,
    /// When it was last looked at.
    pub observed_at: Timestamp,
}

/// The observer's table.
#[async_trait]
pub trait ObservationStore: Send + Sync {
    /// Takes the next round of a host if it is due: nobody has begun one within `period_nanos`. Of several
    /// replicas one gets it.
    async fn claim_round(
        &self,
        host: &HostId,
        owner: &str,
        now: Timestamp,
        period_nanos: i64,
    ) -> Result<bool>;

    /// Keeps what was seen. A change of status appends one change entry and moves the record's version;
    /// the same status writes no entry. The first look at a root that is `OK` is no change.
    async fn record(&self, seen: &[Observation], now: Timestamp) -> Result<()>;

    /// What was last seen of a root.
    async fn last(&self, id: &WorkspaceId) -> Result<Option<LastObservation>>;
}

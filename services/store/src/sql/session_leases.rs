//! Leases of sessions: heartbeats, the last word, the sweep.

use async_trait::async_trait;

use compozy_domain::{CatalogError, LeaseHash, SessionAt, Timestamp, Visibility};

use crate::error::Result;
use crate::open::SqlStore;
use crate::sessions::{FinishSession, HeartbeatCall, Heartbeats, Sweep, Swept};
use crate::sql::db::Tx;
use crate::sql::remember::{Mutation, Scope};

#[async_trait]
impl Mutation for FinishSession {
    type Output = SessionAt;

    async fn apply(&self, _tx: &mut Tx, _scope: &Scope<'_>) -> Result<SessionAt> {
        Err(crate::error::Error::Defect("not built yet".into()))
    }
}

impl SqlStore {
    pub(super) async fn take_heartbeats(
        &self,
        _beats: &Heartbeats,
        _call: &HeartbeatCall,
    ) -> Result<Vec<std::result::Result<SessionAt, CatalogError>>> {
        Err(crate::error::Error::Defect("not built yet".into()))
    }

    pub(super) async fn session_under(
        &self,
        _hash: &LeaseHash,
        _visibility: &Visibility,
        _now: Timestamp,
    ) -> Result<SessionAt> {
        Err(crate::error::Error::Defect("not built yet".into()))
    }

    pub(super) async fn sweep_sessions(&self, _sweep: Sweep) -> Result<Swept> {
        Err(crate::error::Error::Defect("not built yet".into()))
    }

    pub(super) async fn last_sweep(&self) -> Result<Option<Timestamp>> {
        Err(crate::error::Error::Defect("not built yet".into()))
    }
}

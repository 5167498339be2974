//! Reading sessions one by one, and the catalog's clock.

use compozy_domain::session::Transition;
use compozy_domain::{ProfileId, Revision, SessionAt, SessionId, Timestamp, Visibility, WatchFilter};

use crate::error::Result;
use crate::open::SqlStore;

impl SqlStore {
    /// The catalog's clock as far as this process knows it: on SQLite never below an instant that was stored. On Postgres
    /// the database's is read in each transaction instead, and this is not used.
    pub(super) async fn session_clock(&self, now: Timestamp) -> Result<Timestamp> {
        Ok(now)
    }

    pub(super) async fn session_with_id(
        &self,
        _id: &SessionId,
        _visibility: &Visibility,
        _now: Timestamp,
    ) -> Result<(Option<SessionAt>, Revision)> {
        Err(crate::error::Error::Defect("not built yet".into()))
    }

    pub(super) async fn sessions_with_ids(
        &self,
        _ids: &[SessionId],
        _visibility: &Visibility,
        _now: Timestamp,
    ) -> Result<Vec<SessionAt>> {
        Err(crate::error::Error::Defect("not built yet".into()))
    }

    pub(super) async fn sessions_by_id(
        &self,
        _after: Option<&SessionId>,
        _filter: &WatchFilter,
        _limit: u32,
        _visibility: &Visibility,
        _now: Timestamp,
    ) -> Result<Vec<SessionAt>> {
        Err(crate::error::Error::Defect("not built yet".into()))
    }

    pub(super) async fn transitions_of(&self, _id: &SessionId) -> Result<Vec<Transition>> {
        Err(crate::error::Error::Defect("not built yet".into()))
    }

    pub(super) async fn count_sessions_of_profile(&self, _id: &ProfileId) -> Result<i64> {
        Err(crate::error::Error::Defect("not built yet".into()))
    }
}

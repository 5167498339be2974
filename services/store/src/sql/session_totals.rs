//! Exact totals of sessions.

use async_trait::async_trait;

use crate::error::Result;
use crate::sessions::{CountSessions, SessionTotals};
use crate::sql::db::{Transaction, Tx};

/// Totals to read.
pub(crate) struct Totals(pub(crate) CountSessions);

#[async_trait]
impl Transaction for Totals {
    type Output = SessionTotals;

    async fn run(&self, _tx: &mut Tx) -> Result<SessionTotals> {
        let _count = &self.0;
        Err(crate::error::Error::Defect("not built yet".into()))
    }
}

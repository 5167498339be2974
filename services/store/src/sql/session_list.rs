//! Counted pages of sessions.

use async_trait::async_trait;

use crate::error::Result;
use crate::sessions::{ListSessions, SessionPage};
use crate::sql::db::{Transaction, Tx};

/// One page to read.
pub(crate) struct List(pub(crate) ListSessions);

#[async_trait]
impl Transaction for List {
    type Output = SessionPage;

    async fn run(&self, _tx: &mut Tx) -> Result<SessionPage> {
        let _list = &self.0;
        Err(crate::error::Error::Defect("not built yet".into()))
    }
}

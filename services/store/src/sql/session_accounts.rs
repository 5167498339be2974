//! Accounts: which sessions belong to a workspace, and in which order.

use async_trait::async_trait;

use crate::error::Result;
use crate::sessions::{AttachSession, DetachSession, MoveSession, MovedSession, Regrouped};
use crate::sql::db::Tx;
use crate::sql::remember::{Mutation, Scope};

#[async_trait]
impl Mutation for AttachSession {
    type Output = Regrouped;

    async fn apply(&self, _tx: &mut Tx, _scope: &Scope<'_>) -> Result<Regrouped> {
        Err(crate::error::Error::Defect("not built yet".into()))
    }
}

#[async_trait]
impl Mutation for DetachSession {
    type Output = Regrouped;

    async fn apply(&self, _tx: &mut Tx, _scope: &Scope<'_>) -> Result<Regrouped> {
        Err(crate::error::Error::Defect("not built yet".into()))
    }
}

#[async_trait]
impl Mutation for MoveSession {
    type Output = MovedSession;

    async fn apply(&self, _tx: &mut Tx, _scope: &Scope<'_>) -> Result<MovedSession> {
        Err(crate::error::Error::Defect("not built yet".into()))
    }
}

//! Writing sessions: every write locks before it looks, and appends its change last.

use async_trait::async_trait;

use compozy_domain::{SessionAt, SessionId};

use crate::error::Result;
use crate::sessions::{ChangeSession, CreateSession, CreatedSession, DeleteSession};
use crate::sql::db::Tx;
use crate::sql::remember::{Mutation, Scope};

#[async_trait]
impl Mutation for CreateSession {
    type Output = CreatedSession;

    async fn apply(&self, _tx: &mut Tx, _scope: &Scope<'_>) -> Result<CreatedSession> {
        Err(crate::error::Error::Defect("not built yet".into()))
    }
}

#[async_trait]
impl Mutation for ChangeSession {
    type Output = SessionAt;

    async fn apply(&self, _tx: &mut Tx, _scope: &Scope<'_>) -> Result<SessionAt> {
        Err(crate::error::Error::Defect("not built yet".into()))
    }
}

#[async_trait]
impl Mutation for DeleteSession {
    type Output = Option<SessionId>;

    async fn apply(&self, _tx: &mut Tx, _scope: &Scope<'_>) -> Result<Option<SessionId>> {
        Err(crate::error::Error::Defect("not built yet".into()))
    }
}

//! Requests that are carried out once: the answer is written in the write's own transaction.

use std::time::Duration;

use async_trait::async_trait;

use compozy_domain::{CatalogError, Timestamp, Visibility};

use crate::call::{Answer, Call, Remember, Written};
use crate::error::{Error, Result};
use crate::sql::change_log::head_revision;
use crate::sql::db::{Transaction, Tx};

/// How long an answer is remembered.
pub(crate) const REMEMBERED_FOR: Duration = Duration::from_secs(24 * 60 * 60);

/// A write on behalf of a caller, without what all of them share.
#[async_trait]
pub(crate) trait Mutation: Send + Sync + 'static {
    type Output: Send + 'static;

    async fn apply(&self, tx: &mut Tx, scope: &Scope<'_>) -> Result<Self::Output>;
}

/// Who writes, and when.
#[derive(Debug)]
pub(crate) struct Scope<'c> {
    pub(crate) visibility: &'c Visibility,
    pub(crate) now: Timestamp,
}

/// A mutation together with the call that it serves.
pub(crate) struct Answered<M: Mutation> {
    pub(crate) mutation: M,
    pub(crate) call: Call<M::Output>,
}

#[async_trait]
impl<M: Mutation> Transaction for Answered<M> {
    type Output = Answer<M::Output>;

    async fn run(&self, tx: &mut Tx) -> Result<Self::Output> {
        let call = &self.call;
        if let Some(remember) = &call.remember
            && let Some(answer) = claim(tx, remember, call.now).await?
        {
            tx.discard = true;
            return Ok(Answer::Remembered(answer));
        }
        let revision = head_revision(tx).await?;
        let scope = Scope {
            visibility: &call.visibility,
            now: call.now,
        };
        let value = self.mutation.apply(tx, &scope).await?;
        let written = Written { value, revision };
        if let Some(remember) = &call.remember
            && !tx.discard
        {
            keep(tx, remember, (remember.encode)(&written)).await?;
        }
        Ok(Answer::Fresh(written))
    }
}

/// The answer to a request that was carried out before. Otherwise the id is this transaction's: on Postgres
/// another transaction with the same id waits for it to end.
async fn claim<T>(tx: &mut Tx, remember: &Remember<T>, now: Timestamp) -> Result<Option<Vec<u8>>> {
    let key = [
        remember.principal.as_str().into(),
        remember.method.into(),
        remember.request_id.as_str().into(),
        remember.hash.as_slice().into(),
        now.into(),
    ];
    let sql = "INSERT INTO request (principal, method, request_id, hash, created_at) VALUES ($1, $2, $3, $4, $5) \
               ON CONFLICT (principal, method, request_id) DO NOTHING";
    if tx.execute(sql, &key).await? == 1 {
        return Ok(None);
    }
    // Locked, so that of two repetitions of a forgotten request the second waits for the first.
    let sql = format!(
        "SELECT hash, answer, created_at FROM request \
         WHERE principal = $1 AND method = $2 AND request_id = $3{}",
        tx.dialect().for_update()
    );
    let Some(mut row) = tx.row(&sql, &key[..3]).await? else {
        // Forgotten in between: the id is nobody's now, and has to be claimed again.
        return Err(Error::Repeat("a remembered request was forgotten".into()));
    };
    let (hash, answer, created_at): (Vec<u8>, Option<Vec<u8>>, i64) = (row.take()?, row.take()?, row.take()?);
    if is_forgotten(created_at, now) {
        let sql = "UPDATE request SET hash = $4, answer = NULL, created_at = $5 \
                   WHERE principal = $1 AND method = $2 AND request_id = $3";
        tx.execute(sql, &key).await?;
        return Ok(None);
    }
    if hash != remember.hash {
        return Err(CatalogError::RequestIdReused.into());
    }
    // Without an answer it was too large to keep; the write is carried out again, as it would be without id.
    Ok(answer)
}

async fn keep<T>(tx: &mut Tx, remember: &Remember<T>, answer: Vec<u8>) -> Result<()> {
    if answer.len() > compozy_domain::limits::ANSWER_BYTES_MAX {
        return Ok(());
    }
    let sql = "UPDATE request SET answer = $4 WHERE principal = $1 AND method = $2 AND request_id = $3";
    let binds = [
        remember.principal.as_str().into(),
        remember.method.into(),
        remember.request_id.as_str().into(),
        answer.as_slice().into(),
    ];
    tx.execute(sql, &binds).await?;
    Ok(())
}

/// Whether an answer of this time is too old to be remembered.
pub(crate) fn is_forgotten(created_at: i64, now: Timestamp) -> bool {
    Timestamp::from_nanos(created_at).plus(REMEMBERED_FOR) < now
}

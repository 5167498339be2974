//! What a write needs to know of the call that it serves.

use std::fmt;
use std::sync::Arc;
use std::time::Instant;

use compozy_domain::{RequestId, Revision, Timestamp, Visibility};

/// A write on behalf of a caller.
#[derive(Debug)]
pub struct Call<T> {
    /// The workspaces that exist for the caller.
    pub visibility: Visibility,
    /// The current instant, as the record will carry it.
    pub now: Timestamp,
    /// When to give up. Checked before the write joins a transaction on SQLite, until the commit is sent on
    /// Postgres; a write is applied wholly or not at all.
    pub deadline: Instant,
    /// How to recognise a repetition of the call; `None` remembers nothing.
    pub remember: Option<Remember<T>>,
}

/// A request that is carried out once within 24 hours: its answer is kept in the write's own transaction.
pub struct Remember<T> {
    /// The caller.
    pub principal: String,
    /// Full name of the method.
    pub method: &'static str,
    /// The caller's id of the request.
    pub request_id: RequestId,
    /// SHA-256 of the request without its id.
    pub hash: [u8; 32],
    /// Makes the bytes of the answer, at most 64 KiB.
    pub encode: Encode<T>,
}

/// Makes the bytes of an answer.
pub type Encode<T> = Arc<dyn Fn(&Written<T>) -> Vec<u8> + Send + Sync>;

/// What a write did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Written<T> {
    /// Its result.
    pub value: T,
    /// A position of the change log before the write: a watch from it delivers the write.
    pub revision: Revision,
}

/// The answer to a write that may be a repetition.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer<T> {
    /// It was carried out now.
    Fresh(Written<T>),
    /// It was carried out before; the bytes of the first answer.
    Remembered(Vec<u8>),
}

impl<T> Clone for Call<T> {
    fn clone(&self) -> Self {
        Self {
            visibility: self.visibility.clone(),
            now: self.now,
            deadline: self.deadline,
            remember: self.remember.clone(),
        }
    }
}

impl<T> Clone for Remember<T> {
    fn clone(&self) -> Self {
        Self {
            principal: self.principal.clone(),
            method: self.method,
            request_id: self.request_id.clone(),
            hash: self.hash,
            encode: Arc::clone(&self.encode),
        }
    }
}

impl<T> fmt::Debug for Remember<T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Remember")
            .field("principal", &self.principal)
            .field("method", &self.method)
            .field("request_id", &self.request_id)
            .finish_non_exhaustive()
    }
}

//! The way to the disk: every call that may block runs on a thread made for blocking.

use std::sync::Arc;
use std::time::Instant;

use compozy_domain::CatalogError;
use compozy_resolver::Files;

use super::Registry;

impl Registry {
    /// Looks at the disk until a deadline. A look that hangs is left behind; it changes nothing.
    pub(super) async fn look<T, L>(&self, deadline: Instant, look: L) -> Result<T, CatalogError>
    where
        T: Send + 'static,
        L: FnOnce(&dyn Files) -> T + Send + 'static,
    {
        match tokio::time::timeout_at(deadline.into(), self.touch(look)).await {
            Ok(outcome) => outcome,
            Err(_) => Err(CatalogError::DeadlineExceeded),
        }
    }

    /// Works on the disk to the end: what it did has to be known, so that it can be undone. Its caller is
    /// answered at the deadline by [`Registry::carry_out`], whatever the disk does.
    pub(super) async fn touch<T, W>(&self, work: W) -> Result<T, CatalogError>
    where
        T: Send + 'static,
        W: FnOnce(&dyn Files) -> T + Send + 'static,
    {
        let files = Arc::clone(&self.files);
        let work = tokio::task::spawn_blocking(move || work(files.as_ref()));
        work.await.map_err(|failed| CatalogError::Defect {
            detail: format!("a look at the disk failed: {failed}"),
        })
    }
}

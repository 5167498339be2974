//! Current rows for watchers that want them: everybody who asks while a query runs shares the next one. A row is always
//! read after it was asked for, so it is never older than the change that it goes with.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use compozy_domain::{CatalogError, Visibility, Workspace, WorkspaceId};
use compozy_store::Store;
use tokio::sync::{Notify, Semaphore, oneshot};
use tokio_util::sync::CancellationToken;

use super::patience::{patiently, unavailable};

/// Rows of one query.
const ROWS_AT_ONCE: usize = 32;

/// Pages of snapshots that are read at once: however many begin, other calls find the store free.
const PAGES_AT_ONCE: usize = 2;

/// Rows by their ids.
type RowsById = Arc<HashMap<WorkspaceId, Workspace>>;
type Outcome = Result<RowsById, CatalogError>;

/// Reads rows.
#[derive(Debug)]
pub struct Rows {
    store: Arc<dyn Store>,
    waiting: Mutex<Vec<Question>>,
    asked: Notify,
    pages: Semaphore,
}

#[derive(Debug)]
struct Question {
    ids: Vec<WorkspaceId>,
    answer: oneshot::Sender<Outcome>,
}

impl Rows {
    /// Nothing is read before somebody asks. [`Self::serve`] does the work.
    #[must_use]
    pub fn new(store: Arc<dyn Store>) -> Arc<Self> {
        Arc::new(Self {
            store,
            waiting: Mutex::default(),
            asked: Notify::new(),
            pages: Semaphore::new(PAGES_AT_ONCE),
        })
    }

    /// The rows of these workspaces, and perhaps others, as they are now. What a caller may know of them is for
    /// whoever asks to see to.
    ///
    /// # Errors
    /// What the store answers.
    pub async fn now(&self, ids: Vec<WorkspaceId>) -> Outcome {
        if ids.is_empty() {
            return Ok(RowsById::default());
        }
        let (answer, answered) = oneshot::channel();
        self.waiting
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(Question { ids, answer });
        self.asked.notify_one();
        answered.await.unwrap_or_else(|_| Err(unavailable()))
    }

    /// A page of a snapshot, as [`compozy_store::WorkspaceStore::above`].
    ///
    /// # Errors
    /// What the store answers.
    pub async fn page(
        &self,
        after: Option<&WorkspaceId>,
        only: &[WorkspaceId],
        limit: u32,
        visibility: &Visibility,
    ) -> Result<Vec<Workspace>, CatalogError> {
        // Never closed.
        let _turn = self.pages.acquire().await.ok();
        patiently(self.store.above(after, only, limit, visibility)).await
    }

    /// Answers until it is told to stop.
    pub async fn serve(self: Arc<Self>, stop: CancellationToken) {
        loop {
            tokio::select! {
                () = stop.cancelled() => break,
                () = self.asked.notified() => {}
            }
            let questions = std::mem::take(&mut *self.lock());
            self.answer(questions).await;
        }
        self.lock().clear();
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Vec<Question>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn answer(&self, questions: Vec<Question>) {
        let mut ids: Vec<WorkspaceId> = questions
            .iter()
            // Whoever went away wants nothing.
            .filter(|question| !question.answer.is_closed())
            .flat_map(|question| question.ids.iter().cloned())
            .collect();
        ids.sort_unstable();
        ids.dedup();
        let outcome = self.read(&ids).await;
        for question in questions {
            // Somebody who has gone away by now needs no answer.
            let _gone = question.answer.send(outcome.clone());
        }
    }

    async fn read(&self, ids: &[WorkspaceId]) -> Outcome {
        let mut rows = HashMap::with_capacity(ids.len());
        for ids in ids.chunks(ROWS_AT_ONCE) {
            for row in self.store.find_all(ids, &Visibility::All).await? {
                rows.insert(row.id.clone(), row);
            }
        }
        Ok(Arc::new(rows))
    }
}

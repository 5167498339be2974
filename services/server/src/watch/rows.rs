//! Current rows for watchers that want them: everybody who asks while a query runs shares the next one. A row is always
//! read after it was asked for, so it is never older than the change that it goes with.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use compozy_domain::profile::Selection;
use compozy_domain::{
    CatalogError, Clock, Profile, ProfileId, SessionAt, SessionId, Visibility, WatchFilter, Workspace,
    WorkspaceId,
};
use compozy_store::Store;
use tokio::sync::{Notify, Semaphore, oneshot};
use tokio_util::sync::CancellationToken;

use super::patience::{patiently, unavailable};

/// Rows of one query.
const ROWS_AT_ONCE: usize = 32;

/// Pages of snapshots that are read at once: however many begin, other calls find the store free.
const PAGES_AT_ONCE: usize = 2;

/// What a row is of.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RowKey {
    /// A workspace.
    Workspace(WorkspaceId),
    /// A session.
    Session(SessionId),
    /// A profile.
    Profile(ProfileId),
    /// The profile that is selected for a workspace, or for everything else.
    Selection(Option<WorkspaceId>),
}

/// A row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Record {
    /// A workspace.
    Workspace(Box<Workspace>),
    /// A session.
    Session(Box<SessionAt>),
    /// A profile.
    Profile(Box<Profile>),
    /// A selection.
    Selection(Selection),
}

/// Rows by what they are of.
type RowsByKey = Arc<HashMap<RowKey, Record>>;
type Outcome = Result<RowsByKey, CatalogError>;

/// Reads rows.
#[derive(Debug)]
pub struct Rows {
    store: Arc<dyn Store>,
    clock: Arc<dyn Clock>,
    waiting: Mutex<Vec<Question>>,
    asked: Notify,
    pages: Semaphore,
}

#[derive(Debug)]
struct Question {
    keys: Vec<RowKey>,
    answer: oneshot::Sender<Outcome>,
}

impl Rows {
    /// Nothing is read before somebody asks. [`Self::serve`] does the work.
    #[must_use]
    pub fn new(store: Arc<dyn Store>, clock: Arc<dyn Clock>) -> Arc<Self> {
        Arc::new(Self {
            store,
            clock,
            waiting: Mutex::default(),
            asked: Notify::new(),
            pages: Semaphore::new(PAGES_AT_ONCE),
        })
    }

    /// These rows, and perhaps others, as they are now. What a caller may know of them is for
    /// whoever asks to see to.
    ///
    /// # Errors
    /// What the store answers.
    pub async fn now(&self, keys: Vec<RowKey>) -> Outcome {
        if keys.is_empty() {
            return Ok(RowsByKey::default());
        }
        let (answer, answered) = oneshot::channel();
        self.waiting
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(Question { keys, answer });
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

    /// A page of the sessions that a watch sees, as [`compozy_store::SessionStore::sessions_above`].
    ///
    /// # Errors
    /// What the store answers.
    pub async fn sessions(
        &self,
        after: Option<&SessionId>,
        filter: &WatchFilter,
        limit: u32,
        visibility: &Visibility,
    ) -> Result<Vec<SessionAt>, CatalogError> {
        let _turn = self.pages.acquire().await.ok();
        let now = self.clock.now();
        patiently(self.store.sessions_above(after, filter, limit, visibility, now)).await
    }

    /// A page of profiles, by id.
    ///
    /// # Errors
    /// What the store answers.
    pub async fn profiles(
        &self,
        after: Option<&ProfileId>,
        limit: u32,
    ) -> Result<Vec<Profile>, CatalogError> {
        let _turn = self.pages.acquire().await.ok();
        patiently(self.store.profiles_above(after, limit)).await
    }

    /// The selections of these workspaces, and with `global` the one for everything else.
    ///
    /// # Errors
    /// What the store answers.
    pub async fn selections(
        &self,
        workspaces: &[WorkspaceId],
        global: bool,
    ) -> Result<Vec<Selection>, CatalogError> {
        let _turn = self.pages.acquire().await.ok();
        patiently(self.store.find_selections(workspaces, global)).await
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
        let mut keys: Vec<RowKey> = questions
            .iter()
            // Whoever went away wants nothing.
            .filter(|question| !question.answer.is_closed())
            .flat_map(|question| question.keys.iter().cloned())
            .collect();
        keys.sort_unstable();
        keys.dedup();
        let outcome = self.read(&keys).await;
        for question in questions {
            // Somebody who has gone away by now needs no answer.
            let _gone = question.answer.send(outcome.clone());
        }
    }

    async fn read(&self, keys: &[RowKey]) -> Outcome {
        let mut rows = HashMap::with_capacity(keys.len());
        for keys in keys.chunks(ROWS_AT_ONCE) {
            let asked = Asked::of(keys);
            if !asked.workspaces.is_empty() {
                for row in self.store.find_all(&asked.workspaces, &Visibility::All).await? {
                    rows.insert(
                        RowKey::Workspace(row.id.clone()),
                        Record::Workspace(Box::new(row)),
                    );
                }
            }
            if !asked.sessions.is_empty() {
                let now = self.clock.now();
                for row in self
                    .store
                    .find_sessions(&asked.sessions, &Visibility::All, now)
                    .await?
                {
                    rows.insert(
                        RowKey::Session(row.session.id.clone()),
                        Record::Session(Box::new(row)),
                    );
                }
            }
            if !asked.profiles.is_empty() {
                for row in self.store.find_profiles(&asked.profiles).await? {
                    rows.insert(RowKey::Profile(row.id.clone()), Record::Profile(Box::new(row)));
                }
            }
            if asked.global_selection || !asked.selections.is_empty() {
                for row in self
                    .store
                    .find_selections(&asked.selections, asked.global_selection)
                    .await?
                {
                    rows.insert(
                        RowKey::Selection(row.workspace_id.clone()),
                        Record::Selection(row),
                    );
                }
            }
        }
        Ok(Arc::new(rows))
    }
}

/// Keys of one query each.
#[derive(Default)]
struct Asked {
    workspaces: Vec<WorkspaceId>,
    sessions: Vec<SessionId>,
    profiles: Vec<ProfileId>,
    selections: Vec<WorkspaceId>,
    global_selection: bool,
}

impl Asked {
    fn of(keys: &[RowKey]) -> Self {
        let mut asked = Self::default();
        for key in keys {
            match key {
                RowKey::Workspace(id) => asked.workspaces.push(id.clone()),
                RowKey::Session(id) => asked.sessions.push(id.clone()),
                RowKey::Profile(id) => asked.profiles.push(id.clone()),
                RowKey::Selection(Some(id)) => asked.selections.push(id.clone()),
                RowKey::Selection(None) => asked.global_selection = true,
            }
        }
        asked
    }
}

//! Sessions in the rounds: work beside the registrations, and after each kill the same questions. Nothing that was
//! answered is missing, nothing is half there: rows, states, leases, accounts, counts.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard};

use compozy_client::Client;
use compozy_e2e::{Draw, Environment, by_id, register};
use compozy_proto::session::v1::{
    ArchiveFilter, CountSessionsRequest, GetSessionRequest, ListSessionsRequest, SessionFilter, SessionSort,
};
use futures::TryStreamExt as _;
use tokio::task::JoinSet;

use crate::session_held::{SessionRow, SessionsHeld};
use crate::session_operation::{Calls, SessionAnswer, SessionOperation, Unanswered};
use crate::session_worker::SessionWorker;

const WORKERS: usize = 4;
/// Folder of their workspaces. Nobody else writes them.
const FOLDER: &str = "sessions";

type Shared = Arc<Mutex<SessionWorker>>;

/// What the kills met.
#[derive(Debug, Default)]
pub(crate) struct SessionSummary {
    pub(crate) answered: u64,
    pub(crate) unanswered: u64,
    pub(crate) found_applied: u64,
    pub(crate) found_absent: u64,
}

pub(crate) struct SessionRounds {
    workers: Vec<Shared>,
    socket: PathBuf,
    summary: SessionSummary,
}

impl SessionRounds {
    /// With two workspaces for each worker.
    pub(crate) async fn begin(environment: &Environment, client: &Client, draw: &mut Draw) -> Self {
        let mut workers = Vec::new();
        for number in 0..WORKERS {
            let mut workspaces = Vec::new();
            for place in ["a", "b"] {
                let root = environment.make(&format!("{FOLDER}/{number}/{place}"));
                let workspace = register(client, root.clone()).await.unwrap().workspace.unwrap();
                workspaces.push((workspace.id, root));
            }
            let worker = SessionWorker::new(draw.fork(), workspaces);
            workers.push(Arc::new(Mutex::new(worker)));
        }
        Self {
            workers,
            socket: environment.client_home().socket_path(),
            summary: SessionSummary::default(),
        }
    }

    /// Whether a registration is one of these.
    pub(crate) fn owns(environment: &Environment, root: &str) -> bool {
        Path::new(root).starts_with(environment.work.join(FOLDER))
    }

    /// Works until the daemon is gone.
    pub(crate) fn work(&self, running: &mut JoinSet<()>, environment: &Environment) {
        for worker in &self.workers {
            let calls = Calls::new(environment.client(), self.socket.clone());
            running.spawn(work(Arc::clone(worker), calls));
        }
    }

    /// S343: every answered write is there, the unanswered one wholly or not at all, and nothing else.
    pub(crate) async fn compare_with_the_model(&mut self, client: &Client) {
        let listed = rows(client).await;
        let mut count = 0;
        for worker in &self.workers {
            let held = held(client, &listed, worker).await;
            let worker = lock(worker);
            let Some(operation) = &worker.pending else {
                assert_eq!(held, worker.held);
                count += held.rows.len();
                continue;
            };
            self.summary.unanswered += 1;
            let is_absent = held == worker.held;
            let is_applied = held == worker.held.after(operation);
            assert!(
                is_absent || is_applied,
                "half a write, or a lost one: {operation:?}\nheld {held:#?}\nknown {:#?}",
                worker.held
            );
            self.summary.found_applied += u64::from(is_applied && !is_absent);
            self.summary.found_absent += u64::from(is_absent && !is_applied);
            count += held.rows.len();
        }
        assert_eq!(listed.len(), count, "nobody made the others");
    }

    /// S048, S342: an unanswered write gets its answer now, and an answered one gets the same answer again.
    pub(crate) async fn ask_again(&mut self, client: &Client, draw: &mut Draw) {
        let calls = Calls::new(client.clone(), self.socket.clone());
        for worker in &self.workers {
            let (pending, answered) = {
                let worker = lock(worker);
                (worker.pending.clone(), worker.answered.clone())
            };
            if let Some((operation, answer)) = answered.filter(|_| draw.one_in(2)) {
                assert_eq!(send(&operation, &calls).await, answer, "{operation:?}");
            }
            let Some(operation) = pending else { continue };
            let answer = send(&operation, &calls).await;
            assert_eq!(send(&operation, &calls).await, answer, "{operation:?}");
            lock(worker).settle(operation, answer);
        }
    }

    /// Nothing is open any more: rows, accounts and counts are those of the model, and what was deleted stays so.
    pub(crate) async fn assert_settled(&self, client: &Client) {
        let listed = rows(client).await;
        for worker in &self.workers {
            let held = held(client, &listed, worker).await;
            assert_eq!(held, lock(worker).held);
            let deleted = lock(worker).deleted.last().cloned();
            if let Some(session_id) = deleted {
                let request = GetSessionRequest {
                    session_id,
                    ..Default::default()
                };
                let error = client.get_session(request).await.unwrap_err();
                assert_eq!(error.reason_name(), "SESSION_NOT_FOUND");
            }
        }
        assert_counted(client, &listed).await;
    }

    pub(crate) fn finish(mut self) -> SessionSummary {
        let answered = self.workers.iter().map(|worker| lock(worker).answered_count);
        self.summary.answered = answered.sum();
        self.summary
    }
}

async fn send(operation: &SessionOperation, calls: &Calls) -> SessionAnswer {
    match operation.send(calls).await {
        Ok(answer) => answer,
        Err(unanswered) => panic!("{operation:?}: {unanswered:?}"),
    }
}

/// Every session.
async fn rows(client: &Client) -> Vec<SessionRow> {
    let request = list(SessionFilter::default(), SessionSort::Recent);
    let listed = client.session_rows(request).try_collect::<Vec<_>>();
    listed.await.unwrap().iter().map(SessionRow::of).collect()
}

/// What the catalog holds of one worker, with the order of its accounts.
async fn held(client: &Client, listed: &[SessionRow], worker: &Shared) -> SessionsHeld {
    let (workspaces, known) = {
        let worker = lock(worker);
        let mut known: Vec<String> = worker.held.rows.keys().cloned().collect();
        known.extend(worker.pending.iter().map(|operation| operation.id().to_owned()));
        (worker.workspaces.clone(), known)
    };
    let mut held = SessionsHeld::default();
    for row in listed.iter().filter(|row| known.contains(&row.id)) {
        held.rows.insert(row.id.clone(), row.clone());
    }
    for (workspace, _) in workspaces {
        let filter = SessionFilter {
            workspace: Some(by_id(&workspace)),
            ..Default::default()
        };
        let rows = client.session_rows(list(filter, SessionSort::Manual));
        let rows: Vec<_> = rows.try_collect().await.unwrap();
        if !rows.is_empty() {
            let ids = rows.into_iter().map(|row| row.id);
            held.accounts.insert(workspace, ids.collect());
        }
    }
    held
}

/// The counts are those of the rows.
async fn assert_counted(client: &Client, listed: &[SessionRow]) {
    let request = CountSessionsRequest {
        filter: list(SessionFilter::default(), SessionSort::Recent).filter,
    };
    let answer = client.count_sessions(request).await.unwrap();
    let mut by_state = BTreeMap::new();
    let mut by_workspace = BTreeMap::new();
    for row in listed {
        *by_state.entry(row.state as i32).or_insert(0) += 1;
        *by_workspace.entry(row.workspace.clone()).or_insert(0) += 1;
    }
    let told = answer.by_state.iter().map(|count| (count.state, count.count));
    assert_eq!(told.collect::<BTreeMap<_, i64>>(), by_state);
    let told = answer.by_workspace.iter();
    let told = told.map(|count| (count.workspace_id.clone(), count.count));
    assert_eq!(told.collect::<BTreeMap<_, i64>>(), by_workspace);
}

fn list(filter: SessionFilter, sort: SessionSort) -> ListSessionsRequest {
    ListSessionsRequest {
        filter: Some(SessionFilter {
            archive: ArchiveFilter::Include.into(),
            ..filter
        }),
        sort: sort.into(),
        limit: 100,
        ..Default::default()
    }
}

/// Works until the daemon is gone.
async fn work(worker: Shared, calls: Calls) {
    loop {
        let operation = lock(&worker).begin();
        match operation.send(&calls).await {
            Ok(answer) => lock(&worker).settle(operation, answer),
            Err(Unanswered::Gone) => return,
            Err(Unanswered::Refused(words)) => panic!("{operation:?}: {words}"),
        }
    }
}

fn lock(worker: &Shared) -> MutexGuard<'_, SessionWorker> {
    worker.lock().unwrap()
}

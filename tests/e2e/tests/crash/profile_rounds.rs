//! Profiles in the rounds: work beside the registrations, and after each kill the same questions.

use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard};

use compozy_client::{Client, ErrorKind};
use compozy_e2e::{Draw, Environment, by_id, register};
use compozy_proto::profile::v1::{GetActiveProfileRequest, ListProfilesRequest};
use compozy_proto::workspace::v1::ProfileSource;
use futures::TryStreamExt as _;
use tokio::task::JoinSet;

use crate::profile_held::{Held, ProfileRow};
use crate::profile_operation::What;
use crate::profile_worker::ProfileWorker;
use crate::verify::Found;

const WORKERS: usize = 4;
/// Folder of the workspaces for which something is selected. Nobody else writes them.
const FOLDER: &str = "selections";

type Shared = Arc<Mutex<ProfileWorker>>;

/// What the kills met.
#[derive(Debug, Default)]
pub(crate) struct ProfileSummary {
    pub(crate) answered: u64,
    pub(crate) unanswered: u64,
    pub(crate) renames_applied: u64,
    pub(crate) renames_absent: u64,
    /// Kills between the two halves of a rename.
    pub(crate) directories_before_rows: u64,
}

pub(crate) struct ProfileRounds {
    workers: Vec<Shared>,
    pub(crate) summary: ProfileSummary,
}

impl ProfileRounds {
    /// With a workspace for each worker.
    pub(crate) async fn begin(environment: &Environment, client: &Client, draw: &mut Draw) -> Self {
        let mut workers = Vec::new();
        for number in 0..WORKERS {
            let root = environment.make(&format!("{FOLDER}/{number}"));
            let workspace = register(client, root).await.unwrap().workspace.unwrap();
            let worker = ProfileWorker::new(number, draw.fork(), &environment.home, workspace.id);
            workers.push(Arc::new(Mutex::new(worker)));
        }
        Self {
            workers,
            summary: ProfileSummary::default(),
        }
    }

    /// Whether a registration is one of these.
    pub(crate) fn owns(environment: &Environment, root: &str) -> bool {
        Path::new(root).starts_with(environment.work.join(FOLDER))
    }

    /// Works until the daemon is gone.
    pub(crate) fn work(&self, running: &mut JoinSet<()>, environment: &Environment) {
        for worker in &self.workers {
            running.spawn(work(Arc::clone(worker), environment.client()));
        }
    }

    /// While no daemon runs: which renames have moved a directory.
    pub(crate) fn look_while_it_is_down(&mut self) -> Vec<bool> {
        let workers = self.workers.iter().map(lock);
        let moved = workers.map(|worker| {
            self.summary.unanswered += u64::from(worker.pending.is_some());
            worker.has_moved_directory()
        });
        moved.collect()
    }

    /// Every answered write is there, the unanswered one wholly or not at all, and nothing else.
    pub(crate) async fn compare_with_the_model(&mut self, client: &Client, moved: &[bool]) {
        let listed = rows(client).await;
        for row in &listed {
            assert!(
                self.workers.iter().any(|worker| lock(worker).owns(&row.name)),
                "nobody made {row:?}"
            );
        }
        for (worker, moved) in self.workers.iter().zip(moved) {
            let held = held(client, &listed, worker).await;
            let worker = lock(worker);
            let found = compare(&held, &worker);
            let is_rename = matches!(
                worker.pending.as_ref().map(|operation| &operation.what),
                Some(What::Rename { .. })
            );
            match found {
                Found::Applied => self.summary.renames_applied += u64::from(is_rename),
                Found::Absent => {
                    self.summary.renames_absent += u64::from(is_rename);
                    self.summary.directories_before_rows += u64::from(*moved);
                }
                Found::Unknown => {}
            }
            worker.assert_directories(&held);
        }
    }

    /// An unanswered write gets its answer now, and an answered one gets the same answer again.
    pub(crate) async fn ask_again(&mut self, client: &Client, draw: &mut Draw) {
        for worker in &self.workers {
            let (pending, answered) = {
                let worker = lock(worker);
                (worker.pending.clone(), worker.answered.clone())
            };
            if let Some((operation, answer)) = answered.filter(|_| draw.one_in(2)) {
                assert_eq!(operation.send(client).await.unwrap(), answer, "{operation:?}");
            }
            let Some(operation) = pending else { continue };
            match operation.send(client).await {
                Ok(answer) => {
                    assert_eq!(operation.send(client).await.unwrap(), answer, "{operation:?}");
                    lock(worker).settle(operation, answer);
                }
                Err(error) if operation.is_refused_with(&error) => lock(worker).settle_refused(),
                Err(error) => panic!("{operation:?}: {error:?}"),
            }
        }
    }

    /// Nothing is open any more: rows, selections and directories are those of the model.
    pub(crate) async fn assert_settled(&self, client: &Client) {
        let listed = rows(client).await;
        let mut count = 0;
        for worker in &self.workers {
            let held = held(client, &listed, worker).await;
            let worker = lock(worker);
            assert_eq!(held, worker.held.told());
            worker.assert_directories(&held);
            count += held.rows.len();
        }
        assert_eq!(listed.len(), count);
    }

    pub(crate) fn finish(mut self) -> ProfileSummary {
        self.summary.answered = self
            .workers
            .iter()
            .map(|worker| lock(worker).answered_count)
            .sum();
        self.summary
    }
}

/// Every profile but the permanent one.
async fn rows(client: &Client) -> Vec<ProfileRow> {
    let mut listed = client.profile_rows(ListProfilesRequest {
        limit: 100,
        ..Default::default()
    });
    let mut rows = Vec::new();
    while let Some(profile) = listed.try_next().await.unwrap() {
        if !profile.is_permanent {
            rows.push(ProfileRow::of(&profile));
        }
    }
    rows
}

/// What the catalog holds of one worker, as it is told.
async fn held(client: &Client, listed: &[ProfileRow], worker: &Shared) -> Held {
    let workspace = lock(worker).workspace.clone();
    let request = GetActiveProfileRequest {
        workspace: Some(by_id(workspace)),
        ..Default::default()
    };
    let active = client.get_active_profile(request).await.unwrap();
    let is_selected = active.profile_source() == ProfileSource::Workspace;
    let worker = lock(worker);
    Held {
        rows: listed
            .iter()
            .filter(|row| worker.owns(&row.name))
            .cloned()
            .collect(),
        selected: is_selected.then(|| active.profile.unwrap().id),
    }
}

/// What is held is exactly what the worker knows of, its unanswered write wholly there or not at all.
fn compare(held: &Held, worker: &ProfileWorker) -> Found {
    let known = worker.held.told();
    let Some(operation) = &worker.pending else {
        assert_eq!(*held, known);
        return Found::Unknown;
    };
    let new = match &operation.what {
        // The id of a new profile is the daemon's to choose.
        What::Create { name, .. } => held.rows.iter().find(|row| row.name == *name).cloned(),
        _ => None,
    };
    let is_absent = *held == known;
    let may_be_applied = operation.refusal.is_none();
    let is_applied = may_be_applied && *held == worker.held.after(operation, new).told();
    match (is_absent, is_applied) {
        (true, true) => Found::Unknown,
        (true, false) => Found::Absent,
        (false, true) => Found::Applied,
        (false, false) => {
            panic!("half a write, or a lost one: after {operation:?}\nheld {held:#?}\nknown {known:#?}")
        }
    }
}

/// Works until the daemon is gone.
async fn work(worker: Shared, client: Client) {
    loop {
        let operation = lock(&worker).begin();
        match operation.send(&client).await {
            Ok(answer) => lock(&worker).settle(operation, answer),
            Err(error) if operation.is_refused_with(&error) => lock(&worker).settle_refused(),
            Err(error) if error.kind() == ErrorKind::Transport => return,
            Err(error) => panic!("{operation:?}: {error:?}"),
        }
    }
}

fn lock(worker: &Shared) -> MutexGuard<'_, ProfileWorker> {
    worker.lock().unwrap()
}

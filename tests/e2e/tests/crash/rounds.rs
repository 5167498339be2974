//! A round: work, kill, look, ask again, look.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use compozy_client::{Client, ErrorKind};
use compozy_e2e::{Daemon, Draw, Environment, Run, list_all};
use compozy_proto::workspace::v1::Workspace;
use rusqlite::Connection;
use serde_json::Value;
use tokio::task::JoinSet;

use crate::files::{self, Left};
use crate::profile_rounds::{ProfileRounds, ProfileSummary};
use crate::session_rounds::{SessionRounds, SessionSummary};
use crate::verify::{Found, assert_sound, compare};
use crate::worker::Worker;

const WORKERS: usize = 8;
/// From the beginning of the load to the kill, at most.
const LOAD_MAX: Duration = Duration::from_millis(250);
/// Rounds between two runs of the doctor, which reads everything.
const DOCTOR_EVERY: u64 = 25;

/// What the kills met.
#[derive(Debug, Default)]
pub(crate) struct Summary {
    pub(crate) rounds: u64,
    pub(crate) answered: u64,
    pub(crate) unanswered: u64,
    pub(crate) found_applied: u64,
    pub(crate) found_absent: u64,
    /// Kills between an identity file and its row.
    pub(crate) files_before_rows: u64,
    pub(crate) files_changed_by_hand: u64,
    pub(crate) profiles: ProfileSummary,
    pub(crate) sessions: SessionSummary,
}

/// On Postgres: a lease of 60 s, and the pause between two rounds of the recovery.
const LEASES_LAPSE: Duration = Duration::from_secs(100);

type Shared = Arc<Mutex<Worker>>;

pub(crate) struct Rounds<'e> {
    environment: &'e Environment,
    on_sqlite: bool,
    draw: Draw,
    workers: Vec<Shared>,
    summary: Summary,
}

impl<'e> Rounds<'e> {
    pub(crate) fn new(environment: &'e Environment, seed: u64) -> Self {
        let mut draw = Draw::seeded(seed);
        let workers = (0..WORKERS).map(|number| {
            let folder = environment.make(&format!("worker-{number}"));
            Arc::new(Mutex::new(Worker::new(number, draw.fork(), folder)))
        });
        Self {
            environment,
            on_sqlite: environment.variables.is_empty(),
            workers: workers.collect(),
            draw,
            summary: Summary::default(),
        }
    }

    pub(crate) async fn run(mut self, rounds: u64) -> Summary {
        let mut daemon = Daemon::start(self.environment).await;
        let mut profiles = ProfileRounds::begin(self.environment, daemon.client(), &mut self.draw).await;
        let mut sessions = SessionRounds::begin(self.environment, daemon.client(), &mut self.draw).await;
        for round in 1..=rounds {
            println!("round {round}");
            self.work_until_killed(&mut daemon, &profiles, &sessions).await;
            let left = self.look_while_it_is_down();
            let moved = profiles.look_while_it_is_down();
            daemon = Daemon::start(self.environment).await;
            self.compare_with_the_model(daemon.client(), &left).await;
            profiles.compare_with_the_model(daemon.client(), &moved).await;
            sessions.compare_with_the_model(daemon.client()).await;
            self.ask_again(daemon.client()).await;
            profiles.ask_again(daemon.client(), &mut self.draw).await;
            sessions.ask_again(daemon.client(), &mut self.draw).await;
            self.assert_settled(daemon.client()).await;
            profiles.assert_settled(daemon.client()).await;
            sessions.assert_settled(daemon.client()).await;
            self.summary.rounds += 1;
            if round % DOCTOR_EVERY == 0 || round == rounds {
                self.assert_healthy();
            }
        }
        if !self.on_sqlite {
            self.wait_for_recovery().await;
            profiles.assert_settled(daemon.client()).await;
        }
        self.assert_no_intents();
        daemon.stop();
        self.assert_healthy();
        self.summary.answered = self
            .workers
            .iter()
            .map(|worker| lock(worker).answered_count)
            .sum();
        self.summary.profiles = profiles.finish();
        self.summary.sessions = sessions.finish();
        self.summary
    }

    async fn work_until_killed(
        &mut self,
        daemon: &mut Daemon,
        profiles: &ProfileRounds,
        sessions: &SessionRounds,
    ) {
        let mut running = JoinSet::new();
        profiles.work(&mut running, self.environment);
        sessions.work(&mut running, self.environment);
        for worker in &self.workers {
            running.spawn(work(Arc::clone(worker), self.environment.client()));
        }
        // The moment of the kill is meant to be anywhere.
        tokio::time::sleep(LOAD_MAX.mul_f64(self.draw.below(1_000) as f64 / 1_000.0)).await;
        daemon.kill();
        running.abort_all();
        while let Some(ended) = running.join_next().await {
            match ended {
                Err(panicked) if panicked.is_panic() => std::panic::resume_unwind(panicked.into_panic()),
                Ok(()) | Err(_) => {}
            }
        }
    }

    /// What each unanswered registration left on disk; a person changes some of it.
    fn look_while_it_is_down(&mut self) -> Vec<Left> {
        let mut all = Vec::new();
        for worker in &self.workers {
            let worker = lock(worker);
            let Some(operation) = &worker.pending else {
                all.push(Left::Nothing);
                continue;
            };
            self.summary.unanswered += 1;
            let mut left = files::left_behind(operation);
            if left == Left::File && self.draw.one_in(3) {
                left = files::change_by_hand(operation);
            }
            all.push(left);
        }
        all
    }

    async fn compare_with_the_model(&mut self, client: &Client, left: &[Left]) {
        let listed = self.listed(client).await;
        let workers: Vec<MutexGuard<'_, Worker>> = self.workers.iter().map(lock).collect();
        assert_sound(
            &listed,
            &workers.iter().map(|worker| &**worker).collect::<Vec<_>>(),
        );
        for (worker, left) in workers.iter().zip(left) {
            let found = compare(&listed, worker);
            match found {
                Found::Applied => self.summary.found_applied += 1,
                Found::Absent => self.summary.found_absent += 1,
                Found::Unknown => {}
            }
            if let (Some(operation), Found::Absent) = (&worker.pending, found) {
                self.summary.files_before_rows += u64::from(matches!(left, Left::File | Left::ChangedFile));
                self.summary.files_changed_by_hand += u64::from(*left == Left::ChangedFile);
                // On Postgres the lease of the killed process protects its file for a minute.
                if self.on_sqlite || matches!(left, Left::OldFile | Left::ChangedFile) {
                    files::assert_undone(operation, *left);
                }
            }
        }
    }

    /// W285: an unanswered write gets its answer now, and an answered one gets the same answer again.
    async fn ask_again(&mut self, client: &Client) {
        for worker in &self.workers {
            let (pending, answered) = {
                let worker = lock(worker);
                (worker.pending.clone(), worker.answered.clone())
            };
            if let Some((operation, answer)) = answered.filter(|_| self.draw.one_in(2)) {
                assert_eq!(operation.send(client).await.unwrap(), answer, "{operation:?}");
            }
            let Some(operation) = pending else { continue };
            match operation.send(client).await {
                Ok(answer) => {
                    assert_eq!(operation.send(client).await.unwrap(), answer, "{operation:?}");
                    lock(worker).settle(operation, answer);
                }
                Err(error) if operation.may_be_refused_with(&error) => lock(worker).settle_refused(),
                Err(error) => panic!("{operation:?}: {error:?}"),
            }
        }
    }

    async fn assert_settled(&self, client: &Client) {
        let listed = self.listed(client).await;
        for worker in &self.workers {
            let worker = lock(worker);
            compare(&listed, &worker);
            files::assert_identities_kept(&worker);
        }
        let known: usize = self.workers.iter().map(|worker| lock(worker).rows.len()).sum();
        assert_eq!(listed.len(), known);
        if self.on_sqlite {
            assert_eq!(self.stray_files(), Vec::<PathBuf>::new());
            self.assert_no_intents();
        }
    }

    /// The registrations of these workers.
    async fn listed(&self, client: &Client) -> Vec<Workspace> {
        let mut listed = list_all(client).await;
        listed.retain(|row| {
            let root = &row.root_dir;
            !ProfileRounds::owns(self.environment, root) && !SessionRounds::owns(self.environment, root)
        });
        listed
    }

    /// Nothing is left that a recovery would have to look at.
    fn assert_no_intents(&self) {
        assert!(!has_intents(self.environment), "intents are left over");
    }

    fn stray_files(&self) -> Vec<PathBuf> {
        self.workers
            .iter()
            .flat_map(|worker| files::stray_files(&lock(worker)))
            .collect()
    }

    /// The leases of killed processes lapse; a process that lives settles what they left.
    async fn wait_for_recovery(&self) {
        let begun = Instant::now();
        let is_open = || !self.stray_files().is_empty() || has_intents(self.environment);
        while begun.elapsed() < LEASES_LAPSE && is_open() {
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        for worker in &self.workers {
            files::assert_identities_kept(&lock(worker));
        }
        assert_eq!(self.stray_files(), Vec::<PathBuf>::new());
    }

    fn assert_healthy(&self) {
        let report = Run::compozy(self.environment, &["doctor"]).done().json();
        // The directories of deleted profiles stay, and the doctor says so.
        let is_of_deleted = |check: &Value| {
            let message = check["message"].as_str().unwrap();
            check["name"] == "profiles" && message.contains("belongs to no profile")
        };
        for check in report["checks"].as_array().unwrap() {
            if is_of_deleted(check) {
                continue;
            }
            assert!(
                matches!(check["severity"].as_str().unwrap(), "ok" | "info"),
                "{check}"
            );
        }
    }
}

/// Whether a recovery would have something to look at.
fn has_intents(environment: &Environment) -> bool {
    const COUNT: &str = "SELECT COUNT(*) FROM intent";
    if environment.variables.is_empty() {
        let store = Connection::open(environment.home.join("compozy.db")).unwrap();
        return store.query_row(COUNT, [], |row| row.get::<_, i64>(0)).unwrap() > 0;
    }
    // Divides by zero if there is one.
    let sql = "SELECT 1 / (CASE COUNT(*) WHEN 0 THEN 1 ELSE 0 END) FROM intent";
    environment.database().try_execute(sql).is_err()
}

/// Works until the daemon is gone.
async fn work(worker: Shared, client: Client) {
    loop {
        let operation = lock(&worker).begin();
        match operation.send(&client).await {
            Ok(answer) => lock(&worker).settle(operation, answer),
            Err(error) if operation.may_be_refused_with(&error) => lock(&worker).settle_refused(),
            Err(error) if error.kind() == ErrorKind::Transport => return,
            Err(error) => panic!("{operation:?}: {error:?}"),
        }
    }
}

fn lock(worker: &Shared) -> MutexGuard<'_, Worker> {
    worker.lock().unwrap()
}

//! Sessions and the death of the daemon: what was answered is there, what was not committed is not, and every count is
//! true.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use compozy_client::{Client, ErrorKind};
use compozy_e2e::{Daemon, Database, Engine, Environment, by_id, register, request_id, until, until_async};
use compozy_proto::session::v1::{
    ArchiveFilter, Session, SessionFilter, SessionState, StopCause, StopReason,
};
use compozy_proto::workspace::v1::{RemoveWorkspaceRequest, RemovedSessions};
use rusqlite::Connection;
use sqlx::{Connection as _, PgConnection};
use tokio::task::JoinSet;

use crate::doctor::{doctor, findings};
use crate::sessions::{
    account, archive, counted, created, delete, everything, listed, new_in, session, stop,
};

const CALLERS: usize = 64;
/// How long they call: every kind of write many times over.
const LOAD: Duration = Duration::from_secs(3);
/// For a call among so many, on few cores.
const PATIENCE: Duration = Duration::from_secs(60);
/// How many calls are answered before the daemon may die, whatever the time.
const ANSWERS: u64 = 300;

fn on_postgres(test: &str) -> Option<Environment> {
    Some(Environment::on(Engine::Postgres(Database::fresh(test)?)))
}

async fn workspace(environment: &Environment, client: &Client, name: &str) -> String {
    let registered = register(client, environment.make(name)).await.unwrap();
    registered.workspace.unwrap().id
}

// S325

/// What the callers share.
#[derive(Default)]
struct Load {
    workspaces: Vec<String>,
    answers: AtomicU64,
    end: AtomicBool,
}

/// Makes sessions; stops most, archives some of those and deletes some, until the daemon is gone.
async fn call(client: Client, load: Arc<Load>, number: usize) {
    for round in number.. {
        let workspace = &load.workspaces[round % load.workspaces.len()];
        let made = client.create_session(new_in(workspace)).await;
        let Some(made) = answer(&load, made) else { return };
        let id = made.session.unwrap().id;
        if round % 5 == 0 {
            continue;
        }
        let stopped = client.stop_session(stop(&id, StopCause::Completed, "")).await;
        if answer(&load, stopped).is_none() {
            return;
        }
        let is_answered = match round % 5 {
            1 => answer(&load, client.archive_session(archive(&id)).await).is_some(),
            2 | 3 => answer(&load, client.delete_session(delete(&id)).await).is_some(),
            _ => true,
        };
        if !is_answered {
            return;
        }
    }
}

/// An answer, unless the daemon is gone.
fn answer<T>(load: &Load, outcome: Result<T, compozy_client::Error>) -> Option<T> {
    match outcome {
        Ok(answer) => {
            load.answers.fetch_add(1, Ordering::Relaxed);
            Some(answer)
        }
        Err(error) if load.end.load(Ordering::SeqCst) && error.kind() == ErrorKind::Transport => None,
        Err(error) => panic!("{error:?}"),
    }
}

/// The totals of a filter are those of the rows that it lists.
async fn assert_counted(client: &Client, filter: SessionFilter) {
    let rows = listed(client, filter.clone()).await;
    let told = counted(client, filter.clone()).await;
    assert_eq!(told.total, i64::try_from(rows.len()).unwrap(), "{filter:?}");
    let count = |key: fn(&Session) -> String| {
        let mut counts = BTreeMap::new();
        for row in &rows {
            *counts.entry(key(row)).or_insert(0) += 1;
        }
        counts
    };
    let by_state = told.by_state.iter();
    let by_state = by_state.map(|one| (one.state().as_str_name().to_owned(), one.count));
    assert_eq!(
        by_state.collect::<BTreeMap<_, i64>>(),
        count(|row| row.state().as_str_name().to_owned()),
        "{filter:?}"
    );
    let by_workspace = told.by_workspace.iter();
    let by_workspace = by_workspace.map(|one| (one.workspace_id.clone(), one.count));
    assert_eq!(
        by_workspace.collect::<BTreeMap<_, i64>>(),
        count(|row| row.workspace_id.clone()),
        "{filter:?}"
    );
}

async fn counts_outlive_a_kill(environment: &Environment) {
    let mut daemon = Daemon::start(environment).await;
    let mut load = Load::default();
    for name in ["a", "b", "c"] {
        load.workspaces
            .push(workspace(environment, daemon.client(), name).await);
    }
    let load = Arc::new(load);
    let mut callers = JoinSet::new();
    for number in 0..CALLERS {
        let client = environment.client().with_deadline(PATIENCE);
        callers.spawn(call(client, Arc::clone(&load), number));
    }
    let begun = Instant::now();
    until_async("the callers to have called for a while", || async {
        begun.elapsed() >= LOAD && load.answers.load(Ordering::Relaxed) >= ANSWERS
    })
    .await;
    load.end.store(true, Ordering::SeqCst);
    daemon.kill();
    while let Some(ended) = callers.join_next().await {
        ended.unwrap();
    }

    let daemon = Daemon::start(environment).await;
    let client = daemon.client();
    for archive in [
        ArchiveFilter::Include,
        ArchiveFilter::Exclude,
        ArchiveFilter::Only,
    ] {
        let everywhere = SessionFilter {
            archive: archive.into(),
            ..everything()
        };
        assert_counted(client, everywhere.clone()).await;
        for state in [SessionState::Active, SessionState::Stopped] {
            let states = vec![state.into()];
            assert_counted(
                client,
                SessionFilter {
                    states,
                    ..everywhere.clone()
                },
            )
            .await;
        }
        for workspace in &load.workspaces {
            let workspace = Some(by_id(workspace));
            assert_counted(
                client,
                SessionFilter {
                    workspace,
                    ..everywhere.clone()
                },
            )
            .await;
        }
    }
    let total = counted(client, everything()).await.total;
    assert!(total > 0, "something is left to count");
    daemon.stop();
    let report = doctor(environment, &[]);
    report.exits(0);
    assert!(findings(&report).is_empty(), "{}", report.stdout);
}

#[tokio::test(flavor = "multi_thread")]
async fn s325_counts_are_true_after_a_kill_under_load_on_sqlite() {
    counts_outlive_a_kill(&Environment::new()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn s325_counts_are_true_after_a_kill_under_load_on_postgres() {
    if let Some(environment) = on_postgres("s325_counts_are_true_after_a_kill_under_load_on_postgres") {
        counts_outlive_a_kill(&environment).await;
    }
}

// S341, its part about creations

/// Lets no creation of a catalog come to its commit.
enum Held {
    Sqlite(PathBuf),
    Postgres(PgConnection),
}

/// Never ends, inside of the transaction and behind the row.
const ENDLESS: &str = "CREATE TRIGGER held AFTER INSERT ON session BEGIN \
     SELECT (WITH RECURSIVE counted (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM counted) \
             SELECT COUNT(*) FROM counted); END";
/// Looks in a row that find the catalog being written: by more than a write that ends.
const LOOKS: u32 = 50;

impl Held {
    async fn begin(environment: &Environment) -> Self {
        if environment.variables.is_empty() {
            let store = environment.home.join("compozy.db");
            Connection::open(&store).unwrap().execute_batch(ENDLESS).unwrap();
            return Self::Sqlite(store);
        }
        let mut connection = PgConnection::connect(&environment.database().url())
            .await
            .unwrap();
        // A table to which a creation writes behind its row.
        for sql in ["BEGIN", "LOCK TABLE change_pending IN EXCLUSIVE MODE"] {
            sqlx::query(sql).execute(&mut connection).await.unwrap();
        }
        Self::Postgres(connection)
    }

    /// Waits until a creation is inside of its transaction.
    fn met(&self, environment: &Environment) {
        match self {
            Self::Sqlite(store) => {
                let store = Connection::open(store).unwrap();
                store.busy_timeout(Duration::ZERO).unwrap();
                let mut looks = 0;
                until("the creation to be under way", || {
                    let is_free = store.execute_batch("BEGIN IMMEDIATE; ROLLBACK").is_ok();
                    looks = if is_free { 0 } else { looks + 1 };
                    looks >= LOOKS
                });
            }
            Self::Postgres(_) => {
                let database = environment.database();
                // Divides by zero until one waits.
                let waits = "SELECT 1 / COUNT(*) FROM pg_locks l JOIN pg_stat_activity a ON a.pid = l.pid \
                             WHERE NOT l.granted AND l.relation = 'change_pending'::regclass \
                             AND a.query LIKE 'INSERT INTO change_pending%'";
                until("the creation to wait", || database.try_execute(waits).is_ok());
            }
        }
    }

    async fn end(self) {
        match self {
            Self::Sqlite(store) => {
                let store = Connection::open(store).unwrap();
                store.execute_batch("DROP TRIGGER held").unwrap();
            }
            Self::Postgres(connection) => connection.close().await.unwrap(),
        }
    }
}

async fn a_creation_is_killed_before_its_commit(environment: &Environment) {
    let mut daemon = Daemon::start(environment).await;
    let a = workspace(environment, daemon.client(), "a").await;
    let creation = new_in(&a);
    let held = Held::begin(environment).await;
    let mut calling = JoinSet::new();
    let (client, request) = (environment.client(), creation.clone());
    calling.spawn(async move { client.create_session(request).await });
    held.met(environment);
    daemon.kill();
    // Not to ask the next daemon by itself.
    calling.shutdown().await;
    held.end().await;

    let daemon = Daemon::start(environment).await;
    let client = daemon.client();
    assert_eq!(listed(client, everything()).await, []);
    assert!(account(client, &a).await.is_empty());
    assert_eq!(counted(client, everything()).await.total, 0);
    let made = client.create_session(creation.clone()).await.unwrap();
    let again = client.create_session(creation).await.unwrap();
    let made = made.session.unwrap();
    assert_eq!(again.session.as_ref(), Some(&made));
    assert_eq!(account(client, &a).await, [made.id.as_str()]);
    assert_eq!(counted(client, everything()).await.total, 1);
    assert_eq!(listed(client, everything()).await, [made]);
}

#[tokio::test(flavor = "multi_thread")]
async fn s341_a_creation_that_is_killed_before_its_commit_never_was_on_sqlite() {
    a_creation_is_killed_before_its_commit(&Environment::new()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn s341_a_creation_that_is_killed_before_its_commit_never_was_on_postgres() {
    let test = "s341_a_creation_that_is_killed_before_its_commit_never_was_on_postgres";
    if let Some(environment) = on_postgres(test) {
        a_creation_is_killed_before_its_commit(&environment).await;
    }
}

// S344

async fn an_answered_stop_outlives_a_kill(environment: &Environment) {
    let mut daemon = Daemon::start(environment).await;
    let a = workspace(environment, daemon.client(), "a").await;
    for (cause, detail, reason) in [
        (StopCause::User, "enough of it", StopReason::UserCanceled),
        (StopCause::Timeout, "after an hour", StopReason::Timeout),
        (StopCause::Completed, "", StopReason::Completed),
    ] {
        let id = created(daemon.client(), &a).await.id;
        let answer = daemon.client().stop_session(stop(&id, cause, detail)).await;
        daemon.kill();
        let answered = answer.unwrap().session.unwrap();
        daemon = Daemon::start(environment).await;
        let found = session(daemon.client(), &id).await;
        assert_eq!(found, answered);
        assert_eq!(found.state(), SessionState::Stopped);
        let record = found.stop.unwrap();
        assert_eq!((record.reason(), record.detail.as_str()), (reason, detail));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn s344_an_answered_stop_outlives_a_kill_on_sqlite() {
    an_answered_stop_outlives_a_kill(&Environment::new()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn s344_an_answered_stop_outlives_a_kill_on_postgres() {
    if let Some(environment) = on_postgres("s344_an_answered_stop_outlives_a_kill_on_postgres") {
        an_answered_stop_outlives_a_kill(&environment).await;
    }
}

// W286, W287

/// A kill in the midst of a removal leaves the whole workspace as before, or it is removed as it was asked for; the
/// request again gets it done.
async fn a_removal_outlives_a_kill(environment: &Environment, sessions: RemovedSessions) {
    let mut daemon = Daemon::start(environment).await;
    for round in 0..6_u32 {
        let client = daemon.client();
        let name = format!("project-{round}");
        let workspace = workspace(environment, client, &name).await;
        let mut made = Vec::new();
        for _ in 0..50 {
            let session = client
                .create_session(new_in(&workspace))
                .await
                .unwrap()
                .session
                .unwrap();
            client
                .stop_session(stop(&session.id, StopCause::Completed, ""))
                .await
                .unwrap();
            made.push(session.id);
        }
        let before = account(client, &workspace).await;
        assert_eq!(before.len(), made.len());
        let request = RemoveWorkspaceRequest {
            r#ref: Some(by_id(&workspace)),
            sessions: sessions.into(),
            request_id: request_id(),
            ..Default::default()
        };
        let mut removing = JoinSet::new();
        let (own_client, own_request) = (environment.client(), request.clone());
        removing.spawn(async move { own_client.remove_workspace(own_request).await });
        // The moment of the kill is meant to be anywhere in it.
        tokio::time::sleep(Duration::from_millis(u64::from(round))).await;
        daemon.kill();
        let was_answered = removing.join_next().await.unwrap().unwrap().is_ok();

        daemon = Daemon::start(environment).await;
        let client = daemon.client();
        let of_it = |rows: Vec<Session>| {
            let rows = rows.into_iter().filter(|row| made.contains(&row.id));
            rows.collect::<Vec<_>>()
        };
        let rows = of_it(listed(client, everything()).await);
        let in_it = rows.iter().filter(|row| row.workspace_id == workspace).count();
        let is_removed = in_it == 0;
        assert!(is_removed || !was_answered, "an answered removal is there");
        if !is_removed {
            assert_eq!((rows.len(), in_it), (made.len(), made.len()), "half a removal");
            assert_eq!(account(client, &workspace).await, before);
        }
        client.remove_workspace(request).await.unwrap();
        let rows = of_it(listed(client, everything()).await);
        let kept = if sessions == RemovedSessions::Delete {
            0
        } else {
            made.len()
        };
        assert_eq!(rows.len(), kept);
        assert!(rows.iter().all(|row| row.workspace_id.is_empty()));
        assert_counted(client, everything()).await;
    }
    assert!(findings(&doctor(environment, &[])).is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn w286_a_kill_while_a_workspace_and_its_sessions_go() {
    a_removal_outlives_a_kill(&Environment::on(Engine::Sqlite), RemovedSessions::Delete).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn w286_the_same_on_postgres() {
    let Some(environment) = on_postgres("w286_the_same_on_postgres") else {
        return;
    };
    a_removal_outlives_a_kill(&environment, RemovedSessions::Delete).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn w287_a_kill_while_a_workspace_goes_and_its_sessions_stay() {
    a_removal_outlives_a_kill(&Environment::on(Engine::Sqlite), RemovedSessions::Keep).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn w287_the_same_on_postgres() {
    let Some(environment) = on_postgres("w287_the_same_on_postgres") else {
        return;
    };
    a_removal_outlives_a_kill(&environment, RemovedSessions::Keep).await;
}

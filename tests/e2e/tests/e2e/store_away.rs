//! Postgres goes away under load and comes back.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use compozy_client::{Client, Code, Error, ServingStatus};
use compozy_e2e::{
    Daemon, Database, Engine, Environment, PostgresServer, Run, list_all, register, request_id, until_async,
    utf8,
};
use compozy_proto::workspace::v1::{ListWorkspacesRequest, RegisterWorkspaceRequest};
use tokio::task::JoinSet;

const WORKERS: usize = 8;

/// A write of the load: what was asked, and what was answered, if anything was.
#[derive(Debug, Clone)]
struct Write {
    request: RegisterWorkspaceRequest,
    answered: Option<String>,
}

/// What the load did and met.
#[derive(Debug, Default)]
struct Load {
    writes: Mutex<Vec<Write>>,
    failures: Mutex<Vec<Error>>,
    answers: AtomicUsize,
    end: AtomicBool,
}

impl Load {
    /// Registers one directory after the other; one that got no answer is left for later.
    async fn run(self: Arc<Self>, client: Client, roots: Vec<PathBuf>) {
        for root in roots {
            if self.end.load(Ordering::Relaxed) {
                return;
            }
            let request = RegisterWorkspaceRequest {
                path: utf8(&root),
                request_id: request_id(),
                ..Default::default()
            };
            let answered = match client.register_workspace(request.clone()).await {
                Ok(answer) => Some(answer.workspace.unwrap().id),
                Err(error) => {
                    self.failures.lock().unwrap().push(error);
                    None
                }
            };
            if answered.is_some() {
                self.answers.fetch_add(1, Ordering::Relaxed);
            }
            self.writes.lock().unwrap().push(Write { request, answered });
        }
        panic!("the load ended before the test did");
    }
}

/// Every answered write is there, with the id that was answered; an unanswered one can be asked again with its
/// request id and is then there once.
async fn assert_nothing_lost_or_doubled(client: &Client, writes: &[Write]) {
    let mut expected = BTreeMap::new();
    for Write { request, answered } in writes {
        let repeated = client.register_workspace(request.clone()).await.unwrap();
        let id = repeated.workspace.unwrap().id;
        if let Some(answered) = answered {
            assert_eq!(&id, answered, "{}", request.path);
        }
        assert!(
            repeated.created,
            "a repetition gets the first answer: {}",
            request.path
        );
        expected.insert(request.path.clone(), id);
    }
    let rows = list_all(client).await;
    let there: BTreeMap<String, String> = rows
        .iter()
        .map(|row| (row.root_dir.clone(), row.id.clone()))
        .collect();
    assert_eq!((rows.len(), &there), (expected.len(), &expected));
}

async fn starts_serving(client: &Client) {
    client.wait_until_serving(Duration::from_secs(30)).await.unwrap();
}

/// With the two other parts in `process`, C177 as a whole.
#[tokio::test(flavor = "multi_thread")]
async fn c177_postgres_goes_away_under_load_and_comes_back() {
    let Some(mut server) = PostgresServer::start("c177_postgres_goes_away_under_load_and_comes_back") else {
        return;
    };
    let environment = Environment::on(Engine::Postgres(Database::on(&server.url())));
    let mut daemon = Daemon::start(&environment).await;
    let load = Arc::new(Load::default());
    let mut workers = JoinSet::new();
    for worker in 0..WORKERS {
        let roots = (0..2_000)
            .map(|number| environment.make(&format!("w{worker}/p{number}")))
            .collect();
        let client = environment.client().with_deadline(Duration::from_secs(60));
        workers.spawn(Arc::clone(&load).run(client, roots));
    }
    for (round, crash) in [false, true].into_iter().enumerate() {
        answers_come(&load, 200 * (round + 1)).await;
        let failed_before = load.failures.lock().unwrap().len();
        if crash {
            server.crash();
        } else {
            server.stop();
        }
        assert_says_that_the_store_is_away(&environment).await;
        until_async("a write to fail", || async {
            load.failures.lock().unwrap().len() > failed_before
        })
        .await;
        server.resume();
        starts_serving(&environment.client()).await;
        let answered = load.answers.load(Ordering::Relaxed);
        answers_come(&load, answered + 100).await;
    }
    load.end.store(true, Ordering::Relaxed);
    while let Some(ended) = workers.join_next().await {
        ended.unwrap();
    }
    for error in load.failures.lock().unwrap().iter() {
        assert_eq!(
            (error.code(), error.reason_name()),
            (Code::Unavailable, "STORE_UNAVAILABLE"),
            "{error:?}"
        );
        assert!(error.retry_after().is_some(), "{error:?}");
    }
    let writes = load.writes.lock().unwrap().clone();
    assert_nothing_lost_or_doubled(daemon.client(), &writes).await;
    // It was this very process all along.
    daemon.kill();
}

async fn answers_come(load: &Load, count: usize) {
    until_async("writes to be answered", || async {
        load.answers.load(Ordering::Relaxed) >= count
    })
    .await;
}

async fn assert_says_that_the_store_is_away(environment: &Environment) {
    let client = environment.client();
    until_async("health to notice", || async {
        client.check_health("").await.unwrap() == ServingStatus::NotServing
    })
    .await;
    assert_eq!(
        client.check_health("liveness").await.unwrap(),
        ServingStatus::Serving
    );
    Run::compozy(environment, &["daemon", "health"]).done().exits(69);
}

/// Within the deadlines that client and command line have by default, their retries included.
#[tokio::test(flavor = "multi_thread")]
async fn a_caller_is_told_in_time_that_the_store_is_away() {
    let Some(mut server) = PostgresServer::start("a_caller_is_told_in_time_that_the_store_is_away") else {
        return;
    };
    let environment = Environment::on(Engine::Postgres(Database::on(&server.url())));
    let _daemon = Daemon::start(&environment).await;
    server.stop();
    assert_says_that_the_store_is_away(&environment).await;
    let error = environment
        .client()
        .list_workspaces(ListWorkspacesRequest::default())
        .await
        .unwrap_err();
    assert_eq!(
        (error.code(), error.reason_name()),
        (Code::Unavailable, "STORE_UNAVAILABLE")
    );
    assert!(error.retry_after().is_some(), "{error:?}");
    let listed = Run::compozy(&environment, &["workspace", "list"])
        .done()
        .error(69);
    assert_eq!(listed["reason"], "STORE_UNAVAILABLE");
}

/// A daemon that starts while the store is away either waits for it or says so; it never serves something else.
#[tokio::test(flavor = "multi_thread")]
async fn a_start_without_the_store_serves_nothing() {
    let Some(mut server) = PostgresServer::start("a_start_without_the_store_serves_nothing") else {
        return;
    };
    let environment = Environment::on(Engine::Postgres(Database::on(&server.url())));
    let daemon = Daemon::start(&environment).await;
    register(daemon.client(), environment.make("a")).await.unwrap();
    daemon.stop();
    server.stop();
    let mut child = Daemon::spawn(&environment, environment.command("compozyd"));
    let client = environment.client();
    assert!(client.wait_until_serving(Duration::from_secs(2)).await.is_err());
    if let Some(status) = child.try_wait().unwrap() {
        assert!(!status.success());
        server.resume();
        let daemon = Daemon::start(&environment).await;
        assert_eq!(list_all(daemon.client()).await.len(), 1);
        return;
    }
    server.resume();
    starts_serving(&environment.client()).await;
    assert_eq!(list_all(&environment.client()).await.len(), 1);
    child.kill().unwrap();
    child.wait().unwrap();
}

//! Postgres: the connection is lost at COMMIT. A write is answered once and applied exactly once, or the caller
//! is told that nobody knows.

#![allow(clippy::unwrap_used)]

use std::sync::Arc;
use std::time::{Duration, Instant};

use compozy_domain::workspace::WorkspaceUpdate;
use compozy_domain::{Workspace, WorkspaceId};
use compozy_store::conformance::{Catalog, Engine as _, Postgres, Request, open, run};
use compozy_store::{
    Answer, CatalogStore as _, Error, Result, SqlStore, StoreAddress, Update, WorkspaceStore as _,
};

use crate::proxy::{Cut, Proxy, Then};

/// For outcomes that the server tells as soon as it is asked.
const TOLD: Duration = Duration::from_secs(20);
/// For what never comes. Much less than the product's.
const IN_VAIN: Duration = Duration::from_secs(2);

fn retitle(id: &WorkspaceId, title: &str) -> Update {
    Update {
        id: id.clone(),
        etag: None,
        update: WorkspaceUpdate {
            title: Some(title.to_owned()),
            ..WorkspaceUpdate::default()
        },
        validate_only: false,
    }
}

async fn open_through(proxy: &Proxy, patience: Duration) -> SqlStore {
    let url = proxy.url().to_owned();
    let store = open(StoreAddress::Postgres { url, pooler: false }).await.unwrap();
    store.wait_for_commits(patience);
    store
}

/// One update through a proxy that cuts its commit; answers what the caller got, and the record before.
async fn update_through_a_cut(
    catalog: &Catalog<Postgres>,
    cut: Cut,
    then: Then,
    patience: Duration,
) -> (Result<Answer<Workspace>>, Workspace, Request) {
    let before = catalog.register("/w/a").await;
    let proxy = Proxy::before(&catalog.engine).await;
    let store = open_through(&proxy, patience).await;
    let request = Request::new("Update");
    proxy.cut(cut, then);
    let began = Instant::now();
    let outcome = store
        .update(retitle(&before.id, "new"), catalog.call_once(&request))
        .await;
    assert!(proxy.has_cut());
    // Once for the answer to COMMIT, once for its outcome, and some time for everything else.
    let bound = patience * 2 + TOLD;
    assert!(began.elapsed() < bound, "it took {:?}", began.elapsed());
    // Ends what hangs in silence.
    drop(proxy);
    store.close().await;
    (outcome, before, request)
}

async fn assert_applied_once(catalog: &Catalog<Postgres>, before: &Workspace) {
    let after = catalog.get(&before.id).await;
    assert_eq!((after.title.as_str(), after.version), ("new", before.version + 1));
    assert_eq!(catalog.log().await.len(), 2);
}

/// The answer was given once; whoever asks again gets the same.
async fn assert_answered_once(test: &str, cut: Cut, patience: Duration) {
    run::<Postgres, _>(test, async |catalog: Catalog<Postgres>| {
        let (outcome, before, request) = update_through_a_cut(&catalog, cut, Then::GoOn, patience).await;
        let Answer::Fresh(written) = outcome.unwrap() else {
            panic!("it was carried out now")
        };
        assert_eq!(written.value, catalog.get(&before.id).await);
        assert_applied_once(&catalog, &before).await;
        let again = catalog
            .store
            .update(retitle(&before.id, "new"), catalog.call_once(&request))
            .await;
        assert_eq!(
            again.unwrap(),
            Answer::Remembered(format!("{written:?}").into_bytes())
        );
        assert_applied_once(&catalog, &before).await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_connection_lost_before_commit_is_a_repeated_write() {
    assert_answered_once(
        concat!(
            module_path!(),
            "::a_connection_lost_before_commit_is_a_repeated_write"
        ),
        Cut::BeforeCommit,
        TOLD,
    )
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_connection_lost_after_commit_is_a_write_that_was_done() {
    assert_answered_once(
        concat!(
            module_path!(),
            "::a_connection_lost_after_commit_is_a_write_that_was_done"
        ),
        Cut::AfterCommit,
        TOLD,
    )
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_that_never_comes_is_looked_up() {
    assert_answered_once(
        concat!(module_path!(), "::an_answer_that_never_comes_is_looked_up"),
        Cut::Silence,
        IN_VAIN,
    )
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn without_a_server_nobody_knows_and_the_caller_is_told() {
    for (cut, applied) in [(Cut::BeforeCommit, false), (Cut::AfterCommit, true)] {
        run::<Postgres, _>(
            concat!(
                module_path!(),
                "::without_a_server_nobody_knows_and_the_caller_is_told"
            ),
            async |catalog: Catalog<Postgres>| {
                let (outcome, before, request) =
                    update_through_a_cut(&catalog, cut, Then::Gone, IN_VAIN).await;
                assert!(
                    matches!(
                        outcome,
                        Err(Error::Unavailable {
                            outcome_unknown: true,
                            ..
                        })
                    ),
                    "{outcome:?}"
                );
                // The same request again finds out, and makes it so.
                let again = catalog
                    .store
                    .update(retitle(&before.id, "new"), catalog.call_once(&request))
                    .await
                    .unwrap();
                assert_eq!(matches!(again, Answer::Remembered(_)), applied);
                assert_applied_once(&catalog, &before).await;
            },
        )
        .await;
    }
}

/// A server that was never reached has surely done nothing.
#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_is_away_before_the_write_is_known_to_have_done_nothing() {
    run::<Postgres, _>(
        concat!(
            module_path!(),
            "::a_server_that_is_away_before_the_write_is_known_to_have_done_nothing"
        ),
        async |catalog: Catalog<Postgres>| {
            let proxy = Proxy::before(&catalog.engine).await;
            let store = Arc::new(open_through(&proxy, TOLD).await);
            drop(proxy);
            let outcome = store.register(catalog.new_at("/w/a"), catalog.call()).await;
            assert!(
                matches!(
                    outcome,
                    Err(Error::Unavailable {
                        outcome_unknown: false,
                        ..
                    })
                ),
                "{outcome:?}"
            );
            assert_eq!(catalog.names().await, Vec::<String>::new());
            assert!(matches!(catalog.engine.address(), StoreAddress::Postgres { .. }));
            store.close().await;
        },
    )
    .await;
}

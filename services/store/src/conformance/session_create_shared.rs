//! Promises about sessions in a catalog that several processes have open at once. For Postgres.

use std::sync::Arc;

use compozy_domain::CatalogError;
use tokio::task::JoinSet;

use super::engine::Engine;
use super::fixture::{Catalog, START, fresh, rejection};
use super::hooks;
use super::requests::Request;
use super::session_fixture::{new_in, session_id, ungrouped};
use crate::call::Answer;
use crate::catalog::CatalogStore as _;
use crate::sessions::{CreateSession, SessionStore as _};

pub async fn of_two_processes_that_take_one_id_one_gets_it<E: Engine>(catalog: Catalog<E>) {
    let other = catalog.opened_again().await;
    for _ in 0..3 {
        let id = session_id();
        let mut tasks = JoinSet::new();
        for caller in 0..16 {
            let catalog = if caller % 2 == 0 { &catalog } else { &other };
            let create = CreateSession {
                id: id.clone(),
                name: format!("n{caller}"),
                ..ungrouped()
            };
            let (store, call) = (Arc::clone(&catalog.store), catalog.session_call());
            tasks.spawn(async move { store.create_session(create, call).await });
        }
        let mut winners = Vec::new();
        for outcome in tasks.join_all().await {
            match outcome {
                Ok(answer) => winners.push(fresh(answer).value.session.session.name),
                outcome => {
                    let conflict = CatalogError::SessionIdConflict { id: id.to_string() };
                    assert_eq!(rejection(outcome), conflict);
                }
            }
        }
        assert_eq!(winners, [other.get_session(&id).await.name]);
    }
    other.store.close().await;
}

pub async fn a_creation_is_carried_out_once_by_all_processes<E: Engine>(catalog: Catalog<E>) {
    let other = catalog.opened_again().await;
    let request = Request::new("CreateSession");
    let mut tasks = JoinSet::new();
    for caller in 0..16 {
        let catalog = if caller % 2 == 0 { &catalog } else { &other };
        let (store, call) = (Arc::clone(&catalog.store), catalog.session_call_once(&request));
        tasks.spawn(async move { store.create_session(ungrouped(), call).await });
    }
    let answers = tasks
        .join_all()
        .await
        .into_iter()
        .map(|outcome| match outcome.unwrap() {
            Answer::Fresh(written) => format!("{written:?}").into_bytes(),
            Answer::Remembered(bytes) => bytes,
        });
    let mut answers: Vec<Vec<u8>> = answers.collect();
    answers.dedup();
    assert_eq!((answers.len(), catalog.log().await.len()), (1, 1));
    other.store.close().await;
}

pub async fn two_processes_fold_every_delta_once<E: Engine>(catalog: Catalog<E>) {
    let other = catalog.opened_again().await;
    let workspace = catalog.register("/t/a").await;
    let mut writers = JoinSet::new();
    for caller in 0..8 {
        let catalog = if caller % 2 == 0 {
            catalog.clone()
        } else {
            other.clone()
        };
        let workspace = workspace.clone();
        writers.spawn(async move {
            for _ in 0..8 {
                catalog.stopped_in(&workspace).await;
            }
        });
    }
    let mut folded = 0;
    while !writers.is_empty() {
        let (left, right) = tokio::join!(catalog.store.fold_counts(), other.store.fold_counts());
        folded += left.unwrap() + right.unwrap();
        while writers.try_join_next().is_some() {}
    }
    folded += catalog.store.fold_counts().await.unwrap();
    // Two deltas of each creation, four of each stop.
    assert_eq!(folded, 8 * 8 * 6);
    other.assert_counts_are_true().await;
    other.store.close().await;
}

/// Each process would say another time; the instants of both are those of the server.
pub async fn instants_are_those_of_the_server<E: Engine>(catalog: Catalog<E>) {
    let workspace = catalog.register("/t/a").await;
    let other = catalog.opened_again().await;
    hooks::set_catalog_clock(&catalog.store, START).await.unwrap();
    for (catalog, ahead) in [(&catalog, true), (&other, false)] {
        let hour = std::time::Duration::from_secs(3_600);
        let mut call = catalog.session_call();
        call.now = if ahead {
            START.plus(hour)
        } else {
            START.minus(hour)
        };
        let made = fresh(
            catalog
                .store
                .create_session(new_in(&workspace), call)
                .await
                .unwrap(),
        )
        .value
        .session;
        assert_eq!((made.at, made.session.created_at), (START, START));
    }
    other.store.close().await;
}

//! Promises about one request that arrives several times at once.

use std::sync::Arc;
use std::time::Duration;

use compozy_domain::CatalogError;
use tokio::task::JoinSet;

use super::engine::Engine;
use super::fixture::Catalog;
use super::requests::Request;
use crate::call::{Answer, Call};
use crate::error::{Error, Result};
use crate::workspaces::{Registered, WorkspaceStore as _};

type Outcome = Result<Answer<Registered>>;

/// Registers several directories at once, each with its call.
async fn all_at_once<E: Engine>(catalog: &Catalog<E>, calls: Vec<(&str, Call<Registered>)>) -> Vec<Outcome> {
    let mut tasks = JoinSet::new();
    for (root, call) in calls {
        let (store, register) = (Arc::clone(&catalog.store), catalog.new_at(root));
        tasks.spawn(async move { store.register(register, call).await });
    }
    tasks.join_all().await
}

fn bytes(outcome: Outcome) -> Vec<u8> {
    match outcome.unwrap() {
        Answer::Fresh(written) => format!("{written:?}").into_bytes(),
        Answer::Remembered(bytes) => bytes,
    }
}

/// How often a race is run: by the second time every connection is there and the calls really meet.
const ROUNDS: usize = 5;

/// Fails unless one call was carried out and all got the same answer.
#[track_caller]
fn assert_carried_out_once(outcomes: Vec<Outcome>) {
    let fresh = outcomes
        .iter()
        .filter(|outcome| matches!(outcome, Ok(Answer::Fresh(_))));
    assert_eq!(fresh.count(), 1, "{outcomes:?}");
    let mut answers: Vec<Vec<u8>> = outcomes.into_iter().map(bytes).collect();
    answers.dedup();
    assert_eq!(answers.len(), 1);
}

pub async fn w109_twenty_calls_with_one_id_make_one_row<E: Engine>(catalog: Catalog<E>) {
    for round in 0..ROUNDS {
        let request = Request::new("Register");
        let root = format!("/w/{round}");
        let calls = (0..20).map(|_| (root.as_str(), catalog.call_once(&request)));
        assert_carried_out_once(all_at_once(&catalog, calls.collect()).await);
    }
    assert_eq!(catalog.names().await.len(), ROUNDS);
    assert_eq!(catalog.log().await.len(), ROUNDS);
}

pub async fn w321_of_two_requests_with_one_id_one_is_refused<E: Engine>(catalog: Catalog<E>) {
    for round in 0..10 {
        let request = Request::new("Register");
        let (left, right) = (format!("/{round}/left"), format!("/{round}/right"));
        let calls = vec![
            (left.as_str(), catalog.call_once(&request)),
            (right.as_str(), catalog.call_once(&request.asking(2))),
        ];
        let outcomes = all_at_once(&catalog, calls).await;
        let carried_out = outcomes
            .iter()
            .filter(|outcome| matches!(outcome, Ok(Answer::Fresh(_))));
        assert_eq!(carried_out.count(), 1);
        let refused = outcomes
            .iter()
            .filter(|outcome| matches!(outcome, Err(Error::Rejected(CatalogError::RequestIdReused))));
        assert_eq!(refused.count(), 1, "{outcomes:?}");
    }
    assert_eq!(catalog.names().await.len(), 10);
}

/// The second one waits for the first, which fails; then it is carried out itself.
pub async fn a_failed_one_makes_room_for_the_next<E: Engine>(catalog: Catalog<E>) {
    let holder = catalog.created(catalog.new_named("/w/a", "api")).await;
    let request = Request::new("Register");
    let mut tasks = JoinSet::new();
    for number in 0..8 {
        let store = Arc::clone(&catalog.store);
        let register = catalog.new_named(&format!("/w/{number}"), "api");
        let call = catalog.call_once(&request);
        tasks.spawn(async move { store.register(register, call).await });
    }
    for outcome in tasks.join_all().await {
        let refused = matches!(outcome, Err(Error::Rejected(CatalogError::NameConflict { .. })));
        assert!(refused, "{outcome:?}");
    }
    catalog.remove(&holder.id).await.unwrap();
    let call = catalog.call_once(&request);
    let answer = catalog
        .store
        .register(catalog.new_named("/w/b", "api"), call)
        .await;
    assert!(matches!(answer, Ok(Answer::Fresh(_))), "{answer:?}");
}

/// A request that was forgotten after a day is new, and still carried out only once.
pub async fn a_forgotten_one_is_carried_out_once_as_well<E: Engine>(catalog: Catalog<E>) {
    for round in 0..ROUNDS {
        let request = Request::new("Register");
        let call = catalog.call_once(&request);
        let late = call.now.plus(Duration::from_secs(25 * 60 * 60));
        let (first, again) = (format!("/w/{round}/first"), format!("/w/{round}/again"));
        catalog
            .store
            .register(catalog.new_at(&first), call)
            .await
            .unwrap();
        let calls = (0..12).map(|_| {
            let call = Call {
                now: late,
                ..catalog.call_once(&request)
            };
            (again.as_str(), call)
        });
        assert_carried_out_once(all_at_once(&catalog, calls.collect()).await);
    }
}

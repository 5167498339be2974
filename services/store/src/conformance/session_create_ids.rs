//! Promises about the ids of sessions, and about requests that make or change one and are carried out once.

use std::sync::Arc;
use std::time::Duration;

use compozy_domain::session::StopCause;
use compozy_domain::session::change::SessionChange;
use compozy_domain::{CatalogError, SessionAt, SessionId, SessionState};
use tokio::task::JoinSet;

use super::engine::Engine;
use super::fixture::{Catalog, START, fresh, rejection};
use super::request_ids::remembered;
use super::requests::Request;
use super::session_fixture::{
    changing, deletion, new_in, new_lease, renaming, session_id, stopping, ungrouped,
};
use crate::call::{Answer, Call};
use crate::error::{Error, Result};
use crate::sessions::{CreateSession, CreatedSession, SessionStore as _};

const MINUTE: Duration = Duration::from_secs(60);
const DAY: Duration = Duration::from_secs(24 * 60 * 60);
/// By the second round every connection is there and the calls really meet.
const ROUNDS: usize = 3;
const CALLERS: usize = 32;

type Outcome = Result<Answer<CreatedSession>>;

fn named(id: &SessionId, name: &str) -> CreateSession {
    CreateSession {
        id: id.clone(),
        name: name.to_owned(),
        ..ungrouped()
    }
}

fn conflict(id: &SessionId) -> CatalogError {
    CatalogError::SessionIdConflict { id: id.to_string() }
}

/// Makes sessions at once.
async fn all_at_once<E>(
    catalog: &Catalog<E>,
    creations: Vec<(CreateSession, Call<CreatedSession>)>,
) -> Vec<Outcome> {
    let mut tasks = JoinSet::new();
    for (create, call) in creations {
        let store = Arc::clone(&catalog.store);
        tasks.spawn(async move { store.create_session(create, call).await });
    }
    tasks.join_all().await
}

fn bytes<T: std::fmt::Debug>(answer: &Answer<T>) -> Vec<u8> {
    match answer {
        Answer::Fresh(written) => format!("{written:?}").into_bytes(),
        Answer::Remembered(bytes) => bytes.clone(),
    }
}

pub async fn s039_s040_a_free_id_is_taken_once<E: Engine>(catalog: Catalog<E>) {
    let workspace = catalog.register("/t/a").await;
    let id = SessionId::parse("sess-00000000000000aa").unwrap();
    let session = catalog.create_session(named(&id, "first")).await;
    assert_eq!(session.id, id);
    let before = catalog.everything().await;
    let other = CreateSession {
        id: id.clone(),
        agent: "other".to_owned(),
        ..new_in(&workspace)
    };
    assert_eq!(rejection(catalog.try_create_session(other).await), conflict(&id));
    assert_eq!(catalog.everything().await, before);
}

pub async fn s042_of_many_who_take_one_id_one_gets_it<E: Engine>(catalog: Catalog<E>) {
    for round in 0..ROUNDS {
        let id = session_id();
        let creations =
            (0..CALLERS).map(|caller| (named(&id, &format!("n{caller}")), catalog.session_call()));
        let mut winners: Vec<String> = Vec::new();
        for outcome in all_at_once(&catalog, creations.collect()).await {
            match outcome {
                Ok(answer) => winners.push(fresh(answer).value.session.session.name),
                outcome => assert_eq!(rejection(outcome), conflict(&id)),
            }
        }
        assert_eq!(winners, [catalog.get_session(&id).await.name]);
        assert_eq!(catalog.log().await.len(), round + 1);
    }
    catalog.assert_counts_are_true().await;
}

pub async fn s043_s046_a_repeated_creation_gets_the_first_answer_for_a_day<E: Engine>(catalog: Catalog<E>) {
    catalog.set_clock(START).await;
    let request = Request::new("CreateSession");
    let create = ungrouped();
    let first = catalog
        .store
        .create_session(create.clone(), catalog.session_call_once(&request))
        .await
        .unwrap();
    let again = catalog
        .store
        .create_session(create.clone(), catalog.session_call_once(&request))
        .await
        .unwrap();
    assert_eq!(remembered(again), bytes(&first));
    let made = fresh(first.clone()).value.session.session;
    assert_eq!(catalog.log().await.len(), 1);

    catalog
        .change_session(&made.id, stopping(StopCause::Completed, ""))
        .await;
    catalog.change_session(&made.id, renaming("other")).await;
    catalog.set_clock(START.plus(DAY).minus(MINUTE)).await;
    let before = catalog.everything().await;
    let late = catalog
        .store
        .create_session(create, catalog.session_call_once(&request))
        .await
        .unwrap();
    assert_eq!(remembered(late), bytes(&first));
    assert_eq!((made.state, made.name.as_str()), (SessionState::Active, ""));
    assert_eq!(catalog.everything().await, before);
}

pub async fn s044_of_many_with_one_request_one_is_carried_out<E: Engine>(catalog: Catalog<E>) {
    for round in 0..ROUNDS {
        let request = Request::new("CreateSession");
        // Each call draws an id of its own.
        let creations = (0..CALLERS).map(|_| (ungrouped(), catalog.session_call_once(&request)));
        let outcomes = all_at_once(&catalog, creations.collect()).await;
        let mut answers: Vec<Vec<u8>> = outcomes
            .iter()
            .map(|outcome| bytes(outcome.as_ref().unwrap()))
            .collect();
        answers.dedup();
        assert_eq!(answers.len(), 1);
        assert_eq!(catalog.log().await.len(), round + 1);
    }
    catalog.assert_counts_are_true().await;
}

pub async fn s045_a_request_id_is_for_one_creation<E: Engine>(catalog: Catalog<E>) {
    let workspace = catalog.register("/t/a").await;
    let request = Request::new("CreateSession");
    catalog
        .store
        .create_session(ungrouped(), catalog.session_call_once(&request))
        .await
        .unwrap();
    let before = catalog.everything().await;
    for create in [
        new_in(&workspace),
        CreateSession {
            agent: "other".to_owned(),
            ..ungrouped()
        },
    ] {
        let call = catalog.session_call_once(&request.asking(2));
        let refused = rejection(catalog.store.create_session(create, call).await);
        assert_eq!(refused, CatalogError::RequestIdReused);
    }
    assert_eq!(catalog.everything().await, before);
}

pub async fn s047_after_a_day_it_is_another_session<E: Engine>(catalog: Catalog<E>) {
    catalog.set_clock(START).await;
    let request = Request::new("CreateSession");
    let mut made = Vec::new();
    for at in [START, START.plus(DAY).plus(Duration::from_secs(1))] {
        catalog.set_clock(at).await;
        let answer = catalog
            .store
            .create_session(ungrouped(), catalog.session_call_once(&request))
            .await;
        made.push(fresh(answer.unwrap()).value.session.session.id);
    }
    assert_ne!(made[0], made[1]);
    for id in &made {
        assert!(catalog.find_session(id).await.is_some());
    }
}

pub async fn s372_the_id_of_a_deleted_session_is_never_used_again<E: Engine>(catalog: Catalog<E>) {
    catalog.set_clock(START).await;
    let id = session_id();
    catalog.create_session(named(&id, "")).await;
    catalog
        .change_session(&id, stopping(StopCause::Completed, ""))
        .await;
    catalog.delete_session(deletion(&id)).await.unwrap();
    for later in [Duration::ZERO, 365 * DAY] {
        catalog.set_clock(START.plus(later)).await;
        let before = catalog.everything().await;
        assert_eq!(
            rejection(catalog.try_create_session(named(&id, "")).await),
            conflict(&id)
        );
        assert_eq!(catalog.everything().await, before);
    }
}

/// A creation with this id waits for neither side for long, and never sees the id free in between.
pub async fn s372_an_id_is_not_free_while_its_session_is_deleted<E: Engine>(catalog: Catalog<E>) {
    for _ in 0..10 {
        let id = session_id();
        catalog.create_session(named(&id, "")).await;
        let mut deleting = JoinSet::new();
        let (store, call) = (Arc::clone(&catalog.store), catalog.session_call());
        let mut delete = deletion(&id);
        delete.force = true;
        deleting.spawn(async move { store.delete_session(delete, call).await });
        let creations = (0..4).map(|_| (named(&id, ""), catalog.session_call()));
        for outcome in all_at_once(&catalog, creations.collect()).await {
            assert_eq!(rejection(outcome), conflict(&id));
        }
        assert!(deleting.join_all().await.remove(0).is_ok());
    }
}

async fn renames_once<E>(
    catalog: &Catalog<E>,
    id: &SessionId,
    name: &str,
    request: &Request,
) -> Result<Answer<SessionAt>> {
    let change = changing(id, renaming(name));
    catalog
        .store
        .change_session(change, catalog.session_call_once(request))
        .await
}

pub async fn s370_a_repeated_rename_undoes_nothing_that_came_after<E: Engine>(catalog: Catalog<E>) {
    let session = catalog.create_session(ungrouped()).await;
    let request = Request::new("RenameSession");
    let first = renames_once(&catalog, &session.id, "x", &request).await.unwrap();
    catalog.change_session(&session.id, renaming("y")).await;
    let before = catalog.everything().await;
    let again = renames_once(&catalog, &session.id, "x", &request).await.unwrap();
    assert_eq!(remembered(again), bytes(&first));
    assert_eq!(fresh(first).value.session.name, "x");
    assert_eq!(catalog.everything().await, before);
    assert_eq!(catalog.get_session(&session.id).await.name, "y");
}

pub async fn s371_a_request_id_belongs_to_a_principal_a_method_and_a_success<E: Engine>(catalog: Catalog<E>) {
    let workspace = catalog.register("/t/a").await;
    let request = Request::new("CreateSession");
    let creates = |create, request: &Request| {
        let (store, call) = (Arc::clone(&catalog.store), catalog.session_call_once(request));
        async move { store.create_session(create, call).await }
    };
    let refused = CreateSession {
        parent: Some(catalog.session_in(&workspace).await.id),
        ..new_in(&catalog.register("/t/b").await)
    };
    assert!(matches!(
        creates(refused, &request).await,
        Err(Error::Rejected(CatalogError::InvalidField { .. }))
    ));
    let first = fresh(creates(ungrouped(), &request.asking(2)).await.unwrap())
        .value
        .session
        .session;
    let other = Request {
        principal: "ci",
        ..request.asking(2)
    };
    let second = fresh(creates(ungrouped(), &other).await.unwrap())
        .value
        .session
        .session;
    assert_ne!(first.id, second.id);

    let stop = changing(&first.id, stopping(StopCause::Completed, ""));
    catalog
        .store
        .change_session(stop, catalog.session_call())
        .await
        .unwrap();
    for (method, change) in [
        ("RenameSession", renaming("x")),
        ("ArchiveSession", SessionChange::Archive),
    ] {
        let request = Request {
            method,
            ..request.clone()
        };
        let change = changing(&first.id, change);
        let answer = catalog
            .store
            .change_session(change, catalog.session_call_once(&request))
            .await;
        fresh(answer.unwrap());
    }
    let found = catalog.get_session(&first.id).await;
    assert!(found.name == "x" && found.archived_at.is_some());
}

pub async fn s359_a_repeated_creation_binds_nobody_again<E: Engine>(catalog: Catalog<E>) {
    let request = Request::new("CreateSession");
    let create = |id: &SessionId| CreateSession {
        id: id.clone(),
        // The token of a repetition is another one, which nobody gets.
        bind: Some(new_lease("h1")),
        ..ungrouped()
    };
    let id = session_id();
    let first = catalog
        .store
        .create_session(create(&id), catalog.session_call_once(&request))
        .await
        .unwrap();
    let again = catalog
        .store
        .create_session(create(&session_id()), catalog.session_call_once(&request))
        .await;
    assert_eq!(remembered(again.unwrap()), bytes(&first));
    assert_eq!(catalog.get_session(&id).await.generation, 1);
    let bound = catalog
        .change_session(&id, SessionChange::Bind(new_lease("h1")))
        .await;
    assert_eq!(bound.generation, 2);
    assert_eq!(catalog.log().await.len(), 2);
}

//! Promises about requests that are carried out once.

use std::time::Duration;

use compozy_domain::{CatalogError, limits};

use super::engine::Engine;
use super::fixture::{Catalog, fresh, rejection, removal};
use super::requests::Request;
use super::update::retitle;
use crate::call::{Answer, Call};
use crate::catalog::CatalogStore as _;
use crate::workspaces::{Register, Registered, WorkspaceStore as _};

const MINUTE: Duration = Duration::from_secs(60);
const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// The bytes of a repeated answer.
#[track_caller]
pub(crate) fn remembered<T: std::fmt::Debug>(answer: Answer<T>) -> Vec<u8> {
    match answer {
        Answer::Remembered(bytes) => bytes,
        Answer::Fresh(written) => panic!("carried out again: {written:?}"),
    }
}

fn text<T: std::fmt::Debug>(answer: &Answer<T>) -> Vec<u8> {
    match answer {
        Answer::Fresh(written) => format!("{written:?}").into_bytes(),
        Answer::Remembered(bytes) => bytes.clone(),
    }
}

async fn registers<E: Engine>(
    catalog: &Catalog<E>,
    register: Register,
    call: Call<Registered>,
) -> Answer<Registered> {
    catalog.store.register(register, call).await.unwrap()
}

pub async fn w105_a_repeated_request_gets_the_first_answer_for_a_day<E: Engine>(catalog: Catalog<E>) {
    let request = Request::new("Register");
    let call = catalog.call_once(&request);
    let began = call.now;
    let first = registers(&catalog, catalog.new_at("/w/a"), call).await;
    let (Registered::Created(row) | Registered::Existing(row)) = fresh(first.clone()).value;
    catalog.remove(&row.id).await.unwrap();
    let before = catalog.everything().await;
    let mut late = catalog.call_once(&request);
    late.now = began.plus(DAY).minus(MINUTE);
    let second = registers(&catalog, catalog.new_at("/w/a"), late).await;
    assert_eq!(remembered(second), text(&first));
    assert_eq!(catalog.everything().await, before);
}

pub async fn w106_an_id_is_for_one_request<E: Engine>(catalog: Catalog<E>) {
    let request = Request::new("Register");
    registers(&catalog, catalog.new_at("/w/a"), catalog.call_once(&request)).await;
    let before = catalog.everything().await;
    let call = catalog.call_once(&request.asking(2));
    let now = call.now;
    let error = rejection(catalog.store.register(catalog.new_at("/w/b"), call).await);
    assert_eq!(error, CatalogError::RequestIdReused);
    let asked = request.asking(2);
    let outcome = catalog
        .store
        .find_answer(asked.principal, asked.method, &asked.id, &asked.hash, now)
        .await;
    assert_eq!(rejection(outcome), CatalogError::RequestIdReused);
    assert_eq!(catalog.everything().await, before);
}

pub async fn w107_after_a_day_it_is_a_new_request<E: Engine>(catalog: Catalog<E>) {
    let request = Request::new("Register");
    let call = catalog.call_once(&request);
    let began = call.now;
    registers(&catalog, catalog.new_at("/w/a"), call).await;
    // Also when it asks for something else by now.
    let asked = request.asking(2);
    let mut late = catalog.call_once(&asked);
    late.now = began.plus(DAY).plus(MINUTE);
    let late_now = late.now;
    let find = async |now| {
        let find = catalog
            .store
            .find_answer(asked.principal, asked.method, &asked.id, &asked.hash, now);
        find.await.unwrap()
    };
    assert_eq!(find(late_now).await, None);
    let second = registers(&catalog, catalog.new_at("/w/b"), late).await;
    fresh(second.clone());
    assert_eq!(catalog.names().await, ["b", "a"]);
    assert_eq!(find(late_now).await, Some(text(&second)));
}

pub async fn w317_a_failure_is_not_remembered<E: Engine>(catalog: Catalog<E>) {
    let holder = catalog.created(catalog.new_named("/w/a", "api")).await;
    let request = Request::new("Register");
    let register = catalog.new_named("/w/b", "api");
    rejection(
        catalog
            .store
            .register(register.clone(), catalog.call_once(&request))
            .await,
    );
    catalog.remove(&holder.id).await.unwrap();
    fresh(registers(&catalog, register, catalog.call_once(&request)).await);
    assert_eq!(catalog.names().await, ["api"]);
}

/// A try and the real call differ in what they ask for, and so in their hashes.
pub async fn w318_a_try_is_not_remembered<E: Engine>(catalog: Catalog<E>) {
    let request = Request::new("Register");
    let mut only_try = catalog.new_at("/w/a");
    only_try.validate_only = true;
    fresh(registers(&catalog, only_try, catalog.call_once(&request.asking(2))).await);
    fresh(registers(&catalog, catalog.new_at("/w/a"), catalog.call_once(&request)).await);
    assert_eq!(catalog.names().await, ["a"]);
}

pub async fn w319_an_id_belongs_to_a_principal_and_a_method<E: Engine>(catalog: Catalog<E>) {
    let request = Request::new("Register");
    let other_principal = Request {
        principal: "other",
        ..request.asking(2)
    };
    let other_method = Request {
        method: "Update",
        ..request.asking(3)
    };
    fresh(registers(&catalog, catalog.new_at("/w/a"), catalog.call_once(&request)).await);
    let second = registers(
        &catalog,
        catalog.new_at("/w/b"),
        catalog.call_once(&other_principal),
    )
    .await;
    let (Registered::Created(row) | Registered::Existing(row)) = fresh(second).value;
    let update = retitle(&row.id, "x");
    fresh(
        catalog
            .store
            .update(update, catalog.call_once(&other_method))
            .await
            .unwrap(),
    );
    assert_eq!(catalog.names().await, ["b", "a"]);
}

pub async fn w320_a_repetition_undoes_nothing_that_came_after<E: Engine>(catalog: Catalog<E>) {
    let id = catalog.register("/w/a").await.id;
    let (first, second) = (Request::new("Update"), Request::new("Update"));
    let store = &catalog.store;
    let answer = store
        .update(retitle(&id, "x"), catalog.call_once(&first))
        .await
        .unwrap();
    store
        .update(retitle(&id, "y"), catalog.call_once(&second))
        .await
        .unwrap();
    let before = catalog.everything().await;
    let again = store
        .update(retitle(&id, "x"), catalog.call_once(&first))
        .await
        .unwrap();
    assert_eq!(remembered(again), text(&answer));
    assert_eq!(catalog.get(&id).await.title, "y");
    assert_eq!(catalog.everything().await, before);
}

pub async fn w322_a_repeated_removal_succeeds_and_a_second_one_fails<E: Engine>(catalog: Catalog<E>) {
    let id = catalog.register("/w/a").await.id;
    let request = Request::new("Remove");
    let store = &catalog.store;
    let first = store
        .remove(removal(&id), catalog.call_once(&request))
        .await
        .unwrap();
    let again = store
        .remove(removal(&id), catalog.call_once(&request))
        .await
        .unwrap();
    assert_eq!(remembered(again), text(&first));
    let second = Request::new("Remove");
    let error = rejection(store.remove(removal(&id), catalog.call_once(&second)).await);
    assert!(matches!(error, CatalogError::WorkspaceNotFound { .. }), "{error}");
}

pub async fn an_answer_is_kept_up_to_its_limit<E: Engine>(catalog: Catalog<E>) {
    for (root, extra, kept) in [("/w/a", 0, true), ("/w/b", 1, false)] {
        let request = Request::new("Register");
        let size = limits::ANSWER_BYTES_MAX + extra;
        let call = || Call {
            remember: Some(request.remember_as(move |_| vec![b'x'; size])),
            ..catalog.call()
        };
        fresh(registers(&catalog, catalog.new_at(root), call()).await);
        let again = registers(&catalog, catalog.new_at(root), call()).await;
        if kept {
            assert_eq!(remembered(again).len(), size);
        } else {
            // Carried out again as without an id: the root is registered by now.
            assert!(matches!(fresh(again).value, Registered::Existing(_)));
            let call = catalog.call_once(&request.asking(2));
            let error = rejection(catalog.store.register(catalog.new_at("/w/c"), call).await);
            assert_eq!(error, CatalogError::RequestIdReused);
        }
    }
}

pub async fn a_success_that_changes_nothing_is_remembered_too<E: Engine>(catalog: Catalog<E>) {
    let id = catalog.register("/w/a").await.id;
    let request = Request::new("Update");
    let store = &catalog.store;
    let first = store
        .update(retitle(&id, "a"), catalog.call_once(&request))
        .await
        .unwrap();
    store.update(retitle(&id, "b"), catalog.call()).await.unwrap();
    let again = store
        .update(retitle(&id, "a"), catalog.call_once(&request))
        .await
        .unwrap();
    assert_eq!(remembered(again), text(&first));
}

pub async fn old_answers_are_forgotten_and_young_ones_kept<E: Engine>(catalog: Catalog<E>) {
    let (old, young) = (Request::new("Register"), Request::new("Register"));
    let call = catalog.call_once(&old);
    let began = call.now;
    registers(&catalog, catalog.new_at("/w/a"), call).await;
    let mut call = catalog.call_once(&young);
    call.now = began.plus(DAY);
    registers(&catalog, catalog.new_at("/w/b"), call).await;
    let store = &catalog.store;
    assert_eq!(
        store.forget_answers(began.plus(DAY)).await.unwrap(),
        0,
        "a day is not over"
    );
    let late = began.plus(DAY).plus(MINUTE);
    assert_eq!(store.forget_answers(late).await.unwrap(), 1);
    assert_eq!(store.forget_answers(late).await.unwrap(), 0);
    let find = async |request: &Request| {
        let find = store.find_answer(
            request.principal,
            request.method,
            &request.id,
            &request.hash,
            late,
        );
        find.await.unwrap().is_some()
    };
    assert!(find(&young).await);
    assert!(!find(&old).await);
}

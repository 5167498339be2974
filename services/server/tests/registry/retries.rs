//! Requests that are carried out once (cases sections 3 and 14).

use std::time::Duration;

use compozy_proto::workspace::v1 as pb;
use compozy_proto::workspace::v1::workspace_ref::Form;
use tonic::Code;

use crate::requests::{by_id, get, named, register, remove, titled, update};
use crate::tree::exists;
use crate::world::World;

const R: &str = "01J0ZK3M5N7P9Q1R3S5T7V9WXY";
const R2: &str = "0190f3a2-7b1c-7d4e-8f00-112233445566";

fn with_id(path: &str, request_id: &str) -> pb::RegisterWorkspaceRequest {
    pb::RegisterWorkspaceRequest {
        request_id: request_id.to_owned(),
        ..register(path)
    }
}

cases! {
    w105_w107_an_answer_is_remembered_for_a_day,
    w106_another_request_with_the_same_id,
    w109_twenty_at_once_are_one,
    w317_failures_are_not_remembered,
    w318_tries_are_not_remembered,
    w319_ids_belong_to_a_principal_and_a_method,
    w320_the_first_answer_even_if_the_thing_has_changed,
    w321_two_at_once_with_one_id_and_two_paths,
    two_replicas_at_once_with_one_id_and_two_paths,
    w322_a_removal_is_repeated_by_its_id_only,
    w285_a_repetition_after_a_restart_gets_the_first_answer,
    what_changed_nothing_is_remembered_too,
    a_move_and_a_relink_are_repeated,
}

async fn w105_w107_an_answer_is_remembered_for_a_day(world: World) {
    let path = world.mkdir("a");
    let first = world.daemon.api.register(with_id(&path, R)).await.unwrap();
    world
        .daemon
        .api
        .remove(remove(&first.workspace.as_ref().unwrap().id))
        .await
        .unwrap();
    std::fs::remove_dir_all(&path).unwrap();
    world.clock.advance(Duration::from_secs(23 * 3_600 + 59 * 60));
    // Not even a look at the path, which is gone.
    let again = world
        .unchanged_by(world.daemon.api.register(with_id(&path, R)))
        .await
        .unwrap();
    assert_eq!(again, first);
    world.clock.advance(Duration::from_secs(2 * 60));
    world.mkdir("a");
    let later = world.daemon.api.register(with_id(&path, R)).await.unwrap();
    assert!(later.created && later.workspace.unwrap().id != first.workspace.unwrap().id);
}

async fn w106_another_request_with_the_same_id(world: World) {
    world
        .daemon
        .api
        .register(with_id(&world.mkdir("a"), R))
        .await
        .unwrap();
    world
        .reg_refused(
            Code::InvalidArgument,
            "REQUEST_ID_REUSED",
            with_id("/none/at/all", R),
        )
        .await;
}

async fn w109_twenty_at_once_are_one(world: World) {
    let path = world.mkdir("a");
    let mut calls = tokio::task::JoinSet::new();
    for _ in 0..20 {
        let (api, request) = (world.daemon.api.clone(), with_id(&path, R));
        calls.spawn(async move { api.register(request).await.unwrap() });
    }
    let mut answers = calls.join_all().await;
    answers.dedup();
    assert_eq!(answers.len(), 1);
    assert!(answers[0].created);
    assert_eq!(world.total().await, 1);
}

async fn w317_failures_are_not_remembered(world: World) {
    let path = world.path("c");
    world
        .reg_refused(Code::NotFound, "PATH_NOT_FOUND", with_id(&path, R))
        .await;
    world.mkdir("c");
    assert!(
        world
            .daemon
            .api
            .register(with_id(&path, R))
            .await
            .unwrap()
            .created
    );
}

async fn w318_tries_are_not_remembered(world: World) {
    let request = with_id(&world.mkdir("a"), R);
    let only_try = pb::RegisterWorkspaceRequest {
        validate_only: true,
        ..request.clone()
    };
    world.daemon.api.register(only_try.clone()).await.unwrap();
    assert!(world.daemon.api.register(request).await.unwrap().created);
    world.daemon.api.register(only_try).await.unwrap();
}

async fn w319_ids_belong_to_a_principal_and_a_method(mut world: World) {
    let roots = vec![world.t.clone()];
    world.restart(|parts| parts.settings.allowed_roots = roots).await;
    let row = world
        .daemon
        .api
        .register(with_id(&world.mkdir("a"), R))
        .await
        .unwrap()
        .workspace
        .unwrap();
    let remote = world.daemon.api.seen_by("token");
    assert!(
        remote
            .register(with_id(&world.mkdir("b"), R))
            .await
            .unwrap()
            .created
    );
    let request = pb::UpdateWorkspaceRequest {
        request_id: R.into(),
        ..update(&row.id, &["title"], titled("T"))
    };
    world.daemon.api.update(request).await.unwrap();
}

async fn w320_the_first_answer_even_if_the_thing_has_changed(world: World) {
    let row = world.reg_new("a").await;
    let request = |title: &str, id: &str| pb::UpdateWorkspaceRequest {
        request_id: id.into(),
        ..update(&row.id, &["title"], titled(title))
    };
    let first = world.daemon.api.update(request("x", R)).await.unwrap();
    world.daemon.api.update(request("y", R2)).await.unwrap();
    let again = world
        .unchanged_by(world.daemon.api.update(request("x", R)))
        .await
        .unwrap();
    assert_eq!(again, first);
    assert_eq!(again.workspace.unwrap().title.as_deref(), Some("x"));
    assert_eq!(world.record(&row.id).await.title.as_deref(), Some("y"));
}

async fn w321_two_at_once_with_one_id_and_two_paths(world: World) {
    let (a, b) = (world.mkdir("a"), world.mkdir("b"));
    let api = &world.daemon.api;
    let (one, two) = tokio::join!(api.register(with_id(&a, R)), api.register(with_id(&b, R)));
    assert!(one.is_ok() ^ two.is_ok());
    let loser = if one.is_ok() { &b } else { &a };
    assert_eq!(one.err().or(two.err()).unwrap().reason, "REQUEST_ID_REUSED");
    assert!(!exists(&format!("{loser}/.compozy")));
    assert_eq!(world.total().await, 1);
}

async fn two_replicas_at_once_with_one_id_and_two_paths(world: World) {
    let replica = world.start(|_| {}).await;
    let (a, b) = (world.mkdir("a"), world.mkdir("b"));
    let (one, two) = tokio::join!(
        world.daemon.api.register(with_id(&a, R)),
        replica.api.register(with_id(&b, R))
    );
    assert!(one.is_ok() ^ two.is_ok(), "{one:?} {two:?}");
    let loser = if one.is_ok() { &b } else { &a };
    assert_eq!(one.err().or(two.err()).unwrap().reason, "REQUEST_ID_REUSED");
    assert!(!exists(&format!("{loser}/.compozy")));
    assert_eq!(world.total().await, 1);
}

async fn w322_a_removal_is_repeated_by_its_id_only(world: World) {
    let row = world.reg_new("a").await;
    let request = |id: &str| pb::RemoveWorkspaceRequest {
        request_id: id.into(),
        ..remove(&row.id)
    };
    let first = world.daemon.api.remove(request(R)).await.unwrap();
    assert_eq!(
        world
            .unchanged_by(world.daemon.api.remove(request(R)))
            .await
            .unwrap(),
        first
    );
    world
        .refused(
            Code::NotFound,
            "WORKSPACE_NOT_FOUND",
            world.daemon.api.remove(request(R2)),
        )
        .await;
}

async fn w285_a_repetition_after_a_restart_gets_the_first_answer(mut world: World) {
    let request = with_id(&world.mkdir("a"), R);
    let first = world.daemon.api.register(request.clone()).await.unwrap();
    world.restart(|_| {}).await;
    assert_eq!(world.daemon.api.register(request).await.unwrap(), first);
    assert_eq!(world.total().await, 1);
}

async fn what_changed_nothing_is_remembered_too(world: World) {
    let row = world.reg_new("a").await;
    let request = with_id(&row.root_dir, R);
    let first = world
        .unchanged_by(world.daemon.api.register(request.clone()))
        .await
        .unwrap();
    world.daemon.api.remove(remove(&row.id)).await.unwrap();
    assert_eq!(world.daemon.api.register(request).await.unwrap(), first);
    assert_eq!(world.total().await, 0);
    let missing = pb::RemoveWorkspaceRequest {
        allow_missing: true,
        request_id: R.into(),
        ..remove(&row.id)
    };
    let first = world.daemon.api.remove(missing.clone()).await.unwrap();
    assert_eq!(world.daemon.api.remove(missing).await.unwrap(), first);
}

async fn a_move_and_a_relink_are_repeated(world: World) {
    let (a, b) = (world.reg_new("a").await, world.reg_new("b").await);
    let request = pb::MoveWorkspaceRequest {
        r#ref: by_id(&a.id),
        before: by_id(&b.id),
        request_id: R.into(),
    };
    let first = world.daemon.api.move_workspace(request.clone()).await.unwrap();
    assert!(first.moved);
    assert_eq!(world.daemon.api.move_workspace(request).await.unwrap(), first);
    std::fs::rename(world.path("a"), world.path("c")).unwrap();
    let moved = with_id(&world.path("c"), R2);
    let first = world.daemon.api.register(moved.clone()).await.unwrap();
    assert!(first.relinked_from.is_some());
    assert_eq!(world.daemon.api.register(moved).await.unwrap(), first);
    assert_eq!(
        world.daemon.api.get(get(Form::Id(a.id))).await.unwrap().workspace,
        first.workspace
    );
}

file_cases! {
    w108_an_id_that_is_none,
}

async fn w108_an_id_that_is_none(world: World) {
    let path = world.mkdir("a");
    for bad in ["abc", " ", R.get(1..).unwrap()] {
        let failure = world
            .reg_refused(Code::InvalidArgument, "INVALID_FIELD", with_id(&path, bad))
            .await;
        assert_eq!(failure.fields, ["request_id"]);
    }
    let only_try = pb::RegisterWorkspaceRequest {
        validate_only: true,
        ..with_id(&path, "abc")
    };
    world
        .reg_refused(Code::InvalidArgument, "INVALID_FIELD", only_try)
        .await;
    world.daemon.api.register(named(&path, "no-id")).await.unwrap();
}

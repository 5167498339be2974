//! Accounts: which sessions belong to a workspace, in which order (sessions section 11, workspaces section 9).

use std::time::Duration;

use compozy_domain::ChangeKind;
use compozy_proto::session::v1 as pb;
use compozy_proto::workspace::v1 as workspace_pb;
use tonic::Code;

use crate::asked::{NOBODY, archive, delete, list, new, rename, unarchive, ungrouped};
use crate::place::told;
use crate::requests::{by_id, update};
use crate::tree::chmod;
use crate::world::World;

cases! {
    s212_s213_w248_w249_activity_never_reorders,
    s214_w250_moves,
    w251_moves_that_change_nothing,
    s219_w252_w253_moves_that_are_refused,
    s216_s217_w260_off_the_account_and_back,
    w254_w255_attaching_what_lies_in_the_root,
    s218_w256_w257_what_can_not_be_attached,
    w258_w259_from_one_account_to_another,
    w261_w340_detaching_what_is_not_there,
    s220_w266_a_new_one_is_in_front,
    s222_w047_a_workspace_that_was_moved,
    w268_counts_of_a_workspace,
    w160_unknown_workspaces,
    answers_about_accounts_are_remembered,
}

file_cases! {
    w264_w265_directories_that_can_not_be_seen,
}

pub(crate) fn attach(workspace_id: &str, session_id: &str) -> workspace_pb::AttachSessionRequest {
    workspace_pb::AttachSessionRequest {
        workspace: by_id(workspace_id),
        session_id: session_id.to_owned(),
        request_id: String::new(),
    }
}

pub(crate) fn detach(workspace_id: Option<&str>, session_id: &str) -> workspace_pb::DetachSessionRequest {
    workspace_pb::DetachSessionRequest {
        workspace: workspace_id.and_then(by_id),
        session_id: session_id.to_owned(),
        request_id: String::new(),
    }
}

pub(crate) fn move_before(session_id: &str, before: Option<&str>) -> workspace_pb::MoveSessionRequest {
    workspace_pb::MoveSessionRequest {
        session_id: session_id.to_owned(),
        before_session_id: before.unwrap_or_default().to_owned(),
        request_id: String::new(),
    }
}

async fn s212_s213_w248_w249_activity_never_reorders(world: World) {
    let a = world.only_a().await;
    let [s1, s2, s3] = world.create_some(&a.id).await;
    let order = [s3.clone(), s2.clone(), s1.clone()];
    assert_eq!(world.account(&a.id).await, order);
    let api = &world.daemon.api;
    let lease = world.bind(&s1, "h1").await;
    let active = pb::HeartbeatRequest {
        activity: Some(pb::Activity {
            kind: "tool".into(),
            ..Default::default()
        }),
        ..crate::asked::beat(&lease.token)
    };
    api.heartbeat(active).await.unwrap();
    api.rename_session(rename(&s1, "x")).await.unwrap();
    api.finish_session(crate::asked::finish(&lease.token, pb::StopCause::Completed))
        .await
        .unwrap();
    api.archive_session(archive(&s1)).await.unwrap();
    api.unarchive_session(unarchive(&s1)).await.unwrap();
    assert_eq!(world.account(&a.id).await, order);
}

async fn s214_w250_moves(mut world: World) {
    let a = world.only_a().await;
    let [s1, s2, s3] = world.create_some(&a.id).await;
    let (before, sessions) = (world.changes().await.len(), world.session(&s1).await);
    world.advance(Duration::from_secs(1)).await;
    let answer = world
        .daemon
        .api
        .move_session(move_before(&s1, Some(&s2)))
        .await
        .unwrap();
    assert_eq!(
        (&answer.previous_id, &answer.next_id, answer.moved),
        (&s3, &s2, true)
    );
    assert_eq!(world.account(&a.id).await, [s3.clone(), s1.clone(), s2.clone()]);
    let new = world.changes().await.split_off(before);
    assert_eq!(new.len(), 1);
    assert_eq!(
        (new[0].change.kind, told(&new[0]).as_str()),
        (ChangeKind::AccountOrder, "upserted moved")
    );
    assert_eq!(new[0].change.session_id.as_ref().unwrap().as_str(), s1);
    assert_eq!(new[0].change.workspace_id.as_ref().unwrap().as_str(), a.id);
    assert!(world.position(&answer.revision).await < new[0].position);
    // The place is no part of the record.
    assert_eq!(world.session(&s1).await, sessions);
    let answer = world
        .daemon
        .api
        .move_session(move_before(&s3, None))
        .await
        .unwrap();
    assert_eq!(
        (answer.previous_id.as_str(), answer.next_id.as_str()),
        (s2.as_str(), "")
    );
    world.restart(|_| {}).await;
    assert_eq!(world.account(&a.id).await, [s1.clone(), s2.clone(), s3.clone()]);
    world
        .daemon
        .api
        .move_session(move_before(&s3, Some(&s1)))
        .await
        .unwrap();
    assert_eq!(world.account(&a.id).await, [s3, s1, s2]);
    // The same by cursor, with the same total on every page.
    let mut cursor = String::new();
    for _ in 0..3 {
        let request = pb::ListSessionsRequest {
            sort: pb::SessionSort::Manual.into(),
            limit: 1,
            cursor,
            ..list(pb::SessionFilter {
                workspace: by_id(&a.id),
                ..Default::default()
            })
        };
        let page = world.daemon.api.list_sessions(request).await.unwrap();
        assert_eq!((page.sessions.len(), page.page.as_ref().unwrap().total), (1, 3));
        cursor = page.page.unwrap().next_cursor.unwrap_or_default();
    }
    assert_eq!(cursor, "");
}

async fn w251_moves_that_change_nothing(world: World) {
    let a = world.only_a().await;
    let [s1, s2, s3] = world.create_some(&a.id).await;
    for (moved, before) in [(&s2, Some(&s2)), (&s3, Some(&s2)), (&s2, Some(&s1)), (&s1, None)] {
        let call = world
            .daemon
            .api
            .move_session(move_before(moved, before.map(String::as_str)));
        assert!(!world.unchanged_by(call).await.unwrap().moved);
    }
    assert_eq!(world.account(&a.id).await, [s3, s2, s1]);
}

async fn s219_w252_w253_moves_that_are_refused(world: World) {
    let (a, b) = world.a_and_b().await;
    let [s1, s2] = world.create_some(&a.id).await;
    let of_b = world.create(new(&b.id)).await.id;
    let outside = world.create(ungrouped(&a.root_dir)).await.id;
    let api = &world.daemon.api;
    for (moved, before, named) in [
        (NOBODY, Some(s1.as_str()), NOBODY),
        ("no id", Some("neither"), "no id"),
        (&s1, Some(NOBODY), NOBODY),
        (&s1, Some("neither"), "neither"),
    ] {
        let call = api.move_session(move_before(moved, before));
        let failure = world.refused(Code::NotFound, "SESSION_NOT_FOUND", call).await;
        assert_eq!(failure.metadata["id"], named);
    }
    for (moved, before) in [
        (&outside, None),
        (&outside, Some(&s1)),
        (&s1, Some(&of_b)),
        (&s1, Some(&outside)),
    ] {
        let call = api.move_session(move_before(moved, before.map(String::as_str)));
        world
            .refused(Code::FailedPrecondition, "WORKSPACE_MOVE_INVALID", call)
            .await;
    }
    assert_eq!(world.account(&a.id).await, [s2, s1]);
}

async fn s216_s217_w260_off_the_account_and_back(world: World) {
    let a = world.only_a().await;
    let [s1, s2, s3] = world.create_some(&a.id).await;
    let session = world.session(&s2).await;
    world.advance(Duration::from_secs(1)).await;
    let (api, before) = (&world.daemon.api, world.changes().await.len());
    let answer = api.detach_session(detach(Some(&a.id), &s2)).await.unwrap();
    assert_eq!(
        (answer.from_workspace_id.as_str(), answer.detached),
        (a.id.as_str(), true)
    );
    let alone = world.session(&s2).await;
    assert_eq!(
        (alone.workspace_id.as_str(), alone.workspace_name.as_str()),
        ("", "")
    );
    assert_eq!(
        (&alone.cwd, &alone.canonical_cwd),
        (&session.cwd, &session.canonical_cwd)
    );
    assert!(alone.etag != session.etag && alone.updated_at == Some(world.now()));
    let nowhere = pb::SessionFilter {
        ungrouped: true,
        ..Default::default()
    };
    assert_eq!(
        world.ids(nowhere.clone(), pb::SessionSort::Recent).await,
        [s2.clone()]
    );
    assert_eq!(world.account(&a.id).await, [s3.clone(), s1.clone()]);
    for again in [detach(None, &s2), detach(Some(&a.id), &s2)] {
        let answer = world.unchanged_by(api.detach_session(again)).await.unwrap();
        assert_eq!((answer.from_workspace_id.as_str(), answer.detached), ("", false));
    }
    let answer = api.attach_session(attach(&a.id, &s2)).await.unwrap();
    assert_eq!(
        (answer.workspace_id.as_str(), answer.from_workspace_id.as_str()),
        (a.id.as_str(), "")
    );
    assert!(answer.attached);
    assert_eq!(world.account(&a.id).await, [s2.clone(), s3, s1]);
    assert_eq!(world.total_of(nowhere).await, 0);
    let back = world.session(&s2).await;
    assert_eq!(
        (back.workspace_id.as_str(), back.workspace_name.as_str()),
        (a.id.as_str(), "a")
    );
    let new = world.session_changes_since(before).await;
    assert_eq!(
        new.iter().map(told).collect::<Vec<_>>(),
        ["upserted detached", "upserted attached"]
    );
    assert_eq!(new[0].change.from_workspace_id.as_ref().unwrap().as_str(), a.id);
}

async fn w254_w255_attaching_what_lies_in_the_root(world: World) {
    let a = world.only_a().await;
    let sub = world.mkdir("a/sub");
    let link = world.link(&sub, "l");
    let mut account = Vec::new();
    for cwd in [a.root_dir.clone(), sub, link] {
        let id = world.create(ungrouped(&cwd)).await.id;
        let answer = world.daemon.api.attach_session(attach(&a.id, &id)).await.unwrap();
        assert!(answer.attached);
        account.insert(0, id);
        assert_eq!(world.account(&a.id).await, account);
    }
    let third = account[2].clone();
    let call = world.daemon.api.attach_session(attach(&a.id, &third));
    let answer = world.unchanged_by(call).await.unwrap();
    assert_eq!(
        (answer.workspace_id.as_str(), answer.attached),
        (a.id.as_str(), false)
    );
    // A member stays one, whatever becomes of its directory.
    std::fs::rename(&a.root_dir, world.path("away")).unwrap();
    let call = world.daemon.api.attach_session(attach(&a.id, &third));
    let answer = call.await.unwrap();
    assert!(!answer.attached);
    assert_eq!(world.account(&a.id).await, account);
}

async fn s218_w256_w257_what_can_not_be_attached(world: World) {
    let (a, b) = world.a_and_b().await;
    world.reg_new("a/nested").await;
    let api = &world.daemon.api;
    let at = |name: &str| world.create(ungrouped(world.mkdir(name)));
    let adrift = pb::CreateSessionRequest {
        workspace: None,
        origin: Some(pb::Origin {
            tool: "other".into(),
            id: "1".into(),
        }),
        ..new("")
    };
    let adrift = world.create(adrift).await.id;
    let gone = at("a/gone").await.id;
    std::fs::remove_dir(world.path("a/gone")).unwrap();
    let file = at("a/file").await.id;
    std::fs::remove_dir(world.path("a/file")).unwrap();
    std::fs::write(world.path("a/file"), "").unwrap();
    let elsewhere = world.create(ungrouped(&b.root_dir)).await.id;
    let nested = at("a/nested/below").await.id;
    let nowhere = at("nowhere").await.id;
    let call = api.attach_session(attach(&a.id, NOBODY));
    world.refused(Code::NotFound, "SESSION_NOT_FOUND", call).await;
    for (id, reason) in [
        (&adrift, "SESSION_CWD_ABSENT"),
        (&gone, "SESSION_CWD_NOT_FOUND"),
        (&file, "SESSION_CWD_NOT_DIRECTORY"),
        (&elsewhere, "SESSION_CWD_MISMATCH"),
        (&nested, "SESSION_CWD_MISMATCH"),
        (&nowhere, "SESSION_CWD_MISMATCH"),
    ] {
        let call = api.attach_session(attach(&a.id, id));
        let failure = world.refused(Code::FailedPrecondition, reason, call).await;
        assert_eq!(failure.preconditions[0].0, reason);
    }
}

async fn w258_w259_from_one_account_to_another(mut world: World) {
    let (a, b) = world.a_and_b().await;
    let (in_a, in_b) = (world.mkdir("a/sub"), world.mkdir("b/sub"));
    let link = world.link(&in_b, "l");
    let request = pb::CreateSessionRequest {
        cwd: Some(link.clone()),
        ..new(&b.id)
    };
    let moving = world.create(request).await.id;
    let staying = world.create(new(&b.id)).await.id;
    let there = world.create(new(&a.id)).await.id;
    for id in [&moving, &staying] {
        let call = world.daemon.api.attach_session(attach(&a.id, id));
        world
            .refused(Code::FailedPrecondition, "SESSION_CWD_MISMATCH", call)
            .await;
    }
    std::fs::remove_file(&link).unwrap();
    world.link(&in_a, "l");
    let before = world.changes().await.len();
    let answer = world
        .daemon
        .api
        .attach_session(attach(&a.id, &moving))
        .await
        .unwrap();
    assert_eq!(
        (answer.workspace_id, answer.from_workspace_id, answer.attached),
        (a.id.clone(), b.id.clone(), true)
    );
    assert_eq!(world.account(&a.id).await, [moving.clone(), there]);
    assert_eq!(world.account(&b.id).await, [staying]);
    let session = world.session(&moving).await;
    assert_eq!((session.cwd, session.canonical_cwd), (link, in_a));
    let new = world.session_changes_since(before).await;
    assert_eq!(new.len(), 1);
    assert_eq!(new[0].change.from_workspace_id.as_ref().unwrap().as_str(), b.id);
    world.restart(|_| {}).await;
    assert_eq!(world.session(&moving).await.workspace_id, a.id);
}

async fn w261_w340_detaching_what_is_not_there(world: World) {
    let (a, b) = world.a_and_b().await;
    let of_b = world.create(new(&b.id)).await.id;
    let api = &world.daemon.api;
    for text in [NOBODY, "no id"] {
        let call = api.detach_session(detach(None, text));
        world.refused(Code::NotFound, "SESSION_NOT_FOUND", call).await;
    }
    let answer = world
        .unchanged_by(api.detach_session(detach(Some(&a.id), &of_b)))
        .await
        .unwrap();
    assert!(!answer.detached);
    assert_eq!(world.account(&b.id).await, [of_b]);
}

async fn s220_w266_a_new_one_is_in_front(world: World) {
    let a = world.only_a().await;
    let [s1, s2, s3] = world.create_some(&a.id).await;
    world.stop(&s2).await;
    world.daemon.api.delete_session(delete(&s2)).await.unwrap();
    let s4 = world.create(new(&a.id)).await.id;
    assert_eq!(world.account(&a.id).await, [s4.clone(), s3.clone(), s1.clone()]);
    world.daemon.api.detach_session(detach(None, &s4)).await.unwrap();
    let s5 = world.create(new(&a.id)).await.id;
    world.daemon.api.attach_session(attach(&a.id, &s4)).await.unwrap();
    assert_eq!(world.account(&a.id).await, [s4, s5, s3, s1]);
    let sql = "SELECT COUNT(*), COUNT(DISTINCT rank) FROM session";
    let counted = compozy_store::conformance::raw_rows(&world.store, sql)
        .await
        .unwrap();
    assert_eq!(counted, [["4", "4"]]);
}

async fn s222_w047_a_workspace_that_was_moved(world: World) {
    world.tell_time().await;
    world.reg_new("last").await;
    let a = world.reg_new("a").await;
    world.reg_new("first").await;
    let titled = workspace_pb::Workspace {
        title: Some("A".into()),
        ..Default::default()
    };
    world
        .daemon
        .api
        .update(update(&a.id, &["title"], titled))
        .await
        .unwrap();
    let [s1, s2] = world.create_some(&a.id).await;
    let in_sub = pb::CreateSessionRequest {
        cwd: Some(world.mkdir("a/sub")),
        ..new(&a.id)
    };
    let s3 = world.create(in_sub).await;
    for id in [&s1, &s2] {
        world.stop(id).await;
    }
    let order = world.order().await;
    std::fs::rename(&a.root_dir, world.path("a2")).unwrap();
    let answer = world
        .daemon
        .api
        .register(crate::requests::register(world.path("a2")))
        .await
        .unwrap();
    assert_eq!(answer.relinked_from.as_deref(), Some(a.root_dir.as_str()));
    let row = answer.workspace.unwrap();
    assert_eq!(
        (row.id.as_str(), row.name.as_deref(), row.title.as_deref()),
        (a.id.as_str(), Some("a"), Some("A"))
    );
    assert_eq!(
        (row.root_dir.as_str(), world.total().await),
        (world.path("a2").as_str(), 3)
    );
    assert_eq!(world.order().await, order);
    assert_eq!(
        world.account(&a.id).await,
        [s3.id.clone(), s2.clone(), s1.clone()]
    );
    let moved = world.session(&s3.id).await;
    assert_eq!((moved.cwd, moved.canonical_cwd), (s3.cwd, world.path("a2/sub")));
    assert_eq!(moved.etag, s3.etag);
    // Off the account and back: the directory is where it went with its root.
    world
        .daemon
        .api
        .detach_session(detach(None, &s3.id))
        .await
        .unwrap();
    assert_eq!(world.session(&s3.id).await.canonical_cwd, world.path("a2/sub"));
    world
        .daemon
        .api
        .attach_session(attach(&a.id, &s3.id))
        .await
        .unwrap();
    assert_eq!(world.session(&s3.id).await.canonical_cwd, world.path("a2/sub"));
}

async fn w268_counts_of_a_workspace(world: World) {
    let a = world.only_a().await;
    let ids = world.create_some::<5>(&a.id).await;
    for id in &ids[..3] {
        world.stop(id).await;
    }
    let api = &world.daemon.api;
    let counts = || async {
        let counts = world.record(&a.id).await.session_counts.unwrap();
        (counts.active_count, counts.stopped_count, counts.archived_count)
    };
    assert_eq!(counts().await, (2, 3, 0));
    api.archive_session(archive(&ids[0])).await.unwrap();
    assert_eq!(counts().await, (2, 3, 1));
    api.detach_session(detach(None, &ids[4])).await.unwrap();
    assert_eq!(counts().await, (1, 3, 1));
    api.delete_session(delete(&ids[0])).await.unwrap();
    assert_eq!(counts().await, (1, 2, 0));
    let internal = pb::CreateSessionRequest {
        r#type: pb::SessionType::Dream.into(),
        ..new(&a.id)
    };
    world.create(internal).await;
    assert_eq!(counts().await, (1, 2, 0));
}

async fn w160_unknown_workspaces(world: World) {
    let a = world.only_a().await;
    let session = world.create(new(&a.id)).await.id;
    let unknown = "ws_ffffffffffffffff";
    let api = &world.daemon.api;
    let failures = world
        .unchanged_by(async {
            [
                api.attach_session(attach(unknown, &session)).await.unwrap_err(),
                api.detach_session(detach(Some(unknown), &session))
                    .await
                    .unwrap_err(),
                api.update(update(unknown, &["title"], crate::requests::titled("x")))
                    .await
                    .unwrap_err(),
                api.move_workspace(crate::requests::moved(unknown, None))
                    .await
                    .unwrap_err(),
                api.remove(crate::requests::remove(unknown)).await.unwrap_err(),
            ]
        })
        .await;
    for failure in &failures {
        assert_eq!(
            (failure.code, failure.reason.as_str(), &failure.metadata),
            (Code::NotFound, "WORKSPACE_NOT_FOUND", &failures[0].metadata)
        );
    }
}

async fn answers_about_accounts_are_remembered(world: World) {
    let a = world.only_a().await;
    let [s1, s2] = world.create_some(&a.id).await;
    let api = &world.daemon.api;
    let ids = [
        "01J0ZK3M5N7P9Q1R3S5T7V9WX1",
        "01J0ZK3M5N7P9Q1R3S5T7V9WX2",
        "01J0ZK3M5N7P9Q1R3S5T7V9WX3",
    ];
    let moving = workspace_pb::MoveSessionRequest {
        request_id: ids[0].into(),
        ..move_before(&s1, Some(&s2))
    };
    let detaching = workspace_pb::DetachSessionRequest {
        request_id: ids[1].into(),
        ..detach(None, &s2)
    };
    let attaching = workspace_pb::AttachSessionRequest {
        request_id: ids[2].into(),
        ..attach(&a.id, &s2)
    };
    let first = (
        api.move_session(moving.clone()).await.unwrap(),
        api.detach_session(detaching.clone()).await.unwrap(),
        api.attach_session(attaching.clone()).await.unwrap(),
    );
    assert!(first.0.moved && first.1.detached && first.2.attached);
    let again = world
        .unchanged_by(async {
            (
                api.move_session(moving).await.unwrap(),
                api.detach_session(detaching).await.unwrap(),
                api.attach_session(attaching).await.unwrap(),
            )
        })
        .await;
    assert_eq!(again, first);
}

async fn w264_w265_directories_that_can_not_be_seen(world: World) {
    let (a, b) = world.a_and_b().await;
    let hidden = world.mkdir("a/closed/inner");
    let request = pb::CreateSessionRequest {
        cwd: Some(hidden),
        ..new(&a.id)
    };
    let s0 = world.create(request).await.id;
    chmod(&world.path("a/closed"), 0);
    let [s1, s2] = world.create_some(&a.id).await;
    assert_eq!(world.account(&a.id).await, [s2.clone(), s1.clone(), s0.clone()]);
    std::fs::rename(&a.root_dir, world.path("away")).unwrap();
    world
        .daemon
        .api
        .move_session(move_before(&s1, Some(&s2)))
        .await
        .unwrap();
    let elsewhere = world.create(new(&b.id)).await.id;
    assert_eq!(world.account(&a.id).await, [s1.clone(), s2.clone(), s0.clone()]);
    std::fs::rename(world.path("away"), &a.root_dir).unwrap();
    assert_eq!(world.account(&a.id).await, [s1, s2, s0]);
    assert_eq!(world.account(&b.id).await, [elsewhere]);
    chmod(&world.path("a/closed"), 0o755);
}

//! Ids, retries, references (cases sections 2 and 23).

use std::collections::HashSet;
use std::time::Duration;

use compozy_proto::session::v1 as pb;
use tonic::Code;

use crate::asked::{NOBODY, R, R2, archive, delete, get, new, rename, stop, unarchive, update};
use crate::requests::by_id;
use crate::tree::exists;
use crate::world::World;

const AA: &str = "sess-00000000000000aa";

cases! {
    s039_s040_s041_ids_of_the_callers_choice,
    s042_many_at_once_with_one_id,
    s043_s046_s047_an_answer_is_remembered_for_a_day,
    s044_many_at_once_with_one_request_id,
    s045_another_request_with_the_same_id,
    s049_request_ids,
    s050_texts_that_name_no_session,
    s051_an_id_that_nobody_has,
    s370_a_rename_is_repeated,
    s371_what_is_remembered_and_for_whom,
    s372_an_id_is_never_used_again,
    s048_a_retry_after_a_restart,
}

async fn s039_s040_s041_ids_of_the_callers_choice(world: World) {
    let (a, b) = world.a_and_b().await;
    let with = |id: &str| pb::CreateSessionRequest {
        id: id.to_owned(),
        ..new(&a.id)
    };
    assert_eq!(world.create(with(AA)).await.id, AA);
    let other = pb::CreateSessionRequest {
        workspace: by_id(&b.id),
        name: "other".into(),
        ..with(AA)
    };
    for request in [with(AA), other] {
        let call = world.daemon.api.create_session(request);
        world
            .refused(Code::AlreadyExists, "SESSION_ID_CONFLICT", call)
            .await;
    }
    for id in [
        "sess-00000000000000AA",
        "sess-00000000000000a",
        "sess-00000000000000aaa",
        "sess_00000000000000aa",
        "sess-../../../x000",
        "sess-00000000000000a/",
    ] {
        world.field_refused("id", with(id)).await;
    }
    assert!(!exists(&format!("{}/sessions", world.home)));
}

async fn s042_many_at_once_with_one_id(world: World) {
    let a = world.only_a().await;
    let mut calls = tokio::task::JoinSet::new();
    for number in 0..32 {
        let api = world.daemon.api.clone();
        let request = pb::CreateSessionRequest {
            id: AA.into(),
            name: format!("n{number}"),
            ..new(&a.id)
        };
        calls.spawn(async move { api.create_session(request).await });
    }
    let mut won = Vec::new();
    while let Some(outcome) = calls.join_next().await {
        match outcome.unwrap() {
            Ok(answer) => won.push(answer.session.unwrap()),
            Err(failure) => assert_eq!(failure.reason, "SESSION_ID_CONFLICT", "{failure:?}"),
        }
    }
    assert_eq!(won.len(), 1);
    assert_eq!(world.session(AA).await, won[0]);
    assert_eq!(world.total_of(pb::SessionFilter::default()).await, 1);
}

async fn s043_s046_s047_an_answer_is_remembered_for_a_day(world: World) {
    let a = world.only_a().await;
    let request = pb::CreateSessionRequest {
        request_id: R.into(),
        ..new(&a.id)
    };
    let before = world.changes().await.len();
    let first = world.daemon.api.create_session(request.clone()).await.unwrap();
    let again = world
        .unchanged_by(world.daemon.api.create_session(request.clone()))
        .await;
    assert_eq!(again.unwrap(), first);
    assert_eq!(world.session_changes_since(before).await.len(), 1);
    let id = first.session.as_ref().unwrap().id.clone();
    world.stop(&id).await;
    world.daemon.api.rename_session(rename(&id, "x")).await.unwrap();
    world.advance(Duration::from_secs(23 * 3_600 + 59 * 60)).await;
    let again = world
        .unchanged_by(world.daemon.api.create_session(request.clone()))
        .await;
    assert_eq!(again.unwrap(), first);
    world.advance(Duration::from_secs(61)).await;
    let later = world.daemon.api.create_session(request).await.unwrap();
    assert_ne!(later.session.unwrap().id, id);
}

async fn s044_many_at_once_with_one_request_id(world: World) {
    let a = world.only_a().await;
    let request = pb::CreateSessionRequest {
        request_id: R.into(),
        ..new(&a.id)
    };
    let mut calls = tokio::task::JoinSet::new();
    for _ in 0..32 {
        let (api, request) = (world.daemon.api.clone(), request.clone());
        calls.spawn(async move { api.create_session(request).await.unwrap() });
    }
    let mut answers = Vec::new();
    while let Some(answer) = calls.join_next().await {
        answers.push(answer.unwrap());
    }
    assert!(answers.iter().all(|answer| *answer == answers[0]));
    assert_eq!(world.total_of(pb::SessionFilter::default()).await, 1);
}

async fn s045_another_request_with_the_same_id(world: World) {
    let (a, b) = world.a_and_b().await;
    let request = pb::CreateSessionRequest {
        request_id: R.into(),
        ..new(&a.id)
    };
    world.create(request.clone()).await;
    for other in [
        pb::CreateSessionRequest {
            agent: Some("other".into()),
            ..request.clone()
        },
        pb::CreateSessionRequest {
            workspace: by_id(&b.id),
            ..request
        },
    ] {
        let call = world.daemon.api.create_session(other);
        world
            .refused(Code::InvalidArgument, "REQUEST_ID_REUSED", call)
            .await;
    }
}

async fn s049_request_ids(world: World) {
    let a = world.only_a().await;
    let with = |id: &str| pb::CreateSessionRequest {
        request_id: id.to_owned(),
        ..new(&a.id)
    };
    world.create(with(R)).await;
    world.create(with(R2)).await;
    world.field_refused("request_id", with("abc")).await;
}

async fn s050_texts_that_name_no_session(world: World) {
    world.only_a().await;
    for text in ["", "sess-zz", "../x", "/etc/passwd", "a\0b", &"x".repeat(10_000)] {
        let call = world.daemon.api.get_session(get(text));
        let failure = world.refused(Code::NotFound, "SESSION_NOT_FOUND", call).await;
        assert!(failure.names_resource, "{failure:?}");
        let api = &world.daemon.api;
        for failure in [
            api.rename_session(rename(text, "x")).await.unwrap_err(),
            api.stop_session(stop(text, pb::StopCause::User))
                .await
                .unwrap_err(),
            api.delete_session(delete(text)).await.unwrap_err(),
        ] {
            assert_eq!(failure.reason, "SESSION_NOT_FOUND");
        }
    }
}

async fn s051_an_id_that_nobody_has(world: World) {
    let a = world.only_a().await;
    let api = &world.daemon.api;
    let labels = pb::Session {
        permission_mode: pb::PermissionMode::DenyAll.into(),
        ..Default::default()
    };
    let health = pb::GetSessionHealthRequest {
        session_id: NOBODY.into(),
    };
    let inspect = pb::InspectSessionRequest {
        session_id: NOBODY.into(),
    };
    let seen = pb::MarkSessionSeenRequest {
        session_id: NOBODY.into(),
        request_id: String::new(),
    };
    let enter = pb::AcquireAttachLeaseRequest {
        session_id: NOBODY.into(),
        holder: "h1".into(),
        ..Default::default()
    };
    let failures = world
        .unchanged_by(async {
            [
                api.get_session(get(NOBODY)).await.unwrap_err(),
                api.bind_runtime(crate::asked::bind(NOBODY, "h1", 30))
                    .await
                    .unwrap_err(),
                api.stop_session(stop(NOBODY, pb::StopCause::User))
                    .await
                    .unwrap_err(),
                api.resume_session(crate::asked::resume(NOBODY))
                    .await
                    .unwrap_err(),
                api.rename_session(rename(NOBODY, "x")).await.unwrap_err(),
                api.update_session(update(NOBODY, &[], labels)).await.unwrap_err(),
                api.archive_session(archive(NOBODY)).await.unwrap_err(),
                api.unarchive_session(unarchive(NOBODY)).await.unwrap_err(),
                api.delete_session(delete(NOBODY)).await.unwrap_err(),
                api.acquire_attach_lease(enter).await.unwrap_err(),
                api.get_session_health(health).await.unwrap_err(),
                api.inspect_session(inspect).await.unwrap_err(),
                api.mark_session_seen(seen).await.unwrap_err(),
                api.detach_session(crate::accounts::detach(None, NOBODY))
                    .await
                    .unwrap_err(),
                api.attach_session(crate::accounts::attach(&a.id, NOBODY))
                    .await
                    .unwrap_err(),
                api.move_session(crate::accounts::move_before(NOBODY, None))
                    .await
                    .unwrap_err(),
            ]
        })
        .await;
    for failure in failures {
        assert_eq!(
            (failure.code, failure.reason.as_str(), failure.names_resource),
            (Code::NotFound, "SESSION_NOT_FOUND", true),
            "{failure:?}"
        );
        assert_eq!(failure.metadata["id"], NOBODY);
    }
}

async fn s370_a_rename_is_repeated(world: World) {
    let a = world.only_a().await;
    let id = world.create(new(&a.id)).await.id;
    let request = pb::RenameSessionRequest {
        request_id: R.into(),
        ..rename(&id, "x")
    };
    let first = world.daemon.api.rename_session(request.clone()).await.unwrap();
    world.daemon.api.rename_session(rename(&id, "y")).await.unwrap();
    let again = world.unchanged_by(world.daemon.api.rename_session(request)).await;
    assert_eq!(again.unwrap(), first);
    assert_eq!(first.session.unwrap().name, "x");
    assert_eq!(world.session(&id).await.name, "y");
}

async fn s371_what_is_remembered_and_for_whom(world: World) {
    let a = world.only_a().await;
    let with = |agent: &str| pb::CreateSessionRequest {
        request_id: R.into(),
        agent: Some(agent.to_owned()),
        ..new(&a.id)
    };
    // A failure is not remembered.
    world.field_refused("agent", with(" ")).await;
    let first = world.create(with("general")).await;
    // Another principal's is another request.
    let roots = vec![world.t.clone()];
    let open = world.start(|parts| parts.settings.allowed_roots = roots).await;
    let other = open
        .api
        .seen_by("ci")
        .create_session(with("general"))
        .await
        .unwrap();
    assert_ne!(other.session.unwrap().id, first.id);
    // Another method's, too.
    let id = world.create(new(&a.id)).await.id;
    world.stop(&id).await;
    let renamed = pb::RenameSessionRequest {
        request_id: R2.into(),
        ..rename(&id, "x")
    };
    world.daemon.api.rename_session(renamed).await.unwrap();
    let archived = pb::ArchiveSessionRequest {
        request_id: R2.into(),
        ..archive(&id)
    };
    let archived = world
        .daemon
        .api
        .archive_session(archived)
        .await
        .unwrap()
        .session
        .unwrap();
    assert!(archived.archived_at.is_some() && archived.name == "x");
    // The order of labels means nothing.
    let labels = |keys: [&str; 3]| pb::CreateSessionRequest {
        request_id: "01J0ZK3M5N7P9Q1R3S5T7V9WX0".into(),
        labels: keys
            .iter()
            .map(|key| ((*key).to_owned(), "v".to_owned()))
            .collect(),
        ..new(&a.id)
    };
    let first = world.create(labels(["x", "y", "z"])).await;
    assert_eq!(world.create(labels(["z", "x", "y"])).await, first);
}

async fn s372_an_id_is_never_used_again(world: World) {
    let a = world.only_a().await;
    let id = world.create(new(&a.id)).await.id;
    world.stop(&id).await;
    world.daemon.api.delete_session(delete(&id)).await.unwrap();
    let again = pb::CreateSessionRequest {
        id: id.clone(),
        ..new(&a.id)
    };
    for days in [0, 366] {
        world.advance(Duration::from_secs(days * 86_400)).await;
        let daemon = world.start(|_| {}).await;
        for api in [&world.daemon.api, &daemon.api] {
            let call = api.create_session(again.clone());
            world
                .refused(Code::AlreadyExists, "SESSION_ID_CONFLICT", call)
                .await;
        }
    }
    let mut ids = HashSet::from([id]);
    for _ in 0..20 {
        assert!(ids.insert(world.create(new(&a.id)).await.id));
    }
}

async fn s048_a_retry_after_a_restart(mut world: World) {
    let a = world.only_a().await;
    let request = pb::CreateSessionRequest {
        request_id: R.into(),
        ..new(&a.id)
    };
    let first = world.daemon.api.create_session(request.clone()).await.unwrap();
    world.restart(|_| {}).await;
    let again = world.unchanged_by(world.daemon.api.create_session(request)).await;
    assert_eq!(again.unwrap(), first);
}

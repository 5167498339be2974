//! Callers, deadlines, errors (cases section 19).

use compozy_domain::WorkspaceId;
use compozy_proto::session::v1 as pb;
use tonic::Code;

use crate::accounts::{attach, detach, move_before};
use crate::asked::{
    NOBODY, archive, delete, get, list, new, new_at, rename, stop, unarchive, ungrouped, update,
};
use crate::client::Failure;
use crate::daemon::Daemon;
use crate::world::World;

cases! {
    s329_scopes_come_first,
    s330_s381_what_is_outside_does_not_exist,
    a_limited_caller_makes_nothing_that_it_could_not_see,
    s331_paths_outside_the_allowed_roots,
    s334_deadlines_leave_nothing_by_halves,
    daemons_that_look_at_no_disk_or_another_one,
    s339_s340_every_failure_says_what_to_do,
}

async fn s329_scopes_come_first(world: World) {
    let a = world.only_a().await;
    let id = world.create(new(&a.id)).await.id;
    let api = world.daemon.api.seen_by("reader");
    let mut failures = Vec::new();
    for id in [id.as_str(), NOBODY, "no id"] {
        let answers = world
            .unchanged_by(async {
                [
                    api.stop_session(stop(id, pb::StopCause::User)).await.unwrap_err(),
                    api.rename_session(rename(id, "")).await.unwrap_err(),
                    api.update_session(update(id, &["colour"], pb::Session::default()))
                        .await
                        .unwrap_err(),
                    api.archive_session(archive(id)).await.unwrap_err(),
                    api.unarchive_session(unarchive(id)).await.unwrap_err(),
                    api.delete_session(delete(id)).await.unwrap_err(),
                    api.attach_session(attach("", id)).await.unwrap_err(),
                    api.detach_session(detach(None, id)).await.unwrap_err(),
                    api.move_session(move_before(id, None)).await.unwrap_err(),
                    api.create_session(new_at("relative")).await.unwrap_err(),
                ]
            })
            .await;
        failures.push(answers.map(|failure| (failure.code, failure.reason, failure.message)));
    }
    assert!(failures.iter().all(|answers| *answers == failures[0]));
    for (code, reason, _) in &failures[0] {
        assert_eq!((*code, reason.as_str()), (Code::PermissionDenied, "SCOPE_DENIED"));
    }
    let failure = world
        .daemon
        .api
        .seen_by("writer")
        .get_session(get(&id))
        .await
        .unwrap_err();
    assert_eq!(
        (failure.reason.as_str(), failure.metadata["scope"].as_str()),
        ("SCOPE_DENIED", "read")
    );
    api.get_session(get(&id)).await.unwrap();
}

async fn s330_s381_what_is_outside_does_not_exist(world: World) {
    let (a, b) = (world.only_a().await, world.reg_new("quux").await);
    let of_a = world.create(new(&a.id)).await;
    let of_b = world.create(new(&b.id)).await.id;
    let outside = world.create(ungrouped(&a.root_dir)).await.id;
    let daemon = limited(&world, &a.id).await;
    let api = daemon.api.seen_by("limited");
    let seen = api.get_session(get(&of_a.id)).await.unwrap().session.unwrap();
    assert_eq!(seen, of_a);
    let answers = |id: String| {
        let (api, a, of_a) = (api.clone(), a.id.clone(), of_a.id.clone());
        async move {
            let labels = pb::Session {
                permission_mode: pb::PermissionMode::DenyAll.into(),
                ..Default::default()
            };
            [
                api.get_session(get(&id)).await.unwrap_err(),
                api.stop_session(stop(&id, pb::StopCause::User))
                    .await
                    .unwrap_err(),
                api.rename_session(rename(&id, "x")).await.unwrap_err(),
                api.update_session(update(&id, &[], labels)).await.unwrap_err(),
                api.archive_session(archive(&id)).await.unwrap_err(),
                api.unarchive_session(unarchive(&id)).await.unwrap_err(),
                api.delete_session(delete(&id)).await.unwrap_err(),
                api.attach_session(attach(&a, &id)).await.unwrap_err(),
                api.detach_session(detach(None, &id)).await.unwrap_err(),
                api.move_session(move_before(&id, None)).await.unwrap_err(),
                api.move_session(move_before(&of_a, Some(&id))).await.unwrap_err(),
                api.inspect_session(pb::InspectSessionRequest {
                    session_id: id.clone(),
                })
                .await
                .unwrap_err(),
                api.acquire_attach_lease(pb::AcquireAttachLeaseRequest {
                    session_id: id,
                    holder: "h1".into(),
                    ..Default::default()
                })
                .await
                .unwrap_err(),
            ]
        }
    };
    world
        .unchanged_by(async {
            let never = answers(NOBODY.to_owned()).await;
            for invisible in [&of_b, &outside] {
                let told_of_it = answers(invisible.clone()).await;
                for (one, other) in told_of_it.iter().zip(&never) {
                    assert_eq!(told(one, invisible), told(other, NOBODY));
                    assert_eq!(
                        (one.code, one.reason.as_str()),
                        (Code::NotFound, "SESSION_NOT_FOUND")
                    );
                }
            }
            let allowed = pb::DeleteSessionRequest {
                allow_missing: true,
                force: true,
                ..delete(&of_b)
            };
            assert_eq!(api.delete_session(allowed).await.unwrap().id, "");
        })
        .await;
    let named = pb::SessionFilter {
        query: "quux".into(),
        ..Default::default()
    };
    let nowhere = pb::SessionFilter {
        ungrouped: true,
        ..Default::default()
    };
    let below = pb::SessionFilter {
        parent: of_b.clone(),
        ..Default::default()
    };
    let all = pb::SessionFilter::default();
    for (filter, ids) in [
        (all, vec![of_a.id.clone()]),
        (named, vec![]),
        (nowhere, vec![]),
        (below, vec![]),
    ] {
        let page = api.list_sessions(list(filter.clone())).await.unwrap();
        assert_eq!(
            page.page.unwrap().total,
            i64::try_from(ids.len()).unwrap(),
            "{filter:?}"
        );
        assert_eq!(
            page.sessions.into_iter().map(|row| row.id).collect::<Vec<_>>(),
            ids
        );
        let counted = api
            .count_sessions(pb::CountSessionsRequest { filter: Some(filter) })
            .await
            .unwrap();
        assert_eq!(counted.total, i64::try_from(ids.len()).unwrap());
    }
    // A parent that the caller can't see is only a label.
    let child = pb::CreateSessionRequest {
        parent_session_id: of_b.clone(),
        ..new(&a.id)
    };
    let child = api.create_session(child).await.unwrap().session.unwrap();
    assert_eq!(child.lineage.unwrap().root_session_id, of_b);
}

async fn a_limited_caller_makes_nothing_that_it_could_not_see(world: World) {
    let (a, b) = world.a_and_b().await;
    let fresh = world.mkdir("fresh");
    let daemon = limited(&world, &a.id).await;
    let api = daemon.api.seen_by("limited");
    for request in [ungrouped(&a.root_dir), new_at(&fresh), new_at(&b.root_dir)] {
        let call = api.create_session(request);
        world.refused(Code::PermissionDenied, "SCOPE_DENIED", call).await;
    }
    let call = api.create_session(new(&b.id));
    world.refused(Code::NotFound, "WORKSPACE_NOT_FOUND", call).await;
    let session = api.create_session(new(&a.id)).await.unwrap().session.unwrap();
    assert_eq!(session.start.unwrap().by, "limited");
    // Nor does an id that only others see come free.
    let of_b = world.create(new(&b.id)).await.id;
    let taken = pb::CreateSessionRequest {
        id: of_b,
        ..new(&a.id)
    };
    let call = api.create_session(taken);
    world
        .refused(Code::AlreadyExists, "SESSION_ID_CONFLICT", call)
        .await;
}

async fn s331_paths_outside_the_allowed_roots(world: World) {
    let a = world.only_a().await;
    let ok = world.reg_new("ok").await;
    let link = world.link(&a.root_dir, "ok/out");
    let roots = vec![ok.root_dir.clone()];
    let daemon = world.start(|parts| parts.settings.allowed_roots = roots).await;
    let api = daemon.api.seen_by("token");
    let with = |cwd: &str| pb::CreateSessionRequest {
        cwd: Some(cwd.to_owned()),
        ..new(&ok.id)
    };
    let missing = world.path("missing");
    let mut answers = Vec::new();
    for path in [a.root_dir.as_str(), &link, &missing, &format!("{link}/missing")] {
        for request in [with(path), ungrouped(path), new_at(path)] {
            let call = api.create_session(request);
            let failure = world
                .refused(Code::PermissionDenied, "PATH_NOT_ALLOWED", call)
                .await;
            answers.push(failure.message.replace(path, "PATH"));
        }
    }
    answers.dedup();
    assert_eq!(answers.len(), 1, "{answers:?}");
    let call = api.create_session(new(&a.id));
    world
        .refused(Code::PermissionDenied, "PATH_NOT_ALLOWED", call)
        .await;
    assert_eq!(
        api.create_session(with(&ok.root_dir))
            .await
            .unwrap()
            .session
            .unwrap()
            .workspace_id,
        ok.id
    );
}

async fn s334_deadlines_leave_nothing_by_halves(world: World) {
    let a = world.only_a().await;
    let before = world.changes().await.len();
    let mut created = 0;
    for round in 0..100 {
        let request = pb::CreateSessionRequest {
            labels: [("round".to_owned(), round.to_string())].into_iter().collect(),
            ..new(&a.id)
        };
        match world.daemon.api.within(round % 8).create_session(request).await {
            Ok(_) => created += 1,
            Err(failure) => assert_eq!(failure.reason, "DEADLINE_EXCEEDED", "{failure:?}"),
        }
    }
    // What was late may still have been written, each one wholly.
    world.daemon.tasks.stop();
    assert!(world.daemon.tasks.join(std::time::Duration::from_secs(20)).await);
    let total = world.total_of(pb::SessionFilter::default()).await;
    assert!(total >= created, "{total} {created}");
    let account = world.account(&a.id).await;
    let counted = world.record(&a.id).await.session_counts.unwrap().active_count;
    let changes = world.session_changes_since(before).await;
    assert_eq!(
        (account.len(), counted, changes.len()),
        (total.try_into().unwrap(), total, account.len())
    );
    for id in account {
        assert_eq!(world.session(&id).await.labels.len(), 1);
    }
}

async fn daemons_that_look_at_no_disk_or_another_one(world: World) {
    let a = world.only_a().await;
    let id = world.create(new(&a.id)).await.id;
    let alone = world.create(ungrouped(&a.root_dir)).await.id;
    for (host, reason, of_path) in [
        ("none", "HOST_NOT_SERVED", "HOST_NOT_SERVED"),
        ("h2", "WORKSPACE_ON_OTHER_HOST", "WORKSPACE_ON_OTHER_HOST"),
    ] {
        let daemon = world
            .start(|parts| parts.host = compozy_domain::HostId::parse(host).unwrap())
            .await;
        let api = &daemon.api;
        for failure in world
            .unchanged_by(async {
                [
                    api.create_session(new(&a.id)).await.unwrap_err(),
                    api.attach_session(attach(&a.id, &alone)).await.unwrap_err(),
                ]
            })
            .await
        {
            assert_eq!(
                (failure.code, failure.reason.as_str()),
                (Code::FailedPrecondition, reason)
            );
        }
        if host == "none" {
            for request in [ungrouped(&a.root_dir), new_at(&a.root_dir)] {
                let failure = world.unchanged_by(api.create_session(request)).await.unwrap_err();
                assert_eq!(failure.reason, of_path);
            }
        }
        // What needs no disk goes on.
        api.rename_session(rename(&id, host)).await.unwrap();
        assert_eq!(
            api.get_session(get(&id)).await.unwrap().session.unwrap().name,
            host
        );
        assert!(!api.attach_session(attach(&a.id, &id)).await.unwrap().attached);
        api.detach_session(detach(Some(&a.id), &id)).await.unwrap();
        world.daemon.api.attach_session(attach(&a.id, &id)).await.unwrap();
    }
}

async fn s339_s340_every_failure_says_what_to_do(world: World) {
    let (a, b) = world.a_and_b().await;
    let id = world.create(new(&a.id)).await.id;
    let archived = world.create(new(&a.id)).await.id;
    world.stop(&archived).await;
    world
        .daemon
        .api
        .archive_session(archive(&archived))
        .await
        .unwrap();
    let alone = world.create(ungrouped(&b.root_dir)).await.id;
    let etag = pb::RenameSessionRequest {
        etag: "old".into(),
        ..rename(&id, "x")
    };
    let taken = pb::CreateSessionRequest {
        id: id.clone(),
        ..new(&a.id)
    };
    let api = &world.daemon.api;
    // The client looks at each of them: one ErrorInfo of ours, one sentence, one status for one reason.
    let failures = [
        api.get_session(get(NOBODY)).await.unwrap_err(),
        api.create_session(taken).await.unwrap_err(),
        api.create_session(new("ws_ffffffffffffffff")).await.unwrap_err(),
        api.create_session(new_at(world.path("none"))).await.unwrap_err(),
        api.rename_session(rename(&id, "")).await.unwrap_err(),
        api.rename_session(etag).await.unwrap_err(),
        api.archive_session(archive(&id)).await.unwrap_err(),
        api.delete_session(delete(&id)).await.unwrap_err(),
        api.resume_session(crate::asked::resume(&archived))
            .await
            .unwrap_err(),
        api.attach_session(attach(&a.id, &alone)).await.unwrap_err(),
        api.move_session(move_before(&alone, None)).await.unwrap_err(),
        api.remove(crate::requests::remove(&a.id)).await.unwrap_err(),
        api.heartbeat(crate::asked::beat("lease_x")).await.unwrap_err(),
    ];
    let reasons: Vec<_> = failures.iter().map(|failure| failure.reason.as_str()).collect();
    assert_eq!(
        reasons,
        [
            "SESSION_NOT_FOUND",
            "SESSION_ID_CONFLICT",
            "WORKSPACE_NOT_FOUND",
            "PATH_NOT_FOUND",
            "INVALID_FIELD",
            "ETAG_MISMATCH",
            "SESSION_STATE_CONFLICT",
            "SESSION_STATE_CONFLICT",
            "SESSION_ARCHIVED",
            "SESSION_CWD_MISMATCH",
            "WORKSPACE_MOVE_INVALID",
            "WORKSPACE_HAS_LIVE_SESSIONS",
            "LEASE_LOST",
        ]
    );
    for failure in &failures {
        // What to do stands behind a colon.
        let (_, remedy) = failure.message.split_once(": ").unwrap_or_default();
        assert!(
            failure.code == Code::InvalidArgument || !remedy.is_empty(),
            "{failure:?}"
        );
    }
    let state = failures
        .iter()
        .find(|failure| failure.reason == "SESSION_STATE_CONFLICT")
        .unwrap();
    assert_eq!(
        (
            state.metadata["state"].as_str(),
            state.preconditions[0].1.as_str()
        ),
        ("active", id.as_str())
    );
}

/// A daemon at which `limited` sees one workspace, and may name every path.
async fn limited(world: &World, id: &str) -> Daemon {
    let visible = [WorkspaceId::parse(id).unwrap()];
    let roots = vec![world.t.clone()];
    world
        .start_for(&visible, |parts| parts.settings.allowed_roots = roots)
        .await
}

/// All that a failure tells, without the id that the caller gave itself.
fn told(failure: &Failure, id: &str) -> (Code, String, String, Vec<(String, String)>) {
    let mut metadata: Vec<_> = failure
        .metadata
        .iter()
        .map(|(key, value)| (key.clone(), value.replace(id, "ID")))
        .collect();
    metadata.sort();
    (
        failure.code,
        failure.reason.clone(),
        failure.message.replace(id, "ID"),
        metadata,
    )
}

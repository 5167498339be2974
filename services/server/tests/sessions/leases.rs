//! Runtime leases: who gets one, for how long, and who learns their tokens.

use std::time::Duration;

use compozy_proto::session::v1 as pb;
use compozy_store::conformance::raw_rows;
use tokio::task::JoinSet;
use tonic::Code;

use crate::asked::{NOBODY, R, R2, beat, bind, finish, get, list, new, resume, seconds};
use crate::leases_place::{LOST, at_once, entering};
use crate::place::told;
use crate::world::World;

cases! {
    s064_a_lease_is_given_to_its_holder_alone,
    s065_a_token_is_told_to_nobody_else_and_stored_nowhere,
    s066_a_lease_without_a_ttl_lasts_as_the_configuration_says,
    s067_a_ttl_is_one_second_to_one_hour,
    s068_a_holder_is_a_name_that_can_be_shown,
    s069_a_live_lease_is_nobody_elses,
    s070_a_lapsed_lease_is_anybodys,
    s071_of_many_holders_at_once_one_gets_the_lease,
    s072_two_servers_give_one_lease,
    s073_s074_what_is_over_or_archived_is_not_bound,
    s085_a_session_that_was_deleted_has_no_lease,
    s086_a_call_whose_client_has_gone_gives_a_lease_or_none,
    s329_reading_is_not_enough_for_any_method_of_leases,
    s358_a_session_is_created_with_its_runtime_bound,
    s359_a_repeated_creation_has_no_token_and_the_holder_binds_again,
    s360_the_cause_of_a_start_is_kept_with_the_callers_name,
    a_repeated_bind_answers_its_lease_without_the_token,
    a_holder_that_binds_again_gets_a_new_generation,
}

async fn s064_a_lease_is_given_to_its_holder_alone(world: World) {
    let a = world.only_a().await;
    let session = world.create(new(&a.id)).await;
    world.advance(Duration::from_secs(1)).await;
    let before = world.head().await;
    let answer = world
        .daemon
        .api
        .bind_runtime(bind(&session.id, "h1", 30))
        .await
        .unwrap();
    let lease = answer.lease.unwrap();
    let digits = lease.token.strip_prefix("lease_").unwrap();
    assert!(compozy_domain::id::is_ulid(digits), "a ULID");
    assert_eq!((lease.holder.as_str(), lease.generation), ("h1", 1));
    assert_eq!(lease.expires_at, Some(world.now_plus(30)));
    let bound = world.session(&session.id).await;
    assert_eq!(answer.session.unwrap(), bound);
    let runtime = bound.runtime.as_ref().unwrap();
    assert_eq!(runtime.state(), pb::RuntimeState::Bound);
    assert_eq!((runtime.holder.as_str(), runtime.generation), ("h1", 1));
    assert_eq!(runtime.expires_at, Some(world.now_plus(30)));
    assert_eq!((bound.updated_at, bound.etag), (session.updated_at, session.etag));
    let entries = world.session_changes_since(before).await;
    assert_eq!(entries.len(), 1, "one change");
    assert_eq!(told(&entries[0]), "upserted health");
}

async fn s065_a_token_is_told_to_nobody_else_and_stored_nowhere(world: World) {
    let a = world.only_a().await;
    let session = world.create(new(&a.id)).await;
    let request = pb::BindRuntimeRequest {
        request_id: R.to_owned(),
        ..bind(&session.id, "h1", 30)
    };
    let lease = world
        .daemon
        .api
        .bind_runtime(request)
        .await
        .unwrap()
        .lease
        .unwrap();
    world.beat(&lease.token).await.unwrap();
    let api = &world.daemon.api;
    let inspect = pb::InspectSessionRequest {
        session_id: session.id.clone(),
    };
    let mut shown = vec![
        format!("{:?}", api.get_session(get(&session.id)).await.unwrap()),
        format!(
            "{:?}",
            api.list_sessions(list(pb::SessionFilter::default()))
                .await
                .unwrap()
        ),
        format!("{:?}", world.health(&session.id).await),
        format!("{:?}", api.inspect_session(inspect).await.unwrap()),
        format!("{:?}", world.changes().await),
    ];
    for table in ["session", "session_live", "session_transition", "request"] {
        let rows = raw_rows(&world.store, &format!("SELECT * FROM {table}"))
            .await
            .unwrap();
        assert!(!rows.is_empty(), "{table}");
        shown.push(format!("{rows:?}"));
    }
    let digits = lease.token.strip_prefix("lease_").unwrap();
    let bytes: Vec<String> = digits.bytes().map(|byte| format!("{byte:02x}")).collect();
    for text in shown {
        assert!(!text.contains(digits), "{text}");
        assert!(!text.to_lowercase().contains(&bytes.concat()), "{text}");
    }
}

async fn s066_a_lease_without_a_ttl_lasts_as_the_configuration_says(mut world: World) {
    let a = world.only_a().await;
    let session = world.create(new(&a.id)).await;
    let mut request = bind(&session.id, "h1", 0);
    request.binding.as_mut().unwrap().ttl = None;
    let answer = world.daemon.api.bind_runtime(request.clone()).await.unwrap();
    assert_eq!(answer.lease.unwrap().expires_at, Some(world.now_plus(30)));
    world
        .restart(|parts| parts.settings.sessions.runtime_ttl = Duration::from_secs(5))
        .await;
    let answer = world.daemon.api.bind_runtime(request).await.unwrap();
    assert_eq!(answer.lease.unwrap().expires_at, Some(world.now_plus(5)));
}

async fn s067_a_ttl_is_one_second_to_one_hour(world: World) {
    let a = world.only_a().await;
    let session = world.create(new(&a.id)).await;
    for (seconds, nanos) in [
        (0, 0),
        (0, 999_000_000),
        (-1, 0),
        (0, -1),
        (3_600, 1),
        (1, 1_000_000_000),
        (1_i64 << 62, 0),
        (i64::MAX, i32::MAX),
        (i64::MIN, i32::MIN),
    ] {
        let ttl = Some(prost_types::Duration { seconds, nanos });
        let mut request = bind(&session.id, "h1", 0);
        request.binding.as_mut().unwrap().ttl = ttl;
        let refused = world
            .refused(
                Code::InvalidArgument,
                "INVALID_FIELD",
                world.daemon.api.bind_runtime(request),
            )
            .await;
        assert_eq!(refused.fields, ["ttl"], "{seconds} s and {nanos} ns");
    }
    for ttl in [1, 3_600] {
        let answer = world
            .daemon
            .api
            .bind_runtime(bind(&session.id, "h1", ttl))
            .await
            .unwrap();
        assert_eq!(answer.lease.unwrap().expires_at, Some(world.now_plus(ttl)));
    }
}

async fn s068_a_holder_is_a_name_that_can_be_shown(world: World) {
    let a = world.only_a().await;
    let session = world.create(new(&a.id)).await;
    let long = "h".repeat(257);
    for holder in ["", "a\u{1b}b", "a\u{0}b", long.as_str()] {
        let request = bind(&session.id, holder, 30);
        let refused = world
            .refused(
                Code::InvalidArgument,
                "INVALID_FIELD",
                world.daemon.api.bind_runtime(request),
            )
            .await;
        assert_eq!(refused.fields, ["holder"]);
    }
    let without = pb::BindRuntimeRequest {
        binding: None,
        ..bind(&session.id, "h1", 30)
    };
    let refused = world
        .refused(
            Code::InvalidArgument,
            "INVALID_FIELD",
            world.daemon.api.bind_runtime(without),
        )
        .await;
    assert_eq!(refused.fields, ["holder"]);
}

async fn s069_a_live_lease_is_nobody_elses(world: World) {
    let a = world.only_a().await;
    let session = world.create(new(&a.id)).await;
    world.bind(&session.id, "h1").await;
    let before = world.session(&session.id).await;
    world.pass(Duration::new(29, 999_999_999)).await;
    let request = bind(&session.id, "h2", 30);
    let refused = world
        .refused(
            Code::Aborted,
            "LEASE_HELD",
            world.daemon.api.bind_runtime(request),
        )
        .await;
    assert!(refused.message.contains("h1"), "{}", refused.message);
    assert_eq!(world.session(&session.id).await.runtime, before.runtime);
}

async fn s070_a_lapsed_lease_is_anybodys(world: World) {
    let a = world.only_a().await;
    for beyond in [Duration::ZERO, Duration::from_nanos(1)] {
        let session = world.create(new(&a.id)).await;
        let first = world.bind(&session.id, "h1").await;
        world.pass(Duration::from_secs(30) + beyond).await;
        let second = world.bind(&session.id, "h2").await;
        assert_eq!((second.generation, second.holder.as_str()), (2, "h2"));
        let refused = world.refused(Code::Aborted, LOST, world.beat(&first.token)).await;
        assert!(!refused.message.contains(&first.token));
    }
}

async fn s071_of_many_holders_at_once_one_gets_the_lease(world: World) {
    let a = world.only_a().await;
    let session = world.create(new(&a.id)).await;
    let outcomes = at_once(32, |number| {
        let (api, id) = (world.daemon.api.clone(), session.id.clone());
        async move { api.bind_runtime(bind(&id, &format!("h{number}"), 30)).await }
    })
    .await;
    let (given, refused): (Vec<_>, Vec<_>) = outcomes.into_iter().partition(Result::is_ok);
    assert_eq!(given.len(), 1);
    assert_eq!(given[0].as_ref().unwrap().lease.as_ref().unwrap().generation, 1);
    assert!(
        refused
            .iter()
            .all(|outcome| outcome.as_ref().unwrap_err().reason == "LEASE_HELD")
    );
    assert_eq!(world.session(&session.id).await.runtime.unwrap().generation, 1);
}

async fn s072_two_servers_give_one_lease(world: World) {
    if !world.is_postgres() {
        return;
    }
    let a = world.only_a().await;
    let session = world.create(new(&a.id)).await;
    let other = world.second_daemon().await;
    let outcomes = at_once(32, |number| {
        let daemon = if number % 2 == 0 { &world.daemon } else { &other };
        let (api, id) = (daemon.api.clone(), session.id.clone());
        async move { api.bind_runtime(bind(&id, &format!("h{number}"), 30)).await }
    })
    .await;
    let given = outcomes.iter().filter(|outcome| outcome.is_ok()).count();
    assert_eq!(given, 1);
    assert_eq!(world.session(&session.id).await.runtime.unwrap().generation, 1);
}

async fn s073_s074_what_is_over_or_archived_is_not_bound(world: World) {
    let a = world.only_a().await;
    let session = world.create(new(&a.id)).await;
    world.stop(&session.id).await;
    let request = bind(&session.id, "h1", 30);
    let refused = world
        .refused(
            Code::FailedPrecondition,
            "SESSION_STATE_CONFLICT",
            world.daemon.api.bind_runtime(request.clone()),
        )
        .await;
    assert!(refused.message.contains("stopped"), "{}", refused.message);
    world.archive(&session.id).await;
    world
        .refused(
            Code::FailedPrecondition,
            "SESSION_ARCHIVED",
            world.daemon.api.bind_runtime(request),
        )
        .await;
}

async fn s085_a_session_that_was_deleted_has_no_lease(world: World) {
    let a = world.only_a().await;
    let session = world.create(new(&a.id)).await;
    let lease = world.bind(&session.id, "h1").await;
    let delete = pb::DeleteSessionRequest {
        force: true,
        ..crate::asked::delete(&session.id)
    };
    world.daemon.api.delete_session(delete).await.unwrap();
    let api = &world.daemon.api;
    world
        .refused(Code::Aborted, LOST, api.heartbeat(beat(&lease.token)))
        .await;
    let last_word = finish(&lease.token, pb::StopCause::Completed);
    world
        .refused(Code::Aborted, LOST, api.finish_session(last_word))
        .await;
}

async fn s086_a_call_whose_client_has_gone_gives_a_lease_or_none(world: World) {
    let a = world.only_a().await;
    for number in 0..20_u32 {
        let session = world.create(new(&a.id)).await;
        let (api, id) = (world.daemon.api.clone(), session.id.clone());
        let mut call = JoinSet::new();
        call.spawn(async move { api.bind_runtime(bind(&id, "h1", 30)).await });
        for _ in 0..number {
            tokio::task::yield_now().await;
        }
        call.shutdown().await;
        // A write that has begun goes on without its caller.
        while world.daemon.tasks.count() > 0 {
            tokio::task::yield_now().await;
        }
        let runtime = world.session(&session.id).await.runtime.unwrap();
        let whole = match runtime.state() {
            pb::RuntimeState::Bound => runtime.generation == 1 && runtime.holder == "h1",
            _ => runtime.generation == 0 && runtime.holder.is_empty(),
        };
        assert!(whole, "{runtime:?}");
        world.pass(Duration::from_secs(30)).await;
        assert_eq!(world.bind(&session.id, "h2").await.holder, "h2");
    }
}

async fn s329_reading_is_not_enough_for_any_method_of_leases(world: World) {
    let a = world.only_a().await;
    let session = world.create(new(&a.id)).await;
    let lease = world.bind(&session.id, "h1").await;
    let reader = world.daemon.api.seen_by("reader");
    let mut answers = Vec::new();
    for (id, token) in [(session.id.as_str(), lease.token.as_str()), (NOBODY, "nothing")] {
        let seen = pb::MarkSessionSeenRequest {
            session_id: id.to_owned(),
            ..Default::default()
        };
        let release = pb::ReleaseAttachLeaseRequest {
            session_id: id.to_owned(),
            ..Default::default()
        };
        let batch = pb::BatchHeartbeatRequest {
            heartbeats: vec![beat(token)],
        };
        let launch = pb::GetLaunchRequest {
            lease: token.to_owned(),
        };
        let failures = [
            reader.bind_runtime(bind(id, "h1", 0)).await.unwrap_err(),
            reader.resume_session(resume(id)).await.unwrap_err(),
            reader.heartbeat(beat(token)).await.unwrap_err(),
            reader.batch_heartbeat(batch).await.unwrap_err(),
            reader
                .finish_session(finish(token, pb::StopCause::User))
                .await
                .unwrap_err(),
            reader
                .acquire_attach_lease(entering(id, "", 0))
                .await
                .unwrap_err(),
            reader.release_attach_lease(release).await.unwrap_err(),
            reader.mark_session_seen(seen).await.unwrap_err(),
            reader.get_launch(launch).await.unwrap_err(),
        ];
        for failure in &failures {
            assert_eq!(failure.code, Code::PermissionDenied);
            assert_eq!(failure.reason, "SCOPE_DENIED");
        }
        answers.push(failures.map(|failure| failure.message));
    }
    assert_eq!(
        answers[0], answers[1],
        "the same answer for what is there and what is not"
    );
}

async fn s358_a_session_is_created_with_its_runtime_bound(world: World) {
    let a = world.only_a().await;
    let before = world.head().await;
    let request = pb::CreateSessionRequest {
        bind: Some(crate::asked::binding("h1", 30)),
        ..new(&a.id)
    };
    let answer = world.daemon.api.create_session(request).await.unwrap();
    let (session, lease) = (answer.session.unwrap(), answer.lease.unwrap());
    let runtime = session.runtime.as_ref().unwrap();
    assert_eq!(runtime.state(), pb::RuntimeState::Bound);
    assert_eq!((runtime.holder.as_str(), runtime.generation), ("h1", 1));
    assert_eq!(
        (lease.session_id.as_str(), lease.generation),
        (session.id.as_str(), 1)
    );
    assert_eq!(world.told_since(before).await, ["upserted created"]);
    world.beat(&lease.token).await.unwrap();
}

async fn s359_a_repeated_creation_has_no_token_and_the_holder_binds_again(world: World) {
    let a = world.only_a().await;
    let request = pb::CreateSessionRequest {
        bind: Some(crate::asked::binding("h1", 30)),
        request_id: R.to_owned(),
        ..new(&a.id)
    };
    let first = world.daemon.api.create_session(request.clone()).await.unwrap();
    let again = world
        .unchanged_by(world.daemon.api.create_session(request))
        .await
        .unwrap();
    assert_eq!(again.lease, None);
    assert_eq!(again.session, first.session);
    let lease = world.bind(&again.session.unwrap().id, "h1").await;
    assert_eq!(lease.generation, 2);
}

async fn s360_the_cause_of_a_start_is_kept_with_the_callers_name(mut world: World) {
    let a = world.only_a().await;
    let roots = vec![world.t.clone()];
    world.restart(|parts| parts.settings.allowed_roots = roots).await;
    let caused = |length: usize| pb::CreateSessionRequest {
        start_cause: "x".repeat(length),
        ..new(&a.id)
    };
    for (principal, by) in [("local", "local"), ("ci", "ci")] {
        let api = world.daemon.api.seen_by(principal);
        let answer = api.create_session(caused(500)).await.unwrap();
        let start = answer.session.unwrap().start.unwrap();
        assert_eq!((start.cause.len(), start.by.as_str()), (500, by));
    }
    let refused = world
        .refused(
            Code::InvalidArgument,
            "INVALID_FIELD",
            world.daemon.api.create_session(caused(501)),
        )
        .await;
    assert_eq!(refused.fields, ["start_cause"]);
}

async fn a_repeated_bind_answers_its_lease_without_the_token(world: World) {
    let a = world.only_a().await;
    let session = world.create(new(&a.id)).await;
    let request = pb::BindRuntimeRequest {
        request_id: R.to_owned(),
        ..bind(&session.id, "h1", 30)
    };
    let first = world.daemon.api.bind_runtime(request.clone()).await.unwrap();
    world.advance(Duration::from_secs(1)).await;
    let again = world
        .unchanged_by(world.daemon.api.bind_runtime(request))
        .await
        .unwrap();
    let first_lease = first.lease.unwrap();
    let again_lease = again.lease.unwrap();
    assert!(again_lease.token.is_empty() && !first_lease.token.is_empty());
    let without = pb::RuntimeLease {
        token: String::new(),
        ..first_lease
    };
    assert_eq!((again_lease, again.session), (without, first.session));

    world.stop_for(&session.id, pb::StopCause::User, "").await;
    let lease = world.bind(&session.id, "h1").await;
    world.finish_done(&lease.token).await;
    let request = pb::ResumeSessionRequest {
        bind: Some(pb::RuntimeBinding {
            holder: "h1".to_owned(),
            ttl: Some(seconds(30)),
        }),
        request_id: R2.to_owned(),
        ..resume(&session.id)
    };
    let first = world.daemon.api.resume_session(request.clone()).await.unwrap();
    let again = world.daemon.api.resume_session(request).await.unwrap();
    assert!(first.lease.is_some() && again.lease.is_none());
    assert_eq!(first.session, again.session);
}

async fn a_holder_that_binds_again_gets_a_new_generation(world: World) {
    let a = world.only_a().await;
    let session = world.create(new(&a.id)).await;
    let first = world.bind(&session.id, "h1").await;
    let second = world.bind(&session.id, "h1").await;
    assert_eq!((first.generation, second.generation), (1, 2));
    world.refused(Code::Aborted, LOST, world.beat(&first.token)).await;
    world.beat(&second.token).await.unwrap();
    assert_eq!(world.session(&session.id).await.state(), pb::SessionState::Active);
}

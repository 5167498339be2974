//! Stopping a session that has a runtime, and what its end is called.

use std::time::Duration;

use compozy_proto::session::v1 as pb;
use pb::{FailureKind as Kind, StopCause as Cause, StopReason as Reason};
use tonic::Code;

use crate::asked::{R, finish, new, stop};
use crate::leases_place::{LOST, at_once, classified};
use crate::world::World;

cases! {
    s089_s090_n003_a_runtime_finishes_what_somebody_stopped,
    s091_s092_s093_a_second_stop_refines_the_first_and_no_more,
    s094_s095_what_is_stopped_stays_as_it_is,
    s096_many_stops_at_once_keep_one_cause,
    s102_s103_s104_s105_s106_s107_the_detail_and_the_error_do_not_decide_against_the_cause,
    s108_s109_s110_s111_s112_a_process_ends_with_an_error_or_without,
    s113_s114_s115_s118_what_nobody_planned,
    s116_s117_the_first_cause_wins,
    s119_a_last_word_comes_too_late,
    s120_a_stop_and_a_last_word_at_the_same_time_make_no_mixture,
    a_last_word_is_taken_once_and_its_repetition_is_a_success,
    a_start_that_ends_is_a_failed_start,
    a_last_word_is_cut_and_redacted_and_never_refused_for_its_length,
}

async fn s089_s090_n003_a_runtime_finishes_what_somebody_stopped(world: World) {
    let a = world.only_a().await;
    let id = world.create(new(&a.id)).await.id;
    let lease = world.bind(&id, "h1").await;
    let before = world.head().await;
    world.advance(Duration::from_secs(1)).await;
    let answer = world
        .daemon
        .api
        .stop_session(stop(&id, Cause::Timeout))
        .await
        .unwrap();
    let stopping = answer.session.unwrap();
    assert_eq!(stopping.state(), pb::SessionState::Stopping);
    assert_eq!(world.session(&id).await, stopping);
    assert_eq!(world.told_since(before).await, ["upserted state"]);
    world.advance(Duration::from_secs(1)).await;
    let stopped = world.finish(finish(&lease.token, Cause::Unspecified)).await;
    assert_eq!(stopped.state(), pb::SessionState::Stopped);
    assert_eq!(classified(&stopped), (Reason::Timeout, Kind::Timeout));
    let runtime = stopped.runtime.as_ref().unwrap();
    assert_eq!(
        (runtime.state(), runtime.holder.as_str()),
        (pb::RuntimeState::None, "")
    );
    assert_eq!(stopped.stop.unwrap().stopped_at, Some(world.now()));
    assert_eq!(
        world.told_since(before).await,
        ["upserted state", "upserted state"]
    );
}

async fn s091_s092_s093_a_second_stop_refines_the_first_and_no_more(world: World) {
    let a = world.only_a().await;
    let id = world.create(new(&a.id)).await.id;
    world.bind(&id, "h1").await;
    world.stop_for(&id, Cause::Timeout, "first").await;
    let refined = world.stop_for(&id, Cause::Timeout, "second").await;
    assert_eq!(refined.state(), pb::SessionState::Stopping);
    assert_eq!(refined.stop.as_ref().unwrap().detail, "second");
    for cause in [Cause::Shutdown, Cause::Timeout] {
        let again = world.unchanged_by(world.stop_for(&id, cause, "second")).await;
        assert_eq!(again, refined);
    }
}

async fn s094_s095_what_is_stopped_stays_as_it_is(world: World) {
    let a = world.only_a().await;
    let id = world.create(new(&a.id)).await.id;
    let lease = world.bind(&id, "h1").await;
    let stopped = world.finish_done(&lease.token).await;
    for cause in [Cause::User, Cause::Failed, Cause::Unspecified] {
        let again = world.unchanged_by(world.stop_for(&id, cause, "late")).await;
        assert_eq!(again, stopped);
    }
    let archived = world.archive(&id).await;
    let again = world.unchanged_by(world.stop_for(&id, Cause::User, "late")).await;
    assert_eq!(again, archived);
}

async fn s096_many_stops_at_once_keep_one_cause(world: World) {
    let a = world.only_a().await;
    let id = world.create(new(&a.id)).await.id;
    world.bind(&id, "h1").await;
    let before = world.head().await;
    let causes = [Cause::Timeout, Cause::Shutdown, Cause::User, Cause::Hook];
    let stopping = at_once(32, |number| {
        let (api, request) = (world.daemon.api.clone(), stop(&id, causes[number % 4]));
        async move { api.stop_session(request).await.unwrap().session.unwrap() }
    })
    .await;
    let kept = world.session(&id).await.stop.unwrap().cause();
    assert!(causes.contains(&kept));
    for session in stopping {
        assert_eq!(session.state(), pb::SessionState::Stopping);
        assert_eq!(session.stop.unwrap().cause(), kept);
    }
    assert_eq!(world.told_since(before).await, ["upserted state"]);
}

/// Ends sessions with these words, and says which reason and failure each has to have.
async fn expect(world: &World, cases: &[(pb::FinishSessionRequest, Reason, Kind)]) {
    let a = world.only_a().await;
    for (word, reason, kind) in cases {
        let id = world.create(new(&a.id)).await.id;
        let lease = world.bind(&id, "h1").await;
        let word = pb::FinishSessionRequest {
            lease: lease.token,
            ..word.clone()
        };
        let stopped = world.finish(word.clone()).await;
        assert_eq!(stopped.state(), pb::SessionState::Stopped);
        assert_eq!(classified(&stopped), (*reason, *kind), "{word:?}");
        let stop = stopped.stop.as_ref().unwrap();
        assert_eq!((&stop.detail, stop.exit_status), (&word.detail, word.exit_status));
        let failure = stop.failure.as_ref();
        assert!(failure.is_none_or(|failure| failure.summary == word.error));
        assert_eq!(world.session(&id).await, stopped);
    }
}

fn said(cause: Cause, detail: &str, error: &str) -> pb::FinishSessionRequest {
    pb::FinishSessionRequest {
        detail: detail.to_owned(),
        error: error.to_owned(),
        ..finish("", cause)
    }
}

fn of_kind(cause: Cause, error: &str, kind: Kind) -> pb::FinishSessionRequest {
    pb::FinishSessionRequest {
        failure_kind: kind.into(),
        ..said(cause, "", error)
    }
}

async fn s102_s103_s104_s105_s106_s107_the_detail_and_the_error_do_not_decide_against_the_cause(
    world: World,
) {
    let cases = [
        (
            said(Cause::Completed, "", ""),
            Reason::Completed,
            Kind::Unspecified,
        ),
        (
            said(Cause::Shutdown, "", "broken pipe"),
            Reason::Shutdown,
            Kind::Unspecified,
        ),
        (
            said(Cause::Hook, "not allowed", ""),
            Reason::HookStopped,
            Kind::PermissionFailure,
        ),
        (
            said(Cause::User, "reached max_iterations (40)", ""),
            Reason::MaxIterations,
            Kind::Cancellation,
        ),
        (
            said(Cause::User, "loop_detected", ""),
            Reason::LoopDetected,
            Kind::Cancellation,
        ),
        (
            said(Cause::User, "budget_exceeded: 5 USD", ""),
            Reason::BudgetExceeded,
            Kind::Cancellation,
        ),
        (
            said(Cause::User, "maximum number of iterations", ""),
            Reason::UserCanceled,
            Kind::Cancellation,
        ),
        (
            said(Cause::Timeout, "loop_detected", ""),
            Reason::Timeout,
            Kind::Timeout,
        ),
    ];
    expect(&world, &cases).await;
}

async fn s108_s109_s110_s111_s112_a_process_ends_with_an_error_or_without(world: World) {
    let failed_with_status = pb::FinishSessionRequest {
        exit_status: Some(3),
        ..said(Cause::Completed, "", "three")
    };
    let cases = [
        (
            said(Cause::ProcessExit, "", "signal 9"),
            Reason::AgentCrashed,
            Kind::ProcessExit,
        ),
        (
            of_kind(Cause::ProcessExit, "denied", Kind::ProviderAuthFailure),
            Reason::AgentCrashed,
            Kind::ProviderAuthFailure,
        ),
        (said(Cause::ProcessExit, "", ""), Reason::Error, Kind::ProcessExit),
        (said(Cause::Clear, "", ""), Reason::Completed, Kind::Unspecified),
        (said(Cause::Rewind, "", ""), Reason::Completed, Kind::Unspecified),
        (
            said(Cause::Completed, "", ""),
            Reason::Completed,
            Kind::Unspecified,
        ),
        (failed_with_status, Reason::Completed, Kind::Unspecified),
    ];
    expect(&world, &cases).await;
}

async fn s113_s114_s115_s118_what_nobody_planned(world: World) {
    let unknown_kind = pb::FinishSessionRequest {
        failure_kind: 99,
        ..said(Cause::Failed, "", "")
    };
    let unknown_cause = pb::FinishSessionRequest {
        cause: 99,
        ..said(Cause::Unspecified, "", "")
    };
    let cases = [
        (said(Cause::Failed, "", ""), Reason::Error, Kind::UnknownFailure),
        (
            of_kind(Cause::Failed, "", Kind::PromptFailure),
            Reason::Error,
            Kind::PromptFailure,
        ),
        (
            said(Cause::Unspecified, "", "boom"),
            Reason::Error,
            Kind::UnknownFailure,
        ),
        (
            of_kind(Cause::Unspecified, "boom", Kind::TransportFailure),
            Reason::Error,
            Kind::TransportFailure,
        ),
        (
            said(Cause::Unspecified, "", ""),
            Reason::Completed,
            Kind::Unspecified,
        ),
        (unknown_kind, Reason::Error, Kind::UnknownFailure),
        (unknown_cause, Reason::Completed, Kind::Unspecified),
    ];
    expect(&world, &cases).await;
}

async fn s116_s117_the_first_cause_wins(world: World) {
    let a = world.only_a().await;
    for (asked, word, expected) in [
        (
            Cause::Hook,
            said(Cause::ProcessExit, "", "signal 15"),
            (Reason::HookStopped, Kind::PermissionFailure),
        ),
        (
            Cause::Shutdown,
            said(Cause::Unspecified, "", "signal 9"),
            (Reason::Shutdown, Kind::Unspecified),
        ),
    ] {
        let id = world.create(new(&a.id)).await.id;
        let lease = world.bind(&id, "h1").await;
        world.stop_for(&id, asked, "").await;
        let word = pb::FinishSessionRequest {
            lease: lease.token,
            ..word
        };
        let stopped = world.finish(word).await;
        assert_eq!(classified(&stopped), expected);
        assert_eq!(stopped.stop.unwrap().cause(), asked);
    }
}

async fn s119_a_last_word_comes_too_late(world: World) {
    let a = world.only_a().await;
    let id = world.create(new(&a.id)).await.id;
    let lease = world.bind(&id, "h1").await;
    world.pass(Duration::from_secs(30)).await;
    assert_eq!(world.sweep().await.stopped.len(), 1);
    let before = world.session(&id).await;
    let word = finish(&lease.token, Cause::Completed);
    world
        .refused(Code::Aborted, LOST, world.daemon.api.finish_session(word))
        .await;
    assert_eq!(world.session(&id).await, before);
    assert_eq!(classified(&before), (Reason::AgentCrashed, Kind::ProcessExit));
}

async fn s120_a_stop_and_a_last_word_at_the_same_time_make_no_mixture(world: World) {
    let a = world.only_a().await;
    for _ in 0..20 {
        let id = world.create(new(&a.id)).await.id;
        let lease = world.bind(&id, "h1").await;
        let word = finish(&lease.token, Cause::Completed);
        let (asked, finished) = tokio::join!(
            world.daemon.api.stop_session(stop(&id, Cause::Timeout)),
            world.daemon.api.finish_session(word),
        );
        asked.unwrap();
        finished.unwrap();
        let session = world.session(&id).await;
        assert_eq!(session.state(), pb::SessionState::Stopped);
        let whole = (session.stop.as_ref().unwrap().cause(), classified(&session));
        let timeout = (Cause::Timeout, (Reason::Timeout, Kind::Timeout));
        let completed = (Cause::Completed, (Reason::Completed, Kind::Unspecified));
        assert!(whole == timeout || whole == completed, "{whole:?}");
    }
}

async fn a_last_word_is_taken_once_and_its_repetition_is_a_success(world: World) {
    let a = world.only_a().await;
    let id = world.create(new(&a.id)).await.id;
    let lease = world.bind(&id, "h1").await;
    let stopped = world.finish_done(&lease.token).await;
    world.advance(Duration::from_secs(1)).await;
    let other = pb::FinishSessionRequest {
        request_id: R.to_owned(),
        ..finish(&lease.token, Cause::Failed)
    };
    for word in [finish(&lease.token, Cause::Completed), other] {
        let again = world.unchanged_by(world.finish(word)).await;
        assert_eq!(again, stopped);
    }
    world.refused(Code::Aborted, LOST, world.beat(&lease.token)).await;
}

async fn a_start_that_ends_is_a_failed_start(world: World) {
    let a = world.only_a().await;
    for (word, reason, kind) in [
        (
            said(Cause::ProcessExit, "", "no such program"),
            Reason::Error,
            Kind::StartupFailure,
        ),
        (
            of_kind(Cause::Failed, "no greeting", Kind::HandshakeFailure),
            Reason::Error,
            Kind::HandshakeFailure,
        ),
        (
            said(Cause::User, "", ""),
            Reason::UserCanceled,
            Kind::Cancellation,
        ),
    ] {
        let request = pb::CreateSessionRequest {
            initial_state: pb::SessionState::Starting.into(),
            bind: Some(crate::asked::binding("h1", 30)),
            ..new(&a.id)
        };
        let lease = world
            .daemon
            .api
            .create_session(request)
            .await
            .unwrap()
            .lease
            .unwrap();
        let word = pb::FinishSessionRequest {
            lease: lease.token,
            ..word
        };
        let stopped = world.finish(word).await;
        assert_eq!(classified(&stopped), (reason, kind));
    }
}

async fn a_last_word_is_cut_and_redacted_and_never_refused_for_its_length(world: World) {
    let a = world.only_a().await;
    let id = world.create(new(&a.id)).await.id;
    let lease = world.bind(&id, "h1").await;
    let told = "Authorization: Bearer abc.def.ghi ";
    let word = pb::FinishSessionRequest {
        detail: format!("{told}{}", "ä".repeat(2_000)),
        error: format!("a\u{0}b {told}{}", "x".repeat(5_000)),
        ..finish(&lease.token, Cause::ProcessExit)
    };
    let stop = world.finish(word).await.stop.unwrap();
    let summary = stop.failure.unwrap().summary;
    for text in [&stop.detail, &summary] {
        assert!((2_047..=2_048).contains(&text.len()), "{}", text.len());
        assert!(
            text.contains("Authorization") && !text.contains("abc.def.ghi"),
            "{text}"
        );
        assert!(!text.contains('\u{0}'));
    }
}

//! Sessions: what is repeated, and under which request id; leases that got lost on the way; the time that a stop has.

use std::time::Duration;

use compozy_client::proto::page::v1::PageInfo;
use compozy_client::proto::session::v1::*;
use compozy_client::proto::workspace::v1::{AttachSessionRequest, DetachSessionRequest, MoveSessionRequest};
use compozy_client::{Client, Code, Error};
use futures::TryStreamExt;

use crate::server::{Answer, Scripted, Seen, message, unavailable};

/// The messages of both attempts of a call that fails the first time.
async fn repeated<A>(method: &str, call: impl AsyncFnOnce(Client) -> Result<A, Error>) -> Seen {
    let server = Scripted::on_socket(|number, _| match number {
        0 => unavailable(None),
        // A message without fields, which every method may answer.
        _ => Answer::Message(Vec::new()),
    });
    call(server.client()).await.map(drop).unwrap();
    let seen = server.seen();
    assert_eq!(seen.len(), 2, "{method}");
    assert_eq!(seen[0].message, seen[1].message, "{method}");
    assert!(
        seen.iter().all(|one| one.path.ends_with(method)),
        "{}",
        seen[0].path
    );
    seen[0].clone()
}

/// A read, or something else without a request id.
macro_rules! assert_repeated {
    ($($method:ident: $request:ty, $path:literal;)*) => {$(
        repeated($path, async |client| client.$method(<$request>::default()).await).await;
    )*};
}

/// A write: it is given a request id, and keeps one of the caller's.
macro_rules! assert_identified {
    ($($method:ident: $request:ident, $path:literal;)*) => {$(
        let seen = repeated($path, async |client| client.$method($request::default()).await).await;
        assert_eq!(seen.decode::<$request>().request_id.len(), 26, $path);
        let own = $request { request_id: "own".to_owned(), ..Default::default() };
        let seen = repeated($path, async |client| client.$method(own).await).await;
        assert_eq!(seen.decode::<$request>().request_id, "own", $path);
    )*};
}

#[tokio::test]
async fn reads_and_heartbeats_are_repeated() {
    assert_repeated! {
        get_session: GetSessionRequest, "SessionCatalogService/GetSession";
        list_sessions: ListSessionsRequest, "SessionCatalogService/ListSessions";
        count_sessions: CountSessionsRequest, "SessionCatalogService/CountSessions";
        get_session_health: GetSessionHealthRequest, "SessionCatalogService/GetSessionHealth";
        inspect_session: InspectSessionRequest, "SessionCatalogService/InspectSession";
        heartbeat: HeartbeatRequest, "SessionCatalogService/Heartbeat";
        batch_heartbeat: BatchHeartbeatRequest, "SessionCatalogService/BatchHeartbeat";
        get_launch: GetLaunchRequest, "SessionCatalogService/GetLaunch";
    }
}

#[tokio::test]
async fn every_write_keeps_its_request_id_over_its_retries() {
    assert_identified! {
        create_session: CreateSessionRequest, "SessionCatalogService/CreateSession";
        update_session: UpdateSessionRequest, "SessionCatalogService/UpdateSession";
        rename_session: RenameSessionRequest, "SessionCatalogService/RenameSession";
        stop_session: StopSessionRequest, "SessionCatalogService/StopSession";
        resume_session: ResumeSessionRequest, "SessionCatalogService/ResumeSession";
        archive_session: ArchiveSessionRequest, "SessionCatalogService/ArchiveSession";
        unarchive_session: UnarchiveSessionRequest, "SessionCatalogService/UnarchiveSession";
        delete_session: DeleteSessionRequest, "SessionCatalogService/DeleteSession";
        finish_session: FinishSessionRequest, "SessionCatalogService/FinishSession";
        acquire_attach_lease: AcquireAttachLeaseRequest, "SessionCatalogService/AcquireAttachLease";
        release_attach_lease: ReleaseAttachLeaseRequest, "SessionCatalogService/ReleaseAttachLease";
        mark_session_seen: MarkSessionSeenRequest, "SessionCatalogService/MarkSessionSeen";
        attach_session: AttachSessionRequest, "WorkspaceService/AttachSession";
        detach_session: DetachSessionRequest, "WorkspaceService/DetachSession";
        move_session: MoveSessionRequest, "WorkspaceService/MoveSession";
    }
}

fn lease(token: &str) -> Option<RuntimeLease> {
    Some(RuntimeLease {
        token: token.to_owned(),
        session_id: "sess-1".to_owned(),
        ..RuntimeLease::default()
    })
}

fn session() -> Option<Session> {
    Some(Session {
        id: "sess-1".to_owned(),
        ..Session::default()
    })
}

fn by_runner() -> Option<RuntimeBinding> {
    Some(RuntimeBinding {
        holder: "runner".to_owned(),
        ttl: None,
    })
}

#[tokio::test]
async fn a_lease_that_came_is_taken_as_it_is() {
    let server = Scripted::on_socket(|_, _| {
        message(&CreateSessionResponse {
            session: session(),
            lease: lease("lease_1"),
            ..Default::default()
        })
    });
    let request = CreateSessionRequest {
        bind: by_runner(),
        ..Default::default()
    };
    let answer = server.client().create_session(request).await.unwrap();
    assert_eq!(answer.lease.unwrap().token, "lease_1");
    assert_eq!(server.seen().len(), 1);
}

#[tokio::test]
async fn a_lease_of_a_lost_answer_is_taken_once_more_by_the_same_holder() {
    // Numbers of the requests: the answer to 0 gets lost, 1 and 2 are repeated answers, which hold no token.
    let server = Scripted::on_socket(|number, _| match number {
        0 => unavailable(None),
        1 => message(&CreateSessionResponse {
            session: session(),
            ..Default::default()
        }),
        number => message(&BindRuntimeResponse {
            lease: lease(if number == 2 { "" } else { "lease_3" }),
            session: session(),
            ..Default::default()
        }),
    });
    let request = CreateSessionRequest {
        bind: by_runner(),
        ..Default::default()
    };
    let answer = server.client().create_session(request).await.unwrap();
    assert_eq!(answer.lease.unwrap().token, "lease_3");
    let binds: Vec<BindRuntimeRequest> = server.seen()[2..].iter().map(Seen::decode).collect();
    assert_eq!(binds.len(), 2);
    assert!(
        binds
            .iter()
            .all(|bind| bind.session_id == "sess-1" && bind.binding == by_runner())
    );
    assert_ne!(binds[0].request_id, binds[1].request_id);
}

#[tokio::test]
async fn a_session_that_was_not_to_be_bound_is_not_bound() {
    let server = Scripted::on_socket(|_, _| Answer::Message(Vec::new()));
    let client = server.client();
    client
        .create_session(CreateSessionRequest::default())
        .await
        .unwrap();
    client
        .resume_session(ResumeSessionRequest::default())
        .await
        .unwrap();
    assert_eq!(server.seen().len(), 2);
}

#[tokio::test]
async fn a_server_that_never_gives_a_lease_is_not_asked_for_ever() {
    let server = Scripted::on_socket(|_, _| {
        message(&BindRuntimeResponse {
            lease: lease(""),
            ..Default::default()
        })
    });
    let request = BindRuntimeRequest {
        binding: by_runner(),
        ..Default::default()
    };
    let error = server.client().bind_runtime(request).await.unwrap_err();
    assert_eq!((error.code(), server.seen().len()), (Code::Internal, 4));
}

#[tokio::test]
async fn a_stop_that_waits_has_the_time_of_its_wait_and_that_of_a_call() {
    let server = Scripted::on_socket(|_, _| Answer::Message(Vec::new()));
    let request = StopSessionRequest {
        wait: Some(prost_types::Duration {
            seconds: 60,
            nanos: 0,
        }),
        ..Default::default()
    };
    server.client().stop_session(request).await.unwrap();
    let told = server.seen()[0].headers["grpc-timeout"]
        .to_str()
        .unwrap()
        .to_owned();
    let (number, unit) = told.split_at(told.len() - 1);
    let unit = match unit {
        "u" => Duration::from_micros(1),
        "m" => Duration::from_millis(1),
        other => panic!("{other}"),
    };
    let told = unit * number.parse().unwrap();
    assert!(
        told > Duration::from_secs(65) && told <= Duration::from_secs(70),
        "{told:?}"
    );
}

#[tokio::test]
async fn all_sessions_come_page_after_page() {
    let server = Scripted::on_socket(|_, seen| {
        let request: ListSessionsRequest = seen.decode();
        assert_eq!(request.filter.unwrap().agents, ["general"]);
        let start: usize = request.cursor.parse().unwrap_or(0);
        let row = Session {
            id: format!("sess-{start}"),
            ..Session::default()
        };
        let page = PageInfo {
            total: 3,
            limit: 1,
            has_more: start < 2,
            next_cursor: (start < 2).then(|| (start + 1).to_string()),
            revision: "r9".to_owned(),
        };
        message(&ListSessionsResponse {
            sessions: vec![row],
            page: Some(page),
        })
    });
    let filter = SessionFilter {
        agents: vec!["general".to_owned()],
        ..SessionFilter::default()
    };
    let mut rows = server.client().session_rows(ListSessionsRequest {
        filter: Some(filter),
        ..Default::default()
    });
    let mut ids = Vec::new();
    while let Some(row) = rows.try_next().await.unwrap() {
        ids.push(row.id);
    }
    assert_eq!(ids, ["sess-0", "sess-1", "sess-2"]);
    assert_eq!((rows.total(), rows.revision()), (Some(3), Some("r9")));
}

//! Going on after the end of a stream.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use compozy_client::{CatalogWatch, WatchEvent, WatchNotice, WatchRequest};
use tonic::{Code, Status};

use super::feed::{
    batch, changes, encoded, expect_changes, failed, going_away, heartbeat, next, stays, synced, tokens,
};
use crate::server::{Answer, Beat, Scripted, unavailable};

type Notices = Arc<Mutex<Vec<WatchNotice>>>;

/// A watch, and what it tells about its connection.
fn observed(server: &Scripted, request: WatchRequest) -> (CatalogWatch, Notices) {
    let notices = Notices::default();
    let heard = notices.clone();
    let request = request.observe(move |notice| heard.lock().unwrap().push(notice.clone()));
    (server.client().watch(request), notices)
}

/// Attempt, delay and whether an error was told, of each reconnect.
fn reconnects(notices: &Notices) -> Vec<(u32, Duration, bool)> {
    let notices = notices.lock().unwrap();
    let told = notices.iter().filter_map(|notice| match notice {
        WatchNotice::Reconnecting {
            attempt,
            delay,
            error,
        } => Some((*attempt, *delay, error.is_some())),
        _ => None,
    });
    told.collect()
}

/// The server sends changes 1 to 3, ends like this, and has the rest for whoever comes again after 3.
async fn goes_on_after(name: &str, first: impl Fn() -> Answer + Send + Sync + 'static) {
    let server = Scripted::on_port(move |number, _| match number {
        0 => first(),
        _ => stays(vec![changes([4, 5]), synced("t5"), changes([6])]),
    })
    .await;
    let (mut watch, notices) = observed(&server, WatchRequest::new());
    assert_eq!(next(&mut watch).await, WatchEvent::Synced, "{name}");
    expect_changes(&mut watch, 1..=6).await;
    assert_eq!(tokens(&server.seen()), ["", "t3"], "{name}");
    let [(attempt, delay, has_error)] = reconnects(&notices)[..] else {
        panic!("{name}: {notices:?}");
    };
    assert_eq!((attempt, has_error), (1, true), "{name}");
    assert!(delay <= Duration::from_millis(50), "{name}: {delay:?}");
    assert!(
        matches!(notices.lock().unwrap()[..], [_, WatchNotice::Reconnected]),
        "{name}"
    );
    let connections: Vec<usize> = server.seen().iter().map(|seen| seen.connection).collect();
    assert_eq!(connections, [0, 1], "{name}: it goes on over another connection");
}

fn begun() -> Vec<Beat> {
    vec![synced("t0"), changes([1]), changes([2, 3])]
}

fn begun_and(last: Beat) -> Answer {
    let mut beats = begun();
    beats.push(last);
    stays(beats)
}

#[tokio::test]
async fn a_watch_goes_on_after_every_end_that_is_not_final() {
    goes_on_after("an orderly end without going_away", || {
        begun_and(Beat::End(Status::ok("")))
    })
    .await;
    goes_on_after("no trailers", || super::feed::ends(begun())).await;
    goes_on_after("the store is away", || {
        begun_and(Beat::End(failed(Code::Unavailable, "STORE_UNAVAILABLE", None)))
    })
    .await;
    for code in [
        Code::Internal,
        Code::Unknown,
        Code::Cancelled,
        Code::DeadlineExceeded,
    ] {
        goes_on_after(&format!("{code:?} of a proxy"), move || {
            begun_and(Beat::End(Status::new(code, "upstream reset")))
        })
        .await;
    }
    goes_on_after("half of a batch", || {
        let half = encoded(batch([4, 5]));
        let mut beats = begun();
        beats.push(Beat::Bytes(half.slice(..half.len() / 2)));
        super::feed::ends(beats)
    })
    .await;
}

#[tokio::test]
async fn a_cut_connection_is_no_end() {
    let (feed, beats) = tokio::sync::mpsc::unbounded_channel();
    let beats = Mutex::new(Some(beats));
    let server = Scripted::on_socket(move |number, _| match number {
        0 => {
            let beats = beats.lock().unwrap().take().unwrap();
            Answer::Stream(Box::pin(tokio_stream::wrappers::UnboundedReceiverStream::new(
                beats,
            )))
        }
        _ => stays(vec![changes([2]), synced("t2")]),
    });
    let (mut watch, notices) = observed(&server, WatchRequest::new());
    let send = |beat| assert!(feed.send(beat).is_ok());
    send(synced("t0"));
    send(changes([1]));
    assert_eq!(next(&mut watch).await, WatchEvent::Synced);
    expect_changes(&mut watch, [1]).await;
    send(Beat::Cut);
    expect_changes(&mut watch, [2]).await;
    assert_eq!(tokens(&server.seen()), ["", "t1"]);
    let WatchNotice::Reconnecting {
        error: Some(error), ..
    } = notices.lock().unwrap()[0].clone()
    else {
        panic!("{notices:?}");
    };
    assert!(error.message().ends_with("was cut"), "{error}");
}

#[tokio::test]
async fn a_server_that_goes_away_is_left_at_once_for_a_new_connection() {
    let server = Scripted::on_socket(|number, _| match number {
        0 => stays(vec![synced("t0"), changes([1]), going_away("t1b"), Beat::GoAway]),
        _ => stays(vec![changes([2])]),
    });
    let (mut watch, notices) = observed(&server, WatchRequest::new());
    assert_eq!(next(&mut watch).await, WatchEvent::Synced);
    expect_changes(&mut watch, [1, 2]).await;
    assert_eq!(tokens(&server.seen()), ["", "t1b"]);
    assert_eq!(reconnects(&notices), [(1, Duration::ZERO, false)]);
    assert_ne!(server.seen()[0].connection, server.seen()[1].connection);
}

#[tokio::test]
async fn a_server_that_only_says_goodbye_is_not_asked_in_a_circle() {
    let server = Scripted::on_socket(|number, _| match number {
        0 => stays(vec![synced("t0"), going_away("t0")]),
        1..4 => stays(vec![going_away("t0")]),
        _ => stays(vec![changes([1])]),
    });
    let (mut watch, notices) = observed(&server, WatchRequest::new());
    assert_eq!(next(&mut watch).await, WatchEvent::Synced);
    expect_changes(&mut watch, [1]).await;
    let delays: Vec<Duration> = reconnects(&notices).iter().map(|one| one.1).collect();
    assert_eq!(delays.len(), 4);
    assert_eq!(delays[0], Duration::ZERO);
    assert!(delays[1..].iter().all(|delay| !delay.is_zero()), "{delays:?}");
}

#[tokio::test]
async fn delays_double_up_to_a_second_and_begin_anew_after_a_message() {
    // A proxy's error pages between; also the one for a page that is not there.
    let server = Scripted::on_port(|number, _| match number {
        0 => super::feed::ends(vec![synced("t0"), changes([1])]),
        1..=3 => Answer::Page(502),
        4 => Answer::Page(404),
        5 => unavailable(None),
        6 => Answer::Cut,
        7 => super::feed::ends(vec![heartbeat("h")]),
        _ => stays(vec![changes([2])]),
    })
    .await;
    let (mut watch, notices) = observed(&server, WatchRequest::new());
    assert_eq!(next(&mut watch).await, WatchEvent::Synced);
    expect_changes(&mut watch, [1, 2]).await;
    let reconnects = reconnects(&notices);
    let attempts: Vec<u32> = reconnects.iter().map(|one| one.0).collect();
    assert_eq!(attempts, [1, 2, 3, 4, 5, 6, 7, 1]);
    for ((_, delay, _), full) in reconnects.iter().zip([50, 100, 200, 400, 800, 1_000, 1_000, 50]) {
        let full = Duration::from_millis(full);
        assert!(*delay >= full / 2 && *delay <= full, "{reconnects:?}");
    }
    assert_eq!(
        tokens(&server.seen())[1..],
        ["t1", "t1", "t1", "t1", "t1", "t1", "t1", "h"]
    );
}

#[tokio::test]
async fn the_servers_own_delay_is_waited_for() {
    let asked_for = Duration::from_millis(300);
    let server = Scripted::on_socket(move |number, _| match number {
        0 => stays(vec![
            synced("t0"),
            Beat::End(failed(Code::Unavailable, "DRAINING", Some(asked_for))),
        ]),
        1 => Answer::Status(failed(
            Code::ResourceExhausted,
            "TOO_MANY_WATCHERS",
            Some(asked_for),
        )),
        _ => stays(vec![changes([1])]),
    });
    let (mut watch, notices) = observed(&server, WatchRequest::new());
    assert_eq!(next(&mut watch).await, WatchEvent::Synced);
    let started = Instant::now();
    expect_changes(&mut watch, [1]).await;
    assert!(started.elapsed() >= asked_for * 2);
    assert_eq!(reconnects(&notices), [(1, asked_for, true), (2, asked_for, true)]);
}

#[tokio::test]
async fn a_server_that_is_silent_for_three_heartbeats_is_left() {
    let server = Scripted::on_socket(|number, _| match number {
        0 => stays(vec![synced("t0")]),
        _ => stays(vec![changes([1])]),
    });
    let request = WatchRequest::new().heartbeat(Duration::from_secs(1));
    let (mut watch, notices) = observed(&server, request);
    assert_eq!(next(&mut watch).await, WatchEvent::Synced);
    let started = Instant::now();
    expect_changes(&mut watch, [1]).await;
    assert!(started.elapsed() >= Duration::from_secs(3));
    assert_eq!(reconnects(&notices).len(), 1);
    assert_eq!(tokens(&server.seen()), ["", "t0"]);
    let heartbeat = super::feed::asked(&server.seen()[0]).heartbeat.unwrap();
    assert_eq!((heartbeat.seconds, heartbeat.nanos), (1, 0));
}

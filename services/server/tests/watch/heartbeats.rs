//! Heartbeats (cases section 4).

use std::time::Duration;

use compozy_domain::{Clock as _, Timestamp};
use compozy_proto::change::v1 as pb;
use compozy_proto::change::v1::watch_catalog_response::Message;
use futures::future::join_all;
use tokio::time::Instant;

use crate::client::{Watching, beating, field, of, resumed};
use crate::server::Server;
use crate::world::World;

cases! {
    n045_n060_n066_a_silent_stream_beats,
    n061_n062_how_often_may_be_said,
    n063_everything_up_to_a_heartbeat_was_told,
    n064_n065_what_the_filter_hides_moves_the_token,
}

async fn n045_n060_n066_a_silent_stream_beats(world: World) {
    let server = world.start().await;
    let a = server.register(&world, "a").await;
    let mut w = server.watch(beating(pb::WatchCatalogRequest::default())).await;
    w.synced().await;
    let (mut begun, mut last) = (Instant::now(), 0);
    for round in 0..3 {
        if round == 1 {
            // Neither streams nor tokens go by the wall clock.
            world.clock.back(Duration::from_secs(3_600));
        }
        let beat = w.heartbeat().await;
        let took = begun.elapsed();
        assert!(took < Duration::from_secs(5), "{took:?}");
        let at = beat.at.unwrap();
        let told = Timestamp::from_parts(at.seconds, at.nanos.unsigned_abs()).unwrap();
        let apart = world.clock.now().nanos().abs_diff(told.nanos());
        assert!(apart < 5_000_000_000, "the server's time");
        let position = server.position(&beat.token).await;
        assert!(position >= last, "tokens do not go back");
        (begun, last) = (Instant::now(), position);
    }
    let beat = w.heartbeat().await;
    let written = server.retitle(&a.id, "t").await.workspace.unwrap();
    assert_eq!(w.change().await.version, written.version);
    let (missed, _) = server.watch(resumed(&beat.token)).await.caught_up().await;
    assert_eq!(
        missed.iter().map(|change| change.version).collect::<Vec<_>>(),
        [written.version]
    );
}

async fn n061_n062_how_often_may_be_said(world: World) {
    let server = world.start().await;
    let every = |seconds: i64, nanos: i32| pb::WatchCatalogRequest {
        heartbeat: Some(prost_types::Duration { seconds, nanos }),
        ..Default::default()
    };
    for (seconds, nanos) in [(1, 0), (300, 0)] {
        server.watch(every(seconds, nanos)).await.synced().await;
    }
    for (seconds, nanos) in [
        (0, 0),
        (0, 999_000_000),
        (300, 1),
        (-1, 0),
        (1 << 62, 0),
        (1, -5),
        (i64::MIN, i32::MIN),
    ] {
        assert_eq!(
            field(&server.refused(every(seconds, nanos)).await),
            "heartbeat",
            "{seconds} {nanos}"
        );
    }
}

async fn n063_everything_up_to_a_heartbeat_was_told(world: World) {
    const WATCHERS: usize = 20;
    let server = world.start().await;
    let a = server.register(&world, "a").await;
    let b = server.register(&world, "b").await;
    let mut watches = Vec::new();
    for _ in 0..WATCHERS {
        watches.push(server.synced(beating(of(&[&a.id]))).await);
    }
    let first = server.watches.log.known().head;
    let begun = Instant::now();
    let writing = async {
        let mut number = 0;
        while begun.elapsed() < Duration::from_millis(2_500) {
            server.retitle(&a.id, &number.to_string()).await;
            server.retitle(&b.id, &number.to_string()).await;
            number += 1;
        }
        server.retitle(&a.id, "last").await.workspace.unwrap().version
    };
    let first_version = a.version + 1;
    let reading = watches
        .iter_mut()
        .map(|w| heartbeats_of(&server, w, first_version, first));
    let (last, _) = futures::join!(writing, join_all(reading));
    assert!(last > first_version);
}

/// Reads until the last change, and checks every heartbeat on the way: A's n-th change lies at every second position.
async fn heartbeats_of(server: &Server, w: &mut Watching, first_version: i64, first: i64) {
    let (mut next, mut beats) = (first_version, 0);
    loop {
        match w.message().await {
            Message::Changes(batch) => {
                for change in batch.changes {
                    assert_eq!(change.version, next, "in order, and none missing");
                    next += 1;
                }
            }
            Message::Heartbeat(beat) => {
                let position = server.position(&beat.token).await;
                let of_a = (position - first + 1) / 2;
                assert!(
                    next - first_version >= of_a,
                    "{of_a} changes of A lie below, {next} comes next"
                );
                beats += 1;
                if beats == 2 {
                    return;
                }
            }
            other => panic!("{other:?}"),
        }
    }
}

async fn n064_n065_what_the_filter_hides_moves_the_token(world: World) {
    let server = world.start().await;
    let a = server.register(&world, "a").await;
    let b = server.register(&world, "b").await;
    let mut wa = server.synced(beating(of(&[&a.id]))).await;
    let before = server.watches.log.known().head;
    for number in 0..300 {
        server.retitle(&b.id, &number.to_string()).await;
    }
    let head = server.watches.log.present().await.unwrap().head;
    assert_eq!(head, before + 300);
    // Nothing but heartbeats comes, and soon one behind everything hidden.
    let mut beat = wa.heartbeat().await;
    while server.position(&beat.token).await < head {
        beat = wa.heartbeat().await;
    }
    let request = pb::WatchCatalogRequest {
        resume_token: beat.token,
        ..of(&[&a.id])
    };
    let mut again = server.watch(request).await;
    again.synced().await;
    let written = server.retitle(&a.id, "t").await.workspace.unwrap();
    assert_eq!(again.change().await.version, written.version);
}

//! What is no longer retained (cases sections 9 and 17).

use std::time::Duration;

use compozy_domain::{ChangeReason, Clock as _, NewChange, Revision, Timestamp};
use compozy_proto::change::v1 as pb;
use compozy_proto::change::v1::watch_catalog_response::Message;
use compozy_server::resume_token;
use compozy_store::ChangeLog as _;
use tonic::Code;

use crate::client::{explained, from, reason, resumed};
use crate::entries::session;
use crate::server::Server;
use crate::world::{Options, World};

cases! {
    n107_n108_n109_the_oldest_token_and_the_one_before_it,
    n113_who_is_passed_by_a_trim_is_told,
    n114_a_clock_that_leaps_ahead_and_back_hides_nothing_from_live_watchers,
    n115_n116_pages_and_snapshots_need_no_log,
    n191_a_resume_against_a_trim_has_no_hole,
}

/// Entries of sessions, numbered by their versions.
fn entries(count: i64) -> Vec<NewChange> {
    (0..count)
        .map(|number| NewChange {
            version: number,
            ..session(&format!("sess-{number}"), ChangeReason::State, None)
        })
        .collect()
}

async fn trim(server: &Server, entries: u64) {
    while server
        .store
        .trim(Timestamp::from_nanos(0), entries)
        .await
        .unwrap()
        > 0
    {}
}

/// A token that stands here, like the revision of a page.
fn token_at(server: &Server, position: i64) -> String {
    let revision = Revision {
        epoch: server.watches.log.known().epoch.to_string(),
        position,
    };
    resume_token::encode(&server.watches.seal, &revision)
}

async fn n107_n108_n109_the_oldest_token_and_the_one_before_it(world: World) {
    let server = world.start().await;
    server.append(&world, &entries(1_500)).await;
    trim(&server, 1_000).await;
    let versions = |changes: &[pb::Change]| changes.iter().map(|change| change.version).collect::<Vec<_>>();
    let last: Vec<i64> = (500..1_500).collect();
    let (earliest, _) = server
        .watch(from(pb::WatchStart::Earliest))
        .await
        .caught_up()
        .await;
    assert_eq!(versions(&earliest), last);

    let (missed, _) = server
        .watch(resumed(&token_at(&server, 500)))
        .await
        .caught_up()
        .await;
    assert_eq!(versions(&missed), last);
    let expired = resumed(&token_at(&server, 499));
    let status = server.refused(expired.clone()).await;
    assert_eq!(
        reason(&status),
        (Code::OutOfRange, "RESUME_TOKEN_EXPIRED".to_owned())
    );
    let oldest = &explained(&status).metadata["oldest_token"];
    let (missed, _) = server.watch(resumed(oldest)).await.caught_up().await;
    assert_eq!(versions(&missed), last);

    let resyncing = pb::WatchCatalogRequest {
        on_expired: pb::OnExpired::Resync.into(),
        ..expired
    };
    let mut w = server.watch(resyncing).await;
    let resync = w.resync().await;
    assert_eq!(
        (resync.reason(), resync.workspace_ids.len()),
        (pb::ResyncReason::Expired, 0)
    );
    w.synced().await;
    server.append(&world, &entries(1)).await;
    assert_eq!(w.change().await.session_id, "sess-0");
    let (missed, _) = server.watch(resumed(&resync.token)).await.caught_up().await;
    assert_eq!(missed.len(), 1);
}

async fn n113_who_is_passed_by_a_trim_is_told(world: World) {
    let mut options = Options::default();
    options.settings.recent_entries = 10;
    let server = world.start_with(options).await;
    server.append(&world, &entries(6_000)).await;
    // Its window takes a few hundred, then it stands.
    let mut w = server.watch(from(pb::WatchStart::Earliest)).await;
    let Message::Changes(first) = w.message().await else {
        panic!("a change comes first")
    };
    trim(&server, 5).await;
    server.watches.log.present().await.unwrap();
    let mut next = 0;
    let mut check = |changes: Vec<pb::Change>| {
        for change in changes {
            assert_eq!(change.version, next, "no hole before it is told");
            next += 1;
        }
    };
    check(first.changes);
    loop {
        match w.next().await {
            Ok(Some(Message::Changes(batch))) => check(batch.changes),
            Ok(Some(Message::Resync(resync))) => {
                assert_eq!(resync.reason(), pb::ResyncReason::Behind);
                break;
            }
            Err(status) => {
                assert_eq!(reason(&status).1, "RESUME_TOKEN_EXPIRED");
                break;
            }
            other => panic!("{other:?}"),
        }
    }
    assert!(next < 6_000);
}

async fn n114_a_clock_that_leaps_ahead_and_back_hides_nothing_from_live_watchers(world: World) {
    const DAY: Duration = Duration::from_secs(24 * 60 * 60);
    let server = world.start().await;
    let a = server.register(&world, "a").await;
    let mut w = server.w().await;
    for number in 0..10 {
        server.retitle(&a.id, &number.to_string()).await;
    }
    let mut newest = 0;
    for change in w.changes(10).await {
        newest = newest.max(server.position(&change.token).await);
    }
    world.clock.ahead(8 * DAY);
    // As upkeep does with the retention of a week.
    let trimmed = server
        .store
        .trim(world.clock.now().minus(7 * DAY), 1_000_000)
        .await;
    assert_eq!(trimmed.unwrap(), 11, "all of it is old by that clock");
    let mut told = vec![server.retitle(&a.id, "ahead").await];
    world.clock.back(8 * DAY);
    let trimmed = server
        .store
        .trim(world.clock.now().minus(7 * DAY), 1_000_000)
        .await;
    assert_eq!(trimmed.unwrap(), 0, "nothing is old by the right one");
    told.push(server.retitle(&a.id, "back").await);
    for answer in told {
        let change = w.change().await;
        assert_eq!(
            change.version,
            answer.workspace.unwrap().version,
            "live watchers go on"
        );
        let position = server.position(&change.token).await;
        assert!(position > newest, "new entries are above all old ones");
        newest = position;
    }
    let (kept, _) = server
        .watch(from(pb::WatchStart::Earliest))
        .await
        .caught_up()
        .await;
    assert_eq!(kept.len(), 2);
    let resyncs = server
        .metric("compozy_watch_resyncs_total{reason=\"behind\"}")
        .await;
    assert_eq!(resyncs, 0.0);
}

async fn n115_n116_pages_and_snapshots_need_no_log(world: World) {
    let server = world.start().await;
    let a = server.register(&world, "a").await;
    let b = server.register(&world, "b").await;
    let (rows, page) = server.page().await;
    let gone = server.register(&world, "gone").await;
    server.remove(&gone.id).await;
    trim(&server, 0).await;
    let request = compozy_proto::workspace::v1::ListWorkspacesRequest {
        limit: 1,
        cursor: page.next_cursor.unwrap(),
        ..Default::default()
    };
    let second = server
        .workspaces()
        .list_workspaces(request)
        .await
        .unwrap()
        .into_inner();
    let mut ids = [rows[0].id.as_str(), second.workspaces[0].id.as_str()];
    ids.sort_unstable();
    let mut known = [a.id.as_str(), b.id.as_str()];
    known.sort_unstable();
    assert_eq!(ids, known);
    let (rows, changes, _) = server
        .watch(from(pb::WatchStart::Snapshot))
        .await
        .snapshot()
        .await;
    assert!(changes.is_empty() && rows.len() == 2 && rows.iter().all(|row| row.id != gone.id));
}

async fn n191_a_resume_against_a_trim_has_no_hole(world: World) {
    const TRIES: i64 = 300;
    let mut options = Options::default();
    options.settings.recent_entries = 10;
    let server = world.start_with(options).await;
    server.append(&world, &entries(1_000)).await;
    let (mut whole, mut expired) = (0, 0);
    for number in 1..=TRIES {
        let floor = server.store.head().await.unwrap().floor;
        let trimming = server
            .store
            .trim(Timestamp::from_nanos(0), (1_000 - 3 * number).unsigned_abs());
        let resuming = async {
            let mut w = server.watch(resumed(&token_at(&server, floor))).await;
            let mut next = floor;
            loop {
                match w.next().await {
                    Ok(Some(Message::Changes(batch))) => {
                        for change in batch.changes {
                            assert_eq!(change.version, next, "no hole");
                            next += 1;
                        }
                    }
                    Ok(Some(Message::Synced(_))) => return next == 1_000,
                    Ok(Some(Message::Resync(_))) => return false,
                    Err(status) => {
                        assert_eq!(reason(&status).1, "RESUME_TOKEN_EXPIRED");
                        return false;
                    }
                    other => panic!("{other:?}"),
                }
            }
        };
        let (trimmed, is_whole) = futures::join!(trimming, resuming);
        trimmed.unwrap();
        *(if is_whole { &mut whole } else { &mut expired }) += 1;
    }
    assert_eq!(whole + expired, TRIES);
}

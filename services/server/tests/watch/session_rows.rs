//! Rows of sessions: in a snapshot, and with changes (cases sections 2, 7 and 19).

use std::collections::BTreeMap;

use compozy_proto::change::v1 as pb;
use compozy_proto::change::v1::watch_catalog_response::Message;
use compozy_proto::session::v1 as session_pb;
use prost::Message as _;

use crate::agents::{beat, homeless, new};
use crate::callers::{start, watch_with, write_tokens};
use crate::client::{entry, from, of, of_kinds, resumed, session_of};
use crate::world::World;

cases! {
    n027_n028_sessions_come_behind_the_workspaces,
    n030_n085_a_model_of_sessions_equals_the_list,
    n086_n087_n088_a_row_is_never_older_than_its_change,
    n091_no_row_holds_a_lease_token,
    n103_long_rows_come_a_few_at_a_time,
    n198_a_row_is_there_only_while_it_exists_for_the_caller,
}

fn snapshot(request: pb::WatchCatalogRequest) -> pb::WatchCatalogRequest {
    pb::WatchCatalogRequest {
        start: pb::WatchStart::Snapshot.into(),
        ..request
    }
}

fn with_rows(request: pb::WatchCatalogRequest) -> pb::WatchCatalogRequest {
    pb::WatchCatalogRequest {
        include_rows: true,
        ..request
    }
}

async fn n027_n028_sessions_come_behind_the_workspaces(world: World) {
    let server = world.start().await;
    let a = server.register(&world, "a").await.id;
    let b = server.register(&world, "b").await.id;
    server.register(&world, "c").await;
    let mut ids = Vec::new();
    for place in [&a, &a, &b, &b] {
        ids.push(server.session_in(place).await);
    }
    ids.push(server.create(homeless(&world.root("d"))).await.id);
    // Archived ones are there, too.
    server.stop_session(&ids[0]).await;
    server.archive_session(&ids[0]).await;
    let records = server
        .watch(snapshot(Default::default()))
        .await
        .snapshot_records()
        .await;
    let is_session = |record: &pb::row::Record| matches!(record, pb::row::Record::Session(_));
    let is_workspace = |record: &pb::row::Record| matches!(record, pb::row::Record::Workspace(_));
    assert_eq!(records.iter().filter(|record| is_workspace(record)).count(), 3);
    assert_eq!(records.iter().filter(|record| is_session(record)).count(), 5);
    let first_session = records.iter().position(is_session).unwrap();
    assert!(!records[first_session..].iter().any(is_workspace));

    let sessions = of_kinds(&[pb::ChangeKind::Session]);
    let ungrouped = pb::WatchCatalogRequest {
        ungrouped: true,
        ..sessions.clone()
    };
    let of_b = pb::WatchCatalogRequest {
        kinds: sessions.kinds.clone(),
        ..of(&[&b])
    };
    let both = pb::WatchCatalogRequest {
        ungrouped: true,
        ..of_b.clone()
    };
    for (request, expected) in [
        (sessions, &ids[..]),
        (of_b, &ids[2..4]),
        (both, &ids[2..]),
        (ungrouped, &ids[4..]),
    ] {
        let mut w = server.watch(snapshot(request)).await;
        let mut rows = Vec::new();
        for record in w.snapshot_records().await {
            match record {
                pb::row::Record::Session(row) => rows.push(row),
                other => panic!("no session: {other:?}"),
            }
        }
        assert!(rows.is_sorted_by(|one, other| one.id < other.id));
        let listed = server.listed_sessions(session_pb::SessionFilter::default()).await;
        let listed: Vec<_> = listed
            .into_iter()
            .filter(|row| expected.contains(&row.id))
            .collect();
        assert_eq!(rows, listed);
        server.rename_session(&ids[4], "live").await;
        server.rename_session(&ids[2], "live").await;
        let live = w.change().await;
        assert!(expected.contains(&live.session_id), "then it is live");
        server.rename_session(&ids[4], "x").await;
        server.rename_session(&ids[2], "x").await;
    }
}

async fn n030_n085_a_model_of_sessions_equals_the_list(world: World) {
    let server = world.start().await;
    let a = server.register(&world, "a").await.id;
    let mut before = Vec::new();
    for _ in 0..60 {
        before.push(server.session_in(&a).await);
    }
    let writing = async {
        for (round, id) in before.iter().enumerate() {
            match round % 5 {
                0 => server.delete_session(id).await,
                1 => drop(server.session_in(&a).await),
                2 => server.detach(id).await,
                3 => drop(server.stop_session(id).await),
                _ => drop(server.rename_session(id, &format!("n{round}")).await),
            }
        }
    };
    let watching = async {
        let request = with_rows(snapshot(of(&[&a])));
        let mut w = server.watch(request).await;
        let (rows, changes, _) = w.snapshot_of_sessions().await;
        (w, rows, changes)
    };
    let ((), (mut w, rows, mut changes)) = futures::join!(writing, watching);
    let last = server.session_in(&a).await;
    while changes.last().is_none_or(|change| change.session_id != last) {
        changes.push(w.change().await);
    }
    let mut model: BTreeMap<String, session_pb::Session> =
        rows.into_iter().map(|row| (row.id.clone(), row)).collect();
    for change in changes {
        match (change.op(), session_of(change.row)) {
            (pb::ChangeOp::Deleted, _) => drop(model.remove(&change.session_id)),
            // Gone since: its deletion is still to come.
            (_, None) => {}
            (_, Some(row)) => drop(model.insert(row.id.clone(), row)),
        }
    }
    let filter = session_pb::SessionFilter {
        workspace: of(&[&a]).workspaces.pop(),
        ..Default::default()
    };
    let listed = server.listed_sessions(filter).await;
    assert_eq!(model.into_values().collect::<Vec<_>>(), listed);
}

async fn n086_n087_n088_a_row_is_never_older_than_its_change(world: World) {
    let server = world.start().await;
    let a = server.register(&world, "a").await.id;
    let s = server.session_in(&a).await;
    let mut w = server.synced(with_rows(Default::default())).await;
    server.rename_session(&s, "other").await;
    let change = w.change().await;
    let row = session_of(change.row).expect("the row rides along");
    assert_eq!((row.name.as_str(), row.version), ("other", change.version));
    assert!(row.health.is_none());
    let one = server.rename_session(&s, "one").await;
    server.rename_session(&s, "two").await;
    let request = with_rows(resumed(&one.revision));
    let (changes, _) = server.watch(request.clone()).await.caught_up().await;
    assert!(changes.len() >= 2);
    for change in changes {
        let row = session_of(change.row).unwrap();
        assert!(row.name == "two" && row.version >= change.version);
    }
    // Gone before the client reads.
    server.delete_session(&s).await;
    let (changes, _) = server.watch(request).await.caught_up().await;
    assert!(changes.iter().all(|change| change.row.is_none()));
    assert_eq!(entry(changes.last().unwrap()), "session deleted removed");
}

async fn n091_no_row_holds_a_lease_token(world: World) {
    let server = world.start().await;
    let a = server.register(&world, "a").await.id;
    let s = server.session_in(&a).await;
    let mut w = server.synced(with_rows(Default::default())).await;
    let lease = server.bind(&s, 3_600).await;
    server.beat(beat(&lease)).await;
    server.stop_session(&s).await;
    let mut told = Vec::new();
    for change in w.changes(2).await {
        assert!(session_of(change.row.clone()).is_some());
        told.push(change.encode_to_vec());
    }
    for record in server
        .watch(snapshot(Default::default()))
        .await
        .snapshot_records()
        .await
    {
        told.push(pb::Row { record: Some(record) }.encode_to_vec());
    }
    assert!(lease.starts_with("lease_"));
    // Neither the token nor the part of it that is secret, in any form.
    let (hash, secret) = (compozy_server::token::hash(&lease), &lease.as_bytes()[6..]);
    for bytes in told {
        assert!(!bytes.windows(secret.len()).any(|window| window == secret));
        assert!(!bytes.windows(hash.len()).any(|window| window == hash));
    }
}

/// What of a watch lies in memory at a time is a message's worth, also where every row is as long as it may be.
async fn n103_long_rows_come_a_few_at_a_time(world: World) {
    const ROWS: usize = 40;
    let server = world.start().await;
    let a = server.register(&world, "a").await.id;
    let four = "\u{1f680}";
    let labels = (0..32).map(|number| (format!("{number:02}{}", four.repeat(61)), four.repeat(255)));
    let labels: BTreeMap<_, _> = labels.collect();
    for _ in 0..ROWS {
        let request = session_pb::CreateSessionRequest {
            labels: labels.clone(),
            ..new(&a)
        };
        server.create(request).await;
    }
    for start in [pb::WatchStart::Earliest, pb::WatchStart::Snapshot] {
        let request = pb::WatchCatalogRequest {
            kinds: of_kinds(&[pb::ChangeKind::Session]).kinds,
            ..with_rows(from(start))
        };
        let mut w = server.watch(request).await;
        let (mut rows, mut longest) = (0, 0);
        loop {
            match w.message().await {
                Message::Changes(batch) => {
                    longest = longest.max(batch.encoded_len());
                    rows += batch.changes.iter().filter(|change| change.row.is_some()).count();
                }
                Message::SnapshotRow(row) => {
                    longest = longest.max(row.encoded_len());
                    rows += 1;
                }
                Message::Synced(_) => break,
                _ => {}
            }
        }
        assert_eq!(rows, ROWS, "{start:?}");
        assert!(longest < 1_500_000, "{start:?}: {longest}");
    }
}

async fn n198_a_row_is_there_only_while_it_exists_for_the_caller(world: World) {
    let (server, tokens) = start(&world).await;
    let a = server.register(&world, "a").await.id;
    let b = server.register(&world, "b").await.id;
    write_tokens(&tokens, &[("b", "read", Some(&[&b]))]);
    let seen = server.session_in(&b).await;
    let leaving = server.session_in(&b).await;
    server.session_in(&a).await;
    server.create(homeless(&world.root("d"))).await;
    let request = snapshot(of_kinds(&[pb::ChangeKind::Session]));
    let mut w = watch_with(&server, "token-b", request).await;
    let (rows, ..) = w.snapshot_of_sessions().await;
    let mut expected = [seen.clone(), leaving.clone()];
    expected.sort_unstable();
    assert_eq!(
        rows.iter().map(|row| row.id.clone()).collect::<Vec<_>>(),
        expected
    );
    // Renamed while it was there, read when it had gone: its row is not there any more.
    let renamed = server.rename_session(&leaving, "secret").await;
    server.detach(&leaving).await;
    server.rename_session(&leaving, "more secret").await;
    server.rename_session(&seen, "told").await;
    let request = pb::WatchCatalogRequest {
        kinds: of_kinds(&[pb::ChangeKind::Session]).kinds,
        ..with_rows(resumed(&renamed.revision))
    };
    let mut w = server.watch_as(Some("token-b"), request).await.unwrap();
    let (changes, _) = w.caught_up().await;
    let told: Vec<_> = changes
        .iter()
        .map(|change| (entry(change), session_of(change.row.clone()).map(|row| row.name)))
        .filter(|(words, _)| words != "session upserted created")
        .collect();
    let expected = [
        ("session upserted renamed".to_owned(), None),
        ("session deleted left".to_owned(), None),
        ("session upserted renamed".to_owned(), Some("told".to_owned())),
    ];
    assert_eq!(told, expected);
}

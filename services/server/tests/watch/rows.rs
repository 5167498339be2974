//! Rows that ride along (cases section 7).

use compozy_domain::{ChangeKind, ChangeOp, ChangeReason};
use compozy_proto::change::v1 as pb;
use compozy_proto::change::v1::watch_catalog_response::Message;
use compozy_store::StoreAddress;
use compozy_store::conformance::execute;
use futures::future::join_all;
use prost::Message as _;

use crate::client::{entry, from, reason, told, workspace_of};
use crate::entries::{entry_of, session};
use crate::world::World;

cases! {
    n086_n087_n088_a_row_is_never_older_than_its_change,
    n089_n090_rows_of_the_kinds_that_have_one,
    n092_rows_change_nothing_else,
    n103_long_rows_come_a_few_at_a_time,
}

replica_cases! {
    a_watch_that_waits_for_rows_ends_at_last,
}

fn with_rows(request: pb::WatchCatalogRequest) -> pb::WatchCatalogRequest {
    pb::WatchCatalogRequest {
        include_rows: true,
        ..request
    }
}

async fn n086_n087_n088_a_row_is_never_older_than_its_change(world: World) {
    let server = world.start().await;
    let a = server.register(&world, "a").await;
    let mut w = server.synced(with_rows(pb::WatchCatalogRequest::default())).await;
    server.rename(&a.id, "other").await;
    let change = w.change().await;
    let row = workspace_of(change.row.clone()).expect("the row rides along");
    assert_eq!((row.name(), row.version), ("other", change.version));
    assert_eq!(vec![row], server.listed().await);

    let one = server.rename(&a.id, "one").await;
    server.rename(&a.id, "two").await;
    let (changes, _) = server
        .watch(with_rows(crate::client::resumed(&one.revision)))
        .await
        .caught_up()
        .await;
    for change in changes {
        let row = workspace_of(change.row).unwrap();
        assert!(row.name() == "two" && row.version >= change.version);
    }
    // Gone before the client reads.
    let last = server.rename(&a.id, "three").await;
    server.remove(&a.id).await;
    let (changes, _) = server
        .watch(with_rows(crate::client::resumed(&last.revision)))
        .await
        .caught_up()
        .await;
    let told: Vec<_> = changes
        .iter()
        .rev()
        .take(2)
        .map(|change| (entry(change), change.row.is_some()))
        .collect();
    let expected = [
        ("workspace deleted removed".to_owned(), false),
        ("workspace upserted renamed".to_owned(), false),
    ];
    assert_eq!(told, expected);
}

async fn n089_n090_rows_of_the_kinds_that_have_one(world: World) {
    let server = world.start().await;
    let a = server.register(&world, "a").await;
    let b = server.register(&world, "b").await;
    server.move_before(&b.id, None).await;
    server.remove(&b.id).await;
    let rest = [
        session("sess-1", ChangeReason::State, Some(&a.id)),
        entry_of(
            ChangeKind::Profile,
            (ChangeOp::Upserted, ChangeReason::Created),
            None,
        ),
    ];
    server.append(&world, &rest).await;
    let (with, _) = server
        .watch(with_rows(from(pb::WatchStart::Earliest)))
        .await
        .caught_up()
        .await;
    let rows: Vec<_> = with
        .iter()
        .map(|change| (entry(change), workspace_of(change.row.clone()).map(|row| row.id)))
        .collect();
    let of_a = Some(a.id.clone());
    let expected = [
        ("workspace upserted created", of_a),
        ("workspace upserted created", None),
        ("workspace_order upserted moved", None),
        ("workspace deleted removed", None),
        // Of these there is no record.
        ("session upserted state", None),
        ("profile upserted created", None),
    ]
    .map(|(words, row)| (words.to_owned(), row));
    assert_eq!(rows, expected);
    let (without, _) = server
        .watch(from(pb::WatchStart::Earliest))
        .await
        .caught_up()
        .await;
    assert!(without.iter().all(|change| change.row.is_none()));
    let moving = with_rows(crate::client::of_kinds(&[pb::ChangeKind::WorkspaceOrder]));
    let mut moving = server.synced(moving).await;
    let c = server.register(&world, "c").await;
    server.move_before(&c.id, None).await;
    let row = workspace_of(moving.change().await.row).expect("the moved record");
    assert_eq!(row.id, c.id);
}

async fn n092_rows_change_nothing_else(world: World) {
    const CHANGES: usize = 300;
    let server = world.start().await;
    let a = server.register(&world, "a").await;
    let mut watches = Vec::new();
    for number in 0..20 {
        let request = pb::WatchCatalogRequest {
            include_rows: number % 2 == 0,
            ..Default::default()
        };
        watches.push(server.synced(request).await);
    }
    let writing = async {
        for number in 0..CHANGES {
            server.retitle(&a.id, &number.to_string()).await;
        }
    };
    let reading = join_all(watches.iter_mut().map(|watching| watching.changes(CHANGES)));
    let ((), seen) = futures::join!(writing, reading);
    let seen: Vec<Vec<_>> = seen
        .iter()
        .map(|changes| changes.iter().map(told).collect())
        .collect();
    assert!(seen.iter().all(|changes| *changes == seen[0]));
}

/// What of a watch lies in memory at a time is a message's worth, also where every row is as long as it may be.
async fn n103_long_rows_come_a_few_at_a_time(world: World) {
    const ROWS: usize = 20;
    let server = world.start().await;
    for number in 0..ROWS {
        server.register(&world, &format!("w{number}")).await;
    }
    let directories = vec![format!("\"/{}\"", "d".repeat(3_600)); 64];
    let sql = format!(
        "UPDATE workspace SET additional_dirs = '[{}]'",
        directories.join(",")
    );
    execute(&server.store, &sql).await.unwrap();
    for start in [pb::WatchStart::Earliest, pb::WatchStart::Snapshot] {
        let mut w = server.watch(with_rows(from(start))).await;
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

async fn a_watch_that_waits_for_rows_ends_at_last(world: World) {
    let server = world.start().await;
    let a = server.register(&world, "a").await;
    let mut w = server.synced(with_rows(pb::WatchCatalogRequest::default())).await;
    let StoreAddress::Postgres { url, .. } = &world.address else {
        panic!("a case of Postgres")
    };
    let pool = sqlx::PgPool::connect(url).await.unwrap();
    let mut blocking = pool.begin().await.unwrap();
    sqlx::query("LOCK TABLE workspace IN ACCESS EXCLUSIVE MODE")
        .execute(&mut *blocking)
        .await
        .unwrap();
    let upserted = (ChangeOp::Upserted, ChangeReason::Updated);
    let change = entry_of(ChangeKind::Workspace, upserted, Some(&a.id));
    server.append(&world, &[change]).await;
    let status = loop {
        match w.next().await {
            Ok(message) => assert!(matches!(message, Some(Message::Heartbeat(_))), "{message:?}"),
            Err(status) => break status,
        }
    };
    assert_eq!(reason(&status).1, "STORE_UNAVAILABLE");
    blocking.rollback().await.unwrap();
}

//! Clients that do not read (cases section 8). A client that does not ask for the next message has a
//! stream window of 64 KiB, which is full soon; nothing more is taken from the server then.

use std::collections::BTreeMap;
use std::time::Duration;

use compozy_domain::{ChangeReason, NewChange};
use compozy_proto::change::v1 as pb;
use compozy_proto::workspace::v1 as workspace_pb;
use futures::future::join_all;
use tokio::time::Instant;

use crate::client::{Watching, entry, of_kinds, resumed, workspace_of};
use crate::entries::session;
use crate::server::Server;
use crate::world::{Options, World};

cases! {
    n095_of_a_thing_that_changed_often_the_last_change_comes,
    n096_n193_what_has_gone_is_told_as_gone,
    n097_n098_everybody_else_goes_on_and_the_slow_one_misses_nothing,
    n099_writers_do_not_wait_for_who_does_not_read,
    n100_who_keeps_up_gets_every_change,
    n101_n102_a_model_of_a_client_that_is_slow_all_along,
    n103_many_that_never_read,
}

fn with_rows() -> pb::WatchCatalogRequest {
    pb::WatchCatalogRequest {
        include_rows: true,
        ..Default::default()
    }
}

/// Entries of so many sessions, one each.
pub(crate) fn sessions(numbers: std::ops::Range<usize>, workspace_id: &str) -> Vec<NewChange> {
    numbers
        .map(|number| NewChange {
            version: number as i64,
            ..session(
                &format!("sess-{number:06}"),
                ChangeReason::State,
                Some(workspace_id),
            )
        })
        .collect()
}

/// More than any client takes that does not read.
pub(crate) async fn fill(server: &Server, world: &World, workspace_id: &str) {
    server
        .append(world, &sessions(900_000..902_000, workspace_id))
        .await;
}

async fn n095_of_a_thing_that_changed_often_the_last_change_comes(world: World) {
    const RENAMES: usize = 500;
    let server = world.start_with(Options::impatient()).await;
    let a = server.register(&world, "a").await;
    let mut w = server.synced(with_rows()).await;
    for number in 0..RENAMES {
        server.retitle(&a.id, &format!("{number:0>200}")).await;
    }
    let last_title = format!("{:0>200}", RENAMES - 1);
    let mut changes = vec![w.change().await];
    while changes.last().unwrap().version < a.version + RENAMES as i64 {
        changes.push(w.change().await);
    }
    assert!(changes.len() < RENAMES, "it was coalesced");
    assert!(changes.is_sorted_by(|one, other| one.version < other.version));
    let last = changes.pop().unwrap();
    assert_eq!(workspace_of(last.row).unwrap().title, Some(last_title));
    assert!(server.metric("compozy_watch_changes_coalesced_total").await > 0.0);
    let next = server.retitle(&a.id, "next").await.workspace.unwrap();
    let (missed, _) = server.watch(resumed(&last.token)).await.caught_up().await;
    assert_eq!(
        missed.iter().map(|change| change.version).collect::<Vec<_>>(),
        [next.version]
    );
    assert_eq!(w.change().await.version, next.version);
}

async fn n096_n193_what_has_gone_is_told_as_gone(world: World) {
    let server = world.start_with(Options::impatient()).await;
    let a = server.register(&world, "a").await;
    let b = server.register(&world, "b").await;
    let mut w = server.w().await;
    fill(&server, &world, &a.id).await;
    for number in 0..100 {
        server.retitle(&b.id, &number.to_string()).await;
    }
    server.remove(&b.id).await;
    let c = server.register(&world, "c").await;
    server.retitle(&c.id, "t").await;
    server.remove(&c.id).await;
    let last = server.retitle(&a.id, "last").await.workspace.unwrap();
    // All of it has its position before the client takes the next message.
    server.watches.log.present().await.unwrap();
    let mut of_others: BTreeMap<String, Vec<String>> = BTreeMap::new();
    loop {
        let change = w.change().await;
        if change.workspace_id == a.id && change.version == last.version && change.session_id.is_empty() {
            break;
        }
        if change.workspace_id != a.id {
            of_others
                .entry(change.workspace_id.clone())
                .or_default()
                .push(entry(&change));
        }
    }
    for id in [b.id, c.id] {
        assert_eq!(
            of_others[&id],
            ["workspace deleted removed"],
            "one, and never none"
        );
    }
}

async fn n097_n098_everybody_else_goes_on_and_the_slow_one_misses_nothing(world: World) {
    const THINGS: usize = 3_000;
    const ROUNDS: usize = 2;
    let mut options = Options::impatient();
    // Against three thousand things what 4 MiB are against a million, or less.
    options.settings.behind_bytes = 64 * 1024;
    let server = world.start_with(options).await;
    let a = server.register(&world, "a").await;
    let request = of_kinds(&[pb::ChangeKind::Session]);
    let mut slow = server.synced(request.clone()).await;
    let mut others = Vec::new();
    for _ in 0..10 {
        others.push(server.synced(request.clone()).await);
    }
    let writing = async {
        for round in 0..ROUNDS {
            for from in (0..THINGS).step_by(1_000) {
                let mut entries = sessions(from..from + 1_000, &a.id);
                entries.iter_mut().for_each(|entry| entry.version = round as i64);
                server.append(&world, &entries).await;
            }
        }
        server
            .append(&world, &[session("sess-end", ChangeReason::State, Some(&a.id))])
            .await;
    };
    let reading = join_all(others.iter_mut().map(last_of_each));
    let ((), seen) = futures::join!(writing, reading);
    for (of_each, _) in seen {
        assert!(of_each.len() == THINGS && of_each.values().all(|version| *version == ROUNDS as i64 - 1));
    }
    let (of_each, token) = last_of_each(&mut slow).await;
    assert!(of_each.len() == THINGS && of_each.values().all(|version| *version == ROUNDS as i64 - 1));
    assert_eq!(
        server
            .metric("compozy_watch_resyncs_total{reason=\"behind\"}")
            .await,
        0.0
    );
    server.append(&world, &sessions(0..1, &a.id)).await;
    assert_eq!(slow.change().await.session_id, "sess-000000", "live again");
    let again = pb::WatchCatalogRequest {
        resume_token: token,
        ..request
    };
    let (missed, _) = server.watch(again).await.caught_up().await;
    assert_eq!(missed.len(), 1);
}

/// Of each session the last version that was told before the end, and the token of the end.
async fn last_of_each(watching: &mut Watching) -> (BTreeMap<String, i64>, String) {
    let mut of_each = BTreeMap::new();
    loop {
        let change = watching.change().await;
        if change.session_id == "sess-end" {
            return (of_each, change.token);
        }
        of_each.insert(change.session_id, change.version);
    }
}

async fn n099_writers_do_not_wait_for_who_does_not_read(world: World) {
    let server = world.start().await;
    let a = server.register(&world, "a").await;
    let median = async || {
        let mut took = Vec::new();
        for number in 0..60 {
            let begun = Instant::now();
            server.retitle(&a.id, &format!("{number:0>200}")).await;
            took.push(begun.elapsed());
        }
        took.sort_unstable();
        took[30]
    };
    median().await;
    let without = median().await;
    let mut slow = Vec::new();
    for _ in 0..20 {
        slow.push(server.synced(with_rows()).await);
    }
    fill(&server, &world, &a.id).await;
    let with = median().await;
    assert!(
        with < without * 5 + Duration::from_millis(20),
        "{without:?} {with:?}"
    );
    drop(slow);
}

async fn n100_who_keeps_up_gets_every_change(world: World) {
    let mut options = Options::default();
    options.settings.behind_after = Duration::from_secs(2);
    let server = world.start_with(options).await;
    let a = server.register(&world, "a").await;
    let mut w = server.w().await;
    // A fortieth of the pace of the case, of a client and of changes alike.
    let mut pace = tokio::time::interval(Duration::from_millis(25));
    for number in 0..40 {
        pace.tick().await;
        let written = server
            .retitle(&a.id, &number.to_string())
            .await
            .workspace
            .unwrap();
        assert_eq!(w.change().await.version, written.version);
    }
    assert_eq!(server.metric("compozy_watch_changes_coalesced_total").await, 0.0);
}

async fn n101_n102_a_model_of_a_client_that_is_slow_all_along(world: World) {
    let server = world.start_with(Options::impatient()).await;
    let mut w = server.synced(with_rows()).await;
    let mut ids = Vec::new();
    let mut model: BTreeMap<String, workspace_pb::Workspace> = BTreeMap::new();
    for round in 0..300_usize {
        match round % 10 {
            0 => ids.push(server.register(&world, &format!("w{round}")).await.id),
            7 if ids.len() > 3 => server.remove(&ids.remove(round % 3)).await,
            _ => drop(
                server
                    .retitle(&ids[round % ids.len()], &format!("{round:0>200}"))
                    .await,
            ),
        }
        // Now and then it takes one message.
        if round % 50 == 49 {
            apply(&mut model, w.change().await);
        }
    }
    let end = server.register(&world, "end").await;
    loop {
        let change = w.change().await;
        let is_last = change.workspace_id == end.id;
        apply(&mut model, change);
        if is_last {
            break;
        }
    }
    assert_eq!(model.into_values().collect::<Vec<_>>(), server.listed().await);
}

fn apply(model: &mut BTreeMap<String, workspace_pb::Workspace>, change: pb::Change) {
    match (change.op(), workspace_of(change.row)) {
        (pb::ChangeOp::Deleted, _) => drop(model.remove(&change.workspace_id)),
        (_, None) => {}
        (_, Some(row)) => drop(model.insert(row.id.clone(), row)),
    }
}

async fn n103_many_that_never_read(world: World) {
    let server = world.start_with(Options::impatient()).await;
    let a = server.register(&world, "a").await;
    let mut silent = Vec::new();
    for _ in 0..5 {
        // Their connection has room for all of them, each stream for little.
        let channel = server.connect(None).await;
        for _ in 0..40 {
            silent.push(Watching::begin(channel.clone(), with_rows(), None).await.unwrap());
        }
    }
    fill(&server, &world, &a.id).await;
    for number in 0..30 {
        let written = server
            .retitle(&a.id, &number.to_string())
            .await
            .workspace
            .unwrap();
        assert_eq!(server.listed().await, [written]);
    }
    assert_eq!(server.metric("compozy_watchers").await, 200.0);
    drop(silent);
}

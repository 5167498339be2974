//! Two servers on one catalog (cases section 11), and what many watchers cost one.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use compozy_proto::change::v1 as pb;
use compozy_store::StoreAddress;
use futures::future::join_all;

use crate::client::{Watching, beating, resumed, told};
use crate::server::Server;
use crate::world::{World, until};

replica_cases! {
    n125_a_write_through_one_reaches_watchers_of_the_other,
    n126_behind_a_pooler_that_passes_no_hints,
    n127_both_see_one_order,
    n130_n137_tokens_of_one_are_good_at_the_other,
    n132_a_page_of_the_other_has_an_answered_write,
}

pooled_cases! {
    n125_a_write_through_one_reaches_watchers_of_the_other,
    n127_both_see_one_order,
    n130_n137_tokens_of_one_are_good_at_the_other,
    n132_a_page_of_the_other_has_an_answered_write,
    n200_a_change_on_one_reaches_the_other_within_a_poll,
}

cases! {
    n135_a_thousand_idle_watchers_read_the_log_once,
}

async fn n125_a_write_through_one_reaches_watchers_of_the_other(world: World) {
    let (one, two) = (world.start().await, world.start().await);
    let mut w = two.w().await;
    let a = one.register(&world, "a").await;
    assert_eq!(w.change().await.workspace_id, a.id);
    for number in 0..20 {
        let written = one.retitle(&a.id, &number.to_string()).await.workspace.unwrap();
        assert_eq!(w.change().await.version, written.version);
    }
}

async fn n126_behind_a_pooler_that_passes_no_hints(mut world: World) {
    let StoreAddress::Postgres { pooler, .. } = &mut world.address else {
        panic!("a Postgres case")
    };
    // A server that is told of a pooler listens to nothing.
    *pooler = true;
    let (one, two) = (world.start().await, world.start().await);
    let mut w = two.w().await;
    let a = one.register(&world, "a").await;
    assert_eq!(w.change().await.workspace_id, a.id);
    let written = one.retitle(&a.id, "t").await.workspace.unwrap();
    assert_eq!(w.change().await.version, written.version);
}

async fn n127_both_see_one_order(world: World) {
    const WRITERS: usize = 8;
    const WRITES: usize = 25;
    let servers = [world.start().await, world.start().await];
    let mut ids = Vec::new();
    for number in 0..3 {
        ids.push(servers[0].register(&world, &format!("w{number}")).await.id);
    }
    let mut watches = [servers[0].w().await, servers[1].w().await];
    let writing = join_all((0..2 * WRITERS).map(|writer| {
        let (server, ids) = (&servers[writer % 2], &ids);
        async move {
            for number in 0..WRITES {
                server
                    .retitle(&ids[number % ids.len()], &format!("{writer}-{number}"))
                    .await;
            }
        }
    }));
    let reading = join_all(
        watches
            .iter_mut()
            .map(|watching| watching.changes(2 * WRITERS * WRITES)),
    );
    let (_, seen) = futures::join!(writing, reading);
    let words = |changes: &[pb::Change]| changes.iter().map(told).collect::<Vec<_>>();
    assert_eq!(words(&seen[0]), words(&seen[1]));
    let mut versions = BTreeMap::new();
    for change in &seen[0] {
        let version = versions.entry(&change.workspace_id).or_insert(1);
        *version += 1;
        assert_eq!(change.version, *version);
    }
}

/// The other server learns of a change by its poll every 250 ms: the middle of many is within that, whatever a busy
/// machine makes of single ones.
async fn n200_a_change_on_one_reaches_the_other_within_a_poll(world: World) {
    let (one, two) = (world.start().await, world.start().await);
    let a = one.register(&world, "a").await;
    let mut w = two.w().await;
    let mut took = Vec::new();
    for number in 0..21 {
        let written = one.retitle(&a.id, &number.to_string()).await.workspace.unwrap();
        let answered = Instant::now();
        assert_eq!(w.change().await.version, written.version);
        took.push(answered.elapsed());
    }
    took.sort_unstable();
    assert!(took[10] < Duration::from_millis(300), "{took:?}");
}

/// Resumes here and there in turn while both are written to: each change comes once and in order.
async fn n130_n137_tokens_of_one_are_good_at_the_other(world: World) {
    const ROUNDS: usize = 12;
    let servers = [world.start().await, world.start().await];
    let a = servers[0].register(&world, "a").await;
    let mut token = servers[0]
        .watch(pb::WatchCatalogRequest::default())
        .await
        .synced()
        .await;
    let (stop, is_stopped) = tokio::sync::oneshot::channel::<()>();
    let writing = async {
        let mut number = 0;
        let mut stopped = std::pin::pin!(is_stopped);
        while futures::poll!(&mut stopped).is_pending() {
            servers[number % 2].retitle(&a.id, &number.to_string()).await;
            number += 1;
        }
    };
    let walking = async {
        let mut next = a.version + 1;
        for round in 0..ROUNDS {
            let mut watching = servers[round % 2].watch(beating(resumed(&token))).await;
            let (missed, synced) = watching.caught_up().await;
            check(&missed, &mut next);
            // From `synced` in one round, from a change in the next, from a heartbeat in the one after that.
            token = match round % 3 {
                0 => synced,
                1 => {
                    let changes = one_batch(&mut watching).await;
                    check(&changes, &mut next);
                    changes.last().unwrap().token.clone()
                }
                _ => beat(&mut watching, &mut next).await,
            };
        }
        stop.send(()).unwrap();
        next
    };
    let ((), next) = futures::join!(writing, walking);
    assert!(next > a.version + ROUNDS as i64);
}

fn check(changes: &[pb::Change], next: &mut i64) {
    for change in changes {
        assert_eq!(change.version, *next, "nothing lost, nothing repeated");
        *next += 1;
    }
}

async fn one_batch(watching: &mut Watching) -> Vec<pb::Change> {
    match watching.news().await {
        pb::watch_catalog_response::Message::Changes(batch) => batch.changes,
        other => panic!("{other:?}"),
    }
}

async fn beat(watching: &mut Watching, next: &mut i64) -> String {
    loop {
        match watching.message().await {
            pb::watch_catalog_response::Message::Changes(batch) => check(&batch.changes, next),
            pb::watch_catalog_response::Message::Heartbeat(beat) => return beat.token,
            other => panic!("{other:?}"),
        }
    }
}

async fn n132_a_page_of_the_other_has_an_answered_write(world: World) {
    let (one, two) = (world.start().await, world.start().await);
    let a = one.register(&world, "a").await;
    for number in 0..30 {
        let written = one.retitle(&a.id, &number.to_string()).await.workspace.unwrap();
        let (rows, page) = two.page().await;
        assert_eq!(rows, [written.clone()]);
        let next = one.retitle(&a.id, &format!("{number}+")).await.workspace.unwrap();
        let (changes, _) = two.watch(resumed(&page.revision)).await.caught_up().await;
        assert_eq!(changes.last().unwrap().version, next.version, "nothing is missed");
        assert!(
            changes
                .iter()
                .rev()
                .skip(1)
                .all(|change| change.version <= written.version)
        );
    }
}

async fn n135_a_thousand_idle_watchers_read_the_log_once(world: World) {
    let server = world.start().await;
    let mut few = Vec::new();
    for _ in 0..9 {
        few.push(server.w().await);
    }
    let with_ten = idle(&server).await;
    let mut many = Vec::new();
    for _ in 0..5 {
        let channel = server.connect(None).await;
        let opening = (0..198).map(|_| async {
            let mut watching = Watching::begin(channel.clone(), pb::WatchCatalogRequest::default(), None)
                .await
                .unwrap();
            watching.synced().await;
            watching
        });
        many.extend(join_all(opening).await);
    }
    let with_a_thousand = idle(&server).await;
    let open = (few.len() + many.len()) as f64;
    until("the watches are those", async || {
        server.metric("compozy_watchers").await == open
    })
    .await;
    assert!(
        with_ten > 0 && with_a_thousand <= with_ten + 4,
        "{with_ten} {with_a_thousand}"
    );
}

/// Statements on the log in the time of three heartbeats.
async fn idle(server: &Server) -> u64 {
    let mut watching = server.watch(beating(pb::WatchCatalogRequest::default())).await;
    watching.synced().await;
    let before = server.watched.statements_on_log();
    for _ in 0..3 {
        watching.heartbeat().await;
    }
    server.watched.statements_on_log() - before
}

//! Orders of a list (cases section 16).

use std::time::Duration;

use compozy_proto::session::v1 as pb;
use compozy_store::{SessionStore as _, Sweep};

use crate::asked::{new, rename};
use crate::pages::{all, settled, sorted, waiting};
use crate::world::World;

cases! {
    s286_the_latest_change_comes_first,
    s287_activity_moves_in_one_order_only,
    s288_without_activity_the_creation_counts,
    s289_equal_activity_is_ordered_by_creation,
    s290_s291_who_needs_attention_comes_first,
    s292_an_unknown_order_is_the_default,
}

async fn s286_the_latest_change_comes_first(world: World) {
    let (a, _) = world.a_and_b().await;
    let [one, two, three] = world.create_some(&a.id).await;
    world.daemon.api.rename_session(rename(&one, "x")).await.unwrap();
    assert_eq!(order(&world, pb::SessionSort::Recent).await, [one, three, two]);
}

async fn s287_activity_moves_in_one_order_only(world: World) {
    let (a, _) = world.a_and_b().await;
    let [one, two, three] = world.create_some(&a.id).await;
    let lease = world.bound_for(&two, 60).await;
    world.advance(Duration::from_secs(1)).await;
    world.active(&lease).await;
    // The row follows within 10 s, by the sweep.
    world.advance(Duration::from_secs(5)).await;
    sweep(&world).await;
    let recent = [three.clone(), two.clone(), one.clone()];
    assert_eq!(order(&world, pb::SessionSort::Recent).await, recent);
    assert_eq!(
        order(&world, pb::SessionSort::LastActivity).await,
        [two, three, one]
    );
}

async fn s288_without_activity_the_creation_counts(world: World) {
    let (a, _) = world.a_and_b().await;
    // 9:00, then 10:00 and 10:01, then 11:00.
    let three = world.create(new(&a.id)).await.id;
    let one = world.create(new(&a.id)).await.id;
    let lease = world.bound_for(&one, 3_600).await;
    world.advance(Duration::from_secs(3_599)).await;
    world.active(&lease).await;
    world.advance(Duration::from_secs(60)).await;
    let two = world.create(new(&a.id)).await.id;
    world.advance(Duration::from_secs(1_800)).await;
    world
        .daemon
        .api
        .rename_session(rename(&three, "x"))
        .await
        .unwrap();
    sweep(&world).await;
    assert_eq!(
        order(&world, pb::SessionSort::LastActivity).await,
        [two, one, three]
    );
}

async fn s289_equal_activity_is_ordered_by_creation(world: World) {
    let (a, _) = world.a_and_b().await;
    let [one, two] = world.create_some(&a.id).await;
    let (first, second) = (world.bound_for(&one, 60).await, world.bound_for(&two, 60).await);
    world.advance(Duration::from_secs(1)).await;
    world.active(&second).await;
    world.active(&first).await;
    world.advance(Duration::from_secs(1)).await;
    world.daemon.api.rename_session(rename(&one, "x")).await.unwrap();
    sweep(&world).await;
    assert_eq!(order(&world, pb::SessionSort::LastActivity).await, [two, one]);
}

async fn s290_s291_who_needs_attention_comes_first(world: World) {
    let (a, _) = world.a_and_b().await;
    let ids: [String; 5] = world.create_some(&a.id).await;
    let mut leases = Vec::new();
    for id in &ids {
        leases.push(world.bound_for(id, 3_600).await);
    }
    let [
        idle,
        done_at_ten,
        input_at_nine,
        done_at_eleven,
        auth_at_half_past,
    ] = &ids;
    world.report(&leases[0], pb::HeartbeatRequest::default()).await;
    // Half a minute stands for half an hour.
    let half = Duration::from_secs(30);
    let input = waiting(&[pb::WaitingReason::Input]);
    let auth = waiting(&[pb::WaitingReason::Auth]);
    for (at, report) in [(2, input), (4, auth), (1, settled())] {
        world.report(&leases[at], report).await;
        world.advance(half).await;
    }
    world.advance(half).await;
    world.report(&leases[3], settled()).await;
    let expected = [
        auth_at_half_past,
        input_at_nine,
        done_at_eleven,
        done_at_ten,
        idle,
    ]
    .map(String::clone);
    assert_eq!(order(&world, pb::SessionSort::Attention).await, expected);
}

async fn s292_an_unknown_order_is_the_default(world: World) {
    let (a, _) = world.a_and_b().await;
    let _: [String; 3] = world.create_some(&a.id).await;
    let unknown = pb::ListSessionsRequest {
        sort: 99,
        limit: 1,
        ..Default::default()
    };
    assert_eq!(
        world.walked(unknown).await,
        order(&world, pb::SessionSort::Recent).await
    );
}

/// The ids of all sessions, read one by one and, which has to be the same, all at once.
async fn order(world: &World, sort: pb::SessionSort) -> Vec<String> {
    let ids = world.walked(sorted(all(), sort, 1)).await;
    assert_eq!(world.walked(sorted(all(), sort, 100)).await, ids);
    ids
}

/// One run of the sweep.
async fn sweep(world: &World) {
    let sweep = Sweep {
        start_timeout: Duration::from_secs(60),
        stale_after: Duration::from_secs(120),
        now: compozy_domain::Clock::now(&*world.clock),
        deadline: std::time::Instant::now() + Duration::from_secs(20),
    };
    world.store.sweep(sweep).await.unwrap();
}

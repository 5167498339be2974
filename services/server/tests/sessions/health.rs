//! Health as lists and looks tell it (cases sections 12 and 13).

use std::sync::Arc;
use std::time::Duration;

use compozy_proto::session::v1 as pb;

use crate::asked::{get, list, new};
use crate::lists::fill;
use crate::pages::{all, first, settled};
use crate::watched_store::WatchedStore;
use crate::world::World;

cases! {
    s198_looking_at_health_writes_nothing,
    s199_health_costs_a_page_no_question_more,
    s200_health_changes_nothing_else_of_a_page,
    s204_looking_is_not_seeing,
}

fn health(id: &str) -> pb::GetSessionHealthRequest {
    pb::GetSessionHealthRequest {
        session_id: id.to_owned(),
    }
}

async fn s198_looking_at_health_writes_nothing(world: World) {
    let (a, _) = world.a_and_b().await;
    let id = world.create(new(&a.id)).await.id;
    world.bound_for(&id, 30).await;
    let looking = async {
        for _ in 0..100 {
            let seen = world.daemon.api.get_session_health(health(&id)).await.unwrap();
            assert_eq!(seen.health.unwrap().health(), pb::Health::Healthy);
        }
    };
    world.unchanged_by(looking).await;
}

async fn s199_health_costs_a_page_no_question_more(world: World) {
    let (a, _) = world.a_and_b().await;
    fill(&world, &a.id, 100).await;
    let watched = Arc::new(WatchedStore::over(&world.store));
    let daemon = world.start(|parts| parts.store = Arc::clone(&watched) as _).await;
    let mut asked = Vec::new();
    for include_health in [false, true] {
        let request = pb::ListSessionsRequest {
            include_health,
            ..first(all(), 100)
        };
        let before = watched.counts().0;
        let answer = daemon.api.list_sessions(request).await.unwrap();
        asked.push(watched.counts().0 - before);
        assert_eq!(answer.sessions.len(), 100);
        assert!(
            answer
                .sessions
                .iter()
                .all(|row| row.health.is_some() == include_health)
        );
    }
    assert_eq!(asked, [1, 1]);
}

async fn s200_health_changes_nothing_else_of_a_page(world: World) {
    let (a, _) = world.a_and_b().await;
    let ids: [String; 4] = world.create_some(&a.id).await;
    world.bound_for(&ids[1], 30).await;
    world.stop(&ids[2]).await;
    let without = world.page(list(all())).await;
    let request = pb::ListSessionsRequest {
        include_health: true,
        ..list(all())
    };
    let (mut rows, info) = world.page(request).await;
    for row in &mut rows {
        let seen = world
            .daemon
            .api
            .get_session_health(health(&row.id))
            .await
            .unwrap();
        assert_eq!(row.health.take(), seen.health);
    }
    assert_eq!((rows, info), without);
}

async fn s204_looking_is_not_seeing(world: World) {
    let (a, _) = world.a_and_b().await;
    let id = world.create(new(&a.id)).await.id;
    let lease = world.bound_for(&id, 30).await;
    world.report(&lease, settled()).await;
    world.advance(Duration::from_secs(1)).await;
    world.daemon.api.get_session(get(&id)).await.unwrap();
    world.page(list(all())).await;
    let inspect = pb::InspectSessionRequest {
        session_id: id.clone(),
    };
    world.daemon.api.inspect_session(inspect).await.unwrap();
    let seen = world.daemon.api.get_session_health(health(&id)).await.unwrap();
    assert_eq!(seen.health.unwrap().badge(), pb::SessionBadge::Done);
    assert_eq!(world.session(&id).await.badge(), pb::SessionBadge::Done);
}

//! Where a session comes from (cases section 3).

use compozy_proto::session::v1 as pb;

use crate::asked::{NOBODY, archive, delete, new, ungrouped};
use crate::world::World;

cases! {
    s053_children_and_grandchildren,
    s054_a_parent_in_another_workspace,
    s055_s056_a_parent_that_is_gone,
    s057_a_parent_that_is_over,
    s061_roles_that_only_look_internal,
}

fn child(workspace_id: &str, parent: &str) -> pb::CreateSessionRequest {
    pb::CreateSessionRequest {
        parent_session_id: parent.to_owned(),
        ..new(workspace_id)
    }
}

/// Parent, root and depth.
fn lineage(session: &pb::Session) -> (String, String, i32) {
    let lineage = session.lineage.clone().unwrap();
    (lineage.parent_session_id, lineage.root_session_id, lineage.depth)
}

async fn s053_children_and_grandchildren(world: World) {
    let a = world.only_a().await;
    let s1 = world.create(new(&a.id)).await.id;
    let s2 = world.create(child(&a.id, &s1)).await;
    let s3 = world.create(child(&a.id, &s2.id)).await;
    assert_eq!(lineage(&s2), (s1.clone(), s1.clone(), 1));
    assert_eq!(lineage(&s3), (s2.id, s1, 2));
}

async fn s054_a_parent_in_another_workspace(world: World) {
    let (a, b) = world.a_and_b().await;
    let of_b = world.create(new(&b.id)).await.id;
    world
        .field_refused("parent_session_id", child(&a.id, &of_b))
        .await;
    world
        .field_refused("parent_session_id", child(&a.id, "sess-1"))
        .await;
    // A child of no workspace is allowed.
    let outside = pb::CreateSessionRequest {
        parent_session_id: of_b.clone(),
        ..ungrouped(&a.root_dir)
    };
    let outside = world.create(outside).await;
    assert_eq!(lineage(&outside), (of_b.clone(), of_b, 1));
}

async fn s055_s056_a_parent_that_is_gone(world: World) {
    let a = world.only_a().await;
    let s1 = world.create(new(&a.id)).await.id;
    let s2 = world.create(child(&a.id, &s1)).await;
    world.stop(&s1).await;
    world.daemon.api.delete_session(delete(&s1)).await.unwrap();
    assert_eq!(world.session(&s2.id).await, s2);
    let children = pb::SessionFilter {
        parent: s1.clone(),
        ..Default::default()
    };
    assert_eq!(world.ids(children, pb::SessionSort::Recent).await, [s2.id]);
    let late = world.create(child(&a.id, &s1)).await;
    assert_eq!(lineage(&late), (s1.clone(), s1, 1));
    let never = world.create(child(&a.id, NOBODY)).await;
    assert_eq!(lineage(&never), (NOBODY.to_owned(), NOBODY.to_owned(), 1));
}

async fn s057_a_parent_that_is_over(world: World) {
    let a = world.only_a().await;
    let s1 = world.create(new(&a.id)).await.id;
    world.stop(&s1).await;
    world.daemon.api.archive_session(archive(&s1)).await.unwrap();
    let s2 = world.create(child(&a.id, &s1)).await;
    assert_eq!(lineage(&s2), (s1.clone(), s1, 1));
}

async fn s061_roles_that_only_look_internal(world: World) {
    let a = world.only_a().await;
    for role in ["auto-titles", "memory-extractor-2"] {
        let request = pb::CreateSessionRequest {
            spawn_role: role.to_owned(),
            ..new(&a.id)
        };
        let session = world.create(request).await;
        assert!(!session.internal && session.lineage.unwrap().spawn_role == role);
    }
    assert_eq!(world.total_of(pb::SessionFilter::default()).await, 2);
    let counts = world.record(&a.id).await.session_counts.unwrap();
    assert_eq!(counts.active_count, 2);
    let long = pb::CreateSessionRequest {
        spawn_role: "x".repeat(65),
        ..new(&a.id)
    };
    world.field_refused("spawn_role", long).await;
}

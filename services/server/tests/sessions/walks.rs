//! Walks while the catalog changes (cases section 18).

use std::time::Duration;

use compozy_proto::session::v1 as pb;
use compozy_proto::workspace::v1 as workspace_pb;
use compozy_store::conformance::execute;

use crate::asked::{archive, delete, new, rename};
use crate::pages::{all, behind, first, of, sorted};
use crate::world::World;

cases! {
    s310_s311_rows_of_the_page_before_are_deleted,
    s312_an_unseen_row_is_renamed,
    s313_a_seen_row_is_stopped,
    s314_rows_are_created_between_pages,
    s315_an_unseen_row_is_archived,
    s317_a_seen_row_is_moved_to_the_end,
    s377_what_was_counted_is_counted_again_only_after_a_change,
    s378_what_is_committed_and_not_numbered_is_counted,
    s379_what_time_changes_is_that_of_the_first_page,
    s379_badges_are_those_of_the_first_page,
    totals_of_other_eyes_are_not_taken_over,
}

/// Five sessions of A in the order of a list, the youngest first.
async fn five(world: &World) -> [String; 5] {
    let (a, _) = world.a_and_b().await;
    let mut ids: [String; 5] = world.create_some(&a.id).await;
    ids.reverse();
    ids
}

async fn remove(world: &World, id: &str) {
    let request = pb::DeleteSessionRequest {
        force: true,
        ..delete(id)
    };
    world.daemon.api.delete_session(request).await.unwrap();
}

async fn s310_s311_rows_of_the_page_before_are_deleted(world: World) {
    let ids = five(&world).await;
    let request = first(all(), 2);
    let (_, info) = world.page(request.clone()).await;
    let second = behind(&request, &info.next_cursor.unwrap());
    remove(&world, &ids[1]).await;
    let (rows, info) = world.page_of_ids(second.clone()).await;
    assert_eq!((rows, info.total), (ids[2..4].to_vec(), 4));
    remove(&world, &ids[0]).await;
    remove(&world, &ids[2]).await;
    let (rows, info) = world.page_of_ids(second).await;
    assert_eq!((rows, info.total), (ids[3..].to_vec(), 2));
}

async fn s312_an_unseen_row_is_renamed(world: World) {
    let ids = five(&world).await;
    let request = first(all(), 2);
    let (mut seen, info) = world.page_of_ids(request.clone()).await;
    world
        .daemon
        .api
        .rename_session(rename(&ids[3], "x"))
        .await
        .unwrap();
    seen.extend(world.walked(behind(&request, &info.next_cursor.unwrap())).await);
    assert_eq!(seen, [&ids[0], &ids[1], &ids[2], &ids[4]].map(String::clone));
    assert_eq!(world.walked(request).await[0], ids[3]);
}

async fn s313_a_seen_row_is_stopped(world: World) {
    let ids = five(&world).await;
    let request = first(all(), 2);
    let (_, info) = world.page(request.clone()).await;
    world.stop(&ids[1]).await;
    let rest = world.walked(behind(&request, &info.next_cursor.unwrap())).await;
    assert_eq!(rest, ids[2..]);
}

async fn s314_rows_are_created_between_pages(world: World) {
    let ids = five(&world).await;
    let request = first(all(), 2);
    let (rows, info) = world.page(request.clone()).await;
    let workspace_id = &rows[0].workspace_id;
    for _ in 0..3 {
        world.create(new(workspace_id)).await;
    }
    let pages = world.walk(behind(&request, &info.next_cursor.unwrap())).await;
    assert!(pages.iter().all(|(_, info)| info.total == 8));
    let rest: Vec<_> = pages.into_iter().flat_map(|(ids, _)| ids).collect();
    assert_eq!(rest, ids[2..]);
}

async fn s315_an_unseen_row_is_archived(world: World) {
    let ids = five(&world).await;
    world.stop(&ids[4]).await;
    let request = first(all(), 2);
    let order = world.walked(request.clone()).await;
    let (_, info) = world.page(request.clone()).await;
    // Stopped last, so first in the list: another one is archived, which nobody has seen.
    assert_eq!(order[0], ids[4]);
    world.stop(&order[3]).await;
    world
        .daemon
        .api
        .archive_session(archive(&order[3]))
        .await
        .unwrap();
    let pages = world.walk(behind(&request, &info.next_cursor.unwrap())).await;
    assert!(pages.iter().all(|(_, info)| info.total == 4));
    let rest: Vec<_> = pages.into_iter().flat_map(|(ids, _)| ids).collect();
    assert_eq!(rest, [order[2].clone(), order[4].clone()]);
}

async fn s317_a_seen_row_is_moved_to_the_end(world: World) {
    let (a, _) = world.a_and_b().await;
    let mut ids: [String; 4] = world.create_some(&a.id).await;
    ids.reverse();
    let request = sorted(of(&a.id), pb::SessionSort::Manual, 1);
    let (seen, info) = world.page_of_ids(request.clone()).await;
    assert_eq!(seen, ids[..1]);
    let moving = workspace_pb::MoveSessionRequest {
        session_id: ids[0].clone(),
        ..Default::default()
    };
    world.daemon.api.move_session(moving).await.unwrap();
    let rest = world.walked(behind(&request, &info.next_cursor.unwrap())).await;
    // The moved one lies before its new place's neighbours no more: it may come again, the others come once.
    assert_eq!(&rest[..3], &ids[1..]);
}

async fn s377_what_was_counted_is_counted_again_only_after_a_change(world: World) {
    let (a, _) = world.a_and_b().await;
    let request = pb::CreateSessionRequest {
        provider: Some("p".to_owned()),
        ..new(&a.id)
    };
    for _ in 0..4 {
        world.create(request.clone()).await;
    }
    // On Postgres what is pending is counted anew each time.
    world.changes().await;
    let filter = pb::SessionFilter {
        providers: vec!["p".to_owned()],
        ..all()
    };
    let pages = first(filter, 1);
    let (rows, counted) = world.page(pages.clone()).await;
    let second = behind(&pages, counted.next_cursor.as_ref().unwrap());
    // Behind the back of the log: whoever counts notices.
    let sql = format!("UPDATE session SET provider = 'q' WHERE id = '{}'", rows[0].id);
    execute(&world.store, &sql).await.unwrap();
    let (_, info) = world.page(second.clone()).await;
    assert_eq!((info.total, info.revision), (4, counted.revision.clone()));
    world.create(request).await;
    world.changes().await;
    let (_, info) = world.page(second).await;
    assert_eq!(info.total, 4, "counted anew: one went, one came");
    assert_ne!(info.revision, counted.revision);
    let sql = format!("UPDATE session SET provider = 'p' WHERE id = '{}'", rows[0].id);
    execute(&world.store, &sql).await.unwrap();
    let (_, info) = world.page(pages).await;
    assert_eq!(info.total, 5);
}

async fn s378_what_is_committed_and_not_numbered_is_counted(world: World) {
    let (a, _) = world.a_and_b().await;
    for _ in 0..3 {
        world.create(new(&a.id)).await;
    }
    // Everything has its position now, and nobody gives any in this world unless the log is read.
    world.changes().await;
    let request = first(of(&a.id), 1);
    let (_, info) = world.page(request.clone()).await;
    assert_eq!(info.total, 3);
    world.create(new(&a.id)).await;
    let (rows, second) = world.page(behind(&request, &info.next_cursor.unwrap())).await;
    assert_eq!((rows.len(), second.total), (1, 4));
    if world.is_postgres() {
        assert_eq!(second.revision.len(), info.revision.len());
    }
}

async fn s379_what_time_changes_is_that_of_the_first_page(world: World) {
    let (a, _) = world.a_and_b().await;
    let ids: [String; 8] = world.create_some(&a.id).await;
    for id in [&ids[1], &ids[4], &ids[7]] {
        let request = pb::AcquireAttachLeaseRequest {
            session_id: id.clone(),
            holder: "operator".to_owned(),
            ttl: Some(crate::asked::seconds(60)),
            ..Default::default()
        };
        world.daemon.api.acquire_attach_lease(request).await.unwrap();
    }
    let filter = pb::SessionFilter {
        attachable: Some(true),
        ..all()
    };
    walk_over_time(&world, filter).await;
}

async fn s379_badges_are_those_of_the_first_page(world: World) {
    let (a, _) = world.a_and_b().await;
    let ids: [String; 8] = world.create_some(&a.id).await;
    let (mut silent, mut heard) = (ids.to_vec(), Vec::new());
    for at in [7, 4, 1] {
        heard.push(silent.remove(at));
    }
    for id in &silent {
        world.bound_for(id, 3_600).await;
    }
    world.advance(Duration::from_secs(61)).await;
    for id in &heard {
        world.bound_for(id, 3_600).await;
    }
    // Two minutes of silence have passed for five of them, and pass for the others soon.
    world.advance(Duration::from_secs(60)).await;
    let filter = pb::SessionFilter {
        badges: vec![pb::SessionBadge::Hung.into()],
        ..all()
    };
    walk_over_time(&world, filter).await;
}

/// A walk of five rows whose filter takes eight two minutes later.
async fn walk_over_time(world: &World, filter: pb::SessionFilter) {
    let request = first(filter, 1);
    let (mut seen, info) = world.page_of_ids(request.clone()).await;
    assert_eq!(info.total, 5);
    world.advance(Duration::from_secs(120)).await;
    let pages = world.walk(behind(&request, &info.next_cursor.unwrap())).await;
    assert!(pages.iter().all(|(_, info)| info.total == 5));
    seen.extend(pages.into_iter().flat_map(|(ids, _)| ids));
    seen.sort_unstable();
    seen.dedup();
    assert_eq!(seen.len(), 5);
    assert_eq!(world.walked(request).await.len(), 8);
}

async fn totals_of_other_eyes_are_not_taken_over(world: World) {
    let (a, b) = world.a_and_b().await;
    for id in [&a.id, &a.id, &b.id, &b.id, &b.id] {
        world.create(new(id)).await;
        world.advance(Duration::from_secs(1)).await;
    }
    world.changes().await;
    let limited = world
        .start_for(&[compozy_domain::WorkspaceId::from_stored(a.id.clone())], |_| {})
        .await;
    let request = first(all(), 1);
    let (_, info) = world.page(request.clone()).await;
    let second = behind(&request, &info.next_cursor.unwrap());
    let answer = limited
        .api
        .seen_by("limited")
        .list_sessions(second)
        .await
        .unwrap();
    assert_eq!(answer.page.unwrap().total, 2);
    assert!(answer.sessions.iter().all(|row| row.workspace_id == a.id));
}

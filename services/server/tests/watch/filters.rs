//! Filters (cases section 5). Sessions and profiles are hand-made entries.

use compozy_domain::{ChangeKind, ChangeOp, ChangeReason, NewChange};
use compozy_proto::change::v1 as pb;
use futures::future::join_all;

use crate::client::{entry, from, of, of_kinds, told};
use crate::entries::{deleted, entry_of, moved, removed, session};
use crate::world::World;

cases! {
    n068_n069_n070_each_watcher_gets_what_it_asked_for,
    n071_n072_internal_sessions_are_hidden,
    n074_a_removed_workspace_is_told_once_and_the_stream_goes_on,
    n075_the_filter_is_the_workspace_and_not_its_name,
    n076_missed_changes_are_filtered_too,
    n077_every_filter_is_the_unfiltered_stream_filtered,
}

const UPSERTED: ChangeOp = ChangeOp::Upserted;

async fn n068_n069_n070_each_watcher_gets_what_it_asked_for(world: World) {
    let server = world.start().await;
    let a = server.register(&world, "a").await;
    let b = server.register(&world, "b").await;
    let mut wa = server.synced(of(&[&a.id])).await;
    let mut orders = server.synced(of_kinds(&[pb::ChangeKind::WorkspaceOrder])).await;
    let sessions = pb::WatchCatalogRequest {
        kinds: vec![pb::ChangeKind::Session.into()],
        ..of(&[&a.id, &b.id])
    };
    let mut sessions = server.synced(sessions).await;
    let account = |id: &str| {
        entry_of(
            ChangeKind::AccountOrder,
            (UPSERTED, ChangeReason::Moved),
            Some(id),
        )
    };
    server
        .append(
            &world,
            &[
                session("sess-b", ChangeReason::Created, Some(&b.id)),
                session("sess-u", ChangeReason::Created, None),
                session("sess-a", ChangeReason::Created, Some(&a.id)),
                account(&b.id),
                account(&a.id),
                entry_of(ChangeKind::Profile, (UPSERTED, ChangeReason::Created), None),
            ],
        )
        .await;
    server.retitle(&b.id, "t").await;
    server.retitle(&a.id, "t").await;
    server.move_before(&a.id, Some(&b.id)).await;
    server
        .append(&world, &[session("sess-a", ChangeReason::State, Some(&a.id))])
        .await;

    let changes = wa.changes(5).await;
    assert!(changes.iter().all(|change| change.workspace_id == a.id));
    let words: Vec<_> = changes.iter().map(entry).collect();
    let expected = [
        "session upserted created",
        "account_order upserted moved",
        "workspace upserted updated",
        "workspace_order upserted moved",
        "session upserted state",
    ];
    assert_eq!(words, expected);
    assert_eq!(orders.entries(1).await, ["workspace_order upserted moved"]);
    let ids: Vec<_> = sessions
        .changes(3)
        .await
        .into_iter()
        .map(|change| change.session_id)
        .collect();
    assert_eq!(ids, ["sess-b", "sess-a", "sess-a"]);
}

async fn n071_n072_internal_sessions_are_hidden(world: World) {
    let server = world.start().await;
    let a = server.register(&world, "a").await;
    let mut w = server.w().await;
    let mut wa = server.synced(of(&[&a.id])).await;
    let asking = pb::WatchCatalogRequest {
        include_internal: true,
        ..Default::default()
    };
    let mut asking = server.synced(asking).await;
    // Whatever made the session an internal one, `dream` or its role, the entry says no more than that it is.
    let internal = |reason| NewChange {
        internal: true,
        ..session("sess-d", reason, Some(&a.id))
    };
    let hidden = [ChangeReason::Created, ChangeReason::Renamed, ChangeReason::State];
    server.append(&world, &hidden.map(internal)).await;
    let marker = server.retitle(&a.id, "t").await.workspace.unwrap();
    for watching in [&mut w, &mut wa] {
        assert_eq!(watching.change().await.version, marker.version);
    }
    let changes = asking.changes(4).await;
    assert!(
        changes[..3]
            .iter()
            .all(|change| change.internal && change.session_id == "sess-d")
    );
    assert!(!changes[3].internal);
}

async fn n074_a_removed_workspace_is_told_once_and_the_stream_goes_on(world: World) {
    let server = world.start().await;
    let a = server.register(&world, "a").await;
    let b = server.register(&world, "b").await;
    let mut wa = server.watch(of(&[&a.id])).await;
    let token = wa.synced().await;
    let mut both = server.synced(of(&[&a.id, &b.id])).await;
    server.remove(&a.id).await;
    assert_eq!(wa.entries(1).await, ["workspace deleted removed"]);
    let marker = server.retitle(&b.id, "t").await.workspace.unwrap();
    let changes = both.changes(2).await;
    assert_eq!(
        (changes[0].workspace_id.as_str(), changes[1].version),
        (a.id.as_str(), marker.version)
    );
    // A watch of before goes on after it, too, by the id; a new one finds nothing.
    let resuming = pb::WatchCatalogRequest {
        resume_token: token,
        ..of(&[&a.id])
    };
    let (missed, _) = server.watch(resuming).await.caught_up().await;
    assert_eq!(
        missed.iter().map(entry).collect::<Vec<_>>(),
        ["workspace deleted removed"]
    );
    let status = server.refused(of(&[&a.id])).await;
    assert_eq!(crate::client::reason(&status).1, "WORKSPACE_NOT_FOUND");
}

async fn n075_the_filter_is_the_workspace_and_not_its_name(world: World) {
    let server = world.start().await;
    let a = server.register(&world, "a").await;
    let by_name = pb::WatchCatalogRequest {
        workspaces: vec![crate::client::by(
            compozy_proto::workspace::v1::workspace_ref::Form::Name("a".into()),
        )],
        ..Default::default()
    };
    let mut wa = server.synced(by_name).await;
    server.rename(&a.id, "other").await;
    server.register(&world, "x/a").await;
    server.retitle(&a.id, "t").await;
    assert_eq!(
        wa.entries(2).await,
        ["workspace upserted renamed", "workspace upserted updated"]
    );
}

async fn n076_missed_changes_are_filtered_too(world: World) {
    let server = world.start().await;
    let a = server.register(&world, "a").await;
    let b = server.register(&world, "b").await;
    let token = server.watch(of(&[&a.id])).await.synced().await;
    for number in 0..6 {
        let id = if number % 2 == 0 { &b.id } else { &a.id };
        server.retitle(id, &number.to_string()).await;
    }
    let request = pb::WatchCatalogRequest {
        resume_token: token,
        ..of(&[&a.id])
    };
    let (missed, _) = server.watch(request).await.caught_up().await;
    assert_eq!(missed.len(), 3);
    assert!(missed.iter().all(|change| change.workspace_id == a.id));
}

/// The wire's half; every filter against a model is in the domain's own tests.
async fn n077_every_filter_is_the_unfiltered_stream_filtered(world: World) {
    let server = world.start().await;
    let a = server.register(&world, "a").await.id;
    let b = server.register(&world, "b").await.id;
    let mut entries = Vec::new();
    for number in 0..1_000_usize {
        // No two neighbours alike, and every combination comes up.
        let place = [Some(a.as_str()), Some(b.as_str()), None][number % 3];
        let other = [Some(b.as_str()), None, Some(a.as_str())][number % 3];
        let id = format!("sess-{}", number % 37);
        let entry = match number % 7 {
            0 => session(&id, ChangeReason::Renamed, place),
            1 => moved(&id, other, place),
            2 => deleted(&id, place),
            3 => entry_of(
                ChangeKind::AccountOrder,
                (UPSERTED, ChangeReason::Moved),
                Some(&a),
            ),
            4 => entry_of(ChangeKind::Selection, (UPSERTED, ChangeReason::Updated), place),
            5 => entry_of(ChangeKind::Profile, (UPSERTED, ChangeReason::Updated), None),
            _ => removed(&b, ChangeReason::RemovedSessionsKept, (number % 2) as i64),
        };
        entries.push(NewChange {
            internal: entry.kind == ChangeKind::Session && number % 5 == 0,
            version: number as i64,
            ..entry
        });
    }
    server.append(&world, &entries).await;
    let everything = pb::WatchCatalogRequest {
        include_internal: true,
        ..from(pb::WatchStart::Earliest)
    };
    let (all, _) = server.watch(everything).await.caught_up().await;
    assert_eq!(all.len(), 1_002);

    let mut filters = Vec::new();
    for places in [
        vec![],
        vec![a.as_str()],
        vec![b.as_str()],
        vec![a.as_str(), b.as_str()],
    ] {
        for kinds in [
            &[][..],
            &[pb::ChangeKind::Session],
            &[pb::ChangeKind::Workspace, pb::ChangeKind::Selection],
        ] {
            for switches in 0..4 {
                filters.push(pb::WatchCatalogRequest {
                    start: pb::WatchStart::Earliest.into(),
                    kinds: of_kinds(kinds).kinds,
                    ungrouped: switches & 1 == 1,
                    include_internal: switches & 2 == 2,
                    ..of(&places)
                });
            }
        }
    }
    let server = &server;
    join_all(filters.iter().map(|filter| {
        let expected: Vec<_> = all.iter().filter_map(|change| seen(filter, change)).collect();
        async move {
            let (got, _) = server.watch(filter.clone()).await.caught_up().await;
            assert_eq!(got.iter().map(told).collect::<Vec<_>>(), expected, "{filter:?}");
        }
    }))
    .await;
}

/// What a filter leaves of a change that an unfiltered watcher got.
fn seen(filter: &pb::WatchCatalogRequest, change: &pb::Change) -> Option<pb::Change> {
    use compozy_proto::workspace::v1::workspace_ref::Form;
    let named: Vec<&str> = filter
        .workspaces
        .iter()
        .map(|named| match named.form.as_ref().unwrap() {
            Form::Id(id) => id.as_str(),
            other => panic!("{other:?}"),
        })
        .collect();
    let everywhere = named.is_empty() && !filter.ungrouped;
    let is_session = change.kind() == pb::ChangeKind::Session;
    let inside = |place: &str| {
        everywhere || named.contains(&place) || (is_session && place.is_empty() && filter.ungrouped)
    };
    let asks = |kind: pb::ChangeKind| filter.kinds.is_empty() || filter.kinds.contains(&i32::from(kind));
    let with_sessions = change.kind() == pb::ChangeKind::Workspace && change.session_count > 0;
    if change.internal && !filter.include_internal {
        return None;
    }
    let is_asked = asks(change.kind()) || (with_sessions && asks(pb::ChangeKind::Session));
    if !is_asked {
        return None;
    }
    let become_homeless = with_sessions && filter.ungrouped && asks(pb::ChangeKind::Session);
    if inside(&change.workspace_id) || become_homeless {
        return Some(told(change));
    }
    let has_moved = !change.from_workspace_id.is_empty() || change.reason() == pb::ChangeReason::Attached;
    (is_session && has_moved && inside(&change.from_workspace_id)).then(|| pb::Change {
        op: pb::ChangeOp::Deleted.into(),
        reason: pb::ChangeReason::Left.into(),
        workspace_id: change.from_workspace_id.clone(),
        from_workspace_id: String::new(),
        ..told(change)
    })
}

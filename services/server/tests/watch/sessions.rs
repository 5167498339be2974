//! What real sessions write into the log, and who is told (cases sections 1, 2, 5, 6 and 7).

use compozy_proto::change::v1 as pb;
use compozy_proto::session::v1 as session_pb;
use compozy_proto::workspace::v1 as workspace_pb;

use crate::agents::{beat, homeless, new, waiting};
use crate::client::{Watching, entry, from, of, of_kinds, resumed, session_of};
use crate::server::Server;
use crate::world::World;

cases! {
    n001_n005_a_session_is_created,
    n002_n011_one_entry_for_each_change,
    n003_a_bound_session_is_stopped_and_finished,
    n004_a_deleted_session_stays_in_the_log,
    n007_a_move_within_an_account,
    n009_n010_a_workspace_goes_with_its_sessions,
    n014_heartbeats_tell_news_only,
    n015_an_operator_comes_and_its_time_runs_out,
    n016_a_session_goes_stale_and_comes_back,
    n019_ten_lost_sessions_are_ten_entries,
    n013_looking_tells_nothing,
    n071_n072_n073_internal_sessions_are_for_those_who_ask,
    n078_n079_n082_who_watches_a_workspace_sees_sessions_leave_and_come,
    n083_removing_with_keep_reaches_who_held_a_session,
    n192_n194_versions_of_a_session_and_who_watches_no_workspace,
    s236_s237_a_watch_from_the_revision_of_a_page_of_sessions,
}

/// The next entry, in the notation of the cases, and the session that it is about.
async fn next(watching: &mut Watching) -> (String, String) {
    let change = watching.change().await;
    (entry(&change), change.session_id)
}

/// Checks that nothing but this marker comes next: a session that is created now.
async fn nothing(server: &Server, watching: &mut Watching, workspace_id: &str) {
    let marker = server.session_in(workspace_id).await;
    let created = ("session upserted created".to_owned(), marker);
    assert_eq!(next(watching).await, created);
}

async fn n001_n005_a_session_is_created(world: World) {
    let server = world.start().await;
    let a = server.register(&world, "a").await.id;
    let root = world.root("c");
    // Time stands still where the database keeps it.
    server.later(&world, 0).await;
    let mut w = server.w().await;
    let s = server.create(new(&a)).await;
    let change = w.change().await;
    assert_eq!(entry(&change), "session upserted created");
    assert_eq!(
        (change.workspace_id.as_str(), &change.session_id, change.version),
        (a.as_str(), &s.id, 1)
    );
    assert_eq!((change.at, change.internal), (s.created_at, false));
    let u = server.create(homeless(&root)).await;
    let change = w.change().await;
    assert_eq!((change.workspace_id.as_str(), &change.session_id), ("", &u.id));
}

async fn n002_n011_one_entry_for_each_change(world: World) {
    let server = world.start().await;
    let a = server.register(&world, "a").await.id;
    let s = server.session_in(&a).await;
    let mut w = server.w().await;
    for round in 0..2 {
        // The second time each of them finds what it wants in place.
        server.rename_session(&s, "x").await;
        server.stop_session(&s).await;
        server.archive_session(&s).await;
        if round == 0 {
            server.archive_session(&s).await;
        }
    }
    server.unarchive_session(&s).await;
    server.unarchive_session(&s).await;
    let expected = [
        "session upserted renamed",
        "session upserted state",
        "session upserted archived",
        "session upserted unarchived",
    ];
    assert_eq!(w.entries(4).await, expected);
    nothing(&server, &mut w, &a).await;
}

async fn n003_a_bound_session_is_stopped_and_finished(world: World) {
    let server = world.start().await;
    let a = server.register(&world, "a").await.id;
    let s = server.session_in(&a).await;
    let lease = server.bind(&s, 3_600).await;
    server.beat(beat(&lease)).await;
    let mut w = server
        .synced(pb::WatchCatalogRequest {
            include_rows: true,
            ..Default::default()
        })
        .await;
    assert_eq!(
        server.stop_session(&s).await.state(),
        session_pb::SessionState::Stopping
    );
    let stopping = w.change().await;
    server.finish(&lease).await;
    let stopped = w.change().await;
    for change in [&stopping, &stopped] {
        assert_eq!(entry(change), "session upserted state");
    }
    let state = |change: pb::Change| session_of(change.row).unwrap().state();
    assert_eq!(
        (state(stopping), state(stopped)),
        (
            session_pb::SessionState::Stopping,
            session_pb::SessionState::Stopped
        )
    );
    nothing(&server, &mut w, &a).await;
}

async fn n004_a_deleted_session_stays_in_the_log(world: World) {
    let server = world.start().await;
    let a = server.register(&world, "a").await.id;
    let s = server.session_in(&a).await;
    let mut w = server.w().await;
    server.delete_session(&s).await;
    let change = w.change().await;
    assert_eq!(
        (entry(&change).as_str(), &change.workspace_id, &change.session_id),
        ("session deleted removed", &a, &s)
    );
    assert_eq!(change.version, 2);
    let (all, _) = server
        .watch(from(pb::WatchStart::Earliest))
        .await
        .caught_up()
        .await;
    assert!(
        all.iter()
            .any(|kept| entry(kept) == entry(&change) && kept.session_id == s)
    );
}

async fn n007_a_move_within_an_account(world: World) {
    let server = world.start().await;
    let a = server.register(&world, "a").await.id;
    let one = server.session_in(&a).await;
    let two = server.session_in(&a).await;
    let mut w = server
        .synced(pb::WatchCatalogRequest {
            include_rows: true,
            ..of_kinds(&[pb::ChangeKind::AccountOrder])
        })
        .await;
    server.move_session_to_end(&two).await;
    let change = w.change().await;
    assert_eq!(
        (entry(&change).as_str(), &change.workspace_id, &change.session_id),
        ("account_order upserted moved", &a, &two)
    );
    let row = session_of(change.row).expect("the moved session");
    assert_eq!((row.id, row.version), (two.clone(), 1), "the record is as it was");
    // There already: no entry.
    server.move_session_to_end(&two).await;
    server.move_session_to_end(&one).await;
    assert_eq!(w.change().await.session_id, one);
}

async fn n009_n010_a_workspace_goes_with_its_sessions(world: World) {
    let server = world.start().await;
    for (name, sessions, told) in [
        (
            "a",
            workspace_pb::RemovedSessions::Keep,
            pb::RemovedSessions::Kept,
        ),
        (
            "b",
            workspace_pb::RemovedSessions::Delete,
            pb::RemovedSessions::Deleted,
        ),
    ] {
        let id = server.register(&world, name).await.id;
        for _ in 0..3 {
            let s = server.session_in(&id).await;
            server.stop_session(&s).await;
        }
        let other = server.register(&world, "other").await.id;
        let mut w = server.w().await;
        server.remove_with(&id, sessions).await;
        let change = w.change().await;
        assert_eq!(
            (entry(&change).as_str(), &change.workspace_id),
            ("workspace deleted removed", &id)
        );
        assert_eq!((change.removed_sessions(), change.session_count), (told, 3));
        nothing(&server, &mut w, &other).await;
        let left = server.listed_sessions(session_pb::SessionFilter::default()).await;
        let left = left.iter().filter(|row| row.workspace_id.is_empty()).count();
        assert_eq!(
            left, 3,
            "kept the first time, and no more of them the second time"
        );
    }
}

async fn n014_heartbeats_tell_news_only(world: World) {
    let server = world.start().await;
    let a = server.register(&world, "a").await.id;
    let s = server.session_in(&a).await;
    let lease = server.bind(&s, 3_600).await;
    server.beat(beat(&lease)).await;
    let mut w = server.w().await;
    server.beat(beat(&lease)).await;
    let active = session_pb::HeartbeatRequest {
        activity: Some(session_pb::Activity {
            kind: "tool".to_owned(),
            ..Default::default()
        }),
        ..beat(&lease)
    };
    server.beat(active).await;
    server.beat(waiting(&lease)).await;
    server.beat(waiting(&lease)).await;
    assert_eq!(next(&mut w).await, ("session upserted badge".to_owned(), s));
    nothing(&server, &mut w, &a).await;
}

async fn n015_an_operator_comes_and_its_time_runs_out(world: World) {
    let server = world.start().await;
    let a = server.register(&world, "a").await.id;
    let s = server.session_in(&a).await;
    server.later(&world, 0).await;
    let mut w = server.w().await;
    server.enter(&s, 3).await;
    // Renewed: nothing that anybody has to know.
    server.enter(&s, 4).await;
    let told = ("session upserted attach_lease".to_owned(), s);
    assert_eq!(next(&mut w).await, told);
    server.later(&world, 5).await;
    server.later(&world, 1).await;
    assert_eq!(next(&mut w).await, told);
    nothing(&server, &mut w, &a).await;
}

async fn n016_a_session_goes_stale_and_comes_back(world: World) {
    let server = world.start().await;
    let a = server.register(&world, "a").await.id;
    let s = server.session_in(&a).await;
    let lease = server.bind(&s, 3_600).await;
    server.beat(beat(&lease)).await;
    let mut w = server.w().await;
    // As often as a daemon sweeps: it was never away.
    for _ in 0..26 {
        server.later(&world, 5).await;
    }
    let told = ("session upserted health".to_owned(), s);
    assert_eq!(next(&mut w).await, told);
    server.beat(beat(&lease)).await;
    assert_eq!(next(&mut w).await, told);
    server.later(&world, 5).await;
    nothing(&server, &mut w, &a).await;
}

async fn n019_ten_lost_sessions_are_ten_entries(world: World) {
    let server = world.start().await;
    let a = server.register(&world, "a").await.id;
    let mut ids = Vec::new();
    for _ in 0..10 {
        let s = server.session_in(&a).await;
        server.bind(&s, 4).await;
        ids.push(s);
    }
    server.later(&world, 0).await;
    let mut w = server.w().await;
    server.later(&world, 6).await;
    server.later(&world, 1).await;
    let mut told = Vec::new();
    for change in w.changes(10).await {
        assert_eq!(entry(&change), "session upserted state");
        told.push(change.session_id);
    }
    told.sort_unstable();
    ids.sort_unstable();
    assert_eq!(told, ids);
    nothing(&server, &mut w, &a).await;
}

async fn n013_looking_tells_nothing(world: World) {
    let server = world.start().await;
    let a = server.register(&world, "a").await.id;
    let s = server.session_in(&a).await;
    let mut w = server.w().await;
    for _ in 0..100 {
        let session_id = s.clone();
        let mut sessions = server.sessions();
        let get = session_pb::GetSessionRequest {
            session_id: session_id.clone(),
            include_health: true,
        };
        sessions.get_session(get).await.unwrap();
        sessions
            .list_sessions(session_pb::ListSessionsRequest::default())
            .await
            .unwrap();
        sessions
            .count_sessions(session_pb::CountSessionsRequest::default())
            .await
            .unwrap();
        let health = session_pb::GetSessionHealthRequest { session_id };
        sessions.get_session_health(health).await.unwrap();
    }
    nothing(&server, &mut w, &a).await;
}

async fn n071_n072_n073_internal_sessions_are_for_those_who_ask(world: World) {
    let server = world.start().await;
    let a = server.register(&world, "a").await.id;
    let asking = pb::WatchCatalogRequest {
        include_internal: true,
        ..Default::default()
    };
    let (mut w, mut wa, mut asked) = (
        server.w().await,
        server.synced(of(&[&a])).await,
        server.synced(asking.clone()).await,
    );
    let requests = [
        session_pb::CreateSessionRequest {
            r#type: session_pb::SessionType::Dream.into(),
            ..new(&a)
        },
        session_pb::CreateSessionRequest {
            spawn_role: "Memory-Extractor".to_owned(),
            ..new(&a)
        },
        session_pb::CreateSessionRequest {
            spawn_role: "AUTO-TITLE".to_owned(),
            ..new(&a)
        },
    ];
    let mut made = Vec::new();
    for request in requests {
        let id = server.create(request).await.id;
        server.stop_session(&id).await;
        for words in ["session upserted created", "session upserted state"] {
            let change = asked.change().await;
            assert!(change.internal);
            assert_eq!((entry(&change).as_str(), &change.session_id), (words, &id));
        }
        made.push(id);
    }
    nothing(&server, &mut w, &a).await;
    assert_eq!(entry(&wa.change().await), "session upserted created");
    // In a snapshot, too.
    let snapshot = |request| pb::WatchCatalogRequest {
        start: pb::WatchStart::Snapshot.into(),
        ..request
    };
    let (rows, ..) = server
        .watch(snapshot(Default::default()))
        .await
        .snapshot_of_sessions()
        .await;
    assert!(rows.iter().all(|row| !made.contains(&row.id)) && rows.len() == 1);
    let (rows, ..) = server.watch(snapshot(asking)).await.snapshot_of_sessions().await;
    assert_eq!(rows.len(), 4);
}

async fn n078_n079_n082_who_watches_a_workspace_sees_sessions_leave_and_come(world: World) {
    let server = world.start().await;
    let a = server.register(&world, "a").await.id;
    let b = server.register(&world, "b").await.id;
    let s = server.session_in(&a).await;
    let (mut w, mut wa, mut wb) = (
        server.w().await,
        server.synced(of(&[&a])).await,
        server.synced(of(&[&b])).await,
    );
    server.detach(&s).await;
    let left = wa.change().await;
    assert_eq!(
        (entry(&left).as_str(), &left.session_id),
        ("session deleted left", &s)
    );
    let told = w.change().await;
    assert_eq!(
        (
            entry(&told).as_str(),
            told.workspace_id.as_str(),
            &told.from_workspace_id
        ),
        ("session upserted detached", "", &a)
    );
    server.attach(&a, &s).await;
    assert_eq!(
        next(&mut wa).await,
        ("session upserted attached".to_owned(), s.clone())
    );
    server.delete_session(&s).await;
    assert_eq!(next(&mut wa).await, ("session deleted removed".to_owned(), s));
    nothing(&server, &mut wb, &b).await;
}

async fn n083_removing_with_keep_reaches_who_held_a_session(world: World) {
    let server = world.start().await;
    let a = server.register(&world, "a").await.id;
    let b = server.register(&world, "b").await.id;
    for _ in 0..3 {
        let s = server.session_in(&a).await;
        server.stop_session(&s).await;
    }
    let ungrouped = pb::WatchCatalogRequest {
        ungrouped: true,
        ..Default::default()
    };
    let mut watches = Vec::new();
    for request in [
        of(&[&a]),
        pb::WatchCatalogRequest::default(),
        ungrouped,
        of_kinds(&[pb::ChangeKind::Session]),
    ] {
        watches.push(server.synced(request).await);
    }
    server.remove_with(&a, workspace_pb::RemovedSessions::Keep).await;
    let marker = server.session_in(&b).await;
    for (number, watching) in watches.iter_mut().enumerate() {
        let change = watching.change().await;
        assert_eq!(entry(&change), "workspace deleted removed");
        assert_eq!(
            (change.removed_sessions(), change.session_count),
            (pb::RemovedSessions::Kept, 3)
        );
        if number % 2 == 1 {
            assert_eq!(watching.change().await.session_id, marker, "nothing of a session");
        }
    }
}

async fn n192_n194_versions_of_a_session_and_who_watches_no_workspace(world: World) {
    let server = world.start().await;
    let a = server.register(&world, "a").await.id;
    let with_rows = pb::WatchCatalogRequest {
        include_rows: true,
        ..Default::default()
    };
    let mut w = server.synced(with_rows).await;
    let mut homeless = server
        .synced(pb::WatchCatalogRequest {
            ungrouped: true,
            ..Default::default()
        })
        .await;
    let s = server.session_in(&a).await;
    let lease = server.bind(&s, 3_600).await;
    server.beat(beat(&lease)).await;
    server.rename_session(&s, "x").await;
    server.rename_session(&s, "x").await;
    server.detach(&s).await;
    server.attach(&a, &s).await;
    server.rename_session(&s, "y").await;
    server.finish(&lease).await;
    server.delete_session(&s).await;
    let mut told = Vec::new();
    for version in 1..=8 {
        let change = w.change().await;
        assert_eq!(change.version, version, "{change:?}");
        if let Some(row) = session_of(change.row.clone()) {
            assert!(row.version >= version);
        }
        told.push(entry(&change));
    }
    let expected = [
        "session upserted created",
        "session upserted health",
        "session upserted renamed",
        "session upserted detached",
        "session upserted attached",
        "session upserted renamed",
        "session upserted state",
        "session deleted removed",
    ];
    assert_eq!(told, expected);
    let expected = ["session upserted detached", "session deleted left"];
    assert_eq!(homeless.entries(2).await, expected);
}

async fn s236_s237_a_watch_from_the_revision_of_a_page_of_sessions(world: World) {
    let server = world.start().await;
    let a = server.register(&world, "a").await.id;
    let shown = server.session_in(&a).await;
    let page = server
        .sessions()
        .list_sessions(session_pb::ListSessionsRequest::default())
        .await
        .unwrap()
        .into_inner();
    assert_eq!(page.sessions[0].id, shown);
    let revision = page.page.unwrap().revision;
    let (before, _) = server.watch(resumed(&revision)).await.caught_up().await;
    assert!(
        before.iter().all(|change| change.session_id == shown),
        "{before:?}"
    );
    let later = server.session_in(&a).await;
    let (missed, _) = server.watch(resumed(&revision)).await.caught_up().await;
    let missed: Vec<_> = missed
        .iter()
        .map(|change| change.session_id.as_str())
        .filter(|id| *id != shown)
        .collect();
    assert_eq!(missed, [later.as_str()]);
}

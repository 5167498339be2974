//! Counted pages (cases sections 3 and 14).

use std::time::Duration;

use compozy_proto::session::v1 as pb;
use futures::StreamExt as _;
use prost::Message as _;

use crate::asked::{list, new, rename, ungrouped};
use crate::pages::{all, behind, first, homeless, of, sorted};
use crate::requests::by;
use crate::world::World;

cases! {
    s058_s059_s060_internal_sessions_are_in_no_list,
    s062_an_internal_session_is_never_resumable,
    s063_internal_sessions_make_no_gaps_in_pages,
    s228_an_empty_catalog,
    s229_s230_limits_are_applied_or_refused,
    s231_s232_a_page_that_is_just_full_is_the_last_one,
    s233_pages_of_a_long_walk,
    s234_equal_times_are_ordered_by_id,
    s235_later_by_a_nanosecond_comes_first,
    s236_s237_what_is_written_after_a_page_lies_behind_its_revision,
    s238_lists_write_nothing,
    s241_a_page_of_the_longest_rows_ends_early,
    s242_s246_places,
    s243_a_workspace_by_any_of_its_names,
    s215_s244_s245_places_that_are_none,
}

file_cases! {
    s239_no_file_of_a_session_is_opened,
}

async fn s058_s059_s060_internal_sessions_are_in_no_list(world: World) {
    let (a, _) = world.a_and_b().await;
    let dream = pb::CreateSessionRequest {
        r#type: pb::SessionType::Dream.into(),
        ..new(&a.id)
    };
    let roles = ["memory-extractor", "auto-title", "Auto-Title", "MEMORY-EXTRACTOR"];
    let helpers = roles.map(|role| pb::CreateSessionRequest {
        spawn_role: role.to_owned(),
        ..new(&a.id)
    });
    let mut ids = Vec::new();
    for request in std::iter::once(dream).chain(helpers) {
        let made = world.create(request).await;
        assert!(made.internal && world.session(&made.id).await.internal);
        ids.push(made.id);
    }
    ids.sort_unstable();
    let dreams = pb::SessionFilter {
        types: vec![pb::SessionType::Dream.into()],
        ..all()
    };
    for filter in [all(), of(&a.id), dreams.clone()] {
        world.takes(filter.clone(), &[]).await;
        let counts = world.counts(filter).await;
        assert_eq!((counts.total, counts.by_state.len()), (0, 0));
    }
    let counts = world.record(&a.id).await.session_counts.unwrap();
    assert_eq!(
        counts,
        Default::default(),
        "not in the workspace's numbers either"
    );
    let asked = |filter| pb::SessionFilter {
        include_internal: true,
        ..filter
    };
    assert_eq!(world.set_of(asked(all())).await, ids);
    assert_eq!(world.counts(asked(of(&a.id))).await.total, 5);
    assert_eq!(world.total_of(asked(dreams)).await, 1);
}

async fn s062_an_internal_session_is_never_resumable(world: World) {
    let (a, _) = world.a_and_b().await;
    let dream = pb::CreateSessionRequest {
        r#type: pb::SessionType::Dream.into(),
        ..new(&a.id)
    };
    let dream = world.create(dream).await.id;
    assert!(!world.stop(&dream).await.resumable);
    let filter = |resumable| pb::SessionFilter {
        include_internal: true,
        resumable: Some(resumable),
        ..all()
    };
    world.takes(filter(true), &[]).await;
    world.takes(filter(false), &[&dream]).await;
}

async fn s063_internal_sessions_make_no_gaps_in_pages(world: World) {
    let (a, _) = world.a_and_b().await;
    for number in 0..12 {
        let request = if number % 6 == 3 {
            new(&a.id)
        } else {
            pb::CreateSessionRequest {
                spawn_role: "auto-title".to_owned(),
                ..new(&a.id)
            }
        };
        world.create(request).await;
    }
    let pages = world.walk(first(all(), 1)).await;
    let told: Vec<_> = pages.iter().map(|(ids, info)| (ids.len(), info.total)).collect();
    assert_eq!(told, [(1, 2), (1, 2)]);
}

async fn s228_an_empty_catalog(world: World) {
    let (rows, info) = world.page(list(all())).await;
    assert!(rows.is_empty() && !info.revision.is_empty());
    assert_eq!(
        (info.total, info.limit, info.has_more, info.next_cursor),
        (0, 50, false, None)
    );
    // A request that says nothing at all is the same one.
    let (rows, info) = world.page(pb::ListSessionsRequest::default()).await;
    assert_eq!((rows.len(), info.total), (0, 0));
}

async fn s229_s230_limits_are_applied_or_refused(world: World) {
    for (limit, applied) in [(0, 50), (1, 1), (100, 100)] {
        assert_eq!(world.page(first(all(), limit)).await.1.limit, applied);
    }
    for limit in [101, -1, i32::MAX] {
        world.list_refused(first(all(), limit), "limit").await;
    }
}

async fn s231_s232_a_page_that_is_just_full_is_the_last_one(world: World) {
    let (a, _) = world.a_and_b().await;
    fill(&world, &a.id, 50).await;
    let pages = world.walk(first(all(), 50)).await;
    assert_eq!((pages.len(), pages[0].0.len(), pages[0].1.total), (1, 50, 50));
    fill(&world, &a.id, 1).await;
    let pages = world.walk(first(all(), 50)).await;
    let told: Vec<_> = pages.iter().map(|(ids, info)| (ids.len(), info.total)).collect();
    assert_eq!(told, [(50, 51), (1, 51)]);
}

async fn s233_pages_of_a_long_walk(world: World) {
    const SESSIONS: usize = 1_203;
    let (a, _) = world.a_and_b().await;
    fill(&world, &a.id, SESSIONS).await;
    let pages = world.walk(first(all(), 100)).await;
    assert_eq!(pages.len(), 13);
    assert!(pages.iter().all(|(_, info)| info.total == 1_203));
    let mut ids: Vec<_> = pages.into_iter().flat_map(|(ids, _)| ids).collect();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), SESSIONS);
}

async fn s234_equal_times_are_ordered_by_id(world: World) {
    let (a, _) = world.a_and_b().await;
    fill(&world, &a.id, 7).await;
    let pages = world.walk(first(all(), 1)).await;
    assert_eq!(pages.len(), 7);
    let ids: Vec<_> = pages.into_iter().flat_map(|(ids, _)| ids).collect();
    let mut descending = ids.clone();
    descending.sort_unstable_by(|one, other| other.cmp(one));
    descending.dedup();
    assert_eq!(ids, descending);
}

async fn s235_later_by_a_nanosecond_comes_first(world: World) {
    let (a, _) = world.a_and_b().await;
    let mut made = Vec::new();
    for _ in 0..3 {
        made.push(world.create(new(&a.id)).await.id);
        world.advance(Duration::from_nanos(1)).await;
    }
    world.advance(Duration::from_secs(1)).await;
    // Renamed in another order, all at one instant.
    for at in [1, 2, 0] {
        world
            .daemon
            .api
            .rename_session(rename(&made[at], "x"))
            .await
            .unwrap();
    }
    made.reverse();
    assert_eq!(world.walked(first(all(), 1)).await, made);
}

async fn s236_s237_what_is_written_after_a_page_lies_behind_its_revision(world: World) {
    let (a, _) = world.a_and_b().await;
    let shown = world.create(new(&a.id)).await.id;
    let (_, info) = world.page(list(all())).await;
    let token = compozy_server::resume_token::decode(&world.daemon.seal, &info.revision)
        .await
        .unwrap();
    let later = world.create(new(&a.id)).await.id;
    let missed = world.changes().await;
    let missed = missed
        .iter()
        .filter(|entry| entry.position > token.revision.position)
        .map(|entry| entry.change.session_id.as_ref().map(ToString::to_string));
    let missed: Vec<_> = missed.collect();
    assert_eq!(missed.last().unwrap().as_ref(), Some(&later));
    // Before it nothing but what the page already shows.
    let before = &missed[..missed.len() - 1];
    assert!(before.iter().flatten().all(|id| *id == shown), "{before:?}");
}

async fn s238_lists_write_nothing(world: World) {
    let (a, _) = world.a_and_b().await;
    fill(&world, &a.id, 3).await;
    let lists = async {
        for _ in 0..100 {
            world.page(first(all(), 2)).await;
        }
    };
    world.unchanged_by(lists).await;
}

async fn s239_no_file_of_a_session_is_opened(world: World) {
    use std::os::unix::fs::PermissionsExt as _;
    let (a, _) = world.a_and_b().await;
    fill(&world, &a.id, 3).await;
    let before = world.page(list(all())).await.0;
    let sessions = std::path::Path::new(&world.home).join("sessions");
    std::fs::create_dir_all(&sessions).unwrap();
    std::fs::set_permissions(&sessions, std::fs::Permissions::from_mode(0o000)).unwrap();
    assert_eq!(world.page(list(all())).await.0, before);
    std::fs::set_permissions(&sessions, std::fs::Permissions::from_mode(0o700)).unwrap();
}

async fn s241_a_page_of_the_longest_rows_ends_early(world: World) {
    const ROWS: usize = 100;
    let (a, _) = world.a_and_b().await;
    let four = "\u{1f680}";
    let labels = (0..32).map(|number| {
        let key = format!("{number:02}{}", four.repeat(61));
        (key, four.repeat(255))
    });
    let longest = pb::CreateSessionRequest {
        name: four.repeat(64),
        labels: labels.collect(),
        start_cause: four.repeat(500),
        ..new(&a.id)
    };
    for _ in 0..ROWS {
        let id = world.create(longest.clone()).await.id;
        let stop = pb::StopSessionRequest {
            detail: four.repeat(512),
            ..crate::asked::stop(&id, pb::StopCause::User)
        };
        world.daemon.api.stop_session(stop).await.unwrap();
    }
    let request = pb::ListSessionsRequest {
        include_health: true,
        ..first(all(), 100)
    };
    let (mut next, mut ids, mut pages) = (request.clone(), Vec::new(), 0);
    loop {
        let answer = world.daemon.api.list_sessions(next).await.unwrap();
        assert!(
            answer.encoded_len() <= 3 * 1024 * 1024,
            "{}",
            answer.encoded_len()
        );
        pages += 1;
        ids.extend(answer.sessions.into_iter().map(|row| row.id));
        let info = answer.page.unwrap();
        assert_eq!((info.total, info.limit), (100, 100));
        match info.next_cursor {
            Some(cursor) => next = behind(&request, &cursor),
            None => break,
        }
    }
    ids.sort_unstable();
    ids.dedup();
    assert!(
        pages > 1 && ids.len() == ROWS,
        "{pages} pages, {} rows",
        ids.len()
    );
}

async fn s242_s246_places(world: World) {
    let (a, b) = world.a_and_b().await;
    let c = world.mkdir("c");
    let (one, two) = (
        world.create(new(&a.id)).await.id,
        world.create(new(&a.id)).await.id,
    );
    let three = world.create(new(&b.id)).await.id;
    let four = world.create(ungrouped(c)).await.id;
    world.takes(all(), &[&one, &two, &three, &four]).await;
    world.takes(of(&a.id), &[&one, &two]).await;
    world.takes(homeless(), &[&four]).await;
    // A root that is gone hides nothing.
    std::fs::remove_dir_all(world.path("a")).unwrap();
    let by_name = pb::SessionFilter {
        workspace: by(pb_form("a")),
        ..all()
    };
    world.takes(by_name, &[&one, &two]).await;
}

fn pb_form(name: &str) -> compozy_proto::workspace::v1::workspace_ref::Form {
    compozy_proto::workspace::v1::workspace_ref::Form::Name(name.to_owned())
}

async fn s243_a_workspace_by_any_of_its_names(world: World) {
    use compozy_proto::workspace::v1::workspace_ref::Form;
    let (a, b) = world.a_and_b().await;
    fill(&world, &a.id, 3).await;
    fill(&world, &b.id, 1).await;
    let sub = world.mkdir("a/sub");
    let expected = world.page(list(of(&a.id))).await.0;
    assert_eq!(expected.len(), 3);
    let forms = [
        Form::Name("A".to_owned()),
        Form::Path(sub),
        Form::DurableId(a.durable_id.clone()),
        Form::Any("a".to_owned()),
    ];
    for form in forms {
        let filter = pb::SessionFilter {
            workspace: by(form),
            ..all()
        };
        assert_eq!(world.page(list(filter)).await.0, expected);
    }
}

async fn s215_s244_s245_places_that_are_none(world: World) {
    let (a, _) = world.a_and_b().await;
    for workspace in [crate::requests::by_id("ws_ffffffffffffffff"), by(pb_form("nope"))] {
        let filter = pb::SessionFilter { workspace, ..all() };
        let call = world.daemon.api.list_sessions(list(filter.clone()));
        world
            .refused(tonic::Code::NotFound, "WORKSPACE_NOT_FOUND", call)
            .await;
        let call = world.daemon.api.count_sessions(crate::pages::count(filter));
        world
            .refused(tonic::Code::NotFound, "WORKSPACE_NOT_FOUND", call)
            .await;
    }
    let both = pb::SessionFilter {
        ungrouped: true,
        ..of(&a.id)
    };
    world.list_refused(list(both), "ungrouped").await;
    for filter in [all(), homeless()] {
        let manual = sorted(filter, pb::SessionSort::Manual, 0);
        world.list_refused(manual, "sort").await;
    }
}

/// Creates sessions, eight at a time.
pub(crate) async fn fill(world: &World, workspace_id: &str, count: usize) {
    let creating = (0..count).map(|_| world.create(new(workspace_id)));
    let made: Vec<_> = futures::stream::iter(creating)
        .buffer_unordered(8)
        .collect()
        .await;
    assert!(made.iter().all(|session| session.created_at == Some(world.now())));
}

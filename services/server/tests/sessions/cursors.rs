//! Cursors and their misuse (cases section 17).

use std::collections::BTreeSet;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use compozy_domain::Clock as _;
use compozy_proto::session::v1 as pb;
use compozy_proto::workspace::v1::workspace_ref::Form;
use compozy_store::{Access, CatalogStore as _, Durability, OpenOptions, SqlStore};
use tonic::Code;

use crate::asked::{list, new};
use crate::client::Failure;
use crate::lists::fill;
use crate::pages::{all, behind, first, of, sorted};
use crate::requests::by;
use crate::world::World;

cases! {
    s294_cursors_of_every_sort_are_short_and_url_safe,
    s299_s300_s301_a_cursor_of_another_query,
    s302_a_cursor_of_another_catalog,
    s303_order_and_repetition_of_values_do_not_count,
    s304_a_workspace_by_another_name_is_the_same_one,
    limit_and_health_are_not_bound,
    s306_a_walk_goes_on_after_a_restart,
    s308_the_last_request_again_is_the_last_page_again,
    a_rotated_key_is_valid_once_more,
}

file_cases! {
    s295_s296_s309_texts_that_are_no_cursors,
    s297_s309_every_edited_character_is_noticed,
    s298_a_cursor_made_by_hand,
    s305_a_bad_cursor_while_the_store_is_away,
}

/// Cases that only two servers on one catalog can show.
mod replicas {
    #[test]
    fn s307_page_two_from_another_server() {
        crate::cases::run::<compozy_store::conformance::Postgres, _>(
            "s307_page_two_from_another_server",
            super::s307_page_two_from_another_server,
        );
    }
}

/// A filter in which everything is as long as it may be.
fn longest(workspace_id: &str) -> pb::SessionFilter {
    let texts = |length: usize| {
        (0..100)
            .map(|number| format!("{number:03}{}", "x".repeat(length)))
            .collect()
    };
    let labels = (0..32).map(|number| (format!("{number:02}{}", "k".repeat(61)), "v".repeat(255)));
    pb::SessionFilter {
        agents: texts(125),
        providers: texts(125),
        states: (1..=5).collect(),
        types: (1..=5).collect(),
        badges: (1..=10).collect(),
        runtimes: (1..=3).collect(),
        labels: labels.collect(),
        query: "q".repeat(256),
        archive: pb::ArchiveFilter::Include.into(),
        created_after: Some(prost_types::Timestamp { seconds: 1, nanos: 1 }),
        ..of(workspace_id)
    }
}

async fn s294_cursors_of_every_sort_are_short_and_url_safe(world: World) {
    use pb::SessionSort::{Attention, LastActivity, Manual, Recent};
    let (a, _) = world.a_and_b().await;
    let labels = longest(&a.id).labels;
    let request = pb::CreateSessionRequest {
        agent: Some(format!("000{}", "x".repeat(125))),
        provider: Some(format!("000{}", "x".repeat(125))),
        name: "q".repeat(64),
        labels,
        ..new(&a.id)
    };
    for _ in 0..3 {
        world.create(request.clone()).await;
    }
    for sort in [Recent, LastActivity, Manual, Attention] {
        // Nothing has so long a name: the text has to be left out for rows to be there.
        let filter = pb::SessionFilter {
            query: "q".repeat(64),
            ..longest(&a.id)
        };
        let pages = world.walk(sorted(filter, sort, 1)).await;
        assert_eq!(pages.len(), 3, "{sort:?}");
        for (_, info) in pages {
            let cursor = info.next_cursor.unwrap_or_default();
            assert!(cursor.len() <= 1_024, "{sort:?}: {}", cursor.len());
            let is_safe = |b: u8| b.is_ascii_alphanumeric() || b"_.~-".contains(&b);
            assert!(cursor.bytes().all(is_safe));
        }
        world.page(sorted(longest(&a.id), sort, 1)).await;
    }
}

async fn s295_s296_s309_texts_that_are_no_cursors(world: World) {
    let good = cursor(&world, all()).await;
    let texts = [
        ("A".repeat(1_025), "too_large"),
        ("A".repeat(1_024), "malformed"),
        ("!!!".to_owned(), "malformed"),
        (" ".to_owned(), "malformed"),
        ("\u{e9}".to_owned(), "malformed"),
        (format!("{good}="), "malformed"),
        (good[..good.len() - 1].to_owned(), "malformed"),
    ];
    for (text, cause) in texts {
        let failure = refused(&world, all(), &text).await;
        assert_eq!(failure.metadata["cause"], cause, "{text}");
        let is_echoed = text.len() > 3 && failure.message.contains(&text);
        assert!(!is_echoed, "{}", failure.message);
    }
}

async fn s297_s309_every_edited_character_is_noticed(world: World) {
    let good = cursor(&world, all()).await;
    let session = world.ids(all(), pb::SessionSort::Recent).await[0].clone();
    let mut causes = BTreeSet::new();
    for at in 0..good.len() {
        let mut edited = good.clone().into_bytes();
        edited[at] = if edited[at] == b'A' { b'B' } else { b'A' };
        let failure = refused(&world, all(), &String::from_utf8(edited).unwrap()).await;
        // Neither the message nor what goes with it says anything of the inside.
        let told = format!("{} {:?}", failure.message, failure.metadata);
        assert!(!told.contains(&session) && !told.contains(&good[..8]), "{told}");
        causes.insert(failure.metadata["cause"].clone());
    }
    assert!(causes.contains("malformed"), "{causes:?}");
}

async fn s298_a_cursor_made_by_hand(world: World) {
    let good = URL_SAFE_NO_PAD.decode(cursor(&world, all()).await).unwrap();
    let mut forged = good.clone();
    let at = forged.len() - 32;
    forged[at..].fill(7);
    let failure = refused(&world, all(), &URL_SAFE_NO_PAD.encode(forged)).await;
    assert_eq!(failure.metadata["cause"], "malformed");
}

async fn s299_s300_s301_a_cursor_of_another_query(world: World) {
    let active = pb::SessionFilter {
        states: vec![pb::SessionState::Active.into()],
        ..all()
    };
    let stopped = pb::SessionFilter {
        states: vec![pb::SessionState::Stopped.into()],
        ..all()
    };
    let included = pb::SessionFilter {
        archive: pb::ArchiveFilter::Include.into(),
        ..all()
    };
    let query = |text: &str| pb::SessionFilter {
        query: text.to_owned(),
        ..all()
    };
    let of_active = cursor(&world, active).await;
    let (a, b) = {
        let rows = world.rows().await;
        let id = |name: &str| rows.iter().find(|row| row.name() == name).unwrap().id.clone();
        (id("a"), id("b"))
    };
    let of_all = next(&world, first(all(), 1)).await;
    let of_a = next(&world, first(of(&a), 1)).await;
    let of_included = next(&world, first(included, 1)).await;
    let of_ab = next(&world, first(query("ge"), 1)).await;
    for (cursor, filter) in [
        (&of_active, stopped),
        (&of_active, all()),
        (&of_included, all()),
        (&of_ab, query("gen")),
        (&of_all, of(&a)),
        (&of_a, all()),
        (&of_a, of(&b)),
    ] {
        let failure = refused(&world, filter.clone(), cursor).await;
        assert_eq!(failure.metadata["cause"], "other_query", "{filter:?}");
    }
    let activity = sorted(all(), pb::SessionSort::LastActivity, 1);
    let failure = world.daemon.api.list_sessions(behind(&activity, &of_all)).await;
    assert_eq!(failure.unwrap_err().metadata["cause"], "other_query");
    // From one list to another, both ways.
    let request = compozy_proto::workspace::v1::ListWorkspacesRequest {
        limit: 1,
        ..crate::requests::list()
    };
    let workspaces = world.daemon.api.list(request.clone()).await.unwrap();
    let of_workspaces = workspaces.page.unwrap().next_cursor.unwrap();
    let failure = refused(&world, all(), &of_workspaces).await;
    assert_eq!(failure.metadata["cause"], "other_query");
    let foreign = compozy_proto::workspace::v1::ListWorkspacesRequest {
        cursor: of_all,
        ..request
    };
    let failure = world.daemon.api.list(foreign).await.unwrap_err();
    assert_eq!(failure.metadata["cause"], "other_query");
}

async fn s302_a_cursor_of_another_catalog(world: World) {
    let elsewhere = tempfile::tempdir().unwrap();
    let path = elsewhere.path().canonicalize().unwrap();
    let other = crate::world::Setup::new(&path, compozy_store::StoreAddress::SqliteMemory).await;
    let other = World::new(other).await;
    let cursor = cursor(&other, all()).await;
    assert_eq!(
        refused(&world, all(), &cursor).await.metadata["cause"],
        "other_catalog"
    );
}

async fn s303_order_and_repetition_of_values_do_not_count(world: World) {
    use pb::SessionState::{Active, Stopped};
    let states = |states: &[pb::SessionState]| pb::SessionFilter {
        states: states.iter().map(|state| (*state).into()).collect(),
        ..all()
    };
    let cursor = cursor(&world, states(&[Active, Stopped])).await;
    let again = first(states(&[Stopped, Active, Stopped]), 1);
    let (rows, info) = world.page(behind(&again, &cursor)).await;
    assert_eq!((rows.len(), info.total, info.has_more), (1, 3, true));
}

async fn s304_a_workspace_by_another_name_is_the_same_one(world: World) {
    let (a, _) = world.a_and_b().await;
    fill(&world, &a.id, 3).await;
    let request = first(of(&a.id), 2);
    let cursor = next(&world, request.clone()).await;
    let expected = world.page(behind(&request, &cursor)).await;
    let forms = [
        Form::Name("A".to_owned()),
        Form::Path(world.path("a")),
        Form::DurableId(a.durable_id),
    ];
    for form in forms {
        let filter = pb::SessionFilter {
            workspace: by(form),
            ..all()
        };
        let request = first(filter, 2);
        assert_eq!(world.page(behind(&request, &cursor)).await, expected);
    }
}

async fn limit_and_health_are_not_bound(world: World) {
    let cursor = cursor(&world, all()).await;
    let request = pb::ListSessionsRequest {
        limit: 7,
        include_health: true,
        sort: pb::SessionSort::Recent.into(),
        ..behind(&list(all()), &cursor)
    };
    assert_eq!(world.page(request).await.0.len(), 2);
}

async fn s305_a_bad_cursor_while_the_store_is_away(world: World) {
    let good = cursor(&world, all()).await;
    let other = pb::SessionFilter {
        include_internal: true,
        ..all()
    };
    let mut bad = good.clone();
    let last = bad.pop().unwrap();
    bad.push(if last == 'A' { 'B' } else { 'A' });
    // The bits of its last character may mean nothing: another one is edited, too.
    let replaced = if bad.starts_with('A') { "B" } else { "A" };
    bad.replace_range(..1, replaced);
    world.store.close().await;
    let named = pb::SessionFilter {
        workspace: by(Form::Name("a".to_owned())),
        ..all()
    };
    for (filter, cursor) in [(all(), &bad), (named, &bad), (other, &good)] {
        let outcome = world
            .daemon
            .api
            .list_sessions(behind(&list(filter), cursor))
            .await;
        let failure = outcome.unwrap_err();
        assert_eq!(
            (failure.code, failure.reason.as_str()),
            (Code::InvalidArgument, "CURSOR_INVALID")
        );
    }
    let outcome = world.daemon.api.list_sessions(behind(&list(all()), &good)).await;
    let failure = outcome.unwrap_err();
    assert_eq!(
        (failure.code, failure.reason.as_str()),
        (Code::Unavailable, "STORE_UNAVAILABLE")
    );
}

async fn s306_a_walk_goes_on_after_a_restart(mut world: World) {
    let (a, _) = world.a_and_b().await;
    let ids: [String; 3] = world.create_some(&a.id).await;
    let request = first(all(), 2);
    let cursor = next(&world, request.clone()).await;
    world.restart(|_| {}).await;
    let (rest, info) = world.page_of_ids(behind(&request, &cursor)).await;
    assert_eq!((rest, info.total), (vec![ids[0].clone()], 3));
}

async fn s307_page_two_from_another_server(world: World) {
    let (a, _) = world.a_and_b().await;
    let ids: [String; 3] = world.create_some(&a.id).await;
    let request = first(all(), 2);
    let cursor = next(&world, request.clone()).await;
    let store = SqlStore::open(OpenOptions {
        address: world.address.clone(),
        access: Access::Serve,
        durability: Durability::Normal,
        binary: "0.1.0",
        now: world.clock.now(),
        random: world.random.as_ref(),
    });
    let store = std::sync::Arc::new(store.await.unwrap());
    let other = world
        .start(|parts| parts.store = std::sync::Arc::clone(&store) as _)
        .await;
    let answer = other.api.list_sessions(behind(&request, &cursor)).await.unwrap();
    let rest: Vec<_> = answer.sessions.into_iter().map(|row| row.id).collect();
    assert_eq!((rest, answer.page.unwrap().total), (vec![ids[0].clone()], 3));
    store.close().await;
}

async fn s308_the_last_request_again_is_the_last_page_again(world: World) {
    let cursor = cursor(&world, all()).await;
    let request = behind(&first(all(), 2), &cursor);
    let last = world.page(request.clone()).await;
    assert_eq!((last.0.len(), last.1.has_more), (2, false));
    assert_eq!(world.page(request).await, last);
}

async fn a_rotated_key_is_valid_once_more(world: World) {
    let cursor = cursor(&world, all()).await;
    for (round, is_valid) in [(1_u8, true), (2, false)] {
        world
            .store
            .rotate_key([round; 32], world.clock.now())
            .await
            .unwrap();
        world.daemon.seal.refresh().await.unwrap();
        let outcome = world
            .daemon
            .api
            .list_sessions(behind(&list(all()), &cursor))
            .await;
        assert_eq!(outcome.is_ok(), is_valid);
        if let Err(failure) = outcome {
            assert_eq!(failure.metadata["cause"], "key_retired");
        }
    }
}

/// The cursor of a first page of one row of three, in a world with A and B.
async fn cursor(world: &World, filter: pb::SessionFilter) -> String {
    let (a, _) = world.a_and_b().await;
    fill(world, &a.id, 3).await;
    next(world, first(filter, 1)).await
}

async fn next(world: &World, request: pb::ListSessionsRequest) -> String {
    let cursor = world.page(request).await.1.next_cursor.unwrap();
    assert!(cursor.len() <= 1_024);
    cursor
}

async fn refused(world: &World, filter: pb::SessionFilter, cursor: &str) -> Failure {
    let outcome = world
        .daemon
        .api
        .list_sessions(behind(&first(filter, 1), cursor))
        .await;
    let failure = outcome.unwrap_err();
    assert_eq!(
        (failure.code, failure.reason.as_str()),
        (Code::InvalidArgument, "CURSOR_INVALID")
    );
    failure
}

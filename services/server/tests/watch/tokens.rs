//! Tokens (cases section 3).

use compozy_domain::Clock as _;
use compozy_proto::change::v1 as pb;
use compozy_proto::change::v1::watch_catalog_response::Message;
use compozy_proto::workspace::v1 as workspace_pb;
use compozy_proto::workspace::v1::workspace_ref::Form;
use compozy_store::CatalogStore as _;
use compozy_store::conformance::Engine as _;

use crate::client::{beating, by, cause, from, of, of_kinds, resumed};
use crate::server::Server;
use crate::world::{World, until};

cases! {
    n035_n036_n041_n056_every_token_resumes_with_exactly_the_rest,
    n044_a_token_of_before_delivers_a_change_once,
    n047_tokens_fit_into_a_url,
    n049_n053_what_is_no_token,
    n051_a_token_is_for_the_filter_that_it_was_made_for,
    n052_the_same_filter_written_another_way,
    n054_a_bad_token_is_never_resynced,
    tokens_are_made_with_the_newest_key,
}

file_cases! {
    n048_every_character_counts,
    n050_another_catalog_s_token_is_refused,
}

fn versions(changes: &[pb::Change]) -> Vec<i64> {
    changes.iter().map(|change| change.version).collect()
}

async fn missed(server: &Server, token: &str) -> Vec<i64> {
    let (changes, _) = server.watch(resumed(token)).await.caught_up().await;
    versions(&changes)
}

async fn n035_n036_n041_n056_every_token_resumes_with_exactly_the_rest(world: World) {
    let server = world.start().await;
    let a = server.register(&world, "a").await;
    let mut w = server.watch(pb::WatchCatalogRequest::default()).await;
    let mut tokens = vec![w.synced().await];
    for number in 0..5 {
        server.retitle(&a.id, &number.to_string()).await;
        tokens.push(w.change().await.token);
    }
    let all: Vec<i64> = (a.version + 1..=a.version + 5).collect();
    for (at, token) in tokens.iter().enumerate() {
        assert_eq!(missed(&server, token).await, all[at..]);
        // As often as one likes.
        assert_eq!(missed(&server, token).await, all[at..]);
    }
    // The token of `synced` behind missed changes is that of the head.
    let mut again = server.watch(resumed(&tokens[2])).await;
    let (_, synced) = again.caught_up().await;
    assert!(missed(&server, &synced).await.is_empty());
    let next = server.retitle(&a.id, "next").await.workspace.unwrap();
    assert_eq!(again.change().await.version, next.version);
}

async fn n044_a_token_of_before_delivers_a_change_once(world: World) {
    let server = world.start().await;
    let a = server.register(&world, "a").await;
    let b = server.register(&world, "b").await;
    let mut w = server.watch(pb::WatchCatalogRequest::default()).await;
    let before = w.synced().await;
    server.retitle(&b.id, "x").await;
    let renamed = server.rename(&a.id, "other").await.workspace.unwrap();
    server.retitle(&b.id, "y").await;
    let (changes, _) = server.watch(resumed(&before)).await.caught_up().await;
    let of_a: Vec<_> = changes
        .iter()
        .filter(|change| change.workspace_id == a.id)
        .collect();
    assert_eq!(
        (changes.len(), of_a.len(), of_a[0].version),
        (3, 1, renamed.version)
    );
}

async fn n047_tokens_fit_into_a_url(world: World) {
    let server = world.start().await;
    let a = server.register(&world, "a").await;
    let mut w = server.watch(beating(pb::WatchCatalogRequest::default())).await;
    let mut tokens = vec![w.synced().await, w.heartbeat().await.token];
    let written = server.retitle(&a.id, "t").await;
    tokens.push(w.change().await.token);
    tokens.push(written.revision);
    tokens.push(server.page().await.1.revision);
    server
        .store
        .new_epoch("01J0ZK3M5N7P9Q1R3S5T7V9WXY")
        .await
        .unwrap();
    tokens.push(w.resync().await.token);
    server.shutdown().begin("the test");
    match w.news().await {
        Message::GoingAway(last) => tokens.push(last.token),
        other => panic!("{other:?}"),
    }
    for token in tokens {
        let fits = |byte: u8| byte.is_ascii_alphanumeric() || b"_.~-".contains(&byte);
        assert!(
            !token.is_empty() && token.len() <= 1_024 && token.bytes().all(fits),
            "{token}"
        );
    }
}

async fn n048_every_character_counts(world: World) {
    let server = world.start().await;
    let mut w = server.watch(pb::WatchCatalogRequest::default()).await;
    let token = w.synced().await;
    for at in 0..token.len() {
        let other = if token.as_bytes()[at] == b'B' { "C" } else { "B" };
        let mut edited = token.clone();
        edited.replace_range(at..=at, other);
        let status = server.refused(resumed(&edited)).await;
        assert!(!cause(&status).is_empty(), "character {at}");
    }
}

async fn n049_n053_what_is_no_token(world: World) {
    let server = world.start().await;
    for name in ["a", "b"] {
        server.register(&world, name).await;
    }
    let long = "A".repeat(10 * 1_024);
    let (_, page) = server.page().await;
    for text in [long.as_str(), " ", "!!!", page.next_cursor.as_deref().unwrap()] {
        cause(&server.refused(resumed(text)).await);
    }
    let token = server
        .watch(pb::WatchCatalogRequest::default())
        .await
        .synced()
        .await;
    for cursor in [token, page.revision] {
        let list = workspace_pb::ListWorkspacesRequest {
            cursor,
            ..Default::default()
        };
        cause(&server.workspaces().list_workspaces(list).await.unwrap_err());
    }
}

async fn n050_another_catalog_s_token_is_refused(world: World) {
    let server = world.start().await;
    let other_engine = compozy_store::conformance::SqliteFile::begin("n050")
        .await
        .unwrap();
    let other_world = World::new(other_engine.address());
    let other = other_world.start().await;
    let token = other
        .watch(pb::WatchCatalogRequest::default())
        .await
        .synced()
        .await;
    let (_, page) = other.page().await;
    for token in [token, page.revision] {
        let request = pb::WatchCatalogRequest {
            on_expired: pb::OnExpired::Resync.into(),
            ..resumed(&token)
        };
        assert_eq!(cause(&server.refused(request).await), "other_catalog");
    }
    other_world.stores().close().await;
}

async fn n051_a_token_is_for_the_filter_that_it_was_made_for(world: World) {
    let server = world.start().await;
    let a = server.register(&world, "a").await;
    let b = server.register(&world, "b").await;
    let token = server.watch(of(&[&a.id])).await.synced().await;
    let others = [
        of(&[&b.id]),
        of(&[&a.id, &b.id]),
        pb::WatchCatalogRequest::default(),
        of_kinds(&[pb::ChangeKind::Profile]),
        pb::WatchCatalogRequest {
            kinds: vec![pb::ChangeKind::Profile.into()],
            ..of(&[&a.id])
        },
        pb::WatchCatalogRequest {
            ungrouped: true,
            ..of(&[&a.id])
        },
        pb::WatchCatalogRequest {
            include_internal: true,
            ..of(&[&a.id])
        },
    ];
    for other in others {
        let request = pb::WatchCatalogRequest {
            resume_token: token.clone(),
            ..other
        };
        assert_eq!(cause(&server.refused(request).await), "other_query");
    }
    // What is no filter may change.
    let same = pb::WatchCatalogRequest {
        resume_token: token,
        include_rows: true,
        on_expired: pb::OnExpired::Resync.into(),
        ..beating(of(&[&a.id]))
    };
    server.watch(same).await.synced().await;
}

async fn n052_the_same_filter_written_another_way(world: World) {
    let server = world.start().await;
    let a = server.register(&world, "a").await;
    let b = server.register(&world, "b").await;
    let kinds = |kinds: [pb::ChangeKind; 2]| of_kinds(&kinds).kinds;
    let one = pb::WatchCatalogRequest {
        kinds: kinds([pb::ChangeKind::Workspace, pb::ChangeKind::Session]),
        ..of(&[&a.id, &b.id])
    };
    let resume_token = server.watch(one).await.synced().await;
    let names = vec![by(Form::Name(b.name().to_owned())), by(Form::Id(a.id.clone()))];
    for workspaces in [
        of(&[&b.id, &a.id]).workspaces,
        of(&[&b.id, &a.id, &b.id]).workspaces,
        names,
    ] {
        let request = pb::WatchCatalogRequest {
            resume_token: resume_token.clone(),
            workspaces,
            kinds: kinds([pb::ChangeKind::Session, pb::ChangeKind::Workspace]),
            ..Default::default()
        };
        server.watch(request).await.synced().await;
    }
}

async fn n054_a_bad_token_is_never_resynced(world: World) {
    let server = world.start().await;
    let a = server.register(&world, "a").await;
    let token = server.watch(of(&[&a.id])).await.synced().await;
    let mut edited = token.clone();
    edited.replace_range(40..=40, if token.as_bytes()[40] == b'B' { "C" } else { "B" });
    for text in ["!!!", &edited, &token] {
        let request = pb::WatchCatalogRequest {
            on_expired: pb::OnExpired::Resync.into(),
            ..resumed(text)
        };
        cause(&server.refused(request).await);
    }
    // An earliest watch has a token like any other.
    let token = server
        .watch(from(pb::WatchStart::Earliest))
        .await
        .caught_up()
        .await
        .1;
    server.watch(resumed(&token)).await.synced().await;
}

async fn tokens_are_made_with_the_newest_key(world: World) {
    let server = world.start().await;
    let a = server.register(&world, "a").await;
    server.retitle(&a.id, "one").await;
    for round in 1..=3 {
        let (changes, synced) = server
            .watch(from(pb::WatchStart::Earliest))
            .await
            .caught_up()
            .await;
        for token in changes.iter().map(|change| &change.token).chain([&synced]) {
            server.watch(resumed(token)).await.caught_up().await;
        }
        let key = server
            .store
            .rotate_key([round; 32], world.clock.now())
            .await
            .unwrap();
        until("the new key is known", async || {
            server.watches.seal.newest_number() == key.number
        })
        .await;
    }
}

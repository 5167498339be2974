//! Cursors and their misuse (cases sections 7 and 14).

use compozy_proto::workspace::v1 as pb;
use compozy_proto::workspace::v1::WorkspaceOrder as Order;
use compozy_server::seal::TokenKind;
use compozy_store::CatalogStore as _;
use tonic::Code;

use crate::client::Failure;
use crate::requests::list;
use crate::world::World;

cases! {
    w213_w217_a_cursor_of_another_query,
    limit_and_status_are_not_bound,
    w216_a_cursor_of_another_catalog,
    w323_a_rotated_key,
    a_key_that_is_news_is_looked_up,
    w233_a_cursor_survives_a_removal,
}

async fn w213_w217_a_cursor_of_another_query(world: World) {
    let cursor = cursor(&world).await;
    let other_order = pb::ListWorkspacesRequest {
        order_by: Order::Created.into(),
        ..with(&cursor)
    };
    let other_filter = pb::ListWorkspacesRequest {
        name_prefix: "a".into(),
        ..with(&cursor)
    };
    for request in [other_order, other_filter] {
        assert_eq!(refused(&world, request).await.metadata["cause"], "other_query");
    }
    // What another list, or something else than a list, has sealed with the same key.
    let payload = compozy_server::cursor::QueryHash::of(
        "compozy.session.v1.SessionCatalogService/ListSessions",
        &list(),
    );
    let place = compozy_domain::workspace::WorkspacePlace {
        key: compozy_domain::workspace::WorkspaceSortKey::Name("n".into()),
        root_dir: "/r".into(),
        id: compozy_domain::WorkspaceId::parse("ws_0000000000000001").unwrap(),
    };
    let revision = compozy_domain::Revision {
        epoch: "e".into(),
        position: 1,
    };
    let seal = &world.daemon.seal;
    let all = compozy_domain::Visibility::All;
    let foreign = compozy_server::cursor::encode(seal, payload, &all, &place, (&revision, 1));
    let token = seal.seal(TokenKind::Revision, b"");
    for cursor in [foreign, token] {
        assert_eq!(
            refused(&world, with(&cursor)).await.metadata["cause"],
            "other_query"
        );
    }
}

async fn limit_and_status_are_not_bound(world: World) {
    let cursor = cursor(&world).await;
    let request = pb::ListWorkspacesRequest {
        limit: 7,
        include_status: true,
        ..with(&cursor)
    };
    assert_eq!(world.daemon.api.list(request).await.unwrap().workspaces.len(), 1);
    let normal = pb::ListWorkspacesRequest {
        order_by: Order::Manual.into(),
        ..with(&cursor)
    };
    world.daemon.api.list(normal).await.unwrap();
}

async fn w216_a_cursor_of_another_catalog(world: World) {
    let elsewhere = tempfile::tempdir().unwrap();
    let path = elsewhere.path().canonicalize().unwrap();
    let other = crate::world::Setup::new(&path, compozy_store::StoreAddress::SqliteMemory).await;
    let other = World::new(other).await;
    let cursor = cursor(&other).await;
    assert_eq!(
        refused(&world, with(&cursor)).await.metadata["cause"],
        "other_catalog"
    );
}

async fn w323_a_rotated_key(world: World) {
    let cursor = cursor(&world).await;
    for (round, is_valid) in [(1_u8, true), (2, false)] {
        let now = compozy_domain::Clock::now(&*world.clock);
        world.store.rotate_key([round; 32], now).await.unwrap();
        world.daemon.seal.refresh().await.unwrap();
        let outcome = world.daemon.api.list(with(&cursor)).await;
        assert_eq!(outcome.is_ok(), is_valid);
        if let Err(failure) = outcome {
            assert_eq!(
                (failure.reason.as_str(), failure.metadata["cause"].as_str()),
                ("CURSOR_INVALID", "key_retired")
            );
        }
    }
}

async fn a_key_that_is_news_is_looked_up(world: World) {
    let replica = world.start(|parts| parts.owner = "replica".into()).await;
    let now = compozy_domain::Clock::now(&*world.clock);
    world.store.rotate_key([7; 32], now).await.unwrap();
    world.daemon.seal.refresh().await.unwrap();
    let cursor = cursor(&world).await;
    replica.api.list(with(&cursor)).await.unwrap();
}

async fn w233_a_cursor_survives_a_removal(world: World) {
    let cursor = cursor(&world).await;
    for row in world.rows().await {
        world
            .daemon
            .api
            .remove(crate::requests::remove(&row.id))
            .await
            .unwrap();
    }
    let page = world.daemon.api.list(with(&cursor)).await.unwrap();
    assert!(page.workspaces.is_empty());
    assert_eq!(page.page.unwrap().total, 0);
}

file_cases! {
    w214_edited_cursors,
    w215_a_bad_cursor_while_the_store_is_away,
}

async fn w214_edited_cursors(world: World) {
    let good = cursor(&world).await;
    let mut causes = std::collections::BTreeSet::new();
    for at in 0..good.len() {
        let mut edited = good.clone().into_bytes();
        edited[at] = if edited[at] == b'A' { b'B' } else { b'A' };
        let failure = refused(&world, with(&String::from_utf8(edited).unwrap())).await;
        causes.insert(failure.metadata["cause"].clone());
    }
    // The last character has bits that mean nothing: each of its spellings but one is refused, too.
    let alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    for last in alphabet.chars().filter(|last| !good.ends_with(*last)) {
        refused(&world, with(&format!("{}{last}", &good[..good.len() - 1]))).await;
    }
    assert!(
        causes.contains("malformed") && causes.contains("other_catalog"),
        "{causes:?}"
    );
    let long = "A".repeat(1_025);
    for (bad, cause) in [
        ("xx", "malformed"),
        ("é", "malformed"),
        (long.as_str(), "too_large"),
    ] {
        assert_eq!(refused(&world, with(bad)).await.metadata["cause"], cause);
    }
}

async fn w215_a_bad_cursor_while_the_store_is_away(world: World) {
    let good = cursor(&world).await;
    world.store.close().await;
    let mut bad = good.clone();
    let last = bad.pop().unwrap();
    bad.push(if last == 'A' { 'B' } else { 'A' });
    let failure = world.daemon.api.list(with(&bad)).await.unwrap_err();
    assert_eq!(
        (failure.code, failure.reason.as_str()),
        (Code::InvalidArgument, "CURSOR_INVALID")
    );
    let failure = world.daemon.api.list(with(&good)).await.unwrap_err();
    assert_eq!(
        (failure.code, failure.reason.as_str()),
        (Code::Unavailable, "STORE_UNAVAILABLE")
    );
}

fn with(cursor: &str) -> pb::ListWorkspacesRequest {
    pb::ListWorkspacesRequest {
        cursor: cursor.to_owned(),
        ..list()
    }
}

/// The cursor of a first page of one row of two.
async fn cursor(world: &World) -> String {
    world.reg_new("one").await;
    world.reg_new("two").await;
    let page = world
        .daemon
        .api
        .list(pb::ListWorkspacesRequest { limit: 1, ..list() })
        .await
        .unwrap();
    let cursor = page.page.unwrap().next_cursor.unwrap();
    assert!(cursor.len() <= 1_024);
    cursor
}

async fn refused(world: &World, request: pb::ListWorkspacesRequest) -> Failure {
    let failure = world.daemon.api.list(request).await.unwrap_err();
    assert_eq!(
        (failure.code, failure.reason.as_str()),
        (Code::InvalidArgument, "CURSOR_INVALID")
    );
    failure
}

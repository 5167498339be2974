//! Who may watch what (cases sections 12 and 19). Callers come over TCP with tokens of a tokens file.

use std::fmt::Write as _;
use std::path::Path;

use compozy_domain::ChangeReason;
use compozy_proto::change::v1 as pb;
use compozy_proto::change::v1::watch_catalog_response::Message;
use compozy_proto::workspace::v1::workspace_ref::Form;
use compozy_store::conformance::execute;
use tonic::{Code, Status};

use crate::client::{Watching, beating, by, entry, explained, from, of, reason};
use crate::entries::{moved, removed, session};
use crate::server::{SMALL_WINDOW, Server};
use crate::world::{Options, World};

cases! {
    n141_a_token_with_scope_read,
    n142_what_is_outside_does_not_exist,
    n143_no_text_of_a_user_is_told,
    n197_what_is_taken_off_a_token_is_no_longer_told,
    n198_only_what_exists_for_the_caller,
    a_token_that_is_removed_ends_its_watch,
    n197_a_token_that_is_removed_ends_its_snapshot,
}

/// Writes the tokens file: for each id a token `token-<id>`, its scope, and its workspaces if they are limited.
pub(crate) fn write_tokens(path: &Path, entries: &[(&str, &str, Option<&[&str]>)]) {
    let mut text = String::new();
    for (id, scope, workspaces) in entries {
        let hash = compozy_server::token::hash(&format!("token-{id}"));
        let hash: String = hash.iter().map(|byte| format!("{byte:02x}")).collect();
        writeln!(
            text,
            "[[tokens]]\nid = \"{id}\"\nsha256 = \"{hash}\"\nscopes = [\"{scope}\"]"
        )
        .unwrap();
        if let Some(workspaces) = workspaces {
            writeln!(text, "workspaces = {workspaces:?}").unwrap();
        }
    }
    // In one step, as careful people do.
    let new = path.with_extension("new");
    std::fs::write(&new, text).unwrap();
    std::fs::rename(&new, path).unwrap();
}

/// A server whose tokens file holds what it will hold.
pub(crate) async fn start(world: &World) -> (Server, std::path::PathBuf) {
    let path = world.path("tokens.toml");
    write_tokens(&path, &[]);
    let server = world
        .start_with(Options::with(format!(
            "auth.tokens_file = {:?}\n",
            path.to_str().unwrap()
        )))
        .await;
    (server, path)
}

/// Waits until a token is known, and watches with it.
pub(crate) async fn watch_with(server: &Server, token: &str, request: pb::WatchCatalogRequest) -> Watching {
    let mut watching = None;
    crate::world::until("the token is known", async || {
        watching = server.watch_as(Some(token), request.clone()).await.ok();
        watching.is_some()
    })
    .await;
    watching.unwrap()
}

async fn refused_with(server: &Server, token: &str, request: pb::WatchCatalogRequest) -> Status {
    match server.watch_as(Some(token), request).await {
        Ok(watching) => watching.refused().await,
        Err(status) => status,
    }
}

async fn n141_a_token_with_scope_read(world: World) {
    let (server, tokens) = start(&world).await;
    let status = server
        .watch_as(None, pb::WatchCatalogRequest::default())
        .await
        .unwrap_err();
    assert_eq!(
        reason(&status),
        (Code::Unauthenticated, "TOKEN_MISSING".to_owned())
    );
    write_tokens(&tokens, &[("reader", "read", None), ("writer", "write", None)]);
    watch_with(&server, "token-reader", pb::WatchCatalogRequest::default())
        .await
        .synced()
        .await;
    let status = refused_with(&server, "token-writer", pb::WatchCatalogRequest::default()).await;
    assert_eq!(
        reason(&status),
        (Code::PermissionDenied, "SCOPE_DENIED".to_owned())
    );
}

async fn n142_what_is_outside_does_not_exist(world: World) {
    let (server, tokens) = start(&world).await;
    let a = server.register(&world, "a").await;
    let b = server.register(&world, "b").await;
    write_tokens(&tokens, &[("a", "read", Some(&[&a.id]))]);
    let mut w = watch_with(&server, "token-a", pb::WatchCatalogRequest::default()).await;
    w.synced().await;
    server.retitle(&b.id, "hidden").await;
    let written = server.retitle(&a.id, "told").await.workspace.unwrap();
    let change = w.change().await;
    assert_eq!(
        (change.workspace_id, change.version),
        (a.id.clone(), written.version)
    );
    let named = |text: &str| pb::WatchCatalogRequest {
        workspaces: vec![by(Form::Any(text.to_owned()))],
        ..Default::default()
    };
    for (invisible, never) in [("b", "nope"), (b.id.as_str(), "ws_0123456789abcdef")] {
        let mut told = Vec::new();
        for text in [invisible, never] {
            let status = refused_with(&server, "token-a", named(text)).await;
            assert_eq!(
                reason(&status),
                (Code::NotFound, "WORKSPACE_NOT_FOUND".to_owned())
            );
            let mut metadata = explained(&status).metadata;
            metadata.remove("reference");
            metadata.remove("trace_id");
            told.push((status.message().replace(text, "REF"), metadata));
        }
        assert_eq!(told[0], told[1]);
    }
    // Nor may a token of a watch of it be a way in.
    let resume_token = server.watch(of(&[&b.id])).await.synced().await;
    let status = refused_with(
        &server,
        "token-a",
        pb::WatchCatalogRequest {
            resume_token,
            ..of(&[&b.id])
        },
    )
    .await;
    assert_eq!(reason(&status).1, "WORKSPACE_NOT_FOUND");
}

async fn n143_no_text_of_a_user_is_told(world: World) {
    let (server, _) = start(&world).await;
    let mut w = server.w().await;
    let a = server.register(&world, "a").await;
    server.rename(&a.id, "bearer-s3cret").await;
    server.retitle(&a.id, "Authorization: Bearer s3cret").await;
    server.remove(&a.id).await;
    for change in w.changes(4).await {
        assert!(
            !format!("{change:?}").contains("s3cret"),
            "a change is an address"
        );
    }
}

async fn n197_what_is_taken_off_a_token_is_no_longer_told(world: World) {
    let (server, tokens) = start(&world).await;
    let a = server.register(&world, "a").await;
    let b = server.register(&world, "b").await;
    let both: [&str; 2] = [&a.id, &b.id];
    write_tokens(&tokens, &[("t", "read", Some(&both))]);
    let mut wa = watch_with(&server, "token-t", beating(of(&[&a.id]))).await;
    wa.synced().await;
    let mut all = watch_with(&server, "token-t", beating(pb::WatchCatalogRequest::default())).await;
    all.synced().await;
    write_tokens(&tokens, &[("t", "read", Some(&[&b.id]))]);
    crate::world::until("the new list is in force", async || {
        let again = server.watch_as(Some("token-t"), of(&[&a.id])).await.unwrap();
        // The last chance of an old list is a stream that tells `synced`.
        let mut again = again;
        match again.next().await {
            Err(status) => reason(&status) == (Code::NotFound, "WORKSPACE_NOT_FOUND".to_owned()),
            Ok(_) => false,
        }
    })
    .await;
    // The heartbeat after that looks again.
    for watching in [&mut wa, &mut all] {
        watching.heartbeat().await;
        watching.heartbeat().await;
    }
    server.retitle(&a.id, "hidden").await;
    let written = server.retitle(&b.id, "told").await.workspace.unwrap();
    assert_eq!(all.change().await.version, written.version);
    // Nothing of A came before it, and nothing but heartbeats comes to who watches A.
    let head = server.watches.log.present().await.unwrap().head;
    loop {
        let beat = wa.heartbeat().await;
        if server.position(&beat.token).await >= head {
            break;
        }
    }
}

async fn n198_only_what_exists_for_the_caller(world: World) {
    let (server, tokens) = start(&world).await;
    let a = server.register(&world, "a").await;
    let b = server.register(&world, "b").await;
    write_tokens(&tokens, &[("b", "read", Some(&[&b.id]))]);
    let snapshot = from(pb::WatchStart::Snapshot);
    let (rows, ..) = watch_with(&server, "token-b", snapshot).await.snapshot().await;
    assert_eq!(
        rows.iter().map(|row| row.id.as_str()).collect::<Vec<_>>(),
        [b.id.as_str()]
    );
    let earliest = server
        .watch_as(Some("token-b"), from(pb::WatchStart::Earliest))
        .await;
    let (changes, _) = earliest.unwrap().caught_up().await;
    assert_eq!(
        changes
            .iter()
            .map(|change| change.workspace_id.as_str())
            .collect::<Vec<_>>(),
        [b.id.as_str()]
    );

    let mut w = server
        .watch_as(Some("token-b"), pb::WatchCatalogRequest::default())
        .await
        .unwrap();
    w.synced().await;
    let hidden = [
        session("sess-1", ChangeReason::Renamed, Some(&a.id)),
        session("sess-u", ChangeReason::Renamed, None),
        removed(&a.id, ChangeReason::RemovedSessionsKept, 2),
        moved("sess-2", Some(&b.id), Some(&a.id)),
        moved("sess-2", Some(&a.id), Some(&b.id)),
    ];
    server.append(&world, &hidden).await;
    let told = w.changes(2).await;
    assert_eq!(
        told.iter().map(entry).collect::<Vec<_>>(),
        ["session deleted left", "session upserted attached"]
    );
    for change in told {
        assert_eq!(
            (change.workspace_id.as_str(), change.from_workspace_id.as_str()),
            (b.id.as_str(), "")
        );
    }
    let row = pb::WatchCatalogRequest {
        include_rows: true,
        ..Default::default()
    };
    let mut rows = server.watch_as(Some("token-b"), row).await.unwrap();
    rows.synced().await;
    server.retitle(&b.id, "t").await;
    assert_eq!(
        crate::client::workspace_of(rows.change().await.row).unwrap().id,
        b.id
    );
}

async fn a_token_that_is_removed_ends_its_watch(world: World) {
    let (server, tokens) = start(&world).await;
    server.register(&world, "a").await;
    write_tokens(&tokens, &[("t", "read", None), ("other", "read", None)]);
    let mut w = watch_with(&server, "token-t", beating(pb::WatchCatalogRequest::default())).await;
    let mut other = watch_with(
        &server,
        "token-other",
        beating(pb::WatchCatalogRequest::default()),
    )
    .await;
    w.synced().await;
    other.synced().await;
    write_tokens(&tokens, &[("other", "read", None)]);
    let status = loop {
        match w.next().await {
            Ok(Some(Message::Heartbeat(_))) => {}
            Err(status) => break status,
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(
        reason(&status),
        (Code::Unauthenticated, "TOKEN_INVALID".to_owned())
    );
    other.heartbeat().await;
    other.heartbeat().await;
}

async fn n197_a_token_that_is_removed_ends_its_snapshot(world: World) {
    let (server, path) = start(&world).await;
    const ROWS: usize = 200;
    for number in 0..ROWS {
        server.register(&world, &format!("w{number}")).await;
    }
    // Far more than the windows of a client take.
    let directories = vec![format!("\"/{}\"", "d".repeat(3_600)); 3];
    let sql = format!(
        "UPDATE workspace SET additional_dirs = '[{}]'",
        directories.join(",")
    );
    execute(&server.store, &sql).await.unwrap();
    write_tokens(&path, &[("t", "read", None)]);
    watch_with(&server, "token-t", pb::WatchCatalogRequest::default()).await;
    let snapshot = beating(from(pb::WatchStart::Snapshot));
    let channel = server.network_with(SMALL_WINDOW).await;
    let mut w = Watching::begin(channel, snapshot, Some("token-t")).await.unwrap();
    assert!(matches!(w.message().await, Message::SnapshotRow(_)));
    write_tokens(&path, &[]);
    let mut rows = 1;
    let status = loop {
        // A row now and then: the snapshot takes longer than a heartbeat.
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        match w.next().await {
            Ok(Some(Message::SnapshotRow(_))) => rows += 1,
            Ok(other) => panic!("after {rows} rows: {other:?}"),
            Err(status) => break status,
        }
    };
    assert_eq!(status.code(), Code::Unauthenticated);
    assert!(rows < ROWS, "{rows}");
}

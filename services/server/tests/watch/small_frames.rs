//! A watch that is not read never breaks another call of its connection. The receiver's HTTP/2 library ends a
//! connection on which too many small frames wait unread: each of fewer than 256 bytes costs what it lacks, and half
//! of the connection's window is there to pay with. A frame of more than two thirds of 256 bytes cannot use that up,
//! because the window is full first; so no message that a watch repeats is smaller.

use compozy_proto::change::v1 as pb;
use compozy_proto::change::v1::watch_catalog_response::Message;
use futures::future::join_all;
use prost::Message as _;

use crate::client::{Watching, beating};
use crate::entries::session;
use crate::server::SMALL_WINDOW;
use crate::world::{Options, World};

cases! {
    no_message_that_repeats_is_so_small_that_unread_ones_end_a_connection,
    unread_watches_with_default_windows_leave_other_calls_alone,
    unread_watches_with_small_windows_leave_other_calls_alone,
}

/// What the library takes for small, and the part of the window that it allows for what small frames lack.
const SMALL: usize = 256;
/// gRPC's own header of a message.
const HEADER: usize = 5;
const WATCHES: usize = 16;

async fn no_message_that_repeats_is_so_small_that_unread_ones_end_a_connection(world: World) {
    let server = world.start().await;
    let mut w = server.synced(beating(pb::WatchCatalogRequest::default())).await;
    let mut messages = vec![w.message().await];
    assert!(matches!(messages[0], Message::Heartbeat(_)));
    // As little as a change can say.
    server
        .append(&world, &[session("s", compozy_domain::ChangeReason::Seen, None)])
        .await;
    messages.push(w.news().await);
    for message in messages {
        let frame = pb::WatchCatalogResponse {
            message: Some(message.clone()),
        }
        .encoded_len()
            + HEADER;
        // Frames that fill the window lack less than half of it: (256 - frame) / frame < 1 / 2.
        assert!(3 * frame > 2 * SMALL, "{frame} bytes: {message:?}");
    }
}

/// 16 watches and everything else on one connection with the windows that a client has by default. (What is unread
/// stays below the connection's window of 5 MiB here; whoever lets that fill up stops its own calls, which is why
/// clients give watches a connection of their own or small windows.)
async fn unread_watches_with_default_windows_leave_other_calls_alone(world: World) {
    const CHANGES: usize = 1_000;
    let server = world.start().await;
    let a = server.register(&world, "a").await;
    let mut unread = Vec::new();
    for _ in 0..WATCHES {
        // The server's own channel, on which all other calls of this test go.
        let request = pb::WatchCatalogRequest::default();
        unread.push(
            Watching::begin(server.channel.clone(), request, None)
                .await
                .unwrap(),
        );
    }
    for watching in &mut unread {
        watching.synced().await;
    }
    let mut last = a.version;
    for number in 0..CHANGES {
        let written = server
            .retitle(&a.id, &number.to_string())
            .await
            .workspace
            .unwrap();
        assert_eq!(written.version, last + 1);
        last = written.version;
    }
    assert_eq!(server.listed().await.len(), 1);
    // And nothing of what was not read is lost.
    let seen = join_all(unread.iter_mut().map(|watching| watching.changes(CHANGES))).await;
    assert!(seen.iter().all(|changes| changes[CHANGES - 1].version == last));
}

/// The same without a limit: streams of 64 KiB never fill the window of their connection.
async fn unread_watches_with_small_windows_leave_other_calls_alone(world: World) {
    const BATCHES: usize = 30;
    let server = world.start_with(Options::impatient()).await;
    let a = server.register(&world, "a").await;
    let channel = server.connect(Some(SMALL_WINDOW)).await;
    let mut unread = Vec::new();
    for _ in 0..WATCHES {
        let request = pb::WatchCatalogRequest::default();
        unread.push(Watching::begin(channel.clone(), request, None).await.unwrap());
    }
    for watching in &mut unread {
        watching.synced().await;
    }
    let mut workspaces =
        compozy_proto::workspace::v1::workspace_service_client::WorkspaceServiceClient::new(channel);
    for batch in 0..BATCHES {
        let entries: Vec<_> = (0..100)
            .map(|number| {
                session(
                    &format!("sess-{batch}-{number}"),
                    compozy_domain::ChangeReason::State,
                    None,
                )
            })
            .collect();
        server.append(&world, &entries).await;
        let list = compozy_proto::workspace::v1::ListWorkspacesRequest::default();
        assert_eq!(
            workspaces
                .list_workspaces(list)
                .await
                .unwrap()
                .into_inner()
                .workspaces
                .len(),
            1
        );
    }
    let last = server.retitle(&a.id, "last").await.workspace.unwrap();
    let reading = unread.iter_mut().map(async |watching| {
        let mut count = 0;
        loop {
            let change = watching.change().await;
            if change.workspace_id == a.id && change.version == last.version {
                return count;
            }
            count += 1;
        }
    });
    assert_eq!(join_all(reading).await, [BATCHES * 100; WATCHES]);
}

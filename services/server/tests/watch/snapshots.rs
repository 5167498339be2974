//! Watches that begin with the current rows (cases section 2).

use std::collections::{BTreeMap, BTreeSet};

use compozy_domain::workspace::{NewName, NewWorkspace};
use compozy_domain::{Clock as _, DurableId, FileIdentity, HostId, Visibility, WorkspaceId, WorkspaceName};
use compozy_proto::change::v1 as pb;
use compozy_proto::workspace::v1 as workspace_pb;
use compozy_server::random::SystemRandom;
use compozy_store::{Call, Register, WorkspaceStore as _};
use futures::StreamExt as _;

use crate::client::{from, of, of_kinds, resumed, workspace_of};
use crate::server::Server;
use crate::world::{PATIENCE, World};

cases! {
    n027_n037_the_rows_then_synced_then_what_changes,
    n028_only_the_rows_of_the_filter,
    n029_an_empty_catalog_is_synced_first,
    n030_n031_a_model_of_rows_and_changes_equals_the_list,
    n032_a_slow_reader_of_many_rows_delays_nobody,
}

fn snapshot() -> pb::WatchCatalogRequest {
    from(pb::WatchStart::Snapshot)
}

fn ids(rows: &[workspace_pb::Workspace]) -> BTreeSet<&str> {
    rows.iter().map(|row| row.id.as_str()).collect()
}

async fn n027_n037_the_rows_then_synced_then_what_changes(world: World) {
    let server = world.start().await;
    for name in ["a", "b", "c"] {
        server.register(&world, name).await;
    }
    let mut w = server.watch(snapshot()).await;
    let (mut rows, changes, token) = w.snapshot().await;
    rows.sort_by(|one, other| one.id.cmp(&other.id));
    assert!(changes.is_empty());
    assert_eq!(rows, server.listed().await);
    let a = &rows[0];
    let written = server.retitle(&a.id, "live").await.workspace.unwrap();
    assert_eq!(w.change().await.version, written.version);
    let mut again = server.watch(resumed(&token)).await;
    let (missed, _) = again.caught_up().await;
    assert_eq!(
        missed.iter().map(|change| change.version).collect::<Vec<_>>(),
        [written.version]
    );
}

async fn n028_only_the_rows_of_the_filter(world: World) {
    let server = world.start().await;
    let a = server.register(&world, "a").await;
    let b = server.register(&world, "b").await;
    let one = pb::WatchCatalogRequest {
        start: pb::WatchStart::Snapshot.into(),
        ..of(&[&a.id])
    };
    let (rows, ..) = server.watch(one).await.snapshot().await;
    assert_eq!(ids(&rows), BTreeSet::from([a.id.as_str()]));
    let two = pb::WatchCatalogRequest {
        start: pb::WatchStart::Snapshot.into(),
        ..of(&[&b.id, &a.id])
    };
    let (rows, ..) = server.watch(two).await.snapshot().await;
    assert_eq!(ids(&rows), BTreeSet::from([a.id.as_str(), b.id.as_str()]));
    // Records are not what these look at.
    let sessions = pb::WatchCatalogRequest {
        start: pb::WatchStart::Snapshot.into(),
        ..of_kinds(&[pb::ChangeKind::Session])
    };
    let homeless = pb::WatchCatalogRequest {
        ungrouped: true,
        ..snapshot()
    };
    for request in [sessions, homeless] {
        let (rows, ..) = server.watch(request).await.snapshot().await;
        assert!(rows.is_empty());
    }
}

async fn n029_an_empty_catalog_is_synced_first(world: World) {
    let server = world.start().await;
    server.watch(snapshot()).await.synced().await;
}

async fn n030_n031_a_model_of_rows_and_changes_equals_the_list(world: World) {
    let server = world.start().await;
    let before = register_many(&server, &world, 100).await;
    let writing = async {
        let mut states: BTreeMap<(String, i64), workspace_pb::Workspace> = BTreeMap::new();
        for (round, id) in before.iter().enumerate() {
            match round % 4 {
                0 => server.remove(id.as_str()).await,
                1 => drop(register(&server, &world, 1_000 + round).await),
                _ => {
                    let row = server
                        .retitle(id.as_str(), &format!("t{round}"))
                        .await
                        .workspace
                        .unwrap();
                    states.insert((row.id.clone(), row.version), row);
                }
            }
        }
        states
    };
    let with_rows = pb::WatchCatalogRequest {
        include_rows: true,
        ..snapshot()
    };
    let watching = async {
        let mut w = server.watch(with_rows).await;
        let (rows, changes, _) = w.snapshot().await;
        (w, rows, changes)
    };
    let (states, (mut w, rows, mut changes)) = futures::join!(writing, watching);
    // A row is one that the record really had.
    for row in rows.iter().filter(|row| row.version > 1) {
        if let Some(state) = states.get(&(row.id.clone(), row.version)) {
            assert_eq!(row, state);
        }
    }
    let last = server.register(&world, "last").await;
    let is_last = |change: &pb::Change| change.workspace_id == last.id;
    while !changes.iter().any(is_last) {
        changes.push(w.change().await);
    }
    let mut model: BTreeMap<String, workspace_pb::Workspace> =
        rows.into_iter().map(|row| (row.id.clone(), row)).collect();
    for change in changes {
        match (change.op(), workspace_of(change.row)) {
            (pb::ChangeOp::Deleted, _) => drop(model.remove(&change.workspace_id)),
            // Gone since: its deletion is still to come.
            (_, None) => {}
            (_, Some(row)) => drop(model.insert(row.id.clone(), row)),
        }
    }
    assert_eq!(model.into_values().collect::<Vec<_>>(), server.listed().await);
}

async fn n032_a_slow_reader_of_many_rows_delays_nobody(world: World) {
    const ROWS: usize = 2_000;
    const PIECE: usize = 32;
    let server = world.start().await;
    register_many(&server, &world, ROWS).await;
    let mut slow = server.watch(snapshot()).await;
    let first = slow.message().await;
    assert!(matches!(
        first,
        pb::watch_catalog_response::Message::SnapshotRow(_)
    ));
    // The client does not go on: only what fits into its window is read, in pieces, and writes pass by.
    let a = server.register(&world, "a").await;
    for number in 0..20 {
        server.retitle(&a.id, &number.to_string()).await;
    }
    let pages = server.watched.snapshot_pages();
    assert!(
        pages <= 24,
        "{pages} pieces of {PIECE} rows for a client that does not read"
    );
    let (rows, changes, _) = slow.snapshot().await;
    assert!(rows.len() >= ROWS - 1);
    assert!(!changes.is_empty() || rows.iter().any(|row| row.id == a.id));
    assert!(server.watched.snapshot_pages() >= (ROWS / PIECE) as u64);
}

async fn register_many(server: &Server, world: &World, count: usize) -> Vec<WorkspaceId> {
    let registering = (0..count).map(|number| register(server, world, number));
    futures::stream::iter(registering).buffered(8).collect().await
}

/// A row of a directory that is not there: nobody looks at a disk for it.
async fn register(server: &Server, world: &World, number: usize) -> WorkspaceId {
    let now = world.clock.now();
    let id = WorkspaceId::generate(&SystemRandom).unwrap();
    let workspace = NewWorkspace {
        id: id.clone(),
        durable_id: DurableId::generate(now, &SystemRandom).unwrap(),
        host_id: HostId::parse("h1").unwrap(),
        root_dir: format!("/nowhere/{number}"),
        root_file: FileIdentity {
            device: 1,
            inode: number as u64,
        },
        additional_dirs: Vec::new(),
        name: NewName::Explicit(WorkspaceName::parse(&format!("n{number}")).unwrap()),
        title: "t".repeat(100),
        default_agent: String::new(),
        is_default: false,
        at: now,
    };
    let register = Register {
        workspace,
        intent: None,
        validate_only: false,
    };
    let call = Call {
        visibility: Visibility::All,
        now,
        deadline: std::time::Instant::now() + PATIENCE,
        remember: None,
    };
    server.store.register(register, call).await.unwrap();
    id
}

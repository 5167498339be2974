//! Counted pages (cases section 7).

use std::time::Duration;

use compozy_domain::workspace::{NewName, NewWorkspace};
use compozy_domain::{DurableId, FileIdentity, HostId, Visibility, WorkspaceId, WorkspaceName};
use compozy_proto::page::v1::PageInfo;
use compozy_proto::workspace::v1 as pb;
use compozy_proto::workspace::v1::WorkspaceOrder as Order;
use compozy_server::resume_token;
use compozy_store::{Call, Register, WorkspaceStore as _};
use prost::Message as _;
use tonic::Code;

use crate::requests::{ID1, list, moved, named, remove, titled, update};
use crate::world::{World, workspace_of};

cases! {
    w207_an_empty_catalog,
    w206_a_name_prefix_is_counted,
    a_prefix_may_end_in_a_blank,
    a_text_is_found_in_id_name_title_and_root,
    w209_w210_pages_of_a_walk,
    w331_pages_are_bounded_in_bytes,
    w211_the_last_row_of_a_page_is_removed,
    w212_an_unseen_row_moves_to_the_front,
    w218_names_have_one_order,
    w219_equal_times_are_ordered_by_path,
    the_latest_change_comes_first,
    what_is_written_after_a_page_lies_behind_its_revision,
    long_roots_fit_into_cursors,
}

async fn w207_an_empty_catalog(world: World) {
    let page = world.daemon.api.list(list()).await.unwrap();
    assert!(page.workspaces.is_empty());
    let info = page.page.unwrap();
    assert_eq!(
        (info.total, info.has_more, &info.next_cursor, info.limit),
        (0, false, &None, 50)
    );
    assert!(!info.revision.is_empty());
}

async fn w206_a_name_prefix_is_counted(world: World) {
    for name in ["api", "app", "web"] {
        world.reg_new(name).await;
    }
    let request = |cursor: String| pb::ListWorkspacesRequest {
        name_prefix: "AP".into(),
        limit: 1,
        order_by: Order::Name.into(),
        cursor,
        ..list()
    };
    let (first, info) = page(&world, request(String::new())).await;
    assert_eq!(
        (names(&first), info.total, info.has_more),
        (vec!["api".to_owned()], 2, true)
    );
    let (second, info) = page(&world, request(info.next_cursor.unwrap())).await;
    assert_eq!(
        (names(&second), info.total, info.next_cursor),
        (vec!["app".to_owned()], 2, None)
    );
}

async fn a_prefix_may_end_in_a_blank(world: World) {
    for name in ["my project", "myth"] {
        world
            .daemon
            .api
            .register(named(world.mkdir(name), name))
            .await
            .unwrap();
    }
    let (rows, _) = page(
        &world,
        pb::ListWorkspacesRequest {
            name_prefix: "my ".into(),
            ..list()
        },
    )
    .await;
    assert_eq!(names(&rows), ["my project"]);
}

async fn a_text_is_found_in_id_name_title_and_root(world: World) {
    let row = world.reg_new("needle-dir").await;
    world
        .daemon
        .api
        .update(update(&row.id, &["title"], titled("Straße")))
        .await
        .unwrap();
    world.reg_new("other").await;
    for query in ["NEEDLE", "strasse", &row.id[3..], "/t/needle"] {
        let (rows, info) = page(
            &world,
            pb::ListWorkspacesRequest {
                query: query.into(),
                ..list()
            },
        )
        .await;
        assert_eq!(
            (names(&rows), info.total),
            (vec!["needle-dir".to_owned()], 1),
            "{query}"
        );
    }
    let (_, info) = page(
        &world,
        pb::ListWorkspacesRequest {
            query: "%".into(),
            ..list()
        },
    )
    .await;
    assert_eq!(info.total, 0);
}

async fn w209_w210_pages_of_a_walk(world: World) {
    fill(&world, 205, |_| Vec::new()).await;
    let (sizes, ids) = walk(&world, 100, 205).await;
    assert_eq!((sizes, ids.len()), (vec![100, 100, 5], 205));
    for row in world.rows().await.iter().take(5) {
        world.daemon.api.remove(remove(&row.id)).await.unwrap();
    }
    let (sizes, _) = walk(&world, 100, 200).await;
    assert_eq!(sizes, [100, 100]);
}

async fn w331_pages_are_bounded_in_bytes(world: World) {
    fill(&world, 100, |at| {
        (0..64)
            .map(|dir| format!("/{at:04}/{dir:04}/{}", "d".repeat(989)))
            .collect()
    })
    .await;
    let (sizes, ids) = walk(&world, 100, 100).await;
    assert!(sizes.len() > 2 && ids.len() == 100, "{sizes:?}");
}

async fn w211_the_last_row_of_a_page_is_removed(world: World) {
    fill(&world, 205, |_| Vec::new()).await;
    let all = world.rows().await;
    let request = pb::ListWorkspacesRequest { limit: 100, ..list() };
    let (first, info) = page(&world, request.clone()).await;
    world.daemon.api.remove(remove(&first[99].id)).await.unwrap();
    let (second, info) = page(
        &world,
        pb::ListWorkspacesRequest {
            cursor: info.next_cursor.unwrap(),
            ..request
        },
    )
    .await;
    assert_eq!((second[0].id.as_str(), info.total), (all[100].id.as_str(), 204));
}

async fn w212_an_unseen_row_moves_to_the_front(world: World) {
    fill(&world, 30, |_| Vec::new()).await;
    let all = world.rows().await;
    let request = pb::ListWorkspacesRequest { limit: 10, ..list() };
    let (first, info) = page(&world, request.clone()).await;
    world
        .daemon
        .api
        .move_workspace(moved(&all[25].id, Some(&all[0].id)))
        .await
        .unwrap();
    let mut seen: Vec<_> = first.into_iter().map(|row| row.id).collect();
    let mut cursor = info.next_cursor;
    while let Some(next) = cursor {
        let (rows, info) = page(
            &world,
            pb::ListWorkspacesRequest {
                cursor: next,
                ..request.clone()
            },
        )
        .await;
        seen.extend(rows.into_iter().map(|row| row.id));
        cursor = info.next_cursor;
    }
    let others: Vec<_> = all
        .iter()
        .map(|row| row.id.clone())
        .filter(|id| *id != all[25].id)
        .collect();
    assert_eq!(seen, others);
}

async fn w218_names_have_one_order(mut world: World) {
    for name in ["b", "B2", "a"] {
        world.reg_new(name).await;
    }
    let request = pb::ListWorkspacesRequest {
        order_by: Order::Name.into(),
        ..list()
    };
    assert_eq!(names(&page(&world, request.clone()).await.0), ["a", "b", "B2"]);
    world.restart(|_| {}).await;
    assert_eq!(names(&page(&world, request).await.0), ["a", "b", "B2"]);
}

async fn w219_equal_times_are_ordered_by_path(world: World) {
    for name in ["m", "é", "Z", "a"] {
        world.reg_new(name).await;
    }
    world.clock.advance(Duration::from_secs(1));
    world.reg_new("newest").await;
    let request = pb::ListWorkspacesRequest {
        order_by: Order::Created.into(),
        limit: 1,
        ..list()
    };
    let mut seen = Vec::new();
    let mut cursor = String::new();
    loop {
        let (rows, info) = page(
            &world,
            pb::ListWorkspacesRequest {
                cursor,
                ..request.clone()
            },
        )
        .await;
        seen.extend(names(&rows));
        match info.next_cursor {
            Some(next) => cursor = next,
            None => break,
        }
    }
    assert_eq!(seen, ["newest", "Z", "a", "m", "é"]);
}

async fn the_latest_change_comes_first(world: World) {
    let first = world.reg_new("a").await;
    world.clock.advance(Duration::from_secs(1));
    world.reg_new("b").await;
    world.clock.advance(Duration::from_secs(1));
    world
        .daemon
        .api
        .update(update(&first.id, &["title"], titled("T")))
        .await
        .unwrap();
    let request = pb::ListWorkspacesRequest {
        order_by: Order::Updated.into(),
        ..list()
    };
    assert_eq!(names(&page(&world, request).await.0), ["a", "b"]);
}

async fn what_is_written_after_a_page_lies_behind_its_revision(world: World) {
    world.reg_new("a").await;
    let (_, info) = page(&world, list()).await;
    let token = resume_token::decode(&world.daemon.seal, &info.revision)
        .await
        .unwrap();
    let row = world.reg_new("b").await;
    let changes = world.changes().await;
    let missed: Vec<_> = changes
        .iter()
        .filter(|entry| entry.position > token.revision.position)
        .collect();
    let of_b = missed
        .iter()
        .filter(|entry| workspace_of(&entry.change) == row.id);
    assert_eq!(of_b.count(), 1);
}

async fn long_roots_fit_into_cursors(world: World) {
    let parent = format!("{}/{}", world.t, ["p"; 8].map(|part| part.repeat(200)).join("/"));
    for name in ["1", "2", "3", "4", "5"] {
        let root = format!("{parent}/{name}");
        std::fs::create_dir_all(&root).unwrap();
        world.reg(root).await;
    }
    for order in [Order::Manual, Order::Name, Order::Created, Order::Updated] {
        let mut seen = Vec::new();
        let mut cursor = String::new();
        loop {
            let request = pb::ListWorkspacesRequest {
                order_by: order.into(),
                limit: 2,
                cursor,
                ..list()
            };
            let (rows, info) = page(&world, request).await;
            seen.extend(rows.into_iter().map(|row| row.id));
            match info.next_cursor {
                Some(next) => {
                    assert!(next.len() <= 1_024);
                    cursor = next;
                }
                None => break,
            }
        }
        let mut distinct = seen.clone();
        distinct.sort();
        distinct.dedup();
        assert_eq!((seen.len(), distinct.len()), (5, 5), "{order:?}");
    }
}

file_cases! {
    w208_limits,
    filters_are_bounded,
}

async fn w208_limits(world: World) {
    for (limit, applied) in [(0, 50), (1, 1), (100, 100)] {
        let (_, info) = page(&world, pb::ListWorkspacesRequest { limit, ..list() }).await;
        assert_eq!(info.limit, applied);
    }
    for limit in [101, -1] {
        let call = world
            .daemon
            .api
            .list(pb::ListWorkspacesRequest { limit, ..list() });
        assert_eq!(
            world
                .refused(Code::InvalidArgument, "INVALID_FIELD", call)
                .await
                .fields,
            ["limit"]
        );
    }
}

async fn filters_are_bounded(world: World) {
    let requests = [
        (
            pb::ListWorkspacesRequest {
                name_prefix: "p".repeat(65),
                ..list()
            },
            "name_prefix",
        ),
        (
            pb::ListWorkspacesRequest {
                query: "q".repeat(257),
                ..list()
            },
            "query",
        ),
        (
            pb::ListWorkspacesRequest {
                query: "q\0".into(),
                ..list()
            },
            "query",
        ),
        (
            pb::ListWorkspacesRequest {
                statuses: vec![1; 101],
                ..list()
            },
            "statuses",
        ),
        (
            pb::ListWorkspacesRequest {
                statuses: vec![1, 0],
                ..list()
            },
            "statuses[1]",
        ),
        (
            pb::ListWorkspacesRequest {
                statuses: vec![77],
                ..list()
            },
            "statuses[0]",
        ),
    ];
    for (request, field) in requests {
        let call = world.daemon.api.list(request);
        assert_eq!(
            world
                .refused(Code::InvalidArgument, "INVALID_FIELD", call)
                .await
                .fields,
            [field]
        );
    }
}

async fn page(world: &World, request: pb::ListWorkspacesRequest) -> (Vec<pb::Workspace>, PageInfo) {
    let page = world.daemon.api.list(request).await.unwrap();
    assert!(page.encoded_len() <= 3 * 1024 * 1024);
    let info = page.page.unwrap();
    assert_eq!(info.has_more, info.next_cursor.is_some());
    (page.workspaces, info)
}

fn names(rows: &[pb::Workspace]) -> Vec<String> {
    rows.iter().map(|row| row.name.clone().unwrap()).collect()
}

/// Sizes of the pages of a walk, and the ids on them, each once.
async fn walk(world: &World, limit: i32, total: i64) -> (Vec<usize>, Vec<String>) {
    let (mut sizes, mut ids, mut cursor) = (Vec::new(), Vec::new(), String::new());
    loop {
        let (rows, info) = page(
            world,
            pb::ListWorkspacesRequest {
                limit,
                cursor,
                ..list()
            },
        )
        .await;
        assert_eq!((info.total, info.limit), (total, limit));
        sizes.push(rows.len());
        ids.extend(rows.into_iter().map(|row| row.id));
        match info.next_cursor {
            Some(next) => cursor = next,
            None => break,
        }
    }
    let count = ids.len();
    ids.sort();
    ids.dedup();
    assert_eq!(ids.len(), count, "every row once");
    (sizes, ids)
}

/// Puts rows into the store without directories.
async fn fill(world: &World, count: u32, dirs: impl Fn(u32) -> Vec<String>) {
    for at in 0..count {
        let workspace = NewWorkspace {
            id: WorkspaceId::generate(world.random.as_ref()).unwrap(),
            durable_id: DurableId::parse(ID1).unwrap(),
            host_id: HostId::parse("h1").unwrap(),
            root_dir: format!("/filled/{at}"),
            root_file: FileIdentity {
                device: 1,
                inode: u64::from(at),
            },
            additional_dirs: dirs(at),
            name: NewName::Explicit(WorkspaceName::parse(&format!("n{at}")).unwrap()),
            title: String::new(),
            default_agent: String::new(),
            is_default: false,
            at: compozy_domain::Clock::now(&*world.clock),
        };
        let call = Call {
            visibility: Visibility::All,
            now: workspace.at,
            deadline: std::time::Instant::now() + Duration::from_secs(20),
            remember: None,
        };
        world
            .store
            .register(
                Register {
                    workspace,
                    intent: None,
                    validate_only: false,
                },
                call,
            )
            .await
            .unwrap();
    }
}

//! The identity file: what is written, and what is read (cases section 1).

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::time::Duration;

use compozy_proto::workspace::v1 as pb;
use compozy_proto::workspace::v1::WorkspaceStatus as Status;
use compozy_proto::workspace::v1::workspace_ref::Form;
use compozy_resolver::identity;

use crate::requests::{ID1, discover, get, list, register};
use crate::tree::{chmod, exists, identity_file, mode};
use crate::world::{World, file_of};

cases! {
    w001_w002_a_registration_makes_the_file,
    w003_a_path_with_a_quote_and_a_backslash,
    w004_a_link_leads_to_the_directory,
    w005_a_file_that_is_there_stays,
    reads_write_nothing,
    w037_one_bad_file_affects_its_workspace_only,
    w039_one_unreadable_file_affects_its_workspace_only,
    a_lost_file_is_a_status_and_nothing_makes_it_again,
    w045_a_comment_changes_no_identity,
}

async fn w001_w002_a_registration_makes_the_file(world: World) {
    let root = world.mkdir("a");
    let answer = world.daemon.api.register(register(&root)).await.unwrap();
    assert!(answer.created);
    let workspace = answer.workspace.unwrap();
    let text = fs::read_to_string(file_of(&root)).unwrap();
    let keys: Vec<&str> = text
        .lines()
        .map(|line| line.split(" = ").next().unwrap())
        .collect();
    assert_eq!(keys, ["workspace_id", "created_at", "realpath_at_creation"]);
    assert_eq!(
        (mode(&file_of(&root)), mode(&format!("{root}/.compozy"))),
        (0o644, 0o755)
    );
    let identity = identity::parse(text.as_bytes()).unwrap();
    assert_eq!(identity.durable_id.as_str(), workspace.durable_id);
    assert!(compozy_domain::id::is_ulid(&workspace.durable_id));
    assert_eq!(identity.created_at, compozy_domain::Clock::now(&*world.clock));
    assert!(text.contains("created_at = \"2026-05-04T14:30:00Z\""), "{text}");
    assert_eq!(identity.realpath_at_creation, root);
}

async fn w003_a_path_with_a_quote_and_a_backslash(world: World) {
    let root = world.mkdir("q\"x\\y");
    let workspace = world.reg(&root).await;
    let identity = identity::parse(&fs::read(file_of(&root)).unwrap()).unwrap();
    assert_eq!(identity.realpath_at_creation, root);
    assert_eq!(world.status(&workspace.id).await, Status::Ok);
}

async fn w004_a_link_leads_to_the_directory(world: World) {
    let root = world.mkdir("a");
    let link = world.link(&root, "l");
    let workspace = world.reg(format!("{link}/")).await;
    assert_eq!(workspace.root_dir, root);
    let identity = identity::parse(&fs::read(file_of(&root)).unwrap()).unwrap();
    assert_eq!(identity.realpath_at_creation, root);
    assert!(!exists(&world.path(".compozy")));
}

async fn w005_a_file_that_is_there_stays(world: World) {
    let content = identity_file(ID1).replace("2026-05-04T14:30:00Z", "2020-01-01T00:00:00Z");
    let root = world.mkdir_with_file("a", &content);
    let before = fs::metadata(file_of(&root)).unwrap();
    let workspace = world.reg(&root).await;
    assert_eq!(workspace.durable_id, ID1);
    let after = fs::metadata(file_of(&root)).unwrap();
    assert_eq!(
        (before.ino(), before.mtime_nsec()),
        (after.ino(), after.mtime_nsec())
    );
    assert_eq!(fs::read_to_string(file_of(&root)).unwrap(), content);
}

async fn reads_write_nothing(world: World) {
    let root = world.mkdir("a");
    let id = world.reg(&root).await.id;
    world.clock.advance(Duration::from_secs(86_400));
    world
        .unchanged_by(async {
            for _ in 0..2 {
                let api = &world.daemon.api;
                api.get(get(Form::Id(id.clone()))).await.unwrap();
                api.list(pb::ListWorkspacesRequest {
                    include_status: true,
                    ..list()
                })
                .await
                .unwrap();
                api.discover(discover(&root)).await.unwrap();
            }
        })
        .await;
}

async fn w037_one_bad_file_affects_its_workspace_only(world: World) {
    for name in ["a", "b", "c"] {
        world.reg_new(name).await;
    }
    fs::write(file_of(&world.path("b")), "workspace_id = \"x\"").unwrap();
    let page = world.unchanged_by(statuses(&world)).await;
    assert_eq!(page, [Status::Ok, Status::IdentityInvalid, Status::Ok]);
}

async fn w039_one_unreadable_file_affects_its_workspace_only(world: World) {
    for name in ["a", "b", "c"] {
        world.reg_new(name).await;
    }
    chmod(&file_of(&world.path("b")), 0);
    assert_eq!(
        statuses(&world).await,
        [Status::Ok, Status::IdentityUnreadable, Status::Ok]
    );
}

async fn a_lost_file_is_a_status_and_nothing_makes_it_again(mut world: World) {
    let root = world.mkdir("a");
    let workspace = world.reg(&root).await;
    fs::remove_file(file_of(&root)).unwrap();
    world.restart(|_| {}).await;
    assert_eq!(world.status(&workspace.id).await, Status::IdentityMissing);
    assert_eq!(statuses(&world).await, [Status::IdentityMissing]);
    assert!(!exists(&file_of(&root)));
    assert_eq!(world.record(&workspace.id).await.durable_id, workspace.durable_id);
}

async fn w045_a_comment_changes_no_identity(world: World) {
    let root = world.mkdir_with_id("a", ID1);
    let id = world.reg(&root).await.id;
    fs::write(
        file_of(&root),
        format!("# ours\n\n{}", identity_file(ID1).replace(" = ", "   =  ")),
    )
    .unwrap();
    assert_eq!(world.status(&id).await, Status::Ok);
}

file_cases! {
    w007_w019_w020_w021_other_spellings_are_read_and_left,
    w036_without_auto_create_a_file_is_taken,
    w336_the_size_of_a_file_is_bounded,
}

async fn w007_w019_w020_w021_other_spellings_are_read_and_left(world: World) {
    let good = identity_file(ID1);
    let offset = good.replace("2026-05-04T14:30:00Z", "2026-05-04T16:30:00.25+02:00");
    let extended = format!("{good}team = \"x\"\n[note]\nby = \"me\"\n");
    let crlf = good.replace('\n', "\r\n");
    for (at, content) in [offset, crlf, extended, good].into_iter().enumerate() {
        let root = world.mkdir_with_file(&format!("d{at}"), &content);
        let id = world.reg(&root).await.id;
        assert_eq!(world.status(&id).await, Status::Ok, "{content}");
        assert_eq!(fs::read_to_string(file_of(&root)).unwrap(), content);
        let request = pb::GetIdentityRequest {
            target: Some(pb::get_identity_request::Target::Path(root)),
        };
        let identity = world
            .daemon
            .api
            .get_identity(request)
            .await
            .unwrap()
            .identity
            .unwrap();
        assert_eq!(identity.durable_id, ID1);
        let expected = if at == 0 { 250_000_000 } else { 0 };
        let created_at = identity.created_at.unwrap();
        assert_eq!((created_at.seconds, created_at.nanos), (1_777_905_000, expected));
    }
}

async fn w036_without_auto_create_a_file_is_taken(mut world: World) {
    world.restart(|parts| parts.settings.auto_create = false).await;
    let root = world.mkdir_with_id("a", ID1);
    assert_eq!(world.reg(&root).await.durable_id, ID1);
}

async fn w336_the_size_of_a_file_is_bounded(world: World) {
    let full = |bytes: usize| {
        let start = identity_file(ID1);
        format!("{start}{}\n", "#".repeat(bytes - start.len() - 1))
    };
    let root = world.mkdir_with_file("a", full(65_536));
    assert_eq!(world.reg(&root).await.durable_id, ID1);
    let root = world.mkdir_with_file("b", full(65_537));
    world
        .reg_refused(
            tonic::Code::FailedPrecondition,
            "IDENTITY_INVALID",
            register(root),
        )
        .await;
}

/// Statuses of a page, oldest registration first.
async fn statuses(world: &World) -> Vec<Status> {
    let request = pb::ListWorkspacesRequest {
        include_status: true,
        ..list()
    };
    let page = world.daemon.api.list(request).await.unwrap();
    let total = page.page.unwrap().total;
    assert_eq!(total, i64::try_from(page.workspaces.len()).unwrap());
    page.workspaces.iter().rev().map(pb::Workspace::status).collect()
}

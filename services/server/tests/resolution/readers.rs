//! Who may resolve what: hosts, callers over the network, callers for whom only some workspaces exist.

use std::fs;

use compozy_domain::{HostId, WorkspaceId};
use compozy_proto::workspace::v1 as pb;
use compozy_proto::workspace::v1::WorkspaceStatus as Status;
use compozy_proto::workspace::v1::workspace_ref::Form;
use tonic::Code;

use crate::client::Api;
use crate::place::{agent, skill, write};
use crate::requests::{by_any, get, list, resolve};
use crate::world::World;

cases! {
    w305_another_hosts_workspace,
    a_daemon_that_sees_no_disk,
    what_is_outside_does_not_exist,
    a_caller_over_the_network_reads_below_the_allowed_roots,
    a_caller_who_may_not_read_is_refused,
    answers_are_not_mixed_between_callers,
}

async fn w305_another_hosts_workspace(world: World) {
    let row = world.reg_new("a").await;
    let d2 = world
        .start(|parts| parts.host = HostId::parse("h2").unwrap())
        .await;
    let calls = world.files.all_calls();
    let looked = pb::GetWorkspaceRequest {
        include_status: true,
        ..get(Form::Id(row.id.clone()))
    };
    let seen = d2.api.get(looked).await.unwrap().workspace.unwrap();
    assert_eq!(seen.status(), Status::OtherHost);
    let looked = pb::ListWorkspacesRequest {
        include_status: true,
        ..list()
    };
    let listed = d2.api.list(looked).await.unwrap().workspaces;
    assert_eq!((listed.len(), listed[0].status()), (1, Status::OtherHost));
    world
        .refused(
            Code::FailedPrecondition,
            "WORKSPACE_ON_OTHER_HOST",
            d2.api.resolve(resolve(&row.id)),
        )
        .await;
    assert_eq!(world.files.all_calls(), calls, "its path is not looked at");
}

async fn a_daemon_that_sees_no_disk(world: World) {
    let row = world.reg_new("a").await;
    let none = world
        .start(|parts| parts.host = HostId::from_stored("none".to_owned()))
        .await;
    for reference in [crate::requests::by_id(&row.id), by_any("nobody")] {
        let request = pb::ResolveWorkspaceRequest {
            r#ref: reference,
            ..Default::default()
        };
        let call = none.api.resolve(request);
        world
            .refused(Code::FailedPrecondition, "HOST_NOT_SERVED", call)
            .await;
    }
}

async fn what_is_outside_does_not_exist(world: World) {
    let (a, b) = (world.reg_new("a").await, world.reg_new("b").await);
    let visible = [WorkspaceId::parse(&a.id).unwrap()];
    let allowed = world.t.clone();
    let daemon = world
        .start_for(&visible, |parts| parts.settings.allowed_roots = vec![allowed])
        .await;
    let api = daemon.api.seen_by("limited");
    assert_eq!(
        api.resolve(resolve(&a.id))
            .await
            .unwrap()
            .snapshot
            .unwrap()
            .workspace,
        Some(a)
    );
    let invisible = api.resolve(resolve(&b.id)).await.unwrap_err();
    let never = api.resolve(resolve("ws_0123456789abcdef")).await.unwrap_err();
    assert_eq!((invisible.code, &invisible.reason), (never.code, &never.reason));
    let id = |text: &str| text.replace(&b.id, "ws_0123456789abcdef");
    assert_eq!(id(&invisible.message), never.message);
}

/// A workspace of two roots and a custom source, with an agent or a skill in each.
async fn spread(world: &World) -> pb::Workspace {
    let (root, more, kit) = (
        world.mkdir("in/a"),
        world.mkdir("out/more"),
        world.mkdir("out/kit"),
    );
    agent(&format!("{root}/.compozy"), "inside", "You are inside.\n");
    agent(&format!("{more}/.compozy"), "outside", "You are outside.\n");
    write(
        format!("{kit}/x/SKILL.md"),
        "---\nname: x\ndescription: x\n---\nDo it.\n",
    );
    write(
        format!("{root}/.compozy/config.toml"),
        format!("[skills]\ncustom_sources = [\"{kit}\"]\n"),
    );
    let request = pb::RegisterWorkspaceRequest {
        additional_dirs: vec![more],
        ..crate::requests::register(root)
    };
    world
        .daemon
        .api
        .register(request)
        .await
        .unwrap()
        .workspace
        .unwrap()
}

async fn over_the_network(world: &World, allowed: &[&str]) -> (crate::daemon::Daemon, Api) {
    let roots: Vec<String> = allowed.iter().map(|name| world.path(name)).collect();
    let daemon = world.start(|parts| parts.settings.allowed_roots = roots).await;
    let api = daemon.api.seen_by("token");
    (daemon, api)
}

async fn a_caller_over_the_network_reads_below_the_allowed_roots(world: World) {
    let row = spread(&world).await;
    let local = world.resolved(&row.id).await;
    assert_eq!((local.agent_count, local.skill_count), (2, 1));
    let (_all, api) = over_the_network(&world, &["in", "out"]).await;
    let snapshot = api.resolve(resolve(&row.id)).await.unwrap().snapshot.unwrap();
    assert_eq!((snapshot.agent_count, snapshot.skill_count), (2, 1));
    // Only the root: what lies elsewhere is not read, and its content is not told.
    let (_inside, api) = over_the_network(&world, &["in"]).await;
    let snapshot = api.resolve(resolve(&row.id)).await.unwrap().snapshot.unwrap();
    assert_eq!(snapshot.agent_names, ["inside"]);
    assert_eq!(snapshot.skill_count, 0);
    assert!(!snapshot.diagnostics.is_empty());
    for allowed in [&["out"][..], &[]] {
        let (_outside, api) = over_the_network(&world, allowed).await;
        let failure = api.resolve(resolve(&row.id)).await.unwrap_err();
        assert_eq!(
            (failure.code, failure.reason.as_str()),
            (Code::PermissionDenied, "PATH_NOT_ALLOWED")
        );
    }
    // What counts is the directory that is opened, not what the path says.
    let (_inside, api) = over_the_network(&world, &["in"]).await;
    fs::rename(&row.root_dir, world.path("out/a")).unwrap();
    world.link(&world.path("out/a"), "in/a");
    let failure = api.resolve(resolve(&row.id)).await.unwrap_err();
    assert_eq!(failure.reason, "PATH_NOT_ALLOWED");
}

async fn a_caller_who_may_not_read_is_refused(world: World) {
    let row = world.reg_new("a").await;
    let failure = world
        .daemon
        .api
        .seen_by("writer")
        .resolve(resolve(&row.id))
        .await
        .unwrap_err();
    assert_eq!(failure.reason, "SCOPE_DENIED");
    let definition = pb::GetDefinitionRequest::default();
    let failure = world
        .daemon
        .api
        .seen_by("writer")
        .get_definition(definition)
        .await
        .unwrap_err();
    assert_eq!(
        failure.reason, "SCOPE_DENIED",
        "before anything is said about the request"
    );
}

/// One daemon, one workspace, two callers who may see different parts of the disk.
async fn answers_are_not_mixed_between_callers(world: World) {
    let row = spread(&world).await;
    skill(&format!("{}/.compozy", row.root_dir), "own", "Do it.\n");
    let (daemon, api) = over_the_network(&world, &["in"]).await;
    for _ in 0..2 {
        let everything = daemon
            .api
            .resolve(resolve(&row.id))
            .await
            .unwrap()
            .snapshot
            .unwrap();
        let inside = api.resolve(resolve(&row.id)).await.unwrap().snapshot.unwrap();
        assert_eq!(everything.agent_names, ["inside", "outside"]);
        assert_eq!(inside.agent_names, ["inside"]);
        assert_ne!(everything.fingerprint, inside.fingerprint);
    }
}

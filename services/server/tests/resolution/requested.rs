//! What a request asks for (cases section 1), and workspaces whose roots or files can't be used.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::time::Duration;

use compozy_proto::workspace::v1 as pb;
use compozy_proto::workspace::v1::WorkspaceStatus as Status;
use compozy_proto::workspace::v1::workspace_ref::Form;
use compozy_store::conformance::execute;
use rustix::mount::{MountFlags, mount_bind, mount_remount};
use tonic::Code;

use crate::place::{agent, config, only, skill, text, write};
use crate::requests::{by, by_any, by_id, discover, get, list, resolve};
use crate::world::{World, file_of};

cases! {
    r001_basic_is_the_record_names_and_counts,
    r002_full_is_everything_but_the_texts,
    r003_an_unchanged_snapshot_is_not_modified,
    r004_r005_anything_else_is_a_full_answer,
    r006_w053_a_missing_root_leaves_the_row_alone,
    r009_resolving_writes_nothing,
    r010_a_bare_directory_has_the_defaults,
    r011_one_broken_config_is_its_own,
    r219_an_agent_that_is_not_there,
    w006_looking_leaves_the_identity_file_alone,
    w038_one_bad_identity_file_is_its_own,
    w091_a_default_agent_need_not_exist,
    w183_a_missing_root_never_changes_the_record,
    w190_a_cleared_default_agent_gives_way_to_the_config,
    what_can_not_be_asked_for,
    a_row_that_is_not_understood_is_not_resolved,
    what_decides_about_an_answer_is_in_its_fingerprint,
}

mount_cases! {
    r007_a_read_only_disk,
}

fn filled(world: &World, name: &str) -> String {
    let root = world.mkdir(name);
    let base = format!("{root}/.compozy");
    agent(&base, "one", "You are the one.\n");
    skill(&base, "first", "Do it first.\n");
    skill(&base, "second", "Do it second.\n");
    root
}

async fn r001_basic_is_the_record_names_and_counts(world: World) {
    let row = world.reg(filled(&world, "a")).await;
    let basic = pb::ResolveWorkspaceRequest {
        view: pb::ResolveView::Unspecified.into(),
        ..resolve(&row.id)
    };
    let snapshot = world.snapshot_of(basic).await.unwrap();
    assert_eq!(snapshot.workspace.as_ref(), Some(&row));
    assert_eq!((snapshot.agent_count, snapshot.skill_count), (1, 2));
    assert_eq!(snapshot.agent_names, ["one"]);
    assert_eq!(snapshot.skill_names, ["first", "second"]);
    assert!(snapshot.config.is_none() && snapshot.config_leaves.is_empty());
    assert!(snapshot.agents.is_empty() && snapshot.skills.is_empty() && snapshot.skill_sources.is_empty());
    let shown = format!("{snapshot:?}");
    assert!(
        !shown.contains("You are the one") && !shown.contains("Do it first"),
        "{shown}"
    );
    assert_eq!(snapshot.fingerprint, world.resolved(&row.id).await.fingerprint);
}

async fn r002_full_is_everything_but_the_texts(world: World) {
    let root = filled(&world, "a");
    write(
        format!("{root}/.compozy/mcp.json"),
        r#"{"mcpServers": {"files": {"command": "serve", "args": ["x"]}}}"#,
    );
    let row = world.reg(&root).await;
    let snapshot = world.resolved(&row.id).await;
    assert_eq!(snapshot.workspace.as_ref(), Some(&row));
    assert_eq!(snapshot.root, root);
    assert_eq!(snapshot.profile.as_ref().unwrap().name, "default");
    let one = &snapshot.agents[0];
    assert_eq!(
        (one.name.as_str(), one.layer(), one.usable),
        ("one", pb::Layer::Workspace, true)
    );
    assert_eq!(one.path, format!("{root}/.compozy/agents/one/AGENT.md"));
    assert_eq!((one.prompt_digest.len(), one.prompt_size), (64, 17));
    let names: Vec<_> = snapshot.skills.iter().map(|skill| skill.name.as_str()).collect();
    assert_eq!(names, ["first", "second"]);
    assert_eq!(
        (snapshot.skills[0].text_digest.len(), snapshot.skills[0].text_size),
        (64, 13)
    );
    let server = &snapshot.mcp_servers[0];
    assert_eq!(
        (server.name.as_str(), server.command.as_str()),
        ("files", "serve")
    );
    assert_eq!(
        (snapshot.mcp_server_count, server.transport()),
        (1, pb::McpTransport::Stdio)
    );
    assert_eq!(text(&snapshot, "defaults.agent"), "general");
    let leaf = snapshot
        .config_leaves
        .iter()
        .find(|leaf| leaf.key == "defaults.agent")
        .unwrap();
    assert_eq!(leaf.winner.as_ref().unwrap().layer(), pb::Layer::Default);
    assert!(
        snapshot
            .skill_sources
            .iter()
            .any(|source| source.path == format!("{root}/.compozy/skills"))
    );
    assert!(snapshot.resolved_at.is_some());
    assert!(!snapshot.fingerprint.is_empty() && snapshot.fingerprint.len() <= 128);
    let shown = format!("{snapshot:?}");
    assert!(
        !shown.contains("You are the one") && !shown.contains("Do it first"),
        "{shown}"
    );
}

async fn r003_an_unchanged_snapshot_is_not_modified(world: World) {
    let row = world.reg(filled(&world, "a")).await;
    let fingerprint = world.resolved(&row.id).await.fingerprint;
    for view in [pb::ResolveView::Basic, pb::ResolveView::Full] {
        let again = pb::ResolveWorkspaceRequest {
            if_fingerprint: Some(fingerprint.clone()),
            view: view.into(),
            ..resolve(&row.id)
        };
        let answer = world.daemon.api.resolve(again).await.unwrap();
        assert!(answer.not_modified && answer.snapshot.is_none());
    }
}

async fn r004_r005_anything_else_is_a_full_answer(world: World) {
    let root = filled(&world, "a");
    let row = world.reg(&root).await;
    let before = world.resolved(&row.id).await;
    let with = |fingerprint: String| pb::ResolveWorkspaceRequest {
        if_fingerprint: Some(fingerprint),
        ..resolve(&row.id)
    };
    for nonsense in ["nonsense".to_owned(), String::new(), "x".repeat(5_000)] {
        assert_eq!(world.snapshot_of(with(nonsense)).await.unwrap(), before);
    }
    agent(&format!("{root}/.compozy"), "one", "You are another one.\n");
    let after = world.snapshot_of(with(before.fingerprint.clone())).await.unwrap();
    assert_ne!(after.fingerprint, before.fingerprint);
    assert_ne!(after.agents[0].prompt_digest, before.agents[0].prompt_digest);
}

async fn r006_w053_a_missing_root_leaves_the_row_alone(world: World) {
    let row = world.reg_new("a").await;
    fs::remove_dir_all(&row.root_dir).unwrap();
    for reference in [by_id(&row.id), by_any("a")] {
        let request = pb::ResolveWorkspaceRequest {
            r#ref: reference,
            ..Default::default()
        };
        let call = world.daemon.api.resolve(request);
        let failure = world
            .refused(Code::FailedPrecondition, "WORKSPACE_ROOT_MISSING", call)
            .await;
        assert!(failure.message.contains(&row.root_dir), "{failure:?}");
    }
    assert_eq!(world.rows().await, [row.clone()]);
    fs::write(&row.root_dir, "").unwrap();
    let call = world.daemon.api.resolve(resolve(&row.id));
    world
        .refused(Code::FailedPrecondition, "WORKSPACE_ROOT_NOT_DIRECTORY", call)
        .await;
}

async fn r007_a_read_only_disk(world: World) {
    let root = filled(&world, "disk/a");
    let row = world.reg(&root).await;
    let disk = world.path("disk");
    mount_bind(&disk, &disk).unwrap();
    mount_remount(&disk, MountFlags::BIND | MountFlags::RDONLY, "").unwrap();
    let snapshot = world.resolved(&row.id).await;
    assert_eq!((snapshot.agent_count, snapshot.skill_count), (1, 2));
}

async fn r009_resolving_writes_nothing(world: World) {
    let row = world.reg(filled(&world, "a")).await;
    world
        .unchanged_by(async {
            for number in 0..100 {
                let request = pb::ResolveWorkspaceRequest {
                    bypass_cache: number % 2 == 0,
                    ..resolve(&row.id)
                };
                world.snapshot_of(request).await.unwrap();
            }
        })
        .await;
}

async fn r010_a_bare_directory_has_the_defaults(world: World) {
    let row = world.reg_new("a").await;
    let snapshot = world.resolved(&row.id).await;
    assert_eq!(text(&snapshot, "defaults.agent"), "general");
    assert_eq!(text(&snapshot, "permissions.mode"), "approve-all");
    assert_eq!(snapshot.diagnostics, []);
    assert_eq!(
        (
            snapshot.agent_count,
            snapshot.skill_count,
            snapshot.mcp_server_count
        ),
        (0, 0, 0)
    );
}

async fn r011_one_broken_config_is_its_own(world: World) {
    let (a, b) = (world.reg_new("a").await, world.reg_new("b").await);
    let path = config(&b.root_dir, "[permissions]\nmode = 3\n");
    world.resolved(&a.id).await;
    let call = world.daemon.api.resolve(resolve(&b.id));
    let failure = world.refused(Code::InvalidArgument, "CONFIG_INVALID", call).await;
    assert!(
        failure
            .fields
            .iter()
            .any(|place| place.starts_with(&format!("{path}:2"))),
        "{failure:?}"
    );
    world.resolved(&a.id).await;
}

async fn r219_an_agent_that_is_not_there(world: World) {
    let row = world.reg(filled(&world, "a")).await;
    let of = |agent: &str| pb::ResolveWorkspaceRequest {
        agent: Some(agent.to_owned()),
        ..resolve(&row.id)
    };
    let failure = world
        .refused(
            Code::NotFound,
            "AGENT_NOT_FOUND",
            world.daemon.api.resolve(of("nope")),
        )
        .await;
    assert!(
        failure.message.contains("nope") && failure.names_resource,
        "{failure:?}"
    );
    let base = format!("{}/.compozy/agents/one", row.root_dir);
    skill(&base, "own", "Only mine.\n");
    let (seen, without) = (
        world.snapshot_of(of("one")).await.unwrap(),
        world.resolved(&row.id).await,
    );
    assert_eq!(seen.agent, "one");
    assert_eq!(seen.skill_names, ["first", "own", "second"]);
    assert_eq!(without.skill_names, ["first", "second"]);
    assert_ne!(seen.fingerprint, without.fingerprint);
}

async fn w006_looking_leaves_the_identity_file_alone(world: World) {
    let row = world.reg_new("a").await;
    let file = file_of(&row.root_dir);
    let state = || {
        let stat = fs::metadata(&file).unwrap();
        (
            fs::read(&file).unwrap(),
            stat.mtime(),
            stat.mtime_nsec(),
            stat.ino(),
        )
    };
    let before = state();
    world.clock.advance(Duration::from_secs(86_400));
    world
        .unchanged_by(async {
            for _ in 0..2 {
                assert_eq!(world.status(&row.id).await, Status::Ok);
                let looked = pb::ListWorkspacesRequest {
                    include_status: true,
                    ..list()
                };
                world.daemon.api.list(looked).await.unwrap();
                world.daemon.api.get(get(Form::Id(row.id.clone()))).await.unwrap();
                world.resolved(&row.id).await;
                world.daemon.api.discover(discover(&row.root_dir)).await.unwrap();
            }
        })
        .await;
    assert_eq!(state(), before);
}

async fn w038_one_bad_identity_file_is_its_own(world: World) {
    for name in ["a", "b", "c"] {
        world.reg_new(name).await;
    }
    let file = file_of(&world.path("b"));
    fs::write(&file, "workspace_id = \"no ULID\"\n").unwrap();
    let of = |name: &str| pb::ResolveWorkspaceRequest {
        r#ref: by(Form::Name(name.to_owned())),
        ..Default::default()
    };
    for good in ["a", "c"] {
        world.snapshot_of(of(good)).await.unwrap();
    }
    let call = world.daemon.api.resolve(of("b"));
    let failure = world
        .refused(Code::FailedPrecondition, "IDENTITY_INVALID", call)
        .await;
    assert_eq!(failure.metadata["path"], file);
    assert_eq!(failure.metadata["line"], "1");
    assert!(
        failure.metadata["remedy"].contains("compozy workspace identity repair"),
        "{failure:?}"
    );
}

async fn w091_a_default_agent_need_not_exist(world: World) {
    let request = pb::RegisterWorkspaceRequest {
        default_agent: Some("reviewer".to_owned()),
        ..crate::requests::register(world.mkdir("a"))
    };
    let row = world
        .daemon
        .api
        .register(request)
        .await
        .unwrap()
        .workspace
        .unwrap();
    assert_eq!(row.default_agent.as_deref(), Some("reviewer"));
    assert_eq!(text(&world.resolved(&row.id).await, "defaults.agent"), "reviewer");
}

async fn w183_a_missing_root_never_changes_the_record(world: World) {
    let row = world.reg_new("a").await;
    fs::rename(&row.root_dir, world.path("away")).unwrap();
    for _ in 0..10 {
        let call = world.daemon.api.resolve(resolve(&row.id));
        world
            .refused(Code::FailedPrecondition, "WORKSPACE_ROOT_MISSING", call)
            .await;
    }
    fs::rename(world.path("away"), &row.root_dir).unwrap();
    assert_eq!(world.resolved(&row.id).await.workspace, Some(row));
}

async fn w190_a_cleared_default_agent_gives_way_to_the_config(world: World) {
    let request = pb::RegisterWorkspaceRequest {
        default_agent: Some("reviewer".to_owned()),
        ..crate::requests::register(world.mkdir("a"))
    };
    let row = world
        .daemon
        .api
        .register(request)
        .await
        .unwrap()
        .workspace
        .unwrap();
    config(&row.root_dir, "[defaults]\nagent = \"builder\"\n");
    assert_eq!(text(&world.resolved(&row.id).await, "defaults.agent"), "reviewer");
    let cleared = crate::requests::update(&row.id, &["default_agent"], pb::Workspace::default());
    let after = world.daemon.api.update(cleared).await.unwrap().workspace.unwrap();
    assert_eq!(after.default_agent.as_deref(), Some(""));
    assert_eq!(text(&world.resolved(&row.id).await, "defaults.agent"), "builder");
}

async fn what_can_not_be_asked_for(world: World) {
    let row = world.reg_new("a").await;
    let whole = || resolve(&row.id);
    let api = &world.daemon.api;
    let refused = [
        pb::ResolveWorkspaceRequest {
            r#ref: None,
            ..whole()
        },
        pb::ResolveWorkspaceRequest {
            agent: Some(String::new()),
            ..whole()
        },
        pb::ResolveWorkspaceRequest {
            agent: Some("a\nb".to_owned()),
            ..whole()
        },
        pb::ResolveWorkspaceRequest {
            agent: Some("a".repeat(1_025)),
            ..whole()
        },
    ];
    for request in refused {
        world
            .refused(Code::InvalidArgument, "INVALID_FIELD", api.resolve(request))
            .await;
    }
    let unknown = pb::ResolveWorkspaceRequest {
        r#ref: by_any("zz"),
        ..whole()
    };
    world
        .refused(Code::NotFound, "WORKSPACE_NOT_FOUND", api.resolve(unknown))
        .await;
}

async fn a_row_that_is_not_understood_is_not_resolved(world: World) {
    let row = world.reg_new("a").await;
    let spoil = format!("UPDATE workspace SET root_dir = '' WHERE id = '{}'", row.id);
    execute(&world.store, &spoil).await.unwrap();
    let call = world.daemon.api.resolve(resolve(&row.id));
    world
        .refused(Code::FailedPrecondition, "RECORD_NOT_UNDERSTOOD", call)
        .await;
}

/// Whoever has a fingerprint has the whole answer: the record and the profile are part of it.
async fn what_decides_about_an_answer_is_in_its_fingerprint(world: World) {
    let row = world.reg_new("a").await;
    let first = world.resolved(&row.id).await.fingerprint;
    let titled = crate::requests::update(&row.id, &["title"], crate::requests::titled("T"));
    world.daemon.api.update(titled).await.unwrap();
    let second = world.resolved(&row.id).await.fingerprint;
    assert_ne!(first, second);
    let by_request = pb::ResolveWorkspaceRequest {
        profile: Some("default".to_owned()),
        ..resolve(&row.id)
    };
    let third = world.snapshot_of(by_request).await.unwrap();
    assert_ne!(third.fingerprint, second);
    fs::remove_file(file_of(&row.root_dir)).unwrap();
    let without = world.resolved(&row.id).await;
    assert_eq!(
        only(&without.diagnostics, "identity_missing").path,
        file_of(&row.root_dir)
    );
    assert_ne!(without.fingerprint, second);
}

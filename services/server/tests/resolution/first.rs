//! The first resolve of a registration (cases of workspaces, sections 3, 5 and 8).

use std::fs;

use compozy_proto::workspace::v1 as pb;
use compozy_proto::workspace::v1::IdentityPolicy as Policy;
use tonic::Code;

use crate::client::Failure;
use crate::place::{about, agent, config, only, skill, write};
use crate::requests::{ID1, named, register};
use crate::tree::{copy, exists, identity_file};
use crate::world::{World, file_of};

cases! {
    w032_a_broken_config_without_an_identity_file,
    w033_a_broken_config_of_the_user,
    w034_a_broken_config_with_an_identity_file,
    w061_a_fork_that_fails_has_its_old_bytes,
    w097_all_broken_files_are_named,
    w098_a_broken_agent_of_the_workspace,
    w099_a_broken_agent_of_the_user_is_told,
    w100_a_broken_skill_is_told,
    w101_warnings_are_told,
    w102_an_unknown_profile,
    w103_trying_a_good_directory,
    w104_trying_says_what_the_real_call_says,
    r052_keys_of_an_older_product_are_warnings,
    a_broken_config_hides_no_broken_agent,
    an_agent_of_the_profile_counts_while_it_is_active,
    a_broken_agent_that_another_one_hides_counts,
    a_broken_skill_of_an_agent_does_not_count,
    a_moved_directory_is_relinked_whatever_is_wrong_with_it,
    many_findings_fit_an_answer_that_is_remembered,
    a_registration_that_is_there_is_not_looked_at,
    the_home_is_registered_or_the_start_goes_on,
}

const BROKEN: &str = "[defaults\n";

async fn refused(world: &World, request: pb::RegisterWorkspaceRequest) -> Failure {
    world
        .reg_refused(Code::InvalidArgument, "CONFIG_INVALID", request)
        .await
}

fn names(failure: &Failure, place: &str) -> bool {
    failure.fields.iter().any(|field| field.starts_with(place))
}

async fn w032_a_broken_config_without_an_identity_file(world: World) {
    let root = world.mkdir("a");
    let path = config(&root, BROKEN);
    let failure = refused(&world, register(&root)).await;
    assert!(names(&failure, &format!("{path}:1")), "{failure:?}");
    assert!(exists(&path) && !exists(&file_of(&root)));
}

async fn w033_a_broken_config_of_the_user(world: World) {
    let path = format!("{}/config.toml", world.home);
    write(&path, BROKEN);
    let root = world.mkdir("a");
    let failure = refused(&world, register(&root)).await;
    assert!(names(&failure, &path), "{failure:?}");
    assert!(!exists(&format!("{root}/.compozy")));
}

async fn w034_a_broken_config_with_an_identity_file(world: World) {
    let root = world.mkdir_with_id("a", ID1);
    config(&root, BROKEN);
    refused(&world, register(&root)).await;
    assert_eq!(fs::read_to_string(file_of(&root)).unwrap(), identity_file(ID1));
    config(&root, "");
    assert_eq!(world.reg(&root).await.durable_id, ID1);
}

async fn w061_a_fork_that_fails_has_its_old_bytes(world: World) {
    let original = world.reg_new("a").await;
    let root = world.path("b");
    copy(&original.root_dir, &root);
    let old = fs::read(file_of(&root)).unwrap();
    config(&root, BROKEN);
    let fork = || pb::RegisterWorkspaceRequest {
        identity_policy: Policy::Fork.into(),
        ..register(&root)
    };
    refused(&world, fork()).await;
    assert_eq!(fs::read(file_of(&root)).unwrap(), old);
    config(&root, "");
    let forked = world
        .daemon
        .api
        .register(fork())
        .await
        .unwrap()
        .workspace
        .unwrap();
    assert_ne!(forked.durable_id, original.durable_id);
}

async fn w097_all_broken_files_are_named(world: World) {
    let root = world.mkdir("a");
    let toml = config(&root, "# mine\n[defaults]\nagent = 417\n");
    let json = format!("{root}/.compozy/mcp.json");
    write(
        &json,
        "{\n  \"mcpServers\": {\n    \"s\": {\"command\": \"hush-hush\",}\n  }\n}\n",
    );
    let failure = refused(&world, register(&root)).await;
    assert!(names(&failure, &format!("{toml}:3")), "{failure:?}");
    assert!(names(&failure, &format!("{json}:3")), "{failure:?}");
    assert_eq!(failure.metadata["problems_count"], "2");
    let told = format!("{failure:?}");
    assert!(!told.contains("417") && !told.contains("hush-hush"), "{told}");
}

async fn w098_a_broken_agent_of_the_workspace(world: World) {
    let root = world.mkdir("a");
    let path = format!("{root}/.compozy/agents/x/AGENT.md");
    write(&path, "---\nname: x\nYou are x.\n");
    let failure = refused(&world, register(&root)).await;
    assert!(names(&failure, &path), "{failure:?}");
    assert!(!exists(&file_of(&root)));
    assert_eq!(world.total().await, 0);
}

async fn w099_a_broken_agent_of_the_user_is_told(world: World) {
    let path = format!("{}/agents/x/AGENT.md", world.home);
    write(&path, "---\nname: x\nYou are x.\n");
    let root = world.mkdir("a");
    agent(&format!("{root}/.compozy"), "y", "You are y.\n");
    let answer = world.daemon.api.register(register(&root)).await.unwrap();
    assert!(answer.created);
    let found = about(&answer.diagnostics, &path);
    assert_eq!(found.len(), 1, "{answer:?}");
    assert_eq!(
        (found[0].severity(), found[0].layer()),
        (pb::Severity::Error, pb::Layer::User)
    );
    let snapshot = world.resolved(&answer.workspace.unwrap().id).await;
    assert_eq!(about(&snapshot.diagnostics, &path), found);
    let usable: Vec<_> = snapshot
        .agents
        .iter()
        .map(|agent| (agent.name.as_str(), agent.usable))
        .collect();
    assert_eq!(usable, [("x", false), ("y", true)]);
}

async fn w100_a_broken_skill_is_told(world: World) {
    let root = world.mkdir("a");
    let path = format!("{root}/.compozy/skills/x/SKILL.md");
    write(&path, "---\nname: x\nDo it.\n");
    let answer = world.daemon.api.register(register(&root)).await.unwrap();
    assert!(answer.created);
    assert_eq!(about(&answer.diagnostics, &path).len(), 1, "{answer:?}");
    let snapshot = world.resolved(&answer.workspace.unwrap().id).await;
    assert_eq!(
        about(&snapshot.diagnostics, &path),
        about(&answer.diagnostics, &path)
    );
    assert!(!snapshot.skills[0].usable);
}

async fn w101_warnings_are_told(world: World) {
    let root = world.mkdir("a");
    let recovered = format!("{root}/.compozy/agents/x/AGENT.md");
    write(&recovered, "---\nname: x\ndescription: a: b\n---\nYou are x.\n");
    let odd = format!("{root}/.compozy/agents/y/AGENT.md");
    write(&odd, "---\nname: y\ncolour: red\n---\nYou are y.\n");
    let answer = world.daemon.api.register(register(&root)).await.unwrap();
    assert!(answer.created);
    let snapshot = world.resolved(&answer.workspace.unwrap().id).await;
    for (path, line) in [(&recovered, 3), (&odd, 3)] {
        let found = about(&snapshot.diagnostics, path);
        assert_eq!(found.len(), 1, "{snapshot:?}");
        assert_eq!(
            (found[0].severity(), found[0].line),
            (pb::Severity::Warning, line)
        );
        assert_eq!(about(&answer.diagnostics, path), found);
    }
    assert!(snapshot.agents.iter().all(|agent| agent.usable));
}

async fn w102_an_unknown_profile(world: World) {
    let root = world.mkdir("a");
    let request = || pb::RegisterWorkspaceRequest {
        profile: Some("nope".to_owned()),
        ..register(&root)
    };
    world
        .reg_refused(Code::NotFound, "PROFILE_NOT_FOUND", request())
        .await;
    assert_eq!(world.total().await, 0);
    assert!(!exists(&format!("{root}/.compozy")));
    // Neither is it remembered, nor does it depend on what is there.
    world.reg(&root).await;
    world
        .reg_refused(Code::NotFound, "PROFILE_NOT_FOUND", request())
        .await;
}

async fn w103_trying_a_good_directory(world: World) {
    let root = world.mkdir("a");
    let skill = format!("{root}/.agents/skills/x/skill.md");
    write(&skill, "---\nname: x\n---\nDo it.\n");
    let attempt = pb::RegisterWorkspaceRequest {
        validate_only: true,
        ..register(&root)
    };
    let tried = world
        .unchanged_by(world.daemon.api.register(attempt))
        .await
        .unwrap();
    assert!(tried.created && !exists(&format!("{root}/.compozy")));
    assert_eq!(world.total().await, 0);
    let real = world.daemon.api.register(register(&root)).await.unwrap();
    assert_eq!(tried.diagnostics, real.diagnostics);
    assert_eq!(about(&tried.diagnostics, &skill).len(), 1, "{tried:?}");
    let (tried, real) = (tried.workspace.unwrap(), real.workspace.unwrap());
    assert_eq!((tried.name, tried.root_dir), (real.name, real.root_dir));
}

async fn w104_trying_says_what_the_real_call_says(world: World) {
    world.reg_new("taken").await;
    let broken = world.mkdir("broken");
    config(&broken, BROKEN);
    let other = world.mkdir("other");
    let requests = [
        (Code::InvalidArgument, "CONFIG_INVALID", register(&broken)),
        (
            Code::AlreadyExists,
            "WORKSPACE_NAME_CONFLICT",
            named(&other, "taken"),
        ),
    ];
    for (code, reason, real) in requests {
        let attempt = pb::RegisterWorkspaceRequest {
            validate_only: true,
            ..real.clone()
        };
        let (tried, failed) = (
            world.reg_refused(code, reason, attempt).await,
            world.reg_refused(code, reason, real).await,
        );
        assert_eq!((tried.message, tried.metadata), (failed.message, failed.metadata));
        assert_eq!(tried.fields, failed.fields);
    }
}

async fn r052_keys_of_an_older_product_are_warnings(world: World) {
    let root = world.mkdir("a");
    let tables = (0..10).map(|number| format!("[old_{number}]\nkey = \"s3cr3t\"\n"));
    let keys = (0..10).map(|number| format!("old_key_{number} = 1\n"));
    let text: String = keys.chain(tables).collect();
    let path = config(&root, &text);
    let failure = refused(&world, register(&root)).await;
    assert_eq!(failure.metadata["problems_count"], "20", "{failure:?}");
    assert!(failure.message.contains("config.unknown_keys"), "{failure:?}");
    write(
        format!("{}/config.toml", world.home),
        "config.unknown_keys = \"warn\"\n",
    );
    let answer = world.daemon.api.register(register(&root)).await.unwrap();
    assert!(answer.created);
    let found = about(&answer.diagnostics, &path);
    let lines: Vec<i32> = found.iter().map(|found| found.line).collect();
    let expected: Vec<i32> = (1..=10).chain((0..10).map(|number| 11 + 2 * number)).collect();
    assert_eq!(lines, expected);
    assert!(
        found
            .iter()
            .all(|found| found.severity() == pb::Severity::Warning && found.code == "config_unknown_key")
    );
    let snapshot = world.resolved(&answer.workspace.unwrap().id).await;
    assert_eq!(about(&snapshot.diagnostics, &path), found);
    assert!(!format!("{snapshot:?}").contains("s3cr3t"));
}

/// Whoever mends what was named is not told about more only then.
async fn a_broken_config_hides_no_broken_agent(world: World) {
    let root = world.mkdir("a");
    let toml = config(&root, "[permisions]\n");
    let path = format!("{root}/.compozy/agents/x/AGENT.md");
    write(&path, "---\nname: x\nYou are x.\n");
    let failure = refused(&world, register(&root)).await;
    assert!(names(&failure, &toml) && names(&failure, &path), "{failure:?}");
}

async fn an_agent_of_the_profile_counts_while_it_is_active(world: World) {
    let created = compozy_proto::profile::v1::CreateProfileRequest {
        name: "p".to_owned(),
        ..Default::default()
    };
    world.daemon.api.create_profile(created).await.unwrap();
    let root = world.mkdir("a");
    let path = format!("{root}/.compozy/profiles/p/agents/x/AGENT.md");
    write(&path, "---\nname: x\nYou are x.\n");
    let with = pb::RegisterWorkspaceRequest {
        profile: Some("p".to_owned()),
        ..register(&root)
    };
    let failure = refused(&world, with).await;
    assert!(names(&failure, &path), "{failure:?}");
    let row = world.reg(&root).await;
    assert_eq!(
        world.resolved(&row.id).await.profile.unwrap().name,
        "default",
        "not remembered"
    );
}

async fn a_broken_agent_that_another_one_hides_counts(world: World) {
    let created = compozy_proto::profile::v1::CreateProfileRequest {
        name: "p".to_owned(),
        ..Default::default()
    };
    world.daemon.api.create_profile(created).await.unwrap();
    let root = world.mkdir("a");
    agent(
        &format!("{root}/.compozy/profiles/p"),
        "x",
        "You are the good x.\n",
    );
    let path = format!("{root}/.compozy/agents/x/AGENT.md");
    write(&path, "---\nname: x\nYou are x.\n");
    let with = pb::RegisterWorkspaceRequest {
        profile: Some("p".to_owned()),
        ..register(&root)
    };
    let failure = refused(&world, with).await;
    assert!(names(&failure, &path), "{failure:?}");
}

async fn a_broken_skill_of_an_agent_does_not_count(world: World) {
    let root = world.mkdir("a");
    let base = format!("{root}/.compozy");
    agent(&base, "x", "You are x.\n");
    let own = format!("{base}/agents/x/skills/s/SKILL.md");
    write(&own, "---\nname: s\nDo it.\n");
    let grouped = format!("{base}/skills/agents/s/SKILL.md");
    write(&grouped, "---\nname: s\nDo it.\n");
    let answer = world.daemon.api.register(register(&root)).await.unwrap();
    assert!(answer.created);
    for path in [own, grouped] {
        assert_eq!(about(&answer.diagnostics, &path).len(), 1, "{answer:?}");
    }
}

/// It is registered already: what is wrong with it is told, and nothing of it is lost.
async fn a_moved_directory_is_relinked_whatever_is_wrong_with_it(world: World) {
    let row = world.reg_new("a").await;
    let root = world.path("b");
    fs::rename(&row.root_dir, &root).unwrap();
    let path = config(&root, BROKEN);
    let answer = world.daemon.api.register(register(&root)).await.unwrap();
    assert_eq!(answer.relinked_from.as_deref(), Some(row.root_dir.as_str()));
    assert_eq!(answer.workspace.unwrap().id, row.id);
    let found = about(&answer.diagnostics, &path);
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].severity(), pb::Severity::Error);
}

async fn many_findings_fit_an_answer_that_is_remembered(world: World) {
    let root = world.mkdir("a");
    for number in 0..300 {
        let path = format!("{root}/.compozy/skills/{number:03}-{}/SKILL.md", "x".repeat(100));
        write(path, "---\nname: [x]\n---\nDo it.\n");
    }
    let request = pb::RegisterWorkspaceRequest {
        request_id: "01HXJ9YR4QZ0V7M3T5B8N2C6KD".to_owned(),
        ..register(&root)
    };
    let first = world.daemon.api.register(request.clone()).await.unwrap();
    assert!(first.created && first.diagnostics.len() <= 200);
    only(&first.diagnostics, "diagnostics_left_out");
    assert_eq!(world.daemon.api.register(request).await.unwrap(), first);
}

async fn a_registration_that_is_there_is_not_looked_at(world: World) {
    let row = world.reg_new("a").await;
    config(&row.root_dir, BROKEN);
    let again = world
        .unchanged_by(world.daemon.api.register(register(&row.root_dir)))
        .await
        .unwrap();
    assert_eq!((again.created, again.workspace), (false, Some(row)));
}

async fn the_home_is_registered_or_the_start_goes_on(world: World) {
    let daemon = world.start(|parts| parts.settings.register_home = true).await;
    config(&world.t, BROKEN);
    daemon.registry.register_home().await.unwrap();
    assert_eq!(world.total().await, 0);
    let root = world.mkdir("a");
    skill(&format!("{root}/.compozy"), "x", "Do it.\n");
    assert!(world.daemon.api.register(register(&root)).await.unwrap().created);
}

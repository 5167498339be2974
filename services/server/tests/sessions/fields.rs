//! What a caller may write into a session (cases section 1).

use std::collections::BTreeMap;

use compozy_proto::profile::v1 as profile_pb;
use compozy_proto::session::v1 as pb;

use crate::asked::{new, ungrouped};
use crate::world::World;

cases! {
    s025_s030_what_is_kept_exactly,
    s032_s033_s034_labels,
    s035_permission_modes,
    s036_the_profile_of_the_first_day,
}

file_cases! {
    s024_s026_the_agent,
    s027_s028_s029_names,
    s031_names_are_for_users,
    origins,
    a_session_of_no_workspace_follows_the_users_configuration,
}

async fn s024_s026_the_agent(world: World) {
    let a = world.only_a().await;
    std::fs::write(
        format!("{}/.compozy/config.toml", a.root_dir),
        "[defaults]\nagent = \"rev\"\n",
    )
    .unwrap();
    let with = |agent: Option<&str>| pb::CreateSessionRequest {
        agent: agent.map(str::to_owned),
        ..new(&a.id)
    };
    assert_eq!(world.create(with(None)).await.agent, "rev");
    for agent in ["", "  ", "ge\u{7}n", &"x".repeat(129)] {
        world.field_refused("agent", with(Some(agent))).await;
    }
    // No layer defines it.
    assert_eq!(world.create(with(Some("nobody"))).await.agent, "nobody");
}

async fn s025_s030_what_is_kept_exactly(world: World) {
    let a = world.only_a().await;
    let request = pb::CreateSessionRequest {
        agent: Some("General".into()),
        provider: Some("Acme".into()),
        model: Some("m-5.1 (Preview)".into()),
        name: "x".into(),
        ..new(&a.id)
    };
    let session = world.create(request.clone()).await;
    assert_eq!(
        (
            session.agent.as_str(),
            session.provider.as_str(),
            session.model.as_str()
        ),
        ("General", "Acme", "m-5.1 (Preview)")
    );
    let other = world.create(request).await;
    assert!(other.id != session.id && other.name == session.name);
    let agents = |agent: &str| pb::SessionFilter {
        agents: vec![agent.to_owned()],
        ..Default::default()
    };
    assert_eq!(world.total_of(agents("general")).await, 0);
    assert_eq!(world.total_of(agents("General")).await, 2);
}

async fn s027_s028_s029_names(world: World) {
    let a = world.only_a().await;
    let named = |name: &str| pb::CreateSessionRequest {
        name: name.to_owned(),
        ..new(&a.id)
    };
    let session = world.create(named("  My\u{a0} \u{3000}plan ")).await;
    assert_eq!(session.name, "My plan");
    let longest = "\u{1f600}".repeat(64);
    assert_eq!(world.create(named(&longest)).await.name, longest);
    for name in [
        "\u{1f600}".repeat(65),
        "a\u{7}b".into(),
        "a\0b".into(),
        " \u{3000} ".into(),
    ] {
        world.field_refused("name", named(&name)).await;
    }
}

async fn s031_names_are_for_users(world: World) {
    let a = world.only_a().await;
    for session_type in [
        pb::SessionType::System,
        pb::SessionType::Coordinator,
        pb::SessionType::Spawned,
        pb::SessionType::Dream,
    ] {
        let request = pb::CreateSessionRequest {
            r#type: session_type.into(),
            name: "x".into(),
            ..new(&a.id)
        };
        world.field_refused("name", request.clone()).await;
        let nameless = pb::CreateSessionRequest {
            name: String::new(),
            ..request
        };
        assert_eq!(world.create(nameless).await.r#type(), session_type);
    }
    let newer = pb::CreateSessionRequest {
        r#type: 99,
        name: "x".into(),
        ..new(&a.id)
    };
    assert_eq!(world.create(newer).await.r#type(), pb::SessionType::User);
}

async fn s032_s033_s034_labels(world: World) {
    let a = world.only_a().await;
    let labelled = |labels: BTreeMap<String, String>| pb::CreateSessionRequest {
        labels: labels.into_iter().collect(),
        ..new(&a.id)
    };
    let many = |count: usize| {
        (0..count)
            .map(|number| (format!("k{number:02}"), "v".to_owned()))
            .collect()
    };
    let one = |key: usize, value: usize| BTreeMap::from([("k".repeat(key), "v".repeat(value))]);
    for labels in [many(32), one(1, 0), one(63, 255)] {
        let session = world.create(labelled(labels.clone())).await;
        assert_eq!(session.labels.into_iter().collect::<BTreeMap<_, _>>(), labels);
        let again = world.session(&session.id).await;
        assert_eq!(again.labels.into_iter().collect::<BTreeMap<_, _>>(), labels);
    }
    let lines = |key: &str, value: &str| BTreeMap::from([(key.to_owned(), value.to_owned())]);
    for labels in [
        many(33),
        one(0, 1),
        one(64, 1),
        one(1, 256),
        lines("a\nb", "v"),
        lines("a", "v\n"),
    ] {
        world.field_refused("labels", labelled(labels)).await;
    }
}

async fn s035_permission_modes(world: World) {
    let a = world.only_a().await;
    std::fs::write(
        format!("{}/.compozy/config.toml", a.root_dir),
        "[permissions]\nmode = \"deny-all\"\n",
    )
    .unwrap();
    let with = |mode: i32| pb::CreateSessionRequest {
        permission_mode: mode,
        ..new(&a.id)
    };
    for mode in [
        pb::PermissionMode::DenyAll,
        pb::PermissionMode::ApproveReads,
        pb::PermissionMode::ApproveAll,
    ] {
        let session = world.create(with(mode.into())).await;
        assert_eq!(session.permission_mode(), mode);
    }
    for unset in [0, 99] {
        let session = world.create(with(unset)).await;
        assert_eq!(session.permission_mode(), pb::PermissionMode::DenyAll);
    }
}

async fn s036_the_profile_of_the_first_day(world: World) {
    let a = world.only_a().await;
    let mut ids = Vec::new();
    for name in ["p", "q"] {
        let request = profile_pb::CreateProfileRequest {
            name: name.into(),
            ..Default::default()
        };
        let created = world.daemon.api.create_profile(request).await.unwrap();
        ids.push(created.profile.unwrap().id);
    }
    select(&world, "p").await;
    let session = world.create(new(&a.id)).await;
    let outside = world.create(ungrouped(&a.root_dir)).await;
    select(&world, "q").await;
    for session in [session, outside] {
        assert_eq!(session.profile_id, ids[0]);
        assert_eq!(world.session(&session.id).await.profile_id, ids[0]);
    }
    // Who names one gets it: by the request before the environment.
    let named = pb::CreateSessionRequest {
        profile: Some("default".into()),
        environment_profile: Some("p".into()),
        ..new(&a.id)
    };
    assert_ne!(world.create(named).await.profile_id, ids[0]);
    let of_environment = pb::CreateSessionRequest {
        environment_profile: Some("p".into()),
        ..new(&a.id)
    };
    assert_eq!(world.create(of_environment).await.profile_id, ids[0]);
}

pub(crate) async fn select(world: &World, profile: &str) {
    let request = profile_pb::SelectProfileRequest {
        profile: Some(profile.into()),
        ..Default::default()
    };
    world.daemon.api.select_profile(request).await.unwrap();
}

async fn origins(world: World) {
    let a = world.only_a().await;
    let from = |tool: &str, id: &str| pb::CreateSessionRequest {
        origin: Some(pb::Origin {
            tool: tool.into(),
            id: id.into(),
        }),
        ..new(&a.id)
    };
    let origin = world.create(from("other-tool", "42")).await.origin.unwrap();
    assert_eq!((origin.tool.as_str(), origin.id.as_str()), ("other-tool", "42"));
    for tool in ["Other", "a b", &"x".repeat(65)] {
        world.field_refused("origin.tool", from(tool, "")).await;
    }
    world.field_refused("origin.id", from("native", "1")).await;
    // Only an import may come without its directory.
    let adrift = pb::CreateSessionRequest {
        workspace: None,
        ..from("other-tool", "43")
    };
    let session = world.create(adrift.clone()).await;
    assert_eq!((session.cwd.as_str(), session.canonical_cwd.as_str()), ("", ""));
    let native = pb::CreateSessionRequest {
        origin: None,
        ..adrift
    };
    world.field_refused("cwd", native).await;
}

async fn a_session_of_no_workspace_follows_the_users_configuration(world: World) {
    world.only_a().await;
    let c = world.mkdir("c");
    let unnamed = || pb::CreateSessionRequest {
        agent: None,
        ..ungrouped(&c)
    };
    let session = world.create(unnamed()).await;
    assert_eq!(
        (session.agent.as_str(), session.permission_mode()),
        ("general", pb::PermissionMode::ApproveAll)
    );
    let config = format!("{}/config.toml", world.home);
    std::fs::write(
        &config,
        "[defaults]\nagent = \"mine\"\nprovider = \"acme\"\n[permissions]\nmode = \"deny-all\"\n",
    )
    .unwrap();
    let session = world.create(unnamed()).await;
    assert_eq!(
        (session.agent.as_str(), session.provider.as_str()),
        ("mine", "acme")
    );
    assert_eq!(session.permission_mode(), pb::PermissionMode::DenyAll);
    std::fs::write(&config, "[permissions]\nmode = \"maybe\"\n").unwrap();
    let call = world.daemon.api.create_session(unnamed());
    let failure = world
        .refused(tonic::Code::InvalidArgument, "CONFIG_INVALID", call)
        .await;
    assert!(failure.message.contains("config.toml"), "{failure:?}");
}

//! What a creation takes from the files of its workspace, and a runtime bound at once (cases section 21).

use std::time::Duration;

use compozy_proto::profile::v1 as profile_pb;
use compozy_proto::session::v1 as pb;
use tonic::Code;

use crate::asked::{R, bind, binding, new};
use crate::fields::select;
use crate::place::told;
use crate::requests::resolve;
use crate::world::World;

cases! {
    s356_broken_files,
    s357_what_the_snapshot_says,
    s358_bound_at_once,
    s359_a_lost_answer,
    s360_why_and_by_whom,
}

fn write_agent(base: &str, name: &str, front_matter: &str) -> String {
    let directory = format!("{base}/agents/{name}");
    std::fs::create_dir_all(&directory).unwrap();
    let path = format!("{directory}/AGENT.md");
    std::fs::write(&path, format!("---\nname: {name}\n{front_matter}---\nDo it.\n")).unwrap();
    path
}

async fn s356_broken_files(world: World) {
    let a = world.only_a().await;
    let own = format!("{}/.compozy", a.root_dir);
    let path = write_agent(&own, "rev", "permissions: whatever\n");
    let of = |agent: Option<&str>| pb::CreateSessionRequest {
        agent: agent.map(str::to_owned),
        ..new(&a.id)
    };
    let call = world.daemon.api.create_session(of(Some("rev")));
    let failure = world.refused(Code::InvalidArgument, "CONFIG_INVALID", call).await;
    assert!(failure.message.contains(&path), "{failure:?}");
    world.create(of(Some("general"))).await;
    // Only an agent that somebody names refuses.
    let config = format!("{own}/config.toml");
    std::fs::write(&config, "[defaults]\nagent = \"rev\"\n").unwrap();
    assert_eq!(world.create(of(None)).await.agent, "rev");
    std::fs::write(&config, "[defaults]\n\nagent = 3\n").unwrap();
    for agent in [None, Some("rev"), Some("general")] {
        let call = world.daemon.api.create_session(of(agent));
        let failure = world.refused(Code::InvalidArgument, "CONFIG_INVALID", call).await;
        assert!(failure.message.contains(&config), "{failure:?}");
        assert_eq!(failure.metadata["line"], "3");
    }
}

async fn s357_what_the_snapshot_says(world: World) {
    let a = world.only_a().await;
    let own = format!("{}/.compozy", a.root_dir);
    write_agent(
        &own,
        "rev",
        "description: reviews\nprovider: acme\nmodel: m-1\npermissions: approve-reads\n",
    );
    let config = format!("{own}/config.toml");
    std::fs::write(
        &config,
        "[defaults]\nprovider = \"other\"\n[permissions]\nmode = \"deny-all\"\n",
    )
    .unwrap();
    let request = profile_pb::CreateProfileRequest {
        name: "p".into(),
        ..Default::default()
    };
    let p = world
        .daemon
        .api
        .create_profile(request)
        .await
        .unwrap()
        .profile
        .unwrap();
    select(&world, "p").await;
    let resolved = world
        .daemon
        .api
        .resolve(resolve(&a.id))
        .await
        .unwrap()
        .snapshot
        .unwrap();
    let rev = pb::CreateSessionRequest {
        agent: Some("rev".into()),
        ..new(&a.id)
    };
    let session = world.create(rev.clone()).await;
    let facts = |session: &pb::Session| {
        (
            session.provider.clone(),
            session.model.clone(),
            session.permission_mode(),
            session.profile_id.clone(),
            session.snapshot_fingerprint.clone(),
        )
    };
    let expected = (
        "acme".to_owned(),
        "m-1".to_owned(),
        pb::PermissionMode::ApproveReads,
        p.id.clone(),
        resolved.fingerprint.clone(),
    );
    assert_eq!(facts(&session), expected);
    // An agent that says nothing, or is none, gets what the configuration says.
    let plain = world.create(new(&a.id)).await;
    assert_eq!(
        (
            plain.provider.as_str(),
            plain.model.as_str(),
            plain.permission_mode()
        ),
        ("other", "", pb::PermissionMode::DenyAll)
    );
    // What a caller names wins; an empty provider or model is none.
    let named = pb::CreateSessionRequest {
        provider: Some(String::new()),
        model: Some("m-2".into()),
        permission_mode: pb::PermissionMode::ApproveAll.into(),
        ..rev
    };
    let named = world.create(named).await;
    assert_eq!(
        (
            named.provider.as_str(),
            named.model.as_str(),
            named.permission_mode()
        ),
        ("", "m-2", pb::PermissionMode::ApproveAll)
    );
    std::fs::write(&config, "[permissions]\nmode = \"approve-all\"\n").unwrap();
    write_agent(&own, "rev", "description: reviews\nprovider: elsewhere\n");
    let again = world
        .daemon
        .api
        .resolve(resolve(&a.id))
        .await
        .unwrap()
        .snapshot
        .unwrap();
    assert_ne!(again.fingerprint, resolved.fingerprint);
    assert_eq!(facts(&world.session(&session.id).await), expected);
}

async fn s358_bound_at_once(world: World) {
    let a = world.only_a().await;
    let before = world.changes().await.len();
    let request = pb::CreateSessionRequest {
        bind: Some(binding("h1", 30)),
        ..new(&a.id)
    };
    let answer = world.daemon.api.create_session(request).await.unwrap();
    let (session, lease) = (answer.session.unwrap(), answer.lease.unwrap());
    assert!(
        lease.token.starts_with("lease_") && lease.token.len() == 32,
        "{lease:?}"
    );
    assert_eq!(
        (&lease.session_id, lease.holder.as_str(), lease.generation),
        (&session.id, "h1", 1)
    );
    assert_eq!(lease.expires_at, Some(world.now_plus(30)));
    let runtime = session.runtime.clone().unwrap();
    assert_eq!(
        (runtime.state(), runtime.holder.as_str(), runtime.generation),
        (pb::RuntimeState::Bound, "h1", 1)
    );
    assert_eq!(runtime.expires_at, lease.expires_at);
    let new = world.session_changes_since(before).await;
    assert_eq!(new.iter().map(told).collect::<Vec<_>>(), ["upserted created"]);
    world.advance(Duration::from_secs(20)).await;
    let beat = world
        .daemon
        .api
        .heartbeat(crate::asked::beat(&lease.token))
        .await
        .unwrap();
    assert_eq!(beat.expires_at, Some(world.now_plus(30)));
    assert!(!format!("{:?}", world.session(&session.id).await).contains(&lease.token));
}

async fn s359_a_lost_answer(world: World) {
    let a = world.only_a().await;
    let request = pb::CreateSessionRequest {
        bind: Some(pb::RuntimeBinding {
            holder: "h1".into(),
            ttl: None,
        }),
        request_id: R.into(),
        ..new(&a.id)
    };
    let first = world.daemon.api.create_session(request.clone()).await.unwrap();
    let token = first.lease.as_ref().unwrap().token.clone();
    assert_eq!(first.lease.as_ref().unwrap().expires_at, Some(world.now_plus(30)));
    let again = world
        .unchanged_by(world.daemon.api.create_session(request))
        .await
        .unwrap();
    assert_eq!(again.session, first.session);
    assert!(!format!("{again:?}").contains(&token));
    let id = first.session.unwrap().id;
    let lease = world
        .daemon
        .api
        .bind_runtime(bind(&id, "h1", 30))
        .await
        .unwrap()
        .lease
        .unwrap();
    assert_eq!(lease.generation, 2);
    // Nothing of it lies in the store.
    let sql = "SELECT * FROM request";
    let stored = format!(
        "{:?}",
        compozy_store::conformance::raw_rows(&world.store, sql)
            .await
            .unwrap()
    );
    let in_hex: String = token.bytes().map(|byte| format!("{byte:02x}")).collect();
    assert!(!stored.contains(&token) && !stored.contains(&in_hex));
}

async fn s360_why_and_by_whom(world: World) {
    let a = world.only_a().await;
    let because = |length: usize| pb::CreateSessionRequest {
        start_cause: "\u{e9}".repeat(length),
        ..new(&a.id)
    };
    let start = world.create(because(500)).await.start.unwrap();
    assert_eq!((start.cause.chars().count(), start.by.as_str()), (500, "local"));
    let roots = vec![world.t.clone()];
    let open = world.start(|parts| parts.settings.allowed_roots = roots).await;
    let answer = open.api.seen_by("ci").create_session(because(1)).await.unwrap();
    assert_eq!(answer.session.unwrap().start.unwrap().by, "ci");
    world.field_refused("start_cause", because(501)).await;
}

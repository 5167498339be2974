//! Registering, and the record that comes of it (cases section 3).

use std::time::Duration;

use compozy_proto::workspace::v1 as pb;
use tonic::Code;

use crate::requests::{named, register, remove, update};
use crate::tree::exists;
use crate::world::World;

cases! {
    w070_a_new_record,
    w071_an_id_is_never_reused,
    w084_w085_additional_directories_are_canonical_and_each_there_once,
    w086_a_bad_additional_directory_is_named,
    w087_titles,
    w088_titles_may_be_equal,
    w089_w090_agents,
    w092_a_new_one_comes_first,
    w093_w094_registering_again_changes_nothing,
    w095_w096_registering_again_with_other_fields,
    w103_only_a_try,
    a_try_meets_the_errors_of_the_real_call,
    w114_names_that_differ_in_case_only,
    w330_64_additional_directories,
    w325_versions_and_states,
}

async fn w070_a_new_record(world: World) {
    world.reg_new("z").await;
    let answer = world
        .daemon
        .api
        .register(register(world.mkdir("a")))
        .await
        .unwrap();
    assert!(answer.created && answer.diagnostics.is_empty() && answer.relinked_from.is_none());
    let row = answer.workspace.unwrap();
    let digits = row.id.strip_prefix("ws_").unwrap();
    assert!(
        digits.len() == 16 && digits.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f')),
        "{}",
        row.id
    );
    assert_eq!(
        (row.name.as_deref(), row.title.as_deref()),
        (Some("a"), Some("a"))
    );
    assert!(row.additional_dirs.is_empty() && row.default_agent.as_deref() == Some(""));
    assert_eq!(
        (row.created_at, row.is_default, row.version),
        (row.updated_at, false, 1)
    );
    assert_eq!(row.host_id, "h1");
    assert_eq!(world.order().await, ["a", "z"]);
    assert_eq!(world.record(&row.id).await, row);
}

async fn w071_an_id_is_never_reused(world: World) {
    let first = world.reg_new("a").await;
    world.daemon.api.remove(remove(&first.id)).await.unwrap();
    let second = world.reg(world.path("a")).await;
    assert_ne!(first.id, second.id);
    assert_eq!(first.durable_id, second.durable_id);
}

async fn w084_w085_additional_directories_are_canonical_and_each_there_once(world: World) {
    let (root, x, y) = (world.mkdir("a"), world.mkdir("x"), world.mkdir("y"));
    let link = world.link(&x, "link");
    let dirs = vec![x.clone(), format!("{x}/"), link, root.clone(), y.clone()];
    let request = pb::RegisterWorkspaceRequest {
        additional_dirs: dirs,
        ..register(&root)
    };
    let row = world
        .daemon
        .api
        .register(request)
        .await
        .unwrap()
        .workspace
        .unwrap();
    assert_eq!(row.additional_dirs, [x, y]);
    let (root, sub) = (world.mkdir("b"), world.mkdir("b/sub"));
    let request = pb::RegisterWorkspaceRequest {
        additional_dirs: vec![sub.clone()],
        ..register(root)
    };
    let row = world
        .daemon
        .api
        .register(request)
        .await
        .unwrap()
        .workspace
        .unwrap();
    assert_eq!(row.additional_dirs, [sub]);
}

async fn w086_a_bad_additional_directory_is_named(world: World) {
    let (root, x) = (world.mkdir("a"), world.mkdir("x"));
    std::fs::write(world.path("file"), "").unwrap();
    let cases = [
        (world.path("none"), Code::NotFound, "PATH_NOT_FOUND"),
        (world.path("file"), Code::InvalidArgument, "PATH_NOT_DIRECTORY"),
        ("rel".to_owned(), Code::InvalidArgument, "PATH_NOT_ABSOLUTE"),
    ];
    for (bad, code, reason) in cases {
        let request = pb::RegisterWorkspaceRequest {
            additional_dirs: vec![x.clone(), bad],
            ..register(&root)
        };
        let failure = world.reg_refused(code, reason, request).await;
        assert_eq!(failure.metadata["field"], "additional_dirs[1]");
    }
    assert!(!exists(&format!("{root}/.compozy")));
}

async fn w087_titles(world: World) {
    let titled = |path: &str, title: String| pb::RegisterWorkspaceRequest {
        title: Some(title),
        ..register(world.mkdir(path))
    };
    let row = world
        .daemon
        .api
        .register(titled("a", "é".repeat(200)))
        .await
        .unwrap()
        .workspace
        .unwrap();
    assert_eq!(row.title.unwrap().chars().count(), 200);
    for bad in ["é".repeat(201), "a\u{7}".to_owned()] {
        let failure = world
            .reg_refused(Code::InvalidArgument, "INVALID_FIELD", titled("b", bad))
            .await;
        assert_eq!(failure.fields, ["title"]);
    }
}

async fn w088_titles_may_be_equal(world: World) {
    let one = world.reg_new("one/project").await;
    let two = world.reg_new("two/project").await;
    assert_eq!(
        (one.title.as_deref(), two.title.as_deref()),
        (Some("project"), Some("project"))
    );
    assert_eq!(
        (one.name.as_deref(), two.name.as_deref()),
        (Some("project"), Some("project-2"))
    );
}

async fn w089_w090_agents(world: World) {
    let with_agent = |path: &str, agent: &str| pb::RegisterWorkspaceRequest {
        default_agent: Some(agent.to_owned()),
        ..register(world.mkdir(path))
    };
    let longest = format!("a{}", "b".repeat(105));
    let row = world
        .daemon
        .api
        .register(with_agent("a", &longest))
        .await
        .unwrap()
        .workspace
        .unwrap();
    assert_eq!(row.default_agent, Some(longest.clone()));
    for bad in [&format!("{longest}c"), "Bad Name", "1a", "-a", "é"] {
        let failure = world
            .reg_refused(Code::InvalidArgument, "INVALID_FIELD", with_agent("b", bad))
            .await;
        assert_eq!(failure.fields, ["default_agent"]);
    }
}

async fn w092_a_new_one_comes_first(world: World) {
    for name in ["first", "second", "third"] {
        world.reg_new(name).await;
    }
    assert_eq!(world.order().await, ["third", "second", "first"]);
}

async fn w093_w094_registering_again_changes_nothing(world: World) {
    let first = world.reg_new("a").await;
    world.reg_new("b").await;
    world.clock.advance(Duration::from_secs(60));
    for request in [register(world.path("a")), named(world.path("a"), "a")] {
        let answer = world
            .unchanged_by(world.daemon.api.register(request))
            .await
            .unwrap();
        assert!(!answer.created);
        assert_eq!(answer.workspace.as_ref(), Some(&first));
    }
}

async fn w095_w096_registering_again_with_other_fields(world: World) {
    world.reg_new("a").await;
    world.reg_new("b").await;
    let titled = pb::RegisterWorkspaceRequest {
        title: Some("other".into()),
        ..register(world.path("a"))
    };
    let dirs = pb::RegisterWorkspaceRequest {
        additional_dirs: vec![world.path("b")],
        ..register(world.path("a"))
    };
    let cases = [
        (named(world.path("a"), "other"), "name"),
        (titled, "title"),
        (dirs, "additional_dirs"),
        // The path is reported before the name that somebody else has.
        (named(world.path("a"), "b"), "name"),
    ];
    for (request, field) in cases {
        let failure = world
            .reg_refused(Code::AlreadyExists, "WORKSPACE_PATH_CONFLICT", request)
            .await;
        assert_eq!(failure.metadata["fields"], field);
    }
}

async fn w103_only_a_try(world: World) {
    let request = pb::RegisterWorkspaceRequest {
        validate_only: true,
        ..register(world.mkdir("a"))
    };
    let answer = world
        .unchanged_by(world.daemon.api.register(request))
        .await
        .unwrap();
    assert!(answer.created);
    let tried = answer.workspace.unwrap();
    assert_eq!(
        (tried.name.as_deref(), tried.root_dir.as_str()),
        (Some("a"), world.path("a").as_str())
    );
    assert!(tried.id.is_empty() && tried.durable_id.is_empty() && tried.etag.is_empty());
    assert!(tried.created_at.is_none() && tried.updated_at.is_none());
    assert_eq!(world.total().await, 0);
    world.reg(world.path("a")).await;
}

async fn a_try_meets_the_errors_of_the_real_call(world: World) {
    world.reg_new("a").await;
    let request = pb::RegisterWorkspaceRequest {
        validate_only: true,
        ..named(world.mkdir("b"), "A")
    };
    world
        .reg_refused(Code::AlreadyExists, "WORKSPACE_NAME_CONFLICT", request)
        .await;
}

async fn w114_names_that_differ_in_case_only(world: World) {
    let one = world.reg_new("Foo").await;
    let two = world.reg_new("foo").await;
    assert_ne!(one.durable_id, two.durable_id);
    assert_eq!(
        (one.name.as_deref(), two.name.as_deref()),
        (Some("Foo"), Some("foo-2"))
    );
}

async fn w330_64_additional_directories(world: World) {
    let dirs: Vec<String> = (0..65).map(|at| world.mkdir(&format!("d/{at}"))).collect();
    let request = |count: usize, name: &str| pb::RegisterWorkspaceRequest {
        additional_dirs: dirs[..count].to_vec(),
        ..register(world.mkdir(name))
    };
    let failure = world
        .reg_refused(Code::InvalidArgument, "INVALID_FIELD", request(65, "b"))
        .await;
    assert_eq!(failure.fields, ["additional_dirs"]);
    let row = world
        .daemon
        .api
        .register(request(64, "a"))
        .await
        .unwrap()
        .workspace
        .unwrap();
    assert_eq!(row.additional_dirs.len(), 64);
    let more = pb::UpdateWorkspaceRequest {
        add_dirs: vec![dirs[64].clone()],
        ..update(&row.id, &[], Default::default())
    };
    let failure = world
        .refused(
            Code::InvalidArgument,
            "INVALID_FIELD",
            world.daemon.api.update(more),
        )
        .await;
    assert_eq!(failure.fields, ["add_dirs"]);
}

async fn w325_versions_and_states(world: World) {
    let row = world.reg_new("a").await;
    let titled = crate::requests::titled("other");
    world.clock.advance(Duration::from_secs(1));
    let first = world
        .daemon
        .api
        .update(update(&row.id, &["title"], titled.clone()))
        .await
        .unwrap()
        .workspace
        .unwrap();
    world.clock.advance(Duration::from_secs(1));
    let name = pb::Workspace {
        name: Some("other".into()),
        ..Default::default()
    };
    let second = world
        .daemon
        .api
        .update(update(&row.id, &["name"], name))
        .await
        .unwrap()
        .workspace
        .unwrap();
    assert_eq!([row.version, first.version, second.version], [1, 2, 3]);
    assert!(row.etag != first.etag && first.etag != second.etag);
    assert!(row.updated_at != first.updated_at && first.updated_at != second.updated_at);
    world.daemon.registry.observe_round(Duration::ZERO).await.unwrap();
    world.clock.advance(Duration::from_secs(60));
    std::fs::rename(world.path("a"), world.path("elsewhere")).unwrap();
    assert!(world.daemon.registry.observe_round(Duration::ZERO).await.unwrap());
    let third = world.record(&row.id).await;
    assert_eq!(
        (third.version, &third.etag, third.updated_at),
        (4, &second.etag, second.updated_at)
    );
    let same = world
        .daemon
        .api
        .update(update(&row.id, &["title"], titled))
        .await
        .unwrap()
        .workspace
        .unwrap();
    assert_eq!(same, third);
}

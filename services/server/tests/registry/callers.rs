//! Callers: scopes, and workspaces that do not exist for them (cases section 15).

use compozy_domain::WorkspaceId;
use compozy_proto::workspace::v1 as pb;
use compozy_proto::workspace::v1::workspace_ref::Form;
use tonic::Code;

use crate::client::Failure;
use crate::daemon::Daemon;
use crate::requests::{
    by, discover, get, list, moved, named, prune, register, relink, remove, settle, settle_path, titled,
    update,
};
use crate::world::World;

cases! {
    w327_what_is_outside_does_not_exist,
    an_invisible_holder_of_a_name_is_not_named,
    a_limited_caller_registers_nothing_new,
    a_total_is_counted_for_the_eyes_that_see_it,
    neighbours_that_are_invisible_are_not_named,
}

async fn w327_what_is_outside_does_not_exist(world: World) {
    let (a, b) = (world.reg_new("a").await, world.reg_new("b").await);
    let daemon = limited(&world, &a.id).await;
    let api = daemon.api.seen_by("limited");
    let page = api.list(list()).await.unwrap();
    assert_eq!((page.workspaces.len(), page.page.unwrap().total), (1, 1));
    let page = api
        .list(pb::ListWorkspacesRequest {
            name_prefix: "b".into(),
            ..list()
        })
        .await
        .unwrap();
    assert_eq!(page.page.unwrap().total, 0);
    world
        .unchanged_by(async {
            // Each pair: the invisible one, and one that never was.
            let pairs = [
                (Form::Id(b.id.clone()), Form::Id("ws_0123456789abcdef".into())),
                (Form::Name("b".into()), Form::Name("zz".into())),
                (
                    Form::DurableId(b.durable_id.clone()),
                    Form::DurableId(crate::requests::ID1.into()),
                ),
            ];
            for (invisible, never) in pairs {
                let answers = |form: Form| {
                    let api = api.clone();
                    async move {
                        let reference = by(form.clone());
                        let titled = pb::UpdateWorkspaceRequest {
                            r#ref: reference.clone(),
                            ..update("", &["title"], titled("T"))
                        };
                        [
                            api.get(get(form)).await.unwrap_err(),
                            api.update(titled).await.unwrap_err(),
                            api.move_workspace(pb::MoveWorkspaceRequest {
                                r#ref: reference.clone(),
                                ..moved("", None)
                            })
                            .await
                            .unwrap_err(),
                            api.remove(pb::RemoveWorkspaceRequest {
                                r#ref: reference.clone(),
                                ..remove("")
                            })
                            .await
                            .unwrap_err(),
                            api.relink(pb::RelinkWorkspaceRequest {
                                r#ref: reference,
                                ..relink("", "/x")
                            })
                            .await
                            .unwrap_err(),
                        ]
                    }
                };
                for (one, other) in answers(invisible).await.into_iter().zip(answers(never).await) {
                    assert_eq!(told(&one), told(&other));
                    assert_eq!(
                        (one.code, one.reason.as_str()),
                        (Code::NotFound, "WORKSPACE_NOT_FOUND")
                    );
                }
            }
        })
        .await;
    let row = api
        .get(get(Form::Id(a.id.clone())))
        .await
        .unwrap()
        .workspace
        .unwrap();
    assert_eq!(row, a);
}

async fn an_invisible_holder_of_a_name_is_not_named(world: World) {
    let a = world.reg_new("a").await;
    world.reg_new("b").await;
    let daemon = limited(&world, &a.id).await;
    let renamed = pb::Workspace {
        name: Some("b".into()),
        ..Default::default()
    };
    let failure = daemon
        .api
        .seen_by("limited")
        .update(update(&a.id, &["name"], renamed))
        .await
        .unwrap_err();
    assert_eq!(failure.reason, "WORKSPACE_NAME_CONFLICT");
    assert!(!failure.metadata.contains_key("holder"));
}

async fn a_limited_caller_registers_nothing_new(world: World) {
    let (a, b) = (world.reg_new("a").await, world.reg_new("b").await);
    world.mkdir("c");
    let daemon = limited(&world, &a.id).await;
    let api = daemon.api.seen_by("limited");
    let answer = api.register(register(&a.root_dir)).await.unwrap();
    assert!(!answer.created && answer.workspace.unwrap() == a);
    let mut failures = Vec::new();
    for path in [b.root_dir.clone(), world.path("c")] {
        let failure = world
            .refused(
                Code::PermissionDenied,
                "SCOPE_DENIED",
                api.register(register(path)),
            )
            .await;
        failures.push(told(&failure));
    }
    assert_eq!(failures[0], failures[1]);
    let repair = api.update_identity(settle_path(&b.root_dir, pb::IdentityAction::Repair));
    world
        .refused(Code::PermissionDenied, "SCOPE_DENIED", repair)
        .await;
    let conflict = api.register(named(&a.root_dir, "other")).await.unwrap_err();
    assert_eq!(conflict.reason, "WORKSPACE_PATH_CONFLICT");
    let missing = api.discover(discover(&b.root_dir)).await.unwrap_err();
    assert_eq!(missing.reason, "WORKSPACE_NOT_FOUND");
}

async fn a_total_is_counted_for_the_eyes_that_see_it(world: World) {
    let a = world.reg_new("a").await;
    world.reg_new("b").await;
    let daemon = limited(&world, &a.id).await;
    let page = daemon
        .api
        .list(pb::ListWorkspacesRequest { limit: 1, ..list() })
        .await
        .unwrap();
    let cursor = page.page.unwrap().next_cursor.unwrap();
    let page = daemon
        .api
        .seen_by("limited")
        .list(pb::ListWorkspacesRequest { cursor, ..list() })
        .await
        .unwrap();
    assert_eq!(page.page.unwrap().total, 1);
}

async fn neighbours_that_are_invisible_are_not_named(world: World) {
    let a = world.reg_new("a").await;
    world.reg_new("b").await;
    let daemon = limited(&world, &a.id).await;
    let answer = daemon
        .api
        .seen_by("limited")
        .move_workspace(moved(&a.id, None))
        .await
        .unwrap();
    assert_eq!((answer.previous_id.as_str(), answer.next_id.as_str()), ("", ""));
}

file_cases! {
    w328_authorisation_comes_before_validation,
}

async fn w328_authorisation_comes_before_validation(world: World) {
    let row = world.reg_new("a").await;
    let api = world.daemon.api.seen_by("reader");
    let path = world.mkdir("b");
    let failures = [
        api.update(update(&row.id, &["title"], titled(&"t".repeat(201))))
            .await
            .unwrap_err(),
        api.update(update("ws_0123456789abcdef", &["title"], titled("t")))
            .await
            .unwrap_err(),
        api.register(register("relative")).await.unwrap_err(),
        api.relink(relink(&row.id, "relative")).await.unwrap_err(),
        api.move_workspace(moved("", None)).await.unwrap_err(),
        api.remove(remove("")).await.unwrap_err(),
        api.update_identity(settle("", pb::IdentityAction::Unspecified))
            .await
            .unwrap_err(),
        api.prune(prune(0, false)).await.unwrap_err(),
        api.create_directory(pb::CreateDirectoryRequest {
            parent: path,
            name: "/".into(),
            request_id: "x".into(),
        })
        .await
        .unwrap_err(),
    ];
    for failure in failures {
        assert_eq!(
            (failure.code, failure.reason.as_str()),
            (Code::PermissionDenied, "SCOPE_DENIED")
        );
        assert_eq!(failure.metadata["scope"], "write");
    }
    let writer = world.daemon.api.seen_by("writer");
    for failure in [
        writer.list(list()).await.unwrap_err(),
        writer.get(get(Form::Id("x".into()))).await.unwrap_err(),
        writer.discover(discover("relative")).await.unwrap_err(),
        writer
            .list_directory(pb::ListDirectoryRequest::default())
            .await
            .unwrap_err(),
        writer
            .get_identity(pb::GetIdentityRequest::default())
            .await
            .unwrap_err(),
    ] {
        assert_eq!(
            (failure.reason.as_str(), failure.metadata["scope"].as_str()),
            ("SCOPE_DENIED", "read")
        );
    }
}

/// A daemon at which `limited` sees one workspace, and may name every path.
async fn limited(world: &World, id: &str) -> Daemon {
    let visible = [WorkspaceId::parse(id).unwrap()];
    let roots = vec![world.t.clone()];
    world
        .start_for(&visible, |parts| parts.settings.allowed_roots = roots)
        .await
}

/// All that a failure tells, without the reference that the caller gave itself.
fn told(failure: &Failure) -> (Code, String, String, Vec<(String, String)>) {
    let reference = failure.metadata.get("reference").cloned().unwrap_or_default();
    let mut metadata: Vec<_> = failure
        .metadata
        .clone()
        .into_iter()
        .filter(|(key, _)| key != "reference")
        .collect();
    metadata.sort();
    let message = if reference.is_empty() {
        failure.message.clone()
    } else {
        failure.message.replace(&reference, "REF")
    };
    (failure.code, failure.reason.clone(), message, metadata)
}

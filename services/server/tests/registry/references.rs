//! References (cases section 5).

use std::fs;

use compozy_proto::workspace::v1 as pb;
use compozy_proto::workspace::v1::workspace_ref::Form;
use tonic::Code;

use crate::client::Outcome;
use crate::requests::{ID1, by_any, by_id, discover, get, moved, named, remove, titled, update};
use crate::world::{World, file_of};

cases! {
    w143_w144_w145_w159_every_form_finds_it,
    w146_a_prefix_forces_the_form,
    w147_w148_w154_w155_what_nobody_has,
    w155_a_durable_id_in_lower_case,
    w151_a_directory_that_nobody_registered,
    w156_the_id_is_in_the_row,
    w157_w158_a_shared_durable_id_is_ambiguous,
    unknown_workspaces_are_the_same_for_every_method,
}

async fn w143_w144_w145_w159_every_form_finds_it(world: World) {
    let root = world.mkdir("a");
    let row = world
        .daemon
        .api
        .register(named(&root, "my project"))
        .await
        .unwrap()
        .workspace
        .unwrap();
    let sub = world.mkdir("a/sub/deep");
    let texts = [
        row.id.clone(),
        row.durable_id.clone(),
        "my project".to_owned(),
        root.clone(),
        sub.clone(),
    ];
    let mut forms = vec![
        Form::Id(texts[0].clone()),
        Form::DurableId(texts[1].clone()),
        Form::Name(texts[2].clone()),
        Form::Path(texts[3].clone()),
        Form::Path(texts[4].clone()),
    ];
    forms.extend(texts.map(Form::Any));
    forms.push(Form::Any("  My Project  ".into()));
    for (prefix, text) in [
        ("name", "my project"),
        ("id", row.id.as_str()),
        ("durable", row.durable_id.as_str()),
        ("path", sub.as_str()),
    ] {
        forms.push(Form::Any(format!("{prefix}:{text}")));
    }
    for form in forms {
        let found = world
            .daemon
            .api
            .get(get(form.clone()))
            .await
            .unwrap()
            .workspace
            .unwrap();
        assert_eq!(found, row, "{form:?}");
    }
}

async fn w146_a_prefix_forces_the_form(world: World) {
    world
        .daemon
        .api
        .register(named(world.mkdir("a"), "api"))
        .await
        .unwrap();
    not_found(&world, Form::Any("id:api".into())).await;
    found(&world, Form::Any("name:api".into())).await;
}

async fn w147_w148_w154_w155_what_nobody_has(world: World) {
    world
        .daemon
        .api
        .register(named(world.mkdir("a"), "x"))
        .await
        .unwrap();
    let calls = world.files.all_calls();
    for id in [
        "ws_0123456789abcdef",
        "ws_ABC",
        "ws_../../etc/passwd",
        "x",
        "x' OR '1'='1",
    ] {
        not_found(&world, Form::Id(id.into())).await;
    }
    not_found(&world, Form::Any(ID1.into())).await;
    not_found(&world, Form::DurableId(ID1.to_lowercase())).await;
    assert_eq!(world.files.all_calls(), calls, "no look at the disk");
}

async fn w155_a_durable_id_in_lower_case(world: World) {
    let row = world.reg(world.mkdir_with_id("a", ID1)).await;
    not_found(&world, Form::DurableId(ID1.to_lowercase())).await;
    assert_eq!(found(&world, Form::DurableId(ID1.into())).await.id, row.id);
}

async fn w151_a_directory_that_nobody_registered(world: World) {
    world.reg_new("a").await;
    not_found(&world, Form::Path(world.mkdir("b"))).await;
}

async fn w156_the_id_is_in_the_row(world: World) {
    let row = world.reg_new("a").await;
    fs::remove_file(file_of(&world.path("a"))).unwrap();
    assert_eq!(found(&world, Form::Any(row.durable_id.clone())).await.id, row.id);
}

async fn w157_w158_a_shared_durable_id_is_ambiguous(world: World) {
    let one = world.reg(world.mkdir_with_id("a", ID1)).await;
    let two = world.reg(world.mkdir_with_id("b", ID1)).await;
    let mut ids = [one.id.clone(), two.id.clone()];
    ids.sort();
    for form in [Form::Any(ID1.into()), Form::DurableId(ID1.into())] {
        let call = world.daemon.api.get(get(form));
        let failure = world
            .refused(Code::FailedPrecondition, "WORKSPACE_REFERENCE_AMBIGUOUS", call)
            .await;
        assert_eq!(failure.metadata["ids"], ids.join(","));
    }
    for form in [
        Form::Name("b".into()),
        Form::Id(two.id.clone()),
        Form::Path(world.path("b")),
    ] {
        assert_eq!(found(&world, form).await.id, two.id);
    }
}

async fn unknown_workspaces_are_the_same_for_every_method(world: World) {
    let unknown = "ws_0123456789abcdef";
    let api = &world.daemon.api;
    let known = world.reg_new("a").await;
    let failures = [
        answered(api.get(get(Form::Id(unknown.into()))).await),
        answered(api.update(update(unknown, &["title"], titled("t"))).await),
        answered(api.move_workspace(moved(unknown, None)).await),
        answered(api.move_workspace(moved(&known.id, Some(unknown))).await),
        answered(api.remove(remove(unknown)).await),
    ];
    for failure in &failures {
        assert_eq!(*failure, failures[0]);
    }
    assert_eq!(
        (failures[0].0, failures[0].1.as_str()),
        (Code::NotFound, "WORKSPACE_NOT_FOUND")
    );
}

file_cases! {
    w149_references_that_say_nothing,
    w150_w152_w153_paths_that_lead_nowhere,
    long_and_unprintable_references_are_refused,
}

async fn w149_references_that_say_nothing(world: World) {
    for reference in [None, Some(pb::WorkspaceRef { form: None }), by_any("   ")] {
        let request = pb::GetWorkspaceRequest {
            r#ref: reference,
            include_status: false,
        };
        let failure = world
            .refused(
                Code::InvalidArgument,
                "INVALID_FIELD",
                world.daemon.api.get(request),
            )
            .await;
        assert!(failure.fields[0].starts_with("ref"), "{failure:?}");
    }
}

async fn w150_w152_w153_paths_that_lead_nowhere(world: World) {
    let root = world.mkdir("a");
    world.reg(&root).await;
    fs::write(format!("{root}/file"), "").unwrap();
    let cases = [
        ("a/b".to_owned(), Code::InvalidArgument, "PATH_NOT_ABSOLUTE"),
        (".".to_owned(), Code::InvalidArgument, "PATH_NOT_ABSOLUTE"),
        (format!("{root}/none"), Code::NotFound, "PATH_NOT_FOUND"),
        (
            format!("{root}/file"),
            Code::InvalidArgument,
            "PATH_NOT_DIRECTORY",
        ),
    ];
    for (path, code, reason) in cases {
        world
            .refused(code, reason, world.daemon.api.get(get(Form::Path(path.clone()))))
            .await;
        world
            .refused(code, reason, world.daemon.api.discover(discover(path)))
            .await;
    }
}

async fn long_and_unprintable_references_are_refused(world: World) {
    let long = "x".repeat(4_097);
    for form in [
        Form::Id(long.clone()),
        Form::Name(long.clone()),
        Form::Any(long),
        Form::Name("a\nb".into()),
    ] {
        let call = world.daemon.api.get(get(form));
        world.refused(Code::InvalidArgument, "INVALID_FIELD", call).await;
    }
    let call = world.daemon.api.get(pb::GetWorkspaceRequest {
        r#ref: by_id("a\nb"),
        include_status: false,
    });
    world.refused(Code::NotFound, "WORKSPACE_NOT_FOUND", call).await;
}

async fn found(world: &World, form: Form) -> pb::Workspace {
    world.daemon.api.get(get(form)).await.unwrap().workspace.unwrap()
}

async fn not_found(world: &World, form: Form) {
    let failure = world
        .refused(
            Code::NotFound,
            "WORKSPACE_NOT_FOUND",
            world.daemon.api.get(get(form)),
        )
        .await;
    assert!(failure.names_resource);
}

/// What an answer tells a caller of a thing that is not there.
fn answered<T: std::fmt::Debug>(outcome: Outcome<T>) -> (Code, String, String, Vec<(String, String)>) {
    let failure = outcome.unwrap_err();
    let mut metadata: Vec<_> = failure.metadata.into_iter().collect();
    metadata.sort();
    (failure.code, failure.reason, failure.message, metadata)
}

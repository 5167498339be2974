//! Updates (cases section 7).

use std::time::Duration;

use compozy_proto::workspace::v1 as pb;
use tonic::Code;

use crate::requests::{register, remove, titled, update};
use crate::world::World;

cases! {
    w184_with_the_etag_that_was_read,
    w185_with_a_stale_etag,
    w186_two_at_once_with_one_etag,
    w187_what_is_so_already,
    w189_an_empty_mask_means_what_is_set,
    a_mask_clears_what_is_unset,
    w191_w192_directories_are_replaced,
    w193_directories_come_and_go,
    w194_a_directory_to_remove_in_any_spelling,
    w195_a_directory_to_remove_that_is_not_there,
    w196_w197_directories_to_add,
    w198_a_record_needs_no_directory,
    w199_only_a_try,
    w200_what_is_not_there,
}

async fn w184_with_the_etag_that_was_read(world: World) {
    let row = world.reg_new("a").await;
    let changes = world.changes().await.len();
    world.clock.advance(Duration::from_secs(1));
    let request = pb::UpdateWorkspaceRequest {
        etag: row.etag.clone(),
        ..update(&row.id, &["title"], titled("T"))
    };
    let after = world.daemon.api.update(request).await.unwrap().workspace.unwrap();
    assert_eq!(
        (after.title.as_deref(), after.created_at),
        (Some("T"), row.created_at)
    );
    assert!(after.etag != row.etag && after.updated_at != row.updated_at);
    assert_eq!(world.changes().await.len(), changes + 1);
    assert_eq!(world.record(&row.id).await, after);
}

async fn w185_with_a_stale_etag(world: World) {
    let row = world.reg_new("a").await;
    world
        .daemon
        .api
        .update(update(&row.id, &["title"], titled("T")))
        .await
        .unwrap();
    let stale = pb::UpdateWorkspaceRequest {
        etag: row.etag,
        ..update(&row.id, &["title"], titled("U"))
    };
    world
        .refused(Code::Aborted, "ETAG_MISMATCH", world.daemon.api.update(stale))
        .await;
}

async fn w186_two_at_once_with_one_etag(world: World) {
    let row = world.reg_new("a").await;
    let request = |title| pb::UpdateWorkspaceRequest {
        etag: row.etag.clone(),
        ..update(&row.id, &["title"], titled(title))
    };
    let api = &world.daemon.api;
    let (one, two) = tokio::join!(api.update(request("1")), api.update(request("2")));
    assert!(one.is_ok() ^ two.is_ok());
    let failure = one.err().or(two.err()).unwrap();
    assert_eq!(failure.reason, "ETAG_MISMATCH");
}

async fn w187_what_is_so_already(world: World) {
    let (row, dirs) = with_dirs(&world, &["x", "y"]).await;
    world.clock.advance(Duration::from_secs(1));
    let same = pb::Workspace {
        additional_dirs: dirs,
        ..titled("a")
    };
    let request = update(&row.id, &["title", "additional_dirs"], same);
    let answer = world
        .unchanged_by(world.daemon.api.update(request))
        .await
        .unwrap();
    assert_eq!(answer.workspace, Some(row));
}

async fn w189_an_empty_mask_means_what_is_set(world: World) {
    let (row, dirs) = with_dirs(&world, &["x"]).await;
    let request = pb::UpdateWorkspaceRequest {
        update_mask: None,
        ..update(&row.id, &[], titled("T"))
    };
    let after = world.daemon.api.update(request).await.unwrap().workspace.unwrap();
    assert_eq!(
        (after.title.as_deref(), after.additional_dirs, after.name),
        (Some("T"), dirs, row.name)
    );
}

async fn a_mask_clears_what_is_unset(world: World) {
    let request = pb::RegisterWorkspaceRequest {
        default_agent: Some("reviewer".into()),
        ..register(world.mkdir("a"))
    };
    let row = world
        .daemon
        .api
        .register(request)
        .await
        .unwrap()
        .workspace
        .unwrap();
    let request = update(&row.id, &["default_agent", "title"], Default::default());
    let after = world.daemon.api.update(request).await.unwrap().workspace.unwrap();
    assert_eq!(
        (after.default_agent.as_deref(), after.title.as_deref()),
        (Some(""), Some(""))
    );
}

async fn w191_w192_directories_are_replaced(world: World) {
    let (row, _) = with_dirs(&world, &["a1", "b1"]).await;
    let dirs = vec![world.path("b1"), world.mkdir("c1")];
    let replaced = pb::Workspace {
        additional_dirs: dirs.clone(),
        ..Default::default()
    };
    let request = update(&row.id, &["additional_dirs"], replaced);
    assert_eq!(
        world
            .daemon
            .api
            .update(request)
            .await
            .unwrap()
            .workspace
            .unwrap()
            .additional_dirs,
        dirs
    );
    let request = update(&row.id, &["additional_dirs"], Default::default());
    assert!(
        world
            .daemon
            .api
            .update(request)
            .await
            .unwrap()
            .workspace
            .unwrap()
            .additional_dirs
            .is_empty()
    );
}

async fn w193_directories_come_and_go(world: World) {
    let (row, dirs) = with_dirs(&world, &["a1", "b1"]).await;
    let request = delta(&row.id, &[world.mkdir("c1")], &dirs[..1]);
    let after = world.daemon.api.update(request).await.unwrap().workspace.unwrap();
    assert_eq!(after.additional_dirs, [world.path("b1"), world.path("c1")]);
}

async fn w194_a_directory_to_remove_in_any_spelling(world: World) {
    let (row, dirs) = with_dirs(&world, &["a1", "b1", "c1"]).await;
    let link = world.link(&dirs[2], "link");
    let request = delta(&row.id, &[], &[format!("{}/", dirs[0]), link]);
    let after = world.daemon.api.update(request).await.unwrap().workspace.unwrap();
    assert_eq!(after.additional_dirs, [dirs[1].clone()]);
    // It need not be there any more.
    std::fs::remove_dir(&dirs[1]).unwrap();
    let request = delta(&row.id, &[], &[format!("{}/x/..", dirs[1])]);
    assert!(
        world
            .daemon
            .api
            .update(request)
            .await
            .unwrap()
            .workspace
            .unwrap()
            .additional_dirs
            .is_empty()
    );
}

async fn w195_a_directory_to_remove_that_is_not_there(world: World) {
    let (row, _) = with_dirs(&world, &["a1"]).await;
    let other = world.mkdir("other");
    let call = world.daemon.api.update(delta(&row.id, &[], &[other.clone()]));
    let failure = world.refused(Code::InvalidArgument, "INVALID_FIELD", call).await;
    assert_eq!(failure.fields, ["remove_dirs[0]"]);
    assert!(failure.message.contains(&other));
}

async fn w196_w197_directories_to_add(world: World) {
    let (row, dirs) = with_dirs(&world, &["a1"]).await;
    let link = world.link(&dirs[0], "link");
    let request = delta(&row.id, &[link, row.root_dir.clone()], &[]);
    let answer = world
        .unchanged_by(world.daemon.api.update(request))
        .await
        .unwrap();
    assert_eq!(answer.workspace.as_ref(), Some(&row));
    let call = world
        .daemon
        .api
        .update(delta(&row.id, &[world.path("none")], &[]));
    let failure = world.refused(Code::NotFound, "PATH_NOT_FOUND", call).await;
    assert_eq!(failure.metadata["field"], "add_dirs[0]");
}

async fn w198_a_record_needs_no_directory(world: World) {
    let row = world.reg_new("a").await;
    std::fs::remove_dir_all(&row.root_dir).unwrap();
    let after = world
        .daemon
        .api
        .update(update(&row.id, &["title"], titled("T")))
        .await
        .unwrap();
    assert_eq!(after.workspace.unwrap().title.as_deref(), Some("T"));
}

async fn w199_only_a_try(world: World) {
    let row = world.reg_new("a").await;
    let request = |agent: &str| pb::UpdateWorkspaceRequest {
        validate_only: true,
        ..update(
            &row.id,
            &["default_agent"],
            pb::Workspace {
                default_agent: Some(agent.into()),
                ..Default::default()
            },
        )
    };
    let call = world.daemon.api.update(request("Bad Name"));
    world.refused(Code::InvalidArgument, "INVALID_FIELD", call).await;
    let answer = world
        .unchanged_by(world.daemon.api.update(request("good")))
        .await
        .unwrap();
    assert_eq!(answer.workspace.unwrap().default_agent.as_deref(), Some("good"));
}

async fn w200_what_is_not_there(world: World) {
    let row = world.reg_new("a").await;
    world.daemon.api.remove(remove(&row.id)).await.unwrap();
    for id in ["ws_0123456789abcdef", &row.id] {
        let call = world.daemon.api.update(update(id, &["title"], titled("T")));
        world.refused(Code::NotFound, "WORKSPACE_NOT_FOUND", call).await;
    }
}

file_cases! {
    w188_masks_that_name_something_else,
    a_list_is_replaced_or_changed_not_both,
    texts_are_bounded,
}

async fn w188_masks_that_name_something_else(world: World) {
    let row = world.reg_new("a").await;
    for path in ["colour", "root_dir", "created_at", "workspace.title", ""] {
        let call = world.daemon.api.update(update(&row.id, &[path], titled("T")));
        let failure = world.refused(Code::InvalidArgument, "INVALID_FIELD", call).await;
        assert_eq!(failure.fields, ["update_mask"]);
        assert!(
            failure.message.contains(&format!("'{path}'")),
            "{}",
            failure.message
        );
    }
}

async fn a_list_is_replaced_or_changed_not_both(world: World) {
    let (row, dirs) = with_dirs(&world, &["x"]).await;
    let request = pb::UpdateWorkspaceRequest {
        remove_dirs: dirs,
        ..update(&row.id, &["additional_dirs"], Default::default())
    };
    let call = world.daemon.api.update(request);
    let failure = world.refused(Code::InvalidArgument, "INVALID_FIELD", call).await;
    assert_eq!(failure.fields, ["remove_dirs"]);
}

async fn texts_are_bounded(world: World) {
    let row = world.reg_new("a").await;
    let long = pb::UpdateWorkspaceRequest {
        etag: "e".repeat(129),
        ..update(&row.id, &["title"], titled("T"))
    };
    let call = world.daemon.api.update(long);
    assert_eq!(
        world
            .refused(Code::InvalidArgument, "INVALID_FIELD", call)
            .await
            .fields,
        ["etag"]
    );
    let call = world
        .daemon
        .api
        .update(update(&row.id, &["title"], titled(&"t".repeat(201))));
    assert_eq!(
        world
            .refused(Code::InvalidArgument, "INVALID_FIELD", call)
            .await
            .fields,
        ["workspace.title"]
    );
}

/// A workspace `a` with additional directories.
async fn with_dirs(world: &World, names: &[&str]) -> (pb::Workspace, Vec<String>) {
    let dirs: Vec<String> = names.iter().map(|name| world.mkdir(name)).collect();
    let request = pb::RegisterWorkspaceRequest {
        additional_dirs: dirs.clone(),
        ..register(world.mkdir("a"))
    };
    (
        world
            .daemon
            .api
            .register(request)
            .await
            .unwrap()
            .workspace
            .unwrap(),
        dirs,
    )
}

fn delta(id: &str, add: &[String], remove: &[String]) -> pb::UpdateWorkspaceRequest {
    pb::UpdateWorkspaceRequest {
        add_dirs: add.to_vec(),
        remove_dirs: remove.to_vec(),
        ..update(id, &[], Default::default())
    }
}

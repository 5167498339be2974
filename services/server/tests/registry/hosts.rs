//! Several hosts on one catalog (cases section 12). The daemons of a case see one disk; where a line speaks of two,
//! the case puts there what the other host would see.

use std::fs;
use std::time::Duration;

use compozy_domain::HostId;
use compozy_proto::workspace::v1 as pb;
use compozy_proto::workspace::v1::workspace_ref::Form;
use compozy_proto::workspace::v1::{IdentityPolicy as Policy, WorkspaceStatus as Status};
use compozy_resolver::files::faulty::Operation;
use tonic::Code;

use crate::daemon::Daemon;
use crate::requests::{ID1, ID2, discover, get, list, prune, register, relink, settle, titled, update};
use crate::tree::identity_file;
use crate::world::{World, file_of};

cases! {
    w301_two_hosts_have_one_path,
    w302_a_colleagues_checkout_is_no_copy,
    w303_nothing_moves_across_hosts,
    w304_a_durable_id_prefers_its_own_host,
    another_hosts_row_is_not_looked_at,
    w306_paths_see_their_own_host_only,
    w307_a_host_prunes_its_own_rows,
    a_daemon_that_sees_no_disk,
    replicas_of_one_host_share_its_rows,
    replicas_that_register_one_directory_at_once_make_one_row,
}

async fn w301_two_hosts_have_one_path(world: World) {
    let d2 = host(&world, "h2").await;
    let first = world.reg_new("p").await;
    fs::write(file_of(&world.path("p")), identity_file(ID2)).unwrap();
    let answer = d2.api.register(register(world.path("p"))).await.unwrap();
    assert!(answer.created);
    let second = answer.workspace.unwrap();
    assert_eq!((first.host_id.as_str(), second.host_id.as_str()), ("h1", "h2"));
    assert_eq!(first.root_dir, second.root_dir);
    assert_eq!(
        (first.name.as_deref(), second.name.as_deref()),
        (Some("p"), Some("p-2"))
    );
    assert_ne!(first.durable_id, second.durable_id);
}

async fn w302_a_colleagues_checkout_is_no_copy(world: World) {
    let d2 = host(&world, "h2").await;
    let first = world.reg(world.mkdir_with_id("w/p", ID1)).await;
    let request = pb::RegisterWorkspaceRequest {
        identity_policy: Policy::Reject.into(),
        ..register(world.mkdir_with_id("x/p", ID1))
    };
    let answer = d2.api.register(request).await.unwrap();
    assert!(answer.created && answer.relinked_from.is_none() && answer.diagnostics.is_empty());
    let second = answer.workspace.unwrap();
    assert_eq!(second.shares_identity_with, [first.id.clone()]);
    assert_eq!(world.record(&first.id).await.shares_identity_with, [second.id]);
}

async fn w303_nothing_moves_across_hosts(world: World) {
    let d2 = host(&world, "h2").await;
    let first = world.reg(world.mkdir_with_id("w/p", ID1)).await;
    fs::remove_dir_all(world.path("w/p")).unwrap();
    let answer = d2
        .api
        .register(register(world.mkdir_with_id("x/p", ID1)))
        .await
        .unwrap();
    assert!(answer.created && answer.relinked_from.is_none());
    assert_eq!(world.record(&first.id).await.etag, first.etag);
}

async fn w304_a_durable_id_prefers_its_own_host(world: World) {
    let (d2, d3) = (host(&world, "h2").await, host(&world, "h3").await);
    let first = world.reg(world.mkdir_with_id("w/p", ID1)).await;
    let second = d2
        .api
        .register(register(world.mkdir_with_id("x/p", ID1)))
        .await
        .unwrap()
        .workspace
        .unwrap();
    let any = || get(Form::Any(ID1.into()));
    assert_eq!(
        world.daemon.api.get(any()).await.unwrap().workspace.unwrap().id,
        first.id
    );
    assert_eq!(d2.api.get(any()).await.unwrap().workspace.unwrap().id, second.id);
    let failure = d3.api.get(any()).await.unwrap_err();
    assert_eq!(
        (failure.code, failure.reason.as_str()),
        (Code::FailedPrecondition, "WORKSPACE_REFERENCE_AMBIGUOUS")
    );
    let mut ids = [first.id, second.id];
    ids.sort();
    assert_eq!(failure.metadata["ids"], ids.join(","));
}

async fn another_hosts_row_is_not_looked_at(world: World) {
    let d2 = host(&world, "h2").await;
    let row = world.reg_new("p").await;
    let calls = world.files.all_calls();
    let request = pb::GetWorkspaceRequest {
        include_status: true,
        ..get(Form::Id(row.id.clone()))
    };
    assert_eq!(
        d2.api.get(request).await.unwrap().workspace.unwrap().status(),
        Status::OtherHost
    );
    let page = d2
        .api
        .list(pb::ListWorkspacesRequest {
            include_status: true,
            ..list()
        })
        .await
        .unwrap();
    assert_eq!(page.workspaces[0].status(), Status::OtherHost);
    d2.registry.observe_round(Duration::ZERO).await.unwrap();
    assert_eq!(world.files.all_calls(), calls);
    // What needs its disk is refused, what does not is done.
    let identity = d2
        .api
        .update_identity(settle(&row.id, pb::IdentityAction::Repair))
        .await
        .unwrap_err();
    assert_eq!(
        (identity.code, identity.reason.as_str()),
        (Code::FailedPrecondition, "WORKSPACE_ON_OTHER_HOST")
    );
    let relinked = d2.api.relink(relink(&row.id, world.path("p"))).await.unwrap_err();
    assert_eq!(relinked.reason, "WORKSPACE_ON_OTHER_HOST");
    let dirs = pb::Workspace {
        additional_dirs: vec![world.path("p")],
        ..Default::default()
    };
    let updated = d2
        .api
        .update(update(&row.id, &["additional_dirs"], dirs))
        .await
        .unwrap_err();
    assert_eq!(updated.reason, "WORKSPACE_ON_OTHER_HOST");
    d2.api
        .update(update(&row.id, &["title"], titled("T")))
        .await
        .unwrap();
}

async fn w306_paths_see_their_own_host_only(world: World) {
    let d2 = host(&world, "h2").await;
    let row = world.reg_new("p").await;
    let path = row.root_dir.clone();
    for failure in [
        d2.api.get(get(Form::Path(path.clone()))).await.unwrap_err(),
        d2.api.discover(discover(&path)).await.unwrap_err(),
    ] {
        assert_eq!(
            (failure.code, failure.reason.as_str()),
            (Code::NotFound, "WORKSPACE_NOT_FOUND")
        );
    }
    assert_eq!(
        world
            .daemon
            .api
            .discover(discover(&path))
            .await
            .unwrap()
            .workspace
            .unwrap()
            .id,
        row.id
    );
    assert_eq!(
        world
            .daemon
            .api
            .get(get(Form::Path(path)))
            .await
            .unwrap()
            .workspace
            .unwrap()
            .id,
        row.id
    );
}

async fn w307_a_host_prunes_its_own_rows(world: World) {
    let d2 = host(&world, "h2").await;
    let row = world.reg_new("p").await;
    fs::remove_dir_all(&row.root_dir).unwrap();
    for _ in 0..2 {
        world.daemon.registry.observe_round(Duration::ZERO).await.unwrap();
        world.clock.advance(Duration::from_secs(31 * 86_400));
    }
    for validate_only in [true, false] {
        assert!(
            d2.api
                .prune(prune(30, validate_only))
                .await
                .unwrap()
                .workspaces
                .is_empty()
        );
    }
    assert_eq!(
        world.daemon.api.prune(prune(30, false)).await.unwrap().workspaces[0].id,
        row.id
    );
}

async fn a_daemon_that_sees_no_disk(world: World) {
    let none = host(&world, "none").await;
    let row = world.reg_new("p").await;
    let calls = world.files.all_calls();
    let path = row.root_dir.clone();
    let failures = [
        none.api.register(register(&path)).await.unwrap_err(),
        none.api.register(register("/none/at/all")).await.unwrap_err(),
        none.api.discover(discover(&path)).await.unwrap_err(),
        none.api.get(get(Form::Path(path.clone()))).await.unwrap_err(),
        none.api
            .list_directory(pb::ListDirectoryRequest::default())
            .await
            .unwrap_err(),
        none.api.relink(relink(&row.id, &path)).await.unwrap_err(),
        none.api
            .update_identity(settle(&row.id, pb::IdentityAction::Repair))
            .await
            .unwrap_err(),
        none.api.prune(prune(1, true)).await.unwrap_err(),
    ];
    for failure in failures {
        assert_eq!(
            (failure.code, failure.reason.as_str()),
            (Code::FailedPrecondition, "HOST_NOT_SERVED")
        );
    }
    let page = none
        .api
        .list(pb::ListWorkspacesRequest {
            include_status: true,
            ..list()
        })
        .await
        .unwrap();
    assert_eq!(page.workspaces[0].status(), Status::OtherHost);
    none.api.get(get(Form::Id(row.id))).await.unwrap();
    assert_eq!(world.files.all_calls(), calls);
}

async fn replicas_of_one_host_share_its_rows(world: World) {
    let d1b = host(&world, "h1").await;
    let row = world.reg_new("p").await;
    let request = pb::GetWorkspaceRequest {
        include_status: true,
        ..get(Form::Id(row.id.clone()))
    };
    assert_eq!(
        d1b.api.get(request).await.unwrap().workspace.unwrap().status(),
        Status::Ok
    );
    assert_eq!(
        d1b.api
            .discover(discover(&row.root_dir))
            .await
            .unwrap()
            .workspace
            .unwrap()
            .id,
        row.id
    );
    let answer = d1b.api.register(register(&row.root_dir)).await.unwrap();
    assert!(!answer.created && answer.workspace.unwrap().id == row.id);
}

async fn replicas_that_register_one_directory_at_once_make_one_row(world: World) {
    let d1b = host(&world, "h1").await;
    let path = world.mkdir("p");
    let (one, two) = tokio::join!(
        world.daemon.api.register(register(&path)),
        d1b.api.register(register(&path))
    );
    let (one, two) = (one.unwrap(), two.unwrap());
    assert!(one.created ^ two.created);
    assert_eq!(one.workspace.unwrap().id, two.workspace.unwrap().id);
    assert!(world.files.calls(Operation::Create) <= 1);
}

async fn host(world: &World, name: &str) -> Daemon {
    let id = HostId::parse(name).unwrap();
    world.start(|parts| parts.host = id).await
}

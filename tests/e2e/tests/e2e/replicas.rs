//! Two daemons on one Postgres are one catalog.

use std::collections::BTreeSet;

use compozy_client::{Client, Error};
use compozy_e2e::{Daemon, Database, Engine, Environment, by_id, list_all, register, utf8};
use compozy_proto::admin::v1::{DirectoryPicker, StoreKind};
use compozy_proto::workspace::v1::{
    ListWorkspacesRequest, MoveWorkspaceRequest, RegisterWorkspaceRequest, RegisterWorkspaceResponse,
    RemoveWorkspaceRequest, UpdateWorkspaceRequest, Workspace,
};
use futures::future::join_all;

/// Two replicas that see one disk.
pub(crate) struct Replicas {
    pub(crate) one: Daemon,
    pub(crate) other: Daemon,
    pub(crate) environment: Environment,
    _beside: Environment,
}

pub(crate) async fn replicas(test: &str, one_host: &str, other_host: &str) -> Option<Replicas> {
    let environment = Environment::bare(Engine::Postgres(Database::fresh(test)?));
    environment.configure(&format!("[daemon]\nhost_id = \"{one_host}\"\n"));
    let beside = environment.beside(&format!("[daemon]\nhost_id = \"{other_host}\"\n"));
    let one = Daemon::start(&environment).await;
    let other = Daemon::start(&beside).await;
    Some(Replicas {
        one,
        other,
        environment,
        _beside: beside,
    })
}

async fn page(client: &Client, cursor: &str) -> (Vec<String>, i64, Option<String>) {
    let request = ListWorkspacesRequest {
        limit: 10,
        cursor: cursor.to_owned(),
        ..Default::default()
    };
    let answer = client.list_workspaces(request).await.unwrap();
    let page = answer.page.unwrap();
    let ids = answer.workspaces.into_iter().map(|row| row.id).collect();
    (ids, page.total, page.next_cursor)
}

/// The same catalog at a replica and after a restart, another one at another home; a cursor of one daemon goes on at
/// the other, the first half of W324.
#[tokio::test(flavor = "multi_thread")]
async fn w332_replicas_share_the_catalog_and_its_cursors() {
    let Some(replicas) = replicas("w332_replicas_share_the_catalog_and_its_cursors", "h1", "h1").await else {
        return;
    };
    let (one, other) = (replicas.one.client(), replicas.other.client());
    let (info, same) = (
        one.get_server_info().await.unwrap(),
        other.get_server_info().await.unwrap(),
    );
    assert_eq!(
        (&info.catalog_id, &info.host_id, info.store_kind()),
        (&same.catalog_id, &same.host_id, StoreKind::Postgres)
    );
    assert_eq!(
        (
            info.version.as_str(),
            info.host_id.as_str(),
            info.directory_picker()
        ),
        (env!("CARGO_PKG_VERSION"), "h1", DirectoryPicker::Browse)
    );
    let limits = info.limits.unwrap();
    assert_eq!(
        (
            limits.additional_dirs_max,
            limits.filter_values_max,
            limits.batch_items_max
        ),
        (64, 100, 1_000)
    );
    for number in 0..25 {
        register(one, replicas.environment.make(&format!("p{number}")))
            .await
            .unwrap();
    }
    let (mut ids, total, next) = page(one, "").await;
    let (second, total_there, next) = page(other, &next.unwrap()).await;
    let (third, _, end) = page(one, &next.unwrap()).await;
    ids.extend(second);
    ids.extend(third);
    assert_eq!((total, total_there, end), (25, 25, None));
    assert_eq!(ids.iter().collect::<BTreeSet<_>>().len(), 25);
    let Replicas { one, environment, .. } = replicas;
    one.stop();
    let again = Daemon::start(&environment).await;
    assert_eq!(
        again.client().get_server_info().await.unwrap().catalog_id,
        info.catalog_id
    );
    let elsewhere = Environment::new();
    let stranger = Daemon::start(&elsewhere).await;
    assert_ne!(
        stranger.client().get_server_info().await.unwrap().catalog_id,
        info.catalog_id
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn what_one_changes_the_other_lists() {
    let Some(replicas) = replicas("what_one_changes_the_other_lists", "h1", "h1").await else {
        return;
    };
    let (one, other) = (replicas.one.client(), replicas.other.client());
    let mut ids = Vec::new();
    for (number, client) in [one, other, one, other].into_iter().enumerate() {
        let answer = register(client, replicas.environment.make(&format!("p{number}")))
            .await
            .unwrap();
        ids.push(answer.workspace.unwrap().id);
        assert_eq!(list_all(one).await, list_all(other).await);
    }
    let request = MoveWorkspaceRequest {
        r#ref: Some(by_id(&ids[0])),
        before: Some(by_id(&ids[3])),
        ..Default::default()
    };
    assert_eq!(other.move_workspace(request).await.unwrap().next_id, ids[3]);
    let request = UpdateWorkspaceRequest {
        r#ref: Some(by_id(&ids[1])),
        workspace: Some(Workspace {
            title: Some("told to the other".to_owned()),
            ..Default::default()
        }),
        ..Default::default()
    };
    one.update_workspace(request).await.unwrap();
    let request = RemoveWorkspaceRequest {
        r#ref: Some(by_id(&ids[2])),
        ..Default::default()
    };
    other.remove_workspace(request).await.unwrap();
    let rows = list_all(one).await;
    assert_eq!(rows, list_all(other).await);
    let order: Vec<&str> = rows.iter().map(|row| row.id.as_str()).collect();
    assert_eq!(order, [&ids[0], &ids[3], &ids[1]]);
    assert_eq!(rows[2].title(), "told to the other");
    let removed = other.get_server_info().await.unwrap();
    assert_eq!(removed.host_id, "h1");
}

async fn register_named(
    client: &Client,
    path: String,
    name: Option<&str>,
) -> Result<RegisterWorkspaceResponse, Error> {
    let request = RegisterWorkspaceRequest {
        path,
        name: name.map(str::to_owned),
        ..Default::default()
    };
    client.register_workspace(request).await
}

/// Derived names find free numbers, one explicit name finds one owner, one directory gets one row, whichever
/// daemon is asked.
#[tokio::test(flavor = "multi_thread")]
async fn races_between_replicas_have_one_winner() {
    let Some(replicas) = replicas("races_between_replicas_have_one_winner", "h1", "h1").await else {
        return;
    };
    let clients = [replicas.one.client(), replicas.other.client()];
    let root = |below: String| utf8(replicas.environment.make(&below));
    let derived =
        (0..40).map(|number| register_named(clients[number % 2], root(format!("d{number}/api")), None));
    let answers = join_all(derived).await;
    let names: BTreeSet<String> = answers
        .into_iter()
        .map(|answer| answer.unwrap().workspace.unwrap().name().to_owned())
        .collect();
    let expected = (1..=40).map(|number| {
        if number == 1 {
            "api".to_owned()
        } else {
            format!("api-{number}")
        }
    });
    assert_eq!(names, expected.collect());
    let explicit =
        (0..20).map(|number| register_named(clients[number % 2], root(format!("e{number}")), Some("one")));
    let outcomes = join_all(explicit).await;
    assert_eq!(outcomes.iter().filter(|outcome| outcome.is_ok()).count(), 1);
    for (number, outcome) in outcomes.into_iter().enumerate() {
        if let Err(error) = outcome {
            assert_eq!(error.reason_name(), "WORKSPACE_NAME_CONFLICT");
            assert!(
                !replicas
                    .environment
                    .work
                    .join(format!("e{number}/.compozy"))
                    .exists()
            );
        }
    }
    let shared = root("shared".to_owned());
    let same = (0..20).map(|number| register_named(clients[number % 2], shared.clone(), None));
    let answers: Vec<_> = join_all(same).await.into_iter().map(Result::unwrap).collect();
    assert_eq!(answers.iter().filter(|answer| answer.created).count(), 1);
    let ids: BTreeSet<String> = answers
        .into_iter()
        .map(|answer| answer.workspace.unwrap().id)
        .collect();
    assert_eq!(ids.len(), 1);
    assert_eq!(list_all(clients[0]).await.len(), 42);
}

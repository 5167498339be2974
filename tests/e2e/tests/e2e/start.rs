//! The first start, and every other one.

use std::fs;

use compozy_e2e::{
    Daemon, Database, Engine, Environment, by_id, list_all, register, until, until_async, utf8,
};
use compozy_proto::workspace::v1::{MoveWorkspaceRequest, RemoveWorkspaceRequest};

#[tokio::test(flavor = "multi_thread")]
async fn w240_w241_w242_the_first_start_registers_the_home_directory_once() {
    let environment = Environment::bare(Engine::Sqlite);
    let daemon = Daemon::start(&environment).await;
    let client = daemon.client();
    until_async("the home to be registered", || async {
        !list_all(client).await.is_empty()
    })
    .await;
    let rows = list_all(client).await;
    let [home] = &rows[..] else { panic!("{rows:?}") };
    assert_eq!(
        (home.is_default, &home.root_dir),
        (true, &utf8(&environment.user))
    );
    daemon.stop();
    let daemon = Daemon::start(&environment).await;
    assert_eq!(list_all(daemon.client()).await, rows);
    let request = RemoveWorkspaceRequest {
        r#ref: Some(by_id(&home.id)),
        ..Default::default()
    };
    daemon.client().remove_workspace(request).await.unwrap();
    daemon.stop();
    for _ in 0..2 {
        let daemon = Daemon::start(&environment).await;
        assert!(list_all(daemon.client()).await.is_empty());
        daemon.stop();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn w243_the_home_directory_is_left_alone_when_the_configuration_says_so() {
    let environment = Environment::new();
    let daemon = Daemon::start(&environment).await;
    assert!(list_all(daemon.client()).await.is_empty());
    assert!(!environment.user.join(".compozy").exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn on_postgres_the_home_directory_is_not_registered_by_itself() {
    let Some(database) = Database::fresh("on_postgres_the_home_directory_is_not_registered_by_itself") else {
        return;
    };
    let environment = Environment::bare(Engine::Postgres(database));
    let daemon = Daemon::start(&environment).await;
    assert!(list_all(daemon.client()).await.is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn w244_a_home_directory_that_can_not_be_registered_does_not_stop_the_start() {
    let environment = Environment::bare(Engine::Sqlite);
    // A directory in the place of the file: no identity can be made or read there.
    fs::create_dir_all(environment.user.join(".compozy/workspace.toml")).unwrap();
    let daemon = Daemon::start(&environment).await;
    let is_told = |line: &str| line.contains("\"WARN\"") && line.contains("workspace.toml");
    until("the log to say so", || {
        let log = fs::read_to_string(environment.home.join("logs/compozy.log")).unwrap();
        log.lines().any(is_told)
    });
    assert!(list_all(daemon.client()).await.is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn w298_two_starts_on_the_same_data_show_one_order() {
    let environment = Environment::new();
    let daemon = Daemon::start(&environment).await;
    let mut ids = Vec::new();
    for name in ["a", "b", "c", "d", "e"] {
        let answer = register(daemon.client(), environment.make(name)).await.unwrap();
        ids.push(answer.workspace.unwrap().id);
    }
    for (moved, before) in [(0, Some(3)), (4, None), (2, Some(1)), (1, Some(4))] {
        let request = MoveWorkspaceRequest {
            r#ref: Some(by_id(&ids[moved])),
            before: before.map(|anchor: usize| by_id(&ids[anchor])),
            ..Default::default()
        };
        daemon.client().move_workspace(request).await.unwrap();
    }
    let order = list_all(daemon.client()).await;
    // Registered to the front: e d c b a; then as the moves say.
    let expected = ["a", "d", "c", "b", "e"];
    assert_eq!(
        order.iter().map(|row| row.name().to_owned()).collect::<Vec<_>>(),
        expected
    );
    daemon.stop();
    for _ in 0..2 {
        let daemon = Daemon::start(&environment).await;
        assert_eq!(list_all(daemon.client()).await, order);
        daemon.stop();
    }
}

//! The workspace that the first start makes of the user's home directory: it owns its root and nothing below.

use std::fs;

use compozy_e2e::{Daemon, Engine, Environment, Run, list_all, until_async, utf8};

#[tokio::test(flavor = "multi_thread")]
async fn c031_the_home_workspace_owns_the_home_and_no_project_below() {
    let environment = Environment::bare(Engine::Sqlite);
    let daemon = Daemon::start(&environment).await;
    until_async("the home to be registered", || async {
        !list_all(daemon.client()).await.is_empty()
    })
    .await;
    let project = environment.user.join("proj");
    fs::create_dir(&project).unwrap();
    for command in [
        &["workspace", "info"] as &[&str],
        &["resolve"],
        &["agent", "list"],
    ] {
        let nothing = Run::compozy(&environment, command).within(&project).done();
        let error = nothing.error(66);
        let message = error["message"].as_str().unwrap();
        assert!(message.contains(&utf8(&project)), "{command:?}: {error}");
        let found = Run::compozy(&environment, command)
            .within(&environment.user)
            .done();
        assert_eq!(found.json()["resolution_source"], "cwd", "{command:?}");
    }
    let info = Run::compozy(&environment, &["workspace", "info"])
        .within(&environment.user)
        .done()
        .json();
    assert_eq!(info["workspace"]["root_dir"], utf8(&environment.user));
    assert_eq!(list_all(daemon.client()).await.len(), 1, "nothing was registered");
}

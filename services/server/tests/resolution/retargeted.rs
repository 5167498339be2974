//! Roots that lead elsewhere by now (cases of workspaces, section 8).

use std::fs;
use std::sync::Arc;
use std::time::{Duration, Instant};

use compozy_domain::ChangeReason;
use compozy_proto::workspace::v1 as pb;
use compozy_proto::workspace::v1::workspace_ref::Form;
use compozy_server::tasks::Tasks;

use crate::place::{agent, only};
use crate::requests::{get, list, resolve};
use crate::world::World;

cases! {
    w180_a_retargeted_root_is_read_and_the_observer_woken,
    w181_only_looking_at_the_record_changes_nothing,
    w182_a_root_that_leads_to_anothers_stays,
}

const PATIENCE: Duration = Duration::from_secs(20);

/// `/v/a` is registered, then `/v` moves to `/private/v` and a link takes its place.
async fn moved_behind_a_link(world: &World) -> pb::Workspace {
    let row = world.reg_new("v/a").await;
    agent(&format!("{}/.compozy", row.root_dir), "one", "You are the one.\n");
    fs::create_dir(world.path("private")).unwrap();
    fs::rename(world.path("v"), world.path("private/v")).unwrap();
    world.link(&world.path("private/v"), "v");
    row
}

async fn w180_a_retargeted_root_is_read_and_the_observer_woken(world: World) {
    let row = world.reg_new("other").await;
    let tasks = Tasks::new();
    let observer = tasks.spawn(Arc::clone(&world.daemon.registry).run_observer(tasks.stopping()));
    // Its first round is over before anything moves, so that only a wake makes it look again.
    until(async || !not_observed(&world).await).await;
    let row_before = {
        let row = moved_behind_a_link(&world).await;
        assert_eq!(row.root_dir, world.path("v/a"));
        row
    };
    let changes = world.changes().await.len();
    let snapshot = world.resolved(&row_before.id).await;
    assert_eq!(snapshot.root, world.path("private/v/a"));
    assert_eq!(snapshot.agent_names, ["one"]);
    let told = only(&snapshot.diagnostics, "root_retargeted");
    assert!(
        !told.remedy.is_empty() && told.severity() != pb::Severity::Error,
        "{told:?}"
    );
    until(async || world.record(&row_before.id).await.root_dir == world.path("private/v/a")).await;
    let after = world.record(&row_before.id).await;
    assert_eq!((&after.id, &after.name), (&row_before.id, &row_before.name));
    let new = world.changes().await.split_off(changes);
    assert_eq!(new.len(), 1, "{new:?}");
    assert_eq!(new[0].change.reason, ChangeReason::Relinked);
    let settled = world.resolved(&row_before.id).await;
    assert!(
        settled
            .diagnostics
            .iter()
            .all(|told| told.code != "root_retargeted")
    );
    assert_eq!(world.record(&row.id).await, row);
    assert!(tasks.join(PATIENCE).await);
    observer.await.unwrap();
}

async fn w181_only_looking_at_the_record_changes_nothing(world: World) {
    let row = moved_behind_a_link(&world).await;
    world
        .unchanged_by(async {
            let found = world.daemon.api.get(get(Form::Id(row.id.clone()))).await.unwrap();
            assert_eq!(found.workspace.unwrap().root_dir, world.path("v/a"));
            let listed = world.daemon.api.list(list()).await.unwrap();
            assert_eq!(listed.workspaces[0].root_dir, world.path("v/a"));
        })
        .await;
    // Nor does the resolve itself.
    world
        .unchanged_by(world.daemon.api.resolve(resolve(&row.id)))
        .await
        .unwrap();
}

async fn w182_a_root_that_leads_to_anothers_stays(world: World) {
    let (first, second) = (world.reg_new("a").await, world.reg_new("b").await);
    fs::remove_dir_all(&first.root_dir).unwrap();
    world.link(&second.root_dir, "a");
    let snapshot = world.unchanged_by(world.resolved(&first.id)).await;
    only(&snapshot.diagnostics, "root_retargeted");
    assert_eq!(snapshot.root, second.root_dir);
    world.clock.advance(Duration::from_secs(60));
    assert!(world.daemon.registry.observe_round(Duration::ZERO).await.unwrap());
    assert_eq!(world.record(&first.id).await.root_dir, first.root_dir);
    only(&world.resolved(&first.id).await.diagnostics, "root_retargeted");
}

async fn not_observed(world: &World) -> bool {
    let request = pb::ListWorkspacesRequest {
        not_observed: true,
        ..list()
    };
    world.daemon.api.list(request).await.unwrap().page.unwrap().total > 0
}

async fn until(mut holds: impl AsyncFnMut() -> bool) {
    let deadline = Instant::now() + PATIENCE;
    while !holds().await {
        assert!(Instant::now() < deadline, "it never came true");
        tokio::task::yield_now().await;
    }
}

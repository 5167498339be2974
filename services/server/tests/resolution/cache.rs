//! Kept snapshots as callers see them (cases section 11).

use std::fs;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use compozy_proto::workspace::v1 as pb;
use compozy_resolver::files::faulty::Operation;
use futures::future::join_all;

use crate::place::{agent, config, skill, text, write};
use crate::requests::{relink, remove, resolve, titled, update};
use crate::world::World;

cases! {
    r199_an_edit_of_the_users_file_is_seen_everywhere,
    r200_r201_what_comes_and_goes_is_seen,
    r208_a_change_of_the_record_is_in_the_next_answer,
    r210_everything_anew_is_the_same,
    r211_many_at_once_are_one_piece_of_work,
    r212_an_answer_is_the_callers_own,
    r213_an_answer_holds_wholly_what_is_there_now,
    r214_files_that_never_rest_are_a_typed_error,
    r215_a_mended_config_resolves,
    r217_a_new_row_has_a_new_snapshot,
    r218_a_relinked_workspace_is_read_at_its_new_root,
}

file_cases! {
    r198_an_unchanged_snapshot_is_kept,
    a_root_that_hangs_holds_up_nobody_else,
    r216_more_workspaces_than_are_kept,
}

const READS: [Operation; 2] = [Operation::ReadFile, Operation::Names];

fn reads(world: &World) -> u64 {
    READS.iter().map(|operation| world.files.calls(*operation)).sum()
}

async fn r198_an_unchanged_snapshot_is_kept(world: World) {
    let root = world.mkdir("a");
    skill(&format!("{root}/.compozy"), "x", "Do it.\n");
    let row = world.reg(&root).await;
    world.files.age(Duration::from_secs(1));
    let first = world.resolved(&row.id).await;
    let before = reads(&world);
    world.clock.advance(Duration::from_secs(60));
    let second = world.resolved(&row.id).await;
    assert_eq!(second, first);
    assert_eq!(reads(&world), before, "nothing is read again");
    let metrics = world.daemon.registry.resolution().metrics();
    assert_eq!(
        (metrics.hits.get(), metrics.misses.get(), metrics.entries.get()),
        (1, 1, 1)
    );
}

async fn r199_an_edit_of_the_users_file_is_seen_everywhere(world: World) {
    let (a, b) = (world.reg_new("a").await, world.reg_new("b").await);
    for provider in ["one", "two", "six"] {
        write(
            format!("{}/config.toml", world.home),
            format!("[defaults]\nprovider = \"{provider}\"\n"),
        );
        for row in [&a, &b] {
            assert_eq!(
                text(&world.resolved(&row.id).await, "defaults.provider"),
                provider
            );
        }
    }
}

async fn r200_r201_what_comes_and_goes_is_seen(world: World) {
    let root = world.reg_new("a").await.root_dir;
    let row = world.reg(&root).await;
    let base = format!("{root}/.compozy");
    assert_eq!(world.resolved(&row.id).await.skill_count, 0);
    skill(&base, "first", "Do it.\n");
    assert_eq!(world.resolved(&row.id).await.skill_names, ["first"]);
    write(
        format!("{base}/mcp.json"),
        r#"{"mcpServers": {"s": {"command": "c"}}}"#,
    );
    assert_eq!(world.resolved(&row.id).await.mcp_server_names, ["s"]);
    let path = agent(&base, "one", "You are the one.\n");
    assert_eq!(world.resolved(&row.id).await.agent_names, ["one"]);
    write(
        format!("{base}/agents/one/mcp.json"),
        r#"{"mcpServers": {"t": {"command": "c"}}}"#,
    );
    assert_eq!(world.resolved(&row.id).await.agents[0].mcp_servers[0].name, "t");
    fs::rename(format!("{base}/agents/one"), format!("{base}/agents/two")).unwrap();
    let renamed = world.resolved(&row.id).await;
    assert_eq!(renamed.agents[0].path, format!("{base}/agents/two/AGENT.md"));
    fs::remove_file(path.replace("/one/", "/two/")).unwrap();
    assert_eq!(world.resolved(&row.id).await.agent_count, 0);
}

async fn r208_a_change_of_the_record_is_in_the_next_answer(world: World) {
    let row = world.reg_new("a").await;
    let more = world.mkdir("more");
    agent(&format!("{more}/.compozy"), "extra", "You are extra.\n");
    assert_eq!(world.resolved(&row.id).await.agent_count, 0);
    world
        .daemon
        .api
        .update(update(&row.id, &["title"], titled("T")))
        .await
        .unwrap();
    let titled = world.resolved(&row.id).await.workspace.unwrap();
    assert_eq!(titled.title.as_deref(), Some("T"));
    let changed = pb::Workspace {
        default_agent: Some("extra".to_owned()),
        additional_dirs: vec![more],
        ..Default::default()
    };
    let mask = ["default_agent", "additional_dirs"];
    world
        .daemon
        .api
        .update(update(&row.id, &mask, changed))
        .await
        .unwrap();
    let after = world.resolved(&row.id).await;
    assert_eq!(text(&after, "defaults.agent"), "extra");
    assert_eq!(after.agents[0].layer(), pb::Layer::Additional);
}

async fn r210_everything_anew_is_the_same(world: World) {
    let root = world.mkdir("a");
    skill(&format!("{root}/.compozy"), "x", "Do it.\n");
    let row = world.reg(&root).await;
    let first = world.resolved(&row.id).await;
    world.clock.advance(Duration::from_secs(1));
    let anew = pb::ResolveWorkspaceRequest {
        bypass_cache: true,
        ..resolve(&row.id)
    };
    let second = world.snapshot_of(anew).await.unwrap();
    assert_ne!(second.resolved_at, first.resolved_at);
    let same_time = pb::Snapshot {
        resolved_at: first.resolved_at,
        ..second.clone()
    };
    assert_eq!(same_time, first);
    assert_eq!(
        world.resolved(&row.id).await,
        second,
        "it is the one that is kept now"
    );
}

async fn r211_many_at_once_are_one_piece_of_work(world: World) {
    let root = world.mkdir("a");
    for number in 0..20 {
        skill(&format!("{root}/.compozy"), &format!("s{number:02}"), "Do it.\n");
    }
    let row = world.reg(&root).await;
    world.files.age(Duration::from_secs(1));
    let before = reads(&world);
    let anew = pb::ResolveWorkspaceRequest {
        bypass_cache: true,
        ..resolve(&row.id)
    };
    world.snapshot_of(anew).await.unwrap();
    let alone = reads(&world) - before;
    // Another daemon on the same catalog has nothing yet.
    let other = world.start(|_| {}).await;
    let before = reads(&world);
    let calls = (0..64).map(|_| other.api.resolve(resolve(&row.id)));
    let answers: Vec<_> = join_all(calls).await.into_iter().map(Result::unwrap).collect();
    assert!(answers.iter().all(|answer| *answer == answers[0]));
    assert_eq!(reads(&world) - before, alone);
}

async fn r212_an_answer_is_the_callers_own(world: World) {
    let row = world.reg_new("a").await;
    let mut first = world.resolved(&row.id).await;
    let kept = first.clone();
    first.config.as_mut().unwrap().fields.clear();
    first.diagnostics.push(pb::Diagnostic::default());
    assert_eq!(world.resolved(&row.id).await, kept);
}

async fn r213_an_answer_holds_wholly_what_is_there_now(world: World) {
    let root = world.mkdir("a");
    let (first, second) = (
        format!("{root}/.compozy/config.toml"),
        format!("{root}/.compozy/mcp.json"),
    );
    write(&first, "[defaults]\nprovider = \"old\"\n");
    let row = world.reg(&root).await;
    let changed = first.clone();
    let appears = second.clone();
    // The one was read already when both change.
    world.files.before_on(Operation::ReadFile, &second, move || {
        write(&changed, "[defaults]\nprovider = \"new\"\n");
        write(&appears, r#"{"mcpServers": {"new": {"command": "c"}}}"#);
    });
    let snapshot = world.resolved(&row.id).await;
    assert_eq!(text(&snapshot, "defaults.provider"), "new");
    assert_eq!(snapshot.mcp_server_names, ["new"]);
}

async fn r214_files_that_never_rest_are_a_typed_error(world: World) {
    let row = world.reg_new("a").await;
    let path = config(&row.root_dir, "");
    let attempts = std::sync::Arc::new(AtomicU32::new(0));
    let counted = std::sync::Arc::clone(&attempts);
    let rewritten = path.clone();
    // Also after the file itself was read.
    world.files.before_each(Operation::ReadFile, move || {
        let number = counted.fetch_add(1, Ordering::Relaxed);
        fs::write(&rewritten, "#".repeat(number as usize + 1)).unwrap();
    });
    let failure = world.daemon.api.resolve(resolve(&row.id)).await.unwrap_err();
    assert_eq!(failure.reason, "CONFIG_INVALID");
    assert!(failure.message.contains("changed"), "{failure:?}");
    assert!(
        attempts.load(Ordering::Relaxed) >= 4,
        "the first attempt and three more"
    );
    world.files.before_each(Operation::ReadFile, || {});
    world.resolved(&row.id).await;
    assert_eq!(
        fs::read(&path).unwrap().len(),
        attempts.load(Ordering::Relaxed) as usize
    );
}

/// A disk that does not answer keeps those that wait for it, until their deadlines, and nobody else.
async fn a_root_that_hangs_holds_up_nobody_else(world: World) {
    let (a, b) = (world.reg_new("a").await, world.reg_new("b").await);
    let held = world.files.hold(&a.root_dir);
    let hurried = world.daemon.api.within(100);
    let stuck = join_all((0..32).map(|_| hurried.resolve(resolve(&a.id)))).await;
    assert!(stuck.iter().all(|one| {
        one.as_ref()
            .is_err_and(|failure| failure.reason == "DEADLINE_EXCEEDED")
    }));
    let registering = hurried.register(crate::requests::register(format!("{}/b", world.t)));
    registering.await.unwrap();
    world.resolved(&b.id).await;
    drop(held);
    assert_eq!(world.resolved(&a.id).await.workspace, Some(a));
}

async fn r215_a_mended_config_resolves(world: World) {
    let row = world.reg_new("a").await;
    world.resolved(&row.id).await;
    config(&row.root_dir, "[defaults\n");
    let failure = world.daemon.api.resolve(resolve(&row.id)).await.unwrap_err();
    assert_eq!(failure.reason, "CONFIG_INVALID");
    config(&row.root_dir, "[defaults]\nprovider = \"p\"\n");
    assert_eq!(text(&world.resolved(&row.id).await, "defaults.provider"), "p");
}

async fn r216_more_workspaces_than_are_kept(world: World) {
    let mut rows = Vec::new();
    for number in 0..300 {
        let root = world.mkdir(&format!("w{number}"));
        config(&root, &format!("[defaults]\nprovider = \"p{number}\"\n"));
        rows.push(world.reg(root).await);
    }
    for _ in 0..2 {
        for (number, row) in rows.iter().enumerate() {
            let snapshot = world.resolved(&row.id).await;
            assert_eq!(text(&snapshot, "defaults.provider"), format!("p{number}"));
            assert_eq!(snapshot.workspace.as_ref(), Some(row));
        }
    }
    assert!(world.daemon.registry.resolution().metrics().entries.get() <= 256);
}

async fn r217_a_new_row_has_a_new_snapshot(world: World) {
    let first = world.reg_new("a").await;
    let before = world.resolved(&first.id).await;
    world.daemon.api.remove(remove(&first.id)).await.unwrap();
    let gone = world.daemon.api.resolve(resolve(&first.id)).await.unwrap_err();
    assert_eq!(gone.reason, "WORKSPACE_NOT_FOUND");
    let second = world.reg(&first.root_dir).await;
    let after = world.resolved(&second.id).await;
    assert_eq!(after.workspace.as_ref(), Some(&second));
    assert_ne!((&first.id, &before.fingerprint), (&second.id, &after.fingerprint));
}

async fn r218_a_relinked_workspace_is_read_at_its_new_root(world: World) {
    let root = world.mkdir("a");
    agent(&format!("{root}/.compozy"), "old", "You are old.\n");
    let row = world.reg(&root).await;
    assert_eq!(world.resolved(&row.id).await.agent_names, ["old"]);
    let moved = world.path("b");
    crate::tree::copy(&root, &moved);
    fs::remove_dir_all(format!("{moved}/.compozy/agents")).unwrap();
    agent(&format!("{moved}/.compozy"), "new", "You are new.\n");
    world.daemon.api.relink(relink(&row.id, &moved)).await.unwrap();
    let after = world.resolved(&row.id).await;
    assert_eq!((after.root, after.agent_names), (moved, vec!["new".to_owned()]));
}

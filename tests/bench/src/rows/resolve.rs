//! What a session would see: warm, when nothing has changed; cold, when every file is read; and what a snapshot that is
//! kept costs.

use compozy_e2e::utf8;

use super::Plan;
use crate::child::measure_files;
use crate::cpu::resident_bytes;
use crate::files;
use crate::load;
use crate::measured::Row;
use crate::server::{Engines, Server};

/// Skills of a workspace.
const SKILLS: [usize; 3] = [10, 1_000, 2_000];
/// Snapshots that are kept at once, and the skills of each.
const KEPT: usize = 100;
const KEPT_SKILLS: usize = 100;

pub(super) async fn measure(plan: &Plan, engines: &Engines, engine: &'static str) -> Vec<Row> {
    let mut rows = Vec::new();
    for skills in SKILLS {
        rows.extend(of_workspace(plan, engines, engine, skills).await);
    }
    rows.push(kept(plan, engines, engine).await);
    rows
}

async fn of_workspace(plan: &Plan, engines: &Engines, engine: &'static str, skills: usize) -> Vec<Row> {
    let mut server = Server::with_rows(engines, engine, 0).await;
    server.start().await;
    let root = server.environment.make("project");
    files::make(&root, skills);
    let wire = server.connect().await;
    let id = wire.register(&root).await.workspace.unwrap().id;
    let first = wire.resolve(&id, None, false).await.snapshot.unwrap();
    assert_eq!(usize::try_from(first.skill_count).unwrap(), skills);
    let warm = || async {
        assert!(
            wire.resolve(&id, Some(&first.fingerprint), false)
                .await
                .not_modified
        );
    };
    let warm = load::for_a_while(server.pid(), plan.span(), vec![warm]).await;
    let cold = || async {
        assert!(wire.resolve(&id, None, true).await.snapshot.is_some());
    };
    let cold = load::for_a_while(server.pid(), plan.span(), vec![cold]).await;
    server.stop();
    let (stat, read) = (
        measure_files("stat", &utf8(&root), plan.span()),
        measure_files("read", &utf8(&root), plan.span()),
    );
    let warm = Row::of_load(format!("warm resolve, {skills} skills"), engine, warm)
        .against_cpu("bare stat of the same paths", stat.cpu_per_call);
    let cold = Row::of_load(format!("cold resolve, {skills} skills"), engine, cold)
        .against_cpu("bare read of the same files", read.cpu_per_call);
    // The goals are those of a thousand: with ten, the call itself is what is measured.
    if skills < 1_000 {
        vec![warm, cold]
    } else {
        vec![warm.at_most(1.5), cold.at_most(3.0)]
    }
}

async fn kept(plan: &Plan, engines: &Engines, engine: &'static str) -> Row {
    let mut server = Server::with_rows(engines, engine, 0).await;
    server.start().await;
    let wire = server.connect().await;
    let count = plan.count(KEPT);
    let mut ids = Vec::new();
    for number in 0..=count {
        let root = server.environment.make(&format!("project-{number}"));
        files::make(&root, KEPT_SKILLS);
        ids.push(wire.register(&root).await.workspace.unwrap().id);
    }
    server.stop();
    server.start().await;
    let wire = server.connect().await;
    let (first, rest) = ids.split_first().unwrap();
    // What the first one takes stays, however many follow.
    for _ in 0..10 {
        wire.resolve(first, None, true).await;
    }
    let before = resident_bytes(server.pid());
    for id in rest {
        wire.resolve(id, None, false).await;
    }
    let grown = resident_bytes(server.pid()).saturating_sub(before);
    let each = grown as f64 / 1024.0 / count as f64;
    Row::of_figure(
        format!("memory of each of {count} kept snapshots of {KEPT_SKILLS} skills"),
        engine,
        each,
        "KiB",
    )
}

//! Streams that begin with a snapshot.

use super::{World, row_of_workspace};
use crate::history::{Event, Origin};
use crate::violation::Rule;

fn row(workspace: &str, version: i64) -> Event {
    Event::SnapshotRow(row_of_workspace(workspace, version))
}

#[test]
fn a_snapshot_and_what_follows_it_are_the_list() {
    let mut world = World::new();
    world
        .open(Origin::Snapshot, 3)
        .got(4, row("a", 2))
        .got(4, row("b", 1))
        .synced(4);
    world.changes(8, &[4, 5, 6]);
    world.is_sound();
}

#[test]
fn a_snapshot_without_a_row_is_found() {
    let mut world = World::new();
    world
        .open(Origin::Snapshot, 3)
        .got(4, row("a", 2))
        .synced(4)
        .changes(8, &[4, 5, 6]);
    world.breaks(&[Rule::Snapshot]);
}

#[test]
fn a_snapshot_with_an_old_row_is_found() {
    let mut world = World::new();
    world
        .open(Origin::Snapshot, 5)
        .got(6, row("a", 2))
        .got(6, row("b", 1))
        .synced(6);
    world.changes(8, &[5, 6]);
    world.breaks(&[Rule::Model, Rule::Snapshot]);
}

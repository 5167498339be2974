//! One stream against the log.

use std::collections::BTreeSet;

use compozy_proto::change::v1::ChangeKind;

use super::{World, entry, only, row_of_workspace};
use crate::history::{Action, Event, Origin};
use crate::violation::Rule;

#[test]
fn everything_from_the_beginning_is_sound() {
    let mut world = World::new();
    world
        .open(Origin::Earliest, 10)
        .changes(11, &[1, 2, 3, 4, 5, 6])
        .synced(12);
    world.is_sound();
}

#[test]
fn a_change_that_was_left_out_is_found() {
    for skipped in 1..=6 {
        let mut world = World::new();
        let rest: Vec<i64> = (1..=6).filter(|position| *position != skipped).collect();
        world.open(Origin::Earliest, 10).changes(11, &rest).synced(12);
        world.stream().exact = true;
        assert!(world.rules().contains(&Rule::Lost), "{skipped}");
    }
}

/// N095, N106: the last change of each thing comes, at its place.
#[test]
fn what_a_later_change_stands_for_may_be_left_out() {
    let mut world = World::new();
    world
        .open(Origin::Earliest, 10)
        .changes(11, &[4, 5, 6])
        .synced(12);
    world.is_sound();
    let mut world = World::new();
    world.open(Origin::Earliest, 10).changes(11, &[4, 6]).synced(12);
    world.breaks(&[Rule::Lost]);
}

/// Nobody leaves a change out for the sake of one that is not there yet.
#[test]
fn what_nothing_stands_for_yet_must_not_be_left_out() {
    let mut world = World::new();
    world.write(Action::Retitle, "a", 4);
    world.list(&[("a", 4), ("b", 2)]);
    world.open(Origin::Earliest, 0);
    world.changes(5, &[1, 2, 3, 5]).changes(8, &[6, 7]).synced(9);
    world.breaks(&[Rule::Lost]);
}

#[test]
fn a_change_that_comes_twice_is_found() {
    let mut world = World::new();
    world
        .open(Origin::Earliest, 10)
        .changes(11, &[1, 2, 3, 4, 4, 5, 6])
        .synced(12);
    world.breaks(&[Rule::Once]);
}

#[test]
fn two_changes_in_the_wrong_order_are_found() {
    let mut world = World::new();
    world
        .open(Origin::Earliest, 10)
        .changes(11, &[1, 3, 2, 4, 5, 6])
        .synced(12);
    world.breaks(&[Rule::Order]);
}

#[test]
fn a_change_that_is_in_no_log_is_found() {
    let mut world = World::new();
    let stranger = entry(Action::Retitle, "b", 3, 99);
    world
        .open(Origin::Earliest, 10)
        .changes(11, &[1, 2, 3, 4, 5, 6])
        .synced(12);
    world.got(
        13,
        Event::Change {
            entry: stranger,
            row: None,
        },
    );
    world.breaks(&[Rule::ChangeIsLogged, Rule::Model]);
}

#[test]
fn a_filter_hides_what_it_does_not_take_and_nothing_else() {
    let mut world = World::new();
    world
        .open(Origin::Earliest, 10)
        .changes(11, &[2, 5, 6])
        .synced(12);
    world.stream().filter = only("b");
    world.is_sound();
    let mut world = World::new();
    world
        .open(Origin::Earliest, 10)
        .changes(11, &[2, 3, 5, 6])
        .synced(12);
    world.stream().filter = only("b");
    world.breaks(&[Rule::Filter, Rule::Model]);
    let mut world = World::new();
    world.open(Origin::Earliest, 10).changes(11, &[5]).synced(12);
    world.stream().filter.kinds = BTreeSet::from([ChangeKind::WorkspaceOrder]);
    world.is_sound();
}

/// N025, N026.
#[test]
fn a_watch_from_now_on_gets_what_was_begun_after_synced() {
    let mut world = World::new();
    world.open(Origin::Now, 2).synced(3).changes(8, &[4, 5, 6]);
    // The write of 3 was under way while the watch began.
    world.is_sound();
    let mut world = World::new();
    world.open(Origin::Now, 2).synced(3).changes(8, &[3, 4, 5, 6]);
    world.is_sound();
    let mut world = World::new();
    world.open(Origin::Now, 2).synced(3).changes(8, &[5, 6]);
    world.breaks(&[Rule::Lost]);
    let mut world = World::new();
    world.open(Origin::Now, 3).synced(4).changes(8, &[2, 5, 6]);
    world.breaks(&[Rule::Lost, Rule::Once]);
}

/// N036.
#[test]
fn missed_changes_come_before_synced() {
    let mut world = World::new();
    world
        .open(Origin::Earliest, 10)
        .changes(11, &[1, 2, 3, 4, 5])
        .synced(12)
        .changes(13, &[6]);
    world.breaks(&[Rule::Lost]);
    let mut world = World::new();
    world
        .open(Origin::Now, 0)
        .changes(8, &[1, 2, 3, 4, 5, 6])
        .synced(9);
    world.breaks(&[Rule::Synced]);
}

#[test]
fn rows_are_never_older_than_their_change() {
    let mut world = World::new();
    world.open(Origin::Earliest, 10);
    for (position, row) in [(1, 3), (2, 1), (3, 3), (4, 3), (5, 2), (6, 2)] {
        let entry = world.entry(position);
        let row = Some(row_of_workspace(&entry.workspace, row));
        world.got(11, Event::Change { entry, row });
    }
    world.synced(12);
    world.stream().include_rows = true;
    world.is_sound();
    let Event::Change { row, .. } = &mut world.stream().received[3].event else {
        panic!("the fourth is a change");
    };
    *row = Some(row_of_workspace("a", 2));
    world.breaks(&[Rule::Row]);
    let Event::Change { row, .. } = &mut world.stream().received[3].event else {
        panic!("the fourth is a change");
    };
    *row = None;
    world.breaks(&[Rule::Row]);
}

//! Profiles, and which one is selected, as streams tell of them.

use std::collections::BTreeSet;

use compozy_proto::change::v1::ChangeKind;

use super::{World, after, entry, only, profile, row_of_workspace, selection};
use crate::catalog::{Catalog, Row, State};
use crate::entry::Record;
use crate::history::{Action, Event, Listed, Origin};
use crate::violation::Rule;

impl World {
    fn shows(&mut self, millis: u64, row: Row) -> &mut Self {
        self.got(millis, Event::SnapshotRow(row))
    }

    fn got_with(&mut self, millis: u64, position: i64, row: Option<Row>) {
        let entry = self.entry(position);
        self.got(millis, Event::Change { entry, row });
        self.stream().include_rows = true;
    }
}

#[test]
fn a_filter_by_kind_or_workspace_holds_for_profiles_and_selections() {
    for (kind, positions) in [
        (ChangeKind::Profile, [3, 4, 8]),
        (ChangeKind::Selection, [5, 6, 7]),
    ] {
        let mut world = World::with_profiles();
        world
            .open(Origin::Earliest, 10)
            .changes(11, &positions)
            .synced(12);
        world.stream().filter.kinds = BTreeSet::from([kind]);
        world.stream().exact = true;
        world.is_sound();
        world.stream().received.remove(0);
        world.stream().exact = true;
        assert!(world.rules().contains(&Rule::Lost), "{kind:?}");
    }
    let mut world = World::with_profiles();
    world.open(Origin::Earliest, 10).changes(11, &[1, 5]).synced(12);
    world.stream().filter = only("a");
    world.is_sound();
    let mut world = World::with_profiles();
    world
        .open(Origin::Earliest, 10)
        .changes(11, &[1, 3, 5, 6])
        .synced(12);
    world.stream().filter = only("a");
    world.breaks(&[Rule::Filter, Rule::Model]);
}

/// Another selection of the workspace stands for one before it; that of another workspace does not.
#[test]
fn of_several_selections_of_one_workspace_the_last_comes() {
    let mut world = World::with_profiles();
    world.write(Action::Select, "a q", 2);
    world.lists_selected(2, &[("a", "q"), ("", "p"), ("b", "q")]);
    world
        .open(Origin::Earliest, 10)
        .changes(11, &[1, 2, 3, 4, 6, 7, 8, 9])
        .synced(12);
    world.is_sound();
    let mut world = World::with_profiles();
    world
        .open(Origin::Earliest, 10)
        .changes(11, &[1, 2, 3, 4, 6, 7, 8])
        .synced(12);
    world.breaks(&[Rule::Lost, Rule::Model]);
}

/// No other change says that the selections of a deleted profile are forgotten.
#[test]
fn the_deletion_of_a_profile_stands_for_its_selections() {
    let mut world = World::with_profiles();
    world.delete_p();
    world
        .open(Origin::Snapshot, 8)
        .shows(8, row_of_workspace("a", 1))
        .shows(8, row_of_workspace("b", 1))
        .shows(8, selection("a", "p"))
        .shows(8, selection("b", "q"))
        .shows(8, profile("p", 2))
        .shows(8, profile("q", 1))
        .shows(8, selection("", "p"))
        .synced(8)
        .changes(9, &[9]);
    world.is_sound();
    world.stream().received.pop();
    world.breaks(&[Rule::Lost, Rule::Model]);
}

#[test]
fn a_snapshot_shows_the_profiles_and_selections_that_there_are() {
    let all = [
        row_of_workspace("a", 1),
        row_of_workspace("b", 1),
        selection("a", "p"),
        selection("b", "q"),
        profile("p", 2),
        profile("q", 1),
        selection("", "p"),
    ];
    let world_with = |rows: &[Row]| {
        let mut world = World::with_profiles();
        world.open(Origin::Snapshot, 10);
        for row in rows {
            world.shows(11, row.clone());
        }
        world.synced(12);
        world
    };
    world_with(&all).is_sound();
    for left_out in 0..all.len() {
        let mut rows = all.to_vec();
        rows.remove(left_out);
        world_with(&rows).breaks(&[Rule::Model, Rule::Snapshot]);
    }
    for wrong in [selection("b", "p"), profile("p", 1)] {
        let rows = all.clone().map(|row| {
            if row.record == wrong.record {
                wrong.clone()
            } else {
                row
            }
        });
        world_with(&rows).breaks(&[Rule::Model, Rule::Snapshot]);
    }
    let mut world = world_with(&[selection("a", "p"), selection("b", "q"), selection("", "p")]);
    world.stream().filter.kinds = BTreeSet::from([ChangeKind::Selection]);
    world.is_sound();
    let mut world = world_with(&[row_of_workspace("a", 1), selection("a", "p")]);
    world.stream().filter = only("a");
    world.is_sound();
    let mut world = world_with(&[row_of_workspace("a", 1), selection("a", "p"), profile("q", 1)]);
    world.stream().filter = only("a");
    world.breaks(&[Rule::Filter, Rule::Model]);
}

#[test]
fn rows_of_profiles_and_selections_are_never_older_than_their_change() {
    let mut world = World::with_profiles();
    world.write(Action::Select, "a q", 2);
    world.lists_selected(2, &[("a", "q"), ("", "p"), ("b", "q")]);
    let with_rows = |world: &mut World, of_p: Row, of_a: Option<Row>| {
        world.history.watchers[0].streams.clear();
        world.open(Origin::Earliest, 10);
        world.got_with(11, 8, Some(of_p));
        world.got_with(11, 9, of_a);
        world.stream().complete = false;
        world.stream().filter.kinds = BTreeSet::from([ChangeKind::Profile, ChangeKind::Selection]);
        world.rules().contains(&Rule::Row)
    };
    assert!(!with_rows(&mut world, profile("p", 2), Some(selection("a", "q"))));
    assert!(with_rows(&mut world, profile("p", 1), Some(selection("a", "q"))));
    assert!(with_rows(&mut world, profile("p", 2), Some(selection("a", "p"))));
    assert!(with_rows(&mut world, profile("p", 2), Some(selection("b", "q"))));
    assert!(with_rows(&mut world, profile("p", 2), None));
}

/// A selection goes without an entry of its own.
#[test]
fn a_row_may_be_absent_when_the_profile_of_the_selection_has_gone() {
    let mut world = World::with_profiles();
    world.open(Origin::Now, 4).synced(4);
    world.got_with(10, 5, None);
    world.got_with(10, 6, Some(selection("", "p")));
    world.got_with(10, 7, Some(selection("b", "q")));
    world.got_with(10, 8, Some(profile("p", 2)));
    world.breaks(&[Rule::Row]);
    world.delete_p();
    let entry = world.entry(9);
    world.got(11, Event::Change { entry, row: None });
    world.is_sound();
}

#[test]
fn a_page_of_profiles_and_what_follows_it_are_the_profiles() {
    let page = |rows: &[Row], world: &World| Origin::Page {
        answered: world.at(6),
        listed: Listed::Profiles,
        rows: Some(Catalog::of(rows.iter().cloned())),
    };
    let mut world = World::with_profiles();
    let origin = page(&[profile("p", 1), profile("q", 1)], &world);
    world.open(origin, 6).synced(6).changes(9, &[7, 8]);
    world.is_sound();
    let mut world = World::with_profiles();
    let origin = page(&[profile("p", 1)], &world);
    world.open(origin, 6).synced(6).changes(9, &[7, 8]);
    world.breaks(&[Rule::Model]);
}

#[test]
fn a_revision_lies_before_the_selection_that_it_was_answered_with() {
    let own = Origin::Answer {
        record: Record::Selection("b".to_owned()),
        state: State::Selected("q".to_owned()),
    };
    let mut world = World::with_profiles();
    world.open(own.clone(), 9).changes(10, &[7, 8]).synced(11);
    world.is_sound();
    let mut world = World::with_profiles();
    world.open(own, 9).changes(10, &[8]).synced(11);
    world.breaks(&[Rule::Lost]);
}

/// What a later change of the profile stands for comes across a resumption.
#[test]
fn a_loss_of_a_profile_across_a_resumption_is_found() {
    let mut world = World::with_profiles();
    world.open(Origin::Earliest, 9).changes(10, &[1, 2, 3]).cut();
    world
        .open(after(0, 2), 11)
        .changes(12, &[4, 5, 6, 7, 8])
        .synced(13);
    world.is_sound();
    world.stream().received.remove(0);
    world.breaks(&[Rule::Lost, Rule::Model]);
}

#[test]
fn a_change_of_a_profile_that_is_in_no_log_is_found() {
    let mut world = World::with_profiles();
    let stranger = entry(Action::UpdateProfile, "p", 3, 99);
    world
        .open(Origin::Earliest, 10)
        .changes(11, &[1, 2, 3, 4, 5, 6, 7, 8])
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

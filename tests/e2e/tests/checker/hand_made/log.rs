//! The log by itself.

use compozy_proto::change::v1::ChangeReason;

use super::{World, entry};
use crate::history::Action;
use crate::violation::Rule;

#[test]
fn a_log_that_holds_what_was_answered_is_sound() {
    World::new().is_sound();
}

#[test]
fn a_missing_position_is_found() {
    let mut world = World::new();
    world.history.log.entries.remove(&5);
    world.breaks(&[Rule::LogDense, Rule::LogHoldsAnswers]);
}

#[test]
fn a_position_that_turns_up_late_is_found() {
    let mut world = World::new();
    world.history.log.unsteady.push(3);
    world.breaks(&[Rule::LogDense]);
}

#[test]
fn an_entry_that_stands_twice_is_found() {
    let mut world = World::new();
    let again = world.entry(6);
    world.history.log.entries.insert(7, again);
    world.breaks(&[Rule::LogHoldsNothingElse, Rule::LogOnce, Rule::LogVersions]);
}

#[test]
fn an_answered_write_without_an_entry_is_found() {
    let mut world = World::new();
    world.history.log.entries.remove(&6);
    world.list(&[("a", 3), ("b", 1)]);
    world.breaks(&[Rule::LogHoldsAnswers]);
}

#[test]
fn an_answered_move_without_an_entry_is_found() {
    let mut world = World::new();
    world.write(Action::Move, "a", 3);
    world.history.log.entries.remove(&7);
    world.breaks(&[Rule::LogHoldsAnswers]);
}

#[test]
fn an_entry_that_nobody_wrote_is_found() {
    let mut world = World::new();
    world.log(Action::Retitle, "a", 4);
    world.list(&[("a", 4), ("b", 2)]);
    world.breaks(&[Rule::LogHoldsNothingElse]);
}

#[test]
fn an_unanswered_write_may_be_there_or_not() {
    let mut world = World::new();
    world.unanswered(Action::Retitle, "a");
    world.is_sound();
    world.log(Action::Retitle, "a", 4);
    world.list(&[("a", 4), ("b", 2)]);
    world.is_sound();
}

#[test]
fn an_unanswered_registration_may_be_there_or_not() {
    let mut world = World::new();
    world.unanswered(Action::Register, "");
    world.is_sound();
    world.log(Action::Register, "c", 1);
    world.list(&[("a", 3), ("b", 2), ("c", 1)]);
    world.is_sound();
}

#[test]
fn what_the_observer_notes_belongs_to_nobody() {
    let mut world = World::new();
    let mut seen = entry(Action::Retitle, "a", 4, 7);
    seen.reason = ChangeReason::Status;
    world.history.log.entries.insert(7, seen);
    world.list(&[("a", 4), ("b", 2)]);
    world.is_sound();
}

#[test]
fn versions_that_leave_one_out_are_found() {
    let mut world = World::new();
    world.write(Action::Retitle, "a", 5);
    world.list(&[("a", 5), ("b", 2)]);
    world.breaks(&[Rule::LogVersions]);
}

#[test]
fn a_change_of_what_was_removed_is_found() {
    let mut world = World::new();
    world.write(Action::Remove, "a", 4);
    world.list(&[("b", 2)]);
    world.is_sound();
    world.write(Action::Move, "a", 4);
    world.breaks(&[Rule::LogVersions]);
}

#[test]
fn an_order_that_time_forbids_is_found() {
    let mut world = World::new();
    let (first, second) = (world.entry(1), world.entry(2));
    world.history.log.entries.insert(1, second);
    world.history.log.entries.insert(2, first);
    world.breaks(&[Rule::LogOrder]);
}

#[test]
fn a_list_that_differs_from_the_log_is_found() {
    let mut world = World::new();
    world.list(&[("a", 3), ("b", 1)]);
    world.breaks(&[Rule::ListIsLog]);
}

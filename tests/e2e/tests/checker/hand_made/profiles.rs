//! Profiles, and which one is selected: the log by itself, and the lists.

use super::{World, profile, selection, workspaces};
use crate::entry::Record;
use crate::history::Action;
use crate::violation::Rule;

impl World {
    /// Two workspaces, at 1 and 2; a profile `p` and one `q`, at 3 and 4; `p` selected for `a` and for everything
    /// else, at 5 and 6; `q` for `b`, at 7; a new name of `p`, at 8.
    pub(super) fn with_profiles() -> Self {
        let mut world = Self::new();
        world.history.writes.clear();
        world.history.log.entries.clear();
        for (action, id, version) in [
            (Action::Register, "a", 1),
            (Action::Register, "b", 1),
            (Action::CreateProfile, "p", 1),
            (Action::CreateProfile, "q", 1),
            (Action::Select, "a p", 1),
            (Action::Select, " p", 1),
            (Action::Select, "b q", 1),
            (Action::RenameProfile, "p", 2),
        ] {
            world.write(action, id, version);
        }
        world.lists_selected(2, &[("a", "p"), ("", "p"), ("b", "q")]);
        world
    }

    /// The server lists `a`, `b`, `p` at a version, `q`, and these selections.
    pub(super) fn lists_selected(&mut self, version: i64, selected: &[(&str, &str)]) {
        let mut catalog = workspaces(&[("a", 1), ("b", 1)]);
        catalog.insert(profile("p", version));
        catalog.insert(profile("q", 1));
        for (workspace, profile) in selected {
            catalog.insert(selection(workspace, profile));
        }
        self.history.lists = vec![catalog];
    }

    /// `p` is deleted, at 9, and with it the selections of it.
    pub(super) fn delete_p(&mut self) {
        self.write(Action::DeleteProfile, "p", 3);
        self.lists_selected(0, &[("b", "q")]);
        self.history.lists[0].retain(|record, _| *record != Record::Profile("p".to_owned()));
    }
}

#[test]
fn a_log_with_profiles_is_sound() {
    let mut world = World::with_profiles();
    world.is_sound();
    world.delete_p();
    world.is_sound();
}

#[test]
fn an_answered_selection_without_an_entry_is_found() {
    let mut world = World::with_profiles();
    world.write(Action::Select, "b p", 2);
    world.lists_selected(2, &[("a", "p"), ("", "p"), ("b", "p")]);
    world.is_sound();
    world.history.log.entries.remove(&9);
    world.lists_selected(2, &[("a", "p"), ("", "p"), ("b", "q")]);
    world.breaks(&[Rule::LogHoldsAnswers]);
}

#[test]
fn a_selection_that_nobody_made_is_found() {
    let mut world = World::with_profiles();
    world.log(Action::Select, "b p", 2);
    world.lists_selected(2, &[("a", "p"), ("", "p"), ("b", "p")]);
    world.breaks(&[Rule::LogHoldsNothingElse]);
}

/// An answer does not say whether it changed anything.
#[test]
fn a_repeated_selection_and_a_forgotten_one_may_write_or_not() {
    let mut world = World::with_profiles();
    world.write(Action::Forget, "a ", 2);
    world.lists_selected(2, &[("", "p"), ("b", "q")]);
    world.is_sound();
    world.write(Action::SelectAgain, "a p", 3);
    world.lists_selected(2, &[("a", "p"), ("", "p"), ("b", "q")]);
    world.is_sound();
    world.write(Action::SelectAgain, "a p", 4);
    world.history.log.entries.remove(&11);
    world.is_sound();
}

#[test]
fn versions_of_profiles_and_selections_that_leave_one_out_are_found() {
    let mut world = World::with_profiles();
    world.write(Action::UpdateProfile, "p", 4);
    world.lists_selected(4, &[("a", "p"), ("", "p"), ("b", "q")]);
    world.breaks(&[Rule::LogVersions]);
    let mut world = World::with_profiles();
    world.write(Action::Select, "b p", 3);
    world.lists_selected(2, &[("a", "p"), ("", "p"), ("b", "p")]);
    world.breaks(&[Rule::LogVersions]);
}

#[test]
fn an_entry_about_what_is_not_there_is_found() {
    let mut world = World::with_profiles();
    world.delete_p();
    world.write(Action::Select, "b p", 2);
    world.history.lists.clear();
    world.breaks(&[Rule::LogTransitions]);
    let mut world = World::with_profiles();
    world.write(Action::Select, "c p", 1);
    world.history.lists.clear();
    world.breaks(&[Rule::LogTransitions]);
    let mut world = World::with_profiles();
    world.write(Action::ArchiveProfile, "p", 3);
    world.write(Action::Select, "b p", 2);
    world.history.lists.clear();
    world.breaks(&[Rule::LogTransitions]);
    let mut world = World::with_profiles();
    world.delete_p();
    world.write(Action::Forget, "a ", 2);
    world.breaks(&[Rule::LogTransitions]);
}

#[test]
fn an_entry_that_changes_nothing_is_found() {
    let mut world = World::with_profiles();
    world.write(Action::SelectAgain, "a p", 2);
    world.breaks(&[Rule::LogTransitions]);
    let mut world = World::with_profiles();
    world.write(Action::UnarchiveProfile, "p", 3);
    world.lists_selected(3, &[("a", "p"), ("", "p"), ("b", "q")]);
    world.breaks(&[Rule::LogTransitions]);
}

/// The permanent profile is in no log, and can be selected.
#[test]
fn the_permanent_profile_is_always_there() {
    let mut world = World::with_profiles();
    world.write(Action::Select, "a default", 2);
    world.lists_selected(2, &[("a", "default"), ("", "p"), ("b", "q")]);
    world.is_sound();
}

/// R107: the selection of an archived profile stays, and counts again when it is back.
#[test]
fn a_selection_of_an_archived_profile_is_remembered_and_not_told() {
    let mut world = World::with_profiles();
    world.write(Action::ArchiveProfile, "p", 3);
    world.lists_selected(3, &[("b", "q")]);
    world.is_sound();
    world.lists_selected(3, &[("a", "p"), ("", "p"), ("b", "q")]);
    world.breaks(&[Rule::ListIsLog]);
    world.write(Action::UnarchiveProfile, "p", 4);
    world.lists_selected(4, &[("a", "p"), ("", "p"), ("b", "q")]);
    world.is_sound();
}

#[test]
fn a_selection_that_outlives_its_profile_or_its_workspace_is_found() {
    let mut world = World::with_profiles();
    world.delete_p();
    world.history.lists[0].insert(selection("a", "p"));
    world.breaks(&[Rule::ListIsLog]);
    let mut world = World::with_profiles();
    world.write(Action::Remove, "a", 2);
    let mut left = world.history.lists.remove(0);
    left.retain(|record, _| *record != Record::Workspace("a".to_owned()));
    world.history.lists.push(left.clone());
    world.breaks(&[Rule::ListIsLog]);
    left.retain(|record, _| *record != Record::Selection("a".to_owned()));
    world.history.lists = vec![left];
    world.is_sound();
}

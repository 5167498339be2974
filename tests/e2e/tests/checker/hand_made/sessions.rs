//! Sessions: where they belong changes how an entry is seen.

use compozy_proto::change::v1::RemovedSessions;

use super::*;

fn session(id: &str, workspace: &str, version: i64) -> Row {
    Row {
        record: Record::Session(id.to_owned()),
        state: State::Session {
            version,
            workspace: workspace.to_owned(),
        },
    }
}

/// `s` is created in `a` (7), attached to `b` (8), `t` is created in `a` (9), `a` is removed and `t` kept (10).
fn removed() -> World {
    let mut world = World::new();
    world.write(Action::CreateSession, "s >a", 1);
    world.write(Action::Attach, "s a>b", 2);
    world.write(Action::CreateSession, "t >a", 1);
    world.write(Action::Remove, "a", 4);
    let removal = world.history.log.entries.get_mut(&10).unwrap();
    removal.removed = RemovedSessions::Kept;
    removal.session_count = 1;
    let mut list = workspaces(&[("b", 2)]);
    list.insert(session("s", "b", 2));
    list.insert(session("t", "", 2));
    world.history.lists = vec![list];
    world
}

/// After that `t` is renamed (11).
fn world() -> World {
    let mut world = removed();
    world.write(Action::RenameSession, "t >", 3);
    world.history.lists[0].insert(session("t", "", 3));
    world
}

/// As those see it who look at `a` only.
fn left(world: &World, position: i64) -> Event {
    let entry = Filter {
        workspaces: BTreeSet::from(["a".to_owned()]),
        ..Filter::default()
    }
    .sees(&world.entry(position))
    .unwrap();
    Event::Change { entry, row: None }
}

#[test]
fn the_log_of_sessions_is_sound() {
    world().is_sound();
}

#[test]
fn who_looks_at_one_workspace_sees_a_session_leave() {
    let mut world = world();
    let seen = left(&world, 8);
    world.open(Origin::Earliest, 0);
    world.stream().filter = only("a");
    world
        .changes(12, &[1, 3, 4, 7])
        .got(12, seen)
        .changes(12, &[9, 10])
        .synced(13);
    world.is_sound();
}

#[test]
fn a_session_that_left_and_is_shown_as_it_was_logged_is_a_fault() {
    let mut world = world();
    world.open(Origin::Earliest, 0);
    world.stream().filter = only("a");
    world.changes(12, &[1, 3, 4, 7, 8, 9, 10]).synced(13);
    world.breaks(&[Rule::Filter]);
}

#[test]
fn a_session_that_left_without_a_word_is_lost() {
    let mut world = world();
    world.open(Origin::Earliest, 0);
    world.stream().filter = only("a");
    world.changes(12, &[1, 3, 4, 7, 9, 10]).synced(13);
    world.breaks(&[Rule::Lost]);
}

#[test]
fn who_looks_at_what_is_ungrouped_hears_of_the_removal_that_ungroups() {
    let mut world = world();
    world.open(Origin::Earliest, 0);
    world.stream().filter.ungrouped = true;
    world.changes(12, &[10, 11]).synced(13);
    world.is_sound();
    let mut world = self::world();
    world.open(Origin::Earliest, 0);
    world.stream().filter.ungrouped = true;
    world.changes(12, &[11]).synced(13);
    world.breaks(&[Rule::Lost]);
}

#[test]
fn a_removal_that_ungroups_does_not_name_the_sessions() {
    let mut world = removed();
    world.open(Origin::Earliest, 0);
    world.stream().filter.ungrouped = true;
    world.changes(12, &[10]).synced(13);
    world.is_sound();
    // Who looked at the workspace knows them.
    let mut world = removed();
    let seen = left(&world, 8);
    world.open(Origin::Earliest, 0);
    world.stream().filter = Filter {
        ungrouped: true,
        ..only("a")
    };
    world
        .changes(12, &[1, 3, 4, 7])
        .got(12, seen)
        .changes(12, &[10])
        .synced(13);
    world.breaks(&[Rule::Model, Rule::Lost]);
}

#[test]
fn a_session_that_is_somewhere_else_and_does_not_say_so_is_a_fault() {
    let mut world = world();
    world.history.log.entries.get_mut(&8).unwrap().from.clear();
    world.breaks(&[Rule::LogTransitions]);
}

#[test]
fn the_version_that_a_removal_gives_is_counted() {
    let mut world = world();
    world.history.log.entries.get_mut(&11).unwrap().version = 2;
    world.breaks(&[Rule::LogVersions, Rule::LogHoldsAnswers, Rule::ListIsLog]);
}

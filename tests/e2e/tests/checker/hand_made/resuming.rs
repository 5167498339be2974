//! Streams that begin behind a token, a page or an answer.

use super::{World, after, workspaces};
use crate::catalog::State;
use crate::entry::Record;
use crate::history::{Event, Listed, Origin};
use crate::violation::Rule;

#[test]
fn a_resumed_stream_goes_on_behind_its_token() {
    let mut world = World::new();
    world.open(Origin::Earliest, 1).changes(3, &[1, 2]).cut();
    world.open(after(0, 1), 7).changes(8, &[3, 4, 5, 6]).synced(9);
    world.is_sound();
}

/// An older token: what was read after it may come again, in the other stream.
#[test]
fn an_older_token_repeats_what_came_after_it() {
    let mut world = World::new();
    world.open(Origin::Earliest, 1).changes(3, &[1, 2]).cut();
    world.open(after(0, 0), 7).changes(8, &[2, 3, 4, 5, 6]).synced(9);
    world.is_sound();
}

#[test]
fn a_loss_across_a_resumption_is_found() {
    let mut world = World::new();
    world.open(Origin::Earliest, 1).changes(3, &[1, 2]).cut();
    world.open(after(0, 1), 7).changes(8, &[4, 6]).synced(9);
    world.breaks(&[Rule::Lost]);
}

#[test]
fn a_repetition_across_a_resumption_is_found() {
    let mut world = World::new();
    world.open(Origin::Earliest, 1).changes(3, &[1, 2]).cut();
    world.open(after(0, 1), 7).changes(8, &[2, 3, 4, 5, 6]).synced(9);
    world.breaks(&[Rule::Once]);
}

/// N045, N063: a heartbeat says that everything before it was delivered.
#[test]
fn a_heartbeat_that_is_ahead_of_its_stream_is_found() {
    let mut world = World::new();
    world
        .open(Origin::Earliest, 1)
        .changes(3, &[1, 2])
        .got(4, Event::Heartbeat)
        .cut();
    world.open(after(0, 2), 7).changes(8, &[4, 5, 6]).synced(9);
    world.is_sound();
    let mut world = World::new();
    world
        .open(Origin::Earliest, 1)
        .changes(3, &[1, 2])
        .got(4, Event::Heartbeat)
        .cut();
    world.open(after(0, 2), 7).changes(8, &[6]).synced(9);
    world.breaks(&[Rule::Lost, Rule::Model]);
}

/// A change that is stood for by one beyond the cut comes in the resumed stream.
#[test]
fn a_stream_that_broke_off_owes_its_successor() {
    let mut world = World::new();
    world.open(Origin::Earliest, 5).changes(6, &[2, 4]).cut();
    world.open(after(0, 1), 7).changes(8, &[5, 6]).synced(9);
    world.is_sound();
    let mut world = World::new();
    world.open(Origin::Earliest, 5).changes(6, &[1, 3]).cut();
    world.open(after(0, 1), 7).changes(8, &[4, 5]).synced(9);
    world.breaks(&[Rule::Lost, Rule::Model]);
}

#[test]
fn a_page_and_what_follows_it_are_the_list() {
    let rows = workspaces(&[("a", 2), ("b", 1)]);
    let mut world = World::new();
    let answered = world.at(3);
    let page = Origin::Page {
        answered,
        listed: Listed::Workspaces,
        rows: Some(rows),
    };
    // It may repeat what the page shows.
    world.open(page.clone(), 7).changes(8, &[3, 4, 5, 6]).synced(9);
    world.is_sound();
    let mut world = World::new();
    world.open(page, 7).changes(8, &[5, 6]).synced(9);
    world.breaks(&[Rule::Lost, Rule::Model]);
}

#[test]
fn a_revision_lies_before_the_write_that_it_was_answered_with() {
    let own = Origin::Answer {
        record: Record::Workspace("a".to_owned()),
        state: State::Version(2),
    };
    let mut world = World::new();
    world.open(own.clone(), 7).changes(8, &[3, 4, 5, 6]).synced(9);
    world.is_sound();
    let mut world = World::new();
    world.open(own, 7).changes(8, &[5, 6]).synced(9);
    world.breaks(&[Rule::Lost]);
}

//! What is missing and told, refused, or kept back.

use compozy_proto::change::v1::ResyncReason;

use super::{World, after, resync};
use crate::history::{End, Lie, Origin, Span};
use crate::violation::Rule;

/// N104: what it names is forgiven, from the token before it to the token after it.
#[test]
fn a_resync_forgives_what_came_before_it() {
    let mut world = World::new();
    world.history.log.floor = 3;
    world.open(Origin::Earliest, 1).changes(2, &[1]).cut();
    world
        .open(after(0, 0), 3)
        .got(4, resync(&[], ResyncReason::Expired))
        .synced(4);
    world.changes(8, &[5, 6]);
    world.is_sound();
    let mut world = World::new();
    world.history.log.floor = 3;
    world.open(Origin::Earliest, 1).changes(2, &[1]).cut();
    world
        .open(after(0, 0), 3)
        .got(4, resync(&[], ResyncReason::Expired))
        .synced(4);
    world.changes(8, &[6]);
    world.breaks(&[Rule::Lost]);
}

/// It forgives nothing of a workspace that it does not name.
#[test]
fn a_resync_forgives_only_what_it_names() {
    let mut world = World::new();
    world.history.log.floor = 1;
    world.open(Origin::Earliest, 1).changes(2, &[1, 2]).cut();
    world
        .open(after(0, 1), 5)
        .got(5, resync(&["a"], ResyncReason::Expired))
        .synced(5);
    world.changes(8, &[5, 6]);
    world.is_sound();
    let mut world = World::new();
    world.history.log.floor = 1;
    world.open(Origin::Earliest, 1).changes(2, &[1, 2]).cut();
    world
        .open(after(0, 1), 5)
        .got(5, resync(&["b"], ResyncReason::Expired))
        .synced(5);
    world.changes(8, &[5, 6]);
    world.breaks(&[Rule::Lost]);
}

/// N121: the same epoch goes on.
#[test]
fn a_resync_without_a_cause_is_found() {
    for reason in [ResyncReason::Epoch, ResyncReason::Behind, ResyncReason::Expired] {
        let mut world = World::new();
        world.open(Origin::Earliest, 1).changes(2, &[1]).cut();
        world
            .open(after(0, 0), 3)
            .got(4, resync(&[], reason))
            .synced(4)
            .changes(8, &[5, 6]);
        world.breaks(&[Rule::ResyncCause]);
    }
}

#[test]
fn a_token_expires_only_with_what_comes_after_it() {
    let mut world = World::new();
    world.history.log.floor = 3;
    world
        .open(Origin::Earliest, 1)
        .changes(2, &[1, 2])
        .changes(4, &[3])
        .cut();
    world.open(after(0, 1), 7).refused("RESUME_TOKEN_EXPIRED");
    world.is_sound();
    world.open(after(0, 2), 7).refused("RESUME_TOKEN_EXPIRED");
    world.breaks(&[Rule::Expired]);
}

/// N190.
#[test]
fn a_token_of_another_epoch_that_goes_on_is_found() {
    let mut world = World::new();
    world.open(Origin::Earliest, 1).changes(2, &[1, 2]).cut();
    let epoch = Span {
        begun: world.at(4),
        ended: world.at(5),
    };
    world.history.epochs.push(epoch);
    world.open(after(0, 1), 7).changes(8, &[3, 4, 5, 6]).synced(9);
    world.breaks(&[Rule::Epoch]);
    world.history.watchers[0].streams.pop();
    world
        .open(after(0, 1), 7)
        .got(8, resync(&[], ResyncReason::Epoch))
        .synced(9);
    world.is_sound();
}

#[test]
fn a_valid_token_that_is_refused_is_found() {
    let mut world = World::new();
    world.open(Origin::Earliest, 1).changes(2, &[1, 2]).cut();
    world.open(after(0, 1), 7).refused("CURSOR_INVALID");
    world.breaks(&[Rule::ValidToken]);
    world.refused("WORKSPACE_NOT_FOUND");
    world.breaks(&[Rule::ValidToken]);
}

#[test]
fn a_workspace_that_is_gone_may_be_refused_to_whoever_comes_anew() {
    let mut world = World::new();
    world.open(Origin::Now, 7).refused("WORKSPACE_NOT_FOUND");
    world.is_sound();
}

#[test]
fn a_lie_that_is_believed_is_found() {
    let told = End::Refused("CURSOR_INVALID".to_owned());
    for (end, accepted, sound) in [
        (told.clone(), false, true),
        (End::Broken("away".to_owned()), false, true),
        (End::Left, true, false),
        (told, true, false),
        (End::Refused("INTERNAL".to_owned()), false, false),
    ] {
        let mut world = World::new();
        let what = "an edited token";
        world.history.lies.push(Lie { what, end, accepted });
        assert_eq!(world.rules().is_empty(), sound, "{:?}", world.history.lies);
    }
}

#[test]
fn a_watcher_that_never_gets_back_is_found() {
    let mut world = World::new();
    world.history.watchers[0].stranded = true;
    world.breaks(&[Rule::Return]);
}

#[test]
fn a_silent_stream_is_found_unless_the_server_was_held_up() {
    let mut world = World::new();
    world.open(Origin::Now, 1).synced(2).cut();
    world.stream().end = End::Silent;
    world.breaks(&[Rule::Silence]);
    let outage = Span {
        begun: world.at(1),
        ended: world.at(3),
    };
    world.history.outages.push(outage);
    world.is_sound();
}

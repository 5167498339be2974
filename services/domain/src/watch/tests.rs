//! How watchers see hand-made entries.
#![allow(clippy::unwrap_used)]

use super::*;
use crate::clock::Timestamp;
use crate::id::HostId;

fn workspace(name: &str) -> WorkspaceId {
    WorkspaceId::from_stored(format!("ws_{name}"))
}

/// An entry about nothing in particular.
fn entry(kind: ChangeKind, op: ChangeOp, reason: ChangeReason) -> NewChange {
    NewChange {
        kind,
        op,
        reason,
        host_id: HostId::from_stored("h1".to_owned()),
        workspace_id: None,
        from_workspace_id: None,
        session_id: None,
        profile_id: None,
        internal: false,
        version: 7,
        session_count: 0,
        at: Timestamp::from_nanos(1),
    }
}

/// An entry about the session `s`, which is in this workspace now.
fn session(reason: ChangeReason, place: Option<&str>) -> NewChange {
    NewChange {
        session_id: Some(SessionId::from_stored("sess-1".to_owned())),
        workspace_id: place.map(workspace),
        ..entry(ChangeKind::Session, ChangeOp::Upserted, reason)
    }
}

/// `s` went from one place to another.
fn moved(reason: ChangeReason, from: Option<&str>, to: Option<&str>) -> NewChange {
    NewChange {
        from_workspace_id: from.map(workspace),
        ..session(reason, to)
    }
}

/// A workspace was removed that had so many sessions.
fn removed(name: &str, reason: ChangeReason, session_count: i64) -> NewChange {
    NewChange {
        workspace_id: Some(workspace(name)),
        session_count,
        ..entry(ChangeKind::Workspace, ChangeOp::Deleted, reason)
    }
}

fn of(names: &[&str]) -> WatchFilter {
    WatchFilter::new(
        names.iter().map(|name| workspace(name)).collect(),
        false,
        vec![],
        false,
    )
}

fn ungrouped() -> WatchFilter {
    WatchFilter::new(vec![], true, vec![], false)
}

fn of_kinds(kinds: &[ChangeKind]) -> WatchFilter {
    WatchFilter::new(vec![], false, kinds.to_vec(), false)
}

/// What is seen: op, reason, place and place before, as texts.
type Told = (ChangeOp, ChangeReason, Option<String>, Option<String>);

fn seen(filter: &WatchFilter, change: &NewChange) -> Option<Told> {
    seen_by(filter, change, &Visibility::All)
}

fn seen_by(filter: &WatchFilter, change: &NewChange, visibility: &Visibility) -> Option<Told> {
    let text = |id: &WorkspaceId| id.to_string();
    filter.see(change, visibility).map(|seen| {
        (
            seen.op,
            seen.reason,
            seen.workspace_id.map(text),
            seen.from_workspace_id.map(text),
        )
    })
}

fn upserted(reason: ChangeReason, place: Option<&str>, before: Option<&str>) -> Option<Told> {
    let text = |name: &str| workspace(name).to_string();
    Some((ChangeOp::Upserted, reason, place.map(text), before.map(text)))
}

fn left(place: Option<&str>) -> Option<Told> {
    let place = place.map(|name| workspace(name).to_string());
    Some((ChangeOp::Deleted, ChangeReason::Left, place, None))
}

#[test]
fn n068_a_watcher_of_a_workspace_sees_what_belongs_to_it() {
    let a = of(&["a"]);
    let renamed = session(ChangeReason::Renamed, Some("a"));
    assert_eq!(
        seen(&a, &renamed),
        upserted(ChangeReason::Renamed, Some("a"), None)
    );
    for place in [Some("b"), None] {
        assert_eq!(seen(&a, &session(ChangeReason::Renamed, place)), None);
    }
    let profile = entry(ChangeKind::Profile, ChangeOp::Upserted, ChangeReason::Created);
    assert_eq!(seen(&a, &profile), None);
    assert!(seen(&WatchFilter::default(), &profile).is_some());
}

#[test]
fn n070_two_workspaces_are_both_seen_and_nothing_without_one() {
    let filter = WatchFilter::new(
        vec![workspace("b"), workspace("a")],
        false,
        vec![ChangeKind::Session],
        false,
    );
    for (place, is_seen) in [
        (Some("a"), true),
        (Some("b"), true),
        (Some("c"), false),
        (None, false),
    ] {
        assert_eq!(
            seen(&filter, &session(ChangeReason::State, place)).is_some(),
            is_seen
        );
    }
}

#[test]
fn n071_n072_internal_sessions_are_for_those_who_ask() {
    let dream = NewChange {
        internal: true,
        ..session(ChangeReason::Created, Some("a"))
    };
    assert_eq!(seen(&WatchFilter::default(), &dream), None);
    assert_eq!(seen(&of(&["a"]), &dream), None);
    let asking = WatchFilter::new(vec![], false, vec![], true);
    assert_eq!(
        seen(&asking, &dream),
        upserted(ChangeReason::Created, Some("a"), None)
    );
}

#[test]
fn n078_who_watches_the_place_that_a_session_left_is_told_so() {
    let detached = moved(ChangeReason::Detached, Some("a"), None);
    assert_eq!(seen(&of(&["a"]), &detached), left(Some("a")));
    assert_eq!(
        seen(&WatchFilter::default(), &detached),
        upserted(ChangeReason::Detached, None, Some("a"))
    );
    assert_eq!(seen(&of(&["b"]), &detached), None);
}

#[test]
fn n079_n080_n081_a_move_is_leaving_for_one_and_coming_for_another() {
    let back = moved(ChangeReason::Attached, None, Some("a"));
    assert_eq!(
        seen(&of(&["a"]), &back),
        upserted(ChangeReason::Attached, Some("a"), None)
    );
    assert_eq!(seen(&of(&["b"]), &back), None);
    let over = moved(ChangeReason::Attached, Some("a"), Some("b"));
    let both_ids = upserted(ChangeReason::Attached, Some("b"), Some("a"));
    assert_eq!(seen(&of(&["a"]), &over), left(Some("a")));
    assert_eq!(seen(&of(&["b"]), &over), both_ids);
    assert_eq!(seen(&WatchFilter::default(), &over), both_ids);
    assert_eq!(seen(&of(&["b", "a"]), &over), both_ids);
}

#[test]
fn n082_a_deletion_is_no_leaving() {
    let deleted = NewChange {
        op: ChangeOp::Deleted,
        ..session(ChangeReason::Removed, Some("a"))
    };
    let (op, reason, ..) = seen(&of(&["a"]), &deleted).unwrap();
    assert_eq!((op, reason), (ChangeOp::Deleted, ChangeReason::Removed));
}

#[test]
fn n083_a_removal_that_keeps_sessions_reaches_everybody_who_holds_one() {
    let kept = removed("a", ChangeReason::RemovedSessionsKept, 3);
    let told = Some((
        ChangeOp::Deleted,
        ChangeReason::RemovedSessionsKept,
        Some("ws_a".to_owned()),
        None,
    ));
    for filter in [
        WatchFilter::default(),
        of(&["a"]),
        ungrouped(),
        of_kinds(&[ChangeKind::Session]),
        WatchFilter::new(vec![], true, vec![ChangeKind::Session], false),
    ] {
        assert_eq!(seen(&filter, &kept), told, "{filter:?}");
    }
    for filter in [of(&["b"]), of_kinds(&[ChangeKind::Profile])] {
        assert_eq!(seen(&filter, &kept), None, "{filter:?}");
    }
    // Those who watch sessions of no workspace hold none of those that went with theirs.
    assert_eq!(
        seen(
            &ungrouped(),
            &removed("a", ChangeReason::RemovedSessionsDeleted, 3)
        ),
        None
    );
    // It stands for no session if there was none.
    let empty = removed("a", ChangeReason::RemovedSessionsKept, 0);
    assert_eq!(seen(&of_kinds(&[ChangeKind::Session]), &empty), None);
    assert_eq!(seen(&ungrouped(), &empty), None);
}

#[test]
fn n194_who_watches_sessions_without_a_workspace_sees_them_come_and_go() {
    let renamed = session(ChangeReason::Renamed, None);
    assert_eq!(
        seen(&ungrouped(), &renamed),
        upserted(ChangeReason::Renamed, None, None)
    );
    let detached = moved(ChangeReason::Detached, Some("a"), None);
    assert_eq!(
        seen(&ungrouped(), &detached),
        upserted(ChangeReason::Detached, None, Some("a"))
    );
    assert_eq!(
        seen(&ungrouped(), &moved(ChangeReason::Attached, None, Some("a"))),
        left(None)
    );
    assert_eq!(
        seen(&ungrouped(), &session(ChangeReason::Renamed, Some("a"))),
        None
    );
}

#[test]
fn n198_what_does_not_exist_for_a_caller_is_not_told_and_not_named() {
    let only_b = Visibility::Only(vec![workspace("b")]);
    let all = WatchFilter::default();
    for hidden in [
        session(ChangeReason::Renamed, Some("a")),
        session(ChangeReason::Renamed, None),
        entry(ChangeKind::Profile, ChangeOp::Upserted, ChangeReason::Created),
        removed("a", ChangeReason::RemovedSessionsKept, 3),
        moved(ChangeReason::Attached, Some("a"), Some("c")),
    ] {
        assert_eq!(seen_by(&all, &hidden, &only_b), None, "{hidden:?}");
        assert_eq!(seen_by(&ungrouped(), &hidden, &only_b), None, "{hidden:?}");
    }
    let away = moved(ChangeReason::Attached, Some("b"), Some("a"));
    assert_eq!(seen_by(&all, &away, &only_b), left(Some("b")));
    let here = moved(ChangeReason::Attached, Some("a"), Some("b"));
    assert_eq!(
        seen_by(&all, &here, &only_b),
        upserted(ChangeReason::Attached, Some("b"), None)
    );
}

#[test]
fn n193_a_thing_is_the_same_one_wherever_it_is_and_another_of_another_kind() {
    let here = session(ChangeReason::Renamed, Some("a"));
    let there = moved(ChangeReason::Attached, Some("a"), Some("b"));
    assert_eq!(Thing::of(&here), Thing::of(&there));
    let record = NewChange {
        workspace_id: Some(workspace("a")),
        ..entry(ChangeKind::Workspace, ChangeOp::Upserted, ChangeReason::Updated)
    };
    let place = NewChange {
        kind: ChangeKind::WorkspaceOrder,
        ..record.clone()
    };
    assert_ne!(Thing::of(&record), Thing::of(&place));
}

#[test]
fn n052_equal_filters_are_equal_however_they_are_written() {
    let one = WatchFilter::new(
        vec![workspace("a"), workspace("b"), workspace("a")],
        true,
        vec![ChangeKind::Profile, ChangeKind::Session],
        false,
    );
    let other = WatchFilter::new(
        vec![workspace("b"), workspace("a")],
        true,
        vec![ChangeKind::Session, ChangeKind::Profile, ChangeKind::Session],
        false,
    );
    assert_eq!(one, other);
}

mod model;

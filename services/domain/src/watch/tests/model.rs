//! Every filter against a model. It keeps no rules but two questions, asked of plain texts: is a thing at a place inside
//! what the watcher looks at, and where was it before?

use proptest::prelude::*;

use super::*;

const KINDS: [ChangeKind; 6] = [
    ChangeKind::Workspace,
    ChangeKind::WorkspaceOrder,
    ChangeKind::Session,
    ChangeKind::AccountOrder,
    ChangeKind::Profile,
    ChangeKind::Selection,
];

/// A filter as a caller writes it, and what exists for the caller.
#[derive(Debug, Clone)]
struct Wish {
    names: Vec<&'static str>,
    ungrouped: bool,
    kinds: Vec<ChangeKind>,
    internal: bool,
    exists: Option<Vec<&'static str>>,
}

impl Wish {
    fn filter(&self) -> WatchFilter {
        let workspaces = self.names.iter().map(|name| workspace(name)).collect();
        WatchFilter::new(workspaces, self.ungrouped, self.kinds.clone(), self.internal)
    }

    fn visibility(&self) -> Visibility {
        match &self.exists {
            None => Visibility::All,
            Some(names) => Visibility::Only(names.iter().map(|name| workspace(name)).collect()),
        }
    }

    fn exists(&self, place: Option<&str>) -> bool {
        match (&self.exists, place) {
            (None, _) => true,
            (Some(names), Some(place)) => names.contains(&place),
            (Some(_), None) => false,
        }
    }

    /// Whether a thing at a place is looked at.
    fn looks_at(&self, is_session: bool, place: Option<&str>) -> bool {
        let names_nothing = self.names.is_empty() && !self.ungrouped;
        let named = place.is_some_and(|place| self.names.contains(&place));
        let homeless = is_session && place.is_none() && self.ungrouped;
        self.exists(place) && (names_nothing || named || homeless)
    }

    fn asks_for(&self, kind: ChangeKind) -> bool {
        self.kinds.is_empty() || self.kinds.contains(&kind)
    }

    /// Whether a record of this kind is gone, and its selections with it, for who asks for selections.
    fn ends(&self, change: &NewChange, kind: ChangeKind) -> bool {
        change.kind == kind && change.op == ChangeOp::Deleted && self.asks_for(ChangeKind::Selection)
    }

    /// What this watcher has to be told.
    fn expects(&self, change: &NewChange) -> Option<Told> {
        fn name(id: &Option<WorkspaceId>) -> Option<&str> {
            id.as_ref().map(|id| &id.as_str()[3..])
        }
        let now = name(&change.workspace_id);
        let told = |op, reason, place: Option<&str>, before: Option<&str>| {
            let text = |name: &str| format!("ws_{name}");
            Some((op, reason, place.map(text), before.map(text)))
        };
        if change.internal && !self.internal {
            return None;
        }
        if change.kind == ChangeKind::Workspace && change.session_count > 0 {
            // Its sessions are told with it: to who asked for records there, for sessions there, or for the
            // sessions that are without a workspace from now on.
            let as_record = self.asks_for(ChangeKind::Workspace) && self.looks_at(false, now);
            let as_sessions = self.asks_for(ChangeKind::Session) && self.looks_at(true, now);
            let as_selection = self.ends(change, ChangeKind::Workspace) && self.looks_at(false, now);
            let as_homeless = self.asks_for(ChangeKind::Session)
                && self.ungrouped
                && self.exists(now)
                && change.reason == ChangeReason::RemovedSessionsKept;
            return if as_record || as_sessions || as_homeless || as_selection {
                told(change.op, change.reason, now, None)
            } else {
                None
            };
        }
        // Selections are told to be gone with what they were of, and those of a profile to all who ask for any.
        let looks_at_places = !self.names.is_empty() || !self.ungrouped;
        if self.ends(change, ChangeKind::Profile) && looks_at_places {
            return told(change.op, change.reason, now, None);
        }
        if !self.asks_for(change.kind) && !self.ends(change, ChangeKind::Workspace) {
            return None;
        }
        let is_session = change.kind == ChangeKind::Session;
        if self.looks_at(is_session, now) {
            let before = name(&change.from_workspace_id).filter(|place| self.exists(Some(*place)));
            return told(change.op, change.reason, now, before);
        }
        let came_from = match (name(&change.from_workspace_id), change.reason) {
            (Some(place), _) => Some(place),
            (None, ChangeReason::Attached) => None,
            (None, _) => return None,
        };
        if is_session && self.looks_at(true, came_from) {
            return told(ChangeOp::Deleted, ChangeReason::Left, came_from, None);
        }
        None
    }
}

/// Every subset of these.
fn subsets<T: Copy>(all: &[T]) -> Vec<Vec<T>> {
    let pick = |mask: usize| {
        (0..all.len())
            .filter(move |at| mask >> at & 1 == 1)
            .map(|at| all[at])
            .collect()
    };
    (0..1 << all.len()).map(pick).collect()
}

fn every_wish() -> Vec<Wish> {
    let mut wishes = Vec::new();
    for names in subsets(&["a", "b"]) {
        for kinds in subsets(&KINDS) {
            for exists in [None, Some(vec!["b"]), Some(vec!["a", "b", "c"])] {
                for switches in 0..4 {
                    wishes.push(Wish {
                        names: names.clone(),
                        ungrouped: switches & 1 == 1,
                        kinds: kinds.clone(),
                        internal: switches & 2 == 2,
                        exists: exists.clone(),
                    });
                }
            }
        }
    }
    wishes
}

fn any_place() -> impl Strategy<Value = Option<&'static str>> {
    prop::sample::select(vec![None, Some("a"), Some("b"), Some("c")])
}

/// An entry such as the catalog writes.
fn any_change() -> impl Strategy<Value = NewChange> {
    let named = prop::sample::select(vec!["a", "b", "c"]);
    let record = (named.clone(), 0..4_i64, 0..5_u8).prop_map(|(name, count, what)| match what {
        0 => removed(name, ChangeReason::RemovedSessionsKept, count),
        1 => removed(name, ChangeReason::RemovedSessionsDeleted, count),
        2 => removed(name, ChangeReason::Removed, 0),
        _ => NewChange {
            op: ChangeOp::Upserted,
            ..removed(name, ChangeReason::Renamed, 0)
        },
    });
    let still =
        (any_place(), any::<bool>(), any::<bool>()).prop_map(|(place, internal, is_gone)| NewChange {
            internal,
            op: if is_gone {
                ChangeOp::Deleted
            } else {
                ChangeOp::Upserted
            },
            ..session(
                if is_gone {
                    ChangeReason::Removed
                } else {
                    ChangeReason::State
                },
                place,
            )
        });
    let moving = (any_place(), any_place(), any::<bool>())
        .prop_filter("a move changes the place", |(from, to, _)| from != to)
        .prop_map(|(from, to, internal)| NewChange {
            internal,
            ..moved(
                if to.is_some() {
                    ChangeReason::Attached
                } else {
                    ChangeReason::Detached
                },
                from,
                to,
            )
        });
    let ordered = (named, any::<bool>()).prop_map(|(name, of_account)| {
        let kind = if of_account {
            ChangeKind::AccountOrder
        } else {
            ChangeKind::WorkspaceOrder
        };
        NewChange {
            workspace_id: Some(workspace(name)),
            ..entry(kind, ChangeOp::Upserted, ChangeReason::Moved)
        }
    });
    let profiles = (any_place(), any::<bool>()).prop_map(|(place, is_profile)| {
        let kind = if is_profile {
            ChangeKind::Profile
        } else {
            ChangeKind::Selection
        };
        NewChange {
            workspace_id: place.filter(|_| !is_profile).map(workspace),
            ..entry(kind, ChangeOp::Upserted, ChangeReason::Updated)
        }
    });
    prop_oneof![2 => record, 3 => still, 3 => moving, 1 => ordered, 1 => profiles]
}

proptest! {
    // 1,000 random changes, 32 at a time, each under all 3,072 combinations of two workspaces, six kinds, the two
    // switches and three callers.
    #![proptest_config(ProptestConfig { cases: 32, ..ProptestConfig::default() })]

    #[test]
    fn n077_n198_every_filter_sees_what_the_model_says(
        changes in prop::collection::vec(any_change(), 32)
    ) {
        for wish in every_wish() {
            let (filter, visibility) = (wish.filter(), wish.visibility());
            for change in &changes {
                prop_assert_eq!(
                    seen_by(&filter, change, &visibility),
                    wish.expects(change),
                    "{:?} {:?}", wish, change
                );
            }
        }
    }
}

proptest! {
    #[test]
    fn n085_a_model_of_a_workspace_follows_what_its_watcher_is_told(
        moves in prop::collection::vec((0..12_u8, any_place(), any::<bool>()), 1_000)
    ) {
        // Where each session is, and which of them the watcher of A believes to be there.
        let mut places = std::collections::BTreeMap::<u8, Option<&str>>::new();
        let mut believed = std::collections::BTreeSet::new();
        let filter = of(&["a"]);
        for (number, to, deletes) in moves {
            let change = match (places.get(&number).copied(), deletes) {
                (None, _) => {
                    places.insert(number, to);
                    session(ChangeReason::Created, to)
                }
                (Some(from), true) => {
                    places.remove(&number);
                    NewChange { op: ChangeOp::Deleted, ..session(ChangeReason::Removed, from) }
                }
                (Some(from), false) if from == to => session(ChangeReason::Renamed, to),
                (Some(from), false) => {
                    places.insert(number, to);
                    let reason = if to.is_some() { ChangeReason::Attached } else { ChangeReason::Detached };
                    moved(reason, from, to)
                }
            };
            match seen(&filter, &change) {
                Some((ChangeOp::Upserted, ..)) => { believed.insert(number); }
                Some((ChangeOp::Deleted, ..)) => {
                    prop_assert!(believed.remove(&number), "nobody is told that a stranger is gone");
                }
                None => {}
            }
        }
        let there = places.iter().filter(|(_, place)| **place == Some("a")).map(|(number, _)| *number);
        prop_assert_eq!(believed, there.collect());
    }
}

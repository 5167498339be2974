#![allow(clippy::unwrap_used)]

use std::collections::BTreeMap;

use compozy_domain::session::RuntimeState;
use compozy_domain::{SessionState, SessionType};
use compozy_proto::workspace::v1 as workspace_pb;

use super::*;

type Change = fn(&mut pb::SessionFilter);

fn read(change: impl FnOnce(&mut pb::SessionFilter)) -> Result<FilterWanted, CatalogError> {
    let mut asked = pb::SessionFilter::default();
    change(&mut asked);
    filter(Some(asked))
}

fn field_of(error: CatalogError) -> String {
    match error {
        CatalogError::InvalidField { field, .. } => field,
        other => panic!("{other:?}"),
    }
}

#[test]
fn s281_what_is_empty_is_no_condition() {
    assert_eq!(filter(None).unwrap().filter, SessionFilter::default());
    let empty = filter(Some(pb::SessionFilter::default())).unwrap();
    assert_eq!((empty.filter, empty.workspace), (SessionFilter::default(), None));
    assert_eq!(empty.normal, pb::SessionFilter::default());
}

#[test]
fn s211_s264_s376_unknown_numbers_are_refused_by_the_name_of_their_field() {
    let changes: [(Change, &str); 8] = [
        (|asked| asked.states = vec![1, 99], "states"),
        (|asked| asked.types = vec![99], "types"),
        (|asked| asked.badges = vec![99], "badges"),
        (|asked| asked.runtimes = vec![99], "runtimes"),
        (|asked| asked.archive = 99, "archive"),
        // Unspecified says nothing, and saying nothing is no value of a list.
        (|asked| asked.states = vec![0], "states"),
        (|asked| asked.types = vec![0], "types"),
        (|asked| asked.badges = vec![-1], "badges"),
    ];
    for (change, field) in changes {
        assert_eq!(field_of(read(change).unwrap_err()), field);
    }
}

#[test]
fn s245_s278_what_is_too_much_or_contradicts_itself_is_refused() {
    let changes: [(Change, &str); 10] = [
        (|asked| asked.agents = vec!["a".to_owned(); 101], "agents"),
        (|asked| asked.states = vec![1; 101], "states"),
        (|asked| asked.agents = vec![" ".to_owned()], "agents"),
        (|asked| asked.providers = vec![String::new()], "providers"),
        (|asked| asked.query = "q".repeat(257), "query"),
        (|asked| asked.query = "a\u{7}b".to_owned(), "query"),
        (|asked| asked.profile = "reviewer".to_owned(), "profile"),
        (|asked| asked.parent = "p".repeat(10_000), "parent"),
        (
            |asked| {
                asked.labels.insert(String::new(), String::new());
            },
            "labels",
        ),
        (
            |asked| {
                asked.ungrouped = true;
                asked.workspace = Some(workspace_pb::WorkspaceRef {
                    form: Some(workspace_pb::workspace_ref::Form::Name("a".to_owned())),
                });
            },
            "ungrouped",
        ),
    ];
    for (change, field) in changes {
        assert_eq!(field_of(read(change).unwrap_err()), field);
    }
    for query in ["q".repeat(256), "\u{1f680}".repeat(256)] {
        assert!(read(|asked| asked.query = query).is_ok());
    }
}

#[test]
fn s263_instants_are_those_of_the_contract() {
    let read = |seconds, nanos| {
        let at = Some(Instant { seconds, nanos });
        read(|asked| asked.active_before = at).map(|read| read.filter.active_before.unwrap())
    };
    assert_eq!(read(1, 5).unwrap(), Timestamp::from_nanos(1_000_000_005));
    assert_eq!(read(-1, 5).unwrap(), Timestamp::from_nanos(-999_999_995));
    assert_eq!(read(253_402_300_799, 0).unwrap(), Timestamp::from_nanos(i64::MAX));
    assert_eq!(read(-62_135_596_800, 0).unwrap(), Timestamp::from_nanos(i64::MIN));
    for (seconds, nanos) in [
        (0, 1_000_000_000),
        (0, -1),
        (253_402_300_800, 0),
        (-62_135_596_801, 0),
        (i64::MIN, i32::MIN),
        (i64::MAX, i32::MAX),
    ] {
        assert_eq!(field_of(read(seconds, nanos).unwrap_err()), "active_before");
    }
}

#[test]
fn s303_the_normal_form_knows_no_order_and_no_repetition() {
    let one = read(|asked| {
        asked.states = vec![2, 4];
        asked.agents = vec!["a".to_owned(), "b".to_owned()];
        asked.query = "Straße".to_owned();
        asked.archive = 1;
    });
    let other = read(|asked| {
        asked.states = vec![4, 2, 4];
        asked.agents = vec!["b".to_owned(), "a".to_owned(), "b".to_owned()];
        asked.query = "STRASSE".to_owned();
    });
    assert_eq!(one.unwrap().normal, other.unwrap().normal);
}

#[test]
fn every_condition_is_read_and_stands_in_the_normal_form() {
    let labels = BTreeMap::from([("env".to_owned(), String::new())]);
    let at = |seconds| Some(Instant { seconds, nanos: 1 });
    let asked = pb::SessionFilter {
        workspace: None,
        ungrouped: true,
        agents: vec!["x".to_owned()],
        states: vec![pb::SessionState::Orphaned.into()],
        types: vec![pb::SessionType::Dream.into()],
        providers: vec!["p".to_owned()],
        badges: vec![pb::SessionBadge::Done.into()],
        runtimes: vec![pb::RuntimeState::Lost.into()],
        parent: "sess-zz".to_owned(),
        root: "sess-0000000000000001".to_owned(),
        labels: labels.clone(),
        origin: "native".to_owned(),
        profile: "01HV8Q2J4N6R8T0W2Y4A6C8E0G".to_owned(),
        resumable: Some(false),
        attachable: Some(true),
        archive: pb::ArchiveFilter::Only.into(),
        query: "ＡＰＩ".to_owned(),
        created_after: at(1),
        created_before: at(2),
        active_after: at(3),
        active_before: at(4),
        include_internal: true,
    };
    let read = filter(Some(asked.clone())).unwrap();
    let time = |seconds| Timestamp::from_parts(seconds, 1);
    let expected = SessionFilter {
        place: Place::Ungrouped,
        agents: vec!["x".to_owned()],
        states: vec![SessionState::Orphaned],
        types: vec![SessionType::Dream],
        providers: vec!["p".to_owned()],
        badges: vec![compozy_domain::session::health::Badge::Done],
        runtimes: vec![RuntimeState::Lost],
        parent: Some("sess-zz".to_owned()),
        root: Some("sess-0000000000000001".to_owned()),
        labels,
        origin: Some("native".to_owned()),
        profile: ProfileId::parse("01HV8Q2J4N6R8T0W2Y4A6C8E0G"),
        resumable: Some(false),
        attachable: Some(true),
        archive: Archive::Only,
        query: Some("api".to_owned()),
        created_after: time(1),
        created_before: time(2),
        active_after: time(3),
        active_before: time(4),
        include_internal: true,
    };
    assert_eq!(read.filter, expected);
    let folded = pb::SessionFilter {
        query: "api".to_owned(),
        ..asked
    };
    assert_eq!(read.normal, folded);
}

//! Promises about which sessions a filter holds.

use compozy_domain::session::filter::{Archive, Place, SessionFilter};
use compozy_domain::session::{AttachLease, Live, RuntimeState};
use compozy_domain::{ProfileId, Session, SessionState, SessionType};

use super::engine::Engine;
use super::fixture::Catalog;
use super::session_list_planted::{active_at, after_start, ids, numbered, plain, stopped};

fn every() -> SessionFilter {
    SessionFilter::default()
}

fn texts(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|text| (*text).to_owned()).collect()
}

pub async fn s242_a_place_holds_its_own<E: Engine>(catalog: Catalog<E>) {
    let (a, b) = (catalog.register("/w/a").await, catalog.register("/w/b").await);
    let sessions = [
        plain(1, Some(&a), 1),
        plain(2, Some(&b), 2),
        plain(3, Some(&a), 3),
        plain(4, None, 4),
    ];
    catalog.plant(&sessions, &[&a, &b]).await;
    assert_eq!(catalog.found_sessions(&every()).await, ids([4, 3, 2, 1]));
    for (place, expected) in [
        (Place::Workspace(a.id.clone()), vec![3, 1]),
        (Place::Ungrouped, vec![4]),
        (
            Place::Workspace(compozy_domain::WorkspaceId::from_stored(
                "ws_00000000000000ee".into(),
            )),
            vec![],
        ),
    ] {
        let filter = SessionFilter { place, ..every() };
        assert_eq!(catalog.found_sessions(&filter).await, ids(expected));
    }
}

pub async fn s247_s248_agents_are_any_of_and_exact<E: Engine>(catalog: Catalog<E>) {
    let sessions: Vec<Session> = ["x", "y", "z", "X"]
        .iter()
        .zip(1..)
        .map(|(agent, number)| Session {
            agent: (*agent).to_owned(),
            ..plain(number, None, i64::try_from(number).unwrap())
        })
        .collect();
    catalog.plant(&sessions, &[]).await;
    for (agents, expected) in [
        (vec!["x", "y"], vec![2, 1]),
        (vec!["nope"], vec![]),
        (vec!["x\0"], vec![]),
        (vec!["x\0", "z"], vec![3]),
    ] {
        let filter = SessionFilter {
            agents: texts(&agents),
            ..every()
        };
        assert_eq!(catalog.found_sessions(&filter).await, ids(expected), "{agents:?}");
    }
}

pub async fn s249_states_are_any_of<E: Engine>(catalog: Catalog<E>) {
    let mut starting = plain(3, None, 3);
    starting.state = SessionState::Starting;
    catalog
        .plant(&[plain(1, None, 1), stopped(2, None, 2), starting], &[])
        .await;
    for (states, expected) in [
        (vec![SessionState::Active, SessionState::Stopped], vec![2, 1]),
        (
            vec![SessionState::Stopped, SessionState::Active, SessionState::Stopped],
            vec![2, 1],
        ),
        (vec![SessionState::Orphaned], vec![]),
        (SessionState::ALL.to_vec(), vec![3, 2, 1]),
    ] {
        let filter = SessionFilter { states, ..every() };
        assert_eq!(catalog.found_sessions(&filter).await, ids(expected), "{filter:?}");
    }
}

pub async fn s250_filters_are_joined_by_and<E: Engine>(catalog: Catalog<E>) {
    let of = |number: u64, session_type: SessionType, provider: &str| Session {
        session_type,
        provider: provider.to_owned(),
        ..plain(number, None, i64::try_from(number).unwrap())
    };
    let sessions = [
        of(1, SessionType::User, "p"),
        of(2, SessionType::Spawned, "p"),
        of(3, SessionType::System, "p"),
        of(4, SessionType::User, "q"),
        Session {
            provider: "p".to_owned(),
            ..stopped(5, None, 5)
        },
    ];
    catalog.plant(&sessions, &[]).await;
    let mut filter = SessionFilter {
        types: vec![SessionType::User, SessionType::Spawned],
        ..every()
    };
    assert_eq!(catalog.found_sessions(&filter).await, ids([5, 4, 2, 1]));
    filter.providers = texts(&["p"]);
    assert_eq!(catalog.found_sessions(&filter).await, ids([5, 2, 1]));
    filter.states = vec![SessionState::Active];
    assert_eq!(catalog.found_sessions(&filter).await, ids([2, 1]));
}

pub async fn s251_s252_a_tree_holds_its_root<E: Engine>(catalog: Catalog<E>) {
    let below = |number: u64, parent: u64| {
        let mut session = plain(number, None, i64::try_from(number).unwrap());
        session.lineage.parent = Some(numbered(parent));
        session.lineage.root = numbered(1);
        session
    };
    catalog
        .plant(
            &[plain(1, None, 1), below(2, 1), below(3, 2), plain(4, None, 4)],
            &[],
        )
        .await;
    let parent = |parent: &str| SessionFilter {
        parent: Some(parent.to_owned()),
        ..every()
    };
    let root = |root: &str| SessionFilter {
        root: Some(root.to_owned()),
        ..every()
    };
    let id = |number: u64| numbered(number).to_string();
    assert_eq!(catalog.found_sessions(&parent(&id(1))).await, ids([2]));
    assert_eq!(catalog.found_sessions(&root(&id(1))).await, ids([3, 2, 1]));
    assert_eq!(catalog.found_sessions(&root(&id(2))).await, ids([]));
    for unknown in [id(99), "no id".to_owned(), String::new(), "\0".to_owned()] {
        assert_eq!(
            catalog.found_sessions(&parent(&unknown)).await,
            ids([]),
            "{unknown:?}"
        );
        assert_eq!(
            catalog.found_sessions(&root(&unknown)).await,
            ids([]),
            "{unknown:?}"
        );
    }
}

pub async fn s253_s254_s255_labels_are_exact_pairs<E: Engine>(catalog: Catalog<E>) {
    let labelled = |number: u64, labels: &[(&str, &str)]| {
        let mut session = plain(number, None, i64::try_from(number).unwrap());
        let pairs = labels
            .iter()
            .map(|(key, value)| ((*key).to_owned(), (*value).to_owned()));
        session.labels = pairs.collect();
        session
    };
    let sessions = [
        labelled(1, &[("env", "prod")]),
        labelled(2, &[("env", "production")]),
        labelled(3, &[("ENV", "prod")]),
        labelled(4, &[]),
        labelled(5, &[("a", "1")]),
        labelled(6, &[("b", "2")]),
        labelled(7, &[("a", "1"), ("b", "2")]),
        labelled(8, &[("a", "1"), ("b", "2"), ("c", "3")]),
        labelled(9, &[("v", "%")]),
        labelled(10, &[("v", "x")]),
        labelled(11, &[("v", "")]),
    ];
    catalog.plant(&sessions, &[]).await;
    for (labels, expected) in [
        (vec![("env", "prod")], vec![1]),
        (vec![("a", "1"), ("b", "2")], vec![8, 7]),
        (vec![("v", "%")], vec![9]),
        (vec![("v", "")], vec![11]),
        (vec![("v", "\0")], vec![]),
    ] {
        let pairs = labels
            .iter()
            .map(|(key, value)| ((*key).to_owned(), (*value).to_owned()));
        let filter = SessionFilter {
            labels: pairs.collect(),
            ..every()
        };
        assert_eq!(catalog.found_sessions(&filter).await, ids(expected), "{labels:?}");
    }
}

pub async fn s256_origin_and_profile_are_exact<E: Engine>(catalog: Catalog<E>) {
    let mut foreign = plain(1, None, 1);
    foreign.origin.tool = "other-tool".to_owned();
    let mut profiled = plain(2, None, 2);
    let ulid = ProfileId::from_stored("01HXJ9YR4QZ0V7M3T5B8N2C6KD".to_owned());
    profiled.profile_id = ulid.clone();
    catalog.plant(&[foreign, profiled, plain(3, None, 3)], &[]).await;
    for (origin, expected) in [("native", vec![3, 2]), ("other-tool", vec![1]), ("other", vec![])] {
        let filter = SessionFilter {
            origin: Some(origin.to_owned()),
            ..every()
        };
        assert_eq!(catalog.found_sessions(&filter).await, ids(expected), "{origin}");
    }
    let filter = SessionFilter {
        profile: Some(ulid),
        ..every()
    };
    assert_eq!(catalog.found_sessions(&filter).await, ids([2]));
}

pub async fn s258_an_archive_is_left_out_taken_alone_or_taken_too<E: Engine>(catalog: Catalog<E>) {
    let mut sessions: Vec<Session> = (1..=5)
        .map(|number| stopped(number, None, i64::try_from(number).unwrap()))
        .collect();
    for session in &mut sessions[3..] {
        session.archived_at = Some(after_start(9));
    }
    catalog.plant(&sessions, &[]).await;
    for (archive, expected) in [
        (Archive::Exclude, vec![3, 2, 1]),
        (Archive::Only, vec![5, 4]),
        (Archive::Include, vec![5, 4, 3, 2, 1]),
    ] {
        let filter = SessionFilter { archive, ..every() };
        assert_eq!(catalog.found_sessions(&filter).await, ids(expected));
    }
}

pub async fn s259_s260_s261_s262_spans_hold_their_beginning_only<E: Engine>(catalog: Catalog<E>) {
    let mut active = plain(4, None, 1);
    active.activity = active_at(100);
    let mut earlier = plain(5, None, 0);
    earlier.activity = active_at(99);
    let sessions = [
        plain(1, None, 49),
        plain(2, None, 50),
        plain(3, None, 51),
        active,
        earlier,
    ];
    catalog.plant(&sessions, &[]).await;
    let at = Some(after_start(50));
    let by = |created_after, created_before, active_after, active_before| SessionFilter {
        created_after,
        created_before,
        active_after,
        active_before,
        ..every()
    };
    for (filter, expected) in [
        (by(at, None, None, None), vec![3, 2]),
        (by(None, at, None, None), vec![1, 4, 5]),
        (by(at, at, None, None), vec![]),
        (by(None, None, Some(after_start(100)), None), vec![4]),
        (
            by(None, None, Some(after_start(99)), Some(after_start(100))),
            vec![5],
        ),
        (by(None, None, None, at), vec![1]),
    ] {
        assert_eq!(catalog.found_sessions(&filter).await, ids(expected), "{filter:?}");
    }
}

pub async fn s376_runtimes_are_any_of<E: Engine>(catalog: Catalog<E>) {
    let of = |number: u64, runtime: RuntimeState| Session {
        runtime,
        ..plain(number, None, i64::try_from(number).unwrap())
    };
    let sessions = [
        of(1, RuntimeState::None),
        of(2, RuntimeState::Bound),
        of(3, RuntimeState::Lost),
    ];
    catalog.plant(&sessions, &[]).await;
    for (runtimes, expected) in [
        (vec![RuntimeState::None], vec![1]),
        (vec![RuntimeState::Bound], vec![2]),
        (vec![RuntimeState::Bound, RuntimeState::Lost], vec![3, 2]),
    ] {
        let filter = SessionFilter { runtimes, ..every() };
        assert_eq!(catalog.found_sessions(&filter).await, ids(expected));
    }
}

/// An operator's lease that lapses keeps its session out of a list that began before.
pub async fn s379_time_stands_still_in_a_walk<E: Engine>(catalog: Catalog<E>) {
    catalog.set_clock(after_start(0)).await;
    let minute = 60_000_000_000;
    let mut sessions: Vec<Session> = (1..=8)
        .map(|number| plain(number, None, i64::try_from(number).unwrap()))
        .collect();
    for session in &mut sessions[..3] {
        session.live = Some(Live {
            attach: Some(AttachLease {
                holder: "somebody".to_owned(),
                expires_at: after_start(minute),
            }),
            ..Live::default()
        });
    }
    catalog.plant(&sessions, &[]).await;
    catalog.number_all().await;
    let filter = SessionFilter {
        attachable: Some(true),
        ..every()
    };
    let sort = compozy_domain::session::filter::SessionSort::Recent;
    let mut list = catalog.sessions(filter.clone(), sort, 1);
    let mut walked = Vec::new();
    loop {
        let page = catalog.session_page(&list).await;
        assert_eq!(page.page.total, 5);
        walked.extend(super::session_list_planted::ids_of(&page.page.rows));
        if !page.page.has_more {
            break;
        }
        list.after = page.places.last().cloned();
        list.at = Some(page.at);
        catalog.set_clock(after_start(2 * minute)).await;
        list.now = catalog.now();
    }
    assert_eq!(walked, ids([8, 7, 6, 5, 4]));
    assert_eq!(catalog.found_sessions(&filter).await.len(), 8);
}

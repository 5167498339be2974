//! Filters (cases section 15).

use std::time::Duration;

use compozy_proto::session::v1 as pb;

use crate::asked::{archive, list, new, rename, stop};
use crate::pages::{all, homeless, of, settled, sorted, waiting};
use crate::requests::by_id;
use crate::world::World;

cases! {
    s210_badges,
    s211_s264_s376_values_that_nobody_knows,
    s247_s248_agents_are_exact,
    s249_s250_states_types_and_providers,
    s251_s252_parents_and_roots,
    s253_s254_s255_labels_are_exact_pairs,
    s256_origin_and_profile,
    s257_resumable_or_not,
    s258_archived_ones,
    s259_s260_s261_created_between,
    s262_active_between,
    s263_s278_what_is_no_instant_and_what_is_too_long,
    s281_an_empty_query_is_no_filter,
    s376_runtimes,
}

async fn s210_badges(world: World) {
    let (a, _) = world.a_and_b().await;
    // Silent from here on.
    let hung = world.create(new(&a.id)).await.id;
    world.bound_for(&hung, 3_600).await;
    world.advance(Duration::from_secs(180)).await;
    let mut by_badge = vec![(pb::SessionBadge::Hung, hung)];
    let reports = [
        (
            pb::SessionBadge::WaitingForAuth,
            waiting(&[pb::WaitingReason::Input, pb::WaitingReason::Auth]),
        ),
        (
            pb::SessionBadge::WaitingForInput,
            waiting(&[pb::WaitingReason::Input]),
        ),
        (
            pb::SessionBadge::Unhealthy,
            pb::HeartbeatRequest {
                stalled: Some(true),
                ..Default::default()
            },
        ),
        (
            pb::SessionBadge::Running,
            pb::HeartbeatRequest {
                prompting: Some(true),
                ..Default::default()
            },
        ),
        (pb::SessionBadge::Done, settled()),
        (pb::SessionBadge::Idle, pb::HeartbeatRequest::default()),
    ];
    for (badge, report) in reports {
        let id = world.create(new(&a.id)).await.id;
        let lease = world.bound_for(&id, 30).await;
        world.report(&lease, report).await;
        by_badge.push((badge, id));
    }
    let unknown = world.create(new(&a.id)).await.id;
    by_badge.push((pb::SessionBadge::Unknown, unknown));
    for (badge, cause) in [
        (pb::SessionBadge::Failed, pb::StopCause::Failed),
        (pb::SessionBadge::Stopped, pb::StopCause::Completed),
    ] {
        let id = world.create(new(&a.id)).await.id;
        world.daemon.api.stop_session(stop(&id, cause)).await.unwrap();
        by_badge.push((badge, id));
    }
    let filter = |badges: &[pb::SessionBadge]| pb::SessionFilter {
        badges: badges.iter().map(|badge| (*badge).into()).collect(),
        ..all()
    };
    for (badge, id) in &by_badge {
        world.takes(filter(&[*badge]), &[id]).await;
        assert_eq!(world.session(id).await.badge(), *badge);
    }
    let find = |badge| by_badge.iter().find(|(known, _)| *known == badge).unwrap();
    let (done, input) = (
        find(pb::SessionBadge::Done),
        find(pb::SessionBadge::WaitingForInput),
    );
    world
        .takes(filter(&[done.0, input.0]), &[&done.1, &input.1])
        .await;
}

async fn s211_s264_s376_values_that_nobody_knows(world: World) {
    let filters = [
        (
            "badges",
            pb::SessionFilter {
                badges: vec![99],
                ..all()
            },
        ),
        (
            "states",
            pb::SessionFilter {
                states: vec![2, 99],
                ..all()
            },
        ),
        (
            "types",
            pb::SessionFilter {
                types: vec![99],
                ..all()
            },
        ),
        ("archive", pb::SessionFilter { archive: 99, ..all() }),
        (
            "runtimes",
            pb::SessionFilter {
                runtimes: vec![99],
                ..all()
            },
        ),
    ];
    for (field, filter) in filters {
        world.list_refused(list(filter.clone()), field).await;
        let call = world.daemon.api.count_sessions(crate::pages::count(filter));
        let failure = call.await.unwrap_err();
        assert_eq!(
            (failure.reason.as_str(), failure.fields),
            ("INVALID_FIELD", vec![field.to_owned()])
        );
    }
}

async fn s247_s248_agents_are_exact(world: World) {
    let (a, _) = world.a_and_b().await;
    let mut ids = Vec::new();
    for agent in ["x", "y", "z", "X"] {
        let request = pb::CreateSessionRequest {
            agent: Some(agent.to_owned()),
            ..new(&a.id)
        };
        ids.push(world.create(request).await.id);
    }
    let agents = |names: &[&str]| pb::SessionFilter {
        agents: names.iter().map(|name| (*name).to_owned()).collect(),
        ..all()
    };
    world.takes(agents(&["x", "y"]), &[&ids[0], &ids[1]]).await;
    world.takes(agents(&["nope"]), &[]).await;
    // A hundred values, and one more.
    let many: Vec<String> = (0..100).map(|number| format!("n{number}")).collect();
    let filter = |agents| pb::SessionFilter { agents, ..all() };
    world.takes(filter(many.clone()), &[]).await;
    let more = [many, vec!["x".to_owned()]].concat();
    world.list_refused(list(filter(more)), "agents").await;
    world.list_refused(list(agents(&["x", " "])), "agents").await;
}

async fn s249_s250_states_types_and_providers(world: World) {
    use pb::SessionState::{Active, Orphaned, Starting, Stopped};
    let (a, _) = world.a_and_b().await;
    let make = async |session_type: pb::SessionType, provider: &str| {
        let request = pb::CreateSessionRequest {
            r#type: session_type.into(),
            provider: Some(provider.to_owned()),
            ..new(&a.id)
        };
        world.create(request).await.id
    };
    let user = make(pb::SessionType::User, "p").await;
    let spawned = make(pb::SessionType::Spawned, "p").await;
    let other = make(pb::SessionType::User, "q").await;
    let system = make(pb::SessionType::System, "p").await;
    let starting = pb::CreateSessionRequest {
        initial_state: Starting.into(),
        ..new(&a.id)
    };
    let starting = world.create(starting).await.id;
    world.stop(&spawned).await;
    let states = |states: &[pb::SessionState]| pb::SessionFilter {
        states: states.iter().map(|state| (*state).into()).collect(),
        ..all()
    };
    world
        .takes(states(&[Active, Stopped]), &[&user, &spawned, &other, &system])
        .await;
    world.takes(states(&[Starting]), &[&starting]).await;
    world.takes(states(&[Orphaned]), &[]).await;
    let types = pb::SessionFilter {
        types: vec![pb::SessionType::User.into(), pb::SessionType::Spawned.into()],
        ..all()
    };
    world
        .takes(types.clone(), &[&user, &spawned, &other, &starting])
        .await;
    let of_p = pb::SessionFilter {
        providers: vec!["p".to_owned()],
        ..all()
    };
    world.takes(of_p.clone(), &[&user, &spawned, &system]).await;
    let all_of_them = pb::SessionFilter {
        types: types.types,
        providers: of_p.providers,
        ..states(&[Active, Stopped])
    };
    world.takes(all_of_them.clone(), &[&user, &spawned]).await;
    let narrower = pb::SessionFilter {
        states: vec![Active.into()],
        ..all_of_them
    };
    world.takes(narrower, &[&user]).await;
}

async fn s251_s252_parents_and_roots(world: World) {
    let (a, _) = world.a_and_b().await;
    let child = |parent: &str| pb::CreateSessionRequest {
        parent_session_id: parent.to_owned(),
        ..new(&a.id)
    };
    let one = world.create(new(&a.id)).await.id;
    let two = world.create(child(&one)).await.id;
    let three = world.create(child(&two)).await.id;
    let parent = |id: &str| pb::SessionFilter {
        parent: id.to_owned(),
        ..all()
    };
    let root = |id: &str| pb::SessionFilter {
        root: id.to_owned(),
        ..all()
    };
    world.takes(parent(&one), &[&two]).await;
    world.takes(root(&one), &[&one, &two, &three]).await;
    world.takes(root(&two), &[]).await;
    for id in [crate::asked::NOBODY, "sess-zz", "../x", "'; --", "%"] {
        world.takes(parent(id), &[]).await;
        world.takes(root(id), &[]).await;
    }
}

async fn s253_s254_s255_labels_are_exact_pairs(world: World) {
    let (a, _) = world.a_and_b().await;
    let make = async |labels: &[(&str, &str)]| {
        let request = pb::CreateSessionRequest {
            labels: pairs(labels),
            ..new(&a.id)
        };
        world.create(request).await.id
    };
    let with = |labels: &[(&str, &str)]| pb::SessionFilter {
        labels: pairs(labels),
        ..all()
    };
    let prod = make(&[("env", "prod")]).await;
    make(&[("env", "production")]).await;
    make(&[("ENV", "prod")]).await;
    make(&[]).await;
    world.takes(with(&[("env", "prod")]), &[&prod]).await;
    make(&[("a", "1")]).await;
    make(&[("b", "2")]).await;
    let both = make(&[("a", "1"), ("b", "2")]).await;
    let more = make(&[("a", "1"), ("b", "2"), ("c", "3")]).await;
    world
        .takes(with(&[("a", "1"), ("b", "2")]), &[&both, &more])
        .await;
    let percent = make(&[("env", "%")]).await;
    let empty = make(&[("env", "")]).await;
    world.takes(with(&[("env", "%")]), &[&percent]).await;
    world.takes(with(&[("env", "")]), &[&empty]).await;
}

fn pairs(labels: &[(&str, &str)]) -> std::collections::BTreeMap<String, String> {
    let owned = |(key, value): &(&str, &str)| ((*key).to_owned(), (*value).to_owned());
    labels.iter().map(owned).collect()
}

async fn s256_origin_and_profile(world: World) {
    let (a, _) = world.a_and_b().await;
    let native = world.create(new(&a.id)).await;
    let imported = pb::CreateSessionRequest {
        origin: Some(pb::Origin {
            tool: "other-tool".to_owned(),
            id: "7".to_owned(),
        }),
        ..new(&a.id)
    };
    let imported = world.create(imported).await;
    let origin = |tool: &str| pb::SessionFilter {
        origin: tool.to_owned(),
        ..all()
    };
    world.takes(origin("native"), &[&native.id]).await;
    world.takes(origin("other-tool"), &[&imported.id]).await;
    world.takes(origin("other"), &[]).await;
    let profile = |id: &str| pb::SessionFilter {
        profile: id.to_owned(),
        ..all()
    };
    let both = [native.id.as_str(), imported.id.as_str()];
    world.takes(profile(&native.profile_id), &both).await;
    world.takes(profile(crate::requests::ID1), &[]).await;
    world.list_refused(list(profile("reviewer")), "profile").await;
}

async fn s257_resumable_or_not(world: World) {
    let (a, _) = world.a_and_b().await;
    let active = world.create(new(&a.id)).await.id;
    let stopped = world.create(new(&a.id)).await.id;
    world.stop(&stopped).await;
    let archived = world.create(new(&a.id)).await.id;
    world.stop(&archived).await;
    world
        .daemon
        .api
        .archive_session(archive(&archived))
        .await
        .unwrap();
    let filter = |resumable| pb::SessionFilter {
        resumable: Some(resumable),
        archive: pb::ArchiveFilter::Include.into(),
        ..all()
    };
    world.takes(filter(true), &[&stopped]).await;
    world.takes(filter(false), &[&active, &archived]).await;
    for is in [true, false] {
        let (rows, _) = world.page(list(filter(is))).await;
        assert!(rows.iter().all(|row| row.resumable == is));
    }
}

async fn s258_archived_ones(world: World) {
    use pb::ArchiveFilter::{Exclude, Include, Only, Unspecified};
    let (a, _) = world.a_and_b().await;
    let ids: [String; 5] = world.create_some(&a.id).await;
    for id in &ids[3..] {
        world.stop(id).await;
        world.daemon.api.archive_session(archive(id)).await.unwrap();
    }
    for (archive, total) in [(Unspecified, 3), (Exclude, 3), (Only, 2), (Include, 5)] {
        let filter = pb::SessionFilter {
            archive: archive.into(),
            ..all()
        };
        assert_eq!(world.set_of(filter.clone()).await.len(), total);
        assert_eq!(world.total_of(filter).await, i64::try_from(total).unwrap());
    }
}

async fn s259_s260_s261_created_between(world: World) {
    let (a, _) = world.a_and_b().await;
    let before = world.create(new(&a.id)).await.id;
    world.advance(Duration::from_nanos(1)).await;
    let t = world.now();
    let at = world.create(new(&a.id)).await.id;
    world.advance(Duration::from_nanos(1)).await;
    let after = world.create(new(&a.id)).await.id;
    let from = pb::SessionFilter {
        created_after: Some(t),
        ..all()
    };
    world.takes(from, &[&at, &after]).await;
    let until = pb::SessionFilter {
        created_before: Some(t),
        ..all()
    };
    world.takes(until, &[&before]).await;
    let nothing = pb::SessionFilter {
        created_after: Some(t),
        created_before: Some(t),
        ..all()
    };
    world.takes(nothing, &[]).await;
    // The ends of the calendar lie outside of everything that the catalog can hold.
    let far = |seconds| Some(prost_types::Timestamp { seconds, nanos: 0 });
    let everything = pb::SessionFilter {
        created_after: far(-62_135_596_800),
        created_before: far(253_402_300_799),
        ..all()
    };
    world.takes(everything, &[&before, &at, &after]).await;
}

async fn s262_active_between(world: World) {
    let (a, _) = world.a_and_b().await;
    let (early, late) = (
        world.create(new(&a.id)).await.id,
        world.create(new(&a.id)).await.id,
    );
    let (early_lease, late_lease) = (
        world.bound_for(&early, 30).await,
        world.bound_for(&late, 30).await,
    );
    world.advance(Duration::from_secs(20)).await;
    world.active(&early_lease).await;
    world.advance(Duration::from_nanos(1)).await;
    let t = world.now();
    world.active(&late_lease).await;
    // The rows follow what runtimes report by the next sweep, and exactly at the stop.
    for id in [&early, &late] {
        let finish = crate::asked::finish(
            if id == &early { &early_lease } else { &late_lease },
            pb::StopCause::Completed,
        );
        world.daemon.api.finish_session(finish).await.unwrap();
    }
    let filter = pb::SessionFilter {
        active_after: Some(t),
        ..all()
    };
    world.takes(filter, &[&late]).await;
    let filter = pb::SessionFilter {
        active_before: Some(t),
        ..all()
    };
    world.takes(filter, &[&early]).await;
}

async fn s263_s278_what_is_no_instant_and_what_is_too_long(world: World) {
    let instants = [
        prost_types::Timestamp {
            seconds: 0,
            nanos: 1_000_000_000,
        },
        prost_types::Timestamp {
            seconds: 253_402_300_800,
            nanos: 0,
        },
    ];
    for at in instants.map(Some) {
        let filters = [
            (
                "created_after",
                pb::SessionFilter {
                    created_after: at,
                    ..all()
                },
            ),
            (
                "created_before",
                pb::SessionFilter {
                    created_before: at,
                    ..all()
                },
            ),
            (
                "active_after",
                pb::SessionFilter {
                    active_after: at,
                    ..all()
                },
            ),
            (
                "active_before",
                pb::SessionFilter {
                    active_before: at,
                    ..all()
                },
            ),
        ];
        for (field, filter) in filters {
            world.list_refused(list(filter), field).await;
        }
    }
    let query = |query: String| pb::SessionFilter { query, ..all() };
    world.takes(query("q".repeat(256)), &[]).await;
    world.takes(query("\u{1f680}".repeat(256)), &[]).await;
    world.list_refused(list(query("q".repeat(257))), "query").await;
}

async fn s281_an_empty_query_is_no_filter(world: World) {
    let (a, _) = world.a_and_b().await;
    let [one, two] = world.create_some(&a.id).await;
    world
        .daemon
        .api
        .rename_session(rename(&one, "Release Plan"))
        .await
        .unwrap();
    let query = |query: &str| pb::SessionFilter {
        query: query.to_owned(),
        ..of(&a.id)
    };
    world.takes(query(""), &[&one, &two]).await;
    world.takes(query("EASE PL"), &[&one]).await;
    let nowhere = pb::SessionFilter {
        workspace: None,
        ..homeless()
    };
    world.takes(nowhere, &[]).await;
}

async fn s376_runtimes(world: World) {
    use pb::RuntimeState::{Bound, Lost, None};
    let (a, _) = world.a_and_b().await;
    let [none, bound, lost] = world.create_some(&a.id).await;
    world.bound_for(&lost, 1).await;
    world.advance(Duration::from_secs(2)).await;
    world.bound_for(&bound, 30).await;
    // Its lease is over: whoever stops it finds the runtime gone.
    assert_eq!(world.stop(&lost).await.runtime.unwrap().state(), Lost);
    let runtimes = |states: &[pb::RuntimeState]| pb::SessionFilter {
        runtimes: states.iter().map(|state| (*state).into()).collect(),
        workspace: by_id(&a.id),
        ..all()
    };
    world.takes(runtimes(&[None]), &[&none]).await;
    world.takes(runtimes(&[Bound]), &[&bound]).await;
    world.takes(runtimes(&[Bound, Lost]), &[&bound, &lost]).await;
    let page = sorted(runtimes(&[Lost]), pb::SessionSort::Attention, 1);
    assert_eq!(world.page_of_ids(page).await.0, [lost]);
}

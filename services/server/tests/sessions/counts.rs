//! Totals (cases section 19), and what callers see of lists and totals whose eyes are limited (section 20).

use std::collections::BTreeMap;

use compozy_domain::WorkspaceId;
use compozy_proto::session::v1 as pb;
use tonic::Code;

use crate::asked::{NOBODY, archive, delete, get, list, new, rename, stop, ungrouped};
use crate::client::Failure;
use crate::pages::{all, count, homeless, of};
use crate::world::World;

cases! {
    s321_s322_totals_by_state_and_by_workspace,
    s323_three_ways_to_one_total,
    s324_exact_straight_after_every_answer,
    s327_counts_write_nothing,
    s330_s381_what_does_not_exist_for_a_caller,
}

/// Totals by state and by workspace, in the words of a case.
async fn totals(
    world: &World,
    filter: pb::SessionFilter,
) -> (Vec<(pb::SessionState, i64)>, BTreeMap<String, i64>) {
    let counts = world.counts(filter).await;
    let by_state: Vec<_> = counts
        .by_state
        .iter()
        .map(|row| (row.state(), row.count))
        .collect();
    let by_workspace: BTreeMap<_, _> = counts
        .by_workspace
        .iter()
        .map(|row| (row.workspace_id.clone(), row.count))
        .collect();
    assert_eq!(by_workspace.len(), counts.by_workspace.len());
    assert_eq!(by_state.iter().map(|(_, count)| count).sum::<i64>(), counts.total);
    assert_eq!(by_workspace.values().sum::<i64>(), counts.total);
    assert!(!counts.workspaces_truncated && !counts.revision.is_empty());
    (by_state, by_workspace)
}

async fn s321_s322_totals_by_state_and_by_workspace(world: World) {
    use pb::SessionState::{Active, Starting, Stopped};
    let (a, b) = world.a_and_b().await;
    world.create(new(&a.id)).await;
    world.create(new(&a.id)).await;
    let stopped = world.create(new(&b.id)).await.id;
    world.stop(&stopped).await;
    let archived = world.create(new(&b.id)).await.id;
    world.stop(&archived).await;
    world
        .daemon
        .api
        .archive_session(archive(&archived))
        .await
        .unwrap();
    let starting = pb::CreateSessionRequest {
        initial_state: Starting.into(),
        ..ungrouped(world.mkdir("c"))
    };
    world.create(starting).await;
    let (by_state, by_workspace) = totals(&world, all()).await;
    assert_eq!(by_state, [(Starting, 1), (Active, 2), (Stopped, 1)]);
    let places = |of_b| BTreeMap::from([(String::new(), 1), (a.id.clone(), 2), (b.id.clone(), of_b)]);
    assert_eq!(by_workspace, places(1));
    let included = pb::SessionFilter {
        archive: pb::ArchiveFilter::Include.into(),
        ..all()
    };
    let (by_state, by_workspace) = totals(&world, included).await;
    assert_eq!(by_state, [(Starting, 1), (Active, 2), (Stopped, 2)]);
    assert_eq!(by_workspace, places(2));
}

async fn s323_three_ways_to_one_total(world: World) {
    let (a, b) = world.a_and_b().await;
    let c = world.mkdir("c");
    let mut dice = Dice(7);
    for number in 0..36 {
        let request = match dice.roll(3) {
            0 => new(&a.id),
            1 => new(&b.id),
            _ => ungrouped(c.clone()),
        };
        let request = pb::CreateSessionRequest {
            agent: Some(["x", "y", "z"][dice.roll(3)].to_owned()),
            provider: [None, Some("p".to_owned())][dice.roll(2)].clone(),
            r#type: [0, 2, 3, 5][dice.roll(4)],
            labels: [("k".to_owned(), dice.roll(2).to_string())].into(),
            ..request
        };
        let id = world.create(request).await.id;
        if number % 2 == 0 {
            world.stop(&id).await;
        }
        if number % 6 == 0 {
            world.daemon.api.archive_session(archive(&id)).await.unwrap();
        }
    }
    for _ in 0..200 {
        let filter = pb::SessionFilter {
            ungrouped: dice.roll(6) == 0,
            agents: dice.some(&["x", "y"]),
            providers: dice.some(&["p"]),
            states: dice.some(&[2, 4]),
            types: dice.some(&[1, 2, 5]),
            labels: dice
                .some(&["0", "1"])
                .pop()
                .map(|value: String| ("k".to_owned(), value))
                .into_iter()
                .collect(),
            archive: i32::try_from(dice.roll(4)).unwrap(),
            resumable: [None, None, Some(true), Some(false)][dice.roll(4)],
            include_internal: dice.roll(2) == 0,
            ..[all(), of(&a.id), of(&b.id)][dice.roll(3)].clone()
        };
        let filter = pb::SessionFilter {
            ungrouped: filter.ungrouped && filter.workspace.is_none(),
            ..filter
        };
        let (_, by_workspace) = totals(&world, filter.clone()).await;
        let total = by_workspace.values().sum::<i64>();
        let (rows, info) = world.page(crate::pages::first(filter.clone(), 100)).await;
        assert_eq!(info.total, total, "{filter:?}");
        assert_eq!(i64::try_from(rows.len()).unwrap(), total, "{filter:?}");
    }
}

/// Numbers that look random and are the same in every run.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % sides
    }

    /// Mostly nothing, otherwise a part of these.
    fn some<T: Copy, O: From<T>>(&mut self, values: &[T]) -> Vec<O> {
        if self.roll(3) > 0 {
            return Vec::new();
        }
        let until = 1 + self.roll(values.len());
        values[..until].iter().map(|value| O::from(*value)).collect()
    }
}

async fn s324_exact_straight_after_every_answer(world: World) {
    use pb::SessionState::{Active, Stopped};
    let (a, _) = world.a_and_b().await;
    let [one, _two] = world.create_some(&a.id).await;
    let states = async || totals(&world, of(&a.id)).await.0;
    assert_eq!(states().await, [(Active, 2)]);
    world.stop(&one).await;
    assert_eq!(states().await, [(Active, 1), (Stopped, 1)]);
    world.daemon.api.archive_session(archive(&one)).await.unwrap();
    assert_eq!(states().await, [(Active, 1)]);
    world.daemon.api.delete_session(delete(&one)).await.unwrap();
    assert_eq!(states().await, [(Active, 1)]);
    let included = pb::SessionFilter {
        archive: pb::ArchiveFilter::Include.into(),
        ..of(&a.id)
    };
    assert_eq!(world.counts(included).await.total, 1);
}

async fn s327_counts_write_nothing(world: World) {
    let (a, _) = world.a_and_b().await;
    let _: [String; 3] = world.create_some(&a.id).await;
    let counting = async {
        for _ in 0..100 {
            world.counts(of(&a.id)).await;
        }
    };
    world.unchanged_by(counting).await;
}

async fn s330_s381_what_does_not_exist_for_a_caller(world: World) {
    let (a, b) = world.a_and_b().await;
    let renamed = compozy_proto::workspace::v1::Workspace {
        name: Some("quasar".to_owned()),
        ..Default::default()
    };
    let renaming = crate::requests::update(&b.id, &["name"], renamed);
    world.daemon.api.update(renaming).await.unwrap();
    let daemon = world
        .start_for(&[WorkspaceId::from_stored(a.id.clone())], |_| {})
        .await;
    let api = daemon.api.seen_by("limited");
    let own = world.create(new(&a.id)).await.id;
    let hidden = world.create(new(&b.id)).await.id;
    let child = pb::CreateSessionRequest {
        parent_session_id: hidden.clone(),
        ..new(&b.id)
    };
    world.create(child).await;
    world.create(ungrouped(world.mkdir("c"))).await;
    let listed = api.list_sessions(list(all())).await.unwrap();
    let ids: Vec<_> = listed.sessions.into_iter().map(|row| row.id).collect();
    assert_eq!((ids, listed.page.unwrap().total), (vec![own.clone()], 1));
    let counted = api.count_sessions(count(all())).await.unwrap();
    let places: Vec<_> = counted
        .by_workspace
        .into_iter()
        .map(|row| row.workspace_id)
        .collect();
    assert_eq!((counted.total, places), (1, vec![a.id.clone()]));
    let query = |text: &str| pb::SessionFilter {
        query: text.to_owned(),
        ..all()
    };
    let of_hidden = pb::SessionFilter {
        parent: hidden.clone(),
        ..all()
    };
    assert_eq!(world.total_of(query("quasar")).await, 2);
    for filter in [homeless(), query("quasar"), of_hidden] {
        let listed = api.list_sessions(list(filter.clone())).await.unwrap();
        assert_eq!(listed.page.unwrap().total, 0, "{filter:?}");
        assert_eq!(api.count_sessions(count(filter)).await.unwrap().total, 0);
    }
    let foreign = api.list_sessions(list(of(&b.id))).await.unwrap_err();
    let unknown = api
        .list_sessions(list(of("ws_ffffffffffffffff")))
        .await
        .unwrap_err();
    assert_eq!(told(&foreign, &b.id), told(&unknown, "ws_ffffffffffffffff"),);
    // Of a hidden session and of one that never was: the same answer but for the id.
    let answers = async |id: &str| {
        let inspect = pb::InspectSessionRequest {
            session_id: id.to_owned(),
        };
        let health = pb::GetSessionHealthRequest {
            session_id: id.to_owned(),
        };
        let enter = pb::AcquireAttachLeaseRequest {
            session_id: id.to_owned(),
            holder: "operator".to_owned(),
            ..Default::default()
        };
        let failures = [
            api.get_session(get(id)).await.unwrap_err(),
            api.inspect_session(inspect).await.unwrap_err(),
            api.get_session_health(health).await.unwrap_err(),
            api.stop_session(stop(id, pb::StopCause::User)).await.unwrap_err(),
            api.rename_session(rename(id, "x")).await.unwrap_err(),
            api.acquire_attach_lease(enter).await.unwrap_err(),
        ];
        failures.map(|failure| told(&failure, id))
    };
    let hidden = world.unchanged_by(answers(&hidden)).await;
    assert_eq!(hidden, answers(NOBODY).await);
    assert!(
        hidden
            .iter()
            .all(|(code, reason, _)| { (*code, reason.as_str()) == (Code::NotFound, "SESSION_NOT_FOUND") })
    );
}

/// What a failure says but for the id that the caller gave.
fn told(failure: &Failure, id: &str) -> (Code, String, String) {
    let message = failure.message.replace(id, "<id>");
    (failure.code, failure.reason.clone(), message)
}

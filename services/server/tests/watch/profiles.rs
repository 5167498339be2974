//! Changes of profiles and selections: what is told, the rows that ride along, and those of a snapshot.

use compozy_proto::change::v1 as pb;
use compozy_proto::change::v1::row::Record;
use compozy_proto::profile::v1 as profile_pb;
use compozy_proto::workspace::v1 as workspace_pb;
use compozy_proto::workspace::v1::workspace_ref::Form;

use crate::client::{entry, from, of, of_kinds};
use crate::server::Server;
use crate::world::World;

cases! {
    n008_profiles_and_selections_are_told_with_their_rows,
    a_snapshot_has_profiles_and_selections,
    a_watch_of_a_workspace_is_told_of_its_selection_only,
    the_end_of_a_profile_reaches_who_asks_for_selections_only,
}

impl Server {
    async fn create_profile(&self, name: &str) -> profile_pb::Profile {
        let request = profile_pb::CreateProfileRequest {
            name: name.to_owned(),
            ..Default::default()
        };
        let answer = self.profiles().create_profile(request).await.unwrap();
        answer.into_inner().profile.unwrap()
    }

    async fn select(&self, workspace: Option<&str>, profile: Option<&str>) {
        let request = profile_pb::SelectProfileRequest {
            workspace: workspace.map(|id| workspace_pb::WorkspaceRef {
                form: Some(Form::Id(id.to_owned())),
            }),
            profile: profile.map(str::to_owned),
            ..Default::default()
        };
        self.profiles().select_profile(request).await.unwrap();
    }

    async fn delete_profile(&self, name: &str) {
        let request = profile_pb::DeleteProfileRequest {
            profile: name.to_owned(),
            ..Default::default()
        };
        self.profiles().delete_profile(request).await.unwrap();
    }
}

fn selection(workspace: &str, profile: &str) -> Record {
    Record::Selection(pb::ProfileSelection {
        workspace_id: workspace.to_owned(),
        profile_id: profile.to_owned(),
    })
}

fn record(change: &pb::Change) -> Option<Record> {
    change.row.clone().and_then(|row| row.record)
}

async fn n008_profiles_and_selections_are_told_with_their_rows(world: World) {
    let server = world.start().await;
    let a = server.register(&world, "a").await.id;
    let with_rows = pb::WatchCatalogRequest {
        include_rows: true,
        ..Default::default()
    };
    let mut w = server.synced(with_rows).await;
    let p = server.create_profile("p").await;
    let change = w.change().await;
    assert_eq!(entry(&change), "profile upserted created");
    assert_eq!((change.profile_id.as_str(), change.version), (p.id.as_str(), 1));
    assert_eq!(record(&change), Some(Record::Profile(p.clone())));
    for (workspace, named) in [(Some(a.as_str()), a.as_str()), (None, "")] {
        server.select(workspace, Some("p")).await;
        let change = w.change().await;
        assert_eq!(
            (entry(&change).as_str(), change.workspace_id.as_str()),
            ("selection upserted updated", named)
        );
        assert_eq!(record(&change), Some(selection(named, &p.id)));
    }
    server.select(Some(&a), None).await;
    let change = w.change().await;
    assert_eq!(
        (entry(&change).as_str(), change.workspace_id.as_str()),
        ("selection deleted removed", a.as_str())
    );
    server.delete_profile("p").await;
    let change = w.change().await;
    assert_eq!(
        (entry(&change).as_str(), record(&change)),
        ("profile deleted removed", None)
    );
}

async fn a_snapshot_has_profiles_and_selections(world: World) {
    let server = world.start().await;
    let a = server.register(&world, "a").await;
    // More than are read at once.
    let mut profiles = Vec::new();
    for number in 0..40 {
        profiles.push(server.create_profile(&format!("p{number}")).await);
    }
    profiles.sort_by(|one, other| one.id.cmp(&other.id));
    server.select(Some(&a.id), Some("p7")).await;
    server.select(None, Some("default")).await;
    let p7 = profiles
        .iter()
        .find(|profile| profile.name == "p7")
        .unwrap()
        .id
        .clone();
    let records = server
        .watch(from(pb::WatchStart::Snapshot))
        .await
        .snapshot_records()
        .await;
    let mut expected = vec![Record::Workspace(a.clone()), selection(&a.id, &p7)];
    expected.extend(profiles.into_iter().map(Record::Profile));
    expected.push(selection("", "default"));
    assert_eq!(records, expected);
    let selections = pb::WatchCatalogRequest {
        start: pb::WatchStart::Snapshot.into(),
        ..of_kinds(&[pb::ChangeKind::Selection])
    };
    let records = server.watch(selections).await.snapshot_records().await;
    assert_eq!(records, [selection(&a.id, &p7), selection("", "default")]);
}

async fn a_watch_of_a_workspace_is_told_of_its_selection_only(world: World) {
    let server = world.start().await;
    let a = server.register(&world, "a").await.id;
    let b = server.register(&world, "b").await.id;
    let p = server.create_profile("p").await;
    server.select(Some(&a), Some("p")).await;
    server.select(None, Some("p")).await;
    let of_a = pb::WatchCatalogRequest {
        start: pb::WatchStart::Snapshot.into(),
        ..of(&[&a])
    };
    let mut w = server.watch(of_a).await;
    let records = w.snapshot_records().await;
    assert_eq!(records.len(), 2);
    assert_eq!(records[1], selection(&a, &p.id));
    server.select(Some(&b), Some("p")).await;
    server.create_profile("q").await;
    server.select(Some(&a), Some("q")).await;
    let change = w.change().await;
    assert_eq!(
        (change.kind(), change.workspace_id.as_str()),
        (pb::ChangeKind::Selection, a.as_str())
    );
}

async fn the_end_of_a_profile_reaches_who_asks_for_selections_only(world: World) {
    let server = world.start().await;
    let a = server.register(&world, "a").await.id;
    server.create_profile("p").await;
    server.select(Some(&a), Some("p")).await;
    let selections = of_kinds(&[pb::ChangeKind::Selection]);
    let of_a = pb::WatchCatalogRequest {
        workspaces: of(&[&a]).workspaces,
        ..selections.clone()
    };
    let mut everywhere = server.synced(selections).await;
    let mut there = server.synced(of_a).await;
    server.delete_profile("p").await;
    for w in [&mut everywhere, &mut there] {
        assert_eq!(entry(&w.change().await), "profile deleted removed");
    }
    server.remove(&a).await;
    for w in [&mut everywhere, &mut there] {
        assert_eq!(entry(&w.change().await), "workspace deleted removed");
    }
}

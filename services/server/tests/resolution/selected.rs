//! Snapshots under profiles (cases section 7).

use compozy_proto::profile::v1 as profile_pb;
use compozy_proto::workspace::v1 as pb;
use compozy_proto::workspace::v1::ProfileSource as Source;
use tonic::Code;

use crate::place::{only, text, write};
use crate::requests::{by_id, resolve};
use crate::world::World;

cases! {
    r008_an_unknown_profile,
    r110_the_first_that_says_anything_chooses,
    r112_a_blank_variable_is_unset,
    r120_two_workspaces_have_their_own,
    an_archived_profile_is_refused_or_passed_over,
    a_renamed_profile_has_its_layers_under_the_new_name,
}

/// Makes a profile whose personal layer has this provider.
async fn profile(world: &World, name: &str) -> profile_pb::Profile {
    let request = profile_pb::CreateProfileRequest {
        name: name.to_owned(),
        ..Default::default()
    };
    let created = world.daemon.api.create_profile(request).await.unwrap();
    let path = format!("{}/profiles/{name}/config.toml", world.home);
    write(path, format!("[defaults]\nprovider = \"of-{name}\"\n"));
    created.profile.unwrap()
}

async fn select(world: &World, workspace: Option<&str>, name: &str) {
    let request = profile_pb::SelectProfileRequest {
        workspace: workspace.and_then(by_id),
        profile: Some(name.to_owned()),
        ..Default::default()
    };
    world.daemon.api.select_profile(request).await.unwrap();
}

async fn archive(world: &World, name: &str) {
    let request = profile_pb::ArchiveProfileRequest {
        profile: name.to_owned(),
        ..Default::default()
    };
    world.daemon.api.archive_profile(request).await.unwrap();
}

fn asked(id: &str, request: Option<&str>, environment: Option<&str>) -> pb::ResolveWorkspaceRequest {
    pb::ResolveWorkspaceRequest {
        profile: request.map(str::to_owned),
        environment_profile: environment.map(str::to_owned),
        ..resolve(id)
    }
}

/// The active profile, who chose it, and the provider that its layer brought.
async fn active(world: &World, request: pb::ResolveWorkspaceRequest) -> (String, Source, String) {
    let snapshot = world.snapshot_of(request).await.unwrap();
    let source = snapshot.profile_source();
    let provider = text(&snapshot, "defaults.provider");
    (snapshot.profile.unwrap().name, source, provider)
}

fn of(name: &str, source: Source) -> (String, Source, String) {
    (name.to_owned(), source, format!("of-{name}"))
}

async fn r008_an_unknown_profile(world: World) {
    let row = world.reg_new("a").await;
    for (request, environment) in [
        (Some("nope"), None),
        (None, Some("nope")),
        (Some("No Name"), None),
    ] {
        let call = world.daemon.api.resolve(asked(&row.id, request, environment));
        world.refused(Code::NotFound, "PROFILE_NOT_FOUND", call).await;
    }
}

async fn r110_the_first_that_says_anything_chooses(world: World) {
    let mut ids = Vec::new();
    for name in ["b", "c", "d", "e"] {
        ids.push(profile(&world, name).await.id);
    }
    let row = world.reg_new("a").await;
    let request = |request, environment| asked(&row.id, request, environment);
    let plain = world.resolved(&row.id).await;
    assert_eq!(plain.profile_source(), Source::Default);
    assert!(plain.profile.unwrap().is_permanent);
    select(&world, None, "e").await;
    assert_eq!(active(&world, request(None, None)).await, of("e", Source::Global));
    select(&world, Some(&row.id), "d").await;
    assert_eq!(
        active(&world, request(None, None)).await,
        of("d", Source::Workspace)
    );
    assert_eq!(
        active(&world, request(None, Some("c"))).await,
        of("c", Source::Environment)
    );
    assert_eq!(
        active(&world, request(Some("b"), Some("c"))).await,
        of("b", Source::Request)
    );
    assert_eq!(
        active(&world, request(Some(&ids[0]), None)).await,
        of("b", Source::Request)
    );
}

async fn r112_a_blank_variable_is_unset(world: World) {
    let row = world.reg_new("a").await;
    profile(&world, "d").await;
    select(&world, Some(&row.id), "d").await;
    for blank in ["", " \t"] {
        let found = active(&world, asked(&row.id, None, Some(blank))).await;
        assert_eq!(found, of("d", Source::Workspace));
    }
}

async fn r120_two_workspaces_have_their_own(world: World) {
    let (a, b) = (world.reg_new("a").await.id, world.reg_new("b").await.id);
    for name in ["p", "q"] {
        profile(&world, name).await;
    }
    select(&world, Some(&a), "p").await;
    select(&world, Some(&b), "q").await;
    for _ in 0..3 {
        assert_eq!(active(&world, resolve(&a)).await, of("p", Source::Workspace));
        assert_eq!(active(&world, resolve(&b)).await, of("q", Source::Workspace));
    }
    // Another profile of one workspace does not get its answer either.
    assert_eq!(
        active(&world, asked(&a, Some("q"), None)).await,
        of("q", Source::Request)
    );
    assert_eq!(active(&world, resolve(&a)).await, of("p", Source::Workspace));
}

async fn an_archived_profile_is_refused_or_passed_over(world: World) {
    let row = world.reg_new("a").await;
    for name in ["p", "q"] {
        profile(&world, name).await;
    }
    select(&world, None, "q").await;
    select(&world, Some(&row.id), "p").await;
    let before = world.resolved(&row.id).await;
    archive(&world, "p").await;
    let call = world.daemon.api.resolve(asked(&row.id, Some("p"), None));
    world
        .refused(Code::FailedPrecondition, "PROFILE_ARCHIVED", call)
        .await;
    let after = world.resolved(&row.id).await;
    assert_eq!(active(&world, resolve(&row.id)).await, of("q", Source::Global));
    let told = only(&after.diagnostics, "profile_selection_archived");
    assert_eq!(
        (told.severity(), told.profile.as_str()),
        (pb::Severity::Warning, "p")
    );
    assert_eq!(told.path, format!("{}/profiles/p", world.home));
    assert!(told.remedy.contains("compozy profile"), "{told:?}");
    assert_ne!(after.fingerprint, before.fingerprint);
    archive(&world, "q").await;
    let neither = world.resolved(&row.id).await;
    assert_eq!(neither.profile_source(), Source::Default);
    let told = neither
        .diagnostics
        .iter()
        .filter(|told| told.code == "profile_selection_archived");
    assert_eq!(told.count(), 2);
}

async fn a_renamed_profile_has_its_layers_under_the_new_name(world: World) {
    let row = world.reg_new("a").await;
    profile(&world, "p").await;
    select(&world, Some(&row.id), "p").await;
    assert_eq!(active(&world, resolve(&row.id)).await, of("p", Source::Workspace));
    let rename = profile_pb::RenameProfileRequest {
        profile: "p".to_owned(),
        new_name: "q".to_owned(),
        ..Default::default()
    };
    world.daemon.api.rename_profile(rename).await.unwrap();
    let renamed = active(&world, resolve(&row.id)).await;
    assert_eq!(renamed, ("q".to_owned(), Source::Workspace, "of-p".to_owned()));
}

//! Profiles: making, listing, changing, archiving and deleting them (cases of resolution, section 7).

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};

use compozy_domain::{ChangeKind, ChangeOp, ChangeReason};
use compozy_proto::profile::v1 as pb;
use tonic::Code;

use crate::client::Outcome;
use crate::tree::tree;
use crate::world::World;

cases! {
    r100_names_of_the_grammar_are_taken,
    r101_r102_other_names_are_refused,
    r103_a_profile_is_made_with_its_directory,
    r104_a_taken_name_is_a_conflict,
    r104_two_creates_at_once,
    r107_archiving_keeps_everything,
    r109_the_permanent_profile_stays,
    r119_a_directory_that_is_there_is_adopted,
    c152_nothing_is_made_through_a_link,
    a_repeated_request_gets_the_first_answer,
    a_change_of_nothing_writes_nothing,
    a_stale_etag_is_refused,
    a_deleted_profile_leaves_its_directory,
    pages_are_counted_and_begin_with_the_permanent_one,
    a_limited_caller_reads_and_changes_nothing,
    n008_every_write_is_a_change,
}

pub(crate) fn create(name: &str) -> pb::CreateProfileRequest {
    pb::CreateProfileRequest {
        name: name.to_owned(),
        ..Default::default()
    }
}

impl World {
    pub(crate) async fn profile(&self, name: &str) -> pb::Profile {
        let created = self.daemon.api.create_profile(create(name)).await;
        created.unwrap().profile.unwrap()
    }

    pub(crate) async fn archive(&self, name: &str) -> Outcome<pb::Profile> {
        let request = pb::ArchiveProfileRequest {
            profile: name.to_owned(),
            ..Default::default()
        };
        let archived = self.daemon.api.archive_profile(request).await;
        archived.map(|answer| answer.profile.unwrap())
    }

    pub(crate) async fn find_profile(&self, named: &str) -> Outcome<pb::Profile> {
        let request = pb::GetProfileRequest {
            profile: named.to_owned(),
        };
        let found = self.daemon.api.get_profile(request).await;
        found.map(|answer| answer.profile.unwrap())
    }

    /// The personal directory of a profile.
    pub(crate) fn profile_dir(&self, name: &str) -> String {
        format!("{}/profiles/{name}", self.home)
    }

    async fn all_profiles(&self) -> Vec<String> {
        let page = self
            .daemon
            .api
            .list_profiles(pb::ListProfilesRequest::default())
            .await;
        page.unwrap()
            .profiles
            .into_iter()
            .map(|profile| profile.name)
            .collect()
    }
}

async fn r100_names_of_the_grammar_are_taken(world: World) {
    let longest = "a".repeat(32);
    for name in ["a", "a-1", "a-", &longest] {
        assert_eq!(world.profile(name).await.name, name);
    }
}

async fn r101_r102_other_names_are_refused(world: World) {
    let too_long = "a".repeat(33);
    let bad = [
        "Marketing",
        "a b",
        "-a",
        "1a",
        "a_b",
        "",
        &too_long,
        "default",
        "all",
        "global",
    ];
    let before = tree(&world.home);
    for name in bad {
        world
            .refused(
                Code::InvalidArgument,
                "NAME_INVALID",
                world.daemon.api.create_profile(create(name)),
            )
            .await;
    }
    assert_eq!(tree(&world.home), before);
    assert_eq!(world.all_profiles().await, ["default"]);
}

async fn r103_a_profile_is_made_with_its_directory(world: World) {
    let request = pb::CreateProfileRequest {
        color: Some("#2F6FED".to_owned()),
        icon: Some("🦊".to_owned()),
        ..create("p")
    };
    let answer = world.daemon.api.create_profile(request).await.unwrap();
    assert!(!answer.adopted_directory);
    let profile = answer.profile.unwrap();
    assert!(compozy_domain::id::is_ulid(&profile.id), "{profile:?}");
    assert_eq!((profile.state(), profile.version), (pb::ProfileState::Active, 1));
    assert_eq!(
        (profile.color.as_deref(), profile.icon.as_deref()),
        (Some("#2f6fed"), Some("🦊"))
    );
    let mode = fs::metadata(world.profile_dir("p")).unwrap().permissions().mode();
    assert_eq!(mode & 0o7777, 0o700);
    for named in ["p", &profile.id] {
        assert_eq!(world.find_profile(named).await.unwrap(), profile);
    }
    let missing = world.find_profile("nope").await.unwrap_err();
    assert_eq!(
        (missing.code, missing.reason.as_str()),
        (Code::NotFound, "PROFILE_NOT_FOUND")
    );
}

async fn r104_a_taken_name_is_a_conflict(world: World) {
    world.profile("p").await;
    let conflict = || world.daemon.api.create_profile(create("p"));
    world
        .refused(Code::AlreadyExists, "PROFILE_NAME_CONFLICT", conflict())
        .await;
    world.archive("p").await.unwrap();
    let failure = world
        .refused(Code::AlreadyExists, "PROFILE_NAME_CONFLICT", conflict())
        .await;
    assert!(failure.message.contains("unarchive"), "{}", failure.message);
}

async fn r104_two_creates_at_once(world: World) {
    let api = &world.daemon.api;
    let (one, other) = tokio::join!(api.create_profile(create("p")), api.create_profile(create("p")));
    let failed: Vec<_> = [one, other].into_iter().filter_map(Result::err).collect();
    assert_eq!(failed.len(), 1, "{failed:?}");
    assert_eq!(failed[0].reason, "PROFILE_NAME_CONFLICT");
    assert_eq!(world.all_profiles().await, ["default", "p"]);
    assert!(fs::metadata(world.profile_dir("p")).unwrap().is_dir());
}

async fn r107_archiving_keeps_everything(world: World) {
    let made = world.profile("p").await;
    fs::write(format!("{}/config.toml", world.profile_dir("p")), "x").unwrap();
    let before = tree(&world.home);
    let archived = world.archive("p").await.unwrap();
    assert_eq!(
        (archived.id.as_str(), archived.state()),
        (made.id.as_str(), pb::ProfileState::Archived)
    );
    assert_eq!(archived.version, 2);
    let request = pb::UnarchiveProfileRequest {
        profile: made.id.clone(),
        ..Default::default()
    };
    let back = world
        .daemon
        .api
        .unarchive_profile(request)
        .await
        .unwrap()
        .profile
        .unwrap();
    assert_eq!((back.id, back.version), (made.id, 3));
    assert_eq!(tree(&world.home), before);
}

async fn r109_the_permanent_profile_stays(world: World) {
    let (code, reason) = (Code::FailedPrecondition, "PROFILE_PERMANENT");
    let api = &world.daemon.api;
    let rename = pb::RenameProfileRequest {
        profile: "default".to_owned(),
        new_name: "q".to_owned(),
        ..Default::default()
    };
    world.refused(code, reason, api.rename_profile(rename)).await;
    world.refused(code, reason, world.archive("default")).await;
    let delete = pb::DeleteProfileRequest {
        profile: "default".to_owned(),
        ..Default::default()
    };
    world.refused(code, reason, api.delete_profile(delete)).await;
    let found = world.find_profile("default").await.unwrap();
    assert!(found.is_permanent && found.created_at.is_none());
    assert_eq!(found.id, "default");
}

async fn r119_a_directory_that_is_there_is_adopted(world: World) {
    let directory = world.profile_dir("ghost");
    fs::create_dir_all(&directory).unwrap();
    fs::write(format!("{directory}/config.toml"), "broken =").unwrap();
    let before = tree(&world.home);
    let answer = world.daemon.api.create_profile(create("ghost")).await.unwrap();
    assert!(answer.adopted_directory);
    assert_eq!(tree(&world.home), before);
}

async fn c152_nothing_is_made_through_a_link(world: World) {
    let elsewhere = world.mkdir("elsewhere");
    symlink(&elsewhere, format!("{}/profiles", world.home)).unwrap();
    let failure = world
        .refused(
            Code::PermissionDenied,
            "PATH_UNREADABLE",
            world.daemon.api.create_profile(create("p")),
        )
        .await;
    assert!(failure.message.contains("profiles"), "{}", failure.message);
    assert_eq!(fs::read_dir(&elsewhere).unwrap().count(), 0);
    assert_eq!(world.all_profiles().await, ["default"]);
}

async fn a_repeated_request_gets_the_first_answer(world: World) {
    let request = pb::CreateProfileRequest {
        request_id: crate::requests::ID1.to_owned(),
        ..create("p")
    };
    let first = world.daemon.api.create_profile(request.clone()).await.unwrap();
    let again = world
        .unchanged_by(world.daemon.api.create_profile(request.clone()))
        .await;
    assert_eq!(again.unwrap(), first);
    let other = pb::CreateProfileRequest {
        request_id: request.request_id,
        ..create("q")
    };
    let reused = world.daemon.api.create_profile(other).await.unwrap_err();
    assert_eq!(reused.reason, "REQUEST_ID_REUSED");
}

async fn a_change_of_nothing_writes_nothing(world: World) {
    let made = world.profile("p").await;
    let update = pb::UpdateProfileRequest {
        profile: "p".to_owned(),
        new_values: Some(pb::Profile {
            color: Some(String::new()),
            ..Default::default()
        }),
        ..Default::default()
    };
    let answer = world
        .unchanged_by(world.daemon.api.update_profile(update.clone()))
        .await;
    assert_eq!(answer.unwrap().profile.unwrap(), made);
    let colored = pb::UpdateProfileRequest {
        new_values: Some(pb::Profile {
            color: Some("#000000".to_owned()),
            icon: Some("x".to_owned()),
            ..Default::default()
        }),
        update_mask: Some(prost_types::FieldMask {
            paths: vec!["color".to_owned()],
        }),
        ..update
    };
    let changed = world
        .daemon
        .api
        .update_profile(colored)
        .await
        .unwrap()
        .profile
        .unwrap();
    assert_eq!(
        (changed.color.as_deref(), changed.icon.as_deref()),
        (Some("#000000"), Some(""))
    );
    assert_ne!(changed.etag, made.etag);
    let masked = pb::UpdateProfileRequest {
        profile: "p".to_owned(),
        update_mask: Some(prost_types::FieldMask {
            paths: vec!["name".to_owned()],
        }),
        ..Default::default()
    };
    world
        .refused(
            Code::InvalidArgument,
            "INVALID_FIELD",
            world.daemon.api.update_profile(masked),
        )
        .await;
}

async fn a_stale_etag_is_refused(world: World) {
    let made = world.profile("p").await;
    world.archive("p").await.unwrap();
    let stale = pb::UnarchiveProfileRequest {
        profile: "p".to_owned(),
        etag: made.etag.clone(),
        ..Default::default()
    };
    world
        .refused(
            Code::Aborted,
            "ETAG_MISMATCH",
            world.daemon.api.unarchive_profile(stale),
        )
        .await;
    let rename = pb::RenameProfileRequest {
        profile: "p".to_owned(),
        new_name: "q".to_owned(),
        etag: made.etag,
        ..Default::default()
    };
    world
        .refused(
            Code::Aborted,
            "ETAG_MISMATCH",
            world.daemon.api.rename_profile(rename),
        )
        .await;
    assert!(fs::metadata(world.profile_dir("p")).unwrap().is_dir());
}

async fn a_deleted_profile_leaves_its_directory(world: World) {
    let made = world.profile("p").await;
    fs::write(format!("{}/config.toml", world.profile_dir("p")), "x").unwrap();
    let before = tree(&world.home);
    let delete = pb::DeleteProfileRequest {
        profile: "p".to_owned(),
        ..Default::default()
    };
    let answer = world.daemon.api.delete_profile(delete.clone()).await.unwrap();
    assert_eq!(answer.id, made.id);
    assert_eq!(tree(&world.home), before);
    world
        .refused(
            Code::NotFound,
            "PROFILE_NOT_FOUND",
            world.daemon.api.delete_profile(delete.clone()),
        )
        .await;
    let lenient = pb::DeleteProfileRequest {
        allow_missing: true,
        ..delete
    };
    let answer = world
        .unchanged_by(world.daemon.api.delete_profile(lenient))
        .await
        .unwrap();
    assert_eq!(answer.id, "");
    let again = world.profile("p").await;
    assert_ne!(again.id, made.id);
}

async fn pages_are_counted_and_begin_with_the_permanent_one(world: World) {
    for name in ["c", "a", "b"] {
        world.profile(name).await;
    }
    world.archive("b").await.unwrap();
    let walk = |limit: i32, states: Vec<i32>| {
        let api = world.daemon.api.clone();
        async move {
            let (mut names, mut cursor) = (Vec::new(), String::new());
            loop {
                let request = pb::ListProfilesRequest {
                    limit,
                    cursor,
                    states: states.clone(),
                };
                let answer = api.list_profiles(request).await.unwrap();
                let page = answer.page.unwrap();
                names.extend(answer.profiles.into_iter().map(|profile| profile.name));
                assert_eq!(page.has_more, page.next_cursor.is_some());
                match page.next_cursor {
                    Some(next) => cursor = next,
                    None => return (names, page.total),
                }
            }
        }
    };
    let all = ["default", "a", "b", "c"].map(str::to_owned).to_vec();
    for limit in [1, 2, 3, 4, 100] {
        assert_eq!(walk(limit, Vec::new()).await, (all.clone(), 4), "{limit}");
    }
    let active = ["default", "a", "c"].map(str::to_owned).to_vec();
    assert_eq!(walk(1, vec![pb::ProfileState::Active.into()]).await, (active, 3));
    let archived = vec!["b".to_owned()];
    assert_eq!(
        walk(1, vec![pb::ProfileState::Archived.into()]).await,
        (archived, 1)
    );
    let first = pb::ListProfilesRequest {
        limit: 1,
        ..Default::default()
    };
    let cursor = world
        .daemon
        .api
        .list_profiles(first)
        .await
        .unwrap()
        .page
        .unwrap()
        .next_cursor;
    let other = pb::ListProfilesRequest {
        cursor: cursor.unwrap(),
        states: vec![pb::ProfileState::Active.into()],
        ..Default::default()
    };
    let misused = world.daemon.api.list_profiles(other).await.unwrap_err();
    assert_eq!(
        (misused.reason.as_str(), misused.metadata["cause"].as_str()),
        ("CURSOR_INVALID", "other_query")
    );
}

async fn a_limited_caller_reads_and_changes_nothing(world: World) {
    world.profile("p").await;
    let limited = world.daemon.api.seen_by("limited");
    let page = limited
        .list_profiles(pb::ListProfilesRequest::default())
        .await
        .unwrap();
    assert_eq!(page.profiles.len(), 2);
    world
        .refused(
            Code::PermissionDenied,
            "SCOPE_DENIED",
            limited.create_profile(create("q")),
        )
        .await;
    let select = pb::SelectProfileRequest {
        profile: Some("p".to_owned()),
        ..Default::default()
    };
    world
        .refused(
            Code::PermissionDenied,
            "SCOPE_DENIED",
            limited.select_profile(select),
        )
        .await;
    let reader = world.daemon.api.seen_by("reader");
    world
        .refused(
            Code::PermissionDenied,
            "SCOPE_DENIED",
            reader.create_profile(create("q")),
        )
        .await;
}

async fn n008_every_write_is_a_change(world: World) {
    let made = world.profile("p").await;
    let root = world.reg_new("a").await;
    let select = pb::SelectProfileRequest {
        workspace: crate::requests::by_id(&root.id),
        profile: Some("p".to_owned()),
        ..Default::default()
    };
    world.daemon.api.select_profile(select).await.unwrap();
    let delete = pb::DeleteProfileRequest {
        profile: "p".to_owned(),
        ..Default::default()
    };
    world.daemon.api.delete_profile(delete).await.unwrap();
    let changes: Vec<_> = world
        .changes()
        .await
        .into_iter()
        .map(|entry| entry.change)
        .filter(|change| change.kind != ChangeKind::Workspace)
        .collect();
    let what: Vec<_> = changes
        .iter()
        .map(|change| (change.kind, change.op, change.reason))
        .collect();
    assert_eq!(
        what,
        [
            (ChangeKind::Profile, ChangeOp::Upserted, ChangeReason::Created),
            (ChangeKind::Selection, ChangeOp::Upserted, ChangeReason::Updated),
            (ChangeKind::Profile, ChangeOp::Deleted, ChangeReason::Removed),
        ]
    );
    for (change, version) in [(&changes[0], 1), (&changes[2], 2)] {
        assert_eq!(
            change.profile_id.as_ref().map(compozy_domain::ProfileId::as_str),
            Some(made.id.as_str())
        );
        assert_eq!(change.version, version);
    }
    assert_eq!(
        changes[1]
            .workspace_id
            .as_ref()
            .map(compozy_domain::WorkspaceId::as_str),
        Some(root.id.as_str())
    );
}

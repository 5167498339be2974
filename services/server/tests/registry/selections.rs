//! Which profile is selected, and which one is active (cases of resolution, section 7).

use compozy_proto::profile::v1 as pb;
use compozy_proto::workspace::v1::ProfileSource;
use tonic::Code;

use crate::client::Outcome;
use crate::requests::{by_id, remove};
use crate::world::World;

cases! {
    r110_the_first_that_says_anything_chooses,
    r111_an_unknown_profile_is_not_selected,
    r112_a_blank_variable_is_unset,
    r229_an_archived_profile_is_not_selected,
    r107_a_selection_survives_archiving_and_counts_again_afterwards,
    a_selection_ends_with_its_profile,
    a_selection_ends_with_its_workspace,
    a_selection_is_forgotten,
    an_archived_choice_that_is_passed_over_is_told,
    a_workspace_that_is_not_seen_is_not_selected_for,
}

impl World {
    async fn select(
        &self,
        workspace: Option<&str>,
        profile: Option<&str>,
    ) -> Outcome<pb::SelectProfileResponse> {
        let request = pb::SelectProfileRequest {
            workspace: workspace.and_then(by_id),
            profile: profile.map(str::to_owned),
            ..Default::default()
        };
        self.daemon.api.select_profile(request).await
    }

    async fn active(
        &self,
        workspace: Option<&str>,
        asked: Option<&str>,
        environment: Option<&str>,
    ) -> Outcome<(String, ProfileSource)> {
        let request = pb::GetActiveProfileRequest {
            workspace: workspace.and_then(by_id),
            profile: asked.map(str::to_owned),
            environment_profile: environment.map(str::to_owned),
        };
        let answer = self.daemon.api.active_profile(request).await?;
        let source = answer.profile_source();
        let told: Vec<&str> = answer
            .diagnostics
            .iter()
            .map(|found| found.code.as_str())
            .collect();
        let is_default = source == ProfileSource::Default;
        assert!(
            told.is_empty() || (is_default && told == ["profile_selection_archived"]),
            "{told:?}"
        );
        Ok((answer.profile.unwrap().name, source))
    }
}

fn chosen(name: &str, source: ProfileSource) -> (String, ProfileSource) {
    (name.to_owned(), source)
}

async fn r110_the_first_that_says_anything_chooses(world: World) {
    for name in ["b", "c", "d", "e"] {
        world.profile(name).await;
    }
    let a = world.reg_new("a").await.id;
    let other = world.reg_new("other").await.id;
    let at = Some(a.as_str());
    assert_eq!(
        world.active(at, None, None).await.unwrap(),
        chosen("default", ProfileSource::Default)
    );
    world.select(None, Some("e")).await.unwrap();
    world.select(at, Some("d")).await.unwrap();
    let active = async |asked, environment| world.active(at, asked, environment).await.unwrap();
    assert_eq!(
        active(Some("b"), Some("c")).await,
        chosen("b", ProfileSource::Request)
    );
    assert_eq!(
        active(None, Some("c")).await,
        chosen("c", ProfileSource::Environment)
    );
    assert_eq!(active(None, None).await, chosen("d", ProfileSource::Workspace));
    let elsewhere = [Some(other.as_str()), None];
    for place in elsewhere {
        assert_eq!(
            world.active(place, None, None).await.unwrap(),
            chosen("e", ProfileSource::Global)
        );
    }
    world.select(at, Some("default")).await.unwrap();
    assert_eq!(
        active(None, None).await,
        chosen("default", ProfileSource::Workspace)
    );
}

async fn r111_an_unknown_profile_is_not_selected(world: World) {
    world.profile("p").await;
    let a = world.reg_new("a").await.id;
    world.select(Some(&a), Some("p")).await.unwrap();
    for unknown in ["nope", "No Such", "01HXJ9YR4QZ0V7M3T5B8N2C6KD"] {
        world
            .refused(
                Code::NotFound,
                "PROFILE_NOT_FOUND",
                world.select(Some(&a), Some(unknown)),
            )
            .await;
        let failure = world.active(Some(&a), Some(unknown), None).await.unwrap_err();
        assert_eq!(failure.reason, "PROFILE_NOT_FOUND");
    }
    assert_eq!(
        world.active(Some(&a), None, None).await.unwrap(),
        chosen("p", ProfileSource::Workspace)
    );
}

async fn r112_a_blank_variable_is_unset(world: World) {
    let a = world.reg_new("a").await.id;
    for blank in ["", "  ", "\t"] {
        let active = world.active(Some(&a), None, Some(blank)).await.unwrap();
        assert_eq!(active, chosen("default", ProfileSource::Default));
    }
}

async fn r229_an_archived_profile_is_not_selected(world: World) {
    world.profile("p").await;
    world.profile("q").await;
    let a = world.reg_new("a").await.id;
    world.select(Some(&a), Some("q")).await.unwrap();
    world.archive("p").await.unwrap();
    world
        .refused(
            Code::FailedPrecondition,
            "PROFILE_ARCHIVED",
            world.select(Some(&a), Some("p")),
        )
        .await;
    assert_eq!(
        world.active(Some(&a), None, None).await.unwrap(),
        chosen("q", ProfileSource::Workspace)
    );
    let named = world.active(Some(&a), Some("p"), None).await.unwrap_err();
    assert_eq!(named.reason, "PROFILE_ARCHIVED");
}

async fn r107_a_selection_survives_archiving_and_counts_again_afterwards(world: World) {
    world.profile("p").await;
    let a = world.reg_new("a").await.id;
    world.select(Some(&a), Some("p")).await.unwrap();
    world.archive("p").await.unwrap();
    assert_eq!(
        world.active(Some(&a), None, None).await.unwrap(),
        chosen("default", ProfileSource::Default)
    );
    let request = pb::UnarchiveProfileRequest {
        profile: "p".to_owned(),
        ..Default::default()
    };
    world.daemon.api.unarchive_profile(request).await.unwrap();
    assert_eq!(
        world.active(Some(&a), None, None).await.unwrap(),
        chosen("p", ProfileSource::Workspace)
    );
}

async fn a_selection_ends_with_its_profile(world: World) {
    world.profile("p").await;
    let a = world.reg_new("a").await.id;
    world.select(Some(&a), Some("p")).await.unwrap();
    world.select(None, Some("p")).await.unwrap();
    let request = pb::DeleteProfileRequest {
        profile: "p".to_owned(),
        ..Default::default()
    };
    world.daemon.api.delete_profile(request).await.unwrap();
    world.profile("p").await;
    assert_eq!(
        world.active(Some(&a), None, None).await.unwrap(),
        chosen("default", ProfileSource::Default)
    );
}

async fn a_selection_ends_with_its_workspace(world: World) {
    world.profile("p").await;
    let a = world.reg_new("a").await;
    world.select(Some(&a.id), Some("p")).await.unwrap();
    world.daemon.api.remove(remove(&a.id)).await.unwrap();
    let again = world.reg(a.root_dir).await;
    let active = world.active(Some(&again.id), None, None).await.unwrap();
    assert_eq!(active, chosen("default", ProfileSource::Default));
}

async fn a_selection_is_forgotten(world: World) {
    world.profile("p").await;
    let a = world.reg_new("a").await.id;
    world.select(Some(&a), Some("p")).await.unwrap();
    let answer = world.select(Some(&a), None).await.unwrap();
    assert_eq!((answer.profile, answer.workspace_id.as_str()), (None, a.as_str()));
    assert_eq!(
        world.active(Some(&a), None, None).await.unwrap(),
        chosen("default", ProfileSource::Default)
    );
    world.unchanged_by(world.select(Some(&a), None)).await.unwrap();
}

async fn a_workspace_that_is_not_seen_is_not_selected_for(world: World) {
    world.profile("p").await;
    let a = world.reg_new("a").await.id;
    let request = pb::SelectProfileRequest {
        workspace: by_id(&a),
        profile: Some("p".to_owned()),
        ..Default::default()
    };
    let limited = world.daemon.api.seen_by("limited");
    world
        .refused(
            Code::NotFound,
            "WORKSPACE_NOT_FOUND",
            limited.select_profile(request),
        )
        .await;
}

async fn an_archived_choice_that_is_passed_over_is_told(world: World) {
    world.profile("p").await;
    let a = world.reg_new("a").await.id;
    world.select(Some(&a), Some("p")).await.unwrap();
    world.archive("p").await.unwrap();
    let request = pb::GetActiveProfileRequest {
        workspace: by_id(&a),
        ..Default::default()
    };
    let answer = world.daemon.api.active_profile(request).await.unwrap();
    let [told] = &answer.diagnostics[..] else {
        panic!("{:?}", answer.diagnostics)
    };
    assert_eq!(
        (told.code.as_str(), told.profile.as_str()),
        ("profile_selection_archived", "p")
    );
    assert!(
        told.remedy.contains("compozy profile unarchive p"),
        "{}",
        told.remedy
    );
}

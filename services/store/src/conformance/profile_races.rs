//! Promises about writers of profiles and selections that meet.

use std::sync::Arc;

use compozy_domain::{CatalogError, Profile, ProfileState};
use tokio::task::JoinSet;

use super::change_log::assert_dense;
use super::engine::Engine;
use super::fixture::{Catalog, fresh, rejection, removal};
use super::profile_pages::{page, walk};
use super::profile_selections::{select, selecting};
use super::profiles::{created, creating, deleting, find, renaming_to, setting};
use super::request_ids::remembered;
use super::requests::Request;
use crate::call::Answer;
use crate::catalog::CatalogStore as _;
use crate::error::Result;
use crate::profiles::ProfileStore as _;
use crate::workspaces::WorkspaceStore as _;

const ROUNDS: usize = 10;

/// Fails unless one succeeded and the other was refused for the name.
#[track_caller]
fn assert_one_got_the_name(outcomes: Vec<Result<Answer<Profile>>>) {
    let (won, lost): (Vec<_>, Vec<_>) = outcomes.into_iter().partition(std::result::Result::is_ok);
    assert_eq!((won.len(), lost.len()), (1, 1));
    for outcome in lost {
        let error = rejection(outcome);
        assert!(
            matches!(error, CatalogError::ProfileNameConflict { .. }),
            "{error}"
        );
    }
}

pub async fn r104_of_two_creates_at_once_one_succeeds<E: Engine>(catalog: Catalog<E>) {
    for round in 0..ROUNDS {
        let mut tasks = JoinSet::new();
        for _ in 0..2 {
            let (store, call) = (Arc::clone(&catalog.store), catalog.call());
            let create = creating(&format!("p{round}"));
            tasks.spawn(async move { store.create_profile(create, call).await });
        }
        assert_one_got_the_name(tasks.join_all().await);
    }
    assert_eq!(walk(&catalog, page(100)).await.len(), ROUNDS);
    assert_eq!(catalog.log().await.len(), ROUNDS);
}

pub async fn of_two_renames_of_profiles_to_one_name_one_succeeds<E: Engine>(catalog: Catalog<E>) {
    let rows = [created(&catalog, "p").await, created(&catalog, "q").await];
    for round in 0..ROUNDS {
        let mut tasks = JoinSet::new();
        for row in &rows {
            let (store, call) = (Arc::clone(&catalog.store), catalog.call());
            let rename = renaming_to(&row.id, &format!("wanted-{round}"));
            tasks.spawn(async move { store.rename_profile(rename, call).await });
        }
        assert_one_got_the_name(tasks.join_all().await);
    }
}

pub async fn of_two_changes_of_a_profile_with_one_etag_one_succeeds<E: Engine>(catalog: Catalog<E>) {
    let mut profile = created(&catalog, "p").await;
    for round in 0..ROUNDS {
        let mut tasks = JoinSet::new();
        for side in ["left", "right"] {
            let (store, call) = (Arc::clone(&catalog.store), catalog.call());
            let mut rename = renaming_to(&profile.id, &format!("{side}-{round}"));
            rename.etag = Some(profile.etag());
            tasks.spawn(async move { store.rename_profile(rename, call).await });
        }
        let (won, lost): (Vec<_>, Vec<_>) = tasks.join_all().await.into_iter().partition(Result::is_ok);
        assert_eq!((won.len(), lost.len()), (1, 1));
        for outcome in lost {
            let error = rejection(outcome);
            assert!(matches!(error, CatalogError::EtagMismatch { .. }), "{error}");
        }
        profile = find(&catalog, &profile.id).await.unwrap();
    }
    assert_eq!(profile.version, 1 + ROUNDS as i64);
}

/// Whichever comes first: a selection that meets a deletion is refused, or goes with it.
pub async fn a_selection_never_outlives_its_profile<E: Engine>(catalog: Catalog<E>) {
    let workspaces = catalog.register_in_order(&["/w/a", "/w/b", "/w/c"]).await;
    for round in 0..ROUNDS {
        let profile = created(&catalog, &format!("p{round}")).await;
        // So that a deletion has something to forget while others select.
        select(&catalog, Some(&workspaces[0].id), Some(&profile.id))
            .await
            .unwrap();
        let mut selecting_tasks = JoinSet::new();
        let mut deleting_tasks = JoinSet::new();
        for (place, row) in workspaces.iter().enumerate() {
            if place == round % 3 {
                let (store, call) = (Arc::clone(&catalog.store), catalog.call());
                let delete = deleting(&profile.id);
                deleting_tasks.spawn(async move { store.delete_profile(delete, call).await });
            }
            let (store, call) = (Arc::clone(&catalog.store), catalog.call());
            let select = selecting(Some(&row.id), Some(&profile.id));
            selecting_tasks.spawn(async move { store.select_profile(select, call).await });
        }
        for outcome in selecting_tasks.join_all().await {
            if outcome.is_err() {
                let error = rejection(outcome);
                assert!(matches!(error, CatalogError::ProfileNotFound { .. }), "{error}");
            }
        }
        for outcome in deleting_tasks.join_all().await {
            assert_eq!(fresh(outcome.unwrap()).value, Some(profile.id.clone()));
        }
        for row in &workspaces {
            let left = catalog.store.selections(Some(&row.id)).await.unwrap();
            assert_eq!((left.workspace, left.global), (None, None));
        }
        assert_eq!(catalog.store.examine().await.unwrap(), []);
    }
    assert_dense(&catalog.log().await);
}

/// Whichever comes first: a selection that meets an archive was made before it, or is refused.
pub async fn no_profile_is_selected_once_it_is_archived<E: Engine>(catalog: Catalog<E>) {
    for round in 0..ROUNDS {
        let profile = created(&catalog, &format!("p{round}")).await;
        let (mut tasks, mut archiving) = (JoinSet::new(), JoinSet::new());
        for place in 0..3 {
            if place == round % 3 {
                let (store, call) = (Arc::clone(&catalog.store), catalog.call());
                let archive = setting(&profile.id, ProfileState::Archived);
                archiving.spawn(async move { store.set_profile_state(archive, call).await });
            }
            let (store, call) = (Arc::clone(&catalog.store), catalog.call());
            let select = selecting(None, Some(&profile.id));
            tasks.spawn(async move { store.select_profile(select, call).await });
        }
        for outcome in tasks.join_all().await {
            if outcome.is_err() {
                let error = rejection(outcome);
                assert!(matches!(error, CatalogError::ProfileArchived { .. }), "{error}");
            }
        }
        for outcome in archiving.join_all().await {
            assert_eq!(fresh(outcome.unwrap()).value.state, ProfileState::Archived);
        }
        assert_selected_before_archived(&catalog, &profile).await;
    }
}

/// Fails if the log tells a selection of a profile behind its archive.
async fn assert_selected_before_archived<E: Engine>(catalog: &Catalog<E>, profile: &Profile) {
    let entries = catalog.log().await;
    let about: Vec<&str> = entries
        .iter()
        .filter(|entry| entry.change.profile_id.as_ref() == Some(&profile.id))
        .map(|entry| entry.change.reason.as_str())
        .collect();
    assert_eq!(about.last(), Some(&"archived"), "{about:?}");
}

/// Whichever comes first: no selection of a workspace is left behind, and none is made for one that is gone.
pub async fn a_selection_never_outlives_its_workspace<E: Engine>(catalog: Catalog<E>) {
    let profile = created(&catalog, "p").await;
    for round in 0..ROUNDS {
        let row = catalog.register(&format!("/w/{round}")).await;
        let (mut selecting_tasks, mut removing_tasks) = (JoinSet::new(), JoinSet::new());
        for turn in [round % 2, (round + 1) % 2] {
            let store = Arc::clone(&catalog.store);
            if turn == 0 {
                let (select, call) = (selecting(Some(&row.id), Some(&profile.id)), catalog.call());
                selecting_tasks.spawn(async move { store.select_profile(select, call).await });
            } else {
                let (remove, call) = (removal(&row.id), catalog.call());
                removing_tasks.spawn(async move { store.remove(remove, call).await });
            }
        }
        for outcome in removing_tasks.join_all().await {
            assert!(fresh(outcome.unwrap()).value.workspace.is_some());
        }
        for outcome in selecting_tasks.join_all().await {
            if outcome.is_err() {
                let error = rejection(outcome);
                assert!(matches!(error, CatalogError::WorkspaceNotFound { .. }), "{error}");
            }
        }
        let left = catalog.store.find_selections(&[row.id], true).await.unwrap();
        assert_eq!(left, []);
    }
    assert_eq!(catalog.store.examine().await.unwrap(), []);
    assert_dense(&catalog.log().await);
}

/// Those of one scope are in one order, and their versions tell it.
pub async fn selections_made_at_once_count_up_one_by_one<E: Engine>(catalog: Catalog<E>) {
    let rows = [created(&catalog, "p").await, created(&catalog, "q").await];
    let mut tasks = JoinSet::new();
    for number in 0..40 {
        let (store, call) = (Arc::clone(&catalog.store), catalog.call());
        let wanted = (number % 4 < 3).then(|| rows[number % 2].id.clone());
        let select = selecting(None, wanted.as_ref());
        tasks.spawn(async move { store.select_profile(select, call).await });
    }
    for outcome in tasks.join_all().await {
        fresh(outcome.unwrap());
    }
    let entries = catalog.log().await;
    assert_dense(&entries);
    let told: Vec<_> = entries[rows.len()..].iter().map(|entry| &entry.change).collect();
    for (place, change) in told.iter().enumerate() {
        assert_eq!(change.version, place as i64 + 1);
    }
    for pair in told.windows(2) {
        assert_ne!(
            pair[0].profile_id, pair[1].profile_id,
            "each entry tells something new"
        );
    }
    let last = told.last().and_then(|change| change.profile_id.clone());
    let global = catalog.store.selections(None).await.unwrap().global;
    assert_eq!(global.map(|profile| profile.id), last);
}

pub async fn many_creates_with_one_request_id_make_one_profile<E: Engine>(catalog: Catalog<E>) {
    let request = Request::new("CreateProfile");
    let create = creating("p");
    let mut tasks = JoinSet::new();
    for _ in 0..20 {
        let (store, call) = (Arc::clone(&catalog.store), catalog.call_once(&request));
        let create = create.clone();
        tasks.spawn(async move { store.create_profile(create, call).await });
    }
    let (mut first, mut again) = (Vec::new(), Vec::new());
    for outcome in tasks.join_all().await {
        match outcome.unwrap() {
            Answer::Fresh(written) => first.push(format!("{written:?}").into_bytes()),
            repeated @ Answer::Remembered(_) => again.push(remembered(repeated)),
        }
    }
    assert_eq!((first.len(), again.len()), (1, 19));
    assert!(again.iter().all(|answer| *answer == first[0]));
    assert_eq!(walk(&catalog, page(100)).await.len(), 1);
}

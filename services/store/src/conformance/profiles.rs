//! Promises about the records of profiles.

use compozy_domain::id::new_ulid;
use compozy_domain::profile::ProfileUpdate;
use compozy_domain::{
    CatalogError, ChangeKind, ChangeOp, ChangeReason, NewChange, Profile, ProfileId, ProfileName,
    ProfileState, Timestamp,
};

use super::engine::Engine;
use super::fixture::{Catalog, HOST, fresh, host, rejection};
use super::intents::{abandoned, renaming};
use super::numbers::Numbers;
use super::request_ids::remembered;
use super::requests::Request;
use crate::catalog::CatalogStore as _;
use crate::error::{Error, Result};
use crate::intents::IntentStore as _;
use crate::profiles::{
    CreateProfile, DeleteProfile, ProfileStore as _, RenameProfile, SetProfileState, UpdateProfile,
};

pub(crate) fn profile_name(text: &str) -> ProfileName {
    ProfileName::parse(text).unwrap()
}

pub(crate) fn profile_id() -> ProfileId {
    ProfileId::from_stored(new_ulid(super::fixture::START, &Numbers).unwrap())
}

pub(crate) fn creating(name: &str) -> CreateProfile {
    CreateProfile {
        id: profile_id(),
        name: profile_name(name),
        color: String::new(),
        icon: String::new(),
        host_id: host(HOST),
    }
}

pub(crate) fn renaming_to(id: &ProfileId, name: &str) -> RenameProfile {
    RenameProfile {
        id: id.clone(),
        name: profile_name(name),
        etag: None,
        intent: None,
        host_id: host(HOST),
    }
}

pub(crate) fn setting(id: &ProfileId, state: ProfileState) -> SetProfileState {
    SetProfileState {
        id: id.clone(),
        state,
        etag: None,
        host_id: host(HOST),
    }
}

pub(crate) fn coloring(id: &ProfileId, color: &str) -> UpdateProfile {
    UpdateProfile {
        id: id.clone(),
        update: ProfileUpdate {
            color: Some(color.to_owned()),
            icon: None,
        },
        etag: None,
        host_id: host(HOST),
    }
}

pub(crate) fn deleting(id: &ProfileId) -> DeleteProfile {
    DeleteProfile {
        id: id.clone(),
        allow_missing: false,
        etag: None,
        host_id: host(HOST),
    }
}

/// Makes a profile.
pub(crate) async fn created<E>(catalog: &Catalog<E>, name: &str) -> Profile {
    let answer = catalog.store.create_profile(creating(name), catalog.call()).await;
    fresh(answer.unwrap()).value
}

/// Archives a profile, or takes it back.
pub(crate) async fn put<E>(catalog: &Catalog<E>, id: &ProfileId, state: ProfileState) -> Profile {
    let answer = catalog
        .store
        .set_profile_state(setting(id, state), catalog.call());
    fresh(answer.await.unwrap()).value
}

pub(crate) async fn delete<E>(catalog: &Catalog<E>, id: &ProfileId) -> Option<ProfileId> {
    let answer = catalog.store.delete_profile(deleting(id), catalog.call()).await;
    fresh(answer.unwrap()).value
}

pub(crate) async fn find<E>(catalog: &Catalog<E>, id: &ProfileId) -> Option<Profile> {
    catalog.store.find_profile(id).await.unwrap().0
}

/// The entries behind a position.
pub(crate) async fn told<E>(catalog: &Catalog<E>, position: i64) -> Vec<NewChange> {
    let entries = catalog.log_after(position).await;
    entries.into_iter().map(|entry| entry.change).collect()
}

/// The only entry behind a position.
async fn entry<E>(catalog: &Catalog<E>, position: i64) -> NewChange {
    let mut told = told(catalog, position).await;
    assert_eq!(told.len(), 1, "{told:?}");
    told.remove(0)
}

#[track_caller]
fn assert_tells(change: &NewChange, op: ChangeOp, reason: ChangeReason, id: &ProfileId, version: i64) {
    assert_eq!(
        (change.kind, change.op, change.reason),
        (ChangeKind::Profile, op, reason)
    );
    assert_eq!((change.profile_id.as_ref(), change.version), (Some(id), version));
    assert_eq!(
        (change.workspace_id.as_ref(), &change.host_id),
        (None, &host(HOST))
    );
}

#[track_caller]
fn assert_unknown<T: std::fmt::Debug>(outcome: Result<T>, id: &ProfileId) {
    let reference = id.to_string();
    assert_eq!(rejection(outcome), CatalogError::ProfileNotFound { reference });
}

pub async fn r100_r103_a_created_profile_holds_what_was_given<E: Engine>(catalog: Catalog<E>) {
    for name in ["a", "a-1", "a-", &"a".repeat(32)] {
        let create = CreateProfile {
            color: "#2f6fed".into(),
            icon: "🦊".into(),
            ..creating(name)
        };
        let call = catalog.call();
        let expected = Profile {
            id: create.id.clone(),
            name: create.name.clone(),
            color: "#2f6fed".into(),
            icon: "🦊".into(),
            state: ProfileState::Active,
            version: 1,
            created_at: call.now,
            updated_at: call.now,
        };
        let written = fresh(catalog.store.create_profile(create, call).await.unwrap());
        assert_eq!(written.value, expected);
        assert_eq!(find(&catalog, &expected.id).await.as_ref(), Some(&expected));
        let by_name = catalog
            .store
            .find_profile_by_name(&expected.name)
            .await
            .unwrap()
            .0;
        assert_eq!(by_name, Some(expected));
    }
}

pub async fn n008_each_operation_on_a_profile_appends_one_entry<E: Engine>(catalog: Catalog<E>) {
    let store = &catalog.store;
    let written = fresh(store.create_profile(creating("p"), catalog.call()).await.unwrap());
    let id = written.value.id;
    let upserted = ChangeOp::Upserted;
    let change = entry(&catalog, written.revision.position).await;
    assert_tells(&change, upserted, ChangeReason::Created, &id, 1);

    let answer = store
        .update_profile(coloring(&id, "#000000"), catalog.call())
        .await;
    let change = entry(&catalog, fresh(answer.unwrap()).revision.position).await;
    assert_tells(&change, upserted, ChangeReason::Updated, &id, 2);

    let answer = store.rename_profile(renaming_to(&id, "q"), catalog.call()).await;
    let change = entry(&catalog, fresh(answer.unwrap()).revision.position).await;
    assert_tells(&change, upserted, ChangeReason::Renamed, &id, 3);

    for (state, reason, version) in [
        (ProfileState::Archived, ChangeReason::Archived, 4),
        (ProfileState::Active, ChangeReason::Unarchived, 5),
    ] {
        let answer = store.set_profile_state(setting(&id, state), catalog.call()).await;
        let change = entry(&catalog, fresh(answer.unwrap()).revision.position).await;
        assert_tells(&change, upserted, reason, &id, version);
    }

    let answer = store.delete_profile(deleting(&id), catalog.call()).await;
    let change = entry(&catalog, fresh(answer.unwrap()).revision.position).await;
    assert_tells(&change, ChangeOp::Deleted, ChangeReason::Removed, &id, 6);
}

pub async fn r104_a_taken_name_is_refused_also_that_of_an_archived_profile<E: Engine>(catalog: Catalog<E>) {
    let active = created(&catalog, "active").await;
    let archived = created(&catalog, "archived").await;
    put(&catalog, &archived.id, ProfileState::Archived).await;
    let before = catalog.everything().await;
    for (name, is_archived) in [("active", false), ("archived", true)] {
        let conflict = CatalogError::ProfileNameConflict {
            name: name.to_owned(),
            is_archived,
        };
        let outcome = catalog.store.create_profile(creating(name), catalog.call()).await;
        assert_eq!(rejection(outcome), conflict);
    }
    let rename = renaming_to(&active.id, "archived");
    let error = rejection(catalog.store.rename_profile(rename, catalog.call()).await);
    assert!(
        matches!(
            error,
            CatalogError::ProfileNameConflict {
                is_archived: true,
                ..
            }
        ),
        "{error}"
    );
    assert_eq!(catalog.everything().await, before);
}

/// The name is free again, and who gets it is somebody new.
pub async fn a_deleted_profile_is_gone_and_its_name_is_free<E: Engine>(catalog: Catalog<E>) {
    let first = created(&catalog, "p").await;
    assert_eq!(delete(&catalog, &first.id).await, Some(first.id.clone()));
    assert_eq!(find(&catalog, &first.id).await, None);
    let gone = catalog.store.find_profile_by_name(&first.name).await.unwrap().0;
    assert_eq!(gone, None);
    let second = created(&catalog, "p").await;
    assert_ne!(second.id, first.id);
    assert_eq!(second.version, 1);
}

pub async fn r107_archiving_changes_the_state_and_nothing_else<E: Engine>(catalog: Catalog<E>) {
    let first = created(&catalog, "p").await;
    let archived = put(&catalog, &first.id, ProfileState::Archived).await;
    let expected = Profile {
        state: ProfileState::Archived,
        version: 2,
        updated_at: archived.updated_at,
        ..first.clone()
    };
    assert_eq!(archived, expected);
    assert!(archived.updated_at > first.updated_at);
    let back = put(&catalog, &first.id, ProfileState::Active).await;
    let expected = Profile {
        version: 3,
        updated_at: back.updated_at,
        ..first
    };
    assert_eq!(back, expected);
    assert_eq!(find(&catalog, &back.id).await, Some(back));
}

pub async fn a_profile_is_shown_as_it_was_last_told<E: Engine>(catalog: Catalog<E>) {
    let id = created(&catalog, "p").await.id;
    let updated = async |color: Option<&str>, icon: Option<&str>| {
        let update = UpdateProfile {
            update: ProfileUpdate {
                color: color.map(str::to_owned),
                icon: icon.map(str::to_owned),
            },
            ..coloring(&id, "")
        };
        let answer = catalog.store.update_profile(update, catalog.call()).await;
        let profile = fresh(answer.unwrap()).value;
        assert_eq!(find(&catalog, &id).await.as_ref(), Some(&profile));
        (profile.color, profile.icon)
    };
    let own = |color: &str, icon: &str| (color.to_owned(), icon.to_owned());
    assert_eq!(updated(Some("#123456"), None).await, own("#123456", ""));
    assert_eq!(updated(None, Some("work")).await, own("#123456", "work"));
    assert_eq!(updated(Some(""), Some("")).await, own("", ""));
}

pub async fn what_changes_nothing_of_a_profile_writes_nothing<E: Engine>(catalog: Catalog<E>) {
    let profile = created(&catalog, "p").await;
    let id = &profile.id;
    let store = &catalog.store;
    let before = catalog.everything().await;
    let none = UpdateProfile {
        update: ProfileUpdate::default(),
        ..coloring(id, "")
    };
    for update in [none, coloring(id, "")] {
        let same = fresh(store.update_profile(update, catalog.call()).await.unwrap());
        assert_eq!(same.value, profile);
    }
    let same = store.rename_profile(renaming_to(id, "p"), catalog.call()).await;
    assert_eq!(fresh(same.unwrap()).value, profile);
    assert_eq!(put(&catalog, id, ProfileState::Active).await, profile);
    let missing = DeleteProfile {
        allow_missing: true,
        ..deleting(&profile_id())
    };
    let nothing = store.delete_profile(missing, catalog.call()).await;
    assert_eq!(fresh(nothing.unwrap()).value, None);
    assert_eq!(catalog.everything().await, before);
}

pub async fn a_stale_etag_changes_no_profile<E: Engine>(catalog: Catalog<E>) {
    let first = created(&catalog, "p").await;
    let id = &first.id;
    let current = put(&catalog, id, ProfileState::Archived).await;
    let stale = Some(first.etag());
    let before = catalog.everything().await;
    let mut update = coloring(id, "#000000");
    let mut rename = renaming_to(id, "q");
    let mut set = setting(id, ProfileState::Active);
    let mut remove = deleting(id);
    (update.etag, rename.etag) = (stale.clone(), stale.clone());
    (set.etag, remove.etag) = (stale.clone(), stale);
    let store = &catalog.store;
    let mismatch = CatalogError::EtagMismatch { id: id.to_string() };
    let refused = [
        rejection(store.update_profile(update, catalog.call()).await),
        rejection(store.rename_profile(rename, catalog.call()).await),
        rejection(store.set_profile_state(set, catalog.call()).await),
        rejection(store.delete_profile(remove.clone(), catalog.call()).await),
    ];
    assert!(refused.iter().all(|error| *error == mismatch), "{refused:?}");
    assert_eq!(catalog.everything().await, before);
    remove.etag = Some(current.etag());
    store.delete_profile(remove, catalog.call()).await.unwrap();
    assert_eq!(find(&catalog, id).await, None);
}

/// The permanent profile is no row, and so as unknown to the store as any other.
pub async fn an_unknown_profile_is_not_found<E: Engine>(catalog: Catalog<E>) {
    let store = &catalog.store;
    let before = catalog.everything().await;
    for id in [profile_id(), Profile::permanent().id] {
        assert_eq!(find(&catalog, &id).await, None);
        assert_unknown(store.update_profile(coloring(&id, ""), catalog.call()).await, &id);
        assert_unknown(
            store.rename_profile(renaming_to(&id, "q"), catalog.call()).await,
            &id,
        );
        let set = setting(&id, ProfileState::Active);
        assert_unknown(store.set_profile_state(set, catalog.call()).await, &id);
        assert_unknown(store.delete_profile(deleting(&id), catalog.call()).await, &id);
    }
    assert_eq!(catalog.everything().await, before);
}

/// Whether the name changed or not; a refused one keeps it.
pub async fn a_rename_of_a_profile_ends_its_intent<E: Engine>(catalog: Catalog<E>) {
    let profile = created(&catalog, "p").await;
    created(&catalog, "taken").await;
    let store = &catalog.store;
    for (number, to) in ["q", "q", "taken"].into_iter().enumerate() {
        let intent = renaming(
            &format!("i{number}"),
            &profile.id,
            "/h/profiles/p",
            "/h/profiles/q",
        );
        store.begin_intent(&intent, catalog.tick()).await.unwrap();
        let rename = RenameProfile {
            intent: Some(intent.id.clone()),
            ..renaming_to(&profile.id, to)
        };
        let outcome = store.rename_profile(rename, catalog.call()).await;
        let left = abandoned(&catalog, "owner-2").await;
        if to == "taken" {
            rejection(outcome);
            assert_eq!(left, [intent]);
        } else {
            assert_eq!(fresh(outcome.unwrap()).value.name, profile_name("q"));
            assert_eq!(left, []);
        }
    }
}

pub async fn a_repeated_request_about_a_profile_gets_the_first_answer<E: Engine>(catalog: Catalog<E>) {
    let store = &catalog.store;
    let (create, remove) = (Request::new("CreateProfile"), Request::new("DeleteProfile"));
    let creation = creating("p");
    let first = store.create_profile(creation.clone(), catalog.call_once(&create));
    let first = fresh(first.await.unwrap());
    let id = first.value.id.clone();
    delete(&catalog, &id).await;
    let before = catalog.everything().await;
    let again = store
        .create_profile(creation.clone(), catalog.call_once(&create))
        .await;
    assert_eq!(remembered(again.unwrap()), format!("{first:?}").into_bytes());
    let other = store
        .create_profile(creation, catalog.call_once(&create.asking(2)))
        .await;
    assert_eq!(rejection(other), CatalogError::RequestIdReused);
    assert_eq!(catalog.everything().await, before);

    let second = created(&catalog, "p").await;
    let gone = store.delete_profile(deleting(&second.id), catalog.call_once(&remove));
    let gone = fresh(gone.await.unwrap());
    let again = store
        .delete_profile(deleting(&second.id), catalog.call_once(&remove))
        .await;
    assert_eq!(remembered(again.unwrap()), format!("{gone:?}").into_bytes());
}

pub async fn no_failed_or_late_write_leaves_anything_of_a_profile<E: Engine>(catalog: Catalog<E>) {
    let profile = created(&catalog, "p").await;
    let store = &catalog.store;
    let before = catalog.everything().await;
    store.fail_commits(true);
    let mut failed = Vec::new();
    failed.extend(store.create_profile(creating("q"), catalog.call()).await.err());
    failed.extend(
        store
            .rename_profile(renaming_to(&profile.id, "q"), catalog.call())
            .await
            .err(),
    );
    failed.extend(
        store
            .delete_profile(deleting(&profile.id), catalog.call())
            .await
            .err(),
    );
    store.fail_commits(false);
    assert_eq!(failed.len(), 3);
    let away = |error: &Error| {
        matches!(
            error,
            Error::Unavailable {
                outcome_unknown: false,
                ..
            }
        )
    };
    assert!(failed.iter().all(away), "{failed:?}");
    let mut late = catalog.call();
    late.deadline = std::time::Instant::now();
    let outcome = store.rename_profile(renaming_to(&profile.id, "q"), late).await;
    assert!(matches!(outcome, Err(Error::DeadlineExceeded)), "{outcome:?}");
    assert_eq!(catalog.everything().await, before);
}

/// Also by what profiles carry a clock that went back is noticed.
pub async fn the_newest_instant_is_that_of_the_last_change_of_a_profile<E: Engine>(catalog: Catalog<E>) {
    let id = created(&catalog, "p").await.id;
    let mut call = catalog.call();
    call.now = Timestamp::from_nanos(2_000_000_000_000_000_000);
    let now = call.now;
    catalog
        .store
        .update_profile(coloring(&id, "#000000"), call)
        .await
        .unwrap();
    assert_eq!(catalog.store.newest_at().await.unwrap(), now);
}

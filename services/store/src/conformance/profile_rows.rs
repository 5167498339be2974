//! Promises about stored profiles and selections that this release does not understand: written by hand, or by a
//! newer one.

use compozy_domain::{CatalogError, Profile, ProfileState};

use super::engine::Engine;
use super::fixture::{Catalog, fresh, rejection};
use super::hooks;
use super::profile_pages::{page, walk};
use super::profile_selections::select;
use super::profiles::{coloring, created, delete, deleting, find, profile_id, renaming_to, setting};
use crate::catalog::CatalogStore as _;
use crate::profiles::{ListProfiles, ProfileStore as _};

/// Changes what is stored behind the store's back.
async fn spoil<E: Engine>(catalog: &Catalog<E>, sql: &str) {
    assert_eq!(hooks::execute(&catalog.store, sql).await.unwrap(), 1, "{sql}");
}

/// Rows that are spoiled in each of the ways that are told apart, and one that is not.
async fn spoiled_rows<E: Engine>(catalog: &Catalog<E>) -> (Vec<Profile>, Profile) {
    let mut spoiled = Vec::new();
    for (column, value) in [
        ("state", "asleep"),
        ("id", "01x"),
        ("name", "../up"),
        ("name", "global"),
    ] {
        let row = created(catalog, &format!("p{}", spoiled.len())).await;
        let sql = format!("UPDATE profile SET {column} = '{value}' WHERE id = '{}'", row.id);
        spoil(catalog, &sql).await;
        let id = if column == "id" {
            compozy_domain::ProfileId::from_stored(value.to_owned())
        } else {
            row.id
        };
        spoiled.push(find(catalog, &id).await.unwrap());
    }
    let good = created(catalog, "good").await;
    (spoiled, good)
}

pub async fn bad_profiles_are_listed_and_named<E: Engine>(catalog: Catalog<E>) {
    let (spoiled, good) = spoiled_rows(&catalog).await;
    let rows = walk(&catalog, page(2)).await;
    assert_eq!(rows.len(), 5);
    for row in &rows {
        let expected = if *row == good {
            ProfileState::Active
        } else {
            ProfileState::Archived
        };
        assert_eq!(row.state, expected, "{row:?}");
    }
    let unknown_state = ListProfiles {
        states: vec![ProfileState::Archived],
        ..page(100)
    };
    assert_eq!(walk(&catalog, unknown_state).await, spoiled[..1]);
    let findings = catalog.store.examine().await.unwrap();
    assert_eq!(findings.len(), 4);
    for row in &spoiled {
        let named = findings
            .iter()
            .any(|finding| finding.is_error && finding.message.contains(row.id.as_str()));
        assert!(named, "{row:?} is in no finding");
    }
    let names = catalog.store.profile_names().await.unwrap();
    let names: Vec<&str> = names.iter().map(compozy_domain::ProfileName::as_str).collect();
    assert_eq!(names, ["good", "p0", "p1"], "only what can be a directory");
}

pub async fn bad_profiles_are_neither_changed_nor_selected<E: Engine>(catalog: Catalog<E>) {
    let (spoiled, _good) = spoiled_rows(&catalog).await;
    let store = &catalog.store;
    let before = catalog.everything().await;
    for (number, row) in spoiled.iter().enumerate() {
        let refused = [
            rejection(
                store
                    .update_profile(coloring(&row.id, "#000000"), catalog.call())
                    .await,
            ),
            rejection(
                store
                    .rename_profile(renaming_to(&row.id, "new"), catalog.call())
                    .await,
            ),
            rejection(
                store
                    .set_profile_state(setting(&row.id, ProfileState::Active), catalog.call())
                    .await,
            ),
        ];
        for error in refused {
            assert!(
                matches!(&error, CatalogError::RecordNotUnderstood { id, .. } if *id == row.id.as_str()),
                "{number}: {error:?}"
            );
        }
        let error = rejection(select(&catalog, None, Some(&row.id)).await);
        assert!(matches!(error, CatalogError::ProfileArchived { .. }), "{error:?}");
    }
    assert_eq!(catalog.everything().await, before);
}

pub async fn bad_profiles_go_when_they_are_named<E: Engine>(catalog: Catalog<E>) {
    let (spoiled, good) = spoiled_rows(&catalog).await;
    for row in &spoiled {
        let answer = catalog
            .store
            .delete_profile(deleting(&row.id), catalog.call())
            .await;
        assert_eq!(fresh(answer.unwrap()).value.as_ref(), Some(&row.id));
    }
    assert_eq!(walk(&catalog, page(100)).await, std::slice::from_ref(&good));
    select(&catalog, None, Some(&good.id)).await.unwrap();
    delete(&catalog, &good.id).await;
    assert_eq!(catalog.store.examine().await.unwrap(), []);
}

/// A selection whose workspace or profile is not there is passed over and named.
pub async fn selections_of_what_is_not_there_are_found<E: Engine>(catalog: Catalog<E>) {
    let a = catalog.register("/w/a").await.id;
    let gone = catalog.register("/w/gone").await.id;
    let p = created(&catalog, "p").await;
    for workspace in [Some(&a), Some(&gone), None] {
        select(&catalog, workspace, Some(&p.id)).await.unwrap();
    }
    assert_eq!(catalog.store.examine().await.unwrap(), []);
    spoil(&catalog, &format!("DELETE FROM workspace WHERE id = '{gone}'")).await;
    let lost = profile_id();
    let sql = format!("UPDATE profile_selection SET profile_id = '{lost}' WHERE workspace_id = ''");
    spoil(&catalog, &sql).await;
    let findings = catalog.store.examine().await.unwrap();
    let messages: Vec<&str> = findings.iter().map(|finding| finding.message.as_str()).collect();
    assert_eq!(messages.len(), 2, "{messages:?}");
    assert!(messages[0].contains(lost.as_str()), "{messages:?}");
    assert!(messages[1].contains(gone.as_str()), "{messages:?}");
    assert!(
        findings
            .iter()
            .all(|finding| !finding.is_error && !finding.remedy.is_empty())
    );
    let selections = catalog.store.selections(Some(&a)).await.unwrap();
    assert_eq!((selections.workspace, selections.global), (Some(p), None));
    select(&catalog, None, None).await.unwrap();
    assert_eq!(
        catalog.store.examine().await.unwrap().len(),
        1,
        "the remedy helps"
    );
}

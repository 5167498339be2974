//! Everything that a reader can see, compared with the model.

use compozy_domain::profile::Selection;
use compozy_domain::{ChangeKind, PageLimit, Profile, ProfileName, ProfileState};
use compozy_store::conformance::{Catalog, Engine, Seeded};
use compozy_store::{CatalogStore as _, ListProfiles, ProfileStore as _};

use crate::plain::{Plain, Told};

pub(crate) async fn everything<E: Engine>(catalog: &Catalog<E>, plain: &Plain, numbers: &mut Seeded) {
    let mut by_name = plain.records();
    by_name.sort_by(|left, right| left.name.cmp(&right.name));
    for states in [&[][..], &[ProfileState::Active], &[ProfileState::Archived]] {
        let mut expected = by_name.clone();
        expected.retain(|profile| states.is_empty() || states.contains(&profile.state));
        let limit = 1 + i32::try_from(numbers.below(4)).unwrap();
        assert_eq!(walk(catalog, states, limit).await, expected, "{states:?}");
    }
    let store = &catalog.store;
    let names: Vec<ProfileName> = by_name.iter().map(|profile| profile.name.clone()).collect();
    assert_eq!(store.profile_names().await.unwrap(), names);
    assert_eq!(store.profiles_above(None, 100).await.unwrap(), plain.records());
    for profile in &by_name {
        let by_id = store.find_profile(&profile.id).await.unwrap().0;
        assert_eq!(by_id.as_ref(), Some(profile));
    }
    selections(catalog, plain).await;
    let told: Vec<Told> = catalog
        .log()
        .await
        .into_iter()
        .map(|entry| entry.change)
        .filter(|change| matches!(change.kind, ChangeKind::Profile | ChangeKind::Selection))
        .map(|change| {
            (
                change.kind,
                change.op,
                change.reason,
                change.workspace_id,
                change.profile_id,
                change.version,
            )
        })
        .collect();
    assert_eq!(told, plain.told());
    assert_eq!(store.examine().await.unwrap(), []);
}

/// Every row of a list, page by page, each with the same, true total.
async fn walk<E: Engine>(catalog: &Catalog<E>, states: &[ProfileState], limit: i32) -> Vec<Profile> {
    let mut list = ListProfiles {
        states: states.to_vec(),
        after: None,
        limit: PageLimit::parse(limit).unwrap(),
        counted: None,
    };
    let (mut all, mut totals) = (Vec::new(), Vec::new());
    loop {
        let page = catalog.store.list_profiles(&list).await.unwrap();
        list.after = page.rows.last().map(|row| row.name.clone());
        list.counted = Some((page.revision, page.total));
        totals.push(page.total);
        all.extend(page.rows);
        if !page.has_more {
            break;
        }
    }
    assert!(
        totals.iter().all(|total| *total == all.len() as u64),
        "{totals:?}"
    );
    all
}

async fn selections<E: Engine>(catalog: &Catalog<E>, plain: &Plain) {
    let store = &catalog.store;
    let global = plain.selected(None);
    let mut expected: Vec<Selection> = Vec::new();
    expected.extend(global.clone().map(|profile| Selection {
        workspace_id: None,
        profile_id: profile.id,
    }));
    for workspace in plain.workspaces() {
        let of_workspace = plain.selected(Some(workspace));
        let selections = store.selections(Some(workspace)).await.unwrap();
        assert_eq!(
            (selections.workspace, &selections.global),
            (of_workspace.clone(), &global)
        );
        expected.extend(of_workspace.map(|profile| Selection {
            workspace_id: Some(workspace.clone()),
            profile_id: profile.id,
        }));
    }
    assert_eq!(store.selections(None).await.unwrap().global, global);
    let mut found = store.find_selections(plain.workspaces(), true).await.unwrap();
    found.sort_by(|left, right| left.workspace_id.cmp(&right.workspace_id));
    expected.sort_by(|left, right| left.workspace_id.cmp(&right.workspace_id));
    assert_eq!(found, expected);
}

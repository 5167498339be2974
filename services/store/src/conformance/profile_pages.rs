//! Promises about reading many profiles.

use compozy_domain::{Page, PageLimit, Profile, ProfileId, ProfileState};

use super::engine::Engine;
use super::fixture::Catalog;
use super::profiles::{coloring, created, delete, profile_id, put, renaming_to};
use crate::profiles::{ListProfiles, ProfileStore as _};

/// A number that no count gives, so that it shows whether it was carried.
const CARRIED: u64 = 4_711;

pub(crate) fn page(limit: i32) -> ListProfiles {
    ListProfiles {
        states: Vec::new(),
        after: None,
        limit: PageLimit::parse(limit).unwrap(),
        counted: None,
    }
}

async fn read<E>(catalog: &Catalog<E>, list: &ListProfiles) -> Page<Profile> {
    catalog.store.list_profiles(list).await.unwrap()
}

/// Every row of a list, page by page. Each page tells the same total, and it is true.
pub(crate) async fn walk<E>(catalog: &Catalog<E>, mut list: ListProfiles) -> Vec<Profile> {
    let mut all: Vec<Profile> = Vec::new();
    loop {
        let page = read(catalog, &list).await;
        assert!(page.rows.len() <= list.limit.get() as usize);
        list.after = page.rows.last().map(|row| row.name.clone());
        all.extend(page.rows);
        if !page.has_more {
            assert_eq!(page.total, all.len() as u64, "the total of {list:?}");
            return all;
        }
        assert!(page.total > all.len() as u64, "rows follow, so there are more");
    }
}

fn names(profiles: &[Profile]) -> Vec<&str> {
    profiles.iter().map(|profile| profile.name.as_str()).collect()
}

pub async fn profiles_are_listed_by_the_bytes_of_their_names<E: Engine>(catalog: Catalog<E>) {
    assert_eq!(walk(&catalog, page(10)).await, []);
    for name in ["b", "a1", "a-", "a", "a-1", "ab", "z"] {
        created(&catalog, name).await;
    }
    let sorted = ["a", "a-", "a-1", "a1", "ab", "b", "z"];
    for limit in [1, 2, 3, 7, 100] {
        assert_eq!(names(&walk(&catalog, page(limit)).await), sorted);
    }
    let known = catalog.store.profile_names().await.unwrap();
    let known: Vec<&str> = known.iter().map(compozy_domain::ProfileName::as_str).collect();
    assert_eq!(known, sorted);
}

pub async fn a_page_of_profiles_holds_the_states_that_were_asked_for<E: Engine>(catalog: Catalog<E>) {
    for name in ["a", "b", "c", "d"] {
        let id = created(&catalog, name).await.id;
        if matches!(name, "b" | "d") {
            put(&catalog, &id, ProfileState::Archived).await;
        }
    }
    let (active, archived) = (ProfileState::Active, ProfileState::Archived);
    for (states, expected) in [
        (&[][..], &["a", "b", "c", "d"][..]),
        (&[active], &["a", "c"]),
        (&[archived], &["b", "d"]),
        (&[archived, active], &["a", "b", "c", "d"]),
    ] {
        for limit in [1, 100] {
            let list = ListProfiles {
                states: states.to_vec(),
                ..page(limit)
            };
            assert_eq!(names(&walk(&catalog, list).await), expected);
        }
    }
    let known = catalog.store.profile_names().await.unwrap();
    assert_eq!(known.len(), 4, "an archived profile has a name as well");
}

/// A walk goes on from the name that it saw last, whatever became of its profile.
pub async fn a_deleted_or_renamed_last_profile_does_not_stop_the_walk<E: Engine>(catalog: Catalog<E>) {
    let mut rows = Vec::new();
    for name in ["a", "b", "c", "d", "e"] {
        rows.push(created(&catalog, name).await);
    }
    let mut list = page(2);
    let first = read(&catalog, &list).await;
    assert_eq!(names(&first.rows), ["a", "b"]);
    list.after = Some(rows[1].name.clone());
    delete(&catalog, &rows[1].id).await;
    let second = read(&catalog, &list).await;
    assert_eq!((names(&second.rows), second.has_more), (vec!["c", "d"], true));
    list.after = Some(rows[3].name.clone());
    let rename = renaming_to(&rows[3].id, "dd");
    catalog
        .store
        .rename_profile(rename, catalog.call())
        .await
        .unwrap();
    let third = read(&catalog, &list).await;
    assert_eq!((names(&third.rows), third.has_more), (vec!["dd", "e"], false));
    assert_eq!(third.total, 4);
}

pub async fn a_total_of_profiles_is_carried_while_nothing_changes<E: Engine>(catalog: Catalog<E>) {
    let id = created(&catalog, "a").await.id;
    created(&catalog, "b").await;
    catalog.number_all().await;
    let mut list = page(1);
    let first = read(&catalog, &list).await;
    assert_eq!(first.total, 2);
    list.counted = Some((first.revision.clone(), CARRIED));
    let second = read(&catalog, &list).await;
    assert_eq!((second.total, &second.revision), (CARRIED, &first.revision));
    // Committed, and on Postgres without a position yet.
    let update = coloring(&id, "#000000");
    catalog
        .store
        .update_profile(update, catalog.call())
        .await
        .unwrap();
    assert_eq!(read(&catalog, &list).await.total, 2);
    catalog.number_all().await;
    let third = read(&catalog, &list).await;
    assert_eq!(third.total, 2);
    let mut other_epoch = third.revision;
    other_epoch.epoch.push('x');
    list.counted = Some((other_epoch, CARRIED));
    assert_eq!(read(&catalog, &list).await.total, 2);
}

/// What is read together with a revision holds everything up to it.
pub async fn a_profile_is_read_with_the_head_of_the_log<E: Engine>(catalog: Catalog<E>) {
    let profile = created(&catalog, "a").await;
    catalog.number_all().await;
    let store = &catalog.store;
    let listed = read(&catalog, &page(1)).await.revision;
    let (_, by_id) = store.find_profile(&profile.id).await.unwrap();
    let (_, by_name) = store.find_profile_by_name(&profile.name).await.unwrap();
    let (_, of_none) = store.find_profile(&profile_id()).await.unwrap();
    let selected = store.selections(None).await.unwrap().revision;
    for revision in [&by_id, &by_name, &of_none, &selected] {
        assert_eq!((revision.position, revision), (1, &listed));
    }
}

pub async fn profiles_are_found_by_their_ids<E: Engine>(catalog: Catalog<E>) {
    let mut rows = Vec::new();
    for name in ["a", "b", "c"] {
        rows.push(created(&catalog, name).await);
    }
    let found = async |ids: &[ProfileId]| {
        let mut found = catalog.store.find_profiles(ids).await.unwrap();
        found.sort_by(|left, right| left.name.cmp(&right.name));
        found
    };
    assert_eq!(found(&[]).await, []);
    let some = [rows[2].id.clone(), profile_id(), rows[0].id.clone()];
    assert_eq!(found(&some).await, [rows[0].clone(), rows[2].clone()]);
    assert_eq!(found(&[Profile::permanent().id]).await, []);
}

pub async fn pages_above_an_id_meet_every_profile_once<E: Engine>(catalog: Catalog<E>) {
    let mut expected = Vec::new();
    for number in 0..10 {
        expected.push(created(&catalog, &format!("p{number}")).await);
    }
    expected.sort_by(|left, right| left.id.cmp(&right.id));
    for limit in [1, 3, 100] {
        let mut met: Vec<Profile> = Vec::new();
        loop {
            let after = met.last().map(|profile| profile.id.clone());
            let more = catalog.store.profiles_above(after.as_ref(), limit).await.unwrap();
            assert!(more.len() <= limit as usize);
            if more.is_empty() {
                break;
            }
            met.extend(more);
        }
        assert_eq!(met, expected);
    }
}

//! Promises about names: unique, derived ones numbered, a holder told only to those who may see it.

use compozy_domain::{CatalogError, Visibility, WorkspaceName};

use super::engine::Engine;
use super::fixture::{Catalog, fresh, name, rejection};
use crate::workspaces::{Registered, WorkspaceStore as _};

async fn registered_name<E>(catalog: &Catalog<E>, root: &str) -> String {
    catalog.register(root).await.name.as_str().to_owned()
}

pub async fn w133_w134_a_derived_name_gets_the_next_number<E: Engine>(catalog: Catalog<E>) {
    assert_eq!(registered_name(&catalog, "/a/project").await, "project");
    assert_eq!(registered_name(&catalog, "/b/project").await, "project-2");
    assert_eq!(registered_name(&catalog, "/c/project").await, "project-3");
}

pub async fn w135_w140_a_derived_name_gets_the_first_free_number<E: Engine>(catalog: Catalog<E>) {
    for root in ["/a/project", "/b/project", "/c/project"] {
        catalog.register(root).await;
    }
    let second = catalog
        .store
        .find_by_name("project-2", &Visibility::All)
        .await
        .unwrap()
        .unwrap();
    catalog.remove(&second.id).await.unwrap();
    assert_eq!(registered_name(&catalog, "/d/project").await, "project-2");
}

pub async fn w136_a_name_is_taken_in_every_case<E: Engine>(catalog: Catalog<E>) {
    catalog.created(catalog.new_named("/a", "Project")).await;
    assert_eq!(registered_name(&catalog, "/b/project").await, "project-2");
    let register = catalog.new_named("/c", "PROJECT");
    let error = rejection(catalog.store.register(register, catalog.call()).await);
    assert!(matches!(error, CatalogError::NameConflict { .. }), "{error}");
}

pub async fn w138_a_long_base_name_leaves_room_for_its_number<E: Engine>(catalog: Catalog<E>) {
    let long = "n".repeat(80);
    let first = registered_name(&catalog, &format!("/a/{long}")).await;
    let second = registered_name(&catalog, &format!("/b/{long}")).await;
    assert_eq!((first.len(), second.len()), (64, 64));
    assert!(second.ends_with("-2"), "{second}");
    assert!(WorkspaceName::parse(&first).is_ok() && WorkspaceName::parse(&second).is_ok());
}

/// More than the candidates of one look.
pub async fn a_hundred_directories_of_one_base_name<E: Engine>(catalog: Catalog<E>) {
    catalog.register("/0/same").await;
    for number in 2..=100 {
        let expected = format!("same-{number}");
        assert_eq!(
            registered_name(&catalog, &format!("/{number}/same")).await,
            expected
        );
    }
}

pub async fn a_taken_explicit_name_is_refused_and_nothing_is_written<E: Engine>(catalog: Catalog<E>) {
    let holder = catalog.created(catalog.new_named("/a", "api")).await;
    let before = catalog.everything().await;
    let register = catalog.new_named("/b", "API");
    let error = rejection(catalog.store.register(register, catalog.call()).await);
    assert_eq!(
        error,
        CatalogError::NameConflict {
            name: "API".into(),
            holder: Some(holder.id)
        }
    );
    assert_eq!(catalog.everything().await, before);
}

pub async fn the_holder_of_a_name_is_hidden_from_those_who_may_not_see_it<E: Engine>(catalog: Catalog<E>) {
    let hidden = catalog.created(catalog.new_named("/a", "api")).await;
    let visible = catalog.created(catalog.new_named("/b", "web")).await;
    let only = Visibility::Only(vec![visible.id.clone()]);
    let register = catalog.new_named("/c", "api");
    let error = rejection(
        catalog
            .store
            .register(register, catalog.call_as(only.clone()))
            .await,
    );
    let unnamed = CatalogError::NameConflict {
        name: "api".into(),
        holder: None,
    };
    assert_eq!(error, unnamed);
    let rename = super::update::rename(&visible.id, "api");
    assert_eq!(
        rejection(catalog.store.update(rename.clone(), catalog.call_as(only)).await),
        unnamed
    );
    let named = CatalogError::NameConflict {
        name: "api".into(),
        holder: Some(hidden.id),
    };
    assert_eq!(
        rejection(catalog.store.update(rename, catalog.call()).await),
        named
    );
}

pub async fn the_path_is_looked_at_before_the_name<E: Engine>(catalog: Catalog<E>) {
    catalog.created(catalog.new_named("/a", "api")).await;
    let web = catalog.created(catalog.new_named("/b", "web")).await;
    let register = catalog.new_named("/b", "api");
    let answer = fresh(catalog.store.register(register, catalog.call()).await.unwrap());
    assert_eq!(answer.value, Registered::Existing(web));
}

pub async fn a_name_is_found_by_its_key<E: Engine>(catalog: Catalog<E>) {
    let workspace = catalog.created(catalog.new_named("/a", "Straße 1")).await;
    let find = async |given: &str| {
        let key = WorkspaceName::lookup_key(given);
        catalog.store.find_by_name(&key, &Visibility::All).await.unwrap()
    };
    assert_eq!(find("straße 1").await, Some(workspace.clone()));
    assert_eq!(find("STRASSE 1").await, None);
    assert_eq!(find("a\0b").await, None);
    let nobody = Visibility::Only(Vec::new());
    let key = name("Straße 1").key().to_owned();
    assert_eq!(catalog.store.find_by_name(&key, &nobody).await.unwrap(), None);
}

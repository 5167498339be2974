//! What a start does for the texts of sessions.

use compozy_domain::session::filter::SessionFilter;
use compozy_domain::text::fold_for_search;

use super::engine::Engine;
use super::fixture::Catalog;
use super::session_list_planted::{ids, numbered, plain};

fn query(text: &str) -> SessionFilter {
    SessionFilter {
        query: Some(fold_for_search(text)),
        ..SessionFilter::default()
    }
}

/// A catalog of before this release gets its folded names when it is opened.
pub async fn names_of_workspaces_are_folded_when_the_catalog_is_opened<E: Engine>(catalog: Catalog<E>) {
    let mut workspaces = Vec::new();
    for number in 0..3 {
        let register = catalog.new_named(&format!("/w/{number}"), &format!("Stra\u{df}e{number}"));
        workspaces.push(catalog.created(register).await);
    }
    super::hooks::execute(&catalog.store, "UPDATE workspace SET name_search = ''")
        .await
        .unwrap();
    catalog
        .plant(&[plain(1, Some(&workspaces[1]), 1)], &[&workspaces[1]])
        .await;
    assert_eq!(catalog.found_sessions(&query("strasse1")).await, ids([]));
    let catalog = catalog.reopened().await;
    assert_eq!(catalog.found_sessions(&query("strasse1")).await, [numbered(1)]);
    assert_eq!(catalog.found_sessions(&query("strasse2")).await, ids([]));
}

//! Promises about which rows a list holds.

use compozy_domain::text::fold_for_search;
use compozy_domain::workspace::{WorkspaceFilter, WorkspaceOrder};
use compozy_domain::{WorkspaceName, WorkspaceStatus};

use super::engine::Engine;
use super::fixture::{Catalog, host, names_of};
use super::observations::observe;
use crate::workspaces::ListWorkspaces;

fn by_prefix<E>(catalog: &Catalog<E>, prefix: &str, limit: i32) -> ListWorkspaces {
    let mut list = catalog.page(WorkspaceOrder::Name, limit);
    list.filter.name_prefix = Some(WorkspaceName::lookup_key(prefix));
    list
}

async fn found<E: Engine>(catalog: &Catalog<E>, filter: WorkspaceFilter) -> Vec<String> {
    let mut names: Vec<Vec<String>> = Vec::new();
    for (order, limit) in [
        (WorkspaceOrder::Manual, 100),
        (WorkspaceOrder::Name, 1),
        (WorkspaceOrder::Created, 2),
        (WorkspaceOrder::Updated, 3),
    ] {
        let list = ListWorkspaces {
            filter: filter.clone(),
            ..catalog.page(order, limit)
        };
        let mut rows = names_of(&catalog.walk(list).await);
        rows.sort_unstable();
        names.push(rows);
    }
    assert!(
        names.iter().all(|other| *other == names[0]),
        "every order holds the same rows: {names:?}"
    );
    names.swap_remove(0)
}

pub async fn w206_a_name_prefix_has_one_total_on_every_page<E: Engine>(catalog: Catalog<E>) {
    for name in ["API", "app", "web", "ap", "bap"] {
        catalog
            .created(catalog.new_named(&format!("/w/{name}"), name))
            .await;
    }
    let mut list = by_prefix(&catalog, "ap", 1);
    let mut names = Vec::new();
    loop {
        let page = catalog.read(&list).await;
        assert_eq!((page.total, page.rows.len()), (3, 1));
        names.extend(names_of(&page.rows));
        list.after = page.rows.last().map(|row| row.place(list.order));
        if !page.has_more {
            break;
        }
    }
    assert_eq!(names, ["ap", "API", "app"]);
    assert_eq!(
        names_of(&catalog.walk(by_prefix(&catalog, "AP", 10)).await),
        names
    );
    assert_eq!(catalog.walk(by_prefix(&catalog, "apx", 10)).await, []);
}

/// Characters that mean something in a pattern, and the ends of the range of code points.
pub async fn a_prefix_is_taken_literally<E: Engine>(catalog: Catalog<E>) {
    for name in ["a_b", "a.b", "axb", "ab", "a\u{2fa1d}"] {
        catalog
            .created(catalog.new_named(&format!("/w/{name}"), name))
            .await;
    }
    assert_eq!(
        names_of(&catalog.walk(by_prefix(&catalog, "a_", 10)).await),
        ["a_b"]
    );
    assert_eq!(
        names_of(&catalog.walk(by_prefix(&catalog, "a%", 10)).await),
        Vec::<String>::new()
    );
    assert_eq!(
        names_of(&catalog.walk(by_prefix(&catalog, "a\0", 10)).await),
        Vec::<String>::new()
    );
    assert_eq!(catalog.walk(by_prefix(&catalog, "a", 10)).await.len(), 5);
}

pub async fn a_search_finds_ids_names_titles_and_roots<E: Engine>(catalog: Catalog<E>) {
    let mut register = catalog.new_named("/home/Ünïcode/x_y", "Checkout");
    register.workspace.title = "Straße 100%".into();
    let workspace = catalog.created(register).await;
    catalog.created(catalog.new_named("/srv/other", "other")).await;
    let query = |text: &str| WorkspaceFilter {
        query: Some(fold_for_search(text)),
        ..WorkspaceFilter::default()
    };
    let id = workspace.id.to_string();
    for text in [
        "CHECK",
        "strasse",
        "ÜNÏCODE",
        "100%",
        "x_y",
        &id[3..12],
        "ｃｈｅｃｋ",
    ] {
        assert_eq!(found(&catalog, query(text)).await, ["Checkout"], "{text}");
    }
    for text in ["100_", "x%y", "checkoutx", "a\0b", "Checkout Straße"] {
        assert_eq!(
            found(&catalog, query(text)).await,
            Vec::<String>::new(),
            "{text:?}"
        );
    }
    assert_eq!(found(&catalog, query("")).await.len(), 2);
}

/// A search sees a record as it is after each kind of change.
pub async fn a_search_follows_every_change<E: Engine>(catalog: Catalog<E>) {
    let workspace = catalog.register("/w/before").await;
    let update = super::update::rename(&workspace.id, "Renamed");
    crate::WorkspaceStore::update(&*catalog.store, update, catalog.call())
        .await
        .unwrap();
    super::relink::relink(&catalog, &workspace.id, "/w/before", "/w/after").await;
    let query = |text: &str| WorkspaceFilter {
        query: Some(fold_for_search(text)),
        ..WorkspaceFilter::default()
    };
    assert_eq!(found(&catalog, query("renamed")).await, ["Renamed"]);
    assert_eq!(found(&catalog, query("/w/after")).await, ["Renamed"]);
    assert_eq!(found(&catalog, query("/w/before")).await, Vec::<String>::new());
}

pub async fn a_status_is_what_the_observer_last_saw<E: Engine>(catalog: Catalog<E>) {
    for (root, status) in [
        ("/w/ok", Some(WorkspaceStatus::Ok)),
        ("/w/gone", Some(WorkspaceStatus::RootMissing)),
        ("/w/changed", Some(WorkspaceStatus::IdentityChanged)),
        ("/w/unseen", None),
    ] {
        let workspace = catalog.register(root).await;
        if let Some(status) = status {
            observe(&catalog, &workspace, status).await;
        }
    }
    let mut register = catalog.new_at("/w/foreign");
    register.workspace.host_id = host("h2");
    let foreign = catalog.created(register).await;
    observe(&catalog, &foreign, WorkspaceStatus::Ok).await;
    let filter = |statuses: &[WorkspaceStatus], not_observed: bool| WorkspaceFilter {
        statuses: statuses.to_vec(),
        not_observed,
        ..WorkspaceFilter::default()
    };
    assert_eq!(
        found(&catalog, filter(&[WorkspaceStatus::Ok], false)).await,
        ["ok"]
    );
    assert_eq!(
        found(
            &catalog,
            filter(
                &[WorkspaceStatus::RootMissing, WorkspaceStatus::IdentityChanged],
                false
            )
        )
        .await,
        ["changed", "gone"]
    );
    assert_eq!(found(&catalog, filter(&[], true)).await, ["unseen"]);
    assert_eq!(
        found(&catalog, filter(&[WorkspaceStatus::Ok], true)).await,
        ["ok", "unseen"]
    );
    assert_eq!(
        found(&catalog, filter(&[WorkspaceStatus::OtherHost], false)).await,
        ["foreign"]
    );
    assert_eq!(
        found(
            &catalog,
            filter(&[WorkspaceStatus::OtherHost, WorkspaceStatus::RootMissing], true)
        )
        .await,
        ["foreign", "gone", "unseen"]
    );
    assert_eq!(
        found(&catalog, filter(&[WorkspaceStatus::RootUnreadable], false)).await,
        Vec::<String>::new()
    );
    assert_eq!(found(&catalog, filter(&[], false)).await.len(), 5);
}

pub async fn filters_are_joined_by_and<E: Engine>(catalog: Catalog<E>) {
    for root in ["/x/api", "/y/api-2", "/x/web"] {
        let workspace = catalog.register(root).await;
        if root.starts_with("/x") {
            observe(&catalog, &workspace, WorkspaceStatus::RootMissing).await;
        }
    }
    let filter = WorkspaceFilter {
        name_prefix: Some("ap".into()),
        query: Some("/x/".into()),
        statuses: vec![WorkspaceStatus::RootMissing],
        not_observed: true,
    };
    assert_eq!(found(&catalog, filter).await, ["api"]);
}

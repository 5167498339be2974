//! Everything that a reader can see, compared with the model.

use std::cmp::Reverse;

use compozy_domain::text::fold_for_search;
use compozy_domain::workspace::{WorkspaceFilter, WorkspaceOrder};
use compozy_domain::{PageLimit, Rank, Workspace, WorkspaceStatus};
use compozy_store::conformance::{Catalog, Engine, Seeded};
use compozy_store::{CatalogStore as _, ListWorkspaces};

use crate::plain::{Plain, Told};

const ORDERS: [WorkspaceOrder; 4] = [
    WorkspaceOrder::Manual,
    WorkspaceOrder::Name,
    WorkspaceOrder::Created,
    WorkspaceOrder::Updated,
];

pub(crate) async fn everything<E: Engine>(catalog: &Catalog<E>, plain: &Plain, numbers: &mut Seeded) {
    for filter in filters() {
        for order in ORDERS {
            let limit = 1 + i32::try_from(numbers.below(20)).unwrap();
            let list = ListWorkspaces {
                filter: filter.clone(),
                limit: PageLimit::parse(limit).unwrap(),
                ..catalog.page(order, 1)
            };
            // The walk also proves the total of each page.
            let mut rows = catalog.walk(list).await;
            for row in &mut rows {
                // A place in the order is compared by where the row stands.
                row.rank = Rank::front(0);
            }
            assert_eq!(rows, expected(plain, &filter, order), "{order:?} of {filter:?}");
        }
    }
    let told: Vec<Told> = catalog
        .log()
        .await
        .into_iter()
        .map(|entry| entry.change)
        .map(|change| {
            (
                change.kind,
                change.op,
                change.reason,
                change.workspace_id.expect("every entry names a workspace"),
                change.version,
            )
        })
        .collect();
    assert_eq!(told, plain.told());
    assert_eq!(catalog.store.examine().await.unwrap(), []);
}

fn filters() -> Vec<WorkspaceFilter> {
    let all = WorkspaceFilter::default();
    let by_status = |statuses: &[WorkspaceStatus], not_observed| WorkspaceFilter {
        statuses: statuses.to_vec(),
        not_observed,
        ..WorkspaceFilter::default()
    };
    vec![
        all.clone(),
        WorkspaceFilter {
            name_prefix: Some("api".into()),
            ..all.clone()
        },
        WorkspaceFilter {
            query: Some(fold_for_search("X_Y")),
            ..all.clone()
        },
        by_status(&[WorkspaceStatus::RootMissing], false),
        by_status(&[WorkspaceStatus::Ok, WorkspaceStatus::OtherHost], true),
        WorkspaceFilter {
            name_prefix: Some("a".into()),
            query: Some("/w/1".into()),
            ..by_status(&[WorkspaceStatus::IdentityChanged], true)
        },
    ]
}

fn expected(plain: &Plain, filter: &WorkspaceFilter, order: WorkspaceOrder) -> Vec<Workspace> {
    let mut rows = plain.records();
    rows.retain(|row| matches(plain, filter, row));
    let place = |row: &Workspace| (row.root_dir.clone(), row.id.clone());
    match order {
        WorkspaceOrder::Manual => {}
        WorkspaceOrder::Name => rows.sort_by(|left, right| left.name.key().cmp(right.name.key())),
        WorkspaceOrder::Created => rows.sort_by_key(|row| (Reverse(row.created_at), place(row))),
        WorkspaceOrder::Updated => rows.sort_by_key(|row| (Reverse(row.updated_at), place(row))),
    }
    rows
}

fn matches(plain: &Plain, filter: &WorkspaceFilter, row: &Workspace) -> bool {
    let prefix = filter.name_prefix.as_ref();
    if prefix.is_some_and(|prefix| !row.name.key().starts_with(prefix.as_str())) {
        return false;
    }
    let texts = [row.id.as_str(), row.name.as_str(), &row.title, &row.root_dir];
    let holds = |query: &String| {
        texts
            .iter()
            .any(|text| fold_for_search(text).contains(query.as_str()))
    };
    if filter.query.as_ref().is_some_and(|query| !holds(query)) {
        return false;
    }
    if filter.statuses.is_empty() && !filter.not_observed {
        return true;
    }
    if row.host_id.as_str() != "h1" {
        return filter.statuses.contains(&WorkspaceStatus::OtherHost);
    }
    match plain.status(&row.id) {
        None => filter.not_observed,
        Some(status) => filter.statuses.contains(&status),
    }
}

//! Promises about what a page costs: a page deep in a list is read as the first one is, by the index that holds its order.

use std::sync::Arc;

use compozy_domain::session::filter::{Archive, Place, SessionFilter, SessionSort};
use compozy_domain::{SessionState, Workspace};

use super::engine::Engine;
use super::fixture::Catalog;
use super::session_list_planted::{after_start, ids, ids_of, numbered, stopped};
use crate::catalog::{CatalogStore as _, StoreKind};
use crate::sessions::ListSessions;
use crate::sql::ExplainList;

const ROWS: u64 = 100_000;

/// One session, and copies of it up to [`ROWS`], each a nanosecond later than the one before: every tenth of them active,
/// every fourth in the workspace.
async fn plant_copies<E: Engine>(catalog: &Catalog<E>) -> Workspace {
    let workspace = catalog.register("/w/a").await;
    catalog.plant(&[stopped(1, None, 1)], &[]).await;
    let (hex, rank, series) = match catalog.store.kind() {
        StoreKind::Sqlite => (
            "printf('%016x', c.n)",
            "CAST(printf('%016x', c.n) AS BLOB)",
            "(WITH RECURSIVE c (n) AS (SELECT 2 UNION ALL SELECT n + 1 FROM c WHERE n < 100000) SELECT n FROM c)",
        ),
        StoreKind::Postgres => (
            "lpad(to_hex(c.n), 16, '0')",
            "decode(lpad(to_hex(c.n), 16, '0'), 'hex')",
            "(SELECT g AS n FROM generate_series(2::bigint, 100000) g)",
        ),
    };
    let workspace_id = format!("CASE WHEN c.n % 4 = 0 THEN '{}' ELSE '' END", workspace.id);
    let mut columns = vec![
        ("id", format!("'sess-' || {hex}")),
        ("root_id", format!("'sess-' || {hex}")),
        ("workspace_id", workspace_id),
        ("rank", rank.to_owned()),
        (
            "state",
            "CASE WHEN c.n % 10 = 0 THEN 'active' ELSE 'stopped' END".to_owned(),
        ),
    ];
    for column in ["created_at", "updated_at", "active_at", "attention_at"] {
        columns.push((column, format!("s.{column} + c.n - 1")));
    }
    for column in [
        "host_id",
        "cwd",
        "place",
        "name",
        "agent",
        "provider",
        "model",
        "type",
        "hidden",
        "state_at",
        "runtime",
        "runtime_holder",
        "generation",
        "stop",
        "failure",
        "parent_id",
        "depth",
        "spawn_role",
        "permission_mode",
        "profile_id",
        "archived_at",
        "activity",
        "finished_lease",
        "start_cause",
        "start_by",
        "snapshot_fingerprint",
        "labels",
        "origin",
        "origin_id",
        "has_files",
        "event_count",
        "last_sequence",
        "ledger",
        "attention",
        "search",
        "version",
        "state_number",
    ] {
        columns.push((column, format!("s.{column}")));
    }
    let names: Vec<&str> = columns.iter().map(|(name, _)| *name).collect();
    let values: Vec<&str> = columns.iter().map(|(_, value)| value.as_str()).collect();
    let sql = format!(
        "INSERT INTO session ({}) SELECT {} FROM session s CROSS JOIN {series} c WHERE s.id = '{}'",
        names.join(", "),
        values.join(", "),
        numbered(1)
    );
    super::hooks::execute(&catalog.store, &sql).await.unwrap();
    crate::sessions::SessionStore::recount_sessions(&*catalog.store)
        .await
        .unwrap();
    if catalog.store.kind() == StoreKind::Postgres {
        super::hooks::execute(&catalog.store, "ANALYZE session")
            .await
            .unwrap();
    }
    workspace
}

/// How many rows Postgres takes a step for.
fn estimated_rows(step: &str) -> u64 {
    let rows = step.split_once("rows=").unwrap().1;
    rows.split(' ').next().unwrap().parse().unwrap()
}

/// The indexes that a page's keys are read from, in order.
async fn plan<E: Engine>(catalog: &Catalog<E>, list: &ListSessions) -> Vec<String> {
    let explain = Arc::new(ExplainList(list.clone()));
    let steps = catalog.store.db().read(explain).await.unwrap();
    let mut plan: Vec<String> = Vec::new();
    for (at, step) in steps.iter().enumerate() {
        let words = step.split(" (").next().unwrap_or_default().trim();
        let is_of_unknown = step.contains("session_unknown") || step.contains("TEMP B-TREE");
        if let Some((_, figures)) = step.split_once("Sort  (") {
            let rows = estimated_rows(figures);
            // It guesses how many rows that index has, which has none.
            let is_of_unknown = steps[at + 2].contains("session_unknown");
            assert!(
                rows < 100 || is_of_unknown,
                "a sort of many rows of {list:?}: {steps:#?}"
            );
        }
        // Of a section with a row or none, gathering them first is as good as a walk.
        if step.contains("Bitmap Heap Scan") {
            assert!(estimated_rows(step) < 100, "many rows are gathered first: {step}");
        }
        assert!(!step.contains("Seq Scan"), "{step}");
        assert!(!step.contains("SCAN s") || is_of_unknown, "{step}");
        let indexes = words
            .split_whitespace()
            .filter(|word| word.starts_with("session_"));
        plan.extend(indexes.map(str::to_owned));
    }
    plan
}

pub async fn s240_a_page_deep_in_a_list_is_read_as_the_first_one<E: Engine>(catalog: Catalog<E>) {
    let workspace = plant_copies(&catalog).await;
    let every = SessionFilter::default();
    let deep = catalog.sessions(every.clone(), SessionSort::Recent, 100);
    let first = plan(&catalog, &deep).await;
    // The row before page 1,000 is the one numbered 101.
    let place = stopped(101, None, 101).place(SessionSort::Recent);
    let deep = ListSessions {
        after: Some(place),
        ..deep
    };
    let page = catalog.session_page(&deep).await.page;
    assert_eq!(ids_of(&page.rows), ids((1..=100).rev()));
    assert_eq!((page.total, page.has_more), (ROWS, false));
    assert_eq!(plan(&catalog, &deep).await, first);
    let filters = [
        every.clone(),
        SessionFilter {
            place: Place::Workspace(workspace.id.clone()),
            ..every.clone()
        },
        SessionFilter {
            place: Place::Ungrouped,
            archive: Archive::Include,
            include_internal: true,
            ..every.clone()
        },
        SessionFilter {
            archive: Archive::Only,
            ..every.clone()
        },
        SessionFilter {
            states: vec![SessionState::Orphaned, SessionState::Active],
            ..every.clone()
        },
        SessionFilter {
            resumable: Some(true),
            ..every
        },
    ];
    for filter in filters {
        let is_of_one = filter.place != Place::Anywhere;
        for (sort, index) in [
            (SessionSort::Recent, "session_recent"),
            (SessionSort::LastActivity, "session_active"),
            (SessionSort::Attention, "session_attention"),
            (SessionSort::Manual, "session_manual"),
        ] {
            if sort == SessionSort::Manual && !matches!(filter.place, Place::Workspace(_)) {
                continue;
            }
            let list = catalog.sessions(filter.clone(), sort, 50);
            let mut seen = stopped(50_000, Some(&workspace), 50_000);
            seen.attention.at = after_start(50_000);
            let next = ListSessions {
                after: Some(seen.place(sort)),
                ..list.clone()
            };
            let index = match (is_of_one, sort) {
                (true, SessionSort::Recent | SessionSort::LastActivity | SessionSort::Attention) => {
                    format!("{index}_of")
                }
                _ => index.to_owned(),
            };
            for list in [list, next] {
                let steps = plan(&catalog, &list).await;
                assert!(!steps.is_empty());
                let holds = |step: &String, index: &str| step.split_whitespace().any(|word| word == index);
                // Where most rows are of one place, Postgres may as well pass over the others.
                let everywhere = index.trim_end_matches("_of");
                let by_index = |step: &String| holds(step, &index) || holds(step, everywhere);
                assert!(steps.iter().any(by_index), "{sort:?} {filter:?}: {steps:#?}");
                // Postgres may look for a section that has no row, as far as it knows, in any index.
                let known = |step: &String| holds(step, &index) || holds(step, "session_unknown");
                let is_free = catalog.store.kind() == StoreKind::Postgres;
                assert!(
                    is_free || steps.iter().all(known),
                    "{sort:?} {filter:?}: {steps:#?}"
                );
            }
        }
    }
}

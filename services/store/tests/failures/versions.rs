//! Catalogs of other releases, and two processes that open one at once.

#![allow(clippy::unwrap_used)]

use std::path::Path;

use compozy_domain::{ProfileId, ProfileName};
use compozy_store::conformance::{
    BINARY, Catalog, Engine, Postgres, SqliteFile, execute, fresh, open, raw_rows, run, run_unopened,
};
use compozy_store::{CatalogStore as _, CreateProfile, Error, ProfileStore as _, SelectProfile, SqlStore};

const NEWER: &str = "UPDATE schema_version SET version = 7";
const TOO_NEW: &str = "UPDATE schema_version SET version = 7, oldest_binary = '0.2.0'";
const ALTERED: &str = "UPDATE schema_migration SET sha256 = 'another' WHERE number = 1";

/// Opens a catalog again after a statement behind its back.
async fn reopened_after<E: Engine>(catalog: &Catalog<E>, sql: &str) -> compozy_store::Result<SqlStore> {
    assert_eq!(execute(&catalog.store, sql).await.unwrap(), 1);
    catalog.store.close().await;
    open(catalog.engine.address()).await
}

#[track_caller]
fn assert_too_new(outcome: compozy_store::Result<SqlStore>) {
    let error = outcome.expect_err("it is refused");
    let text = error.to_string();
    assert!(
        matches!(&error, Error::TooNew { version: 7, oldest_binary, binary } if oldest_binary == "0.2.0" && binary == BINARY),
        "{error:?}"
    );
    assert!(
        text.contains("0.2.0") && text.contains(BINARY),
        "names both: {text}"
    );
}

async fn c181_a_newer_version_alone_opens<E: Engine>(catalog: Catalog<E>) {
    let row = catalog.register("/w/a").await;
    let store = reopened_after(&catalog, NEWER).await.unwrap();
    store.close().await;
    let reopened = catalog.opened_again().await;
    assert_eq!(reopened.get(&row.id).await, row);
    reopened.register("/w/b").await;
    let version = raw_rows(
        &reopened.store,
        "SELECT version, oldest_binary FROM schema_version",
    )
    .await;
    assert_eq!(
        version.unwrap(),
        [["7", BINARY]],
        "it is left as the newer release wrote it"
    );
    reopened.store.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn c181_a_newer_version_alone_opens_on_sqlite() {
    run::<SqliteFile, _>(
        concat!(module_path!(), "::c181_a_newer_version_alone_opens_on_sqlite"),
        c181_a_newer_version_alone_opens,
    )
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn c181_a_newer_version_alone_opens_on_postgres() {
    run::<Postgres, _>(
        concat!(module_path!(), "::c181_a_newer_version_alone_opens_on_postgres"),
        c181_a_newer_version_alone_opens,
    )
    .await;
}

fn bytes_beside(path: &Path) -> Vec<(std::ffi::OsString, Vec<u8>)> {
    let mut files: Vec<_> = std::fs::read_dir(path.parent().unwrap())
        .unwrap()
        .map(|file| file.unwrap())
        .map(|file| (file.file_name(), std::fs::read(file.path()).unwrap()))
        .collect();
    files.sort();
    files
}

/// Whether it is kept in this product's journal mode, or was copied by a backup and has another one.
#[tokio::test(flavor = "multi_thread")]
async fn c167_c181_a_catalog_of_a_too_new_release_is_refused_untouched_on_sqlite() {
    for mode in ["WAL", "DELETE"] {
        run::<SqliteFile, _>(
            concat!(
                module_path!(),
                "::c167_c181_a_catalog_of_a_too_new_release_is_refused_untouched_on_sqlite"
            ),
            async |catalog: Catalog<SqliteFile>| {
                catalog.register("/w/a").await;
                execute(&catalog.store, TOO_NEW).await.unwrap();
                catalog.store.close().await;
                let path = catalog.engine.path();
                let other = rusqlite::Connection::open(&path).unwrap();
                other.pragma_update(None, "journal_mode", mode).unwrap();
                other.close().unwrap();
                let before = bytes_beside(&path);
                assert_eq!(before.len(), 1);
                for _ in 0..2 {
                    assert_too_new(open(catalog.engine.address()).await);
                    assert!(
                        bytes_beside(&path) == before,
                        "something was written in mode {mode}"
                    );
                }
            },
        )
        .await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn c181_a_catalog_of_a_too_new_release_is_refused_untouched_on_postgres() {
    let test = concat!(
        module_path!(),
        "::c181_a_catalog_of_a_too_new_release_is_refused_untouched_on_postgres"
    );
    run::<Postgres, _>(test, async |catalog: Catalog<Postgres>| {
        catalog.register("/w/a").await;
        let before = catalog.everything().await;
        assert_too_new(reopened_after(&catalog, TOO_NEW).await);
        let back = "UPDATE schema_version SET version = 4, oldest_binary = '0.1.0'";
        let pool = catalog.engine.connections().await;
        sqlx::query(back).execute(&pool).await.unwrap();
        pool.close().await;
        let reopened = catalog.opened_again().await;
        assert_eq!(reopened.everything().await, before);
        reopened.store.close().await;
    })
    .await;
}

async fn an_altered_migration_is_refused<E: Engine>(catalog: Catalog<E>) {
    let outcome = reopened_after(&catalog, ALTERED).await;
    assert!(
        matches!(&outcome, Err(Error::Corrupt(detail)) if detail.contains("0001_catalog")),
        "{outcome:?}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn an_altered_migration_is_refused_on_sqlite() {
    run::<SqliteFile, _>(
        concat!(module_path!(), "::an_altered_migration_is_refused_on_sqlite"),
        an_altered_migration_is_refused,
    )
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_altered_migration_is_refused_on_postgres() {
    run::<Postgres, _>(
        concat!(module_path!(), "::an_altered_migration_is_refused_on_postgres"),
        an_altered_migration_is_refused,
    )
    .await;
}

/// As the release before profiles left it: what each engine has alone, and what both have.
async fn a_catalog_from_before_profiles_gets_them<E: Engine>(catalog: Catalog<E>, alone: &[&str]) {
    let row = catalog.register("/w/a").await;
    let both = [
        "DROP TABLE session_transition",
        "DROP TABLE session_label",
        "DROP TABLE session_live",
        "DROP TABLE session_count",
        "DROP TABLE session_sweep",
        "DROP TABLE deleted_session",
        "DROP TABLE session",
        "DROP INDEX workspace_name_search",
        "ALTER TABLE workspace DROP COLUMN name_search",
        "DROP TABLE profile",
        "DROP TABLE profile_selection",
        "DELETE FROM schema_migration WHERE number >= 3",
        "UPDATE schema_version SET version = 2",
    ];
    for sql in alone.iter().chain(&both) {
        execute(&catalog.store, sql).await.unwrap();
    }
    let catalog = catalog.reopened().await;
    assert_eq!(catalog.get(&row.id).await, row);
    let create = CreateProfile {
        id: ProfileId::from_stored("01HXJ9YR4QZ0V7M3T5B8N2C6KD".into()),
        name: ProfileName::parse("p").unwrap(),
        color: String::new(),
        icon: String::new(),
        host_id: row.host_id.clone(),
    };
    let answer = catalog.store.create_profile(create, catalog.call()).await;
    let profile = fresh(answer.unwrap()).value;
    let select = SelectProfile {
        workspace_id: Some(row.id.clone()),
        profile_id: Some(profile.id.clone()),
        host_id: row.host_id,
    };
    catalog
        .store
        .select_profile(select, catalog.call())
        .await
        .unwrap();
    let selected = catalog.store.selections(Some(&row.id)).await.unwrap().workspace;
    assert_eq!(selected, Some(profile));
    assert_eq!(catalog.store.examine().await.unwrap(), []);
    catalog.store.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_catalog_from_before_profiles_gets_them_on_sqlite() {
    run::<SqliteFile, _>(
        concat!(
            module_path!(),
            "::a_catalog_from_before_profiles_gets_them_on_sqlite"
        ),
        async |catalog| {
            a_catalog_from_before_profiles_gets_them(
                catalog,
                &["DROP TABLE session_search", "DROP TABLE session_front"],
            )
            .await;
        },
    )
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_catalog_from_before_profiles_gets_them_on_postgres() {
    run::<Postgres, _>(
        concat!(
            module_path!(),
            "::a_catalog_from_before_profiles_gets_them_on_postgres"
        ),
        async |catalog| {
            a_catalog_from_before_profiles_gets_them(
                catalog,
                &[
                    "DROP TABLE session_count_delta",
                    "DROP SEQUENCE session_front",
                    "DROP FUNCTION catalog_now",
                ],
            )
            .await;
        },
    )
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn processes_that_open_a_new_catalog_at_once_found_it_once() {
    let test = concat!(
        module_path!(),
        "::processes_that_open_a_new_catalog_at_once_found_it_once"
    );
    run_unopened::<Postgres, _>(test, async |engine| {
        let opening = (0..6).map(|_| open(engine.address()));
        let stores: Vec<SqlStore> = futures::future::join_all(opening)
            .await
            .into_iter()
            .map(Result::unwrap)
            .collect();
        let applied = raw_rows(
            &stores[0],
            "SELECT number, name FROM schema_migration ORDER BY number",
        )
        .await;
        assert_eq!(
            applied.unwrap(),
            [
                ["1", "0001_catalog"],
                ["2", "0002_origin"],
                ["3", "0003_profiles"],
                ["4", "0004_sessions"]
            ]
        );
        for store in &stores {
            assert_eq!(store.catalog_id(), stores[0].catalog_id());
            assert_eq!(store.keys().await.unwrap(), stores[0].keys().await.unwrap());
        }
        for store in stores {
            store.close().await;
        }
    })
    .await;
}

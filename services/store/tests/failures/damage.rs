//! SQLite: damaged files, and files that are no catalog. What can't be read is said, and nothing is rewritten.

#![allow(clippy::unwrap_used)]

use std::path::{Path, PathBuf};

use compozy_domain::Visibility;
use compozy_domain::workspace::WorkspaceOrder;
use compozy_store::conformance::{Catalog, Engine as _, SqliteFile, open, run};
use compozy_store::{CatalogStore as _, Error, StoreAddress, WorkspaceStore as _};

const PAGE: usize = 4_096;

/// What the needle's root is called, so that its page can be found in the file.
const NEEDLE: &str = "/w/needle-in-the-file";

/// A closed catalog of many pages, with the needle somewhere in the middle.
async fn closed_catalog(catalog: &Catalog<SqliteFile>) -> PathBuf {
    for number in 0..40 {
        let mut register = catalog.new_at(&format!("/w/{number}"));
        register.workspace.title = "t".repeat(150);
        catalog.created(register).await;
        if number == 20 {
            catalog.register(NEEDLE).await;
        }
    }
    catalog.store.close().await;
    catalog.engine.path()
}

/// Where a text stands in the file: in its table, and in the indexes that hold it.
fn places(bytes: &[u8], text: &str) -> Vec<usize> {
    let found = bytes.windows(text.len()).enumerate();
    found
        .filter(|(_, window)| *window == text.as_bytes())
        .map(|(at, _)| at)
        .collect()
}

/// Where the pages begin that hold a text.
fn pages(bytes: &[u8], text: &str) -> Vec<usize> {
    let mut pages: Vec<usize> = places(bytes, text)
        .into_iter()
        .map(|at| at / PAGE * PAGE)
        .collect();
    pages.dedup();
    pages
}

fn flip(bytes: &mut [u8]) {
    for byte in bytes {
        *byte = !*byte;
    }
}

async fn with_damage(test: &str, damage: impl Fn(&mut [u8])) {
    run::<SqliteFile, _>(test, async |catalog: Catalog<SqliteFile>| {
        let path = closed_catalog(&catalog).await;
        let mut bytes = std::fs::read(&path).unwrap();
        damage(&mut bytes);
        std::fs::write(&path, &bytes).unwrap();
        let damaged = catalog.opened_again().await;
        for order in [WorkspaceOrder::Manual, WorkspaceOrder::Updated] {
            let outcome = damaged.store.list(&damaged.page(order, 100)).await;
            assert!(matches!(outcome, Err(Error::Corrupt(_))), "{outcome:?}");
        }
        assert!(
            damaged
                .store
                .examine()
                .await
                .map_or(true, |findings| !findings.is_empty())
        );
        damaged.store.close().await;
        assert_eq!(std::fs::read(&path).unwrap(), bytes, "the file was rewritten");
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn w290_a_page_with_a_flipped_head_is_damage() {
    with_damage(
        concat!(module_path!(), "::w290_a_page_with_a_flipped_head_is_damage"),
        |bytes| {
            for page in pages(bytes, NEEDLE) {
                flip(&mut bytes[page..page + 16]);
            }
        },
    )
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn w290_a_flipped_page_is_damage() {
    with_damage(
        concat!(module_path!(), "::w290_a_flipped_page_is_damage"),
        |bytes| {
            for page in pages(bytes, NEEDLE) {
                flip(&mut bytes[page..page + PAGE]);
            }
        },
    )
    .await;
}

/// The page is sound, but a text in it is none.
#[tokio::test(flavor = "multi_thread")]
async fn w290_a_flipped_text_is_damage() {
    with_damage(
        concat!(module_path!(), "::w290_a_flipped_text_is_damage"),
        |bytes| {
            for at in places(bytes, NEEDLE) {
                flip(&mut bytes[at + 3..at + 10]);
            }
        },
    )
    .await;
}

/// Rows on other pages are still found.
#[tokio::test(flavor = "multi_thread")]
async fn what_lies_on_sound_pages_is_served() {
    run::<SqliteFile, _>(
        concat!(module_path!(), "::what_lies_on_sound_pages_is_served"),
        async |catalog: Catalog<SqliteFile>| {
            let sound = catalog.register("/w/sound").await;
            let path = closed_catalog(&catalog).await;
            let mut bytes = std::fs::read(&path).unwrap();
            for at in places(&bytes, NEEDLE) {
                flip(&mut bytes[at + 3..at + 10]);
            }
            std::fs::write(&path, &bytes).unwrap();
            let damaged = catalog.opened_again().await;
            let found = damaged.store.find(&sound.id, &Visibility::All).await.unwrap().0;
            assert_eq!(found, Some(sound));
            damaged.store.close().await;
        },
    )
    .await;
}

async fn assert_refused_untouched(path: &Path) {
    let before = std::fs::read(path).unwrap();
    let outcome = open(StoreAddress::SqliteFile(path.to_owned())).await;
    assert!(matches!(outcome, Err(Error::Corrupt(_))), "{outcome:?}");
    assert_eq!(std::fs::read(path).unwrap(), before);
    let directory = path.parent().unwrap();
    let files: Vec<_> = std::fs::read_dir(directory).unwrap().collect();
    assert_eq!(files.len(), 1, "nothing was left beside it: {files:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_that_is_no_catalog_is_refused_untouched() {
    for content in [&b"not a database"[..], &[0_u8; 8_192], &[0xa5; 100_000]] {
        let engine = SqliteFile::begin("damage").await.unwrap();
        std::fs::write(engine.path(), content).unwrap();
        assert_refused_untouched(&engine.path()).await;
    }
    // Another program's database.
    for mode in ["DELETE", "WAL"] {
        let engine = SqliteFile::begin("damage").await.unwrap();
        let other = rusqlite::Connection::open(engine.path()).unwrap();
        other.pragma_update(None, "journal_mode", mode).unwrap();
        other
            .execute_batch("CREATE TABLE theirs (x); INSERT INTO theirs VALUES (1)")
            .unwrap();
        other.close().unwrap();
        assert_refused_untouched(&engine.path()).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_no_regular_file_is_refused_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("catalog.db");
    let made = std::process::Command::new("mkfifo").arg(&path).status().unwrap();
    assert!(made.success());
    let opening = open(StoreAddress::SqliteFile(path));
    let outcome = tokio::time::timeout(std::time::Duration::from_secs(10), opening).await;
    assert!(matches!(outcome.unwrap(), Err(Error::Unavailable { .. })));
}

#[tokio::test(flavor = "multi_thread")]
async fn an_empty_file_becomes_a_catalog() {
    let engine = SqliteFile::begin("damage").await.unwrap();
    std::fs::write(engine.path(), b"").unwrap();
    let store = open(engine.address()).await.unwrap();
    store.check().await.unwrap();
    store.close().await;
}

//! SQLite with `durability = normal`: a system that ended while the catalog was served may have taken the last
//! commits along, so that positions which readers have seen are given away again.

#![allow(clippy::unwrap_used)]

use compozy_store::conformance::{BINARY, Catalog, Engine as _, Numbers, START, SqliteFile, run};
use compozy_store::{Access, CatalogStore as _, ChangeLog as _, Durability, OpenOptions, SqlStore};

async fn open(catalog: &Catalog<SqliteFile>, access: Access, durability: Durability) -> SqlStore {
    let options = OpenOptions {
        address: catalog.engine.address(),
        access,
        durability,
        binary: BINARY,
        now: START,
        random: &Numbers,
    };
    SqlStore::open(options).await.unwrap()
}

async fn epoch(store: &SqlStore) -> String {
    store.head().await.unwrap().head.epoch
}

/// What stands in the file, written behind the store's back: as if it had been served before a reboot.
fn served_before_a_reboot(catalog: &Catalog<SqliteFile>) {
    let file = rusqlite::Connection::open(catalog.engine.path()).unwrap();
    let changed = file.execute("UPDATE change_head SET made_on = 'another boot'", []);
    assert_eq!(changed.unwrap(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_start_after_an_unclean_reboot_begins_a_new_epoch() {
    let test = concat!(
        module_path!(),
        "::a_start_after_an_unclean_reboot_begins_a_new_epoch"
    );
    run::<SqliteFile, _>(test, async |catalog: Catalog<SqliteFile>| {
        let first = epoch(&catalog.store).await;
        catalog.store.close().await;
        let mut known = first;
        for durability in [Durability::Normal, Durability::Full] {
            served_before_a_reboot(&catalog);
            let store = open(&catalog, Access::Serve, durability).await;
            let found = epoch(&store).await;
            assert_ne!(found, known, "{durability:?}");
            known = found;
            store.close().await;
        }
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_process_that_was_killed_or_closed_in_order_keeps_the_epoch() {
    let test = concat!(
        module_path!(),
        "::a_process_that_was_killed_or_closed_in_order_keeps_the_epoch"
    );
    run::<SqliteFile, _>(test, async |catalog: Catalog<SqliteFile>| {
        let first = epoch(&catalog.store).await;
        catalog.store.close().await;
        let made_on = || {
            let file = rusqlite::Connection::open(catalog.engine.path()).unwrap();
            let text: String = file
                .query_row("SELECT made_on FROM change_head", [], |row| row.get(0))
                .unwrap();
            text
        };
        // Not closed, as if it had been killed.
        let killed = open(&catalog, Access::Serve, Durability::Normal).await;
        assert_ne!(made_on(), "");
        // Somebody beside it does not end its service.
        open(&catalog, Access::Maintain, Durability::Normal)
            .await
            .close()
            .await;
        assert_ne!(made_on(), "");
        let store = open(&catalog, Access::Serve, Durability::Normal).await;
        assert_eq!(epoch(&store).await, first);
        drop(killed);
        store.close().await;
        assert_eq!(made_on(), "");
        let store = open(&catalog, Access::Serve, Durability::Full).await;
        assert_eq!((epoch(&store).await, made_on()), (first, String::new()));
        store.close().await;
    })
    .await;
}

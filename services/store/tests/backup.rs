//! Copies of a catalog, and catalogs that are opened for something else than serving.
#![allow(clippy::unwrap_used)]

use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use compozy_domain::{HostId, ProfileId, ProfileName, Timestamp};
use compozy_store::conformance::{
    self, BINARY, Catalog, Engine, Numbers, Postgres, SqliteFile, SqliteMemory, fresh,
};
use compozy_store::{
    Access, CatalogStore as _, ChangeLog as _, CreateProfile, Durability, Error, Intent, IntentId,
    IntentStore as _, IntentWork, OpenOptions, ProfileStore as _, SelectProfile, SqlStore, StoreAddress,
};
use tokio_util::sync::CancellationToken;

async fn open(address: StoreAddress, access: Access) -> Result<SqlStore, Error> {
    let options = OpenOptions {
        address,
        access,
        durability: Durability::Full,
        binary: BINARY,
        now: Timestamp::from_nanos(1),
        random: &Numbers,
    };
    SqlStore::open(options).await
}

async fn open_file(path: &Path, access: Access) -> Result<SqlStore, Error> {
    open(StoreAddress::SqliteFile(path.to_owned()), access).await
}

async fn roots(store: &SqlStore) -> Vec<String> {
    let rows = conformance::raw_rows(store, "SELECT root_dir FROM workspace ORDER BY root_dir").await;
    rows.unwrap().into_iter().flatten().collect()
}

fn names(directory: &Path) -> Vec<PathBuf> {
    let mut names: Vec<PathBuf> = std::fs::read_dir(directory)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    names.sort();
    names
}

async fn copied(catalog: &Catalog<SqliteFile>, name: &str) -> PathBuf {
    let target = catalog.engine.path().with_file_name(name);
    assert!(
        catalog
            .store
            .backup_to(&target, &CancellationToken::new())
            .await
            .unwrap()
    );
    target
}

#[tokio::test]
async fn profiles_and_selections_are_in_a_copy() {
    conformance::run::<SqliteFile, _>("profiles", |catalog| async move {
        let host_id = HostId::parse("h1").unwrap();
        let create = CreateProfile {
            id: ProfileId::from_stored("01HXJ9YR4QZ0V7M3T5B8N2C6KD".into()),
            name: ProfileName::parse("p").unwrap(),
            color: "#2f6fed".into(),
            icon: String::new(),
            host_id: host_id.clone(),
        };
        let answer = catalog.store.create_profile(create, catalog.call()).await;
        let profile = fresh(answer.unwrap()).value;
        let select = SelectProfile {
            workspace_id: None,
            profile_id: Some(profile.id.clone()),
            host_id,
        };
        catalog
            .store
            .select_profile(select, catalog.call())
            .await
            .unwrap();
        let target = copied(&catalog, "copy.db").await;
        let copy = open_file(&target, Access::Serve).await.unwrap();
        assert_eq!(
            copy.find_profile(&profile.id).await.unwrap().0.as_ref(),
            Some(&profile)
        );
        assert_eq!(copy.selections(None).await.unwrap().global, Some(profile));
        assert!(copy.examine().await.unwrap().is_empty());
        copy.close().await;
    })
    .await;
}

/// W324, what the store has to do with it: the keys are in the copy.
#[tokio::test]
async fn a_copy_is_whole_and_private_and_its_first_opening_begins_a_new_epoch() {
    conformance::run::<SqliteFile, _>("copy", |catalog| async move {
        for root in ["/w/a", "/w/b"] {
            catalog.register(root).await;
        }
        let target = copied(&catalog, "copy.db").await;
        catalog.register("/w/c").await;
        assert_eq!(
            std::fs::metadata(&target).unwrap().permissions().mode() & 0o777,
            0o600
        );
        assert!(
            names(target.parent().unwrap())
                .iter()
                .all(|path| !path.ends_with("copy.db-journal"))
        );

        let before = catalog.store.head().await.unwrap();
        let copy = open_file(&target, Access::Serve).await.unwrap();
        assert_eq!(roots(&copy).await, ["/w/a", "/w/b"]);
        assert_eq!(copy.catalog_id(), catalog.store.catalog_id());
        assert_eq!(copy.keys().await.unwrap(), catalog.store.keys().await.unwrap());
        assert!(copy.examine().await.unwrap().is_empty());
        let restored = copy.head().await.unwrap();
        assert_eq!((before.head.position, restored.head.position), (3, 2));
        assert_ne!(before.head.epoch, restored.head.epoch);
        copy.close().await;

        let again = open_file(&target, Access::Serve).await.unwrap();
        assert_eq!(
            again.head().await.unwrap(),
            restored,
            "only the first opening begins an epoch"
        );
        again.close().await;
        assert_eq!(catalog.store.head().await.unwrap().head.epoch, before.head.epoch);
    })
    .await;
}

#[tokio::test]
async fn what_is_under_way_on_the_disk_stays_with_the_original() {
    conformance::run::<SqliteFile, _>("under-way", |catalog| async move {
        let host = HostId::parse("h1").unwrap();
        let intent = Intent {
            id: IntentId("i1".to_owned()),
            host_id: host.clone(),
            owner: "running".to_owned(),
            work: IntentWork::CreateIdentity {
                root_dir: "/w/a".to_owned(),
                content: [7; 32],
                makes_directory: true,
            },
        };
        catalog.store.begin_intent(&intent, catalog.tick()).await.unwrap();
        let copy = open_file(&copied(&catalog, "copy.db").await, Access::Serve)
            .await
            .unwrap();
        let now = catalog.tick();
        assert_eq!(copy.abandoned_intents(&host, "restored", now).await.unwrap(), []);
        assert_eq!(
            catalog.store.abandoned_intents(&host, "next", now).await.unwrap(),
            [intent]
        );
        copy.close().await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_copy_holds_every_write_that_was_answered_before_it_and_nobody_waits_for_it() {
    conformance::run::<SqliteFile, _>("while-writing", |catalog| async move {
        for number in 0..50 {
            catalog.register(&format!("/w/before-{number}")).await;
        }
        let writing = async {
            for number in 0..200 {
                catalog.register(&format!("/w/during-{number}")).await;
            }
        };
        let (target, ()) = tokio::join!(copied(&catalog, "copy.db"), writing);
        let copy = open_file(&target, Access::Serve).await.unwrap();
        let kept = roots(&copy).await;
        assert_eq!(
            kept.iter().filter(|root| root.starts_with("/w/before-")).count(),
            50
        );
        let head = copy.head().await.unwrap().head.position;
        assert_eq!(
            usize::try_from(head).unwrap(),
            kept.len(),
            "rows and log are of one instant"
        );
        assert!(copy.examine().await.unwrap().is_empty());
        copy.close().await;
    })
    .await;
}

#[tokio::test]
async fn a_copy_that_stops_or_fails_leaves_nothing_and_never_replaces_a_file() {
    conformance::run::<SqliteFile, _>("stopped", |catalog| async move {
        for number in 0..50 {
            catalog.register(&format!("/w/{number}")).await;
        }
        let target = catalog.engine.path().with_file_name("copy.db");
        let before = names(target.parent().unwrap());
        let stop = CancellationToken::new();
        stop.cancel();
        let stopped = catalog.store.backup_to(&target, &stop).await.unwrap_err();
        assert!(matches!(stopped, Error::DeadlineExceeded), "{stopped:?}");
        assert_eq!(names(target.parent().unwrap()), before);
        std::fs::write(&target, "mine").unwrap();
        let go_on = CancellationToken::new();
        let refused = catalog.store.backup_to(&target, &go_on).await.unwrap_err();
        assert!(matches!(refused, Error::Unavailable { .. }), "{refused:?}");
        assert_eq!(std::fs::read_to_string(&target).unwrap(), "mine");
        let nowhere = target.with_file_name("none").join("copy.db");
        catalog.store.backup_to(&nowhere, &go_on).await.unwrap_err();
    })
    .await;
}

async fn is_not_copied<E: Engine>(test: &str) {
    conformance::run::<E, _>(test, |catalog| async move {
        let directory = tempfile::tempdir().unwrap();
        let target = directory.path().join("copy.db");
        assert!(
            !catalog
                .store
                .backup_to(&target, &CancellationToken::new())
                .await
                .unwrap()
        );
        assert_eq!(names(directory.path()), Vec::<PathBuf>::new());
    })
    .await;
}

/// C180, what the store has to do with it.
#[tokio::test]
async fn a_catalog_that_lies_in_no_file_is_not_copied() {
    is_not_copied::<SqliteMemory>("memory").await;
    is_not_copied::<Postgres>("postgres").await;
}

async fn begins_an_epoch<E: Engine>(test: &str) {
    conformance::run::<E, _>(test, |catalog| async move {
        catalog.register("/w/a").await;
        catalog.number_all().await;
        let before = catalog.store.head().await.unwrap();
        catalog.store.new_epoch("another").await.unwrap();
        let after = catalog.store.head().await.unwrap();
        assert_eq!(after.head.epoch, "another");
        assert_eq!(
            (after.head.position, after.floor),
            (before.head.position, before.floor)
        );
        catalog.register("/w/b").await;
    })
    .await;
}

#[tokio::test]
async fn a_new_epoch_keeps_the_log() {
    begins_an_epoch::<SqliteFile>("file").await;
    begins_an_epoch::<SqliteMemory>("memory").await;
    begins_an_epoch::<Postgres>("postgres").await;
}

/// W323, what the store has to do with it.
async fn is_maintained_beside<E: Engine>(test: &str) {
    conformance::run::<E, _>(test, |catalog| async move {
        let first = catalog.store.keys().await.unwrap();
        let beside = open(catalog.engine.address(), Access::Maintain).await.unwrap();
        for number in [2_u8, 3] {
            beside.rotate_key([number; 32], catalog.tick()).await.unwrap();
        }
        beside.close().await;
        let keys = catalog.store.keys().await.unwrap();
        assert_eq!(keys.iter().map(|key| key.number).collect::<Vec<_>>(), [3, 2]);
        assert!(!keys.contains(&first[0]));
        catalog.register("/w/a").await;
    })
    .await;
}

#[tokio::test]
async fn a_key_is_rotated_beside_the_daemon() {
    is_maintained_beside::<SqliteFile>("file").await;
    is_maintained_beside::<Postgres>("postgres").await;
}

async fn is_looked_at<E: Engine>(test: &str) {
    conformance::run::<E, _>(test, |catalog| async move {
        catalog.register("/w/a").await;
        let look = open(catalog.engine.address(), Access::Inspect).await.unwrap();
        assert_eq!(look.catalog_id(), catalog.store.catalog_id());
        assert_eq!(
            roots(&look).await,
            ["/w/a"],
            "what is only in the write-ahead log is seen too"
        );
        assert!(look.examine().await.unwrap().is_empty());
        let newest = look.newest_at().await.unwrap();
        assert!(
            newest > Timestamp::from_nanos(1_800_000_000_000_000_000),
            "{newest:?}"
        );
        look.close().await;
        catalog.register("/w/b").await;
    })
    .await;
}

#[tokio::test]
async fn a_catalog_in_use_can_be_looked_at() {
    is_looked_at::<SqliteFile>("file").await;
    is_looked_at::<Postgres>("postgres").await;
}

/// C157, what the store has to do with it.
#[tokio::test]
async fn a_look_makes_and_changes_no_file() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a ?#%.db");
    for access in [Access::Inspect, Access::Maintain] {
        let missing = open_file(&path, access).await.unwrap_err();
        assert!(matches!(missing, Error::Behind { version: 0, .. }), "{missing:?}");
        assert_eq!(names(directory.path()), Vec::<PathBuf>::new());
    }
    open_file(&path, Access::Serve).await.unwrap().close().await;
    let before = (names(directory.path()), std::fs::read(&path).unwrap());
    assert_eq!(
        before.0,
        std::slice::from_ref(&path),
        "a closed catalog is one file"
    );
    let look = open_file(&path, Access::Inspect).await.unwrap();
    assert!(look.examine().await.unwrap().is_empty());
    assert_eq!(names(directory.path()), before.0);
    assert!(look.claim_first_start().await.is_err(), "it can't be written");
    look.close().await;
    assert_eq!((names(directory.path()), std::fs::read(&path).unwrap()), before);
}

#[tokio::test]
async fn a_look_at_what_is_no_catalog_of_this_release_says_so() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("c.db");
    std::fs::write(&path, "").unwrap();
    let empty = open_file(&path, Access::Inspect).await.unwrap_err();
    assert!(matches!(empty, Error::Behind { version: 0, .. }), "{empty:?}");

    let store = open_file(&path, Access::Serve).await.unwrap();
    conformance::execute(
        &store,
        "UPDATE schema_version SET version = 7, oldest_binary = '99.1.0'",
    )
    .await
    .unwrap();
    store.close().await;
    let before = std::fs::read(&path).unwrap();
    for access in [Access::Inspect, Access::Maintain, Access::Serve] {
        let newer = open_file(&path, access).await.unwrap_err();
        assert!(matches!(newer, Error::TooNew { version: 7, .. }), "{newer:?}");
    }
    assert!(std::fs::read(&path).unwrap() == before);

    std::fs::write(
        &path,
        "no database, but as long as the head of one has to be".repeat(4),
    )
    .unwrap();
    let damaged = open_file(&path, Access::Inspect).await.unwrap_err();
    assert!(matches!(damaged, Error::Corrupt(_)), "{damaged:?}");
}

//! Backups that fail half way, and the one that is somebody else's business.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use compozy_domain::{AbsolutePath, CatalogError, CatalogId, HostId, Principal};
use compozy_resolver::Disk;
use compozy_server::backup::{BackupDone, Backups, Copies, Parts};
use compozy_server::clock::SystemClock;
use compozy_server::config::{Config, Overrides};
use compozy_server::random::SystemRandom;
use compozy_server::tasks::Tasks;
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

use crate::daemon::{Place, tree};

/// A catalog whose copying ends as the test wants it.
#[derive(Debug)]
struct Copying {
    outcome: Result<bool, CatalogError>,
    /// Go on until told to stop.
    endless: bool,
    begun: Notify,
}

#[tonic::async_trait]
impl Copies for Copying {
    async fn copy_to(&self, path: &Path, stop: &CancellationToken) -> Result<bool, CatalogError> {
        std::fs::write(path, "half of it").unwrap();
        self.begun.notify_one();
        if self.endless {
            stop.cancelled().await;
        }
        self.outcome.clone()
    }
}

fn backups(place: &Place, copying: &Arc<Copying>, tasks: &Tasks, store_url: Option<&str>) -> Backups {
    let overrides = Overrides {
        store_url: store_url.map(str::to_owned),
        ..Overrides::default()
    };
    Backups::new(Parts {
        copies: Arc::clone(copying) as _,
        files: Arc::new(Disk::default()),
        clock: Arc::new(SystemClock),
        random: Arc::new(SystemRandom),
        tasks: tasks.clone(),
        catalog_id: CatalogId::from_stored("01HXJ9YR4QZ0V7M3T5B8N2C6KD".to_owned()),
        host_id: HostId::parse("h1").unwrap(),
        config: Arc::new(Config::load(&place.home("h"), &overrides).unwrap()),
    })
}

fn copying(outcome: Result<bool, CatalogError>, endless: bool) -> Arc<Copying> {
    Arc::new(Copying {
        outcome,
        endless,
        begun: Notify::new(),
    })
}

fn wanted(place: &Place) -> AbsolutePath {
    AbsolutePath::parse(place.directory("out").join("bk").to_str().unwrap(), "directory").unwrap()
}

#[tokio::test]
async fn a_full_disk_is_told_and_leaves_nothing() {
    let (place, tasks) = (Place::new(), Tasks::new());
    let full = copying(Err(CatalogError::DiskFull), false);
    let outcome = backups(&place, &full, &tasks, None)
        .write(&Principal::local(), &wanted(&place))
        .await;
    assert_eq!(outcome.unwrap_err(), CatalogError::DiskFull);
    assert_eq!(tree(&place.path("out")).len(), 1);
}

#[tokio::test]
async fn a_backup_whose_caller_has_gone_stops_and_leaves_nothing() {
    let (place, tasks) = (Place::new(), Tasks::new());
    let endless = copying(Err(CatalogError::DeadlineExceeded), true);
    let backups = backups(&place, &endless, &tasks, None);
    let (caller, wanted) = (Principal::local(), wanted(&place));
    tokio::select! {
        outcome = backups.write(&caller, &wanted) => panic!("it ended by itself: {outcome:?}"),
        () = endless.begun.notified() => {}
    }
    assert!(tasks.join(Duration::from_secs(30)).await);
    assert_eq!(tree(&place.path("out")).len(), 1);
}

#[tokio::test]
async fn the_end_of_the_daemon_stops_a_backup() {
    let (place, tasks) = (Place::new(), Tasks::new());
    let endless = copying(Err(CatalogError::DeadlineExceeded), true);
    let backups = backups(&place, &endless, &tasks, None);
    let (caller, wanted) = (Principal::local(), wanted(&place));
    let ending = async {
        endless.begun.notified().await;
        tasks.stop();
    };
    let (outcome, ()) = tokio::join!(backups.write(&caller, &wanted), ending);
    assert_eq!(outcome.unwrap_err(), CatalogError::DeadlineExceeded);
    assert_eq!(tree(&place.path("out")).len(), 1);
}

/// C180: nothing is copied, not even looked at.
#[tokio::test]
async fn c180_on_postgres_the_dump_command_is_told_and_nothing_is_written() {
    let (place, tasks) = (Place::new(), Tasks::new());
    let never = copying(Ok(true), false);
    let backups = backups(&place, &never, &tasks, Some("postgres://ada:s3cret@db/catalog"));
    let done = backups.write(&Principal::local(), &wanted(&place)).await.unwrap();
    let BackupDone::Dump { command } = done else {
        panic!("{done:?}")
    };
    assert!(
        command.starts_with("pg_dump ") && command.contains("/out/bk"),
        "{command}"
    );
    assert!(!command.contains("s3cret"), "{command}");
    assert_eq!(tree(&place.path("out")).len(), 1);
}

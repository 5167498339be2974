//! Postgres: servers that are standbys, were promoted, or got what another server's dump holds.

#![allow(clippy::unwrap_used)]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use async_trait::async_trait;
use compozy_domain::Revision;
use compozy_store::conformance::{Account, Catalog, Engine, open, postgres_programs};
use compozy_store::{CatalogStore as _, ChangeLog as _, Error, StoreAddress};
use tempfile::TempDir;

const PATIENCE: Duration = Duration::from_secs(60);
/// Nobody listens on it: it names the socket.
const PORT: u16 = 5432;

/// A server of the test's own.
#[derive(Debug)]
struct Cluster {
    programs: PathBuf,
    account: Account,
    folder: TempDir,
    child: Option<Child>,
}

impl Cluster {
    fn new(programs: &Path) -> Self {
        let (account, folder) = (Account::find(), TempDir::new().unwrap());
        account.own(folder.path());
        let mut command = account.command(&programs.join("initdb"));
        command
            .current_dir(folder.path())
            .args([
                "--username=postgres",
                "--auth=trust",
                "--encoding=UTF8",
                "--locale=C",
                "--no-sync",
                "--pgdata=data",
            ])
            .stdout(Stdio::null());
        assert!(command.status().unwrap().success());
        let mut cluster = Self {
            programs: programs.to_owned(),
            account,
            folder,
            child: None,
        };
        cluster.start();
        cluster
    }

    fn start(&mut self) {
        let folder = self.folder.path();
        let log = fs::File::create(folder.join("log")).unwrap();
        let mut command = self.account.command(&self.programs.join("postgres"));
        command
            .current_dir(folder)
            .args([
                "-D",
                "data",
                "-c",
                "listen_addresses=",
                "-c",
                "fsync=off",
                "-p",
                &PORT.to_string(),
                "-k",
            ])
            .arg(folder)
            .stdout(log.try_clone().unwrap())
            .stderr(log);
        self.child = Some(command.spawn().unwrap());
        let started = Instant::now();
        while self.try_query("SELECT 1").is_none() {
            let log = || fs::read_to_string(folder.join("log")).unwrap();
            assert!(started.elapsed() < PATIENCE, "it does not start: {}", log());
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// In order, so that nothing is left to recover.
    fn stop(&mut self) {
        let mut command = self.account.command(&self.programs.join("pg_ctl"));
        command
            .current_dir(self.folder.path())
            .args(["stop", "--pgdata=data", "--mode=fast", "--wait"])
            .stdout(Stdio::null());
        assert!(command.status().unwrap().success());
        self.child.take().unwrap().wait().unwrap();
    }

    /// Starts again as a standby that waits for a primary which never comes.
    fn start_as_standby(&mut self) {
        self.stop();
        let signal = self.folder.path().join("data/standby.signal");
        fs::write(&signal, "").unwrap();
        self.account.own(&signal);
        self.start();
    }

    fn url(&self) -> String {
        format!(
            "postgres://postgres@localhost/postgres?host={}&port={PORT}",
            self.folder.path().display()
        )
    }

    fn address(&self) -> StoreAddress {
        StoreAddress::Postgres {
            url: self.url(),
            pooler: false,
        }
    }

    fn client(&self, program: &str) -> Command {
        let mut command = Command::new(self.programs.join(program));
        command.arg(format!("--dbname={}", self.url()));
        command
    }

    fn try_query(&self, sql: &str) -> Option<String> {
        let mut command = self.client("psql");
        let output = command
            .args(["--no-psqlrc", "-Atc", sql])
            .stderr(Stdio::null())
            .output()
            .unwrap();
        let text = String::from_utf8(output.stdout).unwrap().trim().to_owned();
        output.status.success().then_some(text)
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        if let Some(child) = &mut self.child {
            let _killed = child.kill();
            let _reaped = child.wait();
        }
    }
}

/// What the helpers of the suite take for an engine.
#[derive(Debug)]
struct On(StoreAddress);

#[async_trait]
impl Engine for On {
    const MOVES: usize = 0;
    const ENTRIES: u64 = 0;

    async fn begin(_test: &str) -> Option<Self> {
        None
    }

    fn address(&self) -> StoreAddress {
        self.0.clone()
    }

    async fn end(&self) {}
}

async fn catalog_on(cluster: &Cluster) -> Catalog<On> {
    Catalog::open(Arc::new(On(cluster.address()))).await
}

async fn head(catalog: &Catalog<On>) -> Revision {
    catalog.number_all().await;
    catalog.store.head().await.unwrap().head
}

/// A catalog with three entries, closed; answers its head.
async fn left_behind(cluster: &Cluster) -> Revision {
    let catalog = catalog_on(cluster).await;
    for number in 0..3 {
        catalog.register(&format!("/w/{number}")).await;
    }
    let head = head(&catalog).await;
    catalog.store.close().await;
    head
}

/// Positions are as before and go on above; the epoch is another one, and stays.
async fn assert_goes_on_in_another_epoch(cluster: &Cluster, before: &Revision) {
    let catalog = catalog_on(cluster).await;
    let after = head(&catalog).await;
    assert_eq!(after.position, before.position);
    assert_ne!(after.epoch, before.epoch);
    let log = catalog.log().await;
    assert_eq!(
        log.iter().map(|entry| entry.position).collect::<Vec<_>>(),
        [1, 2, 3]
    );
    catalog.register("/w/next").await;
    assert_eq!(catalog.log().await[3].position, 4);
    catalog.store.close().await;
    let again = catalog_on(cluster).await;
    assert_eq!(head(&again).await.epoch, after.epoch);
    again.store.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn n188_a_dump_that_is_restored_elsewhere_goes_on_in_another_epoch() {
    let test = concat!(
        module_path!(),
        "::n188_a_dump_that_is_restored_elsewhere_goes_on_in_another_epoch"
    );
    let Some(programs) = postgres_programs(test) else {
        return;
    };
    let (first, second) = (Cluster::new(&programs), Cluster::new(&programs));
    let before = left_behind(&first).await;
    let dump = first.client("pg_dump").output().unwrap();
    assert!(dump.status.success());
    let file = second.folder.path().join("dump.sql");
    fs::write(&file, dump.stdout).unwrap();
    let mut restore = second.client("psql");
    let restored = restore
        .args(["--no-psqlrc", "--quiet", "--set=ON_ERROR_STOP=1", "--file"])
        .arg(&file)
        .stdout(Stdio::null())
        .status();
    assert!(restored.unwrap().success());
    assert_goes_on_in_another_epoch(&second, &before).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn n188_n189_a_standby_is_refused_and_goes_on_in_another_epoch_when_promoted() {
    let test = concat!(
        module_path!(),
        "::n188_n189_a_standby_is_refused_and_goes_on_in_another_epoch_when_promoted"
    );
    let Some(programs) = postgres_programs(test) else {
        return;
    };
    let mut cluster = Cluster::new(&programs);
    let before = left_behind(&cluster).await;
    cluster.start_as_standby();
    let outcome = open(cluster.address()).await;
    let says_why = matches!(&outcome, Err(Error::Unavailable { detail, .. }) if detail.contains("standby"));
    assert!(says_why, "{outcome:?}");
    assert_eq!(cluster.try_query("SELECT pg_promote()").as_deref(), Some("t"));
    assert_goes_on_in_another_epoch(&cluster, &before).await;
}

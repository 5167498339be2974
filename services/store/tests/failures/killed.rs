//! Processes that get kill -9 while they write, trim or number. Each is this test program once more, with the one
//! test that is a child's.

#![allow(clippy::unwrap_used)]

use std::collections::HashMap;
use std::io::{BufReader, Read as _, Write as _};
use std::path::PathBuf;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use async_trait::async_trait;
use compozy_domain::{ChangeOp, Random as _, Timestamp, WorkspaceId};
use compozy_store::conformance::{
    Catalog, Engine, Numbers, Postgres, START, Seeded, SqliteFile, append_entries, run,
};
use compozy_store::{
    CatalogStore as _, ChangeLog as _, NUMBERED_AT_ONCE, Numbering, StoreAddress, WorkspaceStore as _,
};

const WORK: &str = "COMPOZY_TEST_CHILD";
const ADDRESS: &str = "COMPOZY_TEST_CHILD_STORE";
const ROUND: &str = "COMPOZY_TEST_CHILD_ROUND";
const PATIENCE: Duration = Duration::from_secs(60);
const ROUNDS: usize = 5;
/// Writes of a round, if it were left alone.
const WRITES: usize = 1_000;
/// What a child says after each step.
const STEP: u8 = b'!';

/// The catalog of somebody else.
#[derive(Debug)]
struct There(StoreAddress);

#[async_trait]
impl Engine for There {
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

/// A process that works until it is killed, or has nothing more to do.
struct Worker {
    child: Child,
    output: BufReader<ChildStdout>,
}

impl Worker {
    fn start(work: &str, address: &StoreAddress, round: usize) -> Self {
        let address = match address {
            StoreAddress::SqliteFile(path) => format!("sqlite:{}", path.display()),
            StoreAddress::Postgres { url, .. } => url.clone(),
            StoreAddress::SqliteMemory => panic!("memory ends with its process"),
        };
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "killed::child", "--nocapture", "--test-threads=1"])
            .env(WORK, work)
            .env(ADDRESS, address)
            .env(ROUND, round.to_string())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let output = BufReader::new(child.stdout.take().unwrap());
        Self { child, output }
    }

    /// Waits for so many steps; fewer if the child ends.
    fn wait_for(&mut self, steps: usize) {
        let mut done = 0;
        let mut byte = [0];
        while done < steps && self.output.read(&mut byte).unwrap() == 1 {
            done += usize::from(byte[0] == STEP);
        }
        assert!(done > 0, "the child did nothing");
    }

    fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        let _killed = self.child.kill();
        let _reaped = self.child.wait();
    }
}

/// Does what the environment asks for, and is no test without it.
#[tokio::test(flavor = "multi_thread")]
async fn child() {
    let Ok(work) = std::env::var(WORK) else { return };
    let address = std::env::var(ADDRESS).unwrap();
    let address = match address.strip_prefix("sqlite:") {
        Some(path) => StoreAddress::SqliteFile(PathBuf::from(path)),
        None => StoreAddress::Postgres {
            url: address,
            pooler: false,
        },
    };
    let round: usize = std::env::var(ROUND).unwrap().parse().unwrap();
    // Ids that no other process of the test gives.
    Numbers.fill(&mut vec![0; (round + 1) * 1_000_000]).unwrap();
    let catalog = Catalog::open(Arc::new(There(address))).await;
    match work.as_str() {
        "write" => write(&catalog, round).await,
        "trim" => {
            while catalog.store.trim(Timestamp::from_nanos(0), 10).await.unwrap() > 0 {
                say_step();
            }
        }
        "number" => {
            say_step();
            while catalog.store.number_pending().await.unwrap() == Numbering::Given(NUMBERED_AT_ONCE) {
                say_step();
            }
        }
        other => panic!("nobody can {other}"),
    }
}

fn say_step() {
    let mut output = std::io::stdout();
    output.write_all(&[STEP]).unwrap();
    output.flush().unwrap();
}

async fn write(catalog: &Catalog<There>, round: usize) {
    for number in 0..WRITES / 4 {
        let row = catalog.register(&format!("/{round}/{number}")).await;
        say_step();
        let title = format!("title {number}");
        let update = compozy_store::conformance::update::retitle(&row.id, &title);
        catalog.store.update(update, catalog.call()).await.unwrap();
        say_step();
        if number % 2 == 0 {
            catalog.remove(&row.id).await.unwrap();
            say_step();
        }
        catalog.register(&format!("/{round}/{number}/more")).await;
        say_step();
    }
}

/// Every row has the entries of all its versions, and every entry its row.
async fn assert_rows_and_entries_agree<E: Engine>(catalog: &Catalog<E>) -> usize {
    let entries = catalog.log().await;
    let mut told: HashMap<WorkspaceId, (i64, bool)> = HashMap::new();
    for (place, entry) in entries.iter().enumerate() {
        assert_eq!(entry.position, place as i64 + 1);
        let id = entry.change.workspace_id.clone().unwrap();
        let last = told.entry(id).or_insert((0, true));
        assert_eq!(entry.change.version, last.0 + 1, "{entry:?}");
        *last = (entry.change.version, entry.change.op == ChangeOp::Upserted);
    }
    let every = compozy_domain::Visibility::All;
    let rows = catalog.store.above(None, &[], 100_000, &every).await.unwrap();
    let there = told.values().filter(|(_, is_there)| *is_there).count();
    assert_eq!(rows.len(), there, "as many rows as entries tell");
    for row in &rows {
        assert_eq!(told.get(&row.id), Some(&(row.version, true)), "{row:?}");
    }
    assert_eq!(catalog.store.examine().await.unwrap(), []);
    entries.len()
}

async fn killed_while_it_writes<E: Engine>(catalog: Catalog<E>) {
    let mut numbers = Seeded::new(21);
    let mut length = 0;
    let mut catalog = catalog;
    for round in 0..ROUNDS {
        catalog.store.close().await;
        let mut worker = Worker::start("write", &catalog.engine.address(), round);
        worker.wait_for(1 + numbers.below(WRITES / 4));
        worker.kill();
        catalog = catalog.opened_again().await;
        let longer = assert_rows_and_entries_agree(&catalog).await;
        assert!(longer > length);
        length = longer;
    }
    catalog.store.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn n021_a_write_is_wholly_there_or_not_at_all_on_sqlite() {
    let test = concat!(
        module_path!(),
        "::n021_a_write_is_wholly_there_or_not_at_all_on_sqlite"
    );
    run::<SqliteFile, _>(test, killed_while_it_writes).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn n021_a_write_is_wholly_there_or_not_at_all_on_postgres() {
    let test = concat!(
        module_path!(),
        "::n021_a_write_is_wholly_there_or_not_at_all_on_postgres"
    );
    run::<Postgres, _>(test, killed_while_it_writes).await;
}

/// A piece is 5,000: the child dies in the middle of one, or between two.
async fn killed_while_it_trims<E: Engine>(catalog: Catalog<E>) {
    const ALL: u64 = 200_000;
    append_entries(&catalog.store, ALL, START).await.unwrap();
    let mut numbers = Seeded::new(117);
    let mut floor = 0;
    let mut catalog = catalog;
    for round in 0..ROUNDS {
        catalog.store.close().await;
        let mut worker = Worker::start("trim", &catalog.engine.address(), round);
        worker.wait_for(1 + numbers.below(5));
        worker.kill();
        catalog = catalog.opened_again().await;
        let head = catalog.store.head().await.unwrap();
        assert_eq!(head.head.position as u64, ALL);
        assert!(
            head.floor > floor && head.floor % 5_000 == 0,
            "the floor is at {}",
            head.floor
        );
        floor = head.floor;
        let slice = catalog.store.read_after(floor, 10_000).await.unwrap();
        for (place, entry) in slice.entries.iter().enumerate() {
            assert_eq!(entry.position, floor + 1 + place as i64);
        }
        assert_eq!(
            catalog.store.read_after(0, 1).await.unwrap().entries[0].position,
            floor + 1
        );
        assert_eq!(catalog.store.examine().await.unwrap(), []);
    }
    catalog.store.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn n117_a_log_that_was_being_trimmed_has_no_hole_on_sqlite() {
    let test = concat!(
        module_path!(),
        "::n117_a_log_that_was_being_trimmed_has_no_hole_on_sqlite"
    );
    run::<SqliteFile, _>(test, killed_while_it_trims).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn n117_a_log_that_was_being_trimmed_has_no_hole_on_postgres() {
    let test = concat!(
        module_path!(),
        "::n117_a_log_that_was_being_trimmed_has_no_hole_on_postgres"
    );
    run::<Postgres, _>(test, killed_while_it_trims).await;
}

/// 2,500 entries wait. One process has moved a piece of them and not committed yet when it is killed; the other one
/// finds that somebody is at it, only reads, and then does all of it.
#[tokio::test(flavor = "multi_thread")]
async fn n187_of_two_that_number_one_is_killed() {
    let test = concat!(module_path!(), "::n187_of_two_that_number_one_is_killed");
    run::<Postgres, _>(test, async |catalog: Catalog<Postgres>| {
        let pool = catalog.engine.connections().await;
        let sql = "INSERT INTO change_pending (kind, op, reason, host_id, workspace_id, version, at) \
                   SELECT 'workspace', 'upserted', 'updated', 'h1', 'ws_00000000000000ff', n, 1 \
                   FROM generate_series(1, 2500) n";
        sqlx::query(sql).execute(&pool).await.unwrap();
        // Holds up whoever numbers where it advances the head, the last thing it does.
        let mut holding = pool.begin().await.unwrap();
        let sql = "SELECT head FROM change_head FOR UPDATE";
        sqlx::query(sql).execute(&mut *holding).await.unwrap();
        let mut worker = Worker::start("number", &catalog.engine.address(), 0);
        worker.wait_for(1);
        let stuck = "SELECT COUNT(*) FROM pg_stat_activity WHERE datname = current_database() \
                     AND wait_event_type = 'Lock' AND query LIKE '%change_head SET head%'";
        let waiting = async |count: i64| {
            let deadline = Instant::now() + PATIENCE;
            while sqlx::query_scalar::<_, i64>(stuck)
                .fetch_one(&pool)
                .await
                .unwrap()
                != count
            {
                assert!(
                    Instant::now() < deadline,
                    "waited in vain for {count} that are stuck"
                );
                tokio::time::sleep(Duration::from_millis(2)).await;
            }
        };
        waiting(1).await;
        let store = &catalog.store;
        assert_eq!(store.number_pending().await.unwrap(), Numbering::Busy);
        let slice = store.read_after(0, 10).await.unwrap();
        assert_eq!((slice.entries.len(), slice.head.position), (0, 0));
        worker.kill();
        holding.rollback().await.unwrap();
        let deadline = Instant::now() + PATIENCE;
        let mut pieces = Vec::new();
        while pieces.iter().sum::<u64>() < 2_500 {
            match store.number_pending().await.unwrap() {
                Numbering::Given(count) => {
                    assert!(count <= NUMBERED_AT_ONCE);
                    pieces.push(count);
                }
                // The server has yet to notice that the other one is gone.
                Numbering::Busy => tokio::time::sleep(Duration::from_millis(2)).await,
            }
            assert!(Instant::now() < deadline, "{pieces:?}");
        }
        assert_eq!(pieces, [1_000, 1_000, 500], "nothing of the killed one's is kept");
        assert_eq!(store.head().await.unwrap().pending, 0);
        let log = catalog.log().await;
        let told: Vec<(i64, i64)> = log
            .iter()
            .map(|entry| (entry.position, entry.change.version))
            .collect();
        assert_eq!(
            told,
            (1..=2_500).map(|number| (number, number)).collect::<Vec<_>>()
        );
        pool.close().await;
    })
    .await;
}

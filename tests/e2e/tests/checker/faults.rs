//! What is done to daemons and databases while a lap runs. One fault at a time, each over before the next begins, but
//! for a transaction of somebody else that stays open in between.

use std::time::{Duration, Instant};

use compozy_e2e::Draw;
use rusqlite::Connection;
use rustix::process::Signal;
use sqlx::postgres::{PgConnectOptions, PgConnection};
use sqlx::{AssertSqlSafe, ConnectOptions as _};
use tokio::sync::watch;
use tokio::task::block_in_place;
use tokio::time::sleep;

use crate::board::Phase;
use crate::history::Span;
use crate::log_reader::Source;
use crate::servers::Servers;

/// For which a daemon or a database is away, at most.
const AWAY: Duration = Duration::from_millis(1_500);
/// For which a daemon is stopped, at most: longer than it waits for anything of its own that is quick.
const STOPPED: Duration = Duration::from_secs(3);

/// Entries that are left when the log is trimmed while a daemon is stopped.
const TRIMMED_BEHIND_ITS_BACK: i64 = 10;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Fault {
    /// kill -9 of a daemon, and a start.
    Kill,
    /// SIGTERM, its end, and a start.
    Drain,
    /// SIGSTOP and SIGCONT.
    Stop,
    /// Every connection of the database is cut.
    Cut,
    /// The database is stopped, or crashes, and starts again.
    Database,
    /// The log is trimmed to so many entries, as the daemon does it.
    Trim(i64),
    /// `compozyd new-epoch` beside running replicas.
    Epoch,
}

/// What was done.
#[derive(Debug, Default)]
pub(crate) struct Done {
    pub(crate) faults: Vec<Fault>,
    pub(crate) outages: Vec<Span>,
    pub(crate) epochs: Vec<Span>,
}

/// A transaction of somebody else that has written something; it ends with this value.
#[derive(Debug)]
struct Foreign {
    _connection: PgConnection,
}

/// Does one of these after the other until it is to be quiet. Then every server serves again.
pub(crate) async fn disturb(
    servers: &mut Servers,
    (choices, calm): (&[Fault], Duration),
    mut draw: Draw,
    mut phase: watch::Receiver<Phase>,
) -> Done {
    let mut done = Done::default();
    let mut foreign = open_foreign(servers).await;
    loop {
        tokio::select! {
            () = sleep(part(calm, &mut draw)) => {}
            _ = phase.wait_for(|phase| *phase != Phase::Traffic) => return done,
        }
        let Some(fault) = draw.choose(choices).copied() else {
            continue;
        };
        let begun = Instant::now();
        carry_out(fault, servers, &mut draw).await;
        let span = Span {
            begun,
            ended: Instant::now(),
        };
        done.faults.push(fault);
        match fault {
            Fault::Epoch => done.epochs.push(span),
            Fault::Trim(_) => {}
            Fault::Kill | Fault::Drain | Fault::Stop | Fault::Cut | Fault::Database => {
                done.outages.push(span);
            }
        }
        if matches!(fault, Fault::Cut | Fault::Database) || draw.one_in(8) {
            drop(foreign);
            foreign = open_foreign(servers).await;
        }
    }
}

async fn carry_out(fault: Fault, servers: &mut Servers, draw: &mut Draw) {
    let number = draw.below(servers.daemons.len());
    match fault {
        Fault::Kill => {
            servers.daemons[number].kill();
            sleep(part(AWAY, draw)).await;
            servers.restart(number).await;
        }
        Fault::Drain => {
            servers.daemons[number].signal(Signal::TERM);
            let status = block_in_place(|| servers.daemons[number].ended());
            assert!(status.success(), "an orderly end is a success: {status}");
            servers.restart(number).await;
        }
        Fault::Stop => {
            servers.daemons[number].signal(Signal::STOP);
            sleep(part(STOPPED, draw)).await;
            // Others go on, and what the stopped one has not read may be gone when it wakes.
            if servers.daemons.len() > 1 && draw.one_in(2) {
                trim(servers, TRIMMED_BEHIND_ITS_BACK).await;
            }
            servers.daemons[number].signal(Signal::CONT);
        }
        Fault::Cut => {
            let sql = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity \
                       WHERE pid <> pg_backend_pid() AND backend_type = 'client backend'";
            block_in_place(|| servers.environments[0].database().execute(sql));
        }
        Fault::Database => {
            let crash = draw.one_in(2);
            let Some(postgres) = &mut servers.postgres else {
                return;
            };
            block_in_place(|| if crash { postgres.crash() } else { postgres.stop() });
            sleep(part(AWAY, draw)).await;
            block_in_place(|| postgres.resume());
        }
        Fault::Trim(entries) => trim(servers, entries).await,
        Fault::Epoch => block_in_place(|| servers.run(&["new-epoch"])),
    }
}

/// Rows and floor in one transaction.
pub(crate) async fn trim(servers: &Servers, entries: i64) {
    let sql = format!(
        "BEGIN; \
         DELETE FROM change WHERE position <= (SELECT head - {entries} FROM change_head); \
         UPDATE change_head SET floor = head - {entries} WHERE floor < head - {entries}; \
         COMMIT"
    );
    match &servers.source {
        Source::Sqlite(path) => {
            let sql = sql.replacen("BEGIN", "BEGIN IMMEDIATE", 1);
            block_in_place(|| {
                let store = Connection::open(path).unwrap();
                store.busy_timeout(AWAY * 10).unwrap();
                store.execute_batch(&sql).unwrap();
            });
        }
        Source::Postgres(_) => {
            // The head must not move between the two statements, and a daemon that is stopped may hold its lock.
            let begin = "BEGIN ISOLATION LEVEL REPEATABLE READ; SET LOCAL lock_timeout = '500ms';";
            let sql = sql.replacen("BEGIN;", begin, 1);
            let database = servers.environments[0].database();
            // Whoever numbers at the same time is in the way; there is another chance.
            let _ = block_in_place(|| database.try_execute(&sql));
        }
    }
}

/// N128, seen from outside: whatever it holds up, it is not the log.
async fn open_foreign(servers: &Servers) -> Option<Foreign> {
    let Source::Postgres(url) = &servers.source else {
        return None;
    };
    let options: PgConnectOptions = url.parse().unwrap();
    let mut connection = options.disable_statement_logging().connect().await.unwrap();
    let sql = "CREATE SCHEMA IF NOT EXISTS elsewhere; \
               CREATE TABLE IF NOT EXISTS elsewhere.written (at BIGINT); \
               BEGIN; INSERT INTO elsewhere.written VALUES (1)";
    sqlx::raw_sql(AssertSqlSafe(sql))
        .execute(&mut connection)
        .await
        .unwrap();
    Some(Foreign {
        _connection: connection,
    })
}

fn part(longest: Duration, draw: &mut Draw) -> Duration {
    longest.mul_f64(draw.below(1_000) as f64 / 1_000.0)
}

//! Reads the log from the database itself, while it grows and once more in the end: what watchers got is held against
//! this and not against another watcher. What is trimmed is kept aside by a trigger.

use std::path::{Path, PathBuf};
use std::time::Duration;

use compozy_e2e::Environment;
use compozy_proto::change::v1::{ChangeKind, ChangeOp, ChangeReason, RemovedSessions};
use rusqlite::{Connection, OpenFlags};
use sqlx::postgres::{PgConnectOptions, PgConnection};
use sqlx::{ConnectOptions as _, Row as _};

use crate::entry::{Entry, Position};
use crate::history::Log;

/// Positions below the newest one that are read again: nothing may turn up there.
const OVERLAP: i64 = 500;
const COLUMNS: &str = "position, kind, op, reason, workspace_id, from_workspace_id, session_id, profile_id, version, \
                       session_count, at";
/// Of one read. The database may be down.
const PATIENCE: Duration = Duration::from_secs(5);
/// Between two looks at a log that may still grow.
const SETTLING_PAUSE: Duration = Duration::from_millis(100);

/// Keeps what is trimmed. It runs inside whatever trims, so that nothing can get away.
const KEEP_IN_SQLITE: &str = "\
    CREATE TABLE trimmed AS SELECT * FROM change WHERE 0; \
    CREATE TRIGGER keep_trimmed AFTER DELETE ON change BEGIN \
      INSERT INTO trimmed (position, kind, op, reason, workspace_id, from_workspace_id, session_id, profile_id, \
      version, session_count, at) \
      VALUES (OLD.position, OLD.kind, OLD.op, OLD.reason, OLD.workspace_id, OLD.from_workspace_id, OLD.session_id, \
      OLD.profile_id, OLD.version, OLD.session_count, OLD.at); \
    END";
const KEEP_IN_POSTGRES: &str = "\
    CREATE TABLE trimmed (LIKE change); \
    CREATE FUNCTION keep_trimmed() RETURNS trigger LANGUAGE plpgsql AS \
      'BEGIN INSERT INTO trimmed VALUES (OLD.*); RETURN OLD; END'; \
    CREATE TRIGGER keep_trimmed AFTER DELETE ON change FOR EACH ROW EXECUTE FUNCTION keep_trimmed()";

/// Where the log is.
#[derive(Debug, Clone)]
pub(crate) enum Source {
    Sqlite(PathBuf),
    Postgres(String),
}

/// A row of the log.
type Row = (Position, [String; 3], [Option<String>; 4], [i64; 3]);

/// What one read found.
struct Found {
    floor: Position,
    /// Entries that are committed and have no position yet.
    pending: i64,
    rows: Vec<Row>,
}

#[derive(Debug)]
pub(crate) struct LogReader {
    source: Source,
    log: Log,
    newest: Position,
}

impl Source {
    pub(crate) fn of(environment: &Environment, is_postgres: bool) -> Self {
        if is_postgres {
            Self::Postgres(environment.database().url())
        } else {
            Self::Sqlite(environment.home.join("compozy.db"))
        }
    }
}

impl LogReader {
    /// Of a catalog that has never been trimmed.
    pub(crate) async fn begin(source: Source) -> Self {
        match &source {
            Source::Sqlite(path) => open_sqlite(path).unwrap().execute_batch(KEEP_IN_SQLITE).unwrap(),
            Source::Postgres(url) => {
                let mut connection = open_postgres(url).await.unwrap();
                sqlx::raw_sql(KEEP_IN_POSTGRES)
                    .execute(&mut connection)
                    .await
                    .unwrap();
            }
        }
        Self {
            source,
            log: Log::default(),
            newest: 0,
        }
    }

    /// Takes in what is new. A database that is away is asked again later.
    pub(crate) async fn read(&mut self) {
        let after = self.newest - OVERLAP;
        if let Ok(found) = self.find(after).await {
            self.take(found);
        }
    }

    /// Takes in everything, once nothing waits for a position any more. Answers the newest position.
    pub(crate) async fn settle(&mut self) -> Position {
        loop {
            let newest = self.newest;
            if let Ok(found) = self.find(0).await {
                let is_settled = found.pending == 0;
                self.take(found);
                if is_settled && self.newest == newest {
                    return newest;
                }
            }
            tokio::time::sleep(SETTLING_PAUSE).await;
        }
    }

    /// Everything up to this position was trimmed, as far as was read.
    pub(crate) fn floor(&self) -> Position {
        self.log.floor
    }

    /// Everything that was read, with where it was quiet.
    pub(crate) fn into_log(mut self, quiet: Position) -> Log {
        self.log.quiet = quiet;
        self.log
    }

    fn take(&mut self, found: Found) {
        self.log.floor = found.floor;
        let newest = self.newest;
        for (position, words, ids, numbers) in found.rows {
            let entry = entry(&words, ids, numbers);
            let before = self.log.entries.get(&position);
            let is_steady = match before {
                Some(before) => *before == entry,
                None => position > newest,
            };
            if !is_steady {
                self.log.unsteady.push(position);
            }
            self.log.entries.insert(position, entry);
            self.newest = self.newest.max(position);
        }
    }

    async fn find(&self, after: Position) -> Result<Found, String> {
        match &self.source {
            Source::Sqlite(path) => {
                let path = path.clone();
                let found = tokio::task::spawn_blocking(move || in_sqlite(&path, after)).await;
                found.unwrap().map_err(|error| error.to_string())
            }
            Source::Postgres(url) => {
                let found = tokio::time::timeout(PATIENCE, in_postgres(url, after)).await;
                found
                    .map_err(|_| "it takes too long".to_owned())?
                    .map_err(|error| error.to_string())
            }
        }
    }
}

fn everything_above(position: &str) -> String {
    format!(
        "SELECT {COLUMNS} FROM change WHERE position > {position} UNION ALL \
         SELECT {COLUMNS} FROM trimmed WHERE position > {position} ORDER BY 1"
    )
}

fn open_sqlite(path: &Path) -> rusqlite::Result<Connection> {
    let connection = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
    connection.busy_timeout(PATIENCE)?;
    Ok(connection)
}

fn in_sqlite(path: &Path, after: Position) -> rusqlite::Result<Found> {
    let mut connection = open_sqlite(path)?;
    let snapshot = connection.transaction()?;
    let floor = snapshot.query_row("SELECT floor FROM change_head", [], |row| row.get(0))?;
    let sql = everything_above("?1");
    let mut statement = snapshot.prepare(&sql)?;
    let rows = statement.query_map([after], |row| {
        let words = [row.get(1)?, row.get(2)?, row.get(3)?];
        let ids = [row.get(4)?, row.get(5)?, row.get(6)?, row.get(7)?];
        let numbers = [row.get(8)?, row.get(9)?, row.get(10)?];
        Ok((row.get(0)?, words, ids, numbers))
    })?;
    Ok(Found {
        floor,
        pending: 0,
        rows: rows.collect::<rusqlite::Result<_>>()?,
    })
}

async fn open_postgres(url: &str) -> Result<PgConnection, sqlx::Error> {
    let options: PgConnectOptions = url.parse()?;
    options.disable_statement_logging().connect().await
}

async fn in_postgres(url: &str, after: Position) -> Result<Found, sqlx::Error> {
    let mut connection = open_postgres(url).await?;
    sqlx::raw_sql("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
        .execute(&mut connection)
        .await?;
    let state = "SELECT floor, (SELECT COUNT(*) FROM change_pending) FROM change_head";
    let state = sqlx::query(state).fetch_one(&mut connection).await?;
    let sql = everything_above("$1");
    let rows = sqlx::query(sqlx::AssertSqlSafe(sql))
        .bind(after)
        .fetch_all(&mut connection)
        .await?;
    let mut found = Found {
        floor: state.try_get(0)?,
        pending: state.try_get(1)?,
        rows: Vec::with_capacity(rows.len()),
    };
    for row in rows {
        let words = [row.try_get(1)?, row.try_get(2)?, row.try_get(3)?];
        let ids = [row.try_get(4)?, row.try_get(5)?, row.try_get(6)?, row.try_get(7)?];
        let numbers = [row.try_get(8)?, row.try_get(9)?, row.try_get(10)?];
        found.rows.push((row.try_get(0)?, words, ids, numbers));
    }
    Ok(found)
}

/// The stored words are the contract's names, but for the two kinds of a removal.
fn entry(
    [kind, op, reason]: &[String; 3],
    [workspace, from, session, profile]: [Option<String>; 4],
    [version, session_count, at]: [i64; 3],
) -> Entry {
    let (reason, removed) = match reason.as_str() {
        "removed_sessions_kept" => ("removed", RemovedSessions::Kept),
        "removed_sessions_deleted" => ("removed", RemovedSessions::Deleted),
        reason => (reason, RemovedSessions::Unspecified),
    };
    let name = |prefix: &str, word: &str| format!("CHANGE_{prefix}_{}", word.to_uppercase());
    Entry {
        kind: ChangeKind::from_str_name(&name("KIND", kind)).unwrap(),
        op: ChangeOp::from_str_name(&name("OP", op)).unwrap(),
        reason: ChangeReason::from_str_name(&name("REASON", reason)).unwrap(),
        workspace: workspace.unwrap_or_default(),
        from: from.unwrap_or_default(),
        session: session.unwrap_or_default(),
        profile: profile.unwrap_or_default(),
        removed,
        session_count,
        version,
        at: at.into(),
    }
}

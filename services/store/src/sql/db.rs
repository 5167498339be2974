//! The seam: the only code that knows two drivers. A transaction is one async function over [`Tx`], written
//! once. On SQLite its statements are carried out in place and it never waits; on Postgres it awaits the
//! driver.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use async_trait::async_trait;
use compozy_domain::Timestamp;
use rusqlite::types::{ToSqlOutput, Type, Value as SqliteValue, ValueRef};
use sqlx::postgres::{PgArguments, PgRow};
use sqlx::{AssertSqlSafe, Column as _, Row as _, TypeInfo as _};
use tokio_util::sync::CancellationToken;

use crate::error::{Error, Result};
use crate::sql::dialect::Dialect;
use crate::sql::postgres::{self, Postgres};
use crate::sql::session_clock::NewestInstant;
use crate::sql::sqlite::{self, Sqlite};

/// An open catalog.
#[derive(Debug)]
pub(crate) enum Db {
    Sqlite(Sqlite),
    Postgres(Postgres),
}

/// Work to do in one transaction. It may be done more than once, until it commits.
#[async_trait]
pub(crate) trait Transaction: Send + Sync + 'static {
    type Output: Send + 'static;

    async fn run(&self, tx: &mut Tx) -> Result<Self::Output>;
}

/// A transaction that is under way.
#[derive(Debug)]
pub(crate) struct Tx {
    pub(crate) driver: Driver,
    /// Undo everything at the end, although the work succeeded.
    pub(crate) discard: bool,
    /// Readers of the change log will see something new.
    pub(crate) moves_log: bool,
    /// Whether Postgres is to keep the statements, under names, for the next time.
    pub(crate) prepares: bool,
    /// The newest instant that was stored of sessions, where one process has the store.
    pub(crate) newest: Arc<NewestInstant>,
    /// The instant that the transaction stores, if it writes.
    pub(crate) instant: Option<Timestamp>,
    /// For a planted bug that writes beside the transaction.
    #[cfg(feature = "planted-bugs")]
    pub(crate) beside: Option<sqlx::PgPool>,
}

#[derive(Debug)]
pub(crate) enum Driver {
    Sqlite(rusqlite::Connection),
    Postgres(sqlx::Transaction<'static, sqlx::Postgres>),
    /// A single statement that needs no transaction around it.
    PostgresStatement(sqlx::pool::PoolConnection<sqlx::Postgres>),
}

/// A value that is bound to a statement or read from a row. NULL keeps its type, as Postgres wants to know.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Value {
    Int(Option<i64>),
    Text(Option<String>),
    Bytes(Option<Vec<u8>>),
    Bool(bool),
    Null,
}

/// The columns of a row, taken from the left.
#[derive(Debug)]
pub(crate) struct Row(std::vec::IntoIter<Value>);

/// A column's Rust type.
pub(crate) trait FromValue: Sized {
    fn from_value(value: Value) -> Option<Self>;
}

/// Test faults of an open catalog.
#[derive(Debug, Default)]
pub(crate) struct Faults {
    /// Fail every commit as if the store had gone away just before it.
    pub(crate) fail_commits: std::sync::atomic::AtomicBool,
    /// How long to wait for the outcome of a commit; not set, as long as the engine sees fit.
    pub(crate) commit_patience: std::sync::OnceLock<Duration>,
}

impl Faults {
    pub(crate) fn check_commit(&self) -> Result<()> {
        if self.fail_commits.load(std::sync::atomic::Ordering::SeqCst) {
            return Err(Error::Unavailable {
                outcome_unknown: false,
                detail: "a test fails commits".into(),
            });
        }
        Ok(())
    }
}

impl Db {
    /// Does reading work in one snapshot.
    pub(crate) async fn read<O>(&self, work: Arc<dyn Transaction<Output = O>>) -> Result<O>
    where
        O: Send + 'static,
    {
        match self {
            Self::Sqlite(sqlite) => sqlite.read(work).await,
            Self::Postgres(postgres) => postgres.read(work, true).await,
        }
    }

    /// Does reading work of one statement.
    pub(crate) async fn read_one<O>(&self, work: Arc<dyn Transaction<Output = O>>) -> Result<O>
    where
        O: Send + 'static,
    {
        match self {
            Self::Sqlite(sqlite) => sqlite.look_up(work).await,
            Self::Postgres(postgres) => postgres.read(work, false).await,
        }
    }

    /// Does writing work and commits it, unless it asks to be discarded. Once begun it is finished even if
    /// the caller goes away.
    pub(crate) async fn write<O>(
        &self,
        deadline: Instant,
        work: Arc<dyn Transaction<Output = O>>,
    ) -> Result<O>
    where
        O: Send + 'static,
    {
        match self {
            Self::Sqlite(sqlite) => sqlite.write(deadline, work).await,
            Self::Postgres(postgres) => postgres.write(deadline, work).await,
        }
    }

    pub(crate) fn dialect(&self) -> Dialect {
        match self {
            Self::Sqlite(_) => Dialect::Sqlite,
            Self::Postgres(_) => Dialect::Postgres,
        }
    }

    /// Waits for the next commit of this process that readers of the change log will see.
    pub(crate) async fn appended(&self) {
        match self {
            Self::Sqlite(sqlite) => sqlite.appended().await,
            Self::Postgres(postgres) => postgres.appended().await,
        }
    }

    /// Waits for a hint of another process.
    pub(crate) async fn hinted(&self) {
        match self {
            // One process serves a file.
            Self::Sqlite(_) => std::future::pending().await,
            Self::Postgres(postgres) => postgres.hinted().await,
        }
    }

    /// Gives the other processes a hint.
    pub(crate) fn hint(&self) {
        match self {
            Self::Sqlite(_) => {}
            Self::Postgres(postgres) => postgres.hint(),
        }
    }

    /// How often the log has to be looked at.
    pub(crate) fn poll_period(&self) -> Duration {
        match self {
            Self::Sqlite(_) => Duration::from_secs(1),
            Self::Postgres(postgres) => postgres.poll_period(),
        }
    }

    /// Whether the server may be replaced by another one while connections stay as they are.
    pub(crate) fn may_move(&self) -> bool {
        match self {
            Self::Sqlite(_) => false,
            Self::Postgres(postgres) => postgres.may_move(),
        }
    }

    #[cfg_attr(
        not(feature = "conformance"),
        expect(dead_code, reason = "only tests fail commits")
    )]
    pub(crate) fn faults(&self) -> &Faults {
        match self {
            Self::Sqlite(sqlite) => sqlite.faults(),
            Self::Postgres(postgres) => postgres.faults(),
        }
    }

    /// Copies the catalog into a new file; `false` where it lies in no file of its own.
    pub(crate) async fn copy_to(&self, path: &Path, stop: &CancellationToken) -> Result<bool> {
        match self {
            Self::Sqlite(sqlite) => sqlite.copy_to(path, stop).await,
            Self::Postgres(_) => Ok(false),
        }
    }

    /// Lets the epoch of the change log follow the server that the catalog lies on. A file has none.
    pub(crate) async fn follow_server(&self) -> Result<()> {
        match self {
            Self::Sqlite(_) => Ok(()),
            Self::Postgres(postgres) => postgres.follow_server().await,
        }
    }

    pub(crate) async fn close(&self) {
        match self {
            Self::Sqlite(sqlite) => sqlite.close().await,
            Self::Postgres(postgres) => postgres.close().await,
        }
    }
}

impl Tx {
    pub(crate) fn new(driver: Driver) -> Self {
        Self {
            driver,
            discard: false,
            moves_log: false,
            prepares: true,
            newest: Arc::default(),
            instant: None,
            #[cfg(feature = "planted-bugs")]
            beside: None,
        }
    }

    pub(crate) fn dialect(&self) -> Dialect {
        match &self.driver {
            Driver::Sqlite(_) => Dialect::Sqlite,
            Driver::Postgres(_) | Driver::PostgresStatement(_) => Dialect::Postgres,
        }
    }

    /// This instant, but not below the newest one that was stored; what the transaction writes carries it.
    pub(crate) fn not_below_stored(&mut self, now: Timestamp) -> Timestamp {
        let instant = self.newest.not_below(now);
        self.instant = Some(instant);
        instant
    }

    /// Carries out a statement and answers the number of rows that it touched. `sql` is made of this crate's
    /// own text; everything else is bound.
    pub(crate) async fn execute(&mut self, sql: &str, binds: &[Value]) -> Result<u64> {
        let prepares = self.prepares;
        match &mut self.driver {
            Driver::Sqlite(connection) => sqlite_execute(connection, sql, binds).map_err(sqlite::fault),
            Driver::Postgres(transaction) => {
                let query = postgres_query(sql, binds, prepares)?;
                Ok(query
                    .execute(&mut **transaction)
                    .await
                    .map_err(postgres::fault)?
                    .rows_affected())
            }
            Driver::PostgresStatement(connection) => {
                let query = postgres_query(sql, binds, prepares)?;
                Ok(query
                    .execute(&mut **connection)
                    .await
                    .map_err(postgres::fault)?
                    .rows_affected())
            }
        }
    }

    /// All rows that a statement answers.
    pub(crate) async fn rows(&mut self, sql: &str, binds: &[Value]) -> Result<Vec<Row>> {
        let prepares = self.prepares;
        let rows = match &mut self.driver {
            Driver::Sqlite(connection) => return sqlite_rows(connection, sql, binds).map_err(sqlite::fault),
            Driver::Postgres(transaction) => {
                let query = postgres_query(sql, binds, prepares)?;
                query
                    .fetch_all(&mut **transaction)
                    .await
                    .map_err(postgres::fault)?
            }
            Driver::PostgresStatement(connection) => {
                let query = postgres_query(sql, binds, prepares)?;
                query
                    .fetch_all(&mut **connection)
                    .await
                    .map_err(postgres::fault)?
            }
        };
        rows.iter().map(postgres_row).collect()
    }

    /// The first row that a statement answers.
    pub(crate) async fn row(&mut self, sql: &str, binds: &[Value]) -> Result<Option<Row>> {
        Ok(self.rows(sql, binds).await?.into_iter().next())
    }

    /// The first row of a statement that always answers one.
    pub(crate) async fn one(&mut self, sql: &str, binds: &[Value]) -> Result<Row> {
        self.row(sql, binds)
            .await?
            .ok_or_else(|| Error::Corrupt("a row that is always there is missing".into()))
    }
}

impl Row {
    /// All columns.
    #[cfg(feature = "conformance")]
    pub(crate) fn into_values(self) -> Vec<Value> {
        self.0.collect()
    }

    /// Passes over some columns.
    pub(crate) fn skip(&mut self, columns: usize) {
        for _ in 0..columns {
            self.0.next();
        }
    }

    /// The next column.
    pub(crate) fn take<T: FromValue>(&mut self) -> Result<T> {
        let value = self
            .0
            .next()
            .ok_or_else(|| Error::Defect("a column more than were selected".into()))?;
        T::from_value(value).ok_or_else(|| Error::Corrupt("a stored value has an unexpected type".into()))
    }
}

fn sqlite_execute(connection: &rusqlite::Connection, sql: &str, binds: &[Value]) -> rusqlite::Result<u64> {
    let mut statement = connection.prepare_cached(sql)?;
    bind(&mut statement, binds)?;
    let mut rows = statement.raw_query();
    while rows.next()?.is_some() {}
    drop(rows);
    drop(statement);
    Ok(connection.changes())
}

fn sqlite_rows(connection: &rusqlite::Connection, sql: &str, binds: &[Value]) -> rusqlite::Result<Vec<Row>> {
    let mut statement = connection.prepare_cached(sql)?;
    bind(&mut statement, binds)?;
    let columns = statement.column_count();
    let mut rows = statement.raw_query();
    let mut all = Vec::new();
    while let Some(row) = rows.next()? {
        let mut values = Vec::with_capacity(columns);
        for column in 0..columns {
            values.push(match row.get_ref(column)? {
                ValueRef::Null => Value::Null,
                ValueRef::Integer(number) => Value::Int(Some(number)),
                // Neither is ever written: what holds one is damaged.
                ValueRef::Real(_) => {
                    return Err(rusqlite::Error::InvalidColumnType(
                        column,
                        "real".into(),
                        Type::Real,
                    ));
                }
                ValueRef::Text(text) => Value::Text(Some(std::str::from_utf8(text)?.to_owned())),
                ValueRef::Blob(bytes) => Value::Bytes(Some(bytes.to_vec())),
            });
        }
        all.push(Row(values.into_iter()));
    }
    Ok(all)
}

/// SQLite takes `$1` for a name and numbers names as they come, so the number is read from the name.
fn bind(statement: &mut rusqlite::Statement<'_>, binds: &[Value]) -> rusqlite::Result<()> {
    for index in 1..=statement.parameter_count() {
        let number = statement
            .parameter_name(index)
            .and_then(|name| name[1..].parse::<usize>().ok());
        let value = number
            .and_then(|number| binds.get(number.checked_sub(1)?))
            .ok_or(rusqlite::Error::InvalidQuery)?;
        statement.raw_bind_parameter(index, value)?;
    }
    Ok(())
}

impl rusqlite::ToSql for Value {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(match self {
            Self::Int(Some(number)) => ToSqlOutput::Owned(SqliteValue::Integer(*number)),
            Self::Text(Some(text)) => ToSqlOutput::Borrowed(ValueRef::Text(text.as_bytes())),
            Self::Bytes(Some(bytes)) => ToSqlOutput::Borrowed(ValueRef::Blob(bytes)),
            Self::Bool(flag) => ToSqlOutput::Owned(SqliteValue::Integer(i64::from(*flag))),
            Self::Int(None) | Self::Text(None) | Self::Bytes(None) | Self::Null => {
                ToSqlOutput::Borrowed(ValueRef::Null)
            }
        })
    }
}

type PostgresQuery = sqlx::query::Query<'static, sqlx::Postgres, PgArguments>;

fn postgres_query(sql: &str, binds: &[Value], prepares: bool) -> Result<PostgresQuery> {
    let query = sqlx::query_with(AssertSqlSafe(sql.to_owned()), postgres_binds(binds)?);
    Ok(query.persistent(prepares))
}

fn postgres_binds(binds: &[Value]) -> Result<PgArguments> {
    use sqlx::Arguments as _;
    let mut arguments = PgArguments::default();
    for value in binds {
        let added = match value {
            Value::Int(number) => arguments.add(*number),
            Value::Text(text) => arguments.add(text.as_deref()),
            Value::Bytes(bytes) => arguments.add(bytes.as_deref()),
            Value::Bool(flag) => arguments.add(*flag),
            Value::Null => arguments.add(None::<&str>),
        };
        added.map_err(|error| Error::Defect(format!("a value can't be bound: {error}")))?;
    }
    Ok(arguments)
}

fn postgres_row(row: &PgRow) -> Result<Row> {
    let mut values = Vec::with_capacity(row.columns().len());
    for (at, column) in row.columns().iter().enumerate() {
        let value = match column.type_info().name() {
            "INT8" => row.try_get(at).map(Value::Int),
            "INT4" => row
                .try_get::<Option<i32>, _>(at)
                .map(|number| Value::Int(number.map(i64::from))),
            "TEXT" | "VARCHAR" | "NAME" => row.try_get(at).map(Value::Text),
            "BYTEA" => row.try_get(at).map(Value::Bytes),
            "BOOL" => row
                .try_get::<Option<bool>, _>(at)
                .map(|flag| flag.map_or(Value::Null, Value::Bool)),
            other => {
                return Err(Error::Defect(format!(
                    "a column has the type {other}, which no statement selects"
                )));
            }
        };
        values.push(value.map_err(postgres::fault)?);
    }
    Ok(Row(values.into_iter()))
}

impl FromValue for i64 {
    fn from_value(value: Value) -> Option<Self> {
        if let Value::Int(Some(number)) = value {
            Some(number)
        } else {
            None
        }
    }
}

impl FromValue for String {
    fn from_value(value: Value) -> Option<Self> {
        if let Value::Text(Some(text)) = value {
            Some(text)
        } else {
            None
        }
    }
}

impl FromValue for Vec<u8> {
    fn from_value(value: Value) -> Option<Self> {
        if let Value::Bytes(Some(bytes)) = value {
            Some(bytes)
        } else {
            None
        }
    }
}

impl FromValue for bool {
    fn from_value(value: Value) -> Option<Self> {
        match value {
            Value::Bool(flag) => Some(flag),
            Value::Int(Some(number)) => Some(number != 0),
            _ => None,
        }
    }
}

impl<T: FromValue> FromValue for Option<T> {
    fn from_value(value: Value) -> Option<Self> {
        match value {
            Value::Null | Value::Int(None) | Value::Text(None) | Value::Bytes(None) => Some(None),
            value => T::from_value(value).map(Some),
        }
    }
}

impl From<i64> for Value {
    fn from(number: i64) -> Self {
        Self::Int(Some(number))
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Self::Text(Some(text.to_owned()))
    }
}

impl From<String> for Value {
    fn from(text: String) -> Self {
        Self::Text(Some(text))
    }
}

impl From<&[u8]> for Value {
    fn from(bytes: &[u8]) -> Self {
        Self::Bytes(Some(bytes.to_vec()))
    }
}

impl From<bool> for Value {
    fn from(flag: bool) -> Self {
        Self::Bool(flag)
    }
}

impl From<Timestamp> for Value {
    fn from(at: Timestamp) -> Self {
        Self::Int(Some(at.nanos()))
    }
}

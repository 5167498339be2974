//! What tests do behind the store's back.

use std::sync::{Arc, Mutex, mpsc};
use std::time::{Duration, Instant};

use async_trait::async_trait;
use compozy_domain::Timestamp;
use tokio::sync::oneshot;

use crate::error::{Error, Result};
use crate::open::SqlStore;
use crate::sql::{Db, Transaction, Tx, Value};

/// Carries out a statement of the test's own, in a transaction of its own.
///
/// # Errors
/// As any write.
pub async fn execute(store: &SqlStore, sql: &str) -> Result<u64> {
    let deadline = Instant::now() + Duration::from_secs(20);
    store
        .db()
        .write(deadline, Arc::new(Execute(sql.to_owned())))
        .await
}

/// The rows that a query answers, each column as text: bytes in hex, truth as 1 and 0.
///
/// # Errors
/// As any read.
pub async fn rows(store: &SqlStore, sql: &str) -> Result<Vec<Vec<String>>> {
    store.db().read(Arc::new(Query(sql.to_owned()))).await
}

/// Lets the catalog's clock of Postgres stand still at an instant, for every process and from the next statement on.
/// On SQLite nothing: there the clock of the process counts.
///
/// # Errors
/// As any write.
pub async fn set_catalog_clock(store: &SqlStore, at: Timestamp) -> Result<()> {
    if matches!(store.db(), Db::Postgres(_)) {
        let sql = format!(
            "CREATE OR REPLACE FUNCTION catalog_now() RETURNS BIGINT LANGUAGE SQL VOLATILE \
             AS 'SELECT {}::bigint'",
            at.nanos()
        );
        execute(store, &sql).await?;
    }
    Ok(())
}

/// Appends entries about a workspace that is not there, all of one instant, in one statement.
///
/// # Errors
/// As any write.
pub async fn append_entries(store: &SqlStore, count: u64, at: Timestamp) -> Result<()> {
    let deadline = Instant::now() + Duration::from_secs(120);
    store
        .db()
        .write(deadline, Arc::new(AppendEntries { count, at }))
        .await
}

struct AppendEntries {
    count: u64,
    at: Timestamp,
}

#[async_trait]
impl Transaction for AppendEntries {
    type Output = ();

    async fn run(&self, tx: &mut Tx) -> Result<()> {
        let (count, at) = (self.count, self.at.nanos());
        let sql = format!(
            "WITH RECURSIVE counted (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM counted WHERE n < {count}) \
             INSERT INTO change (position, kind, op, reason, host_id, workspace_id, version, at) \
             SELECT h.head + c.n, 'workspace', 'upserted', 'updated', 'h1', 'ws_00000000000000ff', c.n, {at} \
             FROM counted c, change_head h WHERE h.one = 1"
        );
        tx.execute(&sql, &[]).await?;
        let sql = format!("UPDATE change_head SET head = head + {count} WHERE one = 1");
        tx.execute(&sql, &[]).await?;
        Ok(())
    }
}

struct Execute(String);

#[async_trait]
impl Transaction for Execute {
    type Output = u64;

    async fn run(&self, tx: &mut Tx) -> Result<u64> {
        tx.execute(&self.0, &[]).await
    }
}

struct Query(String);

#[async_trait]
impl Transaction for Query {
    type Output = Vec<Vec<String>>;

    async fn run(&self, tx: &mut Tx) -> Result<Self::Output> {
        let rows = tx.rows(&self.0, &[]).await?;
        Ok(rows
            .into_iter()
            .map(|row| row.into_values().into_iter().map(text).collect())
            .collect())
    }
}

fn text(value: Value) -> String {
    match value {
        Value::Int(Some(number)) => number.to_string(),
        Value::Text(Some(text)) => text,
        Value::Bytes(Some(bytes)) => bytes.iter().map(|byte| format!("{byte:02x}")).collect(),
        Value::Bool(flag) => u8::from(flag).to_string(),
        Value::Int(None) | Value::Text(None) | Value::Bytes(None) | Value::Null => "NULL".to_owned(),
    }
}

/// SQLite's writer, at work on something that does not end. What is written meanwhile waits together, and
/// becomes one group when this is dropped.
#[derive(Debug)]
pub struct HeldWriter {
    _release: mpsc::Sender<()>,
}

/// Holds SQLite's writer.
///
/// # Panics
/// On Postgres, which has none.
pub async fn hold_writer(store: &Arc<SqlStore>) -> HeldWriter {
    assert!(matches!(store.db(), Db::Sqlite(_)), "only SQLite has one writer");
    let (release, released) = mpsc::channel();
    let (began, begun) = oneshot::channel();
    let hold = Hold {
        began: Mutex::new(Some(began)),
        released: Mutex::new(released),
    };
    let deadline = Instant::now() + Duration::from_secs(20);
    let mut held = Box::pin(store.db().write(deadline, Arc::new(hold)));
    // One poll puts it into the writer's queue; nobody needs its answer.
    assert!(futures::poll!(&mut held).is_pending());
    begun.await.expect("the writer is at work on it");
    HeldWriter { _release: release }
}

struct Hold {
    began: Mutex<Option<oneshot::Sender<()>>>,
    released: Mutex<mpsc::Receiver<()>>,
}

#[async_trait]
impl Transaction for Hold {
    type Output = ();

    async fn run(&self, _tx: &mut Tx) -> Result<()> {
        if let Some(began) = self.began.lock().unwrap().take() {
            let _told = began.send(());
        }
        // Ends with an error when the other end is dropped.
        let _released = self.released.lock().unwrap().recv();
        Err(Error::Defect("the writer was held".into()))
    }
}

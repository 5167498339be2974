//! The catalog as a whole.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use async_trait::async_trait;
use tokio_util::sync::CancellationToken;

use compozy_domain::workspace::defect_of_row;
use compozy_domain::{CatalogError, CatalogId, RequestId, Timestamp};

use crate::catalog::{CatalogKey, CatalogStore, Finding, StoreKind};
use crate::error::{Error, Result};
use crate::open::SqlStore;
use crate::sql::db::{Transaction, Tx};
use crate::sql::dialect::Dialect;
use crate::sql::migrate::set_epoch;
use crate::sql::profile_rows::defect_of;
use crate::sql::remember::{REMEMBERED_FOR, is_forgotten};
use crate::sql::session_examine::{ExamineSessions, SessionFindings, examine_numbers};

const KEYS_VALID: i64 = 2;
const FORGOTTEN_AT_ONCE: i64 = 5_000;

#[async_trait]
impl CatalogStore for SqlStore {
    fn kind(&self) -> StoreKind {
        match self.db().dialect() {
            Dialect::Sqlite => StoreKind::Sqlite,
            Dialect::Postgres => StoreKind::Postgres,
        }
    }

    fn catalog_id(&self) -> &CatalogId {
        self.id()
    }

    async fn keys(&self) -> Result<Vec<CatalogKey>> {
        self.db().read_one(Arc::new(Keys)).await
    }

    async fn rotate_key(&self, key: [u8; 32], now: Timestamp) -> Result<CatalogKey> {
        self.db().write(soon(), Arc::new(RotateKey { key, now })).await
    }

    async fn new_epoch(&self, epoch: &str) -> Result<()> {
        let epoch = epoch.to_owned();
        self.db().write(soon(), Arc::new(NewEpoch { epoch })).await
    }

    async fn backup_to(&self, path: &Path, stop: &CancellationToken) -> Result<bool> {
        self.db().copy_to(path, stop).await
    }

    async fn newest_at(&self) -> Result<Timestamp> {
        self.db().read_one(Arc::new(NewestAt)).await
    }

    async fn claim_first_start(&self) -> Result<bool> {
        self.db().write(soon(), Arc::new(ClaimFirstStart)).await
    }

    async fn find_answer(
        &self,
        principal: &str,
        method: &str,
        request_id: &RequestId,
        hash: &[u8; 32],
        now: Timestamp,
    ) -> Result<Option<Vec<u8>>> {
        let find = FindAnswer {
            principal: principal.to_owned(),
            method: method.to_owned(),
            request_id: request_id.clone(),
            hash: *hash,
            now,
        };
        self.db().read_one(Arc::new(find)).await
    }

    async fn forget_answers(&self, now: Timestamp) -> Result<u64> {
        self.db().write(soon(), Arc::new(ForgetAnswers { now })).await
    }

    async fn check(&self) -> Result<()> {
        self.db().read_one(Arc::new(Check)).await
    }

    async fn examine(&self) -> Result<Vec<Finding>> {
        let mut findings = self.db().read(Arc::new(Examine)).await?;
        let (mut sessions, mut after) = (SessionFindings::default(), None);
        loop {
            let (found, last) = self.db().read_one(Arc::new(ExamineSessions { after })).await?;
            sessions.join(found);
            if last.is_none() {
                break;
            }
            after = last;
        }
        findings.extend(sessions.into_findings());
        Ok(findings)
    }

    async fn close(&self) {
        self.db().close().await;
    }
}

/// The deadline of the store's own small writes.
fn soon() -> Instant {
    Instant::now() + Duration::from_secs(10)
}

struct Keys;

#[async_trait]
impl Transaction for Keys {
    type Output = Vec<CatalogKey>;

    async fn run(&self, tx: &mut Tx) -> Result<Vec<CatalogKey>> {
        let sql = "SELECT number, key FROM catalog_key ORDER BY number DESC LIMIT $1";
        let rows = tx.rows(sql, &[KEYS_VALID.into()]).await?;
        rows.into_iter()
            .map(|mut row| {
                Ok(CatalogKey {
                    number: row.take()?,
                    bytes: row.take()?,
                })
            })
            .collect()
    }
}

struct RotateKey {
    key: [u8; 32],
    now: Timestamp,
}

#[async_trait]
impl Transaction for RotateKey {
    type Output = CatalogKey;

    async fn run(&self, tx: &mut Tx) -> Result<CatalogKey> {
        // A row that is always there: who rotates looks only after the one before has committed.
        let lock = format!(
            "SELECT one FROM catalog WHERE one = 1{}",
            tx.dialect().for_update()
        );
        tx.one(&lock, &[]).await?;
        let newest: i64 = tx
            .one("SELECT COALESCE(MAX(number), 0) FROM catalog_key", &[])
            .await?
            .take()?;
        let number = newest + 1;
        let sql = "INSERT INTO catalog_key (number, key, created_at) VALUES ($1, $2, $3)";
        tx.execute(sql, &[number.into(), self.key.as_slice().into(), self.now.into()])
            .await?;
        tx.execute(
            "DELETE FROM catalog_key WHERE number <= $1",
            &[(number - KEYS_VALID).into()],
        )
        .await?;
        Ok(CatalogKey {
            number,
            bytes: self.key.to_vec(),
        })
    }
}

struct NewEpoch {
    epoch: String,
}

#[async_trait]
impl Transaction for NewEpoch {
    type Output = ();

    async fn run(&self, tx: &mut Tx) -> Result<()> {
        set_epoch(tx, &self.epoch).await
    }
}

struct NewestAt;

#[async_trait]
impl Transaction for NewestAt {
    type Output = Timestamp;

    async fn run(&self, tx: &mut Tx) -> Result<Timestamp> {
        // On Postgres the log has the server's clock, which says nothing about a process's own.
        let changed = match tx.dialect() {
            Dialect::Sqlite => "(SELECT at FROM change ORDER BY position DESC LIMIT 1)",
            Dialect::Postgres => "NULL::bigint",
        };
        let sql = format!(
            "SELECT created_at, (SELECT MAX(updated_at) FROM workspace), (SELECT MAX(updated_at) FROM profile), \
             {changed} FROM catalog WHERE one = 1"
        );
        let mut row = tx.one(&sql, &[]).await?;
        let founded: i64 = row.take()?;
        let later: [Option<i64>; 3] = [row.take()?, row.take()?, row.take()?];
        let newest = later.into_iter().flatten().chain([founded]).max();
        Ok(Timestamp::from_nanos(newest.unwrap_or(founded)))
    }
}

struct ClaimFirstStart;

#[async_trait]
impl Transaction for ClaimFirstStart {
    type Output = bool;

    async fn run(&self, tx: &mut Tx) -> Result<bool> {
        let sql = "UPDATE catalog SET first_start_claimed = $1 WHERE one = 1 AND first_start_claimed = $2";
        Ok(tx.execute(sql, &[true.into(), false.into()]).await? == 1)
    }
}

struct FindAnswer {
    principal: String,
    method: String,
    request_id: RequestId,
    hash: [u8; 32],
    now: Timestamp,
}

#[async_trait]
impl Transaction for FindAnswer {
    type Output = Option<Vec<u8>>;

    async fn run(&self, tx: &mut Tx) -> Result<Self::Output> {
        let sql = "SELECT hash, answer, created_at FROM request \
                   WHERE principal = $1 AND method = $2 AND request_id = $3";
        let key = [
            self.principal.as_str().into(),
            self.method.as_str().into(),
            self.request_id.as_str().into(),
        ];
        let Some(mut row) = tx.row(sql, &key).await? else {
            return Ok(None);
        };
        let (hash, answer, created_at): (Vec<u8>, Option<Vec<u8>>, i64) =
            (row.take()?, row.take()?, row.take()?);
        if is_forgotten(created_at, self.now) {
            return Ok(None);
        }
        if hash != self.hash {
            return Err(CatalogError::RequestIdReused.into());
        }
        Ok(answer)
    }
}

struct ForgetAnswers {
    now: Timestamp,
}

#[async_trait]
impl Transaction for ForgetAnswers {
    type Output = u64;

    async fn run(&self, tx: &mut Tx) -> Result<u64> {
        let sql = "DELETE FROM request WHERE (principal, method, request_id) IN \
                   (SELECT principal, method, request_id FROM request WHERE created_at < $1 LIMIT $2)";
        tx.execute(
            sql,
            &[self.now.minus(REMEMBERED_FOR).into(), FORGOTTEN_AT_ONCE.into()],
        )
        .await
    }
}

struct Check;

#[async_trait]
impl Transaction for Check {
    type Output = ();

    async fn run(&self, tx: &mut Tx) -> Result<()> {
        let one: i64 = tx.one("SELECT COUNT(*) FROM catalog", &[]).await?.take()?;
        if one == 1 {
            Ok(())
        } else {
            Err(Error::Corrupt("the catalog has no row of its own".into()))
        }
    }
}

/// Looks for damage and for rows that this release does not understand.
struct Examine;

#[async_trait]
impl Transaction for Examine {
    type Output = Vec<Finding>;

    async fn run(&self, tx: &mut Tx) -> Result<Vec<Finding>> {
        let mut findings = Vec::new();
        if tx.dialect() == Dialect::Sqlite {
            let verdict: String = tx.one("PRAGMA quick_check(1)", &[]).await?.take()?;
            if verdict != "ok" {
                findings.push(error(
                    format!("the catalog file is damaged: {verdict}"),
                    "restore a backup",
                ));
            }
        }
        examine_rows(tx, &mut findings).await?;
        examine_profiles(tx, &mut findings).await?;
        examine_selections(tx, &mut findings).await?;
        examine_log(tx, &mut findings).await?;
        examine_numbers(tx, &mut findings).await?;
        Ok(findings)
    }
}

async fn examine_rows(tx: &mut Tx, findings: &mut Vec<Finding>) -> Result<()> {
    let sql = "SELECT id, durable_id, root_dir, rank, additional_dirs FROM workspace ORDER BY id";
    for mut row in tx.rows(sql, &[]).await? {
        let (id, durable_id, root_dir): (String, String, String) = (row.take()?, row.take()?, row.take()?);
        let (rank, dirs): (Vec<u8>, String) = (row.take()?, row.take()?);
        let dirs_readable = serde_json::from_str::<Vec<String>>(&dirs).is_ok();
        if let Some(defect) = defect_of_row(&id, &durable_id, &root_dir, &rank, dirs_readable) {
            let remedy = "remove the workspace and register its directory again, or install a newer release";
            findings.push(error(format!("workspace {id}: {defect}"), remedy));
        }
    }
    Ok(())
}

async fn examine_profiles(tx: &mut Tx, findings: &mut Vec<Finding>) -> Result<()> {
    let sql = "SELECT id, name, state FROM profile ORDER BY id";
    for mut row in tx.rows(sql, &[]).await? {
        let (id, name, state): (String, String, String) = (row.take()?, row.take()?, row.take()?);
        if let Some(defect) = defect_of(&id, &name, &state) {
            let remedy = "delete the profile and create it again, or install a newer release";
            findings.push(error(format!("profile {id}: {defect}"), remedy));
        }
    }
    Ok(())
}

/// A selection without its workspace or profile is passed over by everybody. A release from before profiles leaves the
/// one of a workspace that it removes.
async fn examine_selections(tx: &mut Tx, findings: &mut Vec<Finding>) -> Result<()> {
    let sql = "SELECT s.workspace_id, s.profile_id, s.workspace_id <> '' AND w.id IS NULL \
               FROM profile_selection s LEFT JOIN workspace w ON w.id = s.workspace_id \
               LEFT JOIN profile p ON p.id = s.profile_id \
               WHERE (s.workspace_id <> '' AND w.id IS NULL) \
               OR (s.profile_id NOT IN ('', 'default') AND p.id IS NULL) ORDER BY s.workspace_id";
    for mut row in tx.rows(sql, &[]).await? {
        let (workspace, profile, is_orphaned): (String, String, bool) =
            (row.take()?, row.take()?, row.take()?);
        findings.push(if is_orphaned {
            warning(
                format!("a profile is remembered for the workspace {workspace}, which is not registered"),
                "nothing reads it; if other rows are missing as well, restore a backup",
            )
        } else {
            let of = if workspace.is_empty() {
                "everything without a selection of its own".to_owned()
            } else {
                format!("the workspace {workspace}")
            };
            warning(
                format!("the profile {profile}, which does not exist, is remembered for {of}"),
                "select another profile, or forget the selection",
            )
        });
    }
    Ok(())
}

async fn examine_log(tx: &mut Tx, findings: &mut Vec<Finding>) -> Result<()> {
    let sql = "SELECT h.head, h.floor, (SELECT COUNT(*) FROM change), (SELECT COALESCE(MAX(position), 0) FROM change) \
               FROM change_head h WHERE h.one = 1";
    let mut row = tx.one(sql, &[]).await?;
    let (head, floor, count, newest): (i64, i64, i64, i64) =
        (row.take()?, row.take()?, row.take()?, row.take()?);
    if count != head - floor || (count > 0 && newest != head) {
        findings.push(error(
            format!("the change log holds {count} entries up to {newest}, its head says {floor} to {head}"),
            "restore a backup, or run `compozyd new-epoch`",
        ));
    }
    Ok(())
}

pub(crate) fn error(message: String, remedy: &str) -> Finding {
    Finding {
        is_error: true,
        message,
        remedy: remedy.to_owned(),
    }
}

pub(crate) fn warning(message: String, remedy: &str) -> Finding {
    Finding {
        is_error: false,
        ..error(message, remedy)
    }
}

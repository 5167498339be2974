//! Migrations: forward only, checked by hash, one file per engine under the same name. The first one also
//! founds the catalog: its id, its key, the epoch of its change log.

use async_trait::async_trait;
use sha2::{Digest as _, Sha256};

use compozy_domain::{CatalogId, Timestamp};

use crate::error::{Error, Result};
use crate::sql::db::{Driver, Transaction, Tx};
use crate::sql::dialect::Dialect;
use crate::sql::postgres;
use crate::sql::session_search::fill_workspace_names;

struct Migration {
    name: &'static str,
    sqlite: &'static str,
    postgres: &'static str,
}

/// In order; the number of a migration is its place, from 1.
const MIGRATIONS: &[Migration] = &[
    Migration {
        name: "0001_catalog",
        sqlite: include_str!("../../migrations/sqlite/0001_catalog.sql"),
        postgres: include_str!("../../migrations/postgres/0001_catalog.sql"),
    },
    Migration {
        name: "0002_origin",
        sqlite: include_str!("../../migrations/sqlite/0002_origin.sql"),
        postgres: include_str!("../../migrations/postgres/0002_origin.sql"),
    },
    Migration {
        name: "0003_profiles",
        sqlite: include_str!("../../migrations/sqlite/0003_profiles.sql"),
        postgres: include_str!("../../migrations/postgres/0003_profiles.sql"),
    },
    Migration {
        name: "0004_sessions",
        sqlite: include_str!("../../migrations/sqlite/0004_sessions.sql"),
        postgres: include_str!("../../migrations/postgres/0004_sessions.sql"),
    },
];

/// The oldest release that may open a catalog of the newest schema.
const OLDEST_BINARY: &str = "0.1.0";
/// Of the one lock that migrations take on Postgres.
const MIGRATION_LOCK: i64 = 7_022_364_301_936_336;

/// What a new catalog is founded with, and the release that opens it.
#[derive(Debug, Clone)]
pub(crate) struct Founding {
    pub(crate) catalog_id: CatalogId,
    pub(crate) epoch: String,
    pub(crate) key: [u8; 32],
    pub(crate) now: Timestamp,
    pub(crate) binary: String,
    /// The running system, if a commit may not survive its end.
    pub(crate) boot: Option<String>,
}

/// Brings the schema up to date and answers the catalog's id.
pub(crate) async fn migrate(tx: &mut Tx, founding: &Founding) -> Result<CatalogId> {
    match tx.dialect() {
        Dialect::Sqlite => begin_sqlite(tx)?,
        Dialect::Postgres => {
            tx.rows(
                "SELECT pg_advisory_xact_lock($1) IS NULL",
                &[MIGRATION_LOCK.into()],
            )
            .await?;
        }
    }
    let outcome = migrate_locked(tx, founding).await;
    if tx.dialect() == Dialect::Sqlite {
        end_sqlite(tx, outcome.is_ok())?;
    }
    outcome
}

#[async_trait]
impl Transaction for Founding {
    type Output = CatalogId;

    async fn run(&self, tx: &mut Tx) -> Result<CatalogId> {
        migrate(tx, self).await
    }
}

/// The schema version of this release.
pub(crate) const fn newest_version() -> i64 {
    MIGRATIONS.len() as i64
}

/// A look at a catalog whose schema is to stay as it is.
#[derive(Debug)]
pub(crate) struct Inspection {
    pub(crate) binary: String,
}

#[async_trait]
impl Transaction for Inspection {
    type Output = CatalogId;

    async fn run(&self, tx: &mut Tx) -> Result<CatalogId> {
        inspect(tx, &self.binary).await
    }
}

/// Answers the id of a catalog whose schema this release works on. Writes nothing.
pub(crate) async fn inspect(tx: &mut Tx, binary: &str) -> Result<CatalogId> {
    let applied = applied_migrations(tx, binary).await?;
    if applied < MIGRATIONS.len() {
        return Err(Error::Behind {
            version: applied as i64,
            newest: newest_version(),
        });
    }
    catalog_id(tx).await
}

async fn migrate_locked(tx: &mut Tx, founding: &Founding) -> Result<CatalogId> {
    let applied = applied_migrations(tx, &founding.binary).await?;
    if applied == 0 {
        create_bookkeeping(tx).await?;
    }
    for (at, migration) in MIGRATIONS.iter().enumerate().skip(applied) {
        apply(tx, at, migration, founding).await?;
    }
    if applied == 0 {
        found(tx, founding).await?;
    } else if applied < MIGRATIONS.len() {
        let sql = "UPDATE schema_version SET version = $1, oldest_binary = $2 WHERE one = 1";
        tx.execute(sql, &[newest_version().into(), OLDEST_BINARY.into()])
            .await?;
    }
    fill_workspace_names(tx).await?;
    leave_the_backup_behind(tx, &founding.epoch).await?;
    if tx.dialect() == Dialect::Sqlite {
        leave_the_boot_behind(tx, founding).await?;
    }
    catalog_id(tx).await
}

/// Where commits are not flushed one by one, a system that ended while the catalog was served may have taken the
/// last ones along, with positions that readers have seen.
async fn leave_the_boot_behind(tx: &mut Tx, founding: &Founding) -> Result<()> {
    let made_on: String = tx
        .one("SELECT made_on FROM change_head WHERE one = 1", &[])
        .await?
        .take()?;
    let boot = founding.boot.as_deref().unwrap_or_default();
    if made_on == boot {
        return Ok(());
    }
    if !made_on.is_empty() && made_on != current_boot().unwrap_or_default() {
        set_epoch(tx, &founding.epoch).await?;
        tracing::info!(
            epoch = founding.epoch,
            "a start after an unclean reboot begins a new epoch"
        );
    }
    set_made_on(tx, boot).await
}

async fn set_made_on(tx: &mut Tx, made_on: &str) -> Result<()> {
    let sql = "UPDATE change_head SET made_on = $1 WHERE one = 1";
    tx.execute(sql, &[made_on.into()]).await?;
    Ok(())
}

/// What the running system calls itself; another word after each reboot. `None` where it does not tell.
pub(crate) fn current_boot() -> Option<String> {
    let text = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
    Some(text.trim().to_owned()).filter(|boot| !boot.is_empty())
}

/// The last write of a catalog that is closed in order: nothing of it can be lost any more.
pub(crate) struct CloseInOrder;

#[async_trait]
impl Transaction for CloseInOrder {
    type Output = ();

    async fn run(&self, tx: &mut Tx) -> Result<()> {
        set_made_on(tx, "").await
    }
}

/// A restored backup lacks what was written after it. A token that a reader has from then must not be taken for
/// a position of this log.
async fn leave_the_backup_behind(tx: &mut Tx, epoch: &str) -> Result<()> {
    let sql = "UPDATE catalog SET is_backup = $1 WHERE one = 1 AND is_backup = $2";
    if tx.execute(sql, &[false.into(), true.into()]).await? == 1 {
        set_epoch(tx, epoch).await?;
        tracing::info!(epoch, "a restored backup begins a new epoch");
    }
    Ok(())
}

/// Begins another epoch of the change log.
pub(crate) async fn set_epoch(tx: &mut Tx, epoch: &str) -> Result<()> {
    tx.moves_log = true;
    tx.execute("UPDATE change_head SET epoch = $1 WHERE one = 1", &[epoch.into()])
        .await?;
    Ok(())
}

async fn catalog_id(tx: &mut Tx) -> Result<CatalogId> {
    let id: String = tx
        .one("SELECT id FROM catalog WHERE one = 1", &[])
        .await?
        .take()?;
    Ok(CatalogId::from_stored(id))
}

async fn has_schema(tx: &mut Tx) -> Result<bool> {
    let sql = match tx.dialect() {
        Dialect::Sqlite => "SELECT COUNT(*) FROM sqlite_master WHERE name = 'schema_version'",
        Dialect::Postgres => {
            "SELECT COUNT(*) FROM pg_tables WHERE schemaname = current_schema() AND tablename = 'schema_version'"
        }
    };
    let count: i64 = tx.one(sql, &[]).await?.take()?;
    Ok(count > 0)
}

/// Checks what was applied before, and counts it; newer migrations of a release that allows this one are left
/// alone.
async fn applied_migrations(tx: &mut Tx, binary: &str) -> Result<usize> {
    if !has_schema(tx).await? {
        return Ok(0);
    }
    let mut row = tx
        .one(
            "SELECT version, oldest_binary FROM schema_version WHERE one = 1",
            &[],
        )
        .await?;
    let (version, oldest_binary): (i64, String) = (row.take()?, row.take()?);
    if release(&oldest_binary) > release(binary) {
        return Err(Error::TooNew {
            version,
            oldest_binary,
            binary: binary.to_owned(),
        });
    }
    let rows = tx
        .rows(
            "SELECT number, name, sha256 FROM schema_migration ORDER BY number",
            &[],
        )
        .await?;
    for mut row in rows {
        let (number, name, sha256): (i64, String, String) = (row.take()?, row.take()?, row.take()?);
        let known = usize::try_from(number)
            .ok()
            .and_then(|number| MIGRATIONS.get(number.checked_sub(1)?));
        if let Some(known) = known
            && (known.name != name || digest(known, tx.dialect()) != sha256)
        {
            return Err(Error::Corrupt(format!(
                "migration {name} was applied in another form than this release has"
            )));
        }
    }
    usize::try_from(version).map_err(|_| Error::Corrupt("the schema version is negative".into()))
}

async fn create_bookkeeping(tx: &mut Tx) -> Result<()> {
    let (text, int) = match tx.dialect() {
        Dialect::Sqlite => ("TEXT", "INTEGER"),
        Dialect::Postgres => ("TEXT COLLATE \"C\"", "BIGINT"),
    };
    tx.execute(
        &format!(
            "CREATE TABLE schema_version (one {int} PRIMARY KEY CHECK (one = 1), version {int} NOT NULL, \
             oldest_binary {text} NOT NULL)"
        ),
        &[],
    )
    .await?;
    tx.execute(
        &format!(
            "CREATE TABLE schema_migration (number {int} PRIMARY KEY, name {text} NOT NULL, sha256 {text} NOT NULL, \
             applied_at {int} NOT NULL)"
        ),
        &[],
    )
    .await?;
    Ok(())
}

async fn apply(tx: &mut Tx, at: usize, migration: &Migration, founding: &Founding) -> Result<()> {
    match &mut tx.driver {
        Driver::Sqlite(connection) => {
            connection
                .execute_batch(migration.sqlite)
                .map_err(crate::sql::sqlite::fault)?;
        }
        Driver::Postgres(transaction) => postgres::run_script(transaction, migration.postgres).await?,
        Driver::PostgresStatement(_) => return Err(Error::Defect("a migration needs a transaction".into())),
    }
    let number = at as i64 + 1;
    let sql = "INSERT INTO schema_migration (number, name, sha256, applied_at) VALUES ($1, $2, $3, $4)";
    let sha256 = digest(migration, tx.dialect());
    tx.execute(
        sql,
        &[
            number.into(),
            migration.name.into(),
            sha256.into(),
            founding.now.into(),
        ],
    )
    .await?;
    tracing::info!(migration = migration.name, "applied a migration");
    Ok(())
}

async fn found(tx: &mut Tx, founding: &Founding) -> Result<()> {
    let sql = "INSERT INTO schema_version (one, version, oldest_binary) VALUES (1, $1, $2)";
    tx.execute(sql, &[newest_version().into(), OLDEST_BINARY.into()])
        .await?;
    let sql = "INSERT INTO catalog (one, id, first_start_claimed, is_backup, created_at) VALUES (1, $1, $2, $2, $3)";
    tx.execute(
        sql,
        &[
            founding.catalog_id.as_str().into(),
            false.into(),
            founding.now.into(),
        ],
    )
    .await?;
    let sql = "INSERT INTO catalog_key (number, key, created_at) VALUES (1, $1, $2)";
    tx.execute(sql, &[founding.key.as_slice().into(), founding.now.into()])
        .await?;
    let sql = "INSERT INTO change_head (one, epoch, head, floor) VALUES (1, $1, 0, 0)";
    tx.execute(sql, &[founding.epoch.as_str().into()]).await?;
    Ok(())
}

fn begin_sqlite(tx: &Tx) -> Result<()> {
    sqlite_batch(tx, "BEGIN IMMEDIATE")
}

fn end_sqlite(tx: &Tx, succeeded: bool) -> Result<()> {
    sqlite_batch(tx, if succeeded { "COMMIT" } else { "ROLLBACK" })
}

fn sqlite_batch(tx: &Tx, sql: &str) -> Result<()> {
    match &tx.driver {
        Driver::Sqlite(connection) => connection.execute_batch(sql).map_err(crate::sql::sqlite::fault),
        Driver::Postgres(_) | Driver::PostgresStatement(_) => Ok(()),
    }
}

fn digest(migration: &Migration, dialect: Dialect) -> String {
    let script = match dialect {
        Dialect::Sqlite => migration.sqlite,
        Dialect::Postgres => migration.postgres,
    };
    Sha256::digest(script.as_bytes())
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect()
}

/// A release as numbers that compare; a part that is no number counts as 0.
fn release(text: &str) -> Vec<u64> {
    text.split(['.', '-', '+'])
        .take(3)
        .map(|part| part.parse().unwrap_or(0))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn releases_compare_by_number() {
        assert!(release("0.10.0") > release("0.9.1"));
        assert!(release("0.1.0") == release("0.1.0-rc1"));
    }

    /// Tables, a column and indexes that one engine has and the other has not, as the scripts say why.
    const OF_ONE_ENGINE: [&str; 7] = [
        "change_pending.",
        "workspace_front.",
        "session_front.",
        "session_count_delta.",
        "session.number",
        "CREATE INDEX session_count_delta_scope",
        "CREATE INDEX session_search",
    ];

    /// Each table with its columns in their order, and each index.
    fn structure(script: &str) -> Vec<String> {
        let mut lines: Vec<String> = Vec::new();
        let mut table = None;
        for line in script.lines().map(str::trim) {
            let words: Vec<&str> = line.split_whitespace().collect();
            match words.as_slice() {
                ["--", ..] => {}
                ["CREATE", "TABLE", name, "("] => table = Some((*name).to_owned()),
                [end, ..] if end.starts_with(')') => table = None,
                [column, ..] if table.is_some() => {
                    let table = table.clone().unwrap_or_default();
                    lines.push(format!("{table}.{column}"));
                }
                ["ALTER", "TABLE", name, "ADD", "COLUMN", column, ..] => {
                    lines.push(format!("{name}.{column}"));
                }
                ["CREATE", "INDEX" | "UNIQUE", ..] => {
                    lines.push(line.to_owned());
                }
                _ => {}
            }
        }
        lines.retain(|line| !OF_ONE_ENGINE.iter().any(|start| line.starts_with(start)));
        lines
    }

    #[test]
    fn both_engines_have_the_same_tables_columns_and_indexes() {
        for migration in MIGRATIONS {
            let sqlite = structure(migration.sqlite);
            assert!(!sqlite.is_empty());
            assert_eq!(sqlite, structure(migration.postgres), "{}", migration.name);
        }
    }
}

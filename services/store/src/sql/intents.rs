//! Intents and path locks.

use std::sync::Arc;
use std::time::{Duration, Instant};

use async_trait::async_trait;

use compozy_domain::{HostId, ProfileId, Timestamp};

use crate::error::{Error, Result};
use crate::intents::{INTENT_LEASE, Intent, IntentId, IntentStore, IntentWork, PathLock};
use crate::open::SqlStore;
use crate::sql::db::{Db, Row, Transaction, Tx, Value};
use crate::sql::dialect::Dialect;

const CREATE: &str = "create_identity";
const REPLACE: &str = "replace_identity";
const TAKEN_OVER: &str = "taken_over";
const RENAME_PROFILE: &str = "rename_profile";

#[async_trait]
impl IntentStore for SqlStore {
    async fn lock_path(&self, host: &HostId, path: &str) -> Result<PathLock> {
        let text = format!("{host}:{path}");
        let local = self.paths().lock(&text).await;
        let shared = match self.db() {
            Db::Sqlite(_) => None,
            Db::Postgres(postgres) => Some(postgres.lock(&text).await.map_err(without_repeats)?),
        };
        Ok(PathLock {
            _local: local,
            _shared: shared,
        })
    }

    async fn begin_intent(&self, intent: &Intent, now: Timestamp) -> Result<()> {
        self.db()
            .write(
                soon(),
                Arc::new(Begin {
                    intent: intent.clone(),
                    now,
                }),
            )
            .await
    }

    async fn end_intent(&self, id: &IntentId) -> Result<()> {
        self.db().write(soon(), Arc::new(End(id.clone()))).await
    }

    async fn renew_intents(&self, owner: &str, now: Timestamp) -> Result<()> {
        self.db()
            .write(
                soon(),
                Arc::new(Renew {
                    owner: owner.to_owned(),
                    now,
                }),
            )
            .await
    }

    async fn intents_at(&self, host: &HostId, root_dir: &str) -> Result<Vec<Intent>> {
        let at = At {
            host: host.clone(),
            root_dir: root_dir.to_owned(),
        };
        self.db().read_one(Arc::new(at)).await
    }

    async fn abandoned_intents(&self, host: &HostId, owner: &str, now: Timestamp) -> Result<Vec<Intent>> {
        let abandoned = Abandoned {
            host: host.clone(),
            owner: owner.to_owned(),
            now,
        };
        self.db().read_one(Arc::new(abandoned)).await
    }
}

fn soon() -> Instant {
    Instant::now() + Duration::from_secs(10)
}

fn without_repeats(error: Error) -> Error {
    match error {
        Error::Lost(detail) | Error::Repeat(detail) => Error::Unavailable {
            outcome_unknown: false,
            detail,
        },
        error => error,
    }
}

/// Ends an intent in the transaction that writes its registration. Intents of others about the same root, whose
/// owners died before they could write theirs, lose their claim on the identity file.
pub(super) async fn take_over(
    tx: &mut Tx,
    own: Option<&IntentId>,
    host: &HostId,
    root_dir: &str,
) -> Result<()> {
    end_own(tx, own).await?;
    let sql = "UPDATE intent SET kind = $3 WHERE host_id = $1 AND root_dir = $2 AND kind IN ($4, $5)";
    let binds = [
        host.as_str().into(),
        root_dir.into(),
        TAKEN_OVER.into(),
        CREATE.into(),
        REPLACE.into(),
    ];
    tx.execute(sql, &binds).await?;
    Ok(())
}

/// Ends an intent in the transaction that writes what it was for.
pub(super) async fn end_own(tx: &mut Tx, own: Option<&IntentId>) -> Result<()> {
    if let Some(IntentId(id)) = own {
        tx.execute("DELETE FROM intent WHERE id = $1", &[id.as_str().into()])
            .await?;
    }
    Ok(())
}

struct Begin {
    intent: Intent,
    now: Timestamp,
}

#[async_trait]
impl Transaction for Begin {
    type Output = ();

    async fn run(&self, tx: &mut Tx) -> Result<()> {
        let Intent {
            id,
            host_id,
            owner,
            work,
        } = &self.intent;
        let (kind, root_dir, content, makes_directory, previous) = match work {
            IntentWork::CreateIdentity {
                root_dir,
                content,
                makes_directory,
            } => (CREATE, root_dir, content, *makes_directory, None),
            IntentWork::ReplaceIdentity {
                root_dir,
                content,
                previous,
            } => (REPLACE, root_dir, content, false, Some(previous.clone())),
            IntentWork::TakenOver { root_dir, content } => (TAKEN_OVER, root_dir, content, false, None),
            IntentWork::RenameProfile { profile_id, from, to } => (
                RENAME_PROFILE,
                from,
                &digest_sized(profile_id)?,
                false,
                Some(to.clone().into_bytes()),
            ),
        };
        let sql = "INSERT INTO intent (id, kind, host_id, owner, lease_until, root_dir, content, \
                   makes_directory, previous, created_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)";
        let binds: [Value; 10] = [
            id.0.as_str().into(),
            kind.into(),
            host_id.as_str().into(),
            owner.as_str().into(),
            self.now.plus(INTENT_LEASE).into(),
            root_dir.as_str().into(),
            content.as_slice().into(),
            makes_directory.into(),
            Value::Bytes(previous),
            self.now.into(),
        ];
        tx.execute(sql, &binds).await?;
        Ok(())
    }
}

struct End(IntentId);

#[async_trait]
impl Transaction for End {
    type Output = ();

    async fn run(&self, tx: &mut Tx) -> Result<()> {
        let End(id) = self;
        end_own(tx, Some(id)).await
    }
}

struct Renew {
    owner: String,
    now: Timestamp,
}

#[async_trait]
impl Transaction for Renew {
    type Output = ();

    async fn run(&self, tx: &mut Tx) -> Result<()> {
        let sql = "UPDATE intent SET lease_until = $2 WHERE owner = $1";
        tx.execute(
            sql,
            &[self.owner.as_str().into(), self.now.plus(INTENT_LEASE).into()],
        )
        .await?;
        Ok(())
    }
}

/// The columns that [`intent`] reads.
const COLUMNS: &str = "id, host_id, owner, kind, root_dir, content, makes_directory, previous";

struct At {
    host: HostId,
    root_dir: String,
}

#[async_trait]
impl Transaction for At {
    type Output = Vec<Intent>;

    async fn run(&self, tx: &mut Tx) -> Result<Vec<Intent>> {
        let sql = format!(
            "SELECT {COLUMNS} FROM intent WHERE host_id = $1 AND root_dir = $2 ORDER BY created_at, id"
        );
        let binds = [self.host.as_str().into(), self.root_dir.as_str().into()];
        intents(tx, &sql, &binds).await
    }
}

struct Abandoned {
    host: HostId,
    owner: String,
    now: Timestamp,
}

#[async_trait]
impl Transaction for Abandoned {
    type Output = Vec<Intent>;

    async fn run(&self, tx: &mut Tx) -> Result<Vec<Intent>> {
        // One process at a time has an SQLite catalog, so every other owner is gone. On Postgres only a
        // lapsed lease says so.
        let gone = match tx.dialect() {
            Dialect::Sqlite => "owner <> $2",
            Dialect::Postgres => "owner <> $2 AND lease_until <= $3",
        };
        let sql =
            format!("SELECT {COLUMNS} FROM intent WHERE host_id = $1 AND {gone} ORDER BY created_at, id");
        let binds = [
            self.host.as_str().into(),
            self.owner.as_str().into(),
            self.now.into(),
        ];
        intents(tx, &sql, &binds).await
    }
}

async fn intents(tx: &mut Tx, sql: &str, binds: &[Value]) -> Result<Vec<Intent>> {
    let mut found = Vec::new();
    for row in tx.rows(sql, binds).await? {
        found.extend(intent(row)?);
    }
    Ok(found)
}

/// Reads a row; `None` for the work of a newer release, which knows how to undo it, and for one that is damaged: the
/// others are recovered all the same.
fn intent(mut row: Row) -> Result<Option<Intent>> {
    let id = IntentId(row.take()?);
    let host_id = HostId::from_stored(row.take()?);
    let owner = row.take()?;
    let (kind, root_dir): (String, String) = (row.take()?, row.take()?);
    let (content, makes_directory) = (row.take()?, row.take()?);
    let Some(work) = work(&kind, root_dir, content, makes_directory, row.take()?) else {
        tracing::warn!(intent = %id.0, kind, "left an intent alone that this release does not understand");
        return Ok(None);
    };
    Ok(Some(Intent {
        id,
        host_id,
        owner,
        work,
    }))
}

fn work(
    kind: &str,
    root_dir: String,
    content: Vec<u8>,
    makes_directory: bool,
    previous: Option<Vec<u8>>,
) -> Option<IntentWork> {
    Some(match (kind, previous) {
        (CREATE, None) => IntentWork::CreateIdentity {
            root_dir,
            content: content.try_into().ok()?,
            makes_directory,
        },
        (REPLACE, Some(previous)) => IntentWork::ReplaceIdentity {
            root_dir,
            content: content.try_into().ok()?,
            previous,
        },
        (TAKEN_OVER, _) => IntentWork::TakenOver {
            root_dir,
            content: content.try_into().ok()?,
        },
        (RENAME_PROFILE, Some(to)) => IntentWork::RenameProfile {
            profile_id: profile_id(content)?,
            from: root_dir,
            to: String::from_utf8(to).ok()?,
        },
        _ => return None,
    })
}

/// The id of a profile where others have a digest: the releases before look at the size of the content, whatever the
/// kind is, so it has that of a digest.
fn digest_sized(id: &ProfileId) -> Result<[u8; 32]> {
    let mut content = [0; 32];
    let id = id.as_str().as_bytes();
    let place = content.get_mut(..id.len());
    place
        .ok_or_else(|| Error::Defect("the id of a profile is longer than a digest".into()))?
        .copy_from_slice(id);
    Ok(content)
}

fn profile_id(content: Vec<u8>) -> Option<ProfileId> {
    let padded = String::from_utf8(content).ok()?;
    Some(ProfileId::from_stored(padded.trim_end_matches('\0').to_owned()))
}

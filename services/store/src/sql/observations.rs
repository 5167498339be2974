//! What the observer saw.

use std::sync::Arc;
use std::time::{Duration, Instant};

use async_trait::async_trait;

use compozy_domain::{
    ChangeKind, ChangeOp, ChangeReason, HostId, NewChange, Timestamp, Visibility, WorkspaceId,
    WorkspaceStatus,
};

use crate::error::Result;
use crate::observations::{LastObservation, Observation, ObservationStore};
use crate::open::SqlStore;
use crate::sql::append::append;
use crate::sql::db::{Transaction, Tx, Value};
use crate::sql::workspace_rows::lock_workspace;

#[async_trait]
impl ObservationStore for SqlStore {
    async fn claim_round(
        &self,
        host: &HostId,
        owner: &str,
        now: Timestamp,
        period_nanos: i64,
    ) -> Result<bool> {
        let claim = ClaimRound {
            host: host.clone(),
            owner: owner.to_owned(),
            now,
            period_nanos,
        };
        self.db().write(soon(), Arc::new(claim)).await
    }

    async fn record(&self, seen: &[Observation], now: Timestamp) -> Result<()> {
        if seen.is_empty() {
            return Ok(());
        }
        self.db()
            .write(
                soon(),
                Arc::new(Record {
                    seen: seen.to_vec(),
                    now,
                }),
            )
            .await
    }

    async fn last(&self, id: &WorkspaceId) -> Result<Option<LastObservation>> {
        self.db().read_one(Arc::new(Last(id.clone()))).await
    }
}

fn soon() -> Instant {
    Instant::now() + Duration::from_secs(30)
}

struct ClaimRound {
    host: HostId,
    owner: String,
    now: Timestamp,
    period_nanos: i64,
}

#[async_trait]
impl Transaction for ClaimRound {
    type Output = bool;

    async fn run(&self, tx: &mut Tx) -> Result<bool> {
        // A clock that was set back must not stop the rounds: a round begun in the future is due as well.
        let sql = "INSERT INTO observer_round (host_id, owner, begun_at) VALUES ($1, $2, $3) \
                   ON CONFLICT (host_id) DO UPDATE SET owner = $2, begun_at = $3 \
                   WHERE observer_round.begun_at <= $4 OR observer_round.begun_at > $3";
        let due = self.now.nanos().saturating_sub(self.period_nanos);
        let binds = [
            self.host.as_str().into(),
            self.owner.as_str().into(),
            self.now.into(),
            due.into(),
        ];
        Ok(tx.execute(sql, &binds).await? == 1)
    }
}

struct Record {
    seen: Vec<Observation>,
    now: Timestamp,
}

#[async_trait]
impl Transaction for Record {
    type Output = ();

    async fn run(&self, tx: &mut Tx) -> Result<()> {
        // In one order for everybody, so that two replicas never wait for each other's rows.
        let mut seen: Vec<&Observation> = self.seen.iter().collect();
        seen.sort_by(|a, b| a.workspace_id.cmp(&b.workspace_id));
        for observation in seen {
            self.record_one(tx, observation).await?;
        }
        Ok(())
    }
}

impl Record {
    async fn record_one(&self, tx: &mut Tx, observation: &Observation) -> Result<()> {
        let Observation {
            workspace_id,
            root_dir,
            status,
        } = observation;
        if is_same(last(tx, workspace_id).await?.as_ref(), *status) {
            return self.look_again(tx, workspace_id).await;
        }
        let Some(workspace) = lock_workspace(tx, workspace_id, &Visibility::All).await? else {
            return Ok(());
        };
        if workspace.root_dir != *root_dir || workspace.defect.is_some() {
            return Ok(());
        }
        // Looked up again behind the lock: another replica may just have seen the same.
        let before = last(tx, workspace_id).await?;
        if is_same(before.as_ref(), *status) {
            return self.look_again(tx, workspace_id).await;
        }
        let missing_since = (*status == WorkspaceStatus::RootMissing).then_some(self.now);
        let sql = "INSERT INTO workspace_observation (workspace_id, status, missing_since, observed_at) \
                   VALUES ($1, $2, $3, $4) ON CONFLICT (workspace_id) DO UPDATE \
                   SET status = $2, missing_since = $3, observed_at = $4";
        let binds = [
            workspace_id.as_str().into(),
            status.as_str().into(),
            Value::Int(missing_since.map(Timestamp::nanos)),
            self.now.into(),
        ];
        tx.execute(sql, &binds).await?;
        if before.is_none() && *status == WorkspaceStatus::Ok {
            return Ok(());
        }
        let version = workspace.version + 1;
        let sql = "UPDATE workspace SET version = $2 WHERE id = $1";
        tx.execute(sql, &[workspace_id.as_str().into(), version.into()])
            .await?;
        let change = NewChange::of_workspace(
            ChangeKind::Workspace,
            (ChangeOp::Upserted, ChangeReason::Status),
            &workspace.host_id,
            workspace_id,
            version,
            self.now,
        );
        append(tx, &change).await
    }

    async fn look_again(&self, tx: &mut Tx, id: &WorkspaceId) -> Result<()> {
        let sql = "UPDATE workspace_observation SET observed_at = $2 WHERE workspace_id = $1";
        tx.execute(sql, &[id.as_str().into(), self.now.into()]).await?;
        Ok(())
    }
}

fn is_same(before: Option<&LastObservation>, status: WorkspaceStatus) -> bool {
    before.is_some_and(|before| before.status == status)
}

struct Last(WorkspaceId);

#[async_trait]
impl Transaction for Last {
    type Output = Option<LastObservation>;

    async fn run(&self, tx: &mut Tx) -> Result<Self::Output> {
        last(tx, &self.0).await
    }
}

async fn last(tx: &mut Tx, id: &WorkspaceId) -> Result<Option<LastObservation>> {
    let sql = "SELECT status, missing_since, observed_at FROM workspace_observation WHERE workspace_id = $1";
    let Some(mut row) = tx.row(sql, &[id.as_str().into()]).await? else {
        return Ok(None);
    };
    let status: String = row.take()?;
    let (missing_since, observed_at): (Option<i64>, i64) = (row.take()?, row.take()?);
    // A word of a newer release counts as not observed; the next look settles it.
    Ok(WorkspaceStatus::parse(&status).map(|status| LastObservation {
        status,
        missing_since: missing_since.map(Timestamp::from_nanos),
        observed_at: Timestamp::from_nanos(observed_at),
    }))
}

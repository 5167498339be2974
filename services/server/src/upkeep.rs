//! What the store keeps for a while only: remembered answers for their day, the change log as far as
//! `changes.retain` and `changes.retain_entries` say.

use std::sync::Arc;
use std::time::Duration;

use compozy_domain::{Clock, Timestamp};
use compozy_store::{CatalogStore, ChangeLog, Store};
use tokio_util::sync::CancellationToken;

use crate::planted;

/// How often old things are looked for.
const PERIOD: Duration = Duration::from_secs(10);

/// How much of the change log stays: what either of the two says, whichever is less.
#[derive(Debug, Clone, Copy)]
pub struct Retention {
    /// How old an entry may be.
    pub changes_for: Duration,
    /// How many entries there may be.
    pub changes: u64,
}

/// Lets old things go until it is told to stop.
pub async fn keep_up(
    store: Arc<dyn Store>,
    clock: Arc<dyn Clock>,
    retention: Retention,
    stop: CancellationToken,
) {
    let period = planted::upkeep_period().unwrap_or(PERIOD);
    loop {
        tokio::select! {
            () = stop.cancelled() => return,
            () = tokio::time::sleep(period) => {}
        }
        // Health tells when the store is away; it is tried again soon.
        if let Err(error) = let_old_things_go(store.as_ref(), clock.now(), retention, &stop).await {
            tracing::debug!(%error, "old answers and changes could not be let go");
        }
    }
}

/// In pieces; other writes come in between.
async fn let_old_things_go(
    store: &dyn Store,
    now: Timestamp,
    retention: Retention,
    stop: &CancellationToken,
) -> compozy_store::Result<()> {
    while !stop.is_cancelled() && CatalogStore::forget_answers(store, now).await? > 0 {}
    let oldest = ChangeLog::now(store, now).await?.minus(retention.changes_for);
    while !stop.is_cancelled() && ChangeLog::trim(store, oldest, retention.changes).await? > 0 {}
    Ok(())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use compozy_domain::workspace::{NewName, NewWorkspace};
    use compozy_domain::{DurableId, FileIdentity, HostId, Visibility, WorkspaceId, WorkspaceName};
    use compozy_store::{
        Access, Call, Durability, OpenOptions, Register, SqlStore, StoreAddress, WorkspaceStore as _,
    };

    use super::*;
    use crate::random::SystemRandom;

    const DAY: Duration = Duration::from_secs(24 * 60 * 60);
    const START: Timestamp = Timestamp::from_nanos(1_777_905_000_000_000_000);

    /// A catalog with three changes, a day apart.
    async fn three_days() -> SqlStore {
        let options = OpenOptions {
            address: StoreAddress::SqliteMemory,
            access: Access::Serve,
            durability: Durability::Full,
            binary: "0.1.0",
            now: START,
            random: &SystemRandom,
        };
        let store = SqlStore::open(options).await.unwrap();
        for day in 0..3_u32 {
            let at = START.plus(DAY * day);
            let workspace = NewWorkspace {
                id: WorkspaceId::generate(&SystemRandom).unwrap(),
                durable_id: DurableId::generate(at, &SystemRandom).unwrap(),
                host_id: HostId::parse("h1").unwrap(),
                root_dir: format!("/w/{day}"),
                root_file: FileIdentity {
                    device: 1,
                    inode: u64::from(day),
                },
                additional_dirs: Vec::new(),
                name: NewName::Explicit(WorkspaceName::parse(&format!("n{day}")).unwrap()),
                title: String::new(),
                default_agent: String::new(),
                is_default: false,
                at,
            };
            let register = Register {
                workspace,
                intent: None,
                validate_only: false,
            };
            let call = Call {
                visibility: Visibility::All,
                now: at,
                deadline: std::time::Instant::now() + Duration::from_secs(20),
                remember: None,
            };
            store.register(register, call).await.unwrap();
        }
        store
    }

    async fn floor_after(changes_for: Duration, changes: u64) -> i64 {
        let store = three_days().await;
        let retention = Retention { changes_for, changes };
        let now = START.plus(DAY * 2);
        let_old_things_go(&store, now, retention, &CancellationToken::new())
            .await
            .unwrap();
        store.head().await.unwrap().floor
    }

    #[tokio::test]
    async fn the_change_log_is_kept_for_its_time_and_up_to_its_number() {
        assert_eq!(floor_after(DAY * 7, 1_000_000).await, 0);
        assert_eq!(floor_after(DAY, 1_000_000).await, 1);
        assert_eq!(floor_after(DAY * 7, 1).await, 2);
    }
}

//! Rows of sessions: reading one and locking it.

use std::collections::BTreeMap;
use std::time::Duration;

use compozy_domain::path::contains;
use compozy_domain::session::health::{Badge, Health};
use compozy_domain::session::{
    Announced, AttachLease, Attention, AttentionClass, Lease, Lineage, Live, Origin, PermissionMode,
    RuntimeState, SessionWorkspace, Start,
};
use compozy_domain::{
    CatalogError, HostId, LeaseHash, ProfileId, Rank, Session, SessionId, SessionState, SessionType,
    Timestamp, Visibility, WorkspaceId,
};

use crate::error::Result;
use crate::sql::db::{Row, Tx};
use crate::sql::dialect::Dialect;
use crate::sql::session_documents as documents;

/// The columns that [`session`] reads, from [`TABLES`].
pub(crate) const COLUMNS: &str = "s.id, s.host_id, s.workspace_id, w.name, w.root_dir, s.cwd, s.place, s.rank, \
     s.name, s.agent, s.provider, s.model, s.type, s.state, s.state_at, s.runtime, s.runtime_holder, s.generation, \
     s.stop, s.parent_id, s.root_id, s.depth, s.spawn_role, s.permission_mode, s.profile_id, s.archived_at, \
     s.activity, s.finished_lease, s.start_cause, s.start_by, s.snapshot_fingerprint, s.labels, s.origin, \
     s.origin_id, s.has_files, s.event_count, s.last_sequence, s.ledger, s.attention, s.attention_at, s.version, \
     s.state_number, s.created_at, s.updated_at, l.session_id, l.lease_hash, l.lease_ttl, l.lease_expires_at, \
     l.lease_bound_at, l.heartbeat_at, l.prompting, l.stalled, l.waiting_for_auth, l.waiting_for_input, \
     l.settled_at, l.attach_holder, l.attach_expires_at, l.announced_badge, l.announced_health, l.activity";

/// A session with the name and root of its workspace, and what is known of it while it is live.
pub(crate) const TABLES: &str = "session s LEFT JOIN workspace w ON w.id = s.workspace_id \
     LEFT JOIN session_live l ON l.session_id = s.id";

/// Reads a row; one that this release does not understand says so in `defect`.
pub(crate) fn session(mut row: Row) -> Result<Session> {
    let mut defect = Defect::default();
    let id = SessionId::from_stored(row.take()?);
    let host_id = HostId::from_stored(row.take()?);
    let (workspace_id, workspace_name): (String, Option<String>) = (row.take()?, row.take()?);
    let root_dir: Option<String> = row.take()?;
    let (cwd, place): (String, String) = (row.take()?, row.take()?);
    let rank: Vec<u8> = row.take()?;
    let (name, agent, provider, model) = (row.take()?, row.take()?, row.take()?, row.take()?);
    let session_type = defect.word(
        &row.take::<String>()?,
        SessionType::parse,
        SessionType::System,
        "type",
    );
    let state = defect.word(
        &row.take::<String>()?,
        SessionState::parse,
        SessionState::Stopped,
        "state",
    );
    let state_at = Timestamp::from_nanos(row.take()?);
    let runtime = defect.word(
        &row.take::<String>()?,
        RuntimeState::parse,
        RuntimeState::None,
        "runtime",
    );
    let (runtime_holder, generation) = (row.take()?, row.take()?);
    let stop = defect.document(row.take()?, documents::read_stop, "stop");
    let parent: Option<String> = row.take()?;
    let lineage = Lineage {
        parent: parent.map(SessionId::from_stored),
        root: SessionId::from_stored(row.take()?),
        depth: i32::try_from(row.take::<i64>()?).unwrap_or(i32::MAX),
        spawn_role: row.take()?,
    };
    let permission_mode = defect.word(
        &row.take::<String>()?,
        PermissionMode::parse,
        PermissionMode::DenyAll,
        "permission mode",
    );
    let profile_id = ProfileId::from_stored(row.take()?);
    let archived_at = time(row.take()?);
    let kept_activity: Option<String> = row.take()?;
    let finished_lease = hash(row.take()?);
    let start = Start {
        cause: row.take()?,
        by: row.take()?,
    };
    let snapshot_fingerprint = row.take()?;
    let labels = defect.document(Some(row.take()?), documents::read_labels, "labels");
    let origin = Origin {
        tool: row.take()?,
        id: row.take()?,
    };
    let (has_files, event_count, last_sequence) = (row.take()?, row.take()?, row.take()?);
    let ledger = defect.document(row.take()?, documents::read_ledger, "ledger");
    let class = AttentionClass::of_number(row.take()?);
    let attention = Attention {
        class: class.unwrap_or(AttentionClass::Rest),
        at: Timestamp::from_nanos(row.take()?),
    };
    let (version, state_number) = (row.take()?, row.take()?);
    let (created_at, updated_at) = (
        Timestamp::from_nanos(row.take()?),
        Timestamp::from_nanos(row.take()?),
    );
    let live_of: Option<String> = row.take()?;
    let (live, live_activity) = match live_of {
        Some(_) => {
            let live = live(&mut row, &mut defect)?;
            (Some(live), row.take::<Option<String>>()?)
        }
        None => (None, None),
    };
    let activity = live_activity.or(kept_activity);
    let activity = defect.document(activity, documents::read_activity, "activity");
    if SessionId::parse(id.as_str()).is_none() {
        defect.set("its id is not well formed".to_owned());
    }
    Ok(Session {
        canonical_cwd: canonical(root_dir.as_deref(), &workspace_id, &place, &cwd),
        workspace: workspace_name.map(|name| SessionWorkspace {
            id: WorkspaceId::from_stored(workspace_id.clone()),
            name,
        }),
        rank: (!workspace_id.is_empty()).then(|| Rank::from_stored(rank)),
        id,
        host_id,
        cwd,
        name,
        agent,
        provider,
        model,
        session_type,
        state,
        state_at,
        runtime,
        runtime_holder,
        generation,
        stop,
        lineage,
        permission_mode,
        profile_id,
        archived_at,
        activity,
        live,
        finished_lease,
        start,
        snapshot_fingerprint,
        labels: labels.unwrap_or_else(BTreeMap::new),
        origin,
        has_files,
        event_count,
        last_sequence,
        ledger,
        attention,
        version,
        state_number,
        created_at,
        updated_at,
        defect: defect.0,
    })
}

/// The session with this id, locked until the transaction ends, if the caller may see it.
pub(crate) async fn lock_session(
    tx: &mut Tx,
    id: &SessionId,
    visibility: &Visibility,
) -> Result<Option<Session>> {
    if tx.dialect() == Dialect::Postgres {
        let sql = format!(
            "SELECT id FROM session WHERE id = $1{}",
            tx.dialect().for_update()
        );
        tx.rows(&sql, &[id.as_str().into()]).await?;
    }
    // Read after the lock, so that the row is the one that the last holder left.
    let sql = format!("SELECT {COLUMNS} FROM {TABLES} WHERE s.id = $1");
    let row = tx.row(&sql, &[id.as_str().into()]).await?;
    let found = row.map(session).transpose()?;
    Ok(found.filter(|session| is_visible(session, visibility)))
}

/// The same for a session that has to be there.
pub(crate) async fn lock_existing_session(
    tx: &mut Tx,
    id: &SessionId,
    visibility: &Visibility,
) -> Result<Session> {
    let found = lock_session(tx, id, visibility).await?;
    found.ok_or_else(|| CatalogError::SessionNotFound { id: id.to_string() }.into())
}

/// Whether a session exists for a caller: with a list of workspaces, only those of them.
pub(crate) fn is_visible(session: &Session, visibility: &Visibility) -> bool {
    match (visibility, session.workspace_id()) {
        (Visibility::All, _) => true,
        (Visibility::Only(_), Some(id)) => visibility.includes(id),
        (Visibility::Only(_), None) => false,
    }
}

/// The catalog's clock: the database's, read now, where several processes share one; otherwise the one that the caller
/// was given, not below what was stored.
pub(crate) async fn session_now(tx: &mut Tx, own: Timestamp) -> Result<Timestamp> {
    match tx.dialect() {
        Dialect::Sqlite => Ok(tx.not_below_stored(own)),
        Dialect::Postgres => {
            let now: i64 = tx.one("SELECT catalog_now()", &[]).await?.take()?;
            Ok(Timestamp::from_nanos(now))
        }
    }
}

/// What is kept of a canonical directory: relative to the root, if there is one.
pub(crate) fn place_of(canonical_cwd: &str, root_dir: Option<&str>) -> String {
    match root_dir {
        Some(root) if contains(root, canonical_cwd) => {
            let below = &canonical_cwd[root.trim_end_matches('/').len()..];
            below.trim_start_matches('/').to_owned()
        }
        _ => canonical_cwd.to_owned(),
    }
}

fn canonical(root_dir: Option<&str>, workspace_id: &str, place: &str, cwd: &str) -> String {
    match root_dir {
        _ if workspace_id.is_empty() => place.to_owned(),
        Some(root) if place.is_empty() => root.to_owned(),
        Some(root) if !place.starts_with('/') => format!("{}/{place}", root.trim_end_matches('/')),
        Some(_) => place.to_owned(),
        // The workspace is gone without a word: what the caller wrote is all that is left.
        None => cwd.to_owned(),
    }
}

fn live(row: &mut Row, defect: &mut Defect) -> Result<Live> {
    let hash = hash(row.take()?);
    let ttl: Option<i64> = row.take()?;
    let (expires_at, bound_at, heartbeat_at) = (time(row.take()?), time(row.take()?), time(row.take()?));
    let lease = match (hash, ttl, expires_at, bound_at) {
        (Some(hash), Some(ttl), Some(expires_at), Some(bound_at)) => Some(Lease {
            hash,
            ttl: Duration::from_nanos(ttl.unsigned_abs()),
            expires_at,
            bound_at,
            heartbeat_at,
        }),
        _ => None,
    };
    let (prompting, stalled) = (row.take()?, row.take()?);
    let (waiting_for_auth, waiting_for_input) = (row.take()?, row.take()?);
    let settled_at = time(row.take()?);
    let (holder, attach_expires_at): (Option<String>, _) = (row.take()?, time(row.take()?));
    let attach = holder
        .zip(attach_expires_at)
        .map(|(holder, expires_at)| AttachLease { holder, expires_at });
    let (badge, health): (Option<String>, Option<String>) = (row.take()?, row.take()?);
    let announced = badge.zip(health).map(|(badge, health)| Announced {
        badge: defect.word(&badge, Badge::parse, Badge::Unknown, "announced badge"),
        health: defect.word(&health, Health::parse, Health::Unknown, "announced health"),
    });
    Ok(Live {
        lease,
        prompting,
        stalled,
        waiting_for_auth,
        waiting_for_input,
        settled_at,
        attach,
        announced,
    })
}

fn time(nanos: Option<i64>) -> Option<Timestamp> {
    nanos.map(Timestamp::from_nanos)
}

fn hash(bytes: Option<Vec<u8>>) -> Option<LeaseHash> {
    bytes?.try_into().ok().map(LeaseHash)
}

/// The first thing that is wrong with a row.
#[derive(Debug, Default)]
struct Defect(Option<String>);

impl Defect {
    fn set(&mut self, problem: String) {
        self.0.get_or_insert(problem);
    }

    fn word<T>(&mut self, word: &str, parse: fn(&str) -> Option<T>, otherwise: T, what: &str) -> T {
        parse(word).unwrap_or_else(|| {
            self.set(format!("its {what} is of a newer release"));
            otherwise
        })
    }

    fn document<T>(&mut self, text: Option<String>, read: fn(&str) -> Option<T>, what: &str) -> Option<T> {
        let text = text?;
        let read = read(&text);
        if read.is_none() {
            self.set(format!("its {what} can't be read"));
        }
        read
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_relative_to_the_root_and_leads_back() {
        for (root, directory, place) in [
            ("/w/a", "/w/a", ""),
            ("/w/a", "/w/a/b/c", "b/c"),
            ("/w/a/", "/w/a/b", "b"),
            ("/", "/w", "w"),
            // Beside the root, although its name begins alike.
            ("/w/a", "/w/ab", "/w/ab"),
            ("/w/a", "/elsewhere", "/elsewhere"),
        ] {
            assert_eq!(place_of(directory, Some(root)), place, "{directory} in {root}");
            assert_eq!(canonical(Some(root), "ws_x", place, ""), directory);
        }
        assert_eq!(place_of("/w/a", None), "/w/a");
        assert_eq!(canonical(None, "", "/w/a", ""), "/w/a");
    }
}

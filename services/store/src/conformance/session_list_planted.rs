//! Sessions as the lists' tests need them: put into the catalog as they are, without the rules of calls.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use async_trait::async_trait;
use compozy_domain::session::filter::{SessionFilter, SessionSort};
use compozy_domain::session::{
    Activity, Attention, AttentionClass, Lineage, Live, Origin, PermissionMode, RuntimeState,
    SessionWorkspace, Start, Transition,
};
use compozy_domain::{
    PageLimit, ProfileId, Rank, Session, SessionId, SessionState, SessionType, Timestamp, Visibility,
    Workspace,
};

use super::fixture::{Catalog, HOST, START, host};
use super::session_fixture::STALE_AFTER;
use crate::error::Result;
use crate::sessions::{CountSessions, ListSessions, SessionPage, SessionStore as _, SessionTotals};
use crate::sql::{Transaction, Tx, insert_session, remove_session};

/// Sessions that are put in by one transaction.
const PLANTED_AT_ONCE: usize = 500;

/// Nanoseconds after [`START`].
pub(crate) fn after_start(nanos: i64) -> Timestamp {
    Timestamp::from_nanos(START.nanos() + nanos)
}

/// The `number`-th id.
pub(crate) fn numbered(number: u64) -> SessionId {
    SessionId::from_stored(format!("sess-{number:016x}"))
}

/// An active session of the agent `general` without a runtime, made so many nanoseconds after [`START`].
pub(crate) fn plain(number: u64, workspace: Option<&Workspace>, nanos: i64) -> Session {
    let (id, at) = (numbered(number), after_start(nanos));
    let root = workspace.map_or("/w", |workspace| workspace.root_dir.as_str());
    Session {
        workspace: workspace.map(|workspace| SessionWorkspace {
            id: workspace.id.clone(),
            name: workspace.name.as_str().to_owned(),
        }),
        host_id: host(HOST),
        cwd: root.to_owned(),
        canonical_cwd: root.to_owned(),
        rank: workspace.map(|_| Rank::front(i64::try_from(number).unwrap())),
        name: String::new(),
        agent: "general".to_owned(),
        provider: String::new(),
        model: String::new(),
        session_type: SessionType::User,
        state: SessionState::Active,
        state_at: at,
        runtime: RuntimeState::None,
        runtime_holder: String::new(),
        generation: 0,
        stop: None,
        lineage: Lineage {
            parent: None,
            root: id.clone(),
            depth: 0,
            spawn_role: String::new(),
        },
        permission_mode: PermissionMode::ApproveReads,
        profile_id: ProfileId::from_stored("default".to_owned()),
        archived_at: None,
        activity: None,
        live: Some(Live::default()),
        finished_lease: None,
        start: Start {
            cause: String::new(),
            by: "local".to_owned(),
        },
        snapshot_fingerprint: String::new(),
        labels: BTreeMap::new(),
        origin: Origin::native(),
        has_files: false,
        event_count: 0,
        last_sequence: 0,
        ledger: None,
        attention: Attention {
            class: AttentionClass::Rest,
            at,
        },
        version: 1,
        state_number: 1,
        created_at: at,
        updated_at: at,
        defect: None,
        id,
    }
}

/// The same, stopped.
pub(crate) fn stopped(number: u64, workspace: Option<&Workspace>, nanos: i64) -> Session {
    Session {
        state: SessionState::Stopped,
        live: None,
        ..plain(number, workspace, nanos)
    }
}

/// An activity so many nanoseconds after [`START`].
pub(crate) fn active_at(nanos: i64) -> Option<Activity> {
    Some(Activity {
        at: after_start(nanos),
        kind: "tool".to_owned(),
        detail: String::new(),
        tool: String::new(),
        turn_id: String::new(),
    })
}

struct Plant(Vec<(Session, Option<String>)>);

#[async_trait]
impl Transaction for Plant {
    type Output = ();

    async fn run(&self, tx: &mut Tx) -> Result<()> {
        for (session, root_dir) in &self.0 {
            let transition = Transition {
                state: session.state,
                at: session.state_at,
                cause: "create".to_owned(),
                by: "local".to_owned(),
            };
            insert_session(tx, session, root_dir.as_deref(), &transition).await?;
        }
        Ok(())
    }
}

struct Replace(Session, Session);

#[async_trait]
impl Transaction for Replace {
    type Output = ();

    async fn run(&self, tx: &mut Tx) -> Result<()> {
        let Self(old, new) = self;
        remove_session(tx, old, new.created_at).await?;
        Plant(vec![(new.clone(), None)]).run(tx).await
    }
}

/// The ids of a page's rows.
pub(crate) fn ids_of(rows: &[Session]) -> Vec<SessionId> {
    rows.iter().map(|row| row.id.clone()).collect()
}

/// The ids with these numbers.
pub(crate) fn ids(numbers: impl IntoIterator<Item = u64>) -> Vec<SessionId> {
    numbers.into_iter().map(numbered).collect()
}

impl<E> Catalog<E> {
    /// Puts sessions into the catalog as they are.
    pub(crate) async fn plant(&self, sessions: &[Session], workspaces: &[&Workspace]) {
        for sessions in sessions.chunks(PLANTED_AT_ONCE) {
            let with_roots = sessions.iter().map(|session| {
                let root = workspaces
                    .iter()
                    .find(|workspace| Some(&workspace.id) == session.workspace_id())
                    .map(|workspace| workspace.root_dir.clone());
                (session.clone(), root)
            });
            let plant = Arc::new(Plant(with_roots.collect()));
            let deadline = Instant::now() + Duration::from_secs(120);
            self.store.db().write(deadline, plant).await.unwrap();
        }
    }

    /// Takes a session in no workspace out and puts another one in, in one transaction.
    pub(crate) async fn replace_planted(&self, old: u64, new: &Session) {
        let old = self.get_session(&numbered(old)).await;
        let replace = Arc::new(Replace(old, new.clone()));
        let deadline = Instant::now() + Duration::from_secs(60);
        self.store.db().write(deadline, replace).await.unwrap();
    }

    /// The first page of a filter, for a caller who may see everything.
    pub(crate) fn sessions(&self, filter: SessionFilter, sort: SessionSort, limit: i32) -> ListSessions {
        ListSessions {
            filter,
            sort,
            after: None,
            limit: PageLimit::parse(limit).unwrap(),
            visibility: Visibility::All,
            counted: None,
            at: None,
            now: self.now(),
            stale_after: STALE_AFTER,
        }
    }

    /// Reads a page.
    pub(crate) async fn session_page(&self, list: &ListSessions) -> SessionPage {
        let page = self.store.list_sessions(list).await.unwrap();
        assert_eq!(page.page.rows.len(), page.places.len());
        assert!(page.page.rows.len() <= list.limit.get() as usize);
        page
    }

    /// Every row of a list, page by page as a client reads them. Each page tells the same total, and it is true.
    pub(crate) async fn walk_sessions(&self, mut list: ListSessions) -> Vec<Session> {
        let mut all: Vec<Session> = Vec::new();
        loop {
            let SessionPage { page, places, at } = self.session_page(&list).await;
            all.extend(page.rows);
            if !page.has_more {
                assert_eq!(page.total, all.len() as u64, "the total of {list:?}");
                return all;
            }
            assert!(page.total > all.len() as u64, "rows follow {list:?}");
            list.after = places.into_iter().next_back();
            list.at = Some(at);
            list.counted = Some((page.revision, page.total));
        }
    }

    /// The ids of all matches of a filter, latest first, after looking at every order that holds them.
    pub(crate) async fn found_sessions(&self, filter: &SessionFilter) -> Vec<SessionId> {
        let recent = self.sessions(filter.clone(), SessionSort::Recent, 3);
        let found = ids_of(&self.walk_sessions(recent).await);
        for (sort, limit) in [(SessionSort::LastActivity, 2), (SessionSort::Attention, 100)] {
            let list = self.sessions(filter.clone(), sort, limit);
            let mut others = ids_of(&self.walk_sessions(list).await);
            let mut same = found.clone();
            others.sort_unstable();
            same.sort_unstable();
            assert_eq!(others, same, "{filter:?} by {sort:?}");
        }
        let totals = self.session_totals(filter).await;
        let total: i64 = totals.by_state.iter().map(|(_, count)| count).sum();
        assert_eq!(total, i64::try_from(found.len()).unwrap(), "{filter:?}");
        found
    }

    /// Exact totals, for a caller who may see everything.
    pub(crate) async fn session_totals(&self, filter: &SessionFilter) -> SessionTotals {
        let count = CountSessions {
            filter: filter.clone(),
            visibility: Visibility::All,
            now: self.now(),
            stale_after: STALE_AFTER,
        };
        self.store.count_sessions(&count).await.unwrap()
    }
}

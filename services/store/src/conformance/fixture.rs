//! A catalog under test, and the short words that tests are written in.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use compozy_domain::path::base_name;
use compozy_domain::workspace::{NewName, NewWorkspace, WorkspaceFilter, WorkspaceOrder};
use compozy_domain::{
    CatalogError, ChangeEntry, DurableId, FileIdentity, HostId, Page, PageLimit, Timestamp, Visibility,
    Workspace, WorkspaceId, WorkspaceName,
};

use super::engine::Engine;
use super::hooks;
use super::numbers::Numbers;
use super::requests::Request;
use crate::call::{Answer, Call, Written};
use crate::catalog::{CatalogStore as _, StoreKind};
use crate::change_log::ChangeLog as _;
use crate::error::{Error, Result};
use crate::open::{Access, Durability, OpenOptions, SqlStore, StoreAddress};
use crate::workspaces::{
    ListWorkspaces, MoveBefore, Moved, Register, Registered, Remove, Removed, WorkspaceStore as _,
};

/// The host that tests look from.
pub const HOST: &str = "h1";
/// The release that tests open catalogs as.
pub const BINARY: &str = "0.1.0";

/// When the tests begin.
pub const START: Timestamp = Timestamp::from_nanos(1_800_000_000_000_000_000);

const SECOND: i64 = 1_000_000_000;

/// The tables of a catalog whose rows a user could notice.
const TABLES: [(&str, &str); 16] = [
    ("workspace", "id"),
    ("workspace_observation", "workspace_id"),
    ("profile", "id"),
    ("profile_selection", "workspace_id"),
    ("session", "id"),
    ("session_live", "session_id"),
    ("session_label", "session_id, key"),
    ("session_transition", "session_id, number"),
    ("deleted_session", "id"),
    ("session_count", "scope, hidden, state, type, agent"),
    ("observer_round", "host_id"),
    ("intent", "id"),
    ("request", "principal, method, request_id"),
    ("change", "position"),
    ("change_head", "one"),
    ("catalog_key", "number"),
];

/// A fresh catalog on an engine.
#[derive(Debug)]
pub struct Catalog<E> {
    /// Its engine.
    pub engine: Arc<E>,
    /// The store that has it open.
    pub store: Arc<SqlStore>,
    /// Nanoseconds since [`START`].
    clock: Arc<AtomicI64>,
    inodes: Arc<AtomicU64>,
}

impl<E> Clone for Catalog<E> {
    fn clone(&self) -> Self {
        Self {
            engine: Arc::clone(&self.engine),
            store: Arc::clone(&self.store),
            clock: Arc::clone(&self.clock),
            inodes: Arc::clone(&self.inodes),
        }
    }
}

/// Opens a catalog as the tests' release.
///
/// # Errors
/// As [`SqlStore::open`].
pub async fn open(address: StoreAddress) -> Result<SqlStore> {
    SqlStore::open(OpenOptions {
        address,
        access: Access::Serve,
        durability: Durability::Full,
        binary: BINARY,
        now: START,
        random: &Numbers,
    })
    .await
}

/// What was written now.
///
/// # Panics
/// If it is the answer to a repetition.
#[track_caller]
pub fn fresh<T: std::fmt::Debug>(answer: Answer<T>) -> Written<T> {
    match answer {
        Answer::Fresh(written) => written,
        Answer::Remembered(bytes) => panic!("a repetition: {}", String::from_utf8_lossy(&bytes)),
    }
}

/// The rule that refused a call.
///
/// # Panics
/// If it succeeded or failed otherwise.
#[track_caller]
pub fn rejection<T: std::fmt::Debug>(outcome: Result<T>) -> CatalogError {
    match outcome {
        Err(Error::Rejected(error)) => error,
        other => panic!("not refused by a rule: {other:?}"),
    }
}

impl<E: Engine> Catalog<E> {
    /// Opens the catalog of an engine.
    pub async fn open(engine: Arc<E>) -> Self {
        let store = open(engine.address()).await.expect("a fresh catalog opens");
        Self {
            engine,
            store: Arc::new(store),
            clock: Arc::default(),
            inodes: Arc::default(),
        }
    }

    /// Closes the catalog and opens it again, as after a restart.
    #[must_use]
    pub async fn reopened(self) -> Self {
        crate::CatalogStore::close(&*self.store).await;
        self.opened_again().await
    }

    /// The catalog opened once more, as by another process.
    #[must_use]
    pub async fn opened_again(&self) -> Self {
        let store = open(self.engine.address())
            .await
            .expect("the catalog opens again");
        Self {
            store: Arc::new(store),
            ..self.clone()
        }
    }
}

impl<E> Catalog<E> {
    /// The next second.
    #[must_use]
    pub fn tick(&self) -> Timestamp {
        let nanos = self.clock.fetch_add(SECOND, Ordering::SeqCst) + SECOND;
        Timestamp::from_nanos(START.nanos() + nanos)
    }

    /// The process's clock as it stands.
    #[must_use]
    pub fn now(&self) -> Timestamp {
        Timestamp::from_nanos(START.nanos() + self.clock.load(Ordering::SeqCst))
    }

    /// Sets the clock of the process, and on Postgres that of the catalog, which stands still from then on.
    pub async fn set_clock(&self, at: Timestamp) {
        self.clock.store(at.nanos() - START.nanos(), Ordering::SeqCst);
        hooks::set_catalog_clock(&self.store, at).await.unwrap();
    }

    /// Lets time go by on the clock of [`Self::set_clock`].
    pub async fn pass(&self, span: Duration) {
        self.set_clock(self.now().plus(span)).await;
    }

    /// A call of somebody who may see everything.
    #[must_use]
    pub fn call<T>(&self) -> Call<T> {
        self.call_as(Visibility::All)
    }

    /// A call of somebody who may see some workspaces.
    #[must_use]
    pub fn call_as<T>(&self, visibility: Visibility) -> Call<T> {
        Call {
            visibility,
            now: self.tick(),
            deadline: Instant::now() + Duration::from_secs(30),
            remember: None,
        }
    }

    /// A call that is carried out once.
    #[must_use]
    pub fn call_once<T: std::fmt::Debug>(&self, request: &Request) -> Call<T> {
        Call {
            remember: Some(request.remember()),
            ..self.call()
        }
    }

    /// A registration of a directory of this host, named after it.
    #[must_use]
    pub fn new_at(&self, root_dir: &str) -> Register {
        let at = self.tick();
        let base = base_name(root_dir);
        Register {
            workspace: NewWorkspace {
                id: WorkspaceId::generate(&Numbers).unwrap(),
                durable_id: DurableId::generate(at, &Numbers).unwrap(),
                host_id: host(HOST),
                root_dir: root_dir.to_owned(),
                root_file: FileIdentity {
                    device: 7,
                    inode: self.inodes.fetch_add(1, Ordering::SeqCst) + 1,
                },
                additional_dirs: Vec::new(),
                name: NewName::Derived(WorkspaceName::derived_from(base)),
                title: base.to_owned(),
                default_agent: String::new(),
                is_default: false,
                at,
            },
            intent: None,
            validate_only: false,
        }
    }

    /// The same with a name of its own.
    #[must_use]
    pub fn new_named(&self, root_dir: &str, given: &str) -> Register {
        let mut register = self.new_at(root_dir);
        register.workspace.name = NewName::Explicit(name(given));
        register
    }

    /// Registers a directory.
    ///
    /// # Panics
    /// If it is registered already.
    pub async fn register(&self, root_dir: &str) -> Workspace {
        self.created(self.new_at(root_dir)).await
    }

    /// Carries out a registration that is to make a row.
    ///
    /// # Panics
    /// If it does not.
    pub async fn created(&self, register: Register) -> Workspace {
        match fresh(self.store.register(register, self.call()).await.unwrap()).value {
            Registered::Created(workspace) => workspace,
            Registered::Existing(workspace) => panic!("registered before: {workspace:?}"),
        }
    }

    /// Registers directories so that they are listed in this order.
    pub async fn register_in_order(&self, roots: &[&str]) -> Vec<Workspace> {
        let mut workspaces = Vec::with_capacity(roots.len());
        for root in roots.iter().rev() {
            workspaces.push(self.register(root).await);
        }
        workspaces.reverse();
        workspaces
    }

    /// Moves a workspace in front of another one, or to the end.
    ///
    /// # Errors
    /// As [`crate::WorkspaceStore::move_before`].
    pub async fn move_before(&self, id: &WorkspaceId, before: Option<&WorkspaceId>) -> Result<Moved> {
        let moving = MoveBefore {
            id: id.clone(),
            before: before.cloned(),
        };
        Ok(fresh(self.store.move_before(moving, self.call()).await?).value)
    }

    /// Removes a workspace.
    ///
    /// # Errors
    /// As [`crate::WorkspaceStore::remove`].
    pub async fn remove(&self, id: &WorkspaceId) -> Result<Removed> {
        Ok(fresh(self.store.remove(removal(id), self.call()).await?).value)
    }

    /// The record as it is now.
    pub async fn find(&self, id: &WorkspaceId) -> Option<Workspace> {
        self.store.find(id, &Visibility::All).await.unwrap().0
    }

    /// The record as it is now.
    ///
    /// # Panics
    /// If it is gone.
    pub async fn get(&self, id: &WorkspaceId) -> Workspace {
        self.find(id).await.expect("the workspace is there")
    }

    /// A page of all workspaces as this host sees them.
    #[must_use]
    pub fn page(&self, order: WorkspaceOrder, limit: i32) -> ListWorkspaces {
        ListWorkspaces {
            filter: WorkspaceFilter::default(),
            host: host(HOST),
            order,
            after: None,
            limit: PageLimit::parse(limit).unwrap(),
            visibility: Visibility::All,
            counted: None,
        }
    }

    /// Reads a page.
    pub async fn read(&self, list: &ListWorkspaces) -> Page<Workspace> {
        self.store.list(list).await.unwrap()
    }

    /// Every row of a list, page by page. Each page tells the same total, and it is true.
    pub async fn walk(&self, mut list: ListWorkspaces) -> Vec<Workspace> {
        let mut all: Vec<Workspace> = Vec::new();
        loop {
            let page = self.read(&list).await;
            let last = page.rows.last().map(|row| row.place(list.order));
            assert!(page.rows.len() <= list.limit.get() as usize);
            all.extend(page.rows);
            if !page.has_more {
                assert_eq!(page.total, all.len() as u64, "the total of {list:?}");
                return all;
            }
            assert!(
                page.total > all.len() as u64,
                "rows follow, so there are more than these"
            );
            list.after = last;
        }
    }

    /// The names in the manual order.
    pub async fn names(&self) -> Vec<String> {
        self.names_by(WorkspaceOrder::Manual).await
    }

    /// The names in an order.
    pub async fn names_by(&self, order: WorkspaceOrder) -> Vec<String> {
        names_of(&self.walk(self.page(order, 100)).await)
    }

    /// Gives every committed entry its position.
    pub async fn number_all(&self) {
        let soon = Instant::now() + Duration::from_secs(60);
        self.store.settle(soon).await.unwrap();
    }

    /// Every entry of the change log.
    pub async fn log(&self) -> Vec<ChangeEntry> {
        self.log_after(0).await
    }

    /// Every entry above a position.
    pub async fn log_after(&self, position: i64) -> Vec<ChangeEntry> {
        self.number_all().await;
        let mut entries: Vec<ChangeEntry> = Vec::new();
        loop {
            let after = entries.last().map_or(position, |entry| entry.position);
            let more = self.store.read_after(after, 1_000).await.unwrap().entries;
            if more.is_empty() {
                return entries;
            }
            entries.extend(more);
        }
    }

    /// The instant that an entry is to carry: on SQLite that of its call. On Postgres it is the server's, whatever it
    /// is, and so not that of the tests, which lies years ahead.
    #[must_use]
    pub fn instant_of_entry(&self, call: Timestamp, entry: Timestamp) -> Timestamp {
        match self.store.kind() {
            StoreKind::Sqlite => call,
            StoreKind::Postgres => {
                assert!(entry < START, "it is the process's: {entry:?}");
                entry
            }
        }
    }

    /// Everything stored, to compare before and after a call that must write nothing.
    pub async fn everything(&self) -> Vec<Vec<String>> {
        self.number_all().await;
        let mut all = Vec::new();
        let deltas = (self.store.kind() == StoreKind::Postgres).then_some(("session_count_delta", "number"));
        for (table, key) in TABLES.into_iter().chain(deltas) {
            let sql = format!("SELECT * FROM {table} ORDER BY {key}");
            for mut row in hooks::rows(&self.store, &sql).await.unwrap() {
                row.insert(0, table.to_owned());
                all.push(row);
            }
        }
        all
    }
}

/// A host id.
pub(crate) fn host(text: &str) -> HostId {
    HostId::parse(text).unwrap()
}

/// A name.
pub(crate) fn name(text: &str) -> WorkspaceName {
    WorkspaceName::parse(text).unwrap()
}

/// The plain removal of a workspace.
pub(crate) fn removal(id: &WorkspaceId) -> Remove {
    Remove {
        id: Some(id.clone()),
        etag: None,
        allow_missing: false,
        delete_sessions: false,
        ungroup_live: false,
        reference: id.to_string(),
    }
}

/// The names of some rows.
pub(crate) fn names_of(rows: &[Workspace]) -> Vec<String> {
    rows.iter().map(|row| row.name.as_str().to_owned()).collect()
}

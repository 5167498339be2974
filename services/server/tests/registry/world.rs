//! A world for one case: directories, a catalog, a daemon, and what it takes to say that nothing was written.

use std::future::Future;
use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use compozy_domain::id::new_ulid;
use compozy_domain::{ChangeEntry, Clock as _, HostId, NewChange, WorkspaceId};
use compozy_proto::workspace::v1 as pb;
use compozy_resolver::Disk;
use compozy_resolver::files::faulty::Faulty;
use compozy_server::registry::{Parts, Settings};
use compozy_server::tasks::Tasks;
use compozy_store::{Access, ChangeLog as _, Durability, OpenOptions, SqlStore, StoreAddress};
use tonic::Code;

use crate::client::{Failure, Outcome};
use crate::daemon::Daemon;
use crate::doubles::{TestClock, TestRandom};
use crate::requests::{list, register};
use crate::tree::{Tree, identity_file, tree};

/// What a world is made of, before a daemon runs in it.
#[derive(Debug, Clone)]
pub(crate) struct Setup {
    /// A fresh directory, canonical: `$T`.
    pub(crate) t: String,
    /// `$H`, beside it.
    pub(crate) home: String,
    sockets: PathBuf,
    pub(crate) address: StoreAddress,
    pub(crate) store: Arc<SqlStore>,
    pub(crate) clock: Arc<TestClock>,
    pub(crate) random: Arc<TestRandom>,
    pub(crate) files: Faulty,
}

/// A world with one daemon.
#[derive(Debug)]
pub(crate) struct World {
    setup: Setup,
    pub(crate) daemon: Daemon,
}

/// Everything that a call that writes nothing leaves as it is.
#[derive(Debug, PartialEq)]
struct Snapshot {
    rows: Vec<pb::Workspace>,
    /// Everything that is stored of sessions, table by table.
    sessions: Vec<Vec<Vec<String>>>,
    changes: Vec<ChangeEntry>,
    tree: Tree,
}

/// What is stored of sessions.
const TABLES_OF_SESSIONS: [&str; 6] = [
    "session",
    "session_live",
    "session_label",
    "session_transition",
    "deleted_session",
    "session_count",
];

static SOCKETS: AtomicU32 = AtomicU32::new(0);

impl Setup {
    pub(crate) async fn new(directory: &Path, address: StoreAddress) -> Self {
        let inside = |name: &str| {
            let path = directory.join(name);
            std::fs::create_dir(&path).unwrap();
            path.to_str().unwrap().to_owned()
        };
        let clock = Arc::new(TestClock::new());
        let random = Arc::new(TestRandom::default());
        let options = OpenOptions {
            address: address.clone(),
            access: Access::Serve,
            durability: Durability::Normal,
            binary: "0.1.0",
            now: clock.now(),
            random: random.as_ref(),
        };
        Self {
            t: inside("t"),
            home: inside("h"),
            sockets: directory.to_owned(),
            store: Arc::new(SqlStore::open(options).await.unwrap()),
            address,
            clock,
            random,
            files: Faulty::over(Disk::new()),
        }
    }

    /// What a daemon of this world works with, unless a case changes it.
    pub(crate) fn parts(&self) -> Parts {
        Parts {
            store: Arc::clone(&self.store) as _,
            files: Arc::new(self.files.clone()),
            clock: Arc::clone(&self.clock) as _,
            random: Arc::clone(&self.random) as _,
            tasks: Tasks::new(),
            host: HostId::parse("h1").unwrap(),
            owner: new_ulid(self.clock.now(), self.random.as_ref()).unwrap(),
            settings: Settings {
                catalog_home: self.home.clone(),
                operator_home: Some(self.t.clone()),
                allowed_roots: Vec::new(),
                auto_create: true,
                register_home: false,
                sessions: compozy_server::config::SessionsConfig::default(),
            },
        }
    }

    /// Starts a daemon that differs from the usual one.
    pub(crate) async fn start(&self, change: impl FnOnce(&mut Parts)) -> Daemon {
        self.start_for(&[], change).await
    }

    /// Starts a daemon at which the principal `limited` sees these workspaces only.
    pub(crate) async fn start_for(&self, visible: &[WorkspaceId], change: impl FnOnce(&mut Parts)) -> Daemon {
        let mut parts = self.parts();
        change(&mut parts);
        let number = SOCKETS.fetch_add(1, Ordering::Relaxed);
        Daemon::start(parts, &self.sockets.join(format!("s{number}")), visible).await
    }

    /// Makes a directory below `$T`, with those above it, and answers its path.
    pub(crate) fn mkdir(&self, name: &str) -> String {
        let path = self.path(name);
        std::fs::create_dir_all(&path).unwrap();
        path
    }

    /// A path below `$T`.
    pub(crate) fn path(&self, name: &str) -> String {
        format!("{}/{name}", self.t)
    }

    /// Makes a directory with an identity file of this content.
    pub(crate) fn mkdir_with_file(&self, name: &str, content: impl AsRef<[u8]>) -> String {
        let path = self.mkdir(name);
        self.mkdir(&format!("{name}/.compozy"));
        std::fs::write(file_of(&path), content).unwrap();
        path
    }

    /// Makes a directory with a valid identity file with this id.
    pub(crate) fn mkdir_with_id(&self, name: &str, id: &str) -> String {
        self.mkdir_with_file(name, identity_file(id))
    }

    /// Makes a link below `$T` to a target.
    pub(crate) fn link(&self, target: &str, name: &str) -> String {
        let path = self.path(name);
        std::os::unix::fs::symlink(target, &path).unwrap();
        path
    }

    /// Whether the catalog lies on Postgres.
    pub(crate) fn is_postgres(&self) -> bool {
        matches!(self.address, StoreAddress::Postgres { .. })
    }

    /// Every change so far, in order. On Postgres positions are given after commit.
    pub(crate) async fn changes(&self) -> Vec<ChangeEntry> {
        let deadline = std::time::Instant::now() + std::time::Duration::from_secs(20);
        self.store.settle(deadline).await.unwrap();
        let mut all = Vec::new();
        loop {
            let last = all.last().map_or(0, |entry: &ChangeEntry| entry.position);
            let mut more = self.store.read_after(last, 1_000).await.unwrap().entries;
            if more.is_empty() {
                return all;
            }
            all.append(&mut more);
        }
    }
}

/// The identity file of a root.
pub(crate) fn file_of(root: &str) -> String {
    format!("{root}/.compozy/workspace.toml")
}

impl Deref for World {
    type Target = Setup;

    fn deref(&self) -> &Setup {
        &self.setup
    }
}

impl World {
    pub(crate) async fn new(setup: Setup) -> Self {
        let daemon = setup.start(|_| {}).await;
        Self { setup, daemon }
    }

    /// Ends the daemon and starts one that differs from the usual one on the same data.
    pub(crate) async fn restart(&mut self, change: impl FnOnce(&mut Parts)) {
        self.daemon = self.setup.start(change).await;
        self.daemon.registry.recover().await.unwrap();
    }

    /// Registers a directory that can be registered.
    pub(crate) async fn reg(&self, path: impl Into<String>) -> pb::Workspace {
        self.daemon
            .api
            .register(register(path))
            .await
            .unwrap()
            .workspace
            .unwrap()
    }

    /// Makes and registers a directory below `$T`.
    pub(crate) async fn reg_new(&self, name: &str) -> pb::Workspace {
        self.reg(self.mkdir(name)).await
    }

    /// The record with this id.
    pub(crate) async fn record(&self, id: &str) -> pb::Workspace {
        let request = pb::GetWorkspaceRequest {
            r#ref: crate::requests::by_id(id),
            include_status: false,
        };
        self.daemon.api.get(request).await.unwrap().workspace.unwrap()
    }

    /// What a look at the root of a record shows now.
    pub(crate) async fn status(&self, id: &str) -> pb::WorkspaceStatus {
        let request = pb::GetWorkspaceRequest {
            r#ref: crate::requests::by_id(id),
            include_status: true,
        };
        self.daemon
            .api
            .get(request)
            .await
            .unwrap()
            .workspace
            .unwrap()
            .status()
    }

    /// All records, walked in pages.
    pub(crate) async fn rows(&self) -> Vec<pb::Workspace> {
        let mut rows = Vec::new();
        let mut cursor = String::new();
        loop {
            let request = pb::ListWorkspacesRequest {
                limit: 100,
                cursor,
                ..list()
            };
            let page = self.daemon.api.list(request).await.unwrap();
            rows.extend(page.workspaces);
            match page.page.unwrap().next_cursor {
                Some(next) => cursor = next,
                None => return rows,
            }
        }
    }

    /// The names of all records in the manual order.
    pub(crate) async fn order(&self) -> Vec<String> {
        self.rows()
            .await
            .into_iter()
            .map(|row| row.name.unwrap_or_default())
            .collect()
    }

    /// The exact number of records.
    pub(crate) async fn total(&self) -> i64 {
        self.daemon.api.list(list()).await.unwrap().page.unwrap().total
    }

    /// Carries out something that must write nothing: no row, etag, time, place, change, file or directory.
    pub(crate) async fn unchanged_by<T>(&self, work: impl Future<Output = T>) -> T {
        let before = self.snapshot().await;
        let outcome = work.await;
        let after = self.snapshot().await;
        assert_eq!(before, after, "nothing is written");
        outcome
    }

    /// Carries out a call that must be refused with this status and reason, and write nothing.
    pub(crate) async fn refused<T: std::fmt::Debug>(
        &self,
        code: Code,
        reason: &str,
        call: impl Future<Output = Outcome<T>>,
    ) -> Failure {
        let failure = self.unchanged_by(call).await.expect_err("the call is refused");
        assert_eq!(
            (failure.code, failure.reason.as_str()),
            (code, reason),
            "{failure:?}"
        );
        failure
    }

    /// As [`World::refused`], for a registration.
    pub(crate) async fn reg_refused(
        &self,
        code: Code,
        reason: &str,
        request: pb::RegisterWorkspaceRequest,
    ) -> Failure {
        self.refused(code, reason, self.daemon.api.register(request))
            .await
    }

    async fn stored_sessions(&self) -> Vec<Vec<Vec<String>>> {
        let mut tables = Vec::new();
        for table in TABLES_OF_SESSIONS {
            let sql = format!("SELECT * FROM {table} ORDER BY 1, 2");
            tables.push(
                compozy_store::conformance::raw_rows(&self.store, &sql)
                    .await
                    .unwrap(),
            );
        }
        tables
    }

    async fn snapshot(&self) -> Snapshot {
        Snapshot {
            rows: self.rows().await,
            sessions: self.stored_sessions().await,
            changes: self.changes().await,
            tree: tree(&self.t),
        }
    }
}

/// The workspace that an entry of the log is about.
pub(crate) fn workspace_of(change: &NewChange) -> String {
    change.workspace_id.as_ref().expect("it is about one").to_string()
}

//! The whole server in this process, or the real binary, on a home whose catalog lies on either engine.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use compozy_proto::workspace::v1::workspace_service_client::WorkspaceServiceClient;
use compozy_proto::workspace::v1::{
    ListWorkspacesRequest, RegisterWorkspaceRequest, RegisterWorkspaceResponse,
};
use compozy_server::app::Starting;
use compozy_server::home::{self, Home};
use compozy_server::plug;
use compozy_server::shutdown::Shutdown;
use compozy_store::StoreAddress;
use compozy_store::conformance::{Engine, Postgres, SqliteFile};
use rusqlite::Connection;
use sqlx::postgres::{PgPool, PgPoolOptions};
use tonic::Status;
use tonic::transport::Channel;

use crate::running::{PATIENCE, Running, setup};

/// Stamps tests for both engines. Each gets a site whose catalog nobody else has.
macro_rules! on_both_engines {
    ($($name:ident,)+) => {
        mod sqlite {
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $name() {
                crate::site::on_sqlite(stringify!($name), super::$name).await;
            })+
        }

        mod postgres {
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $name() {
                crate::site::on_postgres(stringify!($name), super::$name).await;
            })+
        }
    };
}

pub async fn on_sqlite<F: Future<Output = ()>>(name: &str, test: impl FnOnce(Site) -> F) {
    compozy_store::conformance::run_unopened::<SqliteFile, _>(name, async |engine| {
        test(Site::on(engine.address())).await;
    })
    .await;
}

pub async fn on_postgres<F: Future<Output = ()>>(name: &str, test: impl FnOnce(Site) -> F) {
    compozy_store::conformance::run_unopened::<Postgres, _>(name, async |engine| {
        test(Site::on(engine.address())).await;
    })
    .await;
}

/// A home and where its catalog lies.
pub struct Site {
    pub home: Home,
    address: StoreAddress,
    directory: tempfile::TempDir,
    made: AtomicU32,
}

/// A foreign transaction that keeps every write of the server waiting until it is dropped or let go.
pub enum Blocked {
    Sqlite(Connection),
    Postgres(sqlx::Transaction<'static, sqlx::Postgres>),
}

impl Site {
    fn on(address: StoreAddress) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let home = Home::at(directory.path().join("home"));
        home::prepare(&home).unwrap();
        Self {
            home,
            address,
            directory,
            made: AtomicU32::new(0),
        }
    }

    /// What `store.url` is.
    pub fn url(&self) -> String {
        match &self.address {
            StoreAddress::SqliteFile(path) => format!("sqlite://{}", path.display()),
            StoreAddress::Postgres { url, .. } => url.clone(),
            StoreAddress::SqliteMemory => unreachable!("it has no URL"),
        }
    }

    /// The text of a `config.toml` for this catalog.
    pub fn config(&self, more: &str) -> String {
        let url = self.url();
        format!("store.url = \"{url}\"\nworkspaces.register_home = false\n{more}")
    }

    /// Starts the whole server in this process.
    pub async fn start(&self, config: &str) -> Running {
        let setup = setup(&self.home, &self.config(config)).unwrap();
        let starting = Starting::listen(setup, Shutdown::new()).await.unwrap();
        let app = starting.open(plug::open).await.unwrap();
        Running::of(&self.home, app.expect("nothing ended it"))
    }

    /// A new directory that is no workspace yet.
    pub fn folder(&self) -> PathBuf {
        let number = self.made.fetch_add(1, Ordering::Relaxed);
        let path = self.directory.path().join(format!("w{number}"));
        std::fs::create_dir(&path).unwrap();
        path
    }

    /// Keeps every write waiting.
    pub async fn block_writes(&self) -> Blocked {
        match &self.address {
            StoreAddress::SqliteFile(path) => {
                let connection = Connection::open(path).unwrap();
                connection.busy_timeout(PATIENCE).unwrap();
                connection.execute_batch("BEGIN IMMEDIATE").unwrap();
                Blocked::Sqlite(connection)
            }
            StoreAddress::Postgres { .. } => {
                let mut transaction = self.connections().await.begin().await.unwrap();
                sqlx::query("LOCK TABLE workspace IN EXCLUSIVE MODE")
                    .execute(&mut *transaction)
                    .await
                    .unwrap();
                Blocked::Postgres(transaction)
            }
            StoreAddress::SqliteMemory => unreachable!("it is nobody else's"),
        }
    }

    /// Connections of the test's own to its Postgres database.
    pub async fn connections(&self) -> PgPool {
        PgPoolOptions::new()
            .max_connections(4)
            .connect(&self.url())
            .await
            .unwrap()
    }
}

impl Blocked {
    /// Lets the writes go on.
    pub async fn let_go(self) {
        match self {
            Self::Sqlite(connection) => connection.execute_batch("ROLLBACK").unwrap(),
            Self::Postgres(transaction) => transaction.rollback().await.unwrap(),
        }
    }
}

/// Registers a workspace at a directory.
pub async fn register(channel: &Channel, root: &Path) -> Result<RegisterWorkspaceResponse, Status> {
    let request = RegisterWorkspaceRequest {
        path: root.to_str().unwrap().to_owned(),
        ..RegisterWorkspaceRequest::default()
    };
    let mut client = WorkspaceServiceClient::new(channel.clone());
    let answer = tokio::time::timeout(PATIENCE, client.register_workspace(request)).await;
    Ok(answer.expect("no answer")?.into_inner())
}

/// The roots of all workspaces.
pub async fn roots(channel: &Channel) -> Vec<PathBuf> {
    let mut client = WorkspaceServiceClient::new(channel.clone());
    let mut request = ListWorkspacesRequest {
        limit: 100,
        ..ListWorkspacesRequest::default()
    };
    let mut roots = Vec::new();
    loop {
        let page = client
            .list_workspaces(request.clone())
            .await
            .unwrap()
            .into_inner();
        roots.extend(page.workspaces.into_iter().map(|row| PathBuf::from(row.root_dir)));
        match page.page.and_then(|page| page.next_cursor) {
            Some(cursor) => request.cursor = cursor,
            None => return roots,
        }
    }
}

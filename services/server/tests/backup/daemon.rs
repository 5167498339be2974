//! A daemon on a home of its own, its callers, and the `compozyd` of this build.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::Arc;
use std::time::Duration;

use compozy_proto::admin::v1::admin_service_client::AdminServiceClient;
use compozy_proto::admin::v1::{BackupRequest, BackupResponse};
use compozy_proto::workspace::v1::workspace_service_client::WorkspaceServiceClient;
use compozy_proto::workspace::v1::{
    ListWorkspacesRequest, ListWorkspacesResponse, RegisterWorkspaceRequest, Workspace,
};
use compozy_server::app::{Setup, Starting};
use compozy_server::clock::SystemClock;
use compozy_server::config::{Config, Overrides};
use compozy_server::home::{self, Home};
use compozy_server::lock::{DaemonLock, holder};
use compozy_server::plug;
use compozy_server::random::SystemRandom;
use compozy_server::shutdown::Shutdown;
use hyper_util::rt::TokioIo;
use tempfile::TempDir;
use tokio::net::UnixStream;
use tokio::task::JoinSet;
use tonic::transport::{Channel, Endpoint};
use tonic::{Request, Status};
use tonic_types::{ErrorInfo, StatusExt as _};

/// Long enough for a busy machine; never waited for when all is well.
const PATIENCE: Duration = Duration::from_secs(30);
/// No test may look into the home of whoever runs it.
const ALONE: &str = "workspaces.register_home = false\n";

/// Directories for homes, roots and backups: `$T`.
#[derive(Debug)]
pub struct Place(TempDir);

/// A running daemon.
#[derive(Debug)]
pub struct Daemon {
    pub home: Home,
    address: Option<std::net::SocketAddr>,
    channel: Channel,
    shutdown: Shutdown,
    running: JoinSet<bool>,
    _lock: DaemonLock,
}

impl Place {
    pub fn new() -> Self {
        Self(TempDir::new().unwrap())
    }

    /// A path below `$T`, canonical.
    pub fn path(&self, name: &str) -> PathBuf {
        self.0.path().canonicalize().unwrap().join(name)
    }

    /// A new directory below `$T`.
    pub fn directory(&self, name: &str) -> PathBuf {
        let path = self.path(name);
        std::fs::create_dir_all(&path).unwrap();
        path
    }

    pub fn home(&self, name: &str) -> Home {
        Home::at(self.path(name))
    }

    /// `compozyd` with these arguments on a home, as a process.
    pub fn compozyd(&self, home: &Home, arguments: &[&str]) -> Output {
        Command::new(env!("CARGO_BIN_EXE_compozyd"))
            .env_clear()
            .env("COMPOZY_HOME", home.path())
            .env("HOME", self.0.path())
            .args(arguments)
            .output()
            .unwrap()
    }
}

impl Daemon {
    pub async fn start(home: &Home) -> Self {
        Self::start_with(home, "").await
    }

    /// Starts a daemon; `config` is the rest of its `config.toml`.
    pub async fn start_with(home: &Home, config: &str) -> Self {
        home::prepare(home).unwrap();
        let lock = DaemonLock::acquire(home).unwrap();
        std::fs::write(home.config_path(), format!("{ALONE}{config}")).unwrap();
        let setup = Setup {
            home: home.clone(),
            config: Arc::new(Config::load(home, &Overrides::default()).unwrap()),
            runtime_dir: None,
            clock: Arc::new(SystemClock),
            random: Arc::new(SystemRandom),
        };
        let starting = Starting::listen(setup, Shutdown::new()).await.unwrap();
        let app = starting.open(plug::open).await.unwrap().unwrap();
        let (shutdown, address) = (app.shutdown(), app.addresses().first().copied());
        let channel = socket(app.socket()).await;
        let mut running = JoinSet::new();
        running.spawn(app.finish());
        Self {
            home: home.clone(),
            address,
            channel,
            shutdown,
            running,
            _lock: lock,
        }
    }

    pub async fn stop(mut self) {
        self.shutdown.begin("the test");
        let ended = tokio::time::timeout(PATIENCE, self.running.join_next()).await;
        ended.expect("the daemon ends").unwrap().unwrap();
        let home = self.home.clone();
        drop(self);
        // A process that another test is starting may hold a copy of the lock for a moment, until it is another
        // program.
        let free = async {
            while holder(&home).is_some() {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        };
        tokio::time::timeout(PATIENCE, free)
            .await
            .expect("the lock is free");
    }

    pub async fn register(&self, path: &Path) -> Workspace {
        let request = RegisterWorkspaceRequest {
            path: path.to_str().unwrap().to_owned(),
            ..Default::default()
        };
        let mut client = WorkspaceServiceClient::new(self.channel.clone());
        let answer = client.register_workspace(request).await.unwrap();
        answer.into_inner().workspace.unwrap()
    }

    pub async fn list(&self, request: ListWorkspacesRequest) -> Result<ListWorkspacesResponse, Status> {
        let mut client = WorkspaceServiceClient::new(self.channel.clone());
        Ok(client.list_workspaces(request).await?.into_inner())
    }

    /// The names of all workspaces, and that each of them can be used.
    pub async fn names(&self) -> Vec<String> {
        let request = ListWorkspacesRequest {
            limit: 100,
            ..Default::default()
        };
        let page = self.list(request).await.unwrap();
        let mut names: Vec<String> = page.workspaces.iter().map(|row| row.name().to_owned()).collect();
        names.sort();
        names
    }

    /// Asks for a backup over the socket.
    pub async fn backup(&self, directory: impl AsRef<Path>) -> Result<BackupResponse, Status> {
        let mut client = AdminServiceClient::new(self.channel.clone());
        Ok(client.backup(asked(directory.as_ref())).await?.into_inner())
    }

    /// Asks for a backup over TCP with this token.
    pub async fn backup_with(
        &self,
        token: &str,
        directory: impl AsRef<Path>,
    ) -> Result<BackupResponse, Status> {
        let uri = format!("http://{}", self.address.unwrap());
        let channel = Endpoint::from_shared(uri).unwrap().connect().await.unwrap();
        let mut request = Request::new(asked(directory.as_ref()));
        let header = format!("Bearer {token}").parse().unwrap();
        request.metadata_mut().insert("authorization", header);
        Ok(AdminServiceClient::new(channel)
            .backup(request)
            .await?
            .into_inner())
    }

    /// The home's own token.
    pub fn token(&self) -> String {
        let text = std::fs::read_to_string(self.home.token_path()).unwrap();
        text.trim().to_owned()
    }
}

fn asked(directory: &Path) -> BackupRequest {
    BackupRequest {
        directory: directory.to_str().unwrap().to_owned(),
    }
}

async fn socket(path: &Path) -> Channel {
    let path = path.to_owned();
    let connector = tower::service_fn(move |_: http::Uri| {
        let path = path.clone();
        async move { UnixStream::connect(path).await.map(TokioIo::new) }
    });
    let endpoint = Endpoint::from_static("http://localhost");
    endpoint.connect_with_connector(connector).await.unwrap()
}

/// The explanation of a failure.
pub fn explained(status: &Status) -> ErrorInfo {
    status
        .get_details_error_info()
        .unwrap_or_else(|| panic!("{status:?}"))
}

/// Everything below a directory: path, mode, and the bytes of files.
pub fn tree(directory: &Path) -> Vec<(PathBuf, u32, Vec<u8>)> {
    use std::os::unix::fs::PermissionsExt as _;
    let mut found = Vec::new();
    let mut waiting = vec![directory.to_owned()];
    while let Some(path) = waiting.pop() {
        let Ok(metadata) = std::fs::symlink_metadata(&path) else {
            continue;
        };
        let bytes = if metadata.is_file() {
            std::fs::read(&path).unwrap()
        } else {
            Vec::new()
        };
        if metadata.is_dir() {
            waiting.extend(
                std::fs::read_dir(&path)
                    .unwrap()
                    .map(|entry| entry.unwrap().path()),
            );
        }
        found.push((path, metadata.permissions().mode() & 0o7777, bytes));
    }
    found.sort();
    found
}

/// What a process said, whichever way.
pub fn said(output: &Output) -> String {
    format!(
        "{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    )
}

//! A server for the tests: answers by the contract from a list in memory, remembers every call, and
//! fails where a test says so.

mod accounts;
mod catalog;
pub mod changes;
pub mod profiles;
pub mod resolution;
mod service;
pub mod sessions;

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use compozy_client::proto::admin::v1::admin_service_server::AdminServiceServer;
use compozy_client::proto::change::v1::catalog_change_service_server::CatalogChangeServiceServer;
use compozy_client::proto::profile::v1::profile_service_server::ProfileServiceServer;
use compozy_client::proto::session::v1::Session;
use compozy_client::proto::session::v1::session_catalog_service_server::SessionCatalogServiceServer;
use compozy_client::proto::workspace::v1::workspace_service_server::{SERVICE_NAME, WorkspaceServiceServer};
use compozy_client::proto::workspace::v1::{Diagnostic, Snapshot, Workspace};
use prost::Message;
use tempfile::TempDir;
use tokio::net::{TcpListener, UnixListener};
use tokio::sync::{Notify, Semaphore, SemaphorePermit};
use tokio_stream::wrappers::{TcpListenerStream, UnixListenerStream};
use tonic::metadata::MetadataMap;
use tonic::transport::{Server, ServerTlsConfig};
use tonic::{Code, Request, Status};
use tonic_health::pb::health_server::HealthServer;
use tonic_health::server::{HealthReporter, HealthService};
use tonic_types::{ErrorDetails, StatusExt};

use crate::run::{Run, text};

/// Permits of the gate: more than there are calls at once.
const PERMITS: u32 = 1_000;

/// A running server with a home and a directory to work in.
pub struct Fake {
    pub state: Arc<State>,
    pub health: HealthReporter,
    runtime: Option<tokio::runtime::Runtime>,
    home: TempDir,
    work: TempDir,
}

/// What the server knows.
pub struct State {
    pub workspaces: Mutex<Vec<Workspace>>,
    pub sessions: Mutex<Vec<Session>>,
    calls: Mutex<Vec<Call>>,
    failures: Mutex<HashMap<&'static str, Status>>,
    /// The token that every caller has to send; none is needed without one.
    pub token: Mutex<Option<String>>,
    pub host_id: Mutex<String>,
    /// What dumps the catalog, if it lies on Postgres.
    pub dump_command: Mutex<String>,
    pub profiles: Mutex<profiles::Profiles>,
    /// The home, as snapshots name it.
    pub home: Mutex<String>,
    /// How often somebody wanted files read again.
    pub reads: Mutex<i64>,
    /// The prompt of each agent and the text of each skill.
    pub text: Mutex<String>,
    /// What a registration finds.
    pub findings: Mutex<Vec<Diagnostic>>,
    /// Changes every snapshot.
    pub snapshot: Mutex<Option<SnapshotChange>>,
    /// Somebody asked for a shutdown.
    pub shutdown: Notify,
    /// The streams that are open, and what the next ones begin with.
    pub watches: changes::Watches,
    /// Calls pass here, unless somebody holds all permits.
    gate: Semaphore,
}

type SnapshotChange = Box<dyn Fn(&mut Snapshot) + Send>;

struct Call {
    method: &'static str,
    metadata: MetadataMap,
    message: Vec<u8>,
}

impl Fake {
    /// On the socket of its home, serving.
    pub fn start() -> Self {
        let fake = Self::new();
        let path = fake.home().join("daemon.sock");
        fake.runtime().block_on(async {
            let incoming = UnixListenerStream::new(UnixListener::bind(path).unwrap());
            let router = fake.router(None);
            tokio::spawn(router.serve_with_incoming(incoming));
        });
        fake
    }

    /// With the workspaces `a` and `b` at `$T/a` and `$T/b`.
    pub fn with_two() -> Self {
        let fake = Self::start();
        fake.add("a");
        fake.add("b");
        fake
    }

    /// On a port of this machine, with TLS if given; answers the address.
    pub fn listen(&self, tls: Option<ServerTlsConfig>) -> std::net::SocketAddr {
        self.runtime().block_on(async {
            let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
            let address = listener.local_addr().unwrap();
            tokio::spawn(
                self.router(tls)
                    .serve_with_incoming(TcpListenerStream::new(listener)),
            );
            address
        })
    }

    fn new() -> Self {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .unwrap();
        let (health, _) = tonic_health::server::health_reporter();
        let state = State {
            workspaces: Mutex::default(),
            sessions: Mutex::default(),
            calls: Mutex::default(),
            failures: Mutex::default(),
            token: Mutex::default(),
            host_id: Mutex::new("01HOST".to_owned()),
            dump_command: Mutex::default(),
            profiles: Mutex::default(),
            home: Mutex::default(),
            reads: Mutex::default(),
            text: Mutex::new(resolution::TEXT.to_owned()),
            findings: Mutex::default(),
            snapshot: Mutex::default(),
            shutdown: Notify::new(),
            watches: changes::Watches::default(),
            gate: Semaphore::new(PERMITS as usize),
        };
        let (home, work) = (TempDir::new().unwrap(), TempDir::new().unwrap());
        *state.home.lock().unwrap() = text(home.path());
        Self {
            state: Arc::new(state),
            health,
            runtime: Some(runtime),
            home,
            work,
        }
    }

    fn router(&self, tls: Option<ServerTlsConfig>) -> tonic::transport::server::Router {
        let mut server = Server::builder();
        if let Some(tls) = tls {
            server = server.tls_config(tls).unwrap();
        }
        server
            .add_service(HealthServer::new(HealthService::from_health_reporter(
                self.health.clone(),
            )))
            .add_service(WorkspaceServiceServer::from_arc(self.state.clone()))
            .add_service(ProfileServiceServer::from_arc(self.state.clone()))
            .add_service(SessionCatalogServiceServer::from_arc(self.state.clone()))
            .add_service(AdminServiceServer::from_arc(self.state.clone()))
            .add_service(CatalogChangeServiceServer::from_arc(self.state.clone()))
    }

    pub fn runtime(&self) -> &tokio::runtime::Runtime {
        self.runtime.as_ref().unwrap()
    }

    pub fn home(&self) -> &Path {
        self.home.path()
    }

    /// A path below `$T`, which is canonical.
    pub fn path(&self, below: &str) -> PathBuf {
        let root = self.work.path().canonicalize().unwrap();
        if below.is_empty() { root } else { root.join(below) }
    }

    /// A new directory below `$T`.
    pub fn directory(&self, below: &str) -> PathBuf {
        let path = self.path(below);
        std::fs::create_dir_all(&path).unwrap();
        path
    }

    /// Registers `$T/<name>` at the end of the order.
    pub fn add(&self, name: &str) {
        let root = text(self.directory(name));
        let mut workspaces = self.state.workspaces.lock().unwrap();
        let workspace = catalog::workspace(workspaces.len(), name, &root);
        workspaces.push(workspace);
    }

    /// Changes a registered workspace behind the clients' backs.
    pub fn change(&self, name: &str, change: impl FnOnce(&mut Workspace)) {
        let mut workspaces = self.state.workspaces.lock().unwrap();
        change(
            workspaces
                .iter_mut()
                .find(|workspace| workspace.name() == name)
                .unwrap(),
        );
    }

    /// An active session of a workspace, or of none; answers its id.
    pub fn add_session(&self, workspace: Option<&str>) -> String {
        let workspaces = self.state.workspaces.lock().unwrap();
        let found = workspace.map(|name| workspaces.iter().find(|one| one.name() == name).unwrap());
        let mut sessions = self.state.sessions.lock().unwrap();
        let made = sessions::session(sessions.len(), found);
        sessions.push(made);
        sessions[sessions.len() - 1].id.clone()
    }

    /// Changes a session behind the clients' backs.
    pub fn change_session(&self, id: &str, change: impl FnOnce(&mut Session)) {
        let mut sessions = self.state.sessions.lock().unwrap();
        change(sessions.iter_mut().find(|session| session.id == id).unwrap());
    }

    /// Changes every snapshot from now on.
    pub fn snapshots(&self, change: impl Fn(&mut Snapshot) + Send + 'static) {
        *self.state.snapshot.lock().unwrap() = Some(Box::new(change));
    }

    /// `compozy -o json` with these arguments in `$T/<directory>`.
    pub fn run(&self, directory: &str, arguments: &[&str]) -> Run {
        self.run_form("json", directory, arguments)
    }

    pub fn run_form(&self, form: &str, directory: &str, arguments: &[&str]) -> Run {
        let mut all = vec!["-o", form];
        all.extend(arguments);
        Run::new(self.home(), &self.directory(directory), &all)
    }

    /// Every call of this method fails like this from now on.
    pub fn fail(&self, method: &'static str, status: Status) {
        self.state.failures.lock().unwrap().insert(method, status);
    }

    /// The method works again.
    pub fn recover(&self, method: &'static str) {
        self.state.failures.lock().unwrap().remove(method);
    }

    /// Keeps all calls waiting until the permit is dropped.
    pub fn hold(&self) -> SemaphorePermit<'_> {
        self.runtime()
            .block_on(self.state.gate.acquire_many(PERMITS))
            .unwrap()
    }

    /// The methods that were called, in order.
    pub fn calls(&self) -> Vec<&'static str> {
        self.state
            .calls
            .lock()
            .unwrap()
            .iter()
            .map(|call| call.method)
            .collect()
    }

    /// The last message that a method got.
    #[track_caller]
    pub fn last<M: Message + Default>(&self, method: &str) -> M {
        let calls = self.state.calls.lock().unwrap();
        let call = calls
            .iter()
            .rev()
            .find(|call| call.method == method)
            .expect("the method was called");
        M::decode(call.message.as_slice()).unwrap()
    }

    /// The metadata of the last call.
    pub fn last_metadata(&self) -> MetadataMap {
        self.state.calls.lock().unwrap().last().unwrap().metadata.clone()
    }

    /// Says about the whole server whether it serves.
    pub fn set_serving(&self, serving: bool) {
        let status = if serving {
            tonic_health::ServingStatus::Serving
        } else {
            tonic_health::ServingStatus::NotServing
        };
        self.runtime().block_on(async {
            self.health.set_service_status("", status).await;
            self.health.set_service_status(SERVICE_NAME, status).await;
        });
    }
}

impl Drop for Fake {
    fn drop(&mut self) {
        self.runtime.take().unwrap().shutdown_background();
    }
}

impl State {
    /// Remembers a call, and lets it pass or fail.
    async fn enter<M: Message>(&self, method: &'static str, request: Request<M>) -> Result<M, Status> {
        let (metadata, _, message) = request.into_parts();
        let call = Call {
            method,
            metadata: metadata.clone(),
            message: message.encode_to_vec(),
        };
        self.calls.lock().unwrap().push(call);
        drop(self.gate.acquire().await.unwrap());
        if let Some(token) = &*self.token.lock().unwrap() {
            let sent = metadata
                .get("authorization")
                .map(|value| value.to_str().unwrap().to_owned());
            match sent {
                None => {
                    return Err(failed(
                        Code::Unauthenticated,
                        "TOKEN_MISSING",
                        "A token is needed.",
                        &[],
                    ));
                }
                Some(sent) if sent != format!("Bearer {token}") => {
                    return Err(failed(
                        Code::Unauthenticated,
                        "TOKEN_INVALID",
                        "The token is unknown.",
                        &[],
                    ));
                }
                Some(_) => {}
            }
        }
        match self.failures.lock().unwrap().get(method) {
            Some(status) => Err(status.clone()),
            None => Ok(message),
        }
    }
}

/// A status with the details of the contract.
pub fn failed(code: Code, reason: &str, message: &str, metadata: &[(&str, &str)]) -> Status {
    let metadata: HashMap<String, String> = metadata
        .iter()
        .map(|(key, value)| ((*key).to_owned(), (*value).to_owned()))
        .collect();
    let details = ErrorDetails::with_error_info(reason, "compozy.dev", metadata);
    Status::with_error_details(code, message, details)
}

/// CONFIG_INVALID, as the server tells it: each problem a refused field.
pub fn config_invalid(problems: &[(&str, &str)], count: usize, remedy: &str) -> Status {
    let count = count.to_string();
    let place = problems.first().map_or("", |(place, _)| place);
    let metadata = [
        ("problems_count", count.as_str()),
        ("path", place.split(':').next().unwrap()),
        ("remedy", remedy),
    ];
    let metadata = metadata.map(|(key, value)| (key.to_owned(), value.to_owned()));
    let mut details = ErrorDetails::with_error_info("CONFIG_INVALID", "compozy.dev", HashMap::from(metadata));
    for (place, problem) in problems {
        details.add_bad_request_violation(*place, *problem);
    }
    let message = format!("{place}: {}", problems.first().map_or("", |(_, problem)| problem));
    Status::with_error_details(Code::InvalidArgument, message, details)
}

/// Serves an empty catalog on the socket of a home until it is asked to shut down.
pub fn serve_at(home: &Path) {
    let fake = Fake::new();
    let path = home.join("daemon.sock");
    let _ = std::fs::remove_file(&path);
    fake.runtime().block_on(async {
        let incoming = UnixListenerStream::new(UnixListener::bind(&path).unwrap());
        let asked = fake.state.shutdown.notified();
        fake.router(None)
            .serve_with_incoming_shutdown(incoming, asked)
            .await
            .unwrap();
    });
    let _ = std::fs::remove_file(&path);
}

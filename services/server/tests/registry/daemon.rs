//! One daemon of a world: registry, service, a server on a socket, a client.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use compozy_domain::{Principal, Scope, Visibility, WorkspaceId};
use compozy_proto::profile::v1::profile_service_server::ProfileServiceServer;
use compozy_proto::session::v1::session_catalog_service_server::SessionCatalogServiceServer;
use compozy_proto::workspace::v1::workspace_service_server::WorkspaceServiceServer;
use compozy_server::layer::Deadline;
use compozy_server::registry::{Parts, Registry};
use compozy_server::seal::Seal;
use compozy_server::service::profile::ProfileApi;
use compozy_server::service::session::SessionApi;
use compozy_server::service::workspace::WorkspaceApi;
use compozy_server::status::status;
use compozy_server::tasks::Tasks;
use hyper_util::rt::TokioIo;
use tokio::net::{UnixListener, UnixStream};
use tokio::task::JoinSet;
use tokio_stream::wrappers::UnixListenerStream;
use tonic::transport::{Channel, Endpoint, Server};
use tonic::{Request, Status};

use crate::client::{Api, DEADLINE, PRINCIPAL};

/// A running daemon. Ends when it is dropped, like one that is killed.
#[derive(Debug)]
pub(crate) struct Daemon {
    pub(crate) registry: Arc<Registry>,
    pub(crate) seal: Arc<Seal>,
    pub(crate) api: Api,
    pub(crate) tasks: Tasks,
    _server: JoinSet<()>,
}

/// Who may call, by name. `local` is the caller on the socket.
pub(crate) fn principals(limited_to: &[WorkspaceId]) -> HashMap<&'static str, Arc<Principal>> {
    let remote = |id: &str, scopes: &[Scope], visibility: Visibility| {
        let principal = Principal {
            id: id.to_owned(),
            scopes: scopes.to_vec(),
            visibility,
            local: false,
        };
        Arc::new(principal)
    };
    let both = [Scope::Read, Scope::Write];
    let only = Visibility::Only(limited_to.to_vec());
    HashMap::from([
        ("local", Arc::new(Principal::local())),
        ("token", remote("token", &both, Visibility::All)),
        ("reader", remote("reader", &[Scope::Read], Visibility::All)),
        ("writer", remote("writer", &[Scope::Write], Visibility::All)),
        ("limited", remote("limited", &both, only)),
        ("ci", remote("ci", &both, Visibility::All)),
        (
            "administrator",
            remote(
                "administrator",
                &[Scope::Read, Scope::Write, Scope::Admin],
                Visibility::All,
            ),
        ),
        (
            "launcher",
            remote(
                "launcher",
                &[Scope::Read, Scope::Write, Scope::Launch],
                Visibility::All,
            ),
        ),
    ])
}

impl Daemon {
    /// Starts a daemon with a socket at this path.
    pub(crate) async fn start(parts: Parts, socket: &Path, limited_to: &[WorkspaceId]) -> Self {
        let seal = Arc::new(Seal::load(Arc::clone(&parts.store)).await.unwrap());
        let tasks = parts.tasks.clone();
        let registry = Registry::new(parts);
        let api = WorkspaceApi::new(Arc::clone(&registry), Arc::clone(&seal));
        let profiles = ProfileApi::new(Arc::clone(&registry), Arc::clone(&seal));
        let sessions = SessionApi::new(Arc::clone(&registry), Arc::clone(&seal));
        let principals = principals(limited_to);
        let (admitted, let_in) = (principals.clone(), principals.clone());
        let service =
            WorkspaceServiceServer::with_interceptor(api, move |request| admit(request, &principals));
        let profiles =
            ProfileServiceServer::with_interceptor(profiles, move |request| admit(request, &admitted));
        let sessions =
            SessionCatalogServiceServer::with_interceptor(sessions, move |request| admit(request, &let_in));
        let listener = UnixListener::bind(socket).unwrap();
        let mut server = JoinSet::new();
        server.spawn(async move {
            let incoming = UnixListenerStream::new(listener);
            Server::builder()
                .add_service(service)
                .add_service(profiles)
                .add_service(sessions)
                .serve_with_incoming(incoming)
                .await
                .unwrap();
        });
        Self {
            registry,
            seal,
            api: Api::new(connect(socket).await),
            tasks,
            _server: server,
        }
    }
}

/// What the layers of the real server do for the service.
fn admit(
    mut request: Request<()>,
    principals: &HashMap<&'static str, Arc<Principal>>,
) -> Result<Request<()>, Status> {
    let name = request
        .metadata()
        .get(PRINCIPAL)
        .and_then(|name| name.to_str().ok());
    let principal = name.and_then(|name| principals.get(name)).cloned();
    let principal = principal.ok_or_else(|| status(compozy_domain::CatalogError::TokenMissing))?;
    request.extensions_mut().insert(principal);
    let millis = request
        .metadata()
        .get(DEADLINE)
        .and_then(|millis| millis.to_str().ok()?.parse().ok());
    let deadline = millis.map(|millis| tokio::time::Instant::now() + Duration::from_millis(millis));
    request.extensions_mut().insert(Deadline(deadline));
    Ok(request)
}

async fn connect(socket: &Path) -> Channel {
    let socket = socket.to_owned();
    let connector = tower::service_fn(move |_| {
        let socket = socket.clone();
        async move { UnixStream::connect(socket).await.map(TokioIo::new) }
    });
    Endpoint::from_static("http://localhost")
        .connect_with_connector(connector)
        .await
        .unwrap()
}

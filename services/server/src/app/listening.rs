//! From addresses to running accept loops.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use http::Request;
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;
use tonic::body::Body;
use tonic::service::Routes;
use tower::Service;

use super::services::Services;
use crate::accept::{Acceptor, Answer, Handler, Listener, TlsSource, socket_path};
use crate::config::{Config, Limits};
use crate::failure::Failure;
use crate::home::Home;
use crate::layer;
use crate::tasks::Tasks;
use crate::telemetry::{self, TELEMETRY_PATHS};

/// Everything that listens, before anybody is answered.
#[derive(Debug)]
pub(super) struct Listeners {
    socket: Listener,
    socket_path: PathBuf,
    tcp: Vec<Listener>,
    telemetry: Vec<Listener>,
}

/// Where callers find the server.
#[derive(Debug, Default)]
pub(super) struct Listening {
    pub(super) socket: PathBuf,
    pub(super) addresses: Vec<SocketAddr>,
    pub(super) telemetry: Vec<SocketAddr>,
}

/// What answers them.
pub(super) struct Frame {
    /// All services, to be put behind the layers.
    pub(super) services: Services,
    /// Health alone, for the telemetry port.
    pub(super) health: Routes,
    pub(super) parts: layer::Parts,
    pub(super) tls: Option<Arc<TlsSource>>,
    pub(super) limits: Limits,
    pub(super) connections: Tasks,
    pub(super) close: CancellationToken,
}

impl Listeners {
    /// Binds TCP first: an address that is refused must leave nothing behind.
    pub(super) async fn bind(
        home: &Home,
        config: &Config,
        runtime_dir: Option<&Path>,
    ) -> Result<Self, Failure> {
        let socket_path = socket_path(home, config.socket.as_deref(), runtime_dir)?;
        let tcp = match &config.listen {
            Some(listen) => Listener::tcp(listen, config.tls.is_some()).await?,
            None => Vec::new(),
        };
        let telemetry = match &config.telemetry_listen {
            // Numbers and health are no secret; who may see them is the network's business.
            Some(listen) => Listener::tcp(listen, true).await?,
            None => Vec::new(),
        };
        let socket = Listener::socket(&socket_path)?;
        Ok(Self {
            socket,
            socket_path,
            tcp,
            telemetry,
        })
    }

    /// Starts an accept loop for each.
    pub(super) fn serve(self, frame: &Frame, tasks: &Tasks) -> Listening {
        let mut listening = Listening {
            socket: self.socket_path,
            addresses: Vec::new(),
            telemetry: Vec::new(),
        };
        let plain = frame.acceptor(frame.calls());
        let network = Acceptor {
            tls: frame.tls.clone(),
            ..plain.clone()
        };
        // Scrapers and probes are not balanced over replicas; an age would only make noise.
        let telemetry = Acceptor {
            handler: frame.numbers_and_health(),
            ages: false,
            ..plain.clone()
        };
        tasks.spawn(plain.serve(self.socket));
        for listener in self.tcp {
            listening.addresses.extend(address(&listener));
            tasks.spawn(network.clone().serve(listener));
        }
        for listener in self.telemetry {
            listening.telemetry.extend(address(&listener));
            tracing::info!(%listener, serves = TELEMETRY_PATHS, "telemetry");
            tasks.spawn(telemetry.clone().serve(listener));
        }
        listening
    }
}

impl Frame {
    fn acceptor(&self, handler: Handler) -> Acceptor {
        Acceptor {
            handler,
            limits: self.limits.clone(),
            ages: true,
            tls: None,
            metrics: Arc::clone(&self.parts.metrics),
            shutdown: self.parts.shutdown.clone(),
            connections: self.connections.clone(),
            handshakes: Arc::new(Semaphore::new(self.limits.handshakes)),
            random: Arc::clone(&self.parts.random),
            close: self.close.clone(),
        }
    }

    fn calls(&self) -> Handler {
        let stack = layer::around(self.services.clone(), &self.parts);
        Arc::new(move |request: Request<Body>| -> Answer {
            // The layers and the router are always ready.
            Box::pin(stack.clone().call(request))
        })
    }

    fn numbers_and_health(&self) -> Handler {
        let metrics = Arc::clone(&self.parts.metrics);
        let health = self.health.clone();
        Arc::new(move |request| {
            telemetry::answer(
                &metrics,
                |request| Box::pin(health.clone().call(request)),
                request,
            )
        })
    }
}

fn address(listener: &Listener) -> Option<SocketAddr> {
    match listener {
        Listener::Tcp { address, .. } => Some(*address),
        Listener::Socket { .. } => None,
    }
}

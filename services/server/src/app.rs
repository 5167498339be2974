//! The wiring: everything is made here, in order, and ended here, in the opposite order. First what faces callers,
//! so that health answers while the catalog is still being opened, then the catalog.

mod early;
mod ending;
mod front;
mod listening;
mod services;
mod starting;
mod waiting;

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use compozy_domain::{Clock, Random};
use tokio::task::JoinHandle;

use self::front::Front;
use crate::catalog::Close;
use crate::config::Config;
use crate::health::HealthBoard;
use crate::home::Home;
use crate::shutdown::Shutdown;

pub use self::starting::Starting;

/// What a server is made from. Whoever makes it holds the home's lock.
#[derive(Debug, Clone)]
pub struct Setup {
    /// The home, prepared.
    pub home: Home,
    /// The configuration.
    pub config: Arc<Config>,
    /// `$XDG_RUNTIME_DIR`, for a socket whose path would be too long in the home.
    pub runtime_dir: Option<PathBuf>,
    /// The time.
    pub clock: Arc<dyn Clock>,
    /// Randomness.
    pub random: Arc<dyn Random>,
}

/// A running server; [`Starting::open`] makes it.
pub struct App {
    front: Front,
    observer: JoinHandle<()>,
    close_catalog: Close,
}

impl App {
    /// The socket that it really listens on.
    #[must_use]
    pub fn socket(&self) -> &Path {
        &self.front.listening.socket
    }

    /// The TCP addresses that it listens on, with their real ports.
    #[must_use]
    pub fn addresses(&self) -> &[SocketAddr] {
        &self.front.listening.addresses
    }

    /// The addresses of `telemetry.listen`, with their real ports.
    #[must_use]
    pub fn telemetry_addresses(&self) -> &[SocketAddr] {
        &self.front.listening.telemetry
    }

    /// What ends it.
    #[must_use]
    pub fn shutdown(&self) -> Shutdown {
        self.front.shutdown.clone()
    }

    /// Its health.
    #[must_use]
    pub fn health(&self) -> &HealthBoard {
        &self.front.board
    }
}

impl std::fmt::Debug for App {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("App")
            .field("front", &self.front)
            .finish_non_exhaustive()
    }
}

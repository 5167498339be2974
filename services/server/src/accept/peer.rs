//! The other end of a connection.

use std::net::SocketAddr;
use std::sync::Arc;

/// Where a connection comes from; in the extensions of each of its requests.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Peer {
    /// The socket: the daemon's own user, or root.
    Socket {
        /// The caller's user.
        uid: u32,
        /// The caller's process, if the system tells it.
        pid: Option<i32>,
    },
    /// TCP.
    Network {
        /// The caller's address.
        address: SocketAddr,
        /// DNS and URI names of the client's certificate, checked against `grpc.tls.client_ca`.
        names: Arc<[String]>,
    },
}

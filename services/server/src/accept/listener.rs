//! Where the server listens: the socket of its own user, and TCP if it was asked to.

use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use tokio::net::{TcpListener, TcpStream, UnixListener, UnixStream};

use super::peer::Peer;
use super::socket;
use crate::config::Listen;
use crate::failure::{Failure, FailureKind};

/// A place to listen on.
#[derive(Debug)]
pub enum Listener {
    /// The socket.
    Socket {
        /// What listens.
        listener: UnixListener,
        /// Its file.
        path: PathBuf,
    },
    /// TCP.
    Tcp {
        /// What listens.
        listener: TcpListener,
        /// Its address, with the real port.
        address: SocketAddr,
    },
}

/// A connection that was just made.
#[derive(Debug)]
pub(super) enum Incoming {
    Socket(UnixStream, Peer),
    Tcp(TcpStream, SocketAddr),
}

impl Incoming {
    /// The user on the socket who is neither the daemon's own nor root.
    pub(super) fn stranger(&self) -> Option<u32> {
        let Self::Socket(_, Peer::Socket { uid, .. }) = self else {
            return None;
        };
        (*uid != rustix::process::geteuid().as_raw() && *uid != 0).then_some(*uid)
    }
}

impl Listener {
    /// Listens on the socket: 0600 before anybody can connect. A file that a killed daemon left is replaced.
    ///
    /// # Errors
    /// A failure that names the path, also when somebody listens there.
    pub fn socket(path: &Path) -> Result<Self, Failure> {
        socket::remove_stale(path)?;
        let listener = socket::bind(path).map_err(|error| Failure::io("listen on", path, &error))?;
        Ok(Self::Socket {
            listener,
            path: path.to_owned(),
        })
    }

    /// The addresses that this one stands for, if they may be listened on.
    ///
    /// # Errors
    /// A failure that names the key, also when the address reaches beyond this machine without TLS.
    pub async fn addresses(listen: &Listen, may_reach_out: bool) -> Result<Vec<SocketAddr>, Failure> {
        let addresses: Vec<SocketAddr> = tokio::net::lookup_host(&listen.address)
            .await
            .map_err(|error| unusable(listen, &error))?
            .collect();
        let is_local = |address: &SocketAddr| address.ip().to_canonical().is_loopback();
        if may_reach_out || addresses.iter().all(is_local) {
            return Ok(addresses);
        }
        let Listen { address, key } = listen;
        Err(Failure::config(format!(
            "{key} = \"{address}\" reaches beyond this machine: set grpc.tls.cert and grpc.tls.key, or listen on a \
             loopback address such as 127.0.0.1"
        )))
    }

    /// Listens on every address that this one stands for.
    ///
    /// # Errors
    /// A failure that names the key, also when the address reaches beyond this machine without TLS.
    pub async fn tcp(listen: &Listen, may_reach_out: bool) -> Result<Vec<Self>, Failure> {
        let failed = |error: &io::Error| unusable(listen, error);
        let addresses = Self::addresses(listen, may_reach_out).await?;
        let mut listeners = Vec::new();
        let mut last = io::Error::from(io::ErrorKind::AddrNotAvailable);
        for address in addresses {
            match bind_tcp(address).await {
                Ok(listener) => listeners.push(listener),
                // A name such as localhost may stand for a family that this machine does not have.
                Err(error) if error.kind() == io::ErrorKind::AddrNotAvailable => last = error,
                Err(error) => return Err(failed(&error)),
            }
        }
        if listeners.is_empty() {
            Err(failed(&last))
        } else {
            Ok(listeners)
        }
    }

    pub(super) async fn accept(&self) -> io::Result<Incoming> {
        match self {
            Self::Socket { listener, path: _ } => {
                let (stream, _) = listener.accept().await?;
                // Whoever can't be told is a stranger.
                let credentials = stream.peer_cred().ok();
                let uid = credentials.map_or(u32::MAX, |credentials| credentials.uid());
                let pid = credentials.and_then(|credentials| credentials.pid());
                Ok(Incoming::Socket(stream, Peer::Socket { uid, pid }))
            }
            Self::Tcp { listener, address: _ } => {
                let (stream, address) = listener.accept().await?;
                Ok(Incoming::Tcp(stream, address))
            }
        }
    }
}

/// The socket's file goes before the socket itself, so that nobody else's can be there already.
impl Drop for Listener {
    fn drop(&mut self) {
        if let Self::Socket { path, .. } = self {
            // A file that stays is replaced by the next start.
            let _ = std::fs::remove_file(path);
        }
    }
}

impl fmt::Display for Listener {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Socket { path, .. } => write!(formatter, "unix://{}", path.display()),
            Self::Tcp { address, .. } => write!(formatter, "{address}"),
        }
    }
}

fn unusable(listen: &Listen, error: &io::Error) -> Failure {
    let Listen { address, key } = listen;
    Failure::new(
        FailureKind::Io,
        format!("{key} = \"{address}\" can't be used ({error}): choose another address"),
    )
}

async fn bind_tcp(address: SocketAddr) -> io::Result<Listener> {
    let listener = TcpListener::bind(address).await?;
    let address = listener.local_addr()?;
    Ok(Listener::Tcp { listener, address })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[tokio::test]
    async fn a_socket_file_that_nobody_listens_on_is_replaced_and_others_are_not() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("s.sock");
        drop(std::os::unix::net::UnixListener::bind(&path).unwrap());
        assert!(path.exists());
        let first = Listener::socket(&path).unwrap();
        let refused = Listener::socket(&path).unwrap_err();
        assert_eq!(refused.kind(), FailureKind::Unavailable);
        drop(first);
        assert!(!path.exists());
        std::fs::write(&path, "mine").unwrap();
        assert!(
            Listener::socket(&path)
                .unwrap_err()
                .to_string()
                .contains("no socket")
        );
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "mine");
    }

    #[tokio::test]
    async fn only_the_daemons_own_user_and_root_are_no_strangers() {
        let stranger = |uid| {
            let (stream, _other) = UnixStream::pair().unwrap();
            Incoming::Socket(stream, Peer::Socket { uid, pid: None }).stranger()
        };
        let own = rustix::process::geteuid().as_raw();
        assert_eq!((stranger(own), stranger(0)), (None, None));
        assert_eq!(stranger(own + 1), Some(own + 1));
        assert_eq!(stranger(u32::MAX), Some(u32::MAX));
    }

    #[tokio::test]
    async fn beyond_this_machine_tls_is_needed() {
        let listen = |address: &str| Listen {
            address: address.to_owned(),
            key: "grpc.listen",
        };
        for address in ["0.0.0.0:0", "[::]:0"] {
            let refused = Listener::tcp(&listen(address), false).await.unwrap_err();
            assert!(refused.to_string().contains("grpc.listen"), "{refused}");
        }
        assert!(Listener::tcp(&listen("0.0.0.0:0"), true).await.is_ok());
        assert!(
            !Listener::tcp(&listen("localhost:0"), false)
                .await
                .unwrap()
                .is_empty()
        );
    }
}

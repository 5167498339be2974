//! A way to a database that a test can close and open again.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::io::copy_bidirectional;
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::task::JoinSet;

use crate::running::spawn;

/// A port that nobody listens on until it is opened.
pub struct Proxy {
    pub address: SocketAddr,
    target: String,
    open: Option<tokio::task::JoinHandle<()>>,
}

impl Proxy {
    /// A way to `host:port`, closed.
    pub fn to(target: &str) -> Self {
        let reserved = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        Self {
            address: reserved.local_addr().unwrap(),
            target: target.to_owned(),
            open: None,
        }
    }

    /// Lets connections through.
    pub fn open(&mut self) {
        // The port was used a moment ago.
        let socket = TcpSocket::new_v4().unwrap();
        socket.set_reuseaddr(true).unwrap();
        socket.bind(self.address).unwrap();
        let listener = socket.listen(64).unwrap();
        self.open = Some(spawn(forward(listener, self.target.clone())));
    }

    /// Cuts every connection, and takes no others.
    pub async fn close(&mut self) {
        if let Some(open) = self.open.take() {
            open.abort();
            let _ended = open.await;
        }
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        if let Some(open) = &self.open {
            open.abort();
        }
    }
}

async fn forward(listener: TcpListener, target: String) {
    let mut connections = JoinSet::new();
    while let Ok((mut near, _)) = listener.accept().await {
        let target = target.clone();
        connections.spawn(async move {
            if let Ok(mut far) = TcpStream::connect(target).await {
                // Either side may end it.
                let _ended = copy_bidirectional(&mut near, &mut far).await;
            }
        });
    }
}

/// A server that takes connections and never says anything.
pub struct Silent {
    pub address: SocketAddr,
    taken: Arc<AtomicUsize>,
    listening: tokio::task::JoinHandle<()>,
}

impl Silent {
    pub async fn listen() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let taken = Arc::new(AtomicUsize::new(0));
        let count = Arc::clone(&taken);
        let listening = spawn(async move {
            let mut held = Vec::new();
            while let Ok((stream, _)) = listener.accept().await {
                held.push(stream);
                count.fetch_add(1, Ordering::SeqCst);
            }
        });
        Self {
            address,
            taken,
            listening,
        }
    }

    /// How many connections it took.
    pub fn attempts(&self) -> usize {
        self.taken.load(Ordering::SeqCst)
    }
}

impl Drop for Silent {
    fn drop(&mut self) {
        self.listening.abort();
    }
}

//! A proxy before Postgres that cuts a connection at its next COMMIT.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use compozy_store::conformance::Postgres;
use sqlx::ConnectOptions as _;
use sqlx::postgres::PgSslMode;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

/// The statement as it goes over the wire: `BEGIN ... READ COMMITTED` ends otherwise.
const COMMIT: &[u8] = b"COMMIT\0";

/// What becomes of the next COMMIT and its connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Cut {
    /// The server never sees it.
    BeforeCommit,
    /// The server carries it out; its answer is lost.
    AfterCommit,
    /// The server carries it out; nothing comes back, and nobody hangs up.
    Silence,
}

/// A proxy that listens until it is dropped.
#[derive(Debug)]
pub(crate) struct Proxy {
    state: Arc<State>,
    url: String,
    _connections: JoinSet<()>,
}

#[derive(Debug, Default)]
struct State {
    next: Mutex<Option<(Cut, Then)>>,
    gone: CancellationToken,
}

/// What happens to everybody else.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Then {
    /// Nothing.
    GoOn,
    /// The server is gone for good.
    Gone,
}

impl Proxy {
    pub(crate) async fn before(engine: &Postgres) -> Self {
        let options = engine.options();
        let server = (options.get_host().to_owned(), options.get_port());
        let listener = TcpListener::bind("127.0.0.1:0")
            .await
            .expect("loopback has free ports");
        let address: SocketAddr = listener.local_addr().expect("it is bound");
        let url = options
            .host("127.0.0.1")
            .port(address.port())
            .ssl_mode(PgSslMode::Disable)
            .to_url_lossy()
            .to_string();
        let state = Arc::new(State::default());
        let mut connections = JoinSet::new();
        connections.spawn(listen(listener, server, Arc::clone(&state)));
        Self {
            state,
            url,
            _connections: connections,
        }
    }

    /// The database through the proxy.
    pub(crate) fn url(&self) -> &str {
        &self.url
    }

    /// Cuts the connection that sends the next COMMIT.
    pub(crate) fn cut(&self, cut: Cut, then: Then) {
        *self.state.next.lock().expect("nobody panics with it") = Some((cut, then));
    }

    /// Whether the cut was made.
    pub(crate) fn has_cut(&self) -> bool {
        self.state.next.lock().expect("nobody panics with it").is_none()
    }
}

async fn listen(listener: TcpListener, server: (String, u16), state: Arc<State>) {
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            () = state.gone.cancelled() => return,
            accepted = listener.accept() => {
                let Ok((client, _)) = accepted else { return };
                let Ok(server) = TcpStream::connect(&server).await else { continue };
                connections.spawn(forward(client, server, Arc::clone(&state)));
            }
        }
    }
}

/// Passes bytes on until one side ends, the server is gone, or the connection is cut.
async fn forward(mut client: TcpStream, mut server: TcpStream, state: Arc<State>) {
    let (mut asked, mut answered) = (vec![0_u8; 64 * 1_024], vec![0_u8; 64 * 1_024]);
    loop {
        let passed = tokio::select! {
            () = state.gone.cancelled() => return,
            read = client.read(&mut asked) => {
                let Ok(count @ 1..) = read else { return };
                let request = &asked[..count];
                let commits = request.windows(COMMIT.len()).any(|part| part == COMMIT);
                let cut = if commits { state.next.lock().expect("nobody panics with it").take() } else { None };
                if let Some((cut, then)) = cut {
                    return cut_off(cut, then, request, &mut server, &state).await;
                }
                server.write_all(request).await
            }
            read = server.read(&mut answered) => {
                let Ok(count @ 1..) = read else { return };
                client.write_all(&answered[..count]).await
            }
        };
        if passed.is_err() {
            return;
        }
    }
}

/// The connection ends when this returns, for both sides.
async fn cut_off(cut: Cut, then: Then, request: &[u8], server: &mut TcpStream, state: &State) {
    if cut != Cut::BeforeCommit {
        let mut answer = [0_u8; 64];
        let sent = server.write_all(request).await;
        let answered = server.read(&mut answer).await;
        assert!(
            sent.is_ok() && matches!(answered, Ok(1..)),
            "the server has committed"
        );
    }
    if then == Then::Gone {
        state.gone.cancel();
    }
    if cut == Cut::Silence {
        state.gone.cancelled().await;
    }
}

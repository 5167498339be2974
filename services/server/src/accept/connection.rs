//! One connection: handshake, requests, age, and an end that lets its streams finish.

use std::convert::Infallible;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::time::Duration;

use http::{Request, Response};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::conn::auto::{Builder, Connection};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::time::{sleep, timeout};
use tokio_util::sync::CancellationToken;
use tonic::body::Body;

use super::listener::Incoming;
use super::peer::Peer;
use super::progress::{Counted, Progress};
use super::turn::OneTurnLater;
use super::{Acceptor, Answer, Handler, OpenConnection};
use crate::tasks::Tasks;

/// Bytes of a stream that wait for a client whose window is open but whose connection is not.
const SEND_BYTES_MAX: usize = 64 * 1024;
/// Bytes of a request's headers at most.
const HEADER_BYTES_MAX: u32 = 64 * 1024;

/// Is cancelled when a connection is to end: watches on it say `going_away`. In the extensions of each request.
#[derive(Debug, Clone, Default)]
pub struct ConnectionEnd(pub CancellationToken);

impl Acceptor {
    /// Serves a connection until its end.
    pub(super) async fn run(self: Arc<Self>, incoming: Incoming, open: OpenConnection) {
        let _open = open;
        match incoming {
            Incoming::Socket(stream, peer) => self.serve_stream(stream, peer, None).await,
            Incoming::Tcp(stream, address) => {
                // Small frames must not wait for more; if the option fails they only wait.
                let _ = stream.set_nodelay(true);
                let age = self.ages.then(|| self.with_jitter(self.limits.connection_age));
                let Some(tls) = &self.tls else {
                    let peer = Peer::Network {
                        address,
                        names: Arc::default(),
                    };
                    return self.serve_stream(stream, peer, age).await;
                };
                let handshake = async {
                    // The limit's queue counts as part of the handshake.
                    let _turn = self.handshakes.acquire().await.ok()?;
                    tls.acceptor().accept(stream).await.ok()
                };
                let handshake = self.close.run_until_cancelled(handshake);
                let Ok(Some(Some(stream))) = timeout(self.limits.handshake_timeout, handshake).await else {
                    self.metrics.handshakes_failed.inc();
                    tracing::debug!(%address, "a TLS handshake failed or took too long");
                    return;
                };
                let names = super::tls::names_of(stream.get_ref().1);
                self.serve_stream(stream, Peer::Network { address, names }, age)
                    .await;
            }
        }
    }

    async fn serve_stream<I>(&self, stream: I, peer: Peer, age: Option<Duration>)
    where
        I: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        let (stream, progress) = Counted::new(stream);
        let end = ConnectionEnd::default();
        let entry = Entry {
            handler: Arc::clone(&self.handler),
            peer,
            end: end.clone(),
        };
        let builder = self.builder();
        let connection = pin!(builder.serve_connection(TokioIo::new(stream), entry));
        self.drive(connection, &progress, age, &end).await;
    }

    /// Lets a connection run, ends it when it is old or the server drains, and cuts it when that takes too long.
    async fn drive<I>(
        &self,
        connection: Pin<&mut Connection<'_, TokioIo<Counted<I>>, Entry, Tasks>>,
        progress: &Progress,
        age: Option<Duration>,
        end: &ConnectionEnd,
    ) where
        I: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        let mut connection = OneTurnLater::new(connection);
        let mut silence = pin!(sleep(self.limits.handshake_timeout));
        let mut old = pin!(wait(age));
        let parting = self.shutdown.parting();
        // Who connects while the server drains is told so, and then served no longer than the listener.
        let came_late = self.shutdown.has_begun();
        loop {
            tokio::select! {
                _ = &mut connection => return,
                () = &mut silence, if !silence.is_elapsed() => {
                    if !progress.has_begun() {
                        return;
                    }
                }
                () = &mut old => break,
                () = parting.cancelled(), if !came_late => break,
                () = self.close.cancelled() => break,
            }
        }
        connection.inner.as_mut().graceful_shutdown();
        end.0.cancel();
        let drains = self.shutdown.has_begun();
        let cutting = self.shutdown.cutting();
        tokio::select! {
            _ = &mut connection => {}
            // While the server drains, its own patience cuts what is left.
            () = cutting.cancelled() => {}
            () = sleep(self.limits.connection_age_grace), if !drains => {}
        }
    }

    fn builder(&self) -> Builder<Tasks> {
        let limits = &self.limits;
        let mut builder = Builder::new(self.connections.clone());
        builder
            .http2()
            .timer(TokioTimer::new())
            .max_concurrent_streams(limits.streams_per_connection)
            .max_send_buf_size(SEND_BYTES_MAX)
            .max_header_list_size(HEADER_BYTES_MAX)
            .keep_alive_interval(limits.keepalive_interval)
            .keep_alive_timeout(limits.keepalive_timeout);
        builder
            .http1()
            .timer(TokioTimer::new())
            .header_read_timeout(limits.handshake_timeout);
        builder
    }

    /// Connections that began together must not end together.
    fn with_jitter(&self, age: Duration) -> Duration {
        let mut bytes = [0_u8; 4];
        // Without randomness all get the same age.
        let _ = self.random.fill(&mut bytes);
        let part = f64::from(u32::from_be_bytes(bytes)) / f64::from(u32::MAX);
        age.mul_f64(0.9 + 0.2 * part)
    }
}

/// Waits this long; without a span for ever.
async fn wait(span: Option<Duration>) {
    match span {
        Some(span) => sleep(span).await,
        None => std::future::pending().await,
    }
}

/// Hands the requests of a connection to the handler.
#[derive(Clone)]
struct Entry {
    handler: Handler,
    peer: Peer,
    end: ConnectionEnd,
}

impl hyper::service::Service<Request<hyper::body::Incoming>> for Entry {
    type Response = Response<Body>;
    type Error = Infallible;
    type Future = Answer;

    fn call(&self, request: Request<hyper::body::Incoming>) -> Answer {
        let mut request = request.map(Body::new);
        request.extensions_mut().insert(self.peer.clone());
        request.extensions_mut().insert(self.end.clone());
        (self.handler)(request)
    }
}

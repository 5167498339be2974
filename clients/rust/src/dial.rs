//! How a server is reached: prepared once, so that a connection can be made at any time and nothing
//! but the network can fail then.

use std::path::PathBuf;
use std::time::Duration;

use http::Uri;
use hyper_util::rt::TokioIo;
use tokio::net::UnixStream;
use tonic::transport::{Channel, Endpoint as Target};

use crate::endpoint::Address;
use crate::stream_lines::{CONNECTION_WINDOW, STREAM_WINDOW};
use crate::{Endpoint, Error, Tls};

/// How long one attempt to connect may take; a call's own deadline may be shorter.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
/// Pings on a quiet connection, only while calls are open: proxies cut what pings more often.
const KEEPALIVE_INTERVAL: Duration = Duration::from_secs(60);
/// How long a ping may stay unanswered.
const KEEPALIVE_TIMEOUT: Duration = Duration::from_secs(20);

/// Everything that a connection to one server needs.
#[derive(Debug, Clone)]
pub(crate) struct Dial {
    target: Target,
    /// The Unix socket; `None` connects to the target's own address.
    socket: Option<PathBuf>,
}

impl Dial {
    pub(crate) fn new(endpoint: &Endpoint, tls: &Tls, agent: &str) -> Result<Self, Error> {
        match endpoint.address() {
            Address::Socket(path) => {
                refuse_certificates(endpoint, tls)?;
                Ok(Self {
                    // Servers in other languages refuse the socket's path as an authority.
                    target: prepared(Target::from_static("http://localhost"), agent)?,
                    socket: Some(path.clone()),
                })
            }
            Address::Network(uri) => {
                let secure = uri.scheme_str() == Some("https");
                if !secure {
                    refuse_certificates(endpoint, tls)?;
                }
                let mut target = prepared(Target::from(uri.clone()), agent)?;
                if secure {
                    let refused =
                        |error| Error::configuration(format!("the certificates cannot be used: {error:?}"));
                    target = target.tls_config(tls.config()?).map_err(refused)?;
                }
                Ok(Self { target, socket: None })
            }
        }
    }

    /// The same for connections that carry streams.
    pub(crate) fn for_streams(self) -> Self {
        let target = self
            .target
            .initial_stream_window_size(STREAM_WINDOW)
            .initial_connection_window_size(CONNECTION_WINDOW);
        Self { target, ..self }
    }

    /// A channel that connects when it is first used. Has to be called inside a tokio runtime.
    pub(crate) fn connect(&self) -> Channel {
        let Some(path) = self.socket.clone() else {
            return self.target.connect_lazy();
        };
        self.target
            .connect_with_connector_lazy(tower::service_fn(move |_: Uri| {
                let path = path.clone();
                async move { Ok::<_, std::io::Error>(TokioIo::new(UnixStream::connect(path).await?)) }
            }))
    }
}

/// Whoever gives certificates expects TLS; going without would be a surprise.
fn refuse_certificates(endpoint: &Endpoint, tls: &Tls) -> Result<(), Error> {
    if tls.is_empty() {
        return Ok(());
    }
    Err(Error::configuration(format!(
        "certificates were given for {endpoint}, which is not https"
    )))
}

fn prepared(target: Target, agent: &str) -> Result<Target, Error> {
    let target = target
        .connect_timeout(CONNECT_TIMEOUT)
        .http2_keep_alive_interval(KEEPALIVE_INTERVAL)
        .keep_alive_timeout(KEEPALIVE_TIMEOUT)
        .keep_alive_while_idle(false);
    target
        .user_agent(agent)
        .map_err(|_| Error::configuration(format!("\"{agent}\" cannot be sent as a program's name")))
}

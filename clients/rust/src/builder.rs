//! Making a client: every choice has a default that suits a program on the daemon's own machine.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use http::{HeaderValue, Uri};
use hyper_util::rt::TokioIo;
use tokio::net::UnixStream;
use tonic::transport::{Channel, Endpoint as Target};

use crate::endpoint::Address;
use crate::token::TokenChoice;
use crate::wire::Wire;
use crate::{DEFAULT_DEADLINE, Endpoint, Error, Home, Tls};

/// How long one attempt to connect may take; a call's own deadline may be shorter.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
/// Pings on a quiet connection, only while calls are open: proxies cut what pings more often.
const KEEPALIVE_INTERVAL: Duration = Duration::from_secs(60);
/// How long a ping may stay unanswered.
const KEEPALIVE_TIMEOUT: Duration = Duration::from_secs(20);

/// A connection to one server. Cheap to clone; clones share the connection, which is opened by the
/// first call and opened again when it was lost.
#[derive(Debug, Clone)]
pub struct Client {
    pub(crate) wire: Wire,
    pub(crate) deadline: Duration,
    pub(crate) endpoint: Arc<str>,
}

/// The choices of a client that is being made.
#[derive(Debug, Clone)]
pub struct Builder {
    endpoint: Option<Endpoint>,
    home: Option<Home>,
    token: TokenChoice,
    tls: Tls,
    name: String,
    version: String,
    deadline: Duration,
}

impl Client {
    /// Starts with the defaults.
    pub fn builder() -> Builder {
        Builder {
            endpoint: None,
            home: None,
            token: TokenChoice::Find,
            tls: Tls::default(),
            name: env!("CARGO_PKG_NAME").to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            deadline: DEFAULT_DEADLINE,
        }
    }

    /// The same connection with another deadline for each of its calls, retries included.
    #[must_use]
    pub fn with_deadline(&self, deadline: Duration) -> Self {
        Self {
            deadline,
            ..self.clone()
        }
    }

    /// The server's address.
    pub fn endpoint(&self) -> &str {
        &self.endpoint
    }
}

impl Builder {
    /// The server. Default: `COMPOZY_SERVER`, else the socket of the home.
    #[must_use]
    pub fn endpoint(mut self, endpoint: Endpoint) -> Self {
        self.endpoint = Some(endpoint);
        self
    }

    /// The home. Default: [`Home::locate`].
    #[must_use]
    pub fn home(mut self, home: Home) -> Self {
        self.home = Some(home);
        self
    }

    /// The bearer token. Default: `COMPOZY_TOKEN`, else the home's `client.token`, which goes only
    /// to servers behind TLS or on this machine.
    #[must_use]
    pub fn token(mut self, token: impl Into<String>) -> Self {
        self.token = TokenChoice::Given(token.into());
        self
    }

    /// The file that holds the bearer token, instead of the token itself.
    #[must_use]
    pub fn token_file(mut self, path: impl Into<PathBuf>) -> Self {
        self.token = TokenChoice::File(path.into());
        self
    }

    /// Certificates for an `https` server.
    #[must_use]
    pub fn tls(mut self, tls: Tls) -> Self {
        self.tls = tls;
        self
    }

    /// Name and version of the calling program, for the server's log. Default: this library's.
    #[must_use]
    pub fn program(mut self, name: impl Into<String>, version: impl Into<String>) -> Self {
        self.name = name.into();
        self.version = version.into();
        self
    }

    /// How long a call may take, its retries included. Default: [`DEFAULT_DEADLINE`].
    #[must_use]
    pub fn deadline(mut self, deadline: Duration) -> Self {
        self.deadline = deadline;
        self
    }

    /// Makes the client. Nothing is connected yet: the first call does it. Has to be called inside
    /// a tokio runtime.
    ///
    /// # Errors
    ///
    /// Of kind `Configuration` when an address, a token or a certificate can't be used, and of kind
    /// `Transport` when no endpoint was given and none was found.
    pub fn build(self) -> Result<Client, Error> {
        let home = match self.home {
            Some(home) => Some(home),
            // A server that was named needs no home; only its token might lie there.
            None => Home::locate()
                .map(Some)
                .or_else(|error| self.endpoint.as_ref().map(|_| None).ok_or(error))?,
        };
        let endpoint = match (self.endpoint, &home) {
            (Some(endpoint), _) => endpoint,
            (None, Some(home)) => Endpoint::discover(home)?,
            (None, None) => {
                return Err(Error::configuration(
                    "there is neither a server nor a home".to_owned(),
                ));
            }
        };
        let agent = format!("{}/{}", self.name, self.version);
        let wire = Wire {
            channel: channel(&endpoint, &self.tls, &agent)?,
            client_name: header("name", &self.name)?,
            client_version: header("version", &self.version)?,
            authorization: self.token.header(&endpoint, home.as_ref())?,
        };
        Ok(Client {
            wire,
            deadline: self.deadline,
            endpoint: endpoint.to_string().into(),
        })
    }
}

fn channel(endpoint: &Endpoint, tls: &Tls, agent: &str) -> Result<Channel, Error> {
    match endpoint.address() {
        Address::Socket(path) => {
            refuse_certificates(endpoint, tls)?;
            // Servers in other languages refuse the socket's path as an authority.
            let target = prepared(Target::from_static("http://localhost"), agent)?;
            let path = path.clone();
            Ok(
                target.connect_with_connector_lazy(tower::service_fn(move |_: Uri| {
                    let path = path.clone();
                    async move { Ok::<_, std::io::Error>(TokioIo::new(UnixStream::connect(path).await?)) }
                })),
            )
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
            Ok(target.connect_lazy())
        }
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

fn header(what: &str, text: &str) -> Result<HeaderValue, Error> {
    HeaderValue::from_str(text)
        .map_err(|_| Error::configuration(format!("\"{text}\" cannot be sent as a program's {what}")))
}

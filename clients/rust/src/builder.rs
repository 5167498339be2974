//! Making a client: every choice has a default that suits a program on the daemon's own machine.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use http::HeaderValue;

use crate::dial::Dial;
use crate::stream_lines::StreamLines;
use crate::token::TokenChoice;
use crate::wire::Wire;
use crate::{DEFAULT_DEADLINE, Endpoint, Error, Home, Tls};

/// A connection to one server. Cheap to clone; clones share the connection, which is opened by the
/// first call and opened again when it was lost. Watches have connections of their own.
#[derive(Debug, Clone)]
pub struct Client {
    pub(crate) wire: Wire,
    pub(crate) stream_lines: Arc<StreamLines>,
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

    /// The file that holds the bearer token, instead of the token itself. Read once, when the client is built.
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

    /// How long a call may take, its retries included. Default: [`DEFAULT_DEADLINE`]. Watches have none.
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
        let dial = Dial::new(&endpoint, &self.tls, &agent)?;
        let wire = Wire {
            channel: dial.connect(),
            client_name: header("name", &self.name)?,
            client_version: header("version", &self.version)?,
            authorization: self.token.header(&endpoint, home.as_ref())?,
        };
        Ok(Client {
            wire,
            stream_lines: Arc::new(StreamLines::new(dial.for_streams())),
            deadline: self.deadline,
            endpoint: endpoint.to_string().into(),
        })
    }
}

fn header(what: &str, text: &str) -> Result<HeaderValue, Error> {
    HeaderValue::from_str(text)
        .map_err(|_| Error::configuration(format!("\"{text}\" cannot be sent as a program's {what}")))
}

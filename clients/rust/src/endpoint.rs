//! Where the server is: parsing what people write, and finding it when they write nothing.

use std::fmt;
use std::path::{Path, PathBuf};

use http::Uri;

use crate::{Error, Home};

/// The variable that names the server; a blank one counts as unset.
pub const SERVER_VARIABLE: &str = "COMPOZY_SERVER";

/// A server's address: `unix:///path`, `http://host:port` or `https://host:port`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Endpoint {
    address: Address,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Address {
    /// Absolute path of a Unix socket.
    Socket(PathBuf),
    /// `http` or `https` with an authority and nothing behind it.
    Network(Uri),
}

impl Endpoint {
    /// Reads an address.
    ///
    /// # Errors
    ///
    /// A configuration error that names what is allowed.
    pub fn parse(text: &str) -> Result<Self, Error> {
        let text = text.trim();
        let refused = || {
            Error::configuration(format!(
                "\"{text}\" is no server address: use unix:///path, http://host:port or https://host:port"
            ))
        };
        if let Some(path) = text.strip_prefix("unix://") {
            return if path.starts_with('/') {
                Ok(Self::socket(path))
            } else {
                Err(refused())
            };
        }
        let uri: Uri = text.parse().map_err(|_| refused())?;
        let known_scheme = matches!(uri.scheme_str(), Some("http" | "https"));
        let has_host = uri.host().is_some_and(|host| !host.is_empty());
        let bare = matches!(uri.path(), "" | "/") && uri.query().is_none();
        let has_user = uri
            .authority()
            .is_some_and(|authority| authority.as_str().contains('@'));
        if !known_scheme || !has_host || !bare || has_user {
            return Err(refused());
        }
        Ok(Self {
            address: Address::Network(uri),
        })
    }

    /// The Unix socket at an absolute path.
    pub fn socket(path: impl Into<PathBuf>) -> Self {
        Self {
            address: Address::Socket(path.into()),
        }
    }

    /// The socket of a home, whether or not a daemon listens there.
    pub fn of_home(home: &Home) -> Self {
        Self::socket(home.socket_path())
    }

    /// The address in `COMPOZY_SERVER`, if it is set and not blank.
    ///
    /// # Errors
    ///
    /// A configuration error when it is set to something else than an address.
    pub fn from_environment() -> Result<Option<Self>, Error> {
        match std::env::var(SERVER_VARIABLE) {
            Ok(text) if text.trim().is_empty() => Ok(None),
            Ok(text) => Self::parse(&text).map(Some),
            Err(std::env::VarError::NotPresent) => Ok(None),
            Err(std::env::VarError::NotUnicode(_)) => {
                Err(Error::configuration(format!("{SERVER_VARIABLE} is not text")))
            }
        }
    }

    /// Finds the server: `COMPOZY_SERVER`, else the socket of the home.
    ///
    /// # Errors
    ///
    /// An error of kind `Transport` that names what was tried when no socket is there.
    pub fn discover(home: &Home) -> Result<Self, Error> {
        if let Some(named) = Self::from_environment()? {
            return Ok(named);
        }
        let socket = home.socket_path();
        if socket.exists() {
            return Ok(Self::socket(socket));
        }
        Err(Error::no_daemon(format!(
            "no daemon was found: {SERVER_VARIABLE} is not set, {} names no socket that is there, and {} is not there",
            home.daemon_file_path().display(),
            socket.display(),
        )))
    }

    /// The path of the socket, if it is one.
    pub fn socket_path(&self) -> Option<&Path> {
        match &self.address {
            Address::Socket(path) => Some(path),
            Address::Network(_) => None,
        }
    }

    /// Whether nobody else can read what goes to this endpoint: a socket, TLS, or this very machine.
    pub(crate) fn keeps_secrets(&self) -> bool {
        let Address::Network(uri) = &self.address else {
            return true;
        };
        let host = uri
            .host()
            .unwrap_or_default()
            .trim_start_matches('[')
            .trim_end_matches(']');
        uri.scheme_str() == Some("https")
            || host == "localhost"
            || host
                .parse::<std::net::IpAddr>()
                .is_ok_and(|address| address.is_loopback())
    }

    pub(crate) fn address(&self) -> &Address {
        &self.address
    }
}

impl fmt::Display for Endpoint {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.address {
            Address::Socket(path) => write!(formatter, "unix://{}", path.display()),
            Address::Network(uri) => formatter.write_str(uri.to_string().trim_end_matches('/')),
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn the_three_forms_are_read() {
        for text in [
            "unix:///run/compozy.sock",
            "http://127.0.0.1:2123",
            "https://catalog.example:443",
        ] {
            assert_eq!(Endpoint::parse(text).unwrap().to_string(), text);
        }
        assert_eq!(
            Endpoint::parse("http://[::1]:2123/").unwrap().to_string(),
            "http://[::1]:2123"
        );
    }

    #[test]
    fn anything_else_is_refused_and_names_the_forms() {
        for text in [
            "",
            "unix://relative",
            "ftp://h",
            "localhost:2123",
            "http://",
            "http://h/path",
            "http://u:p@h",
        ] {
            let error = Endpoint::parse(text).unwrap_err();
            assert!(error.message().contains("unix:///path"), "{text}: {error}");
        }
    }

    #[test]
    fn plain_http_beyond_this_machine_keeps_no_secret() {
        let keeps = |text: &str| Endpoint::parse(text).unwrap().keeps_secrets();
        assert!(keeps("unix:///s") && keeps("https://far.example") && keeps("http://localhost:1"));
        assert!(keeps("http://127.0.0.1:1") && keeps("http://[::1]:1"));
        assert!(!keeps("http://far.example:1") && !keeps("http://10.0.0.1:1"));
    }

    #[test]
    fn finding_nothing_names_what_was_tried() {
        let directory = tempfile::tempdir().unwrap();
        let error = Endpoint::discover(&Home::at(directory.path())).unwrap_err();
        for tried in ["COMPOZY_SERVER", "daemon.json", "daemon.sock"] {
            assert!(error.message().contains(tried), "{error}");
        }
    }
}

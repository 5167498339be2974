//! The bearer token: where it comes from, and that nobody prints it.

use std::env::VarError;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use http::HeaderValue;

use crate::home::read_small;
use crate::{Endpoint, Error, Home};

/// The variable that holds a bearer token; a blank one counts as unset.
pub const TOKEN_VARIABLE: &str = "COMPOZY_TOKEN";

/// What the caller said about the token.
#[derive(Clone, Default)]
pub(crate) enum TokenChoice {
    /// Nothing: look into the environment, then into the home.
    #[default]
    Find,
    /// This very token.
    Given(String),
    /// The token in this file.
    File(PathBuf),
}

impl fmt::Debug for TokenChoice {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Find => "Find",
            Self::Given(_) => "Given(..)",
            Self::File(_) => "File(..)",
        })
    }
}

impl TokenChoice {
    /// The `authorization` header to send to `endpoint`; `None` sends none.
    pub(crate) fn header(
        &self,
        endpoint: &Endpoint,
        home: Option<&Home>,
    ) -> Result<Option<HeaderValue>, Error> {
        let token = match self {
            Self::Given(token) => Some(token.clone()),
            Self::File(path) => Some(read(path).map_err(|error| unreadable(path, &error))?),
            Self::Find => match std::env::var(TOKEN_VARIABLE) {
                Ok(token) if !token.trim().is_empty() => Some(token),
                Ok(_) | Err(VarError::NotPresent) => home_token(endpoint, home)?,
                Err(VarError::NotUnicode(_)) => {
                    return Err(Error::configuration(format!("{TOKEN_VARIABLE} is not text")));
                }
            },
        };
        token.map(|token| bearer(token.trim())).transpose()
    }
}

/// The home's own token. A socket's caller needs none, and it is never sent in clear to another
/// machine: whoever names a server there has to give a token on purpose.
fn home_token(endpoint: &Endpoint, home: Option<&Home>) -> Result<Option<String>, Error> {
    let Some(home) = home else { return Ok(None) };
    if endpoint.socket_path().is_some() || !endpoint.keeps_secrets() {
        return Ok(None);
    }
    let path = home.token_path();
    match read(&path) {
        Ok(token) => Ok(Some(token)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(unreadable(&path, &error)),
    }
}

fn read(path: &Path) -> io::Result<String> {
    let token = read_small(path)?;
    if token.trim().is_empty() {
        return Err(io::Error::new(io::ErrorKind::InvalidData, "is empty"));
    }
    Ok(token)
}

fn unreadable(path: &Path, error: &io::Error) -> Error {
    Error::configuration(format!(
        "the token file {} cannot be used: {error}",
        path.display()
    ))
}

fn bearer(token: &str) -> Result<HeaderValue, Error> {
    let mut value = HeaderValue::from_str(&format!("Bearer {token}"))
        .map_err(|_| Error::configuration("the token holds characters that no token has".to_owned()))?;
    value.set_sensitive(true);
    Ok(value)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn the_home_token_goes_only_where_it_is_safe() {
        let directory = tempfile::tempdir().unwrap();
        let home = Home::at(directory.path());
        std::fs::write(home.token_path(), "secret\n").unwrap();
        let sent = |text: &str| {
            let endpoint = Endpoint::parse(text).unwrap();
            TokenChoice::Find.header(&endpoint, Some(&home)).unwrap()
        };
        assert_eq!(sent("http://127.0.0.1:1").unwrap(), "Bearer secret");
        assert_eq!(sent("https://far.example").unwrap(), "Bearer secret");
        assert_eq!(sent("http://far.example"), None);
        assert_eq!(sent("unix:///s"), None);
    }

    #[test]
    fn a_token_is_never_shown() {
        let header = TokenChoice::Given("secret".to_owned())
            .header(&Endpoint::socket("/s"), None)
            .unwrap();
        assert!(!format!("{header:?} {:?}", TokenChoice::Given("secret".to_owned())).contains("secret"));
    }

    #[test]
    fn a_file_that_is_missing_or_empty_is_a_configuration_error() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("token");
        let choice = TokenChoice::File(path.clone());
        assert!(choice.header(&Endpoint::socket("/s"), None).is_err());
        std::fs::write(&path, " \n").unwrap();
        let error = choice.header(&Endpoint::socket("/s"), None).unwrap_err();
        assert!(error.message().contains("empty"), "{error}");
    }
}

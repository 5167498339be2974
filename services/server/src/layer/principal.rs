//! Who calls: the socket's caller is the daemon's own user, everybody else shows a token or a certificate.

use std::convert::Infallible;
use std::sync::Arc;
use std::task::{Context, Poll};

use compozy_domain::{CatalogError, Principal};
use futures::future::Either;
use http::header::AUTHORIZATION;
use http::{HeaderMap, Request, Response};
use std::future::{Ready, ready};
use tonic::body::Body;
use tower::Service;

use super::call::Call;
use super::{Calls, refuse};
use crate::accept::Peer;
use crate::token::{TokenHash, Tokens, hash};

/// How a caller showed who it is, to look again later: a long stream outlives what its caller may do. In the
/// extensions of every stream.
#[derive(Debug, Clone)]
pub struct Standing {
    shown: Shown,
    tokens: Arc<Tokens>,
    local: Arc<Principal>,
}

#[derive(Debug, Clone)]
enum Shown {
    Socket,
    Token(TokenHash),
    Certificate(Arc<[String]>),
}

impl Standing {
    /// Who the caller is now.
    ///
    /// # Errors
    /// [`CatalogError::TokenInvalid`] or [`CatalogError::TokenMissing`], where the door is closed by now.
    pub fn look_again(&self) -> Result<Arc<Principal>, CatalogError> {
        match &self.shown {
            Shown::Socket => Ok(Arc::clone(&self.local)),
            Shown::Token(hash) => self.tokens.by_hash(hash).map(Arc::new),
            Shown::Certificate(names) => self
                .tokens
                .by_certificate(names)
                .map(Arc::new)
                .ok_or(CatalogError::TokenMissing),
        }
    }
}

#[derive(Debug, Clone)]
pub(super) struct Authenticate<S> {
    inner: S,
    tokens: Arc<Tokens>,
    local: Arc<Principal>,
}

impl<S> Authenticate<S> {
    pub(super) fn new(inner: S, tokens: Arc<Tokens>) -> Self {
        Self {
            inner,
            tokens,
            local: Arc::new(Principal::local()),
        }
    }

    fn standing(&self, request: &Request<Body>) -> Result<Standing, CatalogError> {
        let shown = match (request.extensions().get::<Peer>(), bearer(request.headers())) {
            (Some(Peer::Socket { .. }), _) => Shown::Socket,
            (_, Err(error)) => return Err(error),
            (_, Ok(Some(token))) => Shown::Token(hash(token)),
            (Some(Peer::Network { names, .. }), Ok(None)) => Shown::Certificate(Arc::clone(names)),
            (None, Ok(None)) => return Err(CatalogError::TokenMissing),
        };
        Ok(Standing {
            shown,
            tokens: Arc::clone(&self.tokens),
            local: Arc::clone(&self.local),
        })
    }
}

impl<S: Calls> Service<Request<Body>> for Authenticate<S> {
    type Response = Response<Body>;
    type Error = Infallible;
    type Future = Either<S::Future, Ready<Result<Response<Body>, Infallible>>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        self.inner.poll_ready(context)
    }

    fn call(&mut self, mut request: Request<Body>) -> Self::Future {
        let call = Call::of(request.extensions());
        if call.method.open {
            return Either::Left(self.inner.call(request));
        }
        let known = self
            .standing(&request)
            .and_then(|standing| standing.look_again().map(|principal| (standing, principal)));
        match known {
            Ok((standing, principal)) => {
                if call.method.streaming {
                    request.extensions_mut().insert(standing);
                }
                // Set once per call, by this layer.
                let _ = call.principal.set(principal.id.clone());
                request.headers_mut().remove(AUTHORIZATION);
                request.extensions_mut().insert(principal);
                Either::Left(self.inner.call(request))
            }
            Err(error) => Either::Right(ready(Ok(refuse(error)))),
        }
    }
}

/// The caller of a request that came through the layers: what a service method asks first.
///
/// # Errors
/// A defect, when the request did not come through the layers.
pub fn principal<T>(request: &tonic::Request<T>) -> Result<Arc<Principal>, CatalogError> {
    let found = request.extensions().get::<Arc<Principal>>().map(Arc::clone);
    found.ok_or_else(|| CatalogError::Defect {
        detail: "a call came without its caller".to_owned(),
    })
}

/// The token that a call shows; `None` if it shows none.
fn bearer(headers: &HeaderMap) -> Result<Option<&str>, CatalogError> {
    let Some(header) = headers.get(AUTHORIZATION) else {
        return Ok(None);
    };
    let text = header.to_str().map_err(|_| CatalogError::TokenInvalid)?;
    let (scheme, token) = text.split_once(' ').ok_or(CatalogError::TokenInvalid)?;
    if !scheme.eq_ignore_ascii_case("bearer") {
        return Err(CatalogError::TokenInvalid);
    }
    Ok(Some(token.trim()))
}

//! The services of the contract. A method reads: who may, convert in, ask, convert out.

pub mod admin;
mod calls;
pub mod change;
pub mod profile;
pub mod session;
pub mod workspace;

use std::time::{Duration, Instant};

use compozy_domain::{CatalogError, Scope};
use tonic::Request;

use crate::layer::{Deadline, principal};
use crate::registry::Caller;

/// For a call without a deadline of its own.
const PATIENCE: Duration = Duration::from_secs(30);

/// The caller of a request, who has to have a scope.
fn caller<T>(request: &Request<T>, scope: Scope) -> Result<Caller, CatalogError> {
    let principal = principal(request)?;
    principal.require(scope)?;
    let deadline = request
        .extensions()
        .get::<Deadline>()
        .and_then(|deadline| deadline.0);
    let deadline = deadline.map_or_else(|| Instant::now() + PATIENCE, tokio::time::Instant::into_std);
    Ok(Caller { principal, deadline })
}

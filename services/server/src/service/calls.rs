//! How every method of a service over the registry goes: who may, convert in, ask, convert out; a repeated write gets
//! its first answer.

use std::future::Future;
use std::sync::Arc;

use compozy_domain::{CatalogError, Scope};
use tonic::{Request, Response, Status};

use super::caller;
use crate::convert::request_id::{Mutating, request_id};
use crate::registry::{Caller, Registry, Repeat, Reply, WriteCall};
use crate::seal::Seal;
use crate::status::status;

/// What the services over the registry share.
#[derive(Debug, Clone)]
pub(super) struct Calls {
    pub(super) registry: Arc<Registry>,
    pub(super) seal: Arc<Seal>,
}

impl Calls {
    /// A read: authorise, read the request, ask, answer.
    pub(super) async fn read<'a, Q, W, O, F, R>(
        &'a self,
        request: Request<Q>,
        wanted: fn(Q) -> Result<W, CatalogError>,
        ask: impl FnOnce(&'a Registry, Caller, W) -> F,
        answer: impl FnOnce(O) -> R,
    ) -> Result<Response<R>, Status>
    where
        F: Future<Output = Result<O, CatalogError>>,
    {
        let caller = caller(&request, Scope::Read).map_err(status)?;
        let wanted = wanted(request.into_inner()).map_err(status)?;
        let outcome = ask(&self.registry, caller, wanted).await.map_err(status)?;
        Ok(Response::new(answer(outcome)))
    }

    /// A write: as a read, and a repetition gets the first answer.
    pub(super) async fn write<Q, W, O, F, R>(
        &self,
        request: Request<Q>,
        wanted: fn(Q) -> Result<W, CatalogError>,
        ask: impl FnOnce(Arc<Registry>, WriteCall<O>, W) -> F,
        answer: fn(&Seal, &O) -> R,
    ) -> Result<Response<R>, Status>
    where
        Q: Mutating,
        O: Send + 'static,
        R: prost::Message + Default + 'static,
        F: Future<Output = Result<Reply<O>, CatalogError>>,
    {
        let caller = caller(&request, Scope::Write).map_err(status)?;
        let message = request.into_inner();
        let repeat = self.repeat(&message, answer).map_err(status)?;
        let wanted = wanted(message).map_err(status)?;
        let call = WriteCall { caller, repeat };
        match ask(Arc::clone(&self.registry), call, wanted)
            .await
            .map_err(status)?
        {
            Reply::Fresh(outcome) => Ok(Response::new(answer(&self.seal, &outcome))),
            Reply::Remembered(bytes) => remembered(&bytes).map(Response::new).map_err(status),
        }
    }

    fn repeat<Q, O, R>(
        &self,
        message: &Q,
        answer: fn(&Seal, &O) -> R,
    ) -> Result<Option<Repeat<O>>, CatalogError>
    where
        Q: Mutating,
        O: 'static,
        R: prost::Message + 'static,
    {
        let Some((request_id, hash)) = request_id(message)? else {
            return Ok(None);
        };
        let seal = Arc::clone(&self.seal);
        let encode = Arc::new(move |outcome: &O| answer(&seal, outcome).encode_to_vec());
        Ok(Some(Repeat {
            method: Q::METHOD,
            request_id,
            hash,
            encode,
        }))
    }
}

fn remembered<R: prost::Message + Default>(bytes: &[u8]) -> Result<R, CatalogError> {
    R::decode(bytes).map_err(|error| CatalogError::Defect {
        detail: format!("a remembered answer does not parse: {error}"),
    })
}

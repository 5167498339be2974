//! Methods that only look.

use compozy_domain::Scope;
use compozy_proto::session::v1 as pb;
use tonic::{Request, Response, Status};

use super::super::caller;
use super::SessionApi;
use crate::convert::session::{inspect, list};
use crate::status::status;

impl SessionApi {
    pub(super) async fn list(
        &self,
        request: Request<pb::ListSessionsRequest>,
    ) -> Result<Response<pb::ListSessionsResponse>, Status> {
        let caller = caller(&request, Scope::Read).map_err(status)?;
        let (registry, seal) = (&self.calls.registry, &self.calls.seal);
        let visibility = &caller.principal.visibility;
        let (wanted, asked) = list::query(seal, visibility, request.into_inner())
            .await
            .map_err(status)?;
        let listed = registry.list_sessions(&caller, wanted).await.map_err(status)?;
        Ok(Response::new(list::answer(seal, visibility, asked, listed)))
    }

    pub(super) async fn count(
        &self,
        request: Request<pb::CountSessionsRequest>,
    ) -> Result<Response<pb::CountSessionsResponse>, Status> {
        self.calls
            .read(
                request,
                list::count_wanted,
                |registry, caller, wanted| async move { registry.count_sessions(&caller, wanted).await },
                |totals| list::counted(&self.calls.seal, totals),
            )
            .await
    }

    pub(super) async fn inspect(
        &self,
        request: Request<pb::InspectSessionRequest>,
    ) -> Result<Response<pb::InspectSessionResponse>, Status> {
        self.calls
            .read(
                request,
                inspect::wanted,
                |registry, caller, id| async move { registry.inspect_session(&caller, &id).await },
                |inspected| inspect::inspected(&self.calls.seal, &inspected),
            )
            .await
    }

    pub(super) async fn get_health(
        &self,
        request: Request<pb::GetSessionHealthRequest>,
    ) -> Result<Response<pb::GetSessionHealthResponse>, Status> {
        let stale_after = self.calls.registry.stale_after();
        self.calls
            .read(
                request,
                inspect::health_wanted,
                |registry, caller, id| async move { registry.get_session(&caller, &id).await },
                |(session, _)| inspect::health_seen(&session, stale_after),
            )
            .await
    }
}

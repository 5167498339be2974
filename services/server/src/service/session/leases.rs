//! Methods of runtimes and of operators who enter a session.

use std::sync::Arc;

use compozy_domain::Scope;
use compozy_proto::session::v1 as pb;
use tonic::{Request, Response, Status};

use super::SessionApi;
use crate::convert::session::{launch, lease, report};
use crate::registry::Registry;
use crate::service::caller;
use crate::status::status;

impl SessionApi {
    pub(super) async fn resume(
        &self,
        request: Request<pb::ResumeSessionRequest>,
    ) -> Result<Response<pb::ResumeSessionResponse>, Status> {
        self.calls
            .write(request, lease::resume, Registry::resume_session, lease::resumed)
            .await
    }

    pub(super) async fn bind(
        &self,
        request: Request<pb::BindRuntimeRequest>,
    ) -> Result<Response<pb::BindRuntimeResponse>, Status> {
        self.calls
            .write(request, lease::bind, Registry::bind_runtime, lease::bound)
            .await
    }

    pub(super) async fn beat(
        &self,
        request: Request<pb::HeartbeatRequest>,
    ) -> Result<Response<pb::HeartbeatResponse>, Status> {
        let caller = caller(&request, Scope::Write).map_err(status)?;
        let beat = report::heartbeat(request.into_inner()).map_err(status)?;
        let registry = Arc::clone(&self.calls.registry);
        let renewed = registry.heartbeat(caller, beat).await.map_err(status)?;
        Ok(Response::new(report::renewed(&renewed)))
    }

    pub(super) async fn beat_many(
        &self,
        request: Request<pb::BatchHeartbeatRequest>,
    ) -> Result<Response<pb::BatchHeartbeatResponse>, Status> {
        let caller = caller(&request, Scope::Write).map_err(status)?;
        let (beats, refused) = report::batch(request.into_inner()).map_err(status)?.split();
        let registry = Arc::clone(&self.calls.registry);
        let outcomes = registry.heartbeats(caller, beats).await.map_err(status)?;
        Ok(Response::new(report::renewed_many(refused, outcomes)))
    }

    pub(super) async fn finish(
        &self,
        request: Request<pb::FinishSessionRequest>,
    ) -> Result<Response<pb::FinishSessionResponse>, Status> {
        self.calls
            .write(
                request,
                report::finish,
                Registry::finish_session,
                report::finished,
            )
            .await
    }

    pub(super) async fn acquire_attach(
        &self,
        request: Request<pb::AcquireAttachLeaseRequest>,
    ) -> Result<Response<pb::AcquireAttachLeaseResponse>, Status> {
        self.calls
            .write(request, lease::acquire, Registry::acquire_attach, lease::acquired)
            .await
    }

    pub(super) async fn release_attach(
        &self,
        request: Request<pb::ReleaseAttachLeaseRequest>,
    ) -> Result<Response<pb::ReleaseAttachLeaseResponse>, Status> {
        self.calls
            .write(request, lease::release, Registry::release_attach, lease::released)
            .await
    }

    pub(super) async fn mark_seen(
        &self,
        request: Request<pb::MarkSessionSeenRequest>,
    ) -> Result<Response<pb::MarkSessionSeenResponse>, Status> {
        self.calls
            .write(request, lease::seen, Registry::mark_seen, lease::marked_seen)
            .await
    }

    pub(super) async fn launch(
        &self,
        request: Request<pb::GetLaunchRequest>,
    ) -> Result<Response<pb::GetLaunchResponse>, Status> {
        let caller = caller(&request, Scope::Launch).map_err(status)?;
        let hash = launch::wanted(&request.into_inner()).map_err(status)?;
        let found = self.calls.registry.get_launch(&caller, &hash).await;
        Ok(Response::new(launch::answer(found.map_err(status)?)))
    }
}

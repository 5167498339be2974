//! The asking side of the session catalog.

use compozy_e2e::{by_id, request_id, utf8};
use compozy_proto::session::v1::session_catalog_service_client::SessionCatalogServiceClient;
use compozy_proto::session::v1::{
    BatchHeartbeatRequest, CreateSessionRequest, GetSessionRequest, GetSessionResponse, HeartbeatRequest,
    ListSessionsRequest, ListSessionsResponse, RuntimeBinding, SessionFilter, StopCause, StopSessionRequest,
};
use tonic::service::interceptor::InterceptedService;
use tonic::transport::Channel;

use crate::wire::Token;

/// A connection to the daemon. Clones share it.
#[derive(Debug, Clone)]
pub(crate) struct SessionWire {
    client: SessionCatalogServiceClient<InterceptedService<Channel, Token>>,
}

impl SessionWire {
    pub(crate) fn new(channel: Channel, token: Token) -> Self {
        Self {
            client: SessionCatalogServiceClient::with_interceptor(channel, token),
        }
    }

    pub(crate) async fn get(&self, session_id: String) -> GetSessionResponse {
        let request = GetSessionRequest {
            session_id,
            include_health: false,
        };
        let answer = self.client.clone().get_session(request).await;
        answer.unwrap().into_inner()
    }

    pub(crate) async fn list(
        &self,
        workspace: Option<&str>,
        query: &str,
        limit: i32,
        cursor: &str,
    ) -> ListSessionsResponse {
        let request = ListSessionsRequest {
            filter: Some(SessionFilter {
                workspace: workspace.map(by_id),
                query: query.to_owned(),
                ..Default::default()
            }),
            limit,
            cursor: cursor.to_owned(),
            ..Default::default()
        };
        let answer = self.client.clone().list_sessions(request).await;
        answer.unwrap().into_inner()
    }

    pub(crate) async fn stop(&self, session_id: String) {
        let request = StopSessionRequest {
            session_id,
            cause: StopCause::Completed.into(),
            request_id: request_id(),
            ..Default::default()
        };
        self.client.clone().stop_session(request).await.unwrap();
    }

    /// Creates an ungrouped session in a directory, with a runtime if a holder is named, and answers its lease.
    pub(crate) async fn create(
        &self,
        directory: impl AsRef<std::path::Path>,
        holder: Option<&str>,
    ) -> Option<String> {
        let request = CreateSessionRequest {
            cwd: Some(utf8(directory)),
            agent: Some("general".to_owned()),
            bind: holder.map(|holder| RuntimeBinding {
                holder: holder.to_owned(),
                ttl: Some(prost_types::Duration {
                    seconds: 3_600,
                    nanos: 0,
                }),
            }),
            request_id: request_id(),
            ..Default::default()
        };
        let answer = self.client.clone().create_session(request).await.unwrap();
        answer.into_inner().lease.map(|lease| lease.token)
    }

    /// Beats for all of these leases in one call.
    pub(crate) async fn beat(&self, leases: &[String]) {
        let heartbeats = leases.iter().map(|lease| HeartbeatRequest {
            lease: lease.clone(),
            ..Default::default()
        });
        let request = BatchHeartbeatRequest {
            heartbeats: heartbeats.collect(),
        };
        let answer = self.client.clone().batch_heartbeat(request).await.unwrap();
        assert_eq!(answer.into_inner().results.len(), leases.len());
    }
}

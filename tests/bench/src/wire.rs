//! The asking side: one TCP connection, the generated client, nothing between that retries or waits.

use std::net::SocketAddr;

use compozy_e2e::{by_id, request_id, utf8};
use compozy_proto::workspace::v1::workspace_service_client::WorkspaceServiceClient;
use compozy_proto::workspace::v1::{
    DiscoverWorkspaceRequest, DiscoverWorkspaceResponse, GetWorkspaceRequest, GetWorkspaceResponse,
    ListWorkspacesRequest, ListWorkspacesResponse, RegisterWorkspaceRequest, RegisterWorkspaceResponse,
    ResolveWorkspaceRequest, ResolveWorkspaceResponse, UpdateWorkspaceRequest, UpdateWorkspaceResponse,
    Workspace,
};
use tonic::metadata::{Ascii, MetadataValue};
use tonic::service::Interceptor;
use tonic::service::interceptor::InterceptedService;
use tonic::transport::{Channel, Endpoint};
use tonic::{Request, Status};

/// A connection to the daemon. Clones share it.
#[derive(Debug, Clone)]
pub(crate) struct Wire {
    client: WorkspaceServiceClient<InterceptedService<Channel, Token>>,
}

/// Goes with every call.
#[derive(Debug, Clone)]
pub(crate) struct Token(MetadataValue<Ascii>);

impl Token {
    pub(crate) fn new(token: &str) -> Self {
        Self(format!("Bearer {token}").parse().unwrap())
    }
}

impl Interceptor for Token {
    fn call(&mut self, mut request: Request<()>) -> Result<Request<()>, Status> {
        request.metadata_mut().insert("authorization", self.0.clone());
        Ok(request)
    }
}

/// A connection to any server of this run.
pub(crate) async fn channel(address: SocketAddr) -> Channel {
    connect(&endpoint(address)).await
}

/// How to connect to any server of this run.
pub(crate) fn endpoint(address: SocketAddr) -> Endpoint {
    Endpoint::from_shared(format!("http://{address}")).unwrap()
}

/// Connects, as soon as somebody listens.
pub(crate) async fn connect(endpoint: &Endpoint) -> Channel {
    let begun = std::time::Instant::now();
    loop {
        match endpoint.connect().await {
            Ok(channel) => return channel,
            Err(error) => assert!(begun.elapsed().as_secs() < 10, "{}: {error}", endpoint.uri()),
        }
        tokio::time::sleep(std::time::Duration::from_millis(5)).await;
    }
}

impl Wire {
    pub(crate) async fn connect(address: SocketAddr, token: &str) -> Self {
        let token = Token::new(token);
        Self {
            client: WorkspaceServiceClient::with_interceptor(channel(address).await, token),
        }
    }

    pub(crate) async fn get(&self, id: &str) -> GetWorkspaceResponse {
        let request = GetWorkspaceRequest {
            r#ref: Some(by_id(id)),
            include_status: false,
        };
        self.client
            .clone()
            .get_workspace(request)
            .await
            .unwrap()
            .into_inner()
    }

    pub(crate) async fn list(&self, limit: i32, cursor: &str) -> ListWorkspacesResponse {
        let request = ListWorkspacesRequest {
            limit,
            cursor: cursor.to_owned(),
            ..Default::default()
        };
        self.client
            .clone()
            .list_workspaces(request)
            .await
            .unwrap()
            .into_inner()
    }

    pub(crate) async fn discover(&self, path: String) -> DiscoverWorkspaceResponse {
        let request = DiscoverWorkspaceRequest { path };
        self.client
            .clone()
            .discover_workspace(request)
            .await
            .unwrap()
            .into_inner()
    }

    pub(crate) async fn register(&self, path: impl AsRef<std::path::Path>) -> RegisterWorkspaceResponse {
        let request = RegisterWorkspaceRequest {
            path: utf8(path),
            request_id: request_id(),
            ..Default::default()
        };
        self.client
            .clone()
            .register_workspace(request)
            .await
            .unwrap()
            .into_inner()
    }

    pub(crate) async fn resolve(
        &self,
        id: &str,
        if_fingerprint: Option<&str>,
        bypass_cache: bool,
    ) -> ResolveWorkspaceResponse {
        let request = ResolveWorkspaceRequest {
            r#ref: Some(by_id(id)),
            if_fingerprint: if_fingerprint.map(str::to_owned),
            bypass_cache,
            ..Default::default()
        };
        self.client
            .clone()
            .resolve_workspace(request)
            .await
            .unwrap()
            .into_inner()
    }

    pub(crate) async fn update(&self, id: &str, title: String) -> UpdateWorkspaceResponse {
        let request = UpdateWorkspaceRequest {
            r#ref: Some(by_id(id)),
            workspace: Some(Workspace {
                title: Some(title),
                ..Default::default()
            }),
            request_id: request_id(),
            ..Default::default()
        };
        self.client
            .clone()
            .update_workspace(request)
            .await
            .unwrap()
            .into_inner()
    }
}

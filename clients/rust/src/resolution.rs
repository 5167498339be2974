//! The methods of `WorkspaceService` that answer what a session in a workspace would see. Both are reads.

use compozy_proto::workspace::v1::{
    GetDefinitionRequest, GetDefinitionResponse, ResolveWorkspaceRequest, ResolveWorkspaceResponse,
};

use crate::retry::Repeat;
use crate::{Client, Error};

/// Each method fails as `WorkspaceService` in the contract says.
impl Client {
    /// The snapshot of a workspace: config with provenance, agents, skills, MCP servers and everything worth knowing
    /// about them. With the fingerprint of a snapshot at hand the answer may be that it is still the same.
    pub async fn resolve_workspace(
        &self,
        request: ResolveWorkspaceRequest,
    ) -> Result<ResolveWorkspaceResponse, Error> {
        self.call(request, Repeat::Safe, |request| {
            let mut stub = self.workspace_stub();
            async move { stub.resolve_workspace(request).await }
        })
        .await
    }

    /// The text of an agent or skill of a snapshot; never that of another one.
    pub async fn get_definition(
        &self,
        request: GetDefinitionRequest,
    ) -> Result<GetDefinitionResponse, Error> {
        self.call(request, Repeat::Safe, |request| {
            let mut stub = self.workspace_stub();
            async move { stub.get_definition(request).await }
        })
        .await
    }
}

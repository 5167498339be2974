//! The methods of `WorkspaceService` that move sessions between accounts.

use compozy_proto::workspace::v1::{
    AttachSessionRequest, AttachSessionResponse, DetachSessionRequest, DetachSessionResponse,
    MoveSessionRequest, MoveSessionResponse,
};

use crate::retry::Repeat;
use crate::{Client, Error, request_id};

/// Each method fails as `WorkspaceService` in the contract says.
impl Client {
    /// Puts a session in front of the account of a workspace.
    pub async fn attach_session(
        &self,
        mut request: AttachSessionRequest,
    ) -> Result<AttachSessionResponse, Error> {
        request_id::fill(&mut request.request_id)?;
        self.call(request, Repeat::Safe, |request| {
            let mut stub = self.workspace_stub();
            async move { stub.attach_session(request).await }
        })
        .await
    }

    /// Takes a session off its account; it stays, without a workspace.
    pub async fn detach_session(
        &self,
        mut request: DetachSessionRequest,
    ) -> Result<DetachSessionResponse, Error> {
        request_id::fill(&mut request.request_id)?;
        self.call(request, Repeat::Safe, |request| {
            let mut stub = self.workspace_stub();
            async move { stub.detach_session(request).await }
        })
        .await
    }

    /// Moves a session within its account.
    pub async fn move_session(&self, mut request: MoveSessionRequest) -> Result<MoveSessionResponse, Error> {
        request_id::fill(&mut request.request_id)?;
        self.call(request, Repeat::Safe, |request| {
            let mut stub = self.workspace_stub();
            async move { stub.move_session(request).await }
        })
        .await
    }
}

//! The methods of `AdminService`. Their errors are those of the contract.

use compozy_proto::admin::v1::admin_service_client::AdminServiceClient;
use compozy_proto::admin::v1::{
    BackupRequest, BackupResponse, GetConfigRequest, GetConfigResponse, GetServerInfoRequest,
    GetServerInfoResponse, SetConfigRequest, SetConfigResponse, ShutdownRequest, ShutdownResponse,
};

use crate::retry::Repeat;
use crate::wire::Wire;
use crate::{Client, Error};

impl Client {
    /// What the server is and which limits it applies.
    ///
    /// # Errors
    ///
    /// See `AdminService` in the contract.
    pub async fn get_server_info(&self) -> Result<GetServerInfoResponse, Error> {
        self.call(GetServerInfoRequest {}, Repeat::Safe, |request| {
            let mut stub = self.admin_stub();
            async move { stub.get_server_info(request).await }
        })
        .await
    }

    /// Starts an orderly shutdown; the answer says that it has begun. Sent once: a second one would
    /// meet the next server.
    ///
    /// # Errors
    ///
    /// See `AdminService` in the contract.
    pub async fn shutdown(&self) -> Result<ShutdownResponse, Error> {
        self.call(ShutdownRequest {}, Repeat::Never, |request| {
            let mut stub = self.admin_stub();
            async move { stub.shutdown(request).await }
        })
        .await
    }

    /// Writes a backup into a new directory of the server's host, or answers the command that dumps a
    /// catalog on Postgres. Takes as long as copying the catalog takes: see [`Client::with_deadline`].
    /// Sent once: a second one would meet the first one's directory.
    ///
    /// # Errors
    ///
    /// See `AdminService` in the contract.
    pub async fn backup(&self, directory: impl Into<String>) -> Result<BackupResponse, Error> {
        let message = BackupRequest {
            directory: directory.into(),
        };
        self.call(message, Repeat::Never, |request| {
            let mut stub = self.admin_stub();
            async move { stub.backup(request).await }
        })
        .await
    }

    /// The settings that the daemon runs with: its own, not those of any workspace.
    ///
    /// # Errors
    ///
    /// See `AdminService` in the contract.
    pub async fn get_config(&self) -> Result<GetConfigResponse, Error> {
        self.call(GetConfigRequest {}, Repeat::Safe, |request| {
            let mut stub = self.admin_stub();
            async move { stub.get_config(request).await }
        })
        .await
    }

    /// Sets one key in the `config.toml` of the daemon's home, or takes it out. Sent once: it carries no request id,
    /// and a second one could undo what somebody else has set meanwhile.
    ///
    /// # Errors
    ///
    /// See `AdminService` in the contract.
    pub async fn set_config(&self, request: SetConfigRequest) -> Result<SetConfigResponse, Error> {
        self.call(request, Repeat::Never, |request| {
            let mut stub = self.admin_stub();
            async move { stub.set_config(request).await }
        })
        .await
    }

    fn admin_stub(&self) -> AdminServiceClient<Wire> {
        AdminServiceClient::new(self.wire.clone())
    }
}

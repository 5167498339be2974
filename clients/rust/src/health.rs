//! Whether the server serves, by the standard health protocol. The only calls that need no token.

use std::time::{Duration, Instant};

use tonic_health::pb::HealthCheckRequest;
use tonic_health::pb::health_check_response::ServingStatus as WireStatus;
use tonic_health::pb::health_client::HealthClient;

use crate::retry::Repeat;
use crate::{Client, Error};

/// Pause between two looks while waiting.
const POLL_INTERVAL: Duration = Duration::from_millis(50);
/// How long one look may take while waiting.
const LOOK_DEADLINE: Duration = Duration::from_secs(2);

/// What a server says about one of its services.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ServingStatus {
    /// Not said, or something that this client does not know.
    Unknown,
    /// It serves.
    Serving,
    /// It does not serve right now: its store is away, or it starts or ends.
    NotServing,
    /// The server does not have this service.
    ServiceUnknown,
}

impl Client {
    /// Whether a service serves; an empty name asks about the server as a whole.
    ///
    /// # Errors
    ///
    /// Those of the transport. A service that the server does not know is no error.
    pub async fn check_health(&self, service: &str) -> Result<ServingStatus, Error> {
        self.check(service, Repeat::Safe).await
    }

    /// Waits until the server as a whole serves.
    ///
    /// # Errors
    ///
    /// The last failure when `timeout` passes, or DEADLINE_EXCEEDED when the server answered all
    /// along and did not serve.
    pub async fn wait_until_serving(&self, timeout: Duration) -> Result<(), Error> {
        let started = Instant::now();
        loop {
            let remaining = timeout.saturating_sub(started.elapsed());
            let looked = self
                .with_deadline(remaining.min(LOOK_DEADLINE))
                .check("", Repeat::Never)
                .await;
            if matches!(looked, Ok(ServingStatus::Serving)) {
                return Ok(());
            }
            if started.elapsed() + POLL_INTERVAL >= timeout {
                return Err(looked
                    .err()
                    .unwrap_or_else(|| Error::deadline(&self.endpoint, timeout)));
            }
            tokio::time::sleep(POLL_INTERVAL).await;
        }
    }

    async fn check(&self, service: &str, repeat: Repeat) -> Result<ServingStatus, Error> {
        let message = HealthCheckRequest {
            service: service.to_owned(),
        };
        let answer = self
            .call(message, repeat, |request| {
                let mut stub = HealthClient::new(self.wire.clone());
                async move { stub.check(request).await }
            })
            .await;
        match answer {
            Ok(answer) => Ok(match answer.status() {
                WireStatus::Unknown => ServingStatus::Unknown,
                WireStatus::Serving => ServingStatus::Serving,
                WireStatus::NotServing => ServingStatus::NotServing,
                WireStatus::ServiceUnknown => ServingStatus::ServiceUnknown,
            }),
            Err(error) if error.code() == tonic::Code::NotFound => Ok(ServingStatus::ServiceUnknown),
            Err(error) => Err(error),
        }
    }
}

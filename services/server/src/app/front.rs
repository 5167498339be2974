//! What faces callers: where they connect, what health tells them, and how they are told to leave. It is there
//! before the catalog, and ends after it.

use std::fmt;
use std::time::Duration;

use compozy_domain::Timestamp;
use tokio_util::sync::CancellationToken;

use super::Setup;
use super::listening::Listening;
use crate::daemon_file::DaemonFile;
use crate::failure::Failure;
use crate::health::HealthBoard;
use crate::shutdown::Shutdown;
use crate::tasks::Tasks;

/// How long the watches of health may take to tell that nothing is served any more.
const TELLING: Duration = Duration::from_millis(250);
/// How long streams and last answers may take once every call is done. A client that does not read, such as a
/// laptop that sleeps, must not hold a restart; its watch goes on elsewhere from its last token.
const LAST_ANSWERS: Duration = Duration::from_secs(3);
/// How long connections may take to close once nothing is in flight.
const CLOSING: Duration = Duration::from_secs(1);

/// The side of the server that callers see.
pub(super) struct Front {
    pub(super) setup: Setup,
    pub(super) listening: Listening,
    pub(super) shutdown: Shutdown,
    /// Ends listeners and watches of health at last.
    pub(super) close: CancellationToken,
    pub(super) connections: Tasks,
    /// Accept loops and everything that belongs to the catalog.
    pub(super) tasks: Tasks,
    pub(super) board: HealthBoard,
}

impl Front {
    /// Says in the home that the server can be used.
    pub(super) fn announce(&self, started_at: Timestamp) -> Result<(), Failure> {
        let Listening {
            socket, addresses, ..
        } = &self.listening;
        let addresses = addresses.iter().map(ToString::to_string).collect();
        let file = DaemonFile::of_this_process(socket.clone(), addresses, started_at);
        file.write(&self.setup.home, self.setup.random.as_ref())?;
        tracing::info!(
            version = file.version,
            pid = file.pid,
            socket = %socket.display(),
            addresses = file.addresses.join(","),
            "started"
        );
        Ok(())
    }

    /// Takes leave of the callers, once the end has begun: health first, so that nobody is sent back here, then
    /// goodbye, then patience, then the cut. Says whether every call was answered by its handler.
    pub(super) async fn take_leave(&self) -> bool {
        let drain_timeout = self.setup.config.drain_timeout;
        self.board.set_serving(false);
        self.board.told(TELLING.min(self.patience() / 4)).await;
        self.shutdown.part();

        let calls_done = self.shutdown.calls_done(self.patience()).await;
        if calls_done {
            let left = self
                .shutdown
                .answers_done(LAST_ANSWERS.min(self.patience()))
                .await;
            if left > 0 {
                tracing::info!(
                    count = left,
                    "streams whose clients did not read their end are cut"
                );
            }
        } else {
            tracing::warn!("calls in flight are cut at the end of daemon.drain_timeout");
        }
        self.shutdown.hurry();

        self.close.cancel();
        let closing = || CLOSING.min(self.shutdown.left(drain_timeout) / 2);
        if !self.connections.join(closing()).await {
            self.shutdown.cut();
            self.connections.join(closing()).await;
        }
        calls_done
    }

    /// Ends what goes on beside the calls. Says whether it ended by itself.
    pub(super) async fn end_tasks(&self) -> bool {
        let left = self.shutdown.left(self.setup.config.drain_timeout);
        let done = self.tasks.join(left).await;
        if !done {
            tracing::warn!(count = self.tasks.count(), "background work did not end in time");
        }
        done
    }

    fn patience(&self) -> Duration {
        self.shutdown.patience(self.setup.config.drain_timeout)
    }
}

impl fmt::Debug for Front {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Front")
            .field("listening", &self.listening)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::sync::Arc;

    use futures::StreamExt as _;
    use tokio::time::Instant;
    use tonic_health::pb::HealthCheckRequest;
    use tonic_health::pb::health_server::Health as _;

    use super::*;
    use crate::clock::SystemClock;
    use crate::config::{Config, Overrides};
    use crate::home::Home;
    use crate::random::SystemRandom;

    /// A front to which nobody is connected, in a home that is never written to.
    fn front() -> Front {
        let home = Home::at("/nowhere");
        let config = Config::parse(&home, "", &Overrides::default()).unwrap();
        let close = CancellationToken::new();
        let board = HealthBoard::new(&[], close.clone());
        board.set_serving(true);
        Front {
            setup: Setup {
                home,
                config: Arc::new(config),
                runtime_dir: None,
                clock: Arc::new(SystemClock),
                random: Arc::new(SystemRandom),
            },
            listening: Listening::default(),
            shutdown: Shutdown::new(),
            close,
            connections: Tasks::new(),
            tasks: Tasks::new(),
            board,
        }
    }

    #[tokio::test(start_paused = true)]
    async fn n175_health_says_not_serving_before_anybody_is_sent_away() {
        let front = front();
        let request = tonic::Request::new(HealthCheckRequest::default());
        let mut watch = front.board.watch(request).await.unwrap().into_inner();
        watch.next().await.unwrap().unwrap();
        let call = front.shutdown.enter().unwrap();
        front.shutdown.begin("test");
        let mut leave = Box::pin(front.take_leave());
        assert!(futures::poll!(&mut leave).is_pending());
        assert!(!front.board.is_serving() && !front.shutdown.parting().is_cancelled());
        watch.next().await.unwrap().unwrap();
        assert!(futures::poll!(&mut leave).is_pending());
        assert!(front.shutdown.parting().is_cancelled() && !front.close.is_cancelled());
        drop(call);
        assert!(leave.await);
        assert!(front.close.is_cancelled());
    }

    #[tokio::test(start_paused = true)]
    async fn a_client_that_does_not_read_is_waited_for_briefly_and_a_call_as_long_as_it_takes() {
        let front = front();
        let answer = front.shutdown.enter().unwrap().answered();
        let call = front.shutdown.enter().unwrap();
        front.shutdown.begin("test");
        let begun = Instant::now();
        let mut leave = Box::pin(front.take_leave());
        tokio::select! {
            _ = &mut leave => panic!("the call was not waited for"),
            () = tokio::time::sleep(LAST_ANSWERS * 2) => {}
        }
        drop(call);
        assert!(leave.await);
        assert_eq!(begun.elapsed(), LAST_ANSWERS * 3);
        drop(answer);
    }
}

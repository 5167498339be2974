//! The states that a watch of health tells, and whether its client was told the last one.

use std::pin::Pin;
use std::task::{Context, Poll, ready};

use futures::stream::Stream;
use tokio::sync::watch;
use tokio_stream::wrappers::WatchStream;
use tokio_util::task::TaskTracker;
use tokio_util::task::task_tracker::TaskTrackerToken;
use tonic_health::pb::health_check_response::ServingStatus;

/// A stream of states. Holds a token of `untold` unless the last state that it handed out is NOT_SERVING.
#[derive(Debug)]
pub(super) struct Watching {
    states: WatchStream<ServingStatus>,
    untold: Option<TaskTracker>,
    token: Option<TaskTrackerToken>,
}

impl Watching {
    /// A watch whose client is waited for, if there is something to wait with.
    pub(super) fn new(states: watch::Receiver<ServingStatus>, untold: Option<TaskTracker>) -> Self {
        Self {
            token: untold.as_ref().map(TaskTracker::token),
            states: WatchStream::new(states),
            untold,
        }
    }
}

impl Stream for Watching {
    type Item = ServingStatus;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<ServingStatus>> {
        let state = ready!(Pin::new(&mut self.states).poll_next(context));
        self.token = match state {
            None | Some(ServingStatus::NotServing) => None,
            Some(_) => self.untold.as_ref().map(TaskTracker::token),
        };
        Poll::Ready(state)
    }
}

//! The change stream as a program wants it: events in order, whatever happens to connections and
//! servers meanwhile.

mod ending;
mod event;
mod follower;
mod references;
mod request;

use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll};

use futures::Stream;
use futures::stream::BoxStream;

use crate::{Client, Error};
use follower::{Follower, Step};

pub use event::{ResyncCause, WatchEvent, WatchNotice};
pub use request::{WatchFrom, WatchRequest};

/// What changes, as a stream that resumes by itself: a server that goes away, a cut connection, a proxy's error
/// page or a silence of three heartbeats end nothing. It goes on after the last event, without a gap and without
/// a repetition; where there is a gap, a [`WatchEvent::Resync`] says so.
///
/// It ends after an error, and only after one. Before the server has said anything, a failure is repeated like
/// that of a call, so that nobody waits for ever for a server that is not there. Later only an answer ends it
/// that another attempt would not change, such as an expired token or a withdrawn right.
///
/// Nothing is sent before it is polled, and no task runs for it: who does not poll reads nothing, the server waits,
/// and of a thing that changed several times meanwhile at least the last change comes. Dropping it ends the call.
pub struct CatalogWatch {
    steps: BoxStream<'static, Result<Step, Error>>,
    token: Option<String>,
}

impl Client {
    /// Watches the catalog. The client's deadline does not apply.
    pub fn watch(&self, request: WatchRequest) -> CatalogWatch {
        let token = request.token().map(str::to_owned);
        let follower = Follower::new(self.clone(), request);
        CatalogWatch {
            steps: Box::pin(futures::stream::unfold(Some(follower), step)),
            token,
        }
    }
}

impl CatalogWatch {
    /// Where to go on later, with [`WatchFrom::Token`] and the same filters: everything before it was handed out. Ask
    /// when the events so far are dealt with. The server's heartbeats move it without an event, so that it stays young
    /// while nothing changes: who stores it should also ask now and then beside the stream, with `tokio::select!`.
    /// `None` as long as there is nothing to go on from, such as before a snapshot is complete.
    pub fn token(&self) -> Option<&str> {
        self.token.as_deref()
    }
}

impl Stream for CatalogWatch {
    type Item = Result<WatchEvent, Error>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        loop {
            let step = match std::task::ready!(self.steps.as_mut().poll_next(context)) {
                Some(Ok(step)) => step,
                Some(Err(error)) => return Poll::Ready(Some(Err(error))),
                None => return Poll::Ready(None),
            };
            if let Some(token) = step.token {
                self.token = Some(token);
            }
            if let Some(event) = step.event {
                return Poll::Ready(Some(Ok(event)));
            }
        }
    }
}

impl fmt::Debug for CatalogWatch {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("CatalogWatch")
            .field("token", &self.token)
            .finish_non_exhaustive()
    }
}

/// One step further; after an error there is none.
async fn step(follower: Option<Follower>) -> Option<(Result<Step, Error>, Option<Follower>)> {
    let mut follower = follower?;
    match follower.next().await {
        Ok(step) => Some((Ok(step), Some(follower))),
        Err(error) => Some((Err(error), None)),
    }
}

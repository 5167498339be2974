//! The path of every unary call: a deadline that the server is told and that holds on this side
//! too, and as many attempts as are safe.

use std::future::Future;
use std::time::Instant;

use tonic::{Code, Request, Response, Status};

use crate::retry::{self, Repeat};
use crate::{Client, Error};

impl Client {
    /// Sends `message` until an answer is final or the deadline has passed. All attempts share one
    /// deadline and carry the same message, its request id included.
    pub(crate) async fn call<M, A, Sending>(
        &self,
        message: M,
        repeat: Repeat,
        send: impl Fn(Request<M>) -> Sending,
    ) -> Result<A, Error>
    where
        M: Clone,
        Sending: Future<Output = Result<Response<A>, Status>>,
    {
        let started = Instant::now();
        let mut attempt = 1;
        let mut last: Option<Error> = None;
        loop {
            let remaining = self.deadline.saturating_sub(started.elapsed());
            let mut request = Request::new(message.clone());
            request.set_timeout(remaining);
            // On the heap, so that a caller's own futures stay small.
            let sending = Box::pin(send(request));
            let error = match tokio::time::timeout(remaining, sending).await {
                Ok(Ok(answer)) => return Ok(answer.into_inner()),
                Ok(Err(status)) => Error::from_status(&status, &self.endpoint),
                Err(_) => Error::deadline(&self.endpoint, self.deadline),
            };
            // The server may be the first to notice that the time is up.
            if let Some(last) = last.filter(|_| error.code() == Code::DeadlineExceeded) {
                return Err(last.then_no_answer(self.deadline));
            }
            let Some(delay) = retry::delay(attempt, repeat, &error) else {
                return Err(error);
            };
            if started.elapsed() + delay >= self.deadline {
                return Err(error);
            }
            tokio::time::sleep(delay).await;
            attempt += 1;
            last = Some(error);
        }
    }
}

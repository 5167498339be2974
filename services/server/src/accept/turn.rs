//! A connection lets its streams go first: what all of them have to say then leaves in one write. Otherwise each
//! stream that has a message wakes the connection, which runs next and writes that one message.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

/// A future that is polled a turn later than it is woken.
#[derive(Debug)]
pub(super) struct OneTurnLater<F> {
    pub(super) inner: F,
    has_waited: bool,
}

impl<F> OneTurnLater<F> {
    pub(super) const fn new(inner: F) -> Self {
        Self {
            inner,
            has_waited: false,
        }
    }
}

impl<F: Future + Unpin> Future for OneTurnLater<F> {
    type Output = F::Output;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<F::Output> {
        self.has_waited = !self.has_waited;
        if self.has_waited {
            // A task that wakes itself goes to the end of the queue, behind everything that is ready.
            context.waker().wake_by_ref();
            return Poll::Pending;
        }
        Pin::new(&mut self.inner).poll(context)
    }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;
    use std::future::poll_fn;

    use super::*;

    #[tokio::test(flavor = "current_thread")]
    async fn what_is_ready_goes_first() {
        let order = RefCell::new(Vec::new());
        let later = OneTurnLater::new(Box::pin(async { order.borrow_mut().push("connection") }));
        let stream = poll_fn(|_| {
            order.borrow_mut().push("stream");
            Poll::Ready(())
        });
        futures::join!(later, stream);
        assert_eq!(*order.borrow(), ["stream", "connection"]);
    }
}

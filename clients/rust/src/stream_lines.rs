//! The connections that carry streams. Calls never share them: a stream that nobody reads fills its
//! window, and must not stand in the way of anything else.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use tonic::transport::Channel;

use crate::dial::Dial;

/// Bytes that the server may send ahead on one stream that is not read.
pub(crate) const STREAM_WINDOW: u32 = 64 * 1024;
/// Bytes that the server may send ahead on all streams of a connection. They never come to that, since each
/// stream has its own limit. But half of it is also what h2 allows for the overhead of small frames that
/// wait, 256 bytes less its length for each: all streams of a line may be full of frames of 30 bytes.
pub(crate) const CONNECTION_WINDOW: u32 = 16 * 1024 * 1024;
/// Streams of one connection.
const STREAMS_PER_LINE: usize = 16;

/// The stream connections of a client. One is opened when the others are full, and closed when its
/// last stream has ended.
#[derive(Debug)]
pub(crate) struct StreamLines {
    dial: Dial,
    lines: Mutex<Vec<Weak<Line>>>,
}

/// One connection. Each of its streams holds a handle.
#[derive(Debug)]
pub(crate) struct Line {
    pub(crate) channel: Channel,
}

impl StreamLines {
    pub(crate) fn new(dial: Dial) -> Self {
        Self {
            dial,
            lines: Mutex::default(),
        }
    }

    /// A connection with room for one more stream.
    pub(crate) fn take(&self) -> Arc<Line> {
        let mut lines = self.lock();
        lines.retain(|line| line.strong_count() > 0);
        let with_room = lines
            .iter()
            .filter(|line| line.strong_count() < STREAMS_PER_LINE)
            .find_map(Weak::upgrade);
        if let Some(line) = with_room {
            return line;
        }
        let line = Arc::new(Line {
            channel: self.dial.connect(),
        });
        lines.push(Arc::downgrade(&line));
        line
    }

    /// No stream begins on this connection any more: one has ended on it, and the server may be about to
    /// go, or may have been left by whatever stands before it.
    pub(crate) fn retire(&self, line: &Arc<Line>) {
        self.lock().retain(|one| one.as_ptr() != Arc::as_ptr(line));
    }

    /// The list is whole even after a panic: nothing is half done under the lock.
    fn lock(&self) -> MutexGuard<'_, Vec<Weak<Line>>> {
        self.lines.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use crate::{Endpoint, Tls};

    fn lines() -> StreamLines {
        let dial = Dial::new(&Endpoint::socket("/s"), &Tls::default(), "test/1").unwrap();
        StreamLines::new(dial.for_streams())
    }

    #[tokio::test]
    async fn streams_share_a_line_until_it_is_full() {
        let lines = lines();
        let mut taken: Vec<Arc<Line>> = (0..STREAMS_PER_LINE).map(|_| lines.take()).collect();
        assert!(taken.iter().all(|line| Arc::ptr_eq(line, &taken[0])));
        let other = lines.take();
        assert!(!Arc::ptr_eq(&other, &taken[0]));
        taken.pop();
        assert!(Arc::ptr_eq(&lines.take(), &taken[0]));
    }

    #[tokio::test]
    async fn nothing_begins_on_a_retired_line_and_none_is_kept_without_streams() {
        let lines = lines();
        let (first, neighbour) = (lines.take(), lines.take());
        lines.retire(&first);
        let second = lines.take();
        assert!(!Arc::ptr_eq(&second, &first));
        // Its neighbour has noticed the same end, and does not take the new line away.
        lines.retire(&neighbour);
        assert!(Arc::ptr_eq(&lines.take(), &second));
        drop((first, neighbour, second));
        lines.lock().retain(|line| line.strong_count() > 0);
        assert!(lines.lock().is_empty());
    }
}

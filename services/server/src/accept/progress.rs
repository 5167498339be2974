//! A stream that counts what was read, so that a connection that never says anything can be told from one that
//! is idle.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// Bytes of the HTTP/2 preface: with them a connection has begun.
const PREFACE_BYTES: u64 = 24;

/// How much a connection said.
#[derive(Debug, Clone, Default)]
pub(super) struct Progress(Arc<AtomicU64>);

impl Progress {
    pub(super) fn has_begun(&self) -> bool {
        self.0.load(Ordering::Relaxed) >= PREFACE_BYTES
    }
}

/// The stream around which is counted.
#[derive(Debug)]
pub(super) struct Counted<I> {
    io: I,
    progress: Progress,
}

impl<I> Counted<I> {
    pub(super) fn new(io: I) -> (Self, Progress) {
        let progress = Progress::default();
        (
            Self {
                io,
                progress: progress.clone(),
            },
            progress,
        )
    }
}

impl<I: AsyncRead + Unpin> AsyncRead for Counted<I> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let result = Pin::new(&mut self.io).poll_read(context, buffer);
        let read = buffer.filled().len() - before;
        self.progress.0.fetch_add(read as u64, Ordering::Relaxed);
        result
    }
}

impl<I: AsyncWrite + Unpin> AsyncWrite for Counted<I> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.io).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_shutdown(context)
    }

    fn is_write_vectored(&self) -> bool {
        self.io.is_write_vectored()
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.io).poll_write_vectored(context, slices)
    }
}

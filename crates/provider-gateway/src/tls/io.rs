//! A connection that keeps its place for as long as it lives, also after it became a stream, and
//! that is cut when its client stops reading.

use std::io;
use std::net::IpAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::Sleep;

use super::head::Heads;
use crate::places::Place;

/// A connection and the place it takes.
#[derive(Debug)]
pub(super) struct Placed<IO> {
    io: IO,
    /// Held, not looked at.
    _place: Place<IpAddr>,
    /// Sees the heads of requests; only for HTTP/1.
    heads: Option<Arc<Heads>>,
    /// How long a write may make no progress.
    patience: Duration,
    /// Runs while a write waits.
    deadline: Option<Pin<Box<Sleep>>>,
}

impl<IO> Placed<IO> {
    pub(super) const fn new(
        io: IO,
        place: Place<IpAddr>,
        heads: Option<Arc<Heads>>,
        patience: Duration,
    ) -> Self {
        Self { io, _place: place, heads, patience, deadline: None }
    }

    /// Passes a write on, or fails it when the client has not taken anything for too long.
    fn in_time<T>(
        &mut self,
        cx: &mut Context<'_>,
        written: Poll<io::Result<T>>,
    ) -> Poll<io::Result<T>> {
        if written.is_ready() {
            self.deadline = None;
            return written;
        }
        let patience = self.patience;
        let deadline = self.deadline.get_or_insert_with(|| Box::pin(tokio::time::sleep(patience)));
        match deadline.as_mut().poll(cx) {
            Poll::Ready(()) => Poll::Ready(Err(io::ErrorKind::TimedOut.into())),
            Poll::Pending => Poll::Pending,
        }
    }
}

impl<IO: AsyncRead + Unpin> AsyncRead for Placed<IO> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let read = Pin::new(&mut self.io).poll_read(cx, buffer);
        if let (Poll::Ready(Ok(())), Some(heads)) = (&read, &self.heads)
            && heads.read(buffer.filled().get(before..).unwrap_or_default()).is_err()
        {
            // Too much is held for strangers already.
            return Poll::Ready(Err(io::ErrorKind::OutOfMemory.into()));
        }
        read
    }
}

impl<IO: AsyncWrite + Unpin> AsyncWrite for Placed<IO> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.io).poll_write(cx, bytes);
        self.in_time(cx, written)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.io).poll_write_vectored(cx, slices);
        self.in_time(cx, written)
    }

    fn is_write_vectored(&self) -> bool {
        self.io.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let flushed = Pin::new(&mut self.io).poll_flush(cx);
        self.in_time(cx, flushed)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let shut = Pin::new(&mut self.io).poll_shutdown(cx);
        self.in_time(cx, shut)
    }
}

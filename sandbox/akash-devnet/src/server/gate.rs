//! A connection that faults can freeze or cut.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use super::faults::{Connection, Faults, Link};

pub(super) struct Gate<S> {
    stream: S,
    connection: Connection,
}

impl<S> Gate<S> {
    pub(super) fn new(stream: S, faults: &Faults) -> Self {
        Self { stream, connection: faults.connected() }
    }

    fn open(&self, context: &Context<'_>) -> Poll<io::Result<()>> {
        match self.connection.link(context) {
            Link::Works => Poll::Ready(Ok(())),
            Link::Frozen => Poll::Pending,
            Link::Cut => Poll::Ready(Err(io::ErrorKind::ConnectionReset.into())),
        }
    }
}

macro_rules! through {
    ($gate:ident, $context:ident) => {
        match $gate.open($context) {
            Poll::Ready(Ok(())) => {}
            Poll::Ready(Err(error)) => return Poll::Ready(Err(error)),
            Poll::Pending => return Poll::Pending,
        }
    };
}

impl<S: AsyncRead + Unpin> AsyncRead for Gate<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        through!(self, context);
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Gate<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &[u8],
    ) -> Poll<io::Result<usize>> {
        through!(self, context);
        Pin::new(&mut self.stream).poll_write(context, buffer)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        through!(self, context);
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        through!(self, context);
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

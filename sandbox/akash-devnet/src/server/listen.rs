//! Accepting connections.

use std::convert::Infallible;
use std::error::Error;
use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use http::{Request, Response};
use http_body_util::BodyExt;
use hyper::body::{Body, Bytes, Incoming};
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto::Builder;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpListener;
use tokio::task::JoinSet;

use super::faults::{Connection, Faults, Link};

/// How long a client may take to send the head of a request.
const HEAD_TIMEOUT: Duration = Duration::from_secs(10);
/// Wait after a failed accept: it is a lack of file descriptors, and does not go away at once.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// Which versions of HTTP a port speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Speaks {
    /// Both, and upgrades to WebSocket.
    Any,
    /// The second only, as gRPC does.
    Second,
}

/// Serves connections until it is dropped, which closes them all.
pub(super) async fn serve<H, F, B>(listener: TcpListener, speaks: Speaks, faults: Faults, handle: H)
where
    H: Fn(Request<Incoming>, SocketAddr) -> F + Clone + Send + Sync + 'static,
    F: Future<Output = Response<B>> + Send + 'static,
    B: Body<Data = Bytes> + Send + 'static,
    B::Error: Into<Box<dyn Error + Send + Sync>>,
{
    let mut connections = JoinSet::new();
    loop {
        // Those that have ended are forgotten as new ones come.
        while connections.try_join_next().is_some() {}
        let (stream, peer) = match listener.accept().await {
            Ok(accepted) => accepted,
            Err(_) => {
                tokio::time::sleep(ACCEPT_PAUSE).await;
                continue;
            }
        };
        // Without it small answers wait for the client's acknowledgement.
        let _ = stream.set_nodelay(true);
        let gate = Gate::new(stream, &faults);
        let handle = handle.clone();
        connections.spawn(async move {
            let service = service_fn(move |request| {
                let answer = handle(request, peer);
                async move { Ok::<_, Infallible>(answer.await.map(BodyExt::boxed_unsync)) }
            });
            let mut builder = Builder::new(TokioExecutor::new());
            builder.http1().timer(TokioTimer::new()).header_read_timeout(HEAD_TIMEOUT);
            let builder = match speaks {
                Speaks::Any => builder,
                Speaks::Second => builder.http2_only(),
            };
            // Whatever a client does wrong ends its connection and nothing else.
            let _ = builder.serve_connection_with_upgrades(TokioIo::new(gate), service).await;
        });
    }
}

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

//! Connections to one target.

use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use http::Uri;
use hyper::rt::{Read, ReadBufCursor, Write};
use hyper_util::client::legacy::connect::proxy::Tunnel;
use hyper_util::client::legacy::connect::{Connected, Connection, HttpConnector};
use hyper_util::rt::TokioIo;
use rustls::pki_types::ServerName;
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;
use tower_service::Service;

use crate::outbound::Outbound;
use crate::proxy::Route;

/// How long a connection waits before it is probed whether the other side is there.
const KEEPALIVE: Duration = Duration::from_secs(30);

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    /// A name, or an address; an IPv6 address in brackets.
    pub host: String,
    pub port: u16,
    pub is_tls: bool,
}

/// Makes connections to one target, whatever address it is asked for. A service as hyper and tonic
/// take it.
#[derive(Clone, Debug)]
pub struct Connector {
    outbound: Outbound,
    target: Target,
    /// How long a connection may take to be made, TLS not included.
    dial: Duration,
    alpn: Option<&'static [u8]>,
    /// Whether a proxy is asked for plain HTTP by whole URLs, rather than for a tunnel.
    forwards: bool,
}

impl Connector {
    /// Makes connections to `target`.
    pub const fn new(outbound: Outbound, target: Target, dial: Duration) -> Self {
        Self { outbound, target, dial, alpn: None, forwards: false }
    }

    /// The same for HTTP/2.
    pub const fn http2(mut self) -> Self {
        self.alpn = Some(b"h2");
        self
    }

    /// The same for single HTTP/1.1 requests, which a proxy can pass on: without TLS it is sent
    /// them, as many proxies have tunnels to TLS ports only.
    pub const fn forwarding(mut self) -> Self {
        self.forwards = true;
        self
    }

    async fn connect(self) -> io::Result<Dialed> {
        let Self { outbound, target, dial, alpn, forwards } = self;
        let route = outbound.proxies().route(target.is_tls, &target.host, target.port);
        let mut tcp = HttpConnector::new();
        tcp.enforce_http(false);
        tcp.set_nodelay(true);
        tcp.set_keepalive(Some(KEEPALIVE));
        let to: Uri = format!("http://{}:{}", target.host, target.port)
            .parse()
            .map_err(|error| io::Error::new(io::ErrorKind::InvalidInput, error))?;
        let is_forwarded = forwards && !target.is_tls && route != Route::Direct;
        let connecting = async {
            match route {
                Route::Direct => tcp.call(to).await.map_err(io::Error::other),
                Route::Via(proxy) if is_forwarded => {
                    tcp.call(proxy.uri().clone()).await.map_err(through(&proxy))
                }
                Route::Via(proxy) => {
                    let mut tunnel = Tunnel::new(proxy.uri().clone(), tcp);
                    if let Some(value) = proxy.authorization() {
                        tunnel = tunnel.with_auth(value.clone());
                    }
                    tunnel.call(to).await.map_err(through(&proxy))
                }
            }
        };
        let late = |_| io::Error::new(io::ErrorKind::TimedOut, "no connection was made in time");
        let stream = tokio::time::timeout(dial, connecting).await.map_err(late)??;
        if !target.is_tls {
            return Ok(Dialed { stream: Stream::Plain(stream), is_forwarded });
        }
        let current = outbound.tls().current().map_err(io::Error::other)?;
        let config = match alpn {
            None => current.config,
            Some(protocol) => {
                let mut config = rustls::ClientConfig::clone(&current.config);
                config.alpn_protocols = vec![protocol.to_vec()];
                Arc::new(config)
            }
        };
        let bare = target.host.trim_start_matches('[').trim_end_matches(']').to_owned();
        let name = ServerName::try_from(bare)
            .map_err(|error| io::Error::new(io::ErrorKind::InvalidInput, error))?;
        let stream = TlsConnector::from(config).connect(name, stream.into_inner()).await;
        let stream = stream.map_err(|error| match current.problem {
            None => error,
            // The files that are shown may be too old.
            Some(problem) => io::Error::new(error.kind(), format!("{error}; {problem}")),
        })?;
        Ok(Dialed { stream: Stream::Tls(TokioIo::new(Box::new(stream))), is_forwarded: false })
    }
}

/// A failure of a proxy, by its name.
fn through<E: std::error::Error + 'static>(
    proxy: &crate::proxy::Proxy,
) -> impl FnOnce(E) -> io::Error {
    let name = proxy.to_string();
    move |error| {
        let (mut text, mut source) = (error.to_string(), error.source());
        while let Some(error) = source {
            text = format!("{text}: {error}");
            source = error.source();
        }
        io::Error::other(format!("through the proxy {name}: {text}"))
    }
}

impl Service<Uri> for Connector {
    type Response = Dialed;
    type Error = io::Error;
    type Future = Pin<Box<dyn Future<Output = io::Result<Dialed>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, _: Uri) -> Self::Future {
        Box::pin(self.clone().connect())
    }
}

/// An open connection to a target, over TLS and through a proxy where the route asks for them.
#[derive(Debug)]
pub struct Dialed {
    stream: Stream,
    is_forwarded: bool,
}

#[derive(Debug)]
enum Stream {
    Plain(TokioIo<TcpStream>),
    Tls(TokioIo<Box<TlsStream<TcpStream>>>),
}

impl Connection for Dialed {
    fn connected(&self) -> Connected {
        Connected::new().proxy(self.is_forwarded)
    }
}

impl Read for Dialed {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        into: ReadBufCursor<'_>,
    ) -> Poll<io::Result<()>> {
        match &mut self.get_mut().stream {
            Stream::Plain(stream) => Pin::new(stream).poll_read(context, into),
            Stream::Tls(stream) => Pin::new(stream).poll_read(context, into),
        }
    }
}

impl Write for Dialed {
    fn poll_write(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        match &mut self.get_mut().stream {
            Stream::Plain(stream) => Pin::new(stream).poll_write(context, bytes),
            Stream::Tls(stream) => Pin::new(stream).poll_write(context, bytes),
        }
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        match &mut self.get_mut().stream {
            Stream::Plain(stream) => Pin::new(stream).poll_flush(context),
            Stream::Tls(stream) => Pin::new(stream).poll_flush(context),
        }
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        match &mut self.get_mut().stream {
            Stream::Plain(stream) => Pin::new(stream).poll_shutdown(context),
            Stream::Tls(stream) => Pin::new(stream).poll_shutdown(context),
        }
    }
}

//! Answering an authority's question over plain HTTP.

use std::convert::Infallible;
use std::io;
use std::net::SocketAddr;

use http::{Request, Response, StatusCode};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::TcpListener;
use tokio::task::JoinSet;

use crate::listen::accept;

const PREFIX: &str = "/.well-known/acme-challenge/";
/// Connections at once; authorities look from a handful of places.
const CONNECTIONS: usize = 64;

/// Answers that `token` is `answer`, until dropped.
pub(super) async fn listen(
    at: SocketAddr,
    token: String,
    answer: String,
) -> io::Result<impl Future<Output = Infallible>> {
    let listener = TcpListener::bind(at).await?;
    Ok(async move {
        let mut connections = JoinSet::new();
        loop {
            let (tcp, _) = accept(&listener).await;
            while connections.try_join_next().is_some() {}
            if connections.len() >= CONNECTIONS {
                continue;
            }
            let (path, answer) = (format!("{PREFIX}{token}"), answer.clone());
            let service = service_fn(move |request: Request<Incoming>| {
                let response = respond(&request, &path, &answer);
                async move { Ok::<_, Infallible>(response) }
            });
            let connection = http1::Builder::new()
                .timer(TokioTimer::new())
                .keep_alive(false)
                .serve_connection(TokioIo::new(tcp), service);
            connections.spawn(connection);
        }
    })
}

fn respond<B>(request: &Request<B>, path: &str, answer: &str) -> Response<String> {
    let found = request.uri().path() == path;
    let mut response = Response::new(if found { answer.to_owned() } else { String::new() });
    if !found {
        *response.status_mut() = StatusCode::NOT_FOUND;
    }
    response
}

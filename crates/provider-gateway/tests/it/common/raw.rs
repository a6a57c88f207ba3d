//! HTTP as it is on the wire, and as it was recorded.

use std::net::SocketAddr;

use provider_api::error::CODE_HEADER;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpStream;

use super::World;

/// An answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    /// Names in lower case.
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: String,
}

impl Answer {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|(known, _)| known == name);
        found.map(|(_, value)| value.as_str())
    }

    fn parse(text: &str) -> Self {
        let text = text.replace("\r\n", "\n");
        let (head, body) = text.split_once("\n\n").unwrap_or((&text, ""));
        let mut lines = head.lines();
        let status = lines.next().unwrap().split(' ').nth(1).unwrap().parse().unwrap();
        let headers = lines.map(|line| {
            let (name, value) = line.split_once(':').unwrap();
            (name.to_ascii_lowercase(), value.trim().to_owned())
        });
        Self { status, headers: headers.collect(), body: body.to_owned() }
    }
}

/// Asks as a client that sends exactly this.
pub(crate) async fn ask(
    address: SocketAddr,
    method: &str,
    path: &str,
    headers: &[(&str, &str)],
    body: &str,
) -> Answer {
    let tcp = TcpStream::connect(address).await.unwrap();
    exchange(tcp, &address.to_string(), method, path, headers, body).await.unwrap()
}

/// Asks over a connection that is used for nothing else.
pub(crate) async fn exchange(
    mut connection: impl AsyncRead + AsyncWrite + Unpin,
    host: &str,
    method: &str,
    path: &str,
    headers: &[(&str, &str)],
    body: &str,
) -> std::io::Result<Answer> {
    let mut request = format!("{method} {path} HTTP/1.1\r\nHost: {host}\r\n");
    if !headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("connection")) {
        request.push_str("Connection: close\r\n");
    }
    for (name, value) in headers {
        request.push_str(&format!("{name}: {value}\r\n"));
    }
    if !body.is_empty() {
        request.push_str(&format!("Content-Length: {}\r\n", body.len()));
    }
    request.push_str("\r\n");
    request.push_str(body);
    connection.write_all(request.as_bytes()).await?;
    connection.flush().await?;
    let mut answer = Vec::new();
    connection.read_to_end(&mut answer).await?;
    Ok(Answer::parse(&String::from_utf8(answer).unwrap()))
}

/// What was asked and answered when it was recorded.
pub(crate) struct Recorded {
    pub(crate) method: String,
    pub(crate) path: String,
    /// Name of the token; empty for none.
    pub(crate) token: String,
    pub(crate) answer: Answer,
}

pub(crate) fn recorded(name: &str) -> Recorded {
    let text = super::fixture(&format!("gateway/rest/{name}.http")).replace("\r\n", "\n");
    let (request, answer) = text.split_once("\nHTTP/1.1 ").unwrap();
    let line = |key: &str| request.lines().find_map(|line| line.strip_prefix(key));
    let first = line("> ").unwrap();
    let (method, path) = first.split_once(' ').unwrap();
    let auth = line("> auth: ").unwrap_or_default().trim();
    let token = auth.strip_prefix("jwt:").or_else(|| auth.strip_prefix("cert:"));
    let answer = Answer::parse(&format!("HTTP/1.1 {answer}"));
    Recorded {
        method: method.to_owned(),
        path: path.to_owned(),
        token: token.unwrap_or_default().to_owned(),
        answer,
    }
}

/// What clients read of an answer.
pub(crate) fn read_by_clients(answer: &Answer) -> (u16, Vec<Option<String>>, String) {
    let names = ["content-type", "x-content-type-options", "sec-websocket-version", "location"];
    let headers = names.iter().map(|name| answer.header(name).map(str::to_owned)).collect();
    (answer.status, headers, answer.body.clone())
}

pub(crate) async fn replay(world: &World, name: &str, body: &str) -> (Answer, Answer) {
    let recorded = recorded(name);
    let bearer = format!("Bearer {}", recorded.token);
    let headers: &[(&str, &str)] = match recorded.token.as_str() {
        "" => &[],
        _ => &[("Authorization", &bearer)],
    };
    let answer = ask(world.address, &recorded.method, &recorded.path, headers, body).await;
    (answer, recorded.answer)
}

pub(crate) async fn assert_replays(world: &World, name: &str, body: &str) {
    let (answer, recorded) = replay(world, name, body).await;
    assert_eq!(read_by_clients(&answer), read_by_clients(&recorded), "{name}");
    assert!(
        answer.status == 200 || answer.status == 301 || answer.header(CODE_HEADER).is_some(),
        "{name}: {answer:?}"
    );
}

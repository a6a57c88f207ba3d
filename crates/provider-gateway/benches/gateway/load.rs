//! Clients that ask again and again on connections that they keep.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio_rustls::client::TlsStream;

use crate::secured::support::Client;

/// How long each answer took.
pub(crate) async fn ask_for(
    measure: Duration,
    address: SocketAddr,
    connections: usize,
    path: &str,
    bearer: Option<&str>,
) -> Vec<Duration> {
    let header = bearer.map(|bearer| format!("Authorization: {bearer}\r\n")).unwrap_or_default();
    let request = format!("GET {path} HTTP/1.1\r\nHost: localhost:8443\r\n{header}\r\n");
    let mut tasks = Vec::new();
    for _ in 0..connections {
        let stream = Client::new().connect(address).await.unwrap();
        stream.get_ref().0.set_nodelay(true).unwrap();
        tasks.push(tokio::spawn(keep_asking(measure, stream, request.clone())));
    }
    let mut all = Vec::new();
    for task in tasks {
        all.extend(task.await.unwrap());
    }
    all
}

async fn keep_asking(
    measure: Duration,
    mut stream: TlsStream<TcpStream>,
    request: String,
) -> Vec<Duration> {
    let (begun, mut took) = (Instant::now(), Vec::new());
    let mut buffer = vec![0; 1 << 20];
    while begun.elapsed() < measure {
        let asked = Instant::now();
        stream.write_all(request.as_bytes()).await.unwrap();
        let (mut got, mut whole) = (0, None);
        while whole.is_none_or(|whole| got < whole) {
            let read = stream.read(&mut buffer[got..]).await.unwrap();
            assert!(read > 0, "the gateway hung up");
            got += read;
            whole = whole.or_else(|| length(&buffer[..got]));
        }
        took.push(asked.elapsed());
    }
    took
}

/// How long an answer is in all, once its head is there.
fn length(read: &[u8]) -> Option<usize> {
    let head = read.windows(4).position(|end| end == b"\r\n\r\n")?;
    let text = std::str::from_utf8(&read[..head]).unwrap();
    assert!(text.starts_with("HTTP/1.1 200"), "{text}");
    let body = text.lines().find_map(|line| line.strip_prefix("content-length: "));
    Some(head + 4 + body.expect("a length").parse::<usize>().unwrap())
}

/// The time within which so many of a hundred were answered, in milliseconds.
pub(crate) fn percentile(mut took: Vec<Duration>, percent: usize) -> String {
    took.sort_unstable();
    let at = (took.len() * percent / 100).min(took.len() - 1);
    format!("{:.3}", took[at].as_secs_f64() * 1000.0)
}

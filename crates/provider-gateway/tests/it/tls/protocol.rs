//! Versions and protocols.

use provider_gateway::tls::{Limits, Protocol};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::secured::support::{Client, get};
use crate::tls::server::Running;

#[tokio::test]
async fn tls_1_2_is_refused_by_its_alert() {
    let server = Running::http1().await;
    let client = Client::of_version(&rustls::version::TLS12);
    let error = client.connect(server.address).await.unwrap_err();
    assert!(error.to_string().contains("ProtocolVersion"), "{error}");
}

#[tokio::test]
async fn rest_never_answers_alpn() {
    let server = Running::http1().await;
    let client = Client::new().alpn(&["h2", "http/1.1"]);
    let mut stream = client.connect(server.address).await.unwrap();
    assert_eq!(stream.get_ref().1.alpn_protocol(), None);
    for _ in 0..3 {
        assert_eq!(get(&mut stream, "/").await.unwrap(), (200, "nobody".to_owned()));
    }
}

#[tokio::test]
async fn grpc_needs_alpn_h2() {
    let server = Running::start(Protocol::Http2, Limits::default()).await;
    let mut stream = Client::new().connect(server.address).await.unwrap();
    let mut byte = [0];
    // The handshake ends well and then the connection.
    assert!(matches!(stream.read(&mut byte).await, Ok(0) | Err(_)));
    server.hears("HTTP/2").await;

    let client = Client::new().alpn(&["h2"]);
    let mut stream = client.connect(server.address).await.unwrap();
    assert_eq!(stream.get_ref().1.alpn_protocol(), Some(&b"h2"[..]));
    // Preface and empty settings; the answer begins with settings: type 4.
    stream.write_all(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0").await.unwrap();
    let mut head = [0; 9];
    stream.read_exact(&mut head).await.unwrap();
    assert_eq!(head[3], 4);
}

#[tokio::test]
async fn plain_http_and_nonsense_harm_nobody() {
    let server = Running::http1().await;
    for bytes in [&b"GET / HTTP/1.1\r\nhost: x\r\n\r\n"[..], &[0xff; 600], b"\x16\x03\x01\xff\xff"]
    {
        let mut tcp = TcpStream::connect(server.address).await.unwrap();
        tcp.write_all(bytes).await.unwrap();
        tcp.shutdown().await.unwrap();
        let mut rest = Vec::new();
        let _reset = tcp.read_to_end(&mut rest).await;
    }
    assert_eq!(Client::new().get(server.address, "/").await.unwrap().0, 200);
    assert_eq!(server.tally.snapshot().failed, 3);
}

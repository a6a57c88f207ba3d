//! Whatever bytes come to a port, the node answers or hangs up, and goes on.

use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;

use super::support::*;
use crate::server::Devnet;

/// Sends bytes to a port and reads what comes until it hangs up, or for a moment.
async fn throw(address: std::net::SocketAddr, bytes: &[u8]) -> Vec<u8> {
    let mut stream = TcpStream::connect(address).await.unwrap();
    let _ = stream.write_all(bytes).await;
    let _ = stream.shutdown().await;
    let mut answer = Vec::new();
    let limit = std::time::Duration::from_secs(2);
    let _ = timeout(limit, stream.read_to_end(&mut answer)).await;
    answer
}

/// Bytes that differ but are the same in every run.
fn noise(seed: u64, length: usize) -> Vec<u8> {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let next = |state: &mut u64| {
        *state ^= *state << 13;
        *state ^= *state >> 7;
        *state ^= *state << 17;
        state.to_le_bytes()[3]
    };
    (0..length).map(|_| next(&mut state)).collect()
}

async fn is_alive(devnet: &Devnet) {
    assert_eq!(result(devnet, "health", json!({})).await, json!({}));
}

#[tokio::test]
async fn noise_on_every_port_does_no_harm() {
    let devnet = start().await;
    for seed in 0..40 {
        let bytes = noise(seed, 1 + usize::try_from(seed).unwrap() * 13);
        throw(devnet.rpc_address(), &bytes).await;
        throw(devnet.grpc_address(), &bytes).await;
        let preface = [b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".as_slice(), &bytes].concat();
        throw(devnet.grpc_address(), &preface).await;
    }
    is_alive(&devnet).await;
}

#[tokio::test]
async fn noise_as_a_request_gets_a_json_rpc_error() {
    let devnet = start().await;
    for body in ["{", "[", "5", "\"x\"", "[1]", "{\"id\":{}}", "{\"id\":1.5e400}", "\u{0}"] {
        let (status, answer) = post(&devnet, body).await;
        assert!(status == 500 || answer.is_null(), "{body}: {answer}");
        assert_eq!(answer["error"]["code"], -32700, "{body}: {answer}");
    }
    for params in
        [json!(5), json!("x"), json!([1, 2, 3]), json!({"height": {}}), json!({"height": []})]
    {
        let answer = call(&devnet, "block", params).await;
        assert_eq!(answer["error"]["code"], -32602, "{answer}");
    }
    let deep = "[".repeat(100_000);
    let (status, _) = post(&devnet, &deep).await;
    assert_eq!(status, 500);
    is_alive(&devnet).await;
}

#[tokio::test]
async fn noise_over_websocket_gets_an_error_or_the_end() {
    let devnet = start().await;
    let mut socket = WebSocket::connect(&devnet).await;
    for text in ["", "{", "[]", "5", "{\"id\":[]}"] {
        socket.send(text).await;
        assert_eq!(socket.next().await["error"]["code"], -32700, "{text}");
    }
    for seed in 0..10 {
        let upgrade = b"GET /websocket HTTP/1.1\r\nhost: x\r\nconnection: upgrade\r\nupgrade: websocket\r\nsec-websocket-version: 13\r\nsec-websocket-key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n";
        throw(devnet.rpc_address(), &[upgrade.as_slice(), &noise(seed, 200)].concat()).await;
    }
    let plain = throw(devnet.rpc_address(), b"GET /websocket HTTP/1.1\r\nhost: x\r\n\r\n").await;
    assert!(plain.starts_with(b"HTTP/1.1 400"), "{}", String::from_utf8_lossy(&plain));
    is_alive(&devnet).await;
}

#[tokio::test]
async fn noise_as_transactions_and_queries_is_refused() {
    let devnet = start().await;
    for seed in 0..20 {
        let bytes = noise(seed, 64);
        let sent = result(&devnet, "broadcast_tx_sync", json!({"tx": base64(&bytes)})).await;
        assert_eq!(sent["code"], 2);
        for path in [
            "/cosmos.tx.v1beta1.Service/Simulate",
            "/cosmos.tx.v1beta1.Service/GetTx",
            "/cosmos.tx.v1beta1.Service/GetTxsEvent",
            "/cosmos.base.tendermint.v1beta1.Service/GetBlockByHeight",
            "/cosmos.base.tendermint.v1beta1.Service/ABCIQuery",
        ] {
            let params = json!({"path": path, "data": hex::encode(&bytes)});
            result(&devnet, "abci_query", params).await;
        }
    }
    is_alive(&devnet).await;
}

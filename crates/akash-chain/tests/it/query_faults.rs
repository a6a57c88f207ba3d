//! Nodes that fail: silent, slow, broken, lying. Every one gives a typed error, and none of them
//! "not found".

use std::net::SocketAddr;
use std::time::Duration;

use akash_chain::query::{Failure, Malformed, Node, Query, QueryError, Transport, Unavailable};
use akash_chain::transport::{Connection, Endpoint, Limits, RpcClient};
use akash_types::LeaseId;
use proptest::prelude::*;
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

use crate::query_support::{Call, FakeNode, Say};

fn lease_id() -> LeaseId {
    let (owner, provider) = (
        "akash16emlsfgm325de4hwqgu9wszg8fvcm0yw0wk84r",
        "akash1rhal6a4vawtnwex8nda7u6tueeesllpeagpdq8",
    );
    format!("{owner}/101/1/1/{provider}").parse().unwrap()
}

/// For what never comes: no time is lost over it.
fn short() -> Limits {
    Limits { request: Duration::from_millis(400), ..small() }
}

/// For what comes, however slow the machine is.
fn small() -> Limits {
    let long = Duration::from_secs(60);
    Limits { dial: long, request: long, answer_bytes: 64 << 10 }
}

fn both(address: SocketAddr, limits: Limits) -> [Connection; 2] {
    let rpc = RpcClient::new(Endpoint::rpc(&address.to_string()).unwrap(), limits).unwrap();
    let grpc = Endpoint::grpc(&format!("http://{address}")).unwrap();
    [
        Connection::new(&rpc, Some(&grpc), limits).unwrap(),
        Connection::new(&rpc, None, limits).unwrap(),
    ]
}

/// What both transports make of a node.
async fn errors(connections: [Connection; 2]) -> [QueryError; 2] {
    let [grpc, abci] = connections;
    let by_grpc = Query::new(grpc).lease(lease_id()).await.unwrap_err();
    let by_abci = Query::new(abci).lease(lease_id()).await.unwrap_err();
    for error in [&by_grpc, &by_abci] {
        assert!(error.asked().starts_with("lease akash1"), "{error}");
        assert!(!matches!(error.failure(), Failure::NotFound { .. }), "{error:?}");
    }
    [by_grpc, by_abci]
}

/// A server that reads a little, writes these bytes to everyone, and hangs up.
async fn blurts(bytes: &'static [u8]) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            tokio::spawn(async move {
                let mut buffer = [0; 4096];
                let _ = stream.read(&mut buffer).await;
                let _ = stream.write_all(bytes).await;
            });
        }
    });
    address
}

#[tokio::test]
async fn nobody_listens() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    drop(listener);
    for error in errors(both(address, small())).await {
        let connect = matches!(error.unavailable(), Some(Unavailable::Connect { .. }));
        assert!(connect && error.is_transient(), "{error:?}");
    }
}

#[tokio::test]
async fn nobody_answers() {
    let node = FakeNode::start(|_| Say::Nothing).await;
    for error in errors(node.both_with(short())).await {
        let timeout = matches!(error.unavailable(), Some(Unavailable::Timeout { .. }));
        assert!(timeout && error.is_transient(), "{error:?}");
    }
}

#[tokio::test]
async fn connections_break_and_strangers_answer() {
    for bytes in [
        &b""[..],
        b"SSH-2.0-OpenSSH_9.9\r\n",
        b"HTTP/1.1 200 OK\r\ncontent-length: 500\r\n\r\n{\"result\":",
        b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nff\r\n{",
        b"HTTP/1.1 200 OK\r\ncontent-length: 18446744073709551615\r\n\r\n{}",
        b"\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0",
    ] {
        for error in errors(both(blurts(bytes).await, short())).await {
            assert!(error.unavailable().is_some(), "{bytes:?}: {error:?}");
            assert!(error.is_transient(), "{bytes:?}: {error:?}");
        }
    }
}

#[tokio::test]
async fn tls_is_spoken_and_not_given_up_for_plain_text() {
    let node = FakeNode::start(|call| Say::answer(call, vec![], 7)).await;
    let limits = short();
    let url = format!("https://{}", node.address);
    let rpc = RpcClient::new(Endpoint::rpc(&url).unwrap(), limits).unwrap();
    let grpc = Endpoint::grpc(&url).unwrap();
    let connections = [
        Connection::new(&rpc, Some(&grpc), limits).unwrap(),
        Connection::new(&rpc, None, limits).unwrap(),
    ];
    for error in errors(connections).await {
        assert!(error.unavailable().is_some(), "{error:?}");
    }
    assert!(node.asked().is_empty());
}

#[tokio::test]
async fn questions_can_be_asked_from_tasks() {
    let node = FakeNode::start(|call| Say::answer(call, vec![], 7)).await;
    for connection in node.both() {
        let query = Query::new(connection);
        let list = tokio::spawn(async move { query.open_orders().await }).await.unwrap().unwrap();
        assert_eq!((list.value.items.len(), list.height), (0, Some(7)));
    }
}

#[tokio::test]
async fn proxies_answer_for_the_node() {
    for (status, transient) in [
        (400, false),
        (401, false),
        (403, false),
        (404, false),
        (429, true),
        (502, true),
        (503, true),
    ] {
        let body = b"<html>no</html>".to_vec();
        let node = FakeNode::start(move |_| Say::Http { status, body: body.clone() }).await;
        let [by_grpc, by_abci] = errors(node.both()).await;
        let endpoint = format!("http://{}", node.address);
        let expected = Unavailable::HttpStatus { endpoint, status };
        assert_eq!(by_abci.unavailable(), Some(&expected));
        assert_eq!(by_abci.is_transient(), transient, "{status}");
        if transient {
            assert!(by_grpc.is_transient(), "{status}: {by_grpc:?}");
        }
    }
}

#[tokio::test]
async fn answers_are_too_large() {
    let node = FakeNode::start(|call| Say::answer(call, vec![0; 100 << 10], 7)).await;
    for error in errors(node.both_with(small())).await {
        let expected = Failure::Malformed(Malformed::TooLarge { limit: 64 << 10 });
        assert_eq!(error.failure(), &expected);
    }
}

#[tokio::test]
async fn answers_make_no_sense() {
    // Bytes that are no message, and a message without what it must hold.
    let node = FakeNode::start(|call| Say::answer(call, vec![0x0a, 0xff, 0xff], 7)).await;
    for error in errors(node.both()).await {
        let protobuf = matches!(error.failure(), Failure::Malformed(Malformed::Protobuf { .. }));
        assert!(protobuf && !error.is_transient(), "{error:?}");
    }
    let node = FakeNode::start(|call| Say::answer(call, vec![], 7)).await;
    for error in errors(node.both()).await {
        let missing = Malformed::Missing { part: "lease" };
        assert_eq!(error.failure(), &Failure::Malformed(missing));
    }
    for body in ["", "[", "<html>", "{}", "{\"result\":null}"] {
        let say = Say::Http { status: 200, body: body.as_bytes().to_vec() };
        let node = FakeNode::start(move |_| say.clone()).await;
        let [_, by_abci] = errors(node.both()).await;
        let stranger = matches!(by_abci.unavailable(), Some(Unavailable::NotANode { .. }));
        assert!(stranger, "{body}: {by_abci:?}");
    }
    for result in [
        json!([]),
        json!({}),
        json!({"response": {"code": "x"}}),
        json!({"response": {"code": 0, "value": "%%%"}}),
        json!({"response": {"code": -1}}),
    ] {
        let say = Say::Json(json!({"result": result}));
        let node = FakeNode::start(move |_| say.clone()).await;
        let [_, by_abci] = errors(node.both()).await;
        let malformed = matches!(by_abci.failure(), Failure::Malformed(Malformed::Json { .. }));
        assert!(malformed, "{by_abci:?}");
    }
}

#[tokio::test]
async fn json_rpc_errors_mean_the_same_with_either_status() {
    let error = json!({"code": -32603, "message": "Internal error", "data": "lease not found"});
    for status in [200, 500] {
        let body = json!({"jsonrpc": "2.0", "id": 1, "error": error}).to_string().into_bytes();
        let node = FakeNode::start(move |_| Say::Http { status, body: body.clone() }).await;
        let [_, abci] = node.both();
        let error = Query::new(abci).lease(lease_id()).await.unwrap_err();
        let expected = Unavailable::Node { text: "lease not found".to_owned() };
        assert_eq!(error.unavailable(), Some(&expected), "{status}");
    }
}

#[tokio::test]
async fn a_node_that_starts_or_lacks_a_block_is_asked_again_later() {
    let not_ready = "akash is not ready; please wait for first block";
    let node = FakeNode::start(move |call| match call {
        Call::Grpc { .. } => Say::GrpcStatus { code: 2, message: not_ready.to_owned() },
        Call::Rpc { method, .. } if method == "abci_query" => {
            let response = json!({"code": 26, "codespace": "sdk", "log": not_ready});
            Say::Json(json!({"result": {"response": response}}))
        }
        Call::Rpc { .. } => {
            let data = "could not find results for height #170";
            Say::Json(json!({"error": {"code": -32603, "message": "Internal error", "data": data}}))
        }
    })
    .await;
    for error in errors(node.both()).await {
        assert!(error.is_transient(), "{error:?}");
    }
    let error = Node::new(node.rpc()).block_results(170).await.unwrap_err();
    assert!(error.is_transient() && error.asked().contains("170"), "{error:?}");
    assert!(Node::new(node.rpc()).tx([1; 32].into()).await.is_err());
}

#[tokio::test]
async fn credentials_go_to_the_node_by_both_ways() {
    let node = FakeNode::start(|call| Say::answer(call, vec![], 7)).await;
    let limits = Limits::default();
    let rpc = format!("http://user:pass@{}/some/path", node.address);
    let rpc = RpcClient::new(Endpoint::rpc(&rpc).unwrap(), limits).unwrap();
    let grpc = Endpoint::grpc(&format!("http://user:pass@{}", node.address)).unwrap();
    for grpc in [Some(&grpc), None] {
        let transport = Connection::new(&rpc, grpc, limits).unwrap();
        transport.unary("/akash.market.v1beta5.Query/Params", vec![]).await.unwrap();
    }
    for call in node.asked() {
        let (Call::Grpc { authorization, .. } | Call::Rpc { authorization, .. }) = &call;
        assert_eq!(authorization.as_deref(), Some("Basic dXNlcjpwYXNz"), "{call:?}");
        if let Call::Rpc { path, .. } = &call {
            assert_eq!(path, "/some/path");
        }
    }
}

#[test]
fn no_bytes_of_a_node_panic() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let strategy = prop_oneof![
        proptest::collection::vec(any::<u8>(), 0..200),
        "\\{\"(result|error)\":[\\[\\]{}:,\"a-z0-9]{0,40}\\}?".prop_map(String::into_bytes),
    ];
    proptest!(ProptestConfig::with_cases(64), |(bytes in strategy)| {
        runtime.block_on(async {
            let body = bytes.clone();
            let node = FakeNode::start(move |call| match call {
                Call::Grpc { .. } => Say::Message { bytes: body.clone(), height: None },
                Call::Rpc { .. } => Say::Http { status: 200, body: body.clone() },
            })
            .await;
            for connection in node.both() {
                let query = Query::new(connection);
                let _ = query.lease(lease_id()).await;
                let _ = query.account(lease_id().owner()).await;
                let _ = query.audits_of(lease_id().owner()).await;
            }
            let node = Node::new(node.rpc());
            let _ = (node.status().await, node.block(1).await, node.block_results(1).await);
            let _ = node.tx([0; 32].into()).await;
        });
    });
}

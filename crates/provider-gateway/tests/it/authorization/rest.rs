//! What somebody gets over HTTP and WebSocket.

use std::time::Duration;

use futures_util::StreamExt;
use provider_api::error::CODE_HEADER;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::tungstenite::{Error, Message};

use crate::authorization::principals::Shown;
use crate::common::raw::exchange;
use crate::common::{case, fixture};
use crate::secured::Secured;

/// Every route; the ones in a lease are asked of 9002, which has `web` and `db`.
pub(crate) const ROUTES: [(&str, &str); 18] = [
    ("GET", "/version"),
    ("GET", "/address"),
    ("GET", "/status"),
    ("GET", "/metrics"),
    ("GET", "/validate"),
    ("PUT", "/deployment/9002/manifest"),
    ("GET", "/lease/9002/1/1/manifest"),
    ("GET", "/lease/9002/1/1/status"),
    ("GET", "/lease/9002/1/1/service/web/status"),
    ("GET", "/lease/9002/1/1/service/db/status"),
    ("WS", "/lease/9002/1/1/logs"),
    ("WS", "/lease/9002/1/1/logs?service=db"),
    ("WS", "/lease/9002/1/1/kubeevents"),
    ("WS", "/lease/9002/1/1/kubeevents?service=db"),
    ("WS", "/lease/9002/1/1/shell?cmd0=echo&cmd1=hi&tty=0&service=web&stdin=0&podIndex=0"),
    ("WS", "/lease/9002/1/1/shell?cmd0=echo&cmd1=hi&tty=0&service=db&stdin=0&podIndex=0"),
    ("POST", "/hostname/migrate"),
    ("POST", "/endpoint/migrate"),
];

fn body(path: &str) -> String {
    match path {
        "/validate" => {
            let (_, sdl) = case("02-two-services");
            let groups = akash_sdl::groups_to_json(sdl.groups());
            groups.trim_start_matches('[').trim_end_matches(']').to_owned()
        }
        "/deployment/9002/manifest" => fixture("kubernetes/02-two-services/manifest.json"),
        "/hostname/migrate" => migrate("hostnames"),
        "/endpoint/migrate" => migrate("endpoints"),
        _ => String::new(),
    }
}

fn migrate(what: &str) -> String {
    format!(r#"{{"{what}_to_migrate":["one"],"destination_dseq":9002,"destination_gseq":1}}"#)
}

/// The answer as a letter of the table, and its body.
pub(crate) async fn ask(
    gateway: &Secured,
    shown: &Shown,
    (method, path): (&str, &str),
) -> (char, String) {
    let stream = match shown.tls.connect(gateway.rest).await {
        Ok(stream) => stream,
        Err(error) => return (refused(&error), String::new()),
    };
    if method == "WS" {
        return converse(gateway, stream, shown, path).await;
    }
    let header = shown.header.as_deref().map(|header| ("Authorization", header));
    let headers: Vec<_> = header.into_iter().collect();
    match exchange(stream, "localhost", method, path, &headers, &body(path)).await {
        Ok(answer) => {
            let code = answer.header(CODE_HEADER).unwrap_or_default();
            (letter(answer.status, code, &answer.body), answer.body)
        }
        Err(error) => (refused(&error), String::new()),
    }
}

/// A handshake of TLS that fails does so with the alert that clients know.
fn refused(error: &std::io::Error) -> char {
    if error.to_string().contains("BadCertificate") { '!' } else { '?' }
}

fn letter(status: u16, code: &str, body: &str) -> char {
    let message = serde_json::from_str::<serde_json::Value>(body).unwrap_or_default();
    match (status, message["message"].as_str().unwrap_or_default()) {
        (200, _) => '+',
        (401, "unauthorized access") => '-',
        (401, "JWT is invalid") => 'j',
        (400, "JWT has invalid claims") => 'c',
        (400, "invalid authorization header") => 'h',
        (400, text) if text.starts_with("auth: ambiguous authentication.") => 'a',
        _ => match (status, code) {
            (404, "lease-not-found" | "deployment-not-found") | (400, "destination-not-found") => {
                '0'
            }
            _ => '?',
        },
    }
}

/// A stream that tells something is `+`; one that only says that there is no lease is `0`.
async fn converse(
    gateway: &Secured,
    stream: tokio_rustls::client::TlsStream<tokio::net::TcpStream>,
    shown: &Shown,
    path: &str,
) -> (char, String) {
    let uri = format!("wss://{}{path}", gateway.rest);
    let mut request = uri.into_client_request().unwrap();
    if let Some(header) = &shown.header {
        request.headers_mut().insert("authorization", header.parse().unwrap());
    }
    let mut socket = match tokio_tungstenite::client_async(request, stream).await {
        Ok((socket, _)) => socket,
        Err(Error::Http(answer)) => {
            let body = String::from_utf8(answer.body().clone().unwrap_or_default()).unwrap();
            let code = answer.headers().get(CODE_HEADER).map(|code| code.to_str().unwrap());
            return (letter(answer.status().as_u16(), code.unwrap_or_default(), &body), body);
        }
        Err(Error::Io(error)) => return (refused(&error), String::new()),
        Err(error) => panic!("{path}: {error}"),
    };
    let told = tokio::time::timeout(Duration::from_secs(10), socket.next());
    match told.await.expect("nothing is said").unwrap().unwrap() {
        Message::Text(text) => ('+', text.to_string()),
        // What a command wrote, or why none was started.
        Message::Binary(bytes) => match bytes.split_first() {
            Some((100, output)) => ('+', String::from_utf8(output.to_vec()).unwrap()),
            Some((102, result)) => {
                let result: serde_json::Value = serde_json::from_slice(result).unwrap();
                (
                    if result["message"] == "kube: lease not found" { '0' } else { '?' },
                    result.to_string(),
                )
            }
            _ => ('?', format!("{bytes:?}")),
        },
        Message::Close(Some(frame)) if u16::from(frame.code) == 4001 => ('0', String::new()),
        other => ('?', format!("{other:?}")),
    }
}

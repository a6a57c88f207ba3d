//! What reads requests, laid open for the fuzzer: read or refused, never a panic.

use super::args::Args;
use super::http::query_of;
use super::methods::METHODS;
use super::wire::{Request, Response, RpcError, answers_to_json, read_request, read_requests};

/// Reads a body as requests with the arguments of their methods, and as the query of a URL.
pub(in crate::server) fn read_rpc(body: &[u8]) {
    let one = read_request(body).ok().flatten();
    let several = read_requests(body).unwrap_or_default().into_iter().flatten();
    let answers: Vec<Response> = several.chain(one).map(|request| answer(&request)).collect();
    let json = answers_to_json(&answers);
    assert!(serde_json::from_str::<serde_json::Value>(&json).is_ok(), "an answer is JSON");

    let query = query_of(&String::from_utf8_lossy(body));
    for method in METHODS {
        let _ = Args::from_uri(method.args, &query);
    }
}

fn answer(request: &Request) -> Response {
    let found = METHODS.iter().find(|method| method.name == request.method);
    let read = match (found, &request.params) {
        (Some(method), Some(params)) => Args::from_json(method.args, params),
        _ => Err(String::new()),
    };
    let why = read.err().unwrap_or_default();
    Response::error(Some(request.id.clone()), RpcError::invalid_params(why))
}

//! The REST API of a node: its gRPC queries as JSON, by the same answers and descriptors.
//!
//! A real node's grpc-gateway is the model: names as in the .proto files, numbers of 64 bits as
//! texts, everything shown that is not set, errors with their gRPC code and the HTTP status for it.

use std::future::Future;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;

use Verb::{Get, Post};
use bytes::Bytes;
use http::header::HeaderValue;
use http::{HeaderMap, Method, Request, Response, StatusCode, header};
use http_body_util::{BodyExt, Full, Limited};
use hyper::body::Incoming;
use percent_encoding::percent_decode_str;
use prost::Message;
use serde::Serialize;
use tonic::Code;

use super::context::Context;
use super::grpc::{DISCOVERY, HEIGHT, height_of};
use super::services;
use super::services::{Found, Refusal};
use crate::node::App;

/// Most bytes of a request.
const MAX_BODY: usize = 1_000_000;
const JSON: HeaderValue = HeaderValue::from_static("application/json");
const ANYONE: HeaderValue = HeaderValue::from_static("*");
const ANSWERED_HEIGHT: &str = "grpc-metadata-x-cosmos-block-height";

type Answer = Response<Full<Bytes>>;

/// An error as a node writes it.
#[derive(Serialize)]
struct Problem {
    code: i32,
    message: String,
    details: [(); 0],
}

/// Why there is no answer: a gRPC status.
struct Failed {
    code: Code,
    text: String,
}

impl Failed {
    fn new(code: Code, text: impl Into<String>) -> Self {
        Self { code, text: text.into() }
    }

    fn unknown() -> Self {
        Self::new(Code::Unimplemented, "Not Implemented")
    }
}

pub(super) fn serve_on<A: App>(
    context: Arc<Context<A>>,
) -> impl Fn(Request<Incoming>, SocketAddr) -> Pin<Box<dyn Future<Output = Answer> + Send>>
+ Clone
+ Send
+ Sync
+ 'static {
    move |request, _| {
        let context = Arc::clone(&context);
        Box::pin(async move {
            let mut answer = if request.method() == Method::OPTIONS {
                preflight()
            } else {
                answer(&context, request).await.unwrap_or_else(|failed| refuse(&failed))
            };
            // Web pages ask from anywhere: there is nothing here to protect from them.
            answer.headers_mut().insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, ANYONE);
            answer
        })
    }
}

async fn answer<A: App>(
    context: &Context<A>,
    request: Request<Incoming>,
) -> Result<Answer, Failed> {
    let verb = match *request.method() {
        Method::GET => Verb::Get,
        Method::POST => Verb::Post,
        _ => return Err(Failed::unknown()),
    };
    let (route, fields) = find(verb, request.uri().path()).ok_or_else(Failed::unknown)?;
    let method = route.method;
    if let Some(text) = context.faults.failure(method) {
        return Err(Failed::new(Code::Unavailable, text));
    }
    let height = asked_height(request.headers())?;
    let asked = match verb {
        Verb::Get => parameters(method, &fields, request.uri().query().unwrap_or_default())?,
        Verb::Post => body(method, request).await?,
    };
    let found = if method == DISCOVERY {
        let view = context.view();
        let value = super::services::message(&view.chain.chain_id).encode_to_vec();
        Found { value, height: view.history.latest() }
    } else {
        services::query(context, method, &asked, height).await.map_err(failed)?
    };
    let document = akash_json::answer(method, &found.value);
    let document = document.map_err(|why| Failed::new(Code::Internal, why.to_string()))?;
    let mut answer = respond(StatusCode::OK, document.to_json());
    answer.headers_mut().insert(ANSWERED_HEIGHT, found.height.into());
    Ok(answer)
}

fn failed(refusal: Refusal) -> Failed {
    Failed::new(refusal.grpc_code, refusal.grpc_text)
}

fn asked_height(headers: &HeaderMap) -> Result<i64, Failed> {
    let Some(value) = headers.get(HEIGHT) else { return Ok(0) };
    let text = value.to_str().unwrap_or_default();
    height_of(text).map_err(|status| Failed::new(status.code(), status.message()))
}

/// The request that path and query ask for.
fn parameters(method: &str, fields: &[(String, String)], query: &str) -> Result<Vec<u8>, Failed> {
    let invalid =
        |why: akash_json::ParameterError| Failed::new(Code::InvalidArgument, why.to_string());
    let request = akash_json::Parameters::of(method);
    let mut request = request.map_err(|why| Failed::new(Code::Internal, why.to_string()))?;
    for (name, value) in fields {
        request.path(name, value).map_err(invalid)?;
    }
    let decode =
        |text: &str| percent_decode_str(&text.replace('+', " ")).decode_utf8_lossy().into_owned();
    for pair in query.split('&').filter(|pair| !pair.is_empty()) {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        request.query(&decode(name), &decode(value)).map_err(invalid)?;
    }
    Ok(request.encode())
}

async fn body(method: &str, request: Request<Incoming>) -> Result<Vec<u8>, Failed> {
    let invalid = |why: String| Failed::new(Code::InvalidArgument, why);
    let body = Limited::new(request.into_body(), MAX_BODY).collect().await;
    let body = body.map_err(|why| invalid(why.to_string()))?.to_bytes();
    let json = serde_json::from_slice(&body).map_err(|why| invalid(why.to_string()))?;
    akash_json::request(method, &json).map_err(|why| invalid(why.to_string()))
}

fn refuse(failed: &Failed) -> Answer {
    let problem = Problem { code: failed.code.into(), message: failed.text.clone(), details: [] };
    respond(http_status(failed.code), serde_json::to_string(&problem).unwrap_or_default())
}

fn respond(status: StatusCode, json: String) -> Answer {
    let mut answer = Response::new(Full::new(Bytes::from(json)));
    *answer.status_mut() = status;
    answer.headers_mut().insert(header::CONTENT_TYPE, JSON);
    answer
}

fn preflight() -> Answer {
    let mut answer = Response::new(Full::new(Bytes::new()));
    let headers = answer.headers_mut();
    let methods = HeaderValue::from_static("GET, HEAD, POST");
    headers.insert(header::ACCESS_CONTROL_ALLOW_METHODS, methods);
    headers.insert(header::ACCESS_CONTROL_ALLOW_HEADERS, ANYONE);
    answer
}

/// The HTTP status of a gRPC code, as grpc-gateway has it.
const fn http_status(code: Code) -> StatusCode {
    match code {
        Code::Ok => StatusCode::OK,
        Code::Cancelled => StatusCode::REQUEST_TIMEOUT,
        Code::InvalidArgument | Code::FailedPrecondition | Code::OutOfRange => {
            StatusCode::BAD_REQUEST
        }
        Code::DeadlineExceeded => StatusCode::GATEWAY_TIMEOUT,
        Code::NotFound => StatusCode::NOT_FOUND,
        Code::AlreadyExists | Code::Aborted => StatusCode::CONFLICT,
        Code::PermissionDenied => StatusCode::FORBIDDEN,
        Code::Unauthenticated => StatusCode::UNAUTHORIZED,
        Code::ResourceExhausted => StatusCode::TOO_MANY_REQUESTS,
        Code::Unimplemented => StatusCode::NOT_IMPLEMENTED,
        Code::Unavailable => StatusCode::SERVICE_UNAVAILABLE,
        Code::Unknown | Code::Internal | Code::DataLoss => StatusCode::INTERNAL_SERVER_ERROR,
    }
}

/// Where the fields of a request come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verb {
    Get,
    Post,
}

/// A path and the method that it stands for. A part in braces is a field of the request; one with
/// `=**` takes the rest of the path.
struct Route {
    verb: Verb,
    template: &'static str,
    method: &'static str,
}

const fn route(verb: Verb, template: &'static str, method: &'static str) -> Route {
    Route { verb, template, method }
}

/// The first that matches counts, so fixed parts come before fields.
#[rustfmt::skip]
const ROUTES: &[Route] = &[
    route(Get, "/akash/audit/v1/audit/attributes/list", "/akash.audit.v1.Query/AllProvidersAttributes"),
    route(Get, "/akash/audit/v1/audit/attributes/{owner}/list", "/akash.audit.v1.Query/ProviderAttributes"),
    route(Get, "/akash/audit/v1/audit/attributes/{auditor}/{owner}", "/akash.audit.v1.Query/ProviderAuditorAttributes"),
    route(Get, "/akash/provider/v1/auditor/{auditor}/list", "/akash.audit.v1.Query/AuditorAttributes"),
    route(Get, "/akash/cert/v1/certificates/list", "/akash.cert.v1.Query/Certificates"),
    route(Get, "/akash/deployment/v1beta4/deployments/list", "/akash.deployment.v1beta4.Query/Deployments"),
    route(Get, "/akash/deployment/v1beta4/deployments/info", "/akash.deployment.v1beta4.Query/Deployment"),
    route(Get, "/akash/deployment/v1beta4/groups/info", "/akash.deployment.v1beta4.Query/Group"),
    route(Get, "/akash/deployment/v1beta4/params", "/akash.deployment.v1beta4.Query/Params"),
    route(Get, "/akash/discovery/v1/info", "/akash.discovery.v1.Discovery/GetInfo"),
    route(Get, "/akash/escrow/v1/types/accounts", "/akash.escrow.v1.Query/Accounts"),
    route(Get, "/akash/escrow/v1/types/payments", "/akash.escrow.v1.Query/Payments"),
    route(Get, "/akash/market/v1beta5/orders/list", "/akash.market.v1beta5.Query/Orders"),
    route(Get, "/akash/market/v1beta5/orders/info", "/akash.market.v1beta5.Query/Order"),
    route(Get, "/akash/market/v1beta5/bids/list", "/akash.market.v1beta5.Query/Bids"),
    route(Get, "/akash/market/v1beta5/bids/info", "/akash.market.v1beta5.Query/Bid"),
    route(Get, "/akash/market/v1beta5/leases/list", "/akash.market.v1beta5.Query/Leases"),
    route(Get, "/akash/market/v1beta5/leases/info", "/akash.market.v1beta5.Query/Lease"),
    route(Get, "/akash/market/v1beta5/params", "/akash.market.v1beta5.Query/Params"),
    route(Get, "/akash/oracle/v2/aggregated_price/{denom=**}", "/akash.oracle.v2.Query/AggregatedPrice"),
    route(Get, "/akash/provider/v1beta4/providers", "/akash.provider.v1beta4.Query/Providers"),
    route(Get, "/akash/provider/v1beta4/providers/{owner}", "/akash.provider.v1beta4.Query/Provider"),
    route(Get, "/cosmos/auth/v1beta1/accounts", "/cosmos.auth.v1beta1.Query/Accounts"),
    route(Get, "/cosmos/auth/v1beta1/accounts/{address}", "/cosmos.auth.v1beta1.Query/Account"),
    route(Get, "/cosmos/auth/v1beta1/account_info/{address}", "/cosmos.auth.v1beta1.Query/AccountInfo"),
    route(Get, "/cosmos/auth/v1beta1/address_by_id/{id}", "/cosmos.auth.v1beta1.Query/AccountAddressByID"),
    route(Get, "/cosmos/auth/v1beta1/params", "/cosmos.auth.v1beta1.Query/Params"),
    route(Get, "/cosmos/auth/v1beta1/module_accounts", "/cosmos.auth.v1beta1.Query/ModuleAccounts"),
    route(Get, "/cosmos/auth/v1beta1/module_accounts/{name}", "/cosmos.auth.v1beta1.Query/ModuleAccountByName"),
    route(Get, "/cosmos/auth/v1beta1/bech32", "/cosmos.auth.v1beta1.Query/Bech32Prefix"),
    route(Get, "/cosmos/auth/v1beta1/bech32/{address_string}", "/cosmos.auth.v1beta1.Query/AddressStringToBytes"),
    route(Get, "/cosmos/authz/v1beta1/grants", "/cosmos.authz.v1beta1.Query/Grants"),
    route(Get, "/cosmos/authz/v1beta1/grants/granter/{granter}", "/cosmos.authz.v1beta1.Query/GranterGrants"),
    route(Get, "/cosmos/authz/v1beta1/grants/grantee/{grantee}", "/cosmos.authz.v1beta1.Query/GranteeGrants"),
    route(Get, "/cosmos/bank/v1beta1/balances/{address}", "/cosmos.bank.v1beta1.Query/AllBalances"),
    route(Get, "/cosmos/bank/v1beta1/balances/{address}/by_denom", "/cosmos.bank.v1beta1.Query/Balance"),
    route(Get, "/cosmos/bank/v1beta1/spendable_balances/{address}", "/cosmos.bank.v1beta1.Query/SpendableBalances"),
    route(Get, "/cosmos/bank/v1beta1/spendable_balances/{address}/by_denom", "/cosmos.bank.v1beta1.Query/SpendableBalanceByDenom"),
    route(Get, "/cosmos/bank/v1beta1/supply", "/cosmos.bank.v1beta1.Query/TotalSupply"),
    route(Get, "/cosmos/bank/v1beta1/supply/by_denom", "/cosmos.bank.v1beta1.Query/SupplyOf"),
    route(Get, "/cosmos/bank/v1beta1/params", "/cosmos.bank.v1beta1.Query/Params"),
    route(Get, "/cosmos/bank/v1beta1/denoms_metadata", "/cosmos.bank.v1beta1.Query/DenomsMetadata"),
    route(Get, "/cosmos/bank/v1beta1/denoms_metadata/{denom=**}", "/cosmos.bank.v1beta1.Query/DenomMetadata"),
    route(Get, "/cosmos/base/tendermint/v1beta1/node_info", "/cosmos.base.tendermint.v1beta1.Service/GetNodeInfo"),
    route(Get, "/cosmos/base/tendermint/v1beta1/syncing", "/cosmos.base.tendermint.v1beta1.Service/GetSyncing"),
    route(Get, "/cosmos/base/tendermint/v1beta1/blocks/latest", "/cosmos.base.tendermint.v1beta1.Service/GetLatestBlock"),
    route(Get, "/cosmos/base/tendermint/v1beta1/blocks/{height}", "/cosmos.base.tendermint.v1beta1.Service/GetBlockByHeight"),
    route(Get, "/cosmos/base/tendermint/v1beta1/validatorsets/latest", "/cosmos.base.tendermint.v1beta1.Service/GetLatestValidatorSet"),
    route(Get, "/cosmos/base/tendermint/v1beta1/validatorsets/{height}", "/cosmos.base.tendermint.v1beta1.Service/GetValidatorSetByHeight"),
    route(Get, "/cosmos/base/tendermint/v1beta1/abci_query", "/cosmos.base.tendermint.v1beta1.Service/ABCIQuery"),
    route(Get, "/cosmos/feegrant/v1beta1/allowance/{granter}/{grantee}", "/cosmos.feegrant.v1beta1.Query/Allowance"),
    route(Get, "/cosmos/feegrant/v1beta1/allowances/{grantee}", "/cosmos.feegrant.v1beta1.Query/Allowances"),
    route(Get, "/cosmos/feegrant/v1beta1/issued/{granter}", "/cosmos.feegrant.v1beta1.Query/AllowancesByGranter"),
    route(Get, "/cosmos/tx/v1beta1/txs", "/cosmos.tx.v1beta1.Service/GetTxsEvent"),
    route(Get, "/cosmos/tx/v1beta1/txs/block/{height}", "/cosmos.tx.v1beta1.Service/GetBlockWithTxs"),
    route(Get, "/cosmos/tx/v1beta1/txs/{hash}", "/cosmos.tx.v1beta1.Service/GetTx"),
    route(Post, "/cosmos/tx/v1beta1/txs", "/cosmos.tx.v1beta1.Service/BroadcastTx"),
    route(Post, "/cosmos/tx/v1beta1/simulate", "/cosmos.tx.v1beta1.Service/Simulate"),
    route(Post, "/cosmos/tx/v1beta1/decode", "/cosmos.tx.v1beta1.Service/TxDecode"),
    route(Post, "/cosmos/tx/v1beta1/encode", "/cosmos.tx.v1beta1.Service/TxEncode"),
];

/// The method of a path, and the fields that the path has.
fn find(verb: Verb, path: &str) -> Option<(&'static Route, Vec<(String, String)>)> {
    ROUTES
        .iter()
        .filter(|route| route.verb == verb)
        .find_map(|route| Some((route, matched(route.template, path)?)))
}

fn matched(template: &str, path: &str) -> Option<Vec<(String, String)>> {
    let mut fields = Vec::new();
    let mut rest = path.strip_prefix('/')?;
    for part in template.trim_start_matches('/').split('/') {
        let field = part.strip_prefix('{').and_then(|part| part.strip_suffix('}'));
        if let Some(name) = field.and_then(|field| field.strip_suffix("=**")) {
            fields.push((name.to_owned(), decoded(rest)));
            return (!rest.is_empty()).then_some(fields);
        }
        let (segment, after) = rest.split_once('/').map_or((rest, None), |(a, b)| (a, Some(b)));
        match field {
            Some(name) if !segment.is_empty() => fields.push((name.to_owned(), decoded(segment))),
            None if segment == part => {}
            _ => return None,
        }
        // A further part of the template finds nothing left, and so does not match.
        rest = after.unwrap_or("\0");
    }
    (rest == "\0").then_some(fields)
}

fn decoded(text: &str) -> String {
    percent_decode_str(text).decode_utf8_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use akash_proto::akash::market::v1beta5::QueryOrdersRequest;
    use serde_json::Value;

    use super::*;
    use crate::server::services::SERVED;

    fn recorded() -> impl Iterator<Item = (Value, String, String)> {
        let lines = include_str!("../../../../../fixtures/chain/grpc.jsonl").lines();
        lines.filter_map(|line| {
            let call: Value = serde_json::from_str(line).unwrap();
            let asked = call["rest_path"].as_str()?.to_owned();
            let (path, query) = asked.split_once('?').unwrap_or((&asked, ""));
            Some((call, path.to_owned(), query.to_owned()))
        })
    }

    #[test]
    fn recorded_urls_ask_what_was_asked_over_grpc() {
        let mut compared = 0;
        for (call, path, query) in recorded() {
            let Some((route, fields)) = find(Verb::Get, &path) else {
                assert_eq!(call["rest_status"], 501, "{path}");
                continue;
            };
            assert_eq!(call["method"], route.method, "{path}");
            let asked = parameters(route.method, &fields, &query).unwrap_or_else(|_| panic!());
            // Many were recorded with pages of a hundred, counted, over gRPC alone.
            let wanted = call["request_hex"].as_str().unwrap();
            let wanted = wanted.strip_suffix("120418642001").unwrap_or(wanted);
            let wanted = hex::decode(wanted).unwrap();
            if route.method.ends_with("/Orders") {
                // Some were recorded with other pages there.
                let read = |bytes: &[u8]| QueryOrdersRequest::decode(bytes).unwrap().filters;
                assert_eq!(read(&asked).unwrap_or_default(), read(&wanted).unwrap_or_default());
            } else {
                assert_eq!(hex::encode(asked), hex::encode(wanted), "{path}?{query}");
            }
            compared += 1;
        }
        assert!(compared >= 20, "{compared}");
    }

    #[test]
    fn recorded_errors_have_their_http_status() {
        let mut compared = 0;
        for (call, path, _) in recorded() {
            let Some(status) = call["rest_status"].as_u64() else { continue };
            let failed = match find(Verb::Get, &path) {
                None => Failed::unknown(),
                Some(_) => {
                    let code =
                        Code::from_i32(i32::try_from(call["code"].as_i64().unwrap()).unwrap());
                    Failed::new(code, call["message"].as_str().unwrap())
                }
            };
            let problem =
                Problem { code: failed.code.into(), message: failed.text.clone(), details: [] };
            assert_eq!(serde_json::to_value(problem).unwrap(), call["rest_json"], "{path}");
            assert_eq!(u64::from(refuse(&failed).status().as_u16()), status, "{path}");
            compared += 1;
        }
        assert!(compared >= 5, "{compared}");
    }

    fn found(path: &str) -> Option<(&'static str, Vec<(String, String)>)> {
        find(Get, path).map(|(route, fields)| (route.method, fields))
    }

    fn fields<const N: usize>(fields: [(&str, &str); N]) -> Vec<(String, String)> {
        fields.map(|(name, value)| (name.to_owned(), value.to_owned())).into()
    }

    #[test]
    fn fixed_parts_come_before_fields() {
        let audit = "/akash/audit/v1/audit/attributes";
        let query = |method: &'static str, of: Vec<(String, String)>| Some((method, of));
        assert_eq!(
            found(&format!("{audit}/list")),
            query("/akash.audit.v1.Query/AllProvidersAttributes", vec![])
        );
        assert_eq!(
            found(&format!("{audit}/a/list")),
            query("/akash.audit.v1.Query/ProviderAttributes", fields([("owner", "a")]))
        );
        assert_eq!(
            found(&format!("{audit}/a/b")),
            query(
                "/akash.audit.v1.Query/ProviderAuditorAttributes",
                fields([("auditor", "a"), ("owner", "b")])
            )
        );
        let blocks = "/cosmos/base/tendermint/v1beta1/blocks";
        assert_eq!(
            found(&format!("{blocks}/latest")).map(|it| it.0),
            Some("/cosmos.base.tendermint.v1beta1.Service/GetLatestBlock")
        );
        assert_eq!(
            found("/cosmos/bank/v1beta1/denoms_metadata/ibc/1%32/3"),
            query("/cosmos.bank.v1beta1.Query/DenomMetadata", fields([("denom", "ibc/12/3")]))
        );
    }

    #[test]
    fn other_paths_lead_nowhere() {
        for path in [
            "",
            "/",
            "/akash",
            "/akash/cert/v1/certificates/list/",
            "/akash/cert/v1/certificates/list/more",
            "//akash/cert/v1/certificates/list",
            "/akash/provider/v1beta4/providers/",
            "/akash/escrow/v1/types/accounts/open",
            "/cosmos/bank/v1beta1/denoms_metadata/",
            "/cosmos/tx/v1beta1/simulate",
        ] {
            assert_eq!(found(path), None, "{path}");
        }
        assert!(find(Post, "/cosmos/tx/v1beta1/simulate").is_some());
    }

    #[test]
    fn every_route_is_of_a_method_that_is_served_and_of_fields_that_it_has() {
        for route in ROUTES {
            let service = route.method.trim_start_matches('/').split('/').next().unwrap();
            assert!(SERVED.contains(&service), "{}", route.method);
            let empty = akash_json::Parameters::of(route.method).unwrap().encode();
            for part in route.template.split('/').filter_map(|part| part.strip_prefix('{')) {
                let name = part.trim_end_matches('}').trim_end_matches("=**");
                let mut one = akash_json::Parameters::of(route.method).unwrap();
                one.path(name, "1").unwrap();
                assert_ne!(one.encode(), empty, "{} has no {name}", route.method);
            }
        }
    }
}

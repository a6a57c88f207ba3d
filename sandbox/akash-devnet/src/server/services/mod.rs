//! Queries by gRPC method path, whether they come over gRPC or through `abci_query`.
//!
//! Most are the state's to answer. A few services belong to the node: transactions and blocks.

mod tendermint;
mod tx;

use akash_proto::akash::discovery::v1::{
    Akash, ClientInfo, GetInfoResponse, ModuleVersion, VersionInfo,
};
use prost::Message;
use serde::Serialize;
use tonic::Code;

use super::context::{Context, View};
use crate::node::App;
use crate::server::context::APP_VERSION;
use crate::state::{GrpcCode, QueryError};

const TX: &str = "/cosmos.tx.v1beta1.Service/";
const TENDERMINT: &str = "/cosmos.base.tendermint.v1beta1.Service/";

/// Services that are reachable both ways and shown by reflection. Discovery is on gRPC only.
pub(super) const SERVED: [&str; 14] = [
    "akash.audit.v1.Query",
    "akash.cert.v1.Query",
    "akash.deployment.v1beta4.Query",
    "akash.discovery.v1.Discovery",
    "akash.escrow.v1.Query",
    "akash.market.v1beta5.Query",
    "akash.oracle.v2.Query",
    "akash.provider.v1beta4.Query",
    "cosmos.auth.v1beta1.Query",
    "cosmos.authz.v1beta1.Query",
    "cosmos.bank.v1beta1.Query",
    "cosmos.base.tendermint.v1beta1.Service",
    "cosmos.feegrant.v1beta1.Query",
    "cosmos.tx.v1beta1.Service",
];

/// An answer, and the height it is of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Found {
    pub(super) value: Vec<u8>,
    pub(super) height: u64,
}

/// Answers a query at a height; 0 for the newest.
pub(super) async fn query<A: App>(
    context: &Context<A>,
    path: &str,
    data: &[u8],
    height: i64,
) -> Result<Found, Refusal> {
    let view = context.view();
    if let Some(method) = path.strip_prefix(TX) {
        let (_, height) = state_at(&view, height)?;
        let height = if method == "Simulate" { view.checked_at } else { height };
        return found(tx::answer(context, &view, method, data).await, height);
    }
    if let Some(method) = path.strip_prefix(TENDERMINT) {
        let (_, height) = state_at(&view, height)?;
        // Its query method asks what came in by itself; it must not come in again.
        let value = match method {
            "ABCIQuery" => Box::pin(tendermint::abci_query(context, data)).await,
            method => tendermint::answer(context, &view, method, data),
        };
        return found(value, height);
    }
    // A path is known or not whatever the height.
    let state = state_at(&view, height);
    match state {
        Ok((state, height)) => found(state.query(path, data), height),
        Err(refusal) => match view.check.query(path, data) {
            Err(error) if Refusal::from(error.clone()).is_unknown_path() => Err(error.into()),
            _ => Err(refusal),
        },
    }
}

/// What was found at a height, or why nothing was.
fn found(value: Result<Vec<u8>, impl Into<Refusal>>, height: u64) -> Result<Found, Refusal> {
    match value {
        Ok(value) => Ok(Found { value, height }),
        Err(why) => Err(why.into().at(height)),
    }
}

fn state_at<A: App>(view: &View<A>, height: i64) -> Result<(&A, u64), Refusal> {
    let latest = view.history.latest();
    if latest == 0 {
        return Err(Refusal::invalid_height("akash is not ready; please wait for first block"));
    }
    let Ok(asked) = u64::try_from(height) else {
        let text = "cannot query with height < 0; please provide a valid height";
        return Err(Refusal::invalid_height(text));
    };
    if asked > latest {
        let text = "cannot query with height in the future; please provide a valid height";
        return Err(Refusal::invalid_height(text));
    }
    let height = if asked == 0 { latest } else { asked };
    match view.history.state(height) {
        Some(state) => Ok((state, height)),
        None => Err(Refusal::invalid_request(format!(
            "failed to load state at height {height}; version does not exist (latest height: {latest})"
        ))),
    }
}

/// A request, or the error of one that is none.
fn decode<M: Message + Default>(data: &[u8]) -> Result<M, Refusal> {
    Ok(M::decode(data).map_err(|error| QueryError::plain(error.to_string()))?)
}

const UNKNOWN_REQUEST: (u32, &str) = (6, "unknown request");
const INVALID_REQUEST: (u32, &str) = (18, "invalid request");
const INVALID_HEIGHT: (u32, &str) = (26, "invalid height");

/// A refusal over gRPC and through `abci_query`; its codespace there is always `sdk`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Refusal {
    pub(crate) grpc_code: Code,
    pub(crate) grpc_text: String,
    pub(crate) abci_code: u32,
    pub(crate) abci_log: String,
    /// Height of the state that was looked at; 0 where none was.
    pub(crate) height: u64,
}

impl Refusal {
    pub(crate) fn unknown_request(text: &str) -> Self {
        Self::sdk(UNKNOWN_REQUEST, text)
    }

    fn invalid_request(text: impl AsRef<str>) -> Self {
        Self::sdk(INVALID_REQUEST, text.as_ref())
    }

    fn invalid_height(text: &str) -> Self {
        Self::sdk(INVALID_HEIGHT, text)
    }

    /// An error that the framework itself has registered.
    fn sdk((code, name): (u32, &str), text: &str) -> Self {
        let text = format!("{text}: {name}");
        let (grpc_text, abci_log) = (text.clone(), text);
        Self { grpc_code: Code::Unknown, grpc_text, abci_code: code, abci_log, height: 0 }
    }

    /// The same of a state at a height. Whether a method exists is found out before that.
    fn at(self, height: u64) -> Self {
        let height = if self.is_unknown_path() { 0 } else { height };
        Self { height, ..self }
    }

    pub(crate) fn is_unknown_path(&self) -> bool {
        self.grpc_code == Code::Unimplemented
    }
}

impl From<QueryError> for Refusal {
    fn from(error: QueryError) -> Self {
        Self {
            grpc_code: Code::from_i32(error.grpc_code().number()),
            grpc_text: error.grpc_text(),
            abci_code: error.abci_code(),
            abci_log: error.abci_log(),
            height: 0,
        }
    }
}

fn status(code: GrpcCode, text: impl Into<String>) -> Refusal {
    QueryError::status(code, text).into()
}

/// What a client uses that knows no better.
const API_VERSION: &str = "v1beta3";
const API_VERSIONS: [&str; 2] = ["v1beta4", "v1beta3"];
const MODULES: [(&str, &str); 10] = [
    ("audit", "v1"),
    ("bme", "v1"),
    ("cert", "v1"),
    ("deployment", "v1beta4"),
    ("escrow", "v1"),
    ("market", "v1beta5"),
    ("oracle", "v2"),
    ("provider", "v1beta4"),
    ("take", "v1"),
    ("wasm", "v1"),
];

pub(crate) fn message(chain_id: &str) -> GetInfoResponse {
    let modules = || {
        let module = |(module, version): (&str, &str)| ModuleVersion {
            module: module.to_owned(),
            version: version.to_owned(),
        };
        MODULES.map(module).to_vec()
    };
    let supported = API_VERSIONS.map(|api_version| VersionInfo {
        api_version: api_version.to_owned(),
        modules: modules(),
        features: Vec::new(),
    });
    let info = Akash {
        client_info: Some(ClientInfo { api_version: API_VERSION.to_owned() }),
        supported_versions: supported.to_vec(),
        chain_id: chain_id.to_owned(),
        node_version: APP_VERSION.to_owned(),
        min_client_version: String::new(),
    };
    GetInfoResponse { info: Some(info) }
}

/// The answer of the JSON-RPC method `akash`.
pub(crate) fn json(chain_id: &str) -> impl Serialize + use<'_> {
    let modules = MODULES.map(|(module, version)| Module { module, version });
    let version = |api_version| Version { api_version, modules, features: None };
    Info {
        client_info: Client { api_version: API_VERSION },
        supported_versions: API_VERSIONS.map(version),
        chain_id,
        node_version: APP_VERSION,
        min_client_version: "",
    }
}

#[derive(Serialize)]
struct Info<'a> {
    client_info: Client,
    supported_versions: [Version; 2],
    chain_id: &'a str,
    node_version: &'static str,
    min_client_version: &'static str,
}

#[derive(Serialize)]
struct Client {
    api_version: &'static str,
}

#[derive(Serialize)]
struct Version {
    api_version: &'static str,
    modules: [Module; 10],
    features: Option<[&'static str; 0]>,
}

#[derive(Clone, Copy, Serialize)]
struct Module {
    module: &'static str,
    version: &'static str,
}

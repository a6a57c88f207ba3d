//! Queries by gRPC method path, whether they come over gRPC or through `abci_query`.
//!
//! Most are the state's to answer. A few services belong to the node: transactions and blocks.

pub(super) mod discovery;
mod tendermint;
mod tx;

use prost::Message;
use tonic::Code;

use super::context::{Context, View};
use crate::node::App;
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

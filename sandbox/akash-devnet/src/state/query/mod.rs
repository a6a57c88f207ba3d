//! Answers to queries: gRPC method paths and protobuf in, protobuf out.
//!
//! Queries see the state as it is; which height a client asked for is the node's business, which
//! may keep older states. Services of the node itself (blocks, transactions, discovery) are not
//! here.

mod audit;
mod auth;
mod authz;
mod bank;
mod cert;
mod deployment;
mod error;
mod escrow;
mod feegrant;
mod list;
mod market;
mod oracle;
mod page;
mod provider;

pub use error::QueryError;

use akash_proto::akash::verification::v1 as wire;
use akash_types::Address;
use prost::Message;

use super::{State, address};

type Answer<T> = Result<T, QueryError>;

/// Reads a request, asks, writes the answer.
fn answer<Q: Message + Default, A: Message>(
    data: &[u8],
    ask: impl FnOnce(Q) -> Answer<A>,
) -> Answer<Vec<u8>> {
    let request = Q::decode(data).map_err(|error| QueryError::plain(error.to_string()))?;
    ask(request).map(|answer| answer.encode_to_vec())
}

/// An account of a request, in the words of most modules.
fn account(text: &str, what: &str) -> Answer<Address> {
    address::account(text).map_err(|_| QueryError::invalid(what))
}

impl State {
    /// Answers a query, given by its gRPC method path, e.g. `/akash.market.v1beta5.Query/Orders`.
    pub fn query(&self, path: &str, data: &[u8]) -> Result<Vec<u8>, QueryError> {
        let unknown = || QueryError::unknown_path(path);
        let (service, method) =
            path.strip_prefix('/').and_then(|path| path.split_once('/')).ok_or_else(unknown)?;
        let answered = match service {
            "akash.market.v1beta5.Query" => market::query(self, method, data),
            "akash.deployment.v1beta4.Query" => deployment::query(self, method, data),
            "akash.escrow.v1.Query" => escrow::query(self, method, data),
            "akash.oracle.v2.Query" => oracle::query(self, method, data),
            "akash.provider.v1beta4.Query" => provider::query(self, method, data),
            "akash.audit.v1.Query" => audit::query(self, method, data),
            "akash.cert.v1.Query" => cert::query(self, method, data),
            "akash.verification.v1.Query" => query(self, method, data),
            "cosmos.auth.v1beta1.Query" => auth::query(self, method, data),
            "cosmos.bank.v1beta1.Query" => bank::query(self, method, data),
            "cosmos.authz.v1beta1.Query" => authz::query(self, method, data),
            "cosmos.feegrant.v1beta1.Query" => feegrant::query(self, method, data),
            _ => None,
        };
        answered.ok_or_else(unknown)?
    }
}

fn query(state: &State, method: &str, data: &[u8]) -> Option<Answer<Vec<u8>>> {
    let verification_module_active = state.params().verification_active?;
    let params = Some(wire::Params { verification_module_active });
    (method == "Params").then(|| {
        answer(data, |_: wire::QueryParamsRequest| Ok(wire::QueryParamsResponse { params }))
    })
}

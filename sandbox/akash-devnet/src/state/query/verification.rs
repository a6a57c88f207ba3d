//! Whether providers are verified, on a chain with that module.

use akash_proto::akash::verification::v1 as wire;

use super::{Answer, answer};
use crate::state::State;

pub(super) fn query(state: &State, method: &str, data: &[u8]) -> Option<Answer<Vec<u8>>> {
    let verification_module_active = state.params().verification_active?;
    let params = Some(wire::Params { verification_module_active });
    (method == "Params").then(|| {
        answer(data, |_: wire::QueryParamsRequest| Ok(wire::QueryParamsResponse { params }))
    })
}

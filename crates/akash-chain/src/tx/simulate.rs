//! Trying a transaction without sending it.

use akash_proto::cosmos::tx::v1beta1::SimulateRequest;

use super::code::{self, SequenceMismatch};
use crate::query::method::SIMULATE;
use crate::query::{Failure, Malformed, NoAnswer, Query, QueryError, Transport};

/// How a transaction would do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Simulation {
    /// What it would use.
    pub gas_used: u64,
}

/// Why a transaction would fail. Simulation gives no code, only a text.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("simulation fails: {text}")]
pub struct SimulationRefusal {
    /// The reason, without the place in the node's source.
    pub text: String,
    /// Which message is at fault, counted from 0, where it is one of them.
    pub message_index: Option<usize>,
    /// Which sequence is due, if that is the reason.
    pub sequence_mismatch: Option<SequenceMismatch>,
    /// What it used until then.
    pub gas_used: Option<u64>,
    /// Height of the state it was tried on, where the node says so.
    pub height: Option<u64>,
}

impl SimulationRefusal {
    /// Whether its timeout height was over before it was tried.
    pub fn timed_out(&self) -> bool {
        self.message_index.is_none() && self.text.contains("tx timeout height")
    }
}

/// Why there is no simulation.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SimulateError {
    /// The transaction would fail.
    #[error(transparent)]
    Refused(SimulationRefusal),
    /// The node did not say.
    #[error(transparent)]
    Query(QueryError),
}

/// Tries a raw transaction (see [`super::Unsigned::to_simulate`]) on the node's state.
///
/// The node checks the sequence, but neither signature nor chain id, fee or gas limit; and it does
/// not see what else will be in the block.
pub async fn simulate<T: Transport>(
    query: &Query<T>,
    raw: Vec<u8>,
) -> Result<Simulation, SimulateError> {
    let request = SimulateRequest { tx_bytes: raw, ..SimulateRequest::default() };
    let asked = "what a transaction would use";
    match query.ask(SIMULATE, &request).await {
        Ok(answer) => match answer.value.gas_info {
            Some(gas) => Ok(Simulation { gas_used: gas.gas_used }),
            None => {
                let missing = Malformed::Missing { part: "gas info" };
                Err(SimulateError::Query(QueryError::new(asked, missing)))
            }
        },
        Err(none) => Err(refusal(&none).map_or_else(
            || SimulateError::Query(QueryError::new(asked, none.failure.clone())),
            SimulateError::Refused,
        )),
    }
}

/// What a failed simulation says. A node that could not answer is no refusal.
fn refusal(none: &NoAnswer) -> Option<SimulationRefusal> {
    let (Failure::Rejected { text, .. }
    | Failure::InvalidArgument { text }
    | Failure::NotFound { text }) = &none.failure
    else {
        return None;
    };
    Some(SimulationRefusal {
        message_index: code::message_index(text),
        sequence_mismatch: code::sequence_mismatch(text),
        gas_used: gas_used(text),
        text: without_source(text).to_owned(),
        height: none.height,
    })
}

/// Finds `with gas used: '58574'`.
fn gas_used(text: &str) -> Option<u64> {
    let (_, rest) = text.rsplit_once("with gas used: '")?;
    code::leading_number(rest).map(|(gas, _)| gas)
}

/// Cuts `reason [some/file.go:12] with gas used: '58574'` after the reason.
fn without_source(text: &str) -> &str {
    let Some((reason, _)) = text.rsplit_once(" with gas used: '") else {
        return text;
    };
    match reason.rsplit_once(" [") {
        Some((reason, place)) if place.ends_with(']') => reason,
        _ => reason,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(text: &str) -> SimulationRefusal {
        let (codespace, text) = ("sdk".to_owned(), text.to_owned());
        let failure = Failure::Rejected { codespace, code: 6, text };
        refusal(&NoAnswer { failure, height: Some(170) }).unwrap()
    }

    #[test]
    fn recorded_texts_are_taken_apart() {
        let refusal = refused(
            "failed to execute message; message index: 3: invalid bid: bid exists from provider \
             [cosmos/cosmos-sdk@v0.53/baseapp/baseapp.go:1051] with gas used: '58574'",
        );
        assert_eq!((refusal.message_index, refusal.gas_used), (Some(3), Some(58574)));
        assert_eq!(refusal.height, Some(170));
        assert!(refusal.text.ends_with("invalid bid: bid exists from provider"), "{refusal}");
        let refusal = refused(
            "account sequence mismatch, expected 9, got 14: incorrect account sequence \
             [cosmos/cosmos-sdk@v0.53/x/auth/ante/sigverify.go:364] with gas used: '32489'",
        );
        let mismatch = SequenceMismatch { expected: 9, got: 14 };
        assert_eq!(refusal.sequence_mismatch, Some(mismatch));
        let refusal = refused("recovered: [boom]");
        assert_eq!((refusal.text.as_str(), refusal.gas_used), ("recovered: [boom]", None));
    }

    #[test]
    fn silence_is_no_refusal() {
        let silent = crate::query::Unavailable::Node { text: "out of memory".to_owned() };
        assert_eq!(refusal(&silent.into()), None);
        assert_eq!(refusal(&Failure::Unimplemented { text: String::new() }.into()), None);
    }
}

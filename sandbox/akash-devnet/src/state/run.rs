//! Running transactions: to check, to execute, to try.

use std::sync::Arc;

use akash_proto::cosmos::base::abci::v1beta1::TxMsgData;
use prost::Message;
use prost_types::{Any, Timestamp};
use sha2::Digest;

use super::ante::Mode;
use super::error::{Outcome, TxError};
use super::events::Event;
use super::gas::{Gas, Step};
use super::genesis::Params;
use super::msg::Msg;
use super::tables::Tables;
use super::tx::{Tx, TxResult};
use super::{State, ante};

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Simulated {
    pub gas_used: u64,
    /// `cosmos.base.abci.v1beta1.TxMsgData` with the answer of each message.
    pub data: Vec<u8>,
    pub responses: Vec<Any>,
    /// What would happen. The real node does not mark these for its index, so neither is it here.
    pub events: Vec<Event>,
}

/// Why a transaction would fail. The text is that of the real node.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{error} [{}] with gas used: '{gas_used}'", .error.origin)]
pub struct SimulateError {
    #[source]
    pub error: TxError,
    /// Gas used until then.
    pub gas_used: u64,
}

impl State {
    /// Looks at a transaction for the mempool: everything but its messages. If it is accepted its
    /// fee and sequence are counted, so that the next one of the same account fits behind it; a
    /// node does this on a copy that it replaces after every commit.
    pub fn check_tx(&mut self, tx: &[u8]) -> TxResult {
        self.check(tx, Mode::Check)
    }

    /// Looks again, after a block, at a transaction that was accepted before: all that can have
    /// changed, so not at its signature.
    pub fn recheck_tx(&mut self, tx: &[u8]) -> TxResult {
        self.check(tx, Mode::Recheck)
    }

    fn check(&mut self, tx: &[u8], mode: Mode) -> TxResult {
        let tx = match Tx::decode(tx) {
            Ok(tx) => tx,
            Err(error) => return failed(error, 0, 0),
        };
        let mut exec = self.exec(Gas::limited(tx.fee.gas_limit));
        match ante::run(&mut exec, &tx, mode) {
            Err(error) => failed(error, tx.fee.gas_limit, exec.gas.used()),
            Ok(priority) => {
                self.tables = exec.tables;
                TxResult {
                    gas_wanted: wire_gas(tx.fee.gas_limit),
                    gas_used: wire_gas(exec.gas.used()),
                    events: exec.events,
                    priority,
                    ..TxResult::default()
                }
            }
        }
    }

    /// Executes a transaction in the block that was begun. Either all its messages take effect or
    /// none does; a transaction that got as far as its messages pays its fee either way.
    pub fn deliver_tx(&mut self, tx: &[u8]) -> TxResult {
        let result = self.deliver(tx);
        self.changes.update(sha2::Sha256::digest(tx));
        self.changes.update(result.code.to_le_bytes());
        self.changes.update(result.gas_used.to_le_bytes());
        self.changes.update(&result.data);
        for event in &result.events {
            self.changes.update(event.kind.as_bytes());
            for (key, value, _) in &event.attributes {
                self.changes.update(key.as_bytes());
                self.changes.update(value.as_bytes());
            }
        }
        result
    }

    fn deliver(&mut self, tx: &[u8]) -> TxResult {
        let tx = match Tx::decode(tx) {
            Ok(tx) => tx,
            Err(error) => return failed(error, 0, 0),
        };
        let mut exec = self.exec(Gas::limited(tx.fee.gas_limit));
        if let Err(error) = ante::run(&mut exec, &tx, Mode::Deliver) {
            return failed(error, tx.fee.gas_limit, exec.gas.used());
        }
        self.tables = exec.tables.clone();
        let before = exec.events.clone();
        match messages(&mut exec, &tx) {
            Ok(responses) => {
                self.tables = exec.tables;
                TxResult {
                    data: data(responses),
                    gas_wanted: wire_gas(tx.fee.gas_limit),
                    gas_used: wire_gas(exec.gas.used()),
                    events: exec.events,
                    ..TxResult::default()
                }
            }
            Err(error) => {
                let failed = failed(error, tx.fee.gas_limit, exec.gas.used());
                TxResult { events: before, ..failed }
            }
        }
    }

    /// Tries a transaction without effect. Its sequence must be right; its signature, the chain it
    /// was signed for, whether its fee is enough and its gas limit do not matter.
    pub fn simulate(&self, tx: &[u8]) -> Result<Simulated, SimulateError> {
        let tx = Tx::decode(tx).map_err(|error| SimulateError { error, gas_used: 0 })?;
        let mut exec = self.exec(Gas::unlimited());
        let outcome =
            ante::run(&mut exec, &tx, Mode::Simulate).and_then(|_| messages(&mut exec, &tx));
        let gas_used = exec.gas.used();
        let responses = outcome.map_err(|error| SimulateError { error, gas_used })?;
        let mut events = exec.events;
        for (.., index) in events.iter_mut().flat_map(|event| &mut event.attributes) {
            *index = false;
        }
        Ok(Simulated { gas_used, data: data(responses.clone()), responses, events })
    }

    fn exec(&self, gas: Gas) -> Exec {
        Exec::new(&self.tables, &self.env, self.block, gas)
    }
}

/// Runs the messages in order; their answers.
fn messages(exec: &mut Exec, tx: &Tx) -> Outcome<Vec<Any>> {
    let mut responses = Vec::with_capacity(tx.messages.len());
    for (index, message) in tx.messages.iter().enumerate() {
        let start = exec.events.len();
        let type_url = message.type_url();
        let attributes = [
            ("action", type_url.clone()),
            ("sender", message.signer().to_string()),
            ("module", Msg::module(&type_url).to_owned()),
        ];
        exec.emit(Event::new("message", attributes));
        let value = message.answer(exec).map_err(|error| {
            if error.unwinds() {
                return error;
            }
            error.within(format_args!("failed to execute message; message index: {index}"))
        })?;
        for event in exec.events.iter_mut().skip(start) {
            event.push("msg_index", index.to_string());
        }
        responses.push(Any { type_url: format!("{type_url}Response"), value });
    }
    Ok(responses)
}

fn data(msg_responses: Vec<Any>) -> Vec<u8> {
    TxMsgData { msg_responses, ..TxMsgData::default() }.encode_to_vec()
}

fn failed(error: TxError, gas_wanted: u64, gas_used: u64) -> TxResult {
    TxResult {
        code: error.code,
        codespace: error.codespace.to_owned(),
        log: error.log,
        gas_wanted: wire_gas(gas_wanted),
        gas_used: wire_gas(gas_used),
        ..TxResult::default()
    }
}

/// Gas is signed on the wire; what does not fit was refused before.
fn wire_gas(gas: u64) -> i64 {
    i64::try_from(gas).unwrap_or(i64::MAX)
}

/// The block that is being made, or was made last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlockInfo {
    pub height: u64,
    /// Its time, in nanoseconds since 1970.
    pub time_unix_nanos: i64,
    pub proposer: [u8; 20],
}

impl BlockInfo {
    pub(crate) const fn unix(&self) -> i64 {
        self.time_unix_nanos.div_euclid(1_000_000_000)
    }

    /// Whether a time, where one is set, is before the block's.
    pub(crate) fn is_after(self, time: Option<&Timestamp>) -> bool {
        time.is_some_and(|time| nanos(time) < i128::from(self.time_unix_nanos))
    }

    /// Whether a time, where one is set, is not after the block's.
    pub(crate) fn has_reached(self, time: Option<&Timestamp>) -> bool {
        time.is_some_and(|time| nanos(time) <= i128::from(self.time_unix_nanos))
    }
}

fn nanos(time: &Timestamp) -> i128 {
    i128::from(time.seconds) * 1_000_000_000 + i128::from(time.nanos)
}

/// What never changes after genesis.
#[derive(Debug)]
pub(crate) struct Env {
    pub(crate) chain_id: String,
    pub(crate) params: Params,
    pub(crate) initial_height: u64,
}

/// A copy of the tables to run on. Dropping it undoes the run.
pub(crate) struct Exec {
    pub(crate) tables: Tables,
    pub(crate) env: Arc<Env>,
    pub(crate) block: BlockInfo,
    pub(crate) events: Vec<Event>,
    pub(crate) gas: Gas,
}

impl Exec {
    pub(crate) fn new(tables: &Tables, env: &Arc<Env>, block: BlockInfo, gas: Gas) -> Self {
        Self { tables: tables.clone(), env: Arc::clone(env), block, events: Vec::new(), gas }
    }

    pub(crate) fn emit(&mut self, event: Event) {
        self.events.push(event);
    }

    pub(crate) fn step(&mut self, step: Step) -> Outcome {
        self.gas.step(step)
    }

    pub(crate) fn params(&self) -> &Params {
        &self.env.params
    }
}

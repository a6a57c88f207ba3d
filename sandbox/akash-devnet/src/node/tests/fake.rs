//! A tiny state machine for tests: counters, one per sender.
//!
//! A transaction is the text `sender:sequence:gas` with an optional `:fail`, which fails in a block
//! but not before.

use std::collections::BTreeMap;

use crate::node::App;
use crate::state::{BlockInfo, Event, GrpcCode, QueryError, SimulateError, Simulated, TxResult};

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Fake {
    sequences: BTreeMap<String, u64>,
    digest: u64,
    height: u64,
}

/// The bytes of a transaction.
pub(crate) fn tx(sender: &str, sequence: u64, gas: i64) -> bytes::Bytes {
    format!("{sender}:{sequence}:{gas}").into()
}

struct Parsed<'a> {
    sender: &'a str,
    sequence: u64,
    gas: i64,
    fail: bool,
}

fn parse(tx: &[u8]) -> Option<Parsed<'_>> {
    let mut parts = std::str::from_utf8(tx).ok()?.split(':');
    let sender = parts.next()?;
    let (sequence, gas) = (parts.next()?.parse().ok()?, parts.next()?.parse().ok()?);
    Some(Parsed { sender, sequence, gas, fail: parts.next() == Some("fail") })
}

impl Fake {
    fn ante(&mut self, tx: &[u8]) -> TxResult {
        let refuse = |code, log: String| TxResult {
            code,
            codespace: "sdk".to_owned(),
            log,
            ..TxResult::default()
        };
        let Some(tx) = parse(tx) else { return refuse(2, "tx parse error".to_owned()) };
        let expected = self.sequences.entry(tx.sender.to_owned()).or_default();
        if *expected != tx.sequence {
            let got = tx.sequence;
            return refuse(
                32,
                format!(
                    "account sequence mismatch, expected {expected}, got {got}: incorrect account sequence"
                ),
            );
        }
        *expected += 1;
        TxResult { gas_wanted: tx.gas, gas_used: tx.gas / 2, ..TxResult::default() }
    }
}

impl App for Fake {
    fn begin_block(&mut self, block: BlockInfo) -> Vec<Event> {
        self.height = block.height;
        let attributes = vec![("height".to_owned(), block.height.to_string(), true)];
        vec![Event { kind: "begin".to_owned(), attributes }]
    }

    fn check_tx(&mut self, tx: &[u8]) -> TxResult {
        self.ante(tx)
    }

    fn deliver_tx(&mut self, tx: &[u8]) -> TxResult {
        let mut result = self.ante(tx);
        self.digest = self.digest.wrapping_mul(31).wrapping_add(u64::from(result.code) + 1);
        if let Some(parsed) = parse(tx).filter(|_| result.is_ok()) {
            let attributes = vec![("sender".to_owned(), parsed.sender.to_owned(), true)];
            result.events = vec![Event { kind: "message".to_owned(), attributes }];
            if parsed.fail {
                result.code = 15;
                result.codespace = "market".to_owned();
                result.log = "failed to execute message; message index: 0: no".to_owned();
            } else {
                result.data = b"done".to_vec();
            }
        }
        result
    }

    fn end_block(&mut self) -> Vec<Event> {
        Vec::new()
    }

    fn commit(&mut self) -> [u8; 32] {
        crate::node::sha256(format!("{}/{}", self.height, self.digest).as_bytes())
    }

    fn simulate(&self, tx: &[u8]) -> Result<Simulated, SimulateError> {
        let gas = parse(tx).map_or(0, |tx| tx.gas.unsigned_abs());
        Ok(Simulated { gas_used: gas, ..Simulated::default() })
    }

    fn query(&self, path: &str, data: &[u8]) -> Result<Vec<u8>, QueryError> {
        match path {
            "/fake.Query/Echo" => Ok(data.to_vec()),
            "/fake.Query/Height" => Ok(self.height.to_string().into_bytes()),
            "/fake.Query/Missing" => Err(QueryError::status(GrpcCode::NotFound, "no such thing")),
            path => Err(QueryError::unknown_path(path)),
        }
    }
}

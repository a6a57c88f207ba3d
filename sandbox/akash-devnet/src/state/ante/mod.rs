//! What is checked and taken before the messages of a transaction run.

mod fee;
mod signature;

use super::error::{GrpcCode, ModuleError, Outcome, sdk};
use super::gas::{ABSENT_SIGNATURE, BYTE, Step};
use super::run::Exec;
use super::tx::Tx;

const UNKNOWN_EXTENSION: ModuleError =
    ModuleError::new("sdk", 31, GrpcCode::Unknown, "unknown extension options");
/// Most gas that a transaction may ask for.
const MAX_GAS: u64 = i64::MAX as u64;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    Check,
    /// To keep it there after a block. Its signature was found good before and stays so.
    Recheck,
    Deliver,
    Simulate,
}

/// Checks a transaction, takes its fee and counts its sequence; what it is worth per unit of gas.
pub(crate) fn run(exec: &mut Exec, tx: &Tx, mode: Mode) -> Outcome<i64> {
    exec.gas.charge(1_000, "ReadFlat")?;
    exec.gas.charge(3, "ReadPerByte")?;
    exec.gas.charge(Step::Begin.price() - 1_003, "ReadPerByte")?;
    check_basics(tx)?;
    check_timeout(exec, tx)?;
    check_memo(exec, tx)?;
    let absent = match mode {
        Mode::Simulate => tx.raw.signatures.iter().filter(|bytes| bytes.is_empty()).count(),
        Mode::Check | Mode::Recheck | Mode::Deliver => 0,
    };
    let absent = u64::try_from(absent).unwrap_or_default().saturating_mul(ABSENT_SIGNATURE);
    exec.gas.charge(tx.size.saturating_add(absent).saturating_mul(BYTE), "txSize")?;
    let priority = fee::take(exec, tx, mode)?;
    signature::check(exec, tx, mode)?;
    Ok(priority)
}

fn check_basics(tx: &Tx) -> Outcome {
    if !tx.body.extension_options.is_empty() {
        return Err(UNKNOWN_EXTENSION.into());
    }
    if tx.body.unordered {
        return Err(sdk::NOT_SUPPORTED.wrap("unordered transactions are not enabled"));
    }
    if tx.fee.gas_limit > MAX_GAS {
        let limit = tx.fee.gas_limit;
        return Err(
            sdk::INVALID_REQUEST.wrap(format_args!("invalid gas supplied; {limit} > {MAX_GAS}"))
        );
    }
    let (expected, got) = (tx.signers.len(), tx.raw.signatures.len());
    if got == 0 {
        return Err(sdk::NO_SIGNATURES.into());
    }
    if expected != got {
        return Err(sdk::UNAUTHORIZED
            .wrap(format_args!("wrong number of signers; expected {expected}, got {got}")));
    }
    Ok(())
}

fn check_timeout(exec: &Exec, tx: &Tx) -> Outcome {
    let (height, timeout) = (exec.block.height, tx.body.timeout_height);
    if timeout > 0 && height > timeout {
        return Err(sdk::TX_TIMEOUT_HEIGHT
            .wrap(format_args!("block height: {height}, timeout height: {timeout}")));
    }
    Ok(())
}

fn check_memo(exec: &Exec, tx: &Tx) -> Outcome {
    let (max, got) = (exec.params().max_memo_characters, tx.body.memo.len());
    if u64::try_from(got).is_ok_and(|got| got <= max) {
        return Ok(());
    }
    Err(sdk::MEMO_TOO_LARGE
        .wrap(format_args!("maximum number of characters is {max} but received {got} characters")))
}

//! What is checked and taken before the messages of a transaction run.

mod signature;

use akash_types::{Coin, Dec};

use super::error::{GrpcCode, ModuleError, Outcome, sdk};
use super::gas::{ABSENT_SIGNATURE, BYTE, Step};
use super::run::Exec;
use super::tx::Tx;
use crate::state::auth::FEE_COLLECTOR;
use crate::state::coins::Coins;
use crate::state::events::Event;

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
    let priority = take(exec, tx, mode)?;
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

/// Takes the fee; what it is worth per unit of gas.
fn take(exec: &mut Exec, tx: &Tx, mode: Mode) -> Outcome<i64> {
    if mode != Mode::Simulate && tx.fee.gas_limit == 0 {
        return Err(sdk::INVALID_GAS_LIMIT.wrap("must provide positive gas"));
    }
    let fee = tx.fee.amount.clone().ok_or_else(|| {
        sdk::INSUFFICIENT_FEE.wrap("invalid fee amount: coins must be positive and ordered")
    })?;
    if matches!(mode, Mode::Check | Mode::Recheck) {
        check_enough(exec, &fee, tx.fee.gas_limit)?;
    }
    let payer = tx.payer().ok_or(sdk::NO_SIGNATURES)?;
    let from = match tx.fee.granter {
        Some(granter) if granter != payer => {
            let types: Vec<String> = tx.messages.iter().map(|message| message.type_url()).collect();
            exec.use_allowance(granter, payer, &fee, &types).map_err(|error| {
                error.within(format_args!("{granter} does not allow to pay fees for {payer}"))
            })?;
            granter
        }
        _ => payer,
    };
    if !exec.tables.accounts.contains(&from) {
        return Err(
            sdk::UNKNOWN_ADDRESS.wrap(format_args!("fee payer address: {from} does not exist"))
        );
    }
    if !fee.is_empty() {
        exec.step(Step::Fee)?;
        exec.pay_module(from, FEE_COLLECTOR, &fee)
            .map_err(|error| sdk::INSUFFICIENT_FUNDS.wrap(error))?;
    }
    let attributes = [("fee", fee.to_string()), ("fee_payer", from.to_string())];
    exec.emit(Event::new("tx", attributes));
    Ok(priority(&fee, tx.fee.gas_limit))
}

/// The node's own rule, which blocks do not know: the price of gas must be high enough.
fn check_enough(exec: &Exec, fee: &Coins, gas_limit: u64) -> Outcome {
    let price = exec.params().min_gas_price;
    if price.is_zero() {
        return Ok(());
    }
    let required = ceil(price.checked_mul_int(gas_limit.into()));
    if fee.amount_of("uakt") >= required {
        return Ok(());
    }
    Err(sdk::INSUFFICIENT_FEE
        .wrap(format_args!("insufficient fees; got: {fee} required: {required}uakt")))
}

/// The whole number that is not below; what is too large for a decimal is more than anyone has.
fn ceil(amount: Option<Dec>) -> u128 {
    let Some(amount) = amount else { return u128::MAX };
    let whole = amount.truncate_int();
    let exact = Dec::checked_from_int(whole) == Some(amount);
    u128::try_from(if exact { whole } else { whole.saturating_add(1) }).unwrap_or_default()
}

/// The least that any coin of the fee pays for a unit of gas.
fn priority(fee: &Coins, gas_limit: u64) -> i64 {
    let price = |coin: &Coin| coin.amount().checked_div(gas_limit.into());
    let least = fee.iter().filter_map(price).min().unwrap_or_default();
    i64::try_from(least).unwrap_or(i64::MAX)
}

//! The fee: is it enough, who pays it.

use akash_types::{Coin, Dec};

use super::Mode;
use crate::state::auth::FEE_COLLECTOR;
use crate::state::coins::Coins;
use crate::state::error::{Outcome, sdk};
use crate::state::events::Event;
use crate::state::gas::Step;
use crate::state::run::Exec;
use crate::state::tx::Tx;

/// Takes the fee; what it is worth per unit of gas.
pub(super) fn take(exec: &mut Exec, tx: &Tx, mode: Mode) -> Outcome<i64> {
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

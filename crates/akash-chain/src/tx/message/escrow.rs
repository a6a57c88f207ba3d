//! Messages that move money into escrow.

use akash_proto::akash::escrow::v1 as wire;
use akash_types::{Address, Deposit, EscrowAccountId};

use super::{Message, MessageError};

/// Adds money to an escrow account. Anybody may send it.
pub fn deposit(
    signer: Address,
    account: EscrowAccountId,
    deposit: Deposit,
) -> Result<Message, MessageError> {
    if deposit.coin().is_zero() {
        return Err(MessageError::ZeroCoin { denom: deposit.coin().denom().clone() });
    }
    let message = wire::MsgAccountDeposit {
        signer: signer.to_string(),
        id: Some(account.into()),
        deposit: Some(deposit.into()),
    };
    Ok(Message::new(signer, &message))
}

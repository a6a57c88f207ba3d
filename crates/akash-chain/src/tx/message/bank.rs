//! Messages that move money between accounts.

use akash_proto::cosmos::bank::v1beta1 as wire;
use akash_proto::cosmos::base::v1beta1 as base;
use akash_types::{Address, Coin};

use super::{Message, MessageError};
use crate::tx::fee::repeated;

/// Sends coins. Sent by whom they come from.
pub fn send(from: Address, to: Address, coins: Vec<Coin>) -> Result<Message, MessageError> {
    if coins.is_empty() {
        return Err(MessageError::NoCoins);
    }
    let message = wire::MsgSend {
        from_address: from.to_string(),
        to_address: to.to_string(),
        amount: coin_set(coins)?,
    };
    Ok(Message::new(from, &message))
}

/// Coins as the chain wants them: by denomination, each once, none zero.
pub(super) fn coin_set(mut coins: Vec<Coin>) -> Result<Vec<base::Coin>, MessageError> {
    coins.sort_by(|a, b| a.denom().cmp(b.denom()));
    if let Some(denom) = repeated(coins.iter().map(Coin::denom)) {
        return Err(MessageError::CoinTwice { denom: denom.clone() });
    }
    if let Some(zero) = coins.iter().find(|coin| coin.is_zero()) {
        return Err(MessageError::ZeroCoin { denom: zero.denom().clone() });
    }
    Ok(coins.into_iter().map(Into::into).collect())
}

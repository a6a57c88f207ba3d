//! From intent to message.

use akash_types::{Action, Address};
use prost_types::Any;

use super::super::message::market::{
    CreateBid, close_bid, create_bid, start_reclaim, withdraw_lease,
};
use super::super::message::{authz, cert, escrow, provider};
use super::super::{Message, MessageError};

/// Why an intent makes no message.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ConvertError {
    /// The message itself makes no sense.
    #[error(transparent)]
    Message(#[from] MessageError),
    /// Somebody else would have to sign it.
    #[error("the message must be sent by {needs}, and the lane acts for {owner}")]
    WrongOwner {
        /// Whose message it is.
        needs: Address,
        /// Whom the lane acts for.
        owner: Address,
    },
}

/// The message for an action of `owner`, signed by `account`.
pub fn message_for(
    action: &Action,
    owner: Address,
    account: Address,
) -> Result<Message, ConvertError> {
    let message = plain(action, owner)?;
    let needs = message.signer();
    if needs != owner {
        return Err(ConvertError::WrongOwner { needs, owner });
    }
    if owner == account {
        return Ok(message);
    }
    Ok(authz::exec(account, &[message])?)
}

fn plain(action: &Action, owner: Address) -> Result<Message, MessageError> {
    match action.clone() {
        Action::CreateBid(offer) => create_bid(CreateBid {
            id: offer.id,
            price: offer.price,
            deposit: offer.deposit,
            resources_offer: offer.resources_offer,
            reclamation_window: offer.reclamation_window,
        }),
        Action::CloseBid { bid, reason } => close_bid(bid, reason),
        Action::Withdraw { lease } => withdraw_lease(lease),
        Action::StartReclaim { lease, reason } => start_reclaim(lease, reason),
        Action::CreateCertificate { certificate, public_key, .. } => {
            cert::create_certificate(owner, certificate, public_key)
        }
        Action::RevokeCertificate { serial } => cert::revoke_certificate(owner, &serial),
        Action::CreateProvider(record) => provider::create_provider(*record),
        Action::UpdateProvider(record) => provider::update_provider(*record),
        Action::Deposit { account, deposit } => escrow::deposit(owner, account, deposit),
        Action::Message(packed) => {
            let any = Any { type_url: packed.type_url, value: packed.value };
            Ok(Message::packed(packed.signer, any))
        }
    }
}

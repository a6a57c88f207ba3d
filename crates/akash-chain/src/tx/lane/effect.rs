//! What the lane wants done.

use std::time::Duration;

use akash_types::{Action, Address, IntentId, Outcome, Wanted};
use prost_types::Any;

use super::super::message::market::{
    CreateBid, close_bid, create_bid, start_reclaim, withdraw_lease,
};
use super::super::message::{authz, cert, escrow, provider};
use super::super::{Fee, Message, MessageError};

/// Names a transaction of one lane. Two with the same content have two names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, derive_more::Display)]
#[display("{_0}")]
pub struct TxRef(pub u64);

/// Something to do. Every effect but [`Effect::Done`], [`Effect::Drop`] and [`Effect::WakeAt`] is
/// answered by an input, sooner or later.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Effect {
    /// Read the account: first what blocks say, then what the mempool adds.
    ReadAccount,
    /// Try a transaction.
    Simulate(Draft),
    /// Sign a transaction, say so, keep its bytes, and give it to a node. One after the other, in
    /// the order of these effects.
    Broadcast(Draft),
    /// Give the same bytes to a node again. In order with [`Effect::Broadcast`].
    Rebroadcast {
        /// Which.
        tx: TxRef,
        /// Which time.
        attempt: u32,
    },
    /// Look for a transaction in the blocks.
    LookUp {
        /// Which.
        tx: TxRef,
    },
    /// The bytes of a transaction are not needed any more.
    Drop {
        /// Which.
        tx: TxRef,
    },
    /// Ask the chain whether a state holds.
    Verify {
        /// For which intent.
        intent: IntentId,
        /// The state.
        wanted: Wanted,
    },
    /// An intent has ended.
    Done {
        /// Which.
        intent: IntentId,
        /// How.
        outcome: Outcome,
    },
    /// Tick at this time, or when convenient after it.
    WakeAt(Duration),
}

/// A transaction to try or to sign.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Draft {
    /// Its name.
    pub tx: TxRef,
    /// Its sequence.
    pub sequence: u64,
    /// What its messages are for, in their order.
    pub intents: Vec<IntentId>,
    /// What it does.
    pub messages: Vec<Message>,
    /// What is paid.
    pub fee: Fee,
    /// Its note.
    pub memo: String,
    /// Last height at which it may be included.
    pub timeout_height: u64,
}

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

//! Messages that let others act in one's name.

use std::time::SystemTime;

use akash_proto::akash::escrow::v1 as escrow;
use akash_proto::cosmos::authz::v1beta1 as wire;
use akash_proto::to_any;
use akash_types::{Address, Coin, EscrowScope};
use prost_types::Any;

use super::bank::coin_set;
use super::{Message, MessageError};

/// What a grant allows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Authorization {
    /// Any message of one type.
    Generic {
        /// Type URL of the message.
        message: String,
    },
    /// Deposits into escrow.
    Deposit {
        /// What may still be spent, per denomination; older grants have one only.
        spend_limits: Vec<Coin>,
        /// What for.
        scopes: Vec<EscrowScope>,
    },
    /// Another kind, as the chain wrote it.
    Other {
        /// Type of the authorization.
        type_url: String,
        /// The authorization, encoded.
        value: Vec<u8>,
    },
}

/// Allows `grantee` something in the name of `granter`, until `expiration` or for ever. Sent by the
/// granter.
pub fn grant(
    granter: Address,
    grantee: Address,
    authorization: Authorization,
    expiration: Option<SystemTime>,
) -> Result<Message, MessageError> {
    not_to_oneself(granter, grantee)?;
    let grant = wire::Grant {
        authorization: Some(pack(authorization)?),
        expiration: expiration.map(Into::into),
    };
    let message = wire::MsgGrant {
        granter: granter.to_string(),
        grantee: grantee.to_string(),
        grant: Some(grant),
    };
    Ok(Message::new(granter, &message))
}

/// Does what others have allowed. Sent by the grantee; each message is one that its granter would
/// sign.
pub fn exec(grantee: Address, messages: &[Message]) -> Result<Message, MessageError> {
    if messages.is_empty() {
        return Err(MessageError::NoMessages);
    }
    let message = wire::MsgExec {
        grantee: grantee.to_string(),
        msgs: messages.iter().map(|message| message.as_any().clone()).collect(),
    };
    Ok(Message::new(grantee, &message))
}

/// Takes back what `grantee` was allowed for one type of message. Sent by the granter.
pub fn revoke(granter: Address, grantee: Address, type_url: &str) -> Result<Message, MessageError> {
    not_to_oneself(granter, grantee)?;
    let message = wire::MsgRevoke {
        granter: granter.to_string(),
        grantee: grantee.to_string(),
        msg_type_url: checked(type_url.to_owned())?,
    };
    Ok(Message::new(granter, &message))
}

pub(super) fn not_to_oneself(granter: Address, grantee: Address) -> Result<(), MessageError> {
    match granter == grantee {
        true => Err(MessageError::SelfGrant { account: granter }),
        false => Ok(()),
    }
}

pub(super) fn checked(type_url: String) -> Result<String, MessageError> {
    match type_url.strip_prefix('/') {
        Some(name) if !name.is_empty() => Ok(type_url),
        _ => Err(MessageError::TypeUrl { text: type_url }),
    }
}

fn pack(authorization: Authorization) -> Result<Any, MessageError> {
    Ok(match authorization {
        Authorization::Generic { message } => {
            to_any(&wire::GenericAuthorization { msg: checked(message)? })
        }
        Authorization::Deposit { spend_limits, scopes } => {
            if spend_limits.is_empty() {
                return Err(MessageError::NoCoins);
            }
            to_any(&escrow::DepositAuthorization {
                // The one limit of older versions: written empty, as Go writes it.
                spend_limit: Some(akash_proto::cosmos::base::v1beta1::Coin::default()),
                scopes: scopes.into_iter().map(EscrowScope::code).collect(),
                spend_limits: coin_set(spend_limits)?,
            })
        }
        Authorization::Other { type_url, value } => Any { type_url: checked(type_url)?, value },
    })
}

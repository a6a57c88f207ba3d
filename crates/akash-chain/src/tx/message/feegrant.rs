//! Messages that pay the fees of others.

use std::time::SystemTime;

use akash_proto::cosmos::feegrant::v1beta1 as wire;
use akash_proto::to_any;
use akash_types::{Address, Coin};

use super::authz::{checked, not_to_oneself};
use super::bank::coin_set;
use super::{Message, MessageError};

/// How much of somebody's fees is paid.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Limit {
    /// At most this; empty is no limit.
    pub spend: Vec<Coin>,
    /// Until then, or for ever.
    pub expiration: Option<SystemTime>,
    /// For these types of messages, or for all.
    pub messages: Option<Vec<String>>,
}

/// Pays fees of `grantee` up to a limit. Sent by the granter.
pub fn grant_allowance(
    granter: Address,
    grantee: Address,
    limit: Limit,
) -> Result<Message, MessageError> {
    not_to_oneself(granter, grantee)?;
    let basic = to_any(&wire::BasicAllowance {
        spend_limit: coin_set(limit.spend)?,
        expiration: limit.expiration.map(Into::into),
    });
    let allowance = match limit.messages {
        None => basic,
        Some(messages) if messages.is_empty() => return Err(MessageError::NoMessages),
        Some(messages) => {
            let messages: Result<Vec<String>, _> = messages.into_iter().map(checked).collect();
            to_any(&wire::AllowedMsgAllowance {
                allowance: Some(basic),
                allowed_messages: messages?,
            })
        }
    };
    let message = wire::MsgGrantAllowance {
        granter: granter.to_string(),
        grantee: grantee.to_string(),
        allowance: Some(allowance),
    };
    Ok(Message::new(granter, &message))
}

/// Pays fees of `grantee` no longer. Sent by the granter.
pub fn revoke_allowance(granter: Address, grantee: Address) -> Result<Message, MessageError> {
    not_to_oneself(granter, grantee)?;
    let message =
        wire::MsgRevokeAllowance { granter: granter.to_string(), grantee: grantee.to_string() };
    Ok(Message::new(granter, &message))
}

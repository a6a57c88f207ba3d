//! Messages of auditors.

use akash_proto::akash::audit::v1 as wire;
use akash_types::{Address, Attribute, attribute};

use super::{Message, MessageError};

/// Vouches for attributes of provider `owner`. Sent by the auditor.
pub fn sign_attributes(
    owner: Address,
    auditor: Address,
    attributes: Vec<Attribute>,
) -> Result<Message, MessageError> {
    attribute::validate_provider(&attributes)?;
    let message = wire::MsgSignProviderAttributes {
        owner: owner.to_string(),
        auditor: auditor.to_string(),
        attributes: attributes.into_iter().map(Into::into).collect(),
    };
    Ok(Message::new(auditor, &message))
}

/// Takes back what was vouched for of provider `owner`; without `keys` all of it. Sent by the
/// auditor.
pub fn delete_attributes(owner: Address, auditor: Address, keys: Vec<String>) -> Message {
    let message = wire::MsgDeleteProviderAttributes {
        owner: owner.to_string(),
        auditor: auditor.to_string(),
        keys,
    };
    Message::new(auditor, &message)
}

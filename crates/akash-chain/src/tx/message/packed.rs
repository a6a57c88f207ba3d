//! Messages that were made elsewhere: which account each needs the signature of.

use akash_proto::akash::{audit, cert, deployment, escrow, market, provider};
use akash_proto::cosmos::{authz, bank, feegrant};
use prost::Name;
use prost_types::Any;

use super::Message;

/// Why a packed message is not one that this program can send.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PackedError {
    /// A type of which it is not known who signs it.
    #[error("messages of type {type_url:?} are not known here")]
    Unknown {
        /// The type.
        type_url: String,
    },
    /// Bytes of something else.
    #[error("the content of {type_url} cannot be read")]
    Content {
        /// The type.
        type_url: String,
        /// Why not.
        source: prost::DecodeError,
    },
    /// No account that could sign it.
    #[error("{type_url} is to be signed by {text:?}, which is no account")]
    Signer {
        /// The type.
        type_url: String,
        /// What stands in place of the account.
        text: String,
    },
}

impl Message {
    /// A message that was made elsewhere. It is taken as it is: whether the chain would accept it
    /// is not checked.
    pub fn from_any(any: Any) -> Result<Self, PackedError> {
        let text = signer(&any)?;
        match text.parse() {
            Ok(signer) => Ok(Self { any, signer }),
            Err(_) => Err(PackedError::Signer { type_url: any.type_url, text }),
        }
    }
}

/// Tries one type after the other.
macro_rules! signers {
    ($any:ident: $($type:ty => $signer:expr,)+) => {
        $(if let Some(message) = read::<$type>($any) {
            let signer: fn($type) -> Option<String> = $signer;
            return message.map(|message| signer(message).unwrap_or_default());
        })+
    };
}

fn signer(any: &Any) -> Result<String, PackedError> {
    signers! { any:
        audit::v1::MsgSignProviderAttributes => |message| Some(message.auditor),
        audit::v1::MsgDeleteProviderAttributes => |message| Some(message.auditor),
        authz::v1beta1::MsgGrant => |message| Some(message.granter),
        authz::v1beta1::MsgExec => |message| Some(message.grantee),
        authz::v1beta1::MsgRevoke => |message| Some(message.granter),
        bank::v1beta1::MsgSend => |message| Some(message.from_address),
        cert::v1::MsgCreateCertificate => |message| Some(message.owner),
        cert::v1::MsgRevokeCertificate => |message| Some(message.id?.owner),
        deployment::v1beta4::MsgCreateDeployment => |message| Some(message.id?.owner),
        deployment::v1beta4::MsgUpdateDeployment => |message| Some(message.id?.owner),
        deployment::v1beta4::MsgCloseDeployment => |message| Some(message.id?.owner),
        deployment::v1beta4::MsgCloseGroup => |message| Some(message.id?.owner),
        deployment::v1beta4::MsgPauseGroup => |message| Some(message.id?.owner),
        deployment::v1beta4::MsgStartGroup => |message| Some(message.id?.owner),
        escrow::v1::MsgAccountDeposit => |message| Some(message.signer),
        feegrant::v1beta1::MsgGrantAllowance => |message| Some(message.granter),
        feegrant::v1beta1::MsgRevokeAllowance => |message| Some(message.granter),
        market::v1beta5::MsgCreateBid => |message| Some(message.id?.provider),
        market::v1beta5::MsgCloseBid => |message| Some(message.id?.provider),
        market::v1beta5::MsgLeaseStartReclaim => |message| Some(message.id?.provider),
        market::v1beta5::MsgWithdrawLease => |message| Some(message.id?.provider),
        market::v1beta5::MsgCreateLease => |message| Some(message.bid_id?.owner),
        market::v1beta5::MsgCloseLease => |message| Some(message.id?.owner),
        provider::v1beta4::MsgCreateProvider => |message| Some(message.owner),
        provider::v1beta4::MsgUpdateProvider => |message| Some(message.owner),
        provider::v1beta4::MsgDeleteProvider => |message| Some(message.owner),
    }
    Err(PackedError::Unknown { type_url: any.type_url.clone() })
}

/// `None` when it is of another type.
fn read<M: Name + Default>(any: &Any) -> Option<Result<M, PackedError>> {
    let content = |source| PackedError::Content { type_url: any.type_url.clone(), source };
    let is_it = any.type_url.strip_prefix('/') == Some(M::full_name().as_str());
    is_it.then(|| M::decode(any.value.as_slice()).map_err(content))
}

//! What brings a wanted state about.

use std::time::Duration;

use super::{Class, Subject, Touch, Wanted};
use crate::{
    Address, BidId, DecCoin, DeploymentId, Deposit, EscrowAccountId, LeaseClosedReason, LeaseId,
    Provider, ResourceOffer,
};

/// A message to send, in the words of the engine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    /// Offer to run an order.
    CreateBid(Box<BidOffer>),
    /// Take a bid back, or end its lease.
    CloseBid {
        /// Which bid.
        bid: BidId,
        /// Why; one of the provider's reasons.
        reason: LeaseClosedReason,
    },
    /// Collect what a lease has earned.
    Withdraw {
        /// Which lease.
        lease: LeaseId,
    },
    /// Announce that a lease will be taken back.
    StartReclaim {
        /// Which lease.
        lease: LeaseId,
        /// Why; one of the provider's reasons.
        reason: LeaseClosedReason,
    },
    /// Publish a certificate.
    CreateCertificate {
        /// Its serial number, in base-10 digits.
        serial: String,
        /// PEM block `CERTIFICATE`.
        certificate: Vec<u8>,
        /// PEM block `EC PUBLIC KEY`.
        public_key: Vec<u8>,
    },
    /// Revoke a certificate.
    RevokeCertificate {
        /// Its serial number, in base-10 digits.
        serial: String,
    },
    /// Register the provider.
    CreateProvider(Box<Provider>),
    /// Change what the provider says of itself.
    UpdateProvider(Box<Provider>),
    /// Put money into an escrow account.
    Deposit {
        /// Which account.
        account: EscrowAccountId,
        /// How much, and where from.
        deposit: Deposit,
    },
    /// Any other message.
    Message(Box<PackedMessage>),
}

/// What a provider offers on an order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BidOffer {
    /// Which bid.
    pub id: BidId,
    /// Price per block of the whole group.
    pub price: DecCoin,
    /// What the provider deposits until it is over.
    pub deposit: Deposit,
    /// What is offered, unit by unit; may be empty.
    pub resources_offer: Vec<ResourceOffer>,
    /// How long the provider will wait before it takes the lease back; absent if it will not.
    pub reclamation_window: Option<Duration>,
}

/// A message that this crate has no noun for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PackedMessage {
    /// Its type, as in `/cosmos.bank.v1beta1.MsgSend`.
    pub type_url: String,
    /// The encoded message.
    pub value: Vec<u8>,
    /// Whose signature it needs.
    pub signer: Address,
    /// What it is about; one message about a subject goes at a time.
    pub subject: Option<Subject>,
    /// The state that it brings about.
    pub wanted: Wanted,
}

impl Action {
    /// How urgent it is unless somebody says otherwise.
    pub const fn class(&self) -> Class {
        match self {
            Self::CreateBid(_) => Class::Bid,
            Self::CloseBid { .. } => Class::Close,
            Self::StartReclaim { .. } => Class::Deadline,
            Self::Withdraw { .. } => Class::Withdraw,
            Self::CreateCertificate { .. }
            | Self::RevokeCertificate { .. }
            | Self::CreateProvider(_)
            | Self::UpdateProvider(_)
            | Self::Deposit { .. }
            | Self::Message(_) => Class::Housekeeping,
        }
    }

    /// The state that it brings about when decided at `height`.
    pub fn wanted(&self, height: u64) -> Wanted {
        match self {
            Self::CreateBid(offer) => Wanted::Bid(offer.id),
            Self::CloseBid { bid, .. } => Wanted::BidOver(*bid),
            Self::Withdraw { lease } => Wanted::Withdrawn { lease: *lease, since: height },
            Self::StartReclaim { lease, .. } => Wanted::Reclaiming(*lease),
            Self::CreateCertificate { serial, .. } => {
                Wanted::CertificateValid { serial: serial.clone() }
            }
            Self::RevokeCertificate { serial } => {
                Wanted::CertificateRevoked { serial: serial.clone() }
            }
            Self::CreateProvider(provider) | Self::UpdateProvider(provider) => {
                Wanted::Provider(provider.clone())
            }
            Self::Deposit { .. } => Wanted::Unverifiable,
            Self::Message(message) => message.wanted.clone(),
        }
    }

    /// What it is about.
    pub fn subject(&self) -> Option<Subject> {
        match self {
            Self::CreateBid(offer) => Some(Subject::Bid(offer.id)),
            Self::CloseBid { bid, .. } => Some(Subject::Bid(*bid)),
            Self::Withdraw { lease } | Self::StartReclaim { lease, .. } => {
                Some(Subject::Bid(lease.bid_id()))
            }
            Self::CreateCertificate { serial, .. } | Self::RevokeCertificate { serial } => {
                Some(Subject::Certificate(serial.clone()))
            }
            Self::CreateProvider(_) | Self::UpdateProvider(_) => Some(Subject::Provider),
            Self::Deposit { .. } => None,
            Self::Message(message) => message.subject.clone(),
        }
    }

    /// The deployment whose escrow account it settles, and how.
    pub const fn settles(&self) -> Option<(DeploymentId, Touch)> {
        match self {
            Self::Withdraw { lease } => Some((lease.deployment_id(), Touch::Withdraws)),
            Self::CloseBid { bid, .. } => Some((bid.deployment_id(), Touch::Settles)),
            Self::Deposit { account: EscrowAccountId::Deployment(deployment), .. } => {
                Some((*deployment, Touch::Settles))
            }
            Self::CreateBid(_)
            | Self::StartReclaim { .. }
            | Self::CreateCertificate { .. }
            | Self::RevokeCertificate { .. }
            | Self::CreateProvider(_)
            | Self::UpdateProvider(_)
            | Self::Deposit { .. }
            | Self::Message(_) => None,
        }
    }
}

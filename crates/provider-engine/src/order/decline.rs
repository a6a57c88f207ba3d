//! Every reason not to bid.

use akash_types::{DecCoin, Denom};

use super::eligibility::Ineligible;
use super::policy::Refusal;
use super::pricing::PriceError;
use crate::inventory::{NoRoom, Scarce, Unplaceable};

/// Why there is no bid.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Decline {
    #[error(transparent)]
    Policy(#[from] Refusal),
    #[error(transparent)]
    Ineligible(#[from] Ineligible),
    #[error(transparent)]
    Unplaceable(#[from] Unplaceable),
    #[error(transparent)]
    NoRoom(#[from] NoRoom),
    #[error(transparent)]
    Price(#[from] PriceError),
    #[error("the price is in {denom}, the order pays in {wanted}")]
    OtherDenom {
        denom: Denom,
        /// What the order pays in.
        wanted: Denom,
    },
    #[error("the price {price} per block is above the {most} that the order pays")]
    TooExpensive {
        /// The price per block.
        price: DecCoin,
        /// The most it pays.
        most: DecCoin,
    },
    #[error("the chain refuses the bid: {log}")]
    ChainRefused {
        /// Module that refuses; empty where only the words are known.
        codespace: String,
        /// Its number for the reason.
        code: u32,
        log: String,
    },
}

impl Decline {
    /// A name that does not change, for metrics.
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Policy(refusal) => refusal.code(),
            Self::Ineligible(reason) => reason.code(),
            Self::Unplaceable(Unplaceable::Card { .. }) => "gpu-attributes",
            Self::Unplaceable(Unplaceable::Interconnect { .. }) => "gpu-interconnect",
            Self::Unplaceable(Unplaceable::Arch { .. }) => "cpu-arch",
            Self::Unplaceable(Unplaceable::VolumeClass { .. }) => "volume-class",
            Self::NoRoom(reason) => no_room_code(reason),
            Self::Price(error) => price_code(error),
            Self::OtherDenom { .. } => "price-other-denom",
            Self::TooExpensive { .. } => "price-above-maximum",
            Self::ChainRefused { .. } => "chain-refused",
        }
    }
}

const fn no_room_code(reason: &NoRoom) -> &'static str {
    match reason {
        NoRoom::Unit(short) => match short.scarce {
            Scarce::Nodes => "no-room-nodes",
            Scarce::Arch(_) => "no-room-arch",
            Scarce::Cpu => "no-room-cpu",
            Scarce::Memory => "no-room-memory",
            Scarce::Ephemeral => "no-room-ephemeral",
            Scarce::Cards => "no-room-gpu",
            Scarce::Storage(_) => "no-room-storage",
        },
        NoRoom::NoIpPool { .. } => "no-ip-pool",
        NoRoom::Ips { .. } => "no-room-ips",
        NoRoom::Ports { .. } => "no-room-ports",
    }
}

const fn price_code(error: &PriceError) -> &'static str {
    match error {
        PriceError::Group(_) => "price-of-group",
        PriceError::NoScale { .. } => "price-storage-class",
        PriceError::Zero => "price-zero",
        PriceError::Negative { .. } => "price-negative",
        PriceError::TooPrecise { .. } => "price-too-precise",
        PriceError::TooLarge => "price-too-large",
        PriceError::Output { .. } => "price-script-output",
        PriceError::Script(_) => "price-script-failed",
    }
}

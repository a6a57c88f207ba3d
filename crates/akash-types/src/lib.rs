//! The nouns of Akash: ids, money, resources, attributes, groups, states, reasons and intents.
//!
//! Texts and protobuf messages are parsed into these types at the edge, once; past it a value that
//! exists is a value that may exist. Quantities are exact integers and decimals, never floats, and
//! no input can make this crate panic.
//!
//! This crate must not know async runtimes, network clients, Kubernetes or serde: how a value
//! travels is the business of the crate that moves it.

pub mod address;
pub mod attribute;
mod backoff;
pub mod bid;
pub mod capability;
mod causes;
pub mod coin;
pub mod dec;
pub mod denom;
pub mod deployment;
pub mod deposit;
pub mod escrow;
pub mod event;
pub mod glob;
mod go_duration;
pub mod gpu;
pub mod group;
pub mod group_validation;
pub mod hostname;
pub mod id;
pub mod intent;
pub mod lease;
pub mod order;
pub mod params;
pub mod placement;
pub mod proto;
pub mod provider;
pub mod reason;
pub mod resources;
pub mod state;

pub use address::{Address, AddressError};
pub use attribute::{Attribute, AttributeError};
pub use backoff::Backoff;
pub use bid::{Bid, OfferPrices, ResourceOffer};
pub use capability::{UnmetCapability, unmet_capability};
pub use causes::with_causes;
pub use coin::{Coin, CoinError, DecCoin};
pub use dec::{Dec, DecError};
pub use denom::{Denom, DenomError};
pub use deployment::{Deployment, Group};
pub use deposit::{Deposit, DepositError, DepositSource};
pub use escrow::{Balance, Depositor, EscrowAccount, EscrowPayment};
pub use event::ChainEvent;
pub use go_duration::parse_go_duration;
pub use gpu::{GpuInterface, GpuKeyError, GpuKeyProblem, GpuModel, GpuRequest, GpuVendor};
pub use group::{GroupPriceError, GroupSpec, ResourceUnit};
pub use group_validation::{
    GroupField, GroupProblem, GroupViolation, validate_group, validate_groups,
};
pub use id::{
    BidId, DeploymentId, EscrowAccountId, EscrowPaymentId, EscrowScope, GroupId, IdError, LeaseId,
    OrderId,
};
pub use intent::{Action, BidOffer, Class, Intent, IntentId, Outcome, Subject, Touch, Wanted};
pub use lease::{Lease, Reclamation};
pub use order::Order;
pub use params::{DeploymentParams, MarketParams};
pub use placement::{
    AuditedAttributes, PlacementRequirements, SignedBy, VerificationRequirement,
    matches_requirements,
};
pub use proto::{ConvertError, ConvertProblem};
pub use provider::{AuditedProvider, Provider};
pub use reason::{LeaseClosedReason, ReasonError, ReasonKind};
pub use resources::{
    Cpu, CpuArch, Endpoint, EndpointKind, Gpu, Memory, Resources, Storage, UnknownArch,
};
pub use state::{
    BidState, CertificateState, DeploymentState, EscrowState, GroupState, LeaseState, OrderState,
    UnknownState,
};

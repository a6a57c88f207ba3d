//! Tenants: those that behave, and those that do not.
//!
//! Each deployment has its own plan, drawn when it is made: who is chosen, what manifest is sent
//! and when, whether it is updated, paid for again, closed. The rival is a provider that only
//! bids.

mod act;
mod sdl;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use akash_chain::tx::Message;
use akash_sdl::Manifest;
use akash_types::{DeploymentId, OrderId};
use provider_engine::RequestId;

use super::dice::Dice;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TenantEvent {
    /// Some tenant makes a deployment.
    Order,
    /// Some tenant makes a deployment with many small groups.
    Spam,
    /// A deployment's tenant looks at the bids.
    Choose(usize, u32),
    /// A deployment's tenant sends its manifest, for the so-manieth time.
    Send(usize, Sent, u32),
    /// A deployment's tenant wants something else to run.
    Update(usize),
    /// A deployment's tenant pays again.
    Deposit(usize),
    /// A deployment's tenant has enough.
    Close(usize),
    /// A deployment's tenant wants a name that is not its own.
    Steal(usize),
}

/// Which manifest is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sent {
    /// The one whose hash is on chain.
    Right,
    Wrong,
    Updated,
}

/// Whom a tenant chooses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Choice {
    Us,
    Rival,
    Nobody,
}

/// A deployment and what its tenant has in mind.
#[derive(Clone, Debug)]
pub(crate) struct Tenancy {
    pub(crate) id: DeploymentId,
    owner: usize,
    groups: u32,
    manifest: Arc<Manifest>,
    wrong: Arc<Manifest>,
    updated: Arc<Manifest>,
    choice: Choice,
    manifests: Vec<(Duration, Sent)>,
    /// Whether it was updated on chain.
    is_updated: bool,
    leased: bool,
    closed: bool,
    /// What the provider said yes to.
    accepted: Vec<Sent>,
}

#[derive(Debug)]
pub(crate) struct Tenants {
    dice: Dice,
    tenancies: Vec<Tenancy>,
    by_id: BTreeMap<DeploymentId, usize>,
    /// Messages for the next block, by tenant.
    outbox: BTreeMap<usize, Vec<Message>>,
    /// Bids of the rival for the next block.
    rival: Vec<Message>,
    requests: BTreeMap<RequestId, (usize, Sent)>,
    next_request: u64,
    next_dseq: u64,
    /// Orders made so far.
    pub(crate) orders: u64,
    pub(crate) most: BTreeMap<OrderId, akash_types::DecCoin>,
}

impl Tenants {
    pub(crate) fn new(dice: Dice) -> Self {
        Self {
            dice,
            tenancies: Vec::new(),
            by_id: BTreeMap::new(),
            outbox: BTreeMap::new(),
            rival: Vec::new(),
            requests: BTreeMap::new(),
            next_request: 0,
            next_dseq: 0,
            orders: 0,
            most: BTreeMap::new(),
        }
    }
}

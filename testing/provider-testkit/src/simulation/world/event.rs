//! What can happen.

use std::sync::Arc;
use std::time::Duration;

use akash_chain::follow::{BlockEffects, plan};
use akash_chain::tx::lane::{self, Draft, TxRef};
use akash_chain::tx::{SignedTx, TxHash};
use akash_types::{IntentId, Wanted};
use provider_engine::Input;
use provider_engine::chain::{ChainQuery, QueryId};
use provider_engine::cluster::command::Command;
use provider_engine::input::PriceId;

use crate::simulation::faults::FaultEvent;
use crate::simulation::tenants::TenantEvent;

/// What the follower is told.
pub(crate) type FollowInput = plan::Input<Arc<BlockEffects>>;

/// Something that happens at a moment.
#[derive(Debug)]
pub(crate) enum Event {
    /// The chain makes a block.
    Block,
    ClusterTick(Duration),
    Tenant(TenantEvent),
    /// Something goes wrong, or right again.
    Fault(FaultEvent),
    Start,
    /// Something reaches the process, if it is still this one.
    Reach(u64, Reach),
    /// Something that the process asked for arrives where it is done.
    Call(u64, Call),
}

/// What reaches a process.
#[derive(Clone, Debug)]
pub(crate) enum Reach {
    Engine(Box<Input>),
    /// Its engine, from a watch on the cluster, if it is still this one.
    Watch(u64, Box<Input>),
    Lane(Box<lane::Input>),
    Follow(Box<FollowInput>),
    Wake(Part, Duration),
}

/// A part of the process that wants to be woken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    Engine,
    Lane,
    Follow,
}

/// What a process asks others.
#[derive(Clone, Debug)]
pub(crate) enum Call {
    /// The chain, for the engine.
    Query(QueryId, ChainQuery),
    Script(PriceId),
    Command(Command),
    /// The cluster, to be told of changes.
    Observe,
    /// The chain, for the lane's account.
    Account,
    /// The chain, to try a transaction.
    Simulate(Box<Draft>),
    /// The chain, to take a transaction.
    Broadcast(TxRef, u32, SignedTx),
    /// The chain, for a transaction.
    LookUp(TxRef, Option<TxHash>),
    /// The chain, for a state.
    Verify(IntentId, Wanted),
    /// A node, for its status.
    Status(usize, plan::Ticket),
    /// A node, for headers.
    Headers(usize, plan::Ticket, u64, u64),
    /// A node, for what a block did.
    Results(usize, plan::Ticket, u64),
    /// A node, to be told of blocks.
    Subscribe(usize, plan::Ticket),
    /// A node, for a sign of life.
    Ping(usize),
}

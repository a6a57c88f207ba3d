//! What the engine is told.

use std::sync::Arc;

use akash_sdl::manifest::{Decoded, IgnoredOption};
use akash_sdl::{Manifest, Version};
use akash_types::{
    Address, ChainEvent, Coin, DeploymentId, IntentId, LeaseClosedReason, LeaseId, Outcome,
};

use crate::chain::ChainReply;
use crate::cluster::command::CommandAnswer;
use crate::cluster::view::{IgnoredOptions, ViewChange};
pub use crate::manifest::RequestId;
use crate::order::isolation::IsolationHold;
use crate::order::pricing::ScriptFailure;
use crate::settings::Settings;
use crate::time::BlockTime;

/// Names a question for a price, so that an answer that comes late is known as such.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PriceId(pub u64);

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Input {
    /// The chain has a new block. Blocks come in order, each once.
    Block(Block),
    /// Blocks were skipped, up to this one: everything has to be read again.
    Resync {
        /// Height of the newest block.
        height: u64,
        time: BlockTime,
    },
    /// A question to the chain was answered, or not.
    Chain(ChainReply),
    /// Something handed to the transaction lane ended.
    Tx(TxEnd),
    /// The cluster looks different.
    View(ViewChange),
    /// A command to the cluster was carried out, or not.
    Command(CommandAnswer),
    /// The price script answered, or not.
    Script {
        id: PriceId,
        /// What it wrote, if it ended well.
        result: Result<Vec<u8>, ScriptFailure>,
    },
    /// A tenant wants something.
    Tenant(RequestId, TenantRequest),
    /// The operator wants something.
    Operator(RequestId, OperatorRequest),
    Tick,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Block {
    pub height: u64,
    pub time: BlockTime,
    pub events: Vec<ChainEvent>,
}

/// How something handed to the lane ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TxEnd {
    pub intent: IntentId,
    pub outcome: Outcome,
    /// Its share of the fees paid; absent if none was paid, or it is not known.
    pub fee: Option<Coin>,
}

/// How a manifest came, as far as that counts beside what was decoded.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Received {
    /// Hashes of what was received, any of which the chain may carry; empty where only the decoded
    /// manifest's own counts.
    pub hashes: Vec<Version>,
    /// Options that are not carried out.
    pub ignored: Vec<IgnoredOption>,
}

impl Received {
    /// A manifest that was decoded from `bytes`, and how it came.
    ///
    /// Console hashes what it sends, so the hash of what was received counts too, unless a key is
    /// unknown that may promise protection: only options of HTTP can be left out.
    pub fn of(decoded: Decoded, bytes: &[u8]) -> (Manifest, Self) {
        let counts = decoded.ignores_only_http_options();
        let hashes = if counts { Version::of_received(bytes) } else { Vec::new() };
        (decoded.manifest, Self { hashes, ignored: decoded.ignored_options })
    }

    /// The version of a manifest that was decoded as `decoded`, where the chain carries `on_chain`.
    pub(crate) fn version(&self, decoded: Version, on_chain: [u8; 32]) -> Version {
        let on_chain = Version::from(on_chain);
        if self.hashes.contains(&on_chain) { on_chain } else { decoded }
    }

    /// What is not carried out of a group, by service.
    pub(crate) fn ignored_in(&self, group: &str) -> IgnoredOptions {
        let mut ignored = IgnoredOptions::new();
        for option in self.ignored.iter().filter(|option| option.group == group) {
            ignored.entry(option.service.clone()).or_default().push(option.option.clone());
        }
        ignored
    }
}

/// What a tenant wants. Whoever passes it on has made sure who the tenant is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TenantRequest {
    Manifest {
        /// For which deployment, of which the tenant is the owner.
        deployment: DeploymentId,
        manifest: Arc<Manifest>,
        received: Received,
    },
    /// To have hostnames lead to another of its leases.
    MigrateHostnames {
        hostnames: Vec<String>,
        owner: Address,
        /// To which deployment of the owner.
        dseq: u64,
        gseq: u32,
    },
    /// To have leased addresses lead to another of its leases.
    MigrateEndpoints {
        endpoints: Vec<String>,
        owner: Address,
        /// To which deployment of the owner.
        dseq: u64,
        gseq: u32,
    },
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OperatorRequest {
    /// No bids and no closes, or as usual again.
    Maintenance(bool),
    /// What a probe found out about the isolation of tenants: why there must be no bids, or that
    /// they are kept apart.
    Isolation(Option<IsolationHold>),
    /// The cluster is right although it shows nothing of the leases.
    AcceptCluster,
    /// To write the Manifest of a lease again, and what should run.
    Redeploy(LeaseId),
    /// To end a lease that has no object in the cluster.
    CloseLost(LeaseId),
    CloseLease {
        lease: LeaseId,
        /// Why; one of the provider's reasons.
        reason: LeaseClosedReason,
    },
    /// To take a bid back.
    CloseBid(akash_types::OrderId),
    /// To collect the earnings of one lease, or of all.
    Withdraw(Option<LeaseId>),
    /// To let destruction go on although many leases look bad.
    ResetBreaker,
    /// To know where chain, cluster and engine disagree.
    Drift,
    Settings(Box<Settings>),
}

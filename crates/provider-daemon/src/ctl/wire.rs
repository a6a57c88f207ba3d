//! What client and server write to each other: a JSON object a line.
//!
//! Ids are in their usual text form, `owner/dseq/gseq/oseq` for an order and with `/provider` for
//! a lease. Where an id is asked for, the number of a deployment does as long as only one thing
//! has it.

use std::collections::BTreeMap;

use provider_engine::cluster::recognition::Recognition;
use provider_engine::cluster::view::{CardState, GpuCard, StoragePlace};
use provider_engine::engine::{InventoryStatus, NodeStatus, StorageStatus};
use serde::{Deserialize, Serialize};

/// No line is longer than this: an SDL with every character escaped fits.
pub const LONGEST_LINE: usize = 8 << 20;

/// What the operator wants.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "request", rename_all = "kebab-case")]
pub enum Request {
    Status,
    /// What was decided about an order, a lease or a deployment, or about the `provider`.
    Why {
        subject: String,
    },
    /// Where chain, cluster and engine disagree.
    Drift,
    /// Bids that are open, on their way to the chain, or on their way out.
    Bids,
    Leases,
    /// What nodes and storage classes have, what is left, and what is not sold.
    Inventory,
    /// No bids and no closes, or as usual again.
    Maintenance {
        on: bool,
    },
    /// Run this, as if the tenant had sent it.
    SendManifest {
        subject: String,
        /// An SDL, or a manifest in JSON.
        manifest: String,
    },
    /// This cluster is the right one although it shows nothing of the leases.
    ClusterAccept,
    /// Write the Manifest of a lease again, and what should run.
    LeaseRedeploy {
        lease: String,
    },
    /// End a lease that has no object in the cluster.
    LeaseCloseLost {
        lease: String,
    },
    LeaseClose {
        lease: String,
        /// Why: a name or a number of the provider's reasons.
        reason: String,
    },
    Withdraw {
        /// Of which lease; of all without.
        #[serde(default)]
        lease: Option<String>,
    },
    /// Let destruction go on although many leases look bad.
    BreakerReset,
    /// Find out whether tenants are kept apart, with real connections from pods like theirs.
    ProbeIsolation {
        /// Image of these pods; without, the one that is set.
        #[serde(default)]
        image: Option<String>,
    },
}

/// What the provider answers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "answer", rename_all = "kebab-case")]
pub enum Response {
    /// To [`Request::Status`].
    Status(Box<Status>),
    /// To [`Request::Why`]: every subject that was meant.
    Why {
        /// With what was decided about each.
        subjects: Vec<Explained>,
    },
    /// To [`Request::Drift`].
    Drift {
        drift: Vec<DriftItem>,
    },
    /// To [`Request::Bids`].
    Bids {
        bids: Vec<Bid>,
    },
    /// To [`Request::Leases`].
    Leases {
        leases: Vec<Lease>,
    },
    /// To [`Request::Inventory`].
    Inventory(Box<Inventory>),
    /// To [`Request::ProbeIsolation`].
    Isolation {
        /// Whether no attempt reached its target.
        isolated: bool,
        attempts: Vec<Attempt>,
    },
    Done {
        message: String,
    },
    /// It cannot be done.
    Error {
        message: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        hint: Option<String>,
    },
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Status {
    pub provider: String,
    pub chain_id: String,
    /// What runs the workloads.
    pub cluster: String,
    pub version: String,
    /// Since when it runs.
    pub uptime_seconds: u64,
    /// Height of the newest block.
    pub height: u64,
    /// Whether chain and cluster are fresh and it acts on them.
    pub ready: bool,
    #[serde(default)]
    pub missing: Vec<String>,
    pub cluster_fresh: bool,
    /// Whether the cluster is the one that leases were deployed to: known, unknown or undecided.
    #[serde(default)]
    pub recognition: String,
    #[serde(default)]
    pub unknown_cluster: Option<String>,
    #[serde(default)]
    pub cluster_uid: Option<String>,
    /// The uid of the cluster that was known last.
    #[serde(default)]
    pub expected_cluster_uid: Option<String>,
    /// Whether another provider with the same key acted within the last day.
    #[serde(default)]
    pub rival: bool,
    /// Whether destruction is stopped, because too many leases look bad.
    pub breaker_open: bool,
    pub maintenance: bool,
    /// Why there are no new bids until tenants are known to be kept apart: findings or unknown, and
    /// what was found; nothing if there are bids, or isolation is not required.
    #[serde(default)]
    pub isolation_hold: Option<IsolationHold>,
    /// Why bids cannot be paid for, if they cannot.
    pub cannot_pay: Option<String>,
    /// Why the balance is low, if bids can still be paid for.
    #[serde(default)]
    pub low_balance: Option<String>,
    pub orders: Vec<Count>,
    pub leases: Vec<Count>,
    /// What the program is made of.
    pub parts: Vec<Part>,
}

/// Why there are no new bids where tenants have to be kept apart.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct IsolationHold {
    /// `findings`, or `unknown` if no probe could be made.
    pub reason: String,
    pub detail: String,
}

/// An attempt to connect to what a tenant's pod must not reach.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Attempt {
    /// The node of the pod that tried.
    pub from_node: String,
    /// What it tried to reach: other-tenant, api-server, kubelet or metadata.
    pub target: String,
    pub address: String,
    /// Whether it answered: then it is a finding.
    pub reached: bool,
}

/// How many are in a stage.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Count {
    pub stage: String,
    pub count: usize,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Part {
    pub name: String,
    pub state: String,
    /// How often it was started again.
    pub restarts: u32,
    /// More, such as why it does not run.
    #[serde(default)]
    pub detail: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Bid {
    pub order: String,
    /// Price per block, where it is known.
    pub price: Option<String>,
    pub stage: String,
    /// Height at which it was made, once it was.
    pub since_height: Option<u64>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lease {
    pub id: String,
    pub price: String,
    pub stage: String,
    /// Whether the chain says that it pays.
    pub pays: bool,
    /// Whether its tenant has to send the manifest again.
    #[serde(default)]
    pub lacks_manifest: bool,
    /// How long its escrow account can pay; nothing before the account was read.
    #[serde(default)]
    pub funds: Option<Funds>,
}

/// How long an escrow account can pay, if nobody deposits, joins or leaves.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Funds {
    /// Whether it cannot pay any more.
    pub dry: bool,
    /// First height that is not paid; nothing if there is none.
    pub dry_at: Option<u64>,
    /// Blocks after the newest that are still paid.
    pub blocks_left: Option<u64>,
    /// About how long these take.
    pub seconds_left: Option<u64>,
    /// Height of the reading from which this was computed.
    #[serde(default)]
    pub read_at: u64,
}

/// What was decided about something.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Explained {
    pub subject: String,
    pub decisions: Vec<Decided>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Decided {
    /// Height of the newest block then.
    pub height: u64,
    /// Its time, in seconds since 1970.
    pub time: u64,
    /// What, and why, in words.
    pub decision: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DriftItem {
    pub code: String,
    pub order: String,
    pub text: String,
}

/// What there is to sell, and what is left of it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Inventory {
    /// Whether the cluster was seen just now. If not, this is what was seen last.
    pub fresh: bool,
    pub nodes: Vec<Node>,
    pub storage: Vec<StorageClass>,
    /// Addresses that can be leased.
    pub leased_ips: Amount,
    /// Ports on nodes that are left; nothing if unlimited.
    pub ports_available: Option<i64>,
}

/// How much there is in all, and how much of it is left.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Amount {
    pub allocatable: i64,
    pub available: i64,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Node {
    pub name: String,
    /// Why no new pods are put on it; empty if they are.
    pub excluded: Vec<String>,
    /// Nothing if the node reports none.
    pub arch: Option<String>,
    pub cpu_milli: Amount,
    /// In bytes, like all storage.
    pub memory: Amount,
    pub ephemeral_storage: Amount,
    pub gpu: Amount,
    pub gpus: Vec<Gpu>,
    /// Leases that have GPUs of it.
    pub gpu_holders: Vec<GpuHolder>,
    /// Devices that no lease can ask for, by resource name.
    pub unsold_devices: BTreeMap<String, i64>,
    pub storage_classes: Vec<String>,
}

/// Equal GPUs of a node.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Gpu {
    pub vendor: String,
    pub model: String,
    pub memory_gib: Option<u64>,
    pub interface: Option<String>,
    pub count: usize,
    /// `usable` by leases, taken by `others`, or `unusable`.
    pub state: String,
    /// Why they are unusable.
    pub reason: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GpuHolder {
    pub lease: String,
    pub service: String,
    pub model: Option<String>,
    pub count: i64,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct StorageClass {
    pub class: String,
    pub bytes: Amount,
    /// `shared` by nodes, or the `node-disk`, which is the ephemeral storage of nodes.
    pub place: String,
    /// Why it is not sold; nothing if it is.
    pub unsold: Option<String>,
}

impl Inventory {
    /// What the engine says there is.
    pub(super) fn of(fresh: bool, seen: &InventoryStatus) -> Self {
        let class = |status: &StorageStatus| StorageClass {
            class: status.class.to_string(),
            bytes: amount(status.allocatable, status.available),
            place: match status.place {
                StoragePlace::Shared => "shared",
                StoragePlace::NodeDisk => "node-disk",
            }
            .to_owned(),
            unsold: None,
        };
        let unsold = seen.unsold_storage.iter().map(|(class, why)| StorageClass {
            class: class.to_string(),
            unsold: Some(why.to_string()),
            ..StorageClass::default()
        });
        let whole = |count: u64| i64::try_from(count).unwrap_or(i64::MAX);
        let free_ips = seen.ips.total.saturating_sub(seen.ips.used);
        Self {
            fresh,
            nodes: seen.nodes.iter().map(Node::of).collect(),
            storage: seen.storage.iter().map(class).chain(unsold).collect(),
            leased_ips: amount(whole(seen.ips.total), whole(free_ips)),
            ports_available: seen.ports,
        }
    }
}

/// Less than nothing is left where a node or a class shrank below what is taken: shown as nothing.
fn amount(allocatable: i64, available: i64) -> Amount {
    Amount { allocatable, available: available.max(0) }
}

impl Node {
    fn of(status: &NodeStatus) -> Self {
        let mut gpus: Vec<Gpu> = Vec::new();
        for card in &status.cards {
            let gpu = Gpu::of(card);
            match gpus.iter_mut().find(|known| Gpu { count: 1, ..(*known).clone() } == gpu) {
                Some(known) => known.count += 1,
                None => gpus.push(gpu),
            }
        }
        let holders = status.card_holders.iter().map(|holder| GpuHolder {
            lease: holder.lease.to_string(),
            service: holder.service.clone(),
            model: holder.model.as_deref().map(str::to_owned),
            count: holder.count,
        });
        let devices = status.unsold_devices.iter();
        let (all, left) = (&status.allocatable, &status.available);
        Self {
            name: status.name.to_string(),
            excluded: status.exclusions.iter().map(ToString::to_string).collect(),
            arch: status.arch.known().map(|arch| arch.to_string()),
            cpu_milli: amount(all.cpu_milli, left.cpu_milli),
            memory: amount(all.memory, left.memory),
            ephemeral_storage: amount(all.ephemeral, left.ephemeral),
            gpu: amount(all.gpu, left.gpu),
            gpus,
            gpu_holders: holders.collect(),
            unsold_devices: devices.map(|(name, count)| (name.to_string(), *count)).collect(),
            storage_classes: status.storage_classes.iter().map(ToString::to_string).collect(),
        }
    }
}

impl Gpu {
    fn of(card: &GpuCard) -> Self {
        let (state, reason) = match &card.state {
            CardState::Usable => ("usable", None),
            CardState::TakenByOthers => ("others", None),
            CardState::Unusable(why) => ("unusable", Some(why.to_string())),
        };
        Self {
            vendor: card.vendor.as_str().to_owned(),
            model: card.model.to_string(),
            memory_gib: card.memory_gib,
            interface: card.interface.map(|interface| interface.as_str().to_owned()),
            count: 1,
            state: state.to_owned(),
            reason,
        }
    }
}

impl Response {
    pub(super) fn error(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self::Error { message: message.into(), hint: Some(hint.into()) }
    }

    pub(super) fn done(message: impl Into<String>) -> Self {
        Self::Done { message: message.into() }
    }
}

impl Status {
    /// Takes over what the engine says of itself.
    pub fn with_engine(self, engine: &provider_engine::engine::Status) -> Self {
        let counts = |stages: &[(&'static str, usize)]| {
            let count = |(stage, count): &(&str, usize)| Count {
                stage: (*stage).to_owned(),
                count: *count,
            };
            stages.iter().map(count).collect()
        };
        Self {
            height: engine.height,
            cluster_fresh: engine.cluster_fresh,
            recognition: engine.cluster.recognition.name().to_owned(),
            unknown_cluster: match engine.cluster.recognition {
                Recognition::Unknown(why) => Some(why.to_string()),
                Recognition::Known | Recognition::Undecided => None,
            },
            cluster_uid: engine.cluster.uid.as_deref().map(str::to_owned),
            expected_cluster_uid: engine.cluster.expected.as_deref().map(str::to_owned),
            rival: engine.rival,
            breaker_open: engine.breaker_open,
            maintenance: engine.maintenance,
            isolation_hold: engine.isolation.as_ref().map(|hold| IsolationHold {
                reason: hold.code().to_owned(),
                detail: hold.to_string(),
            }),
            cannot_pay: engine.cannot_pay(),
            low_balance: engine.low_balance(),
            orders: counts(&engine.orders),
            leases: counts(&engine.leases),
            ..self
        }
    }
}

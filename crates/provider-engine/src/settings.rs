//! What the operator sets. Validated before it gets here.

use std::time::Duration;

use akash_types::{Address, Attribute, Coin, Denom};

use crate::cluster::recognition::ClusterUid;
use crate::escrow::Settings as EscrowSettings;
use crate::inventory::CommitLevels;
use crate::lease::Patience;
use crate::manifest::ManifestSettings;
use crate::order::policy::Policy;
use crate::order::pricing::Pricing;
use crate::reconcile::BreakerSettings;

/// Everything that decisions depend on and that is not on chain or in the cluster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    pub provider: Address,
    /// What an order must ask for to be ours: attributes of the provider's own configuration.
    pub attributes: Vec<Attribute>,
    pub bid_deposit: Coin,
    /// What a bid costs in fees, about.
    pub bid_fee: Coin,
    /// What orders may pay in; anything if empty.
    pub price_denoms: Vec<Denom>,
    /// After how long a bid that nobody chose is closed; `None` for never.
    pub bid_timeout: Option<Duration>,
    /// How long a tenant has to send a manifest; `None` for ever.
    pub manifest_timeout: Option<Duration>,
    /// How long before the end of a lease we announce it; `None` if we offer no such thing.
    pub reclamation_window: Option<Duration>,
    /// How much more is sold than there is.
    pub commit: CommitLevels,
    /// Whom we deal with.
    pub policy: Policy,
    pub pricing: Pricing,
    /// Makes prices of the random strategy unpredictable to others, and the same for us.
    pub seed: u64,
    /// How patient we are with what does not run.
    pub patience: Patience,
    /// How long a check that failed waits for the next.
    pub check_period: Duration,
    /// By how much more at most, different for each lease.
    pub check_jitter: Duration,
    /// How often everything is compared.
    pub reconcile_period: Duration,
    /// Whether there are bids only while tenants are known to be kept apart.
    pub require_isolation: bool,
    /// The uid of a cluster that is right although it shows nothing of the leases.
    pub accept_cluster: Option<ClusterUid>,
    pub breaker: BreakerSettings,
    /// When money is collected.
    pub escrow: EscrowSettings,
    pub manifest: ManifestSettings,
}

impl Settings {
    /// The defaults of the contract, where it has some, for a provider that prices like this.
    pub fn new(provider: Address, bid_deposit: Coin, bid_fee: Coin, pricing: Pricing) -> Self {
        let five_minutes = Duration::from_secs(300);
        Self {
            provider,
            attributes: Vec::new(),
            escrow: EscrowSettings::new(provider, bid_fee.clone(), bid_deposit.clone()),
            bid_deposit,
            bid_fee,
            price_denoms: Vec::new(),
            bid_timeout: Some(five_minutes),
            manifest_timeout: Some(five_minutes),
            reclamation_window: None,
            commit: CommitLevels::default(),
            policy: Policy::default(),
            pricing,
            seed: 0,
            patience: Patience::default(),
            check_period: Duration::from_secs(4),
            check_jitter: Duration::from_secs(15),
            reconcile_period: Duration::from_secs(60),
            require_isolation: false,
            accept_cluster: None,
            breaker: BreakerSettings::default(),
            manifest: ManifestSettings::default(),
        }
    }
}

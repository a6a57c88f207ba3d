//! A provider that would bid on anything, and an order that asks for little.

use std::time::Duration;

use akash_types::{
    Address, Attribute, Coin, Denom, GroupSpec, MarketParams, PlacementRequirements, ResourceUnit,
    Resources, SignedBy, Storage,
};

use crate::cluster::view::{Amounts, ClusterView, Node};
use crate::escrow::WalletState;
use crate::inventory::{CommitLevels, Free};
use crate::order::evaluate::Rules;
use crate::order::facts::{Ask, Audits, Facts};
use crate::order::isolation::IsolationHold;
use crate::order::policy::Policy;
use crate::order::pricing::Pricing;

pub(super) const HOUR: Duration = Duration::from_secs(3600);
pub(super) const MIB: u64 = 1 << 20;

/// All that a decision looks at, owned.
pub(super) struct World {
    pub(super) spec: GroupSpec,
    pub(super) owner: Option<Address>,
    pub(super) min_window: Option<Duration>,
    pub(super) own: Vec<Attribute>,
    pub(super) filter: Vec<Attribute>,
    pub(super) audits: Audits,
    pub(super) params: MarketParams,
    pub(super) verification_active: bool,
    pub(super) window: Option<Duration>,
    pub(super) deposit: Coin,
    pub(super) denoms: Vec<Denom>,
    pub(super) maintenance: bool,
    pub(super) isolation: Option<IsolationHold>,
    pub(super) wallet: Option<WalletState>,
    pub(super) fee: Coin,
    pub(super) fees_today: u128,
    pub(super) open_bids: u32,
    pub(super) bids: Option<u32>,
    pub(super) policy: Policy,
    pub(super) pricing: Pricing,
    pub(super) view: ClusterView,
}

impl World {
    pub(super) fn new() -> Self {
        let node = Node {
            allocatable: Amounts { cpu_milli: 8000, memory: 1 << 34, ephemeral: 1 << 40, gpu: 0 },
            ..Node::default()
        };
        Self {
            spec: spec(),
            owner: Some(address(1)),
            min_window: None,
            own: attributes(&[("region", "west")]),
            filter: Vec::new(),
            audits: Audits::new(),
            params: MarketParams {
                bid_min_deposit: None,
                order_max_bids: 20,
                bid_min_deposits: vec![coin("500000uact"), coin("500000uakt")],
                min_reclamation_window: HOUR,
                max_reclamation_window: HOUR * 720,
            },
            verification_active: false,
            window: None,
            deposit: coin("500000uakt"),
            denoms: Vec::new(),
            maintenance: false,
            isolation: None,
            wallet: None,
            fee: coin("5000uakt"),
            fees_today: 0,
            open_bids: 0,
            bids: None,
            policy: Policy::default(),
            pricing: Pricing::RandomRange,
            view: ClusterView { nodes: [("a".into(), node)].into(), ..ClusterView::default() },
        }
    }

    pub(super) fn ask(&self) -> Ask<'_> {
        let reclamation_min_window = self.min_window;
        Ask { owner: self.owner, spec: &self.spec, reclamation_min_window }
    }

    pub(super) fn facts(&self) -> Facts<'_> {
        Facts {
            own_attributes: &self.own,
            order_filter: &self.filter,
            audits: &self.audits,
            params: &self.params,
            verification_active: self.verification_active,
            reclamation_window: self.window,
            deposit: &self.deposit,
            price_denoms: &self.denoms,
            levels: CommitLevels::default(),
            maintenance: self.maintenance,
            isolation: self.isolation.as_ref(),
            wallet: self.wallet.as_ref(),
            bid_fee: &self.fee,
            fees_today: self.fees_today,
            open_bids_of_owner: self.open_bids,
            bids_on_order: self.bids,
        }
    }

    pub(super) fn rules(&self) -> Rules<'_> {
        Rules { policy: &self.policy, pricing: &self.pricing, draw: 7, stand_in: address(9) }
    }

    pub(super) fn free(&self) -> Free {
        Free::compute(&self.view, [])
    }
}

/// One replica of little, for at most 100 uact per block.
fn spec() -> GroupSpec {
    let mut resources = Resources { id: 1, ..Resources::default() };
    resources.cpu.units = 100;
    resources.memory.quantity = 16 * MIB;
    resources.storage = vec![volume(&[])];
    GroupSpec {
        name: "west".to_owned(),
        requirements: PlacementRequirements::default(),
        resources: vec![ResourceUnit { resources, count: 1, price: "100uact".parse().unwrap() }],
    }
}

pub(super) fn volume(pairs: &[(&str, &str)]) -> Storage {
    let attributes = attributes(pairs);
    Storage { name: "default".to_owned(), quantity: 128 * MIB, attributes }
}

pub(super) fn attributes(pairs: &[(&str, &str)]) -> Vec<Attribute> {
    pairs.iter().map(|(key, value)| Attribute::new(*key, *value)).collect()
}

pub(super) fn signed_by(all: &[&str], any: &[&str]) -> SignedBy {
    let names = |names: &[&str]| Some(names.iter().map(|name| (*name).to_owned()).collect());
    SignedBy { all_of: names(all), any_of: names(any) }
}

pub(super) fn coin(text: &str) -> Coin {
    text.parse().unwrap()
}

pub(super) fn address(byte: u8) -> Address {
    Address::from_bytes(&[byte; 20]).unwrap()
}

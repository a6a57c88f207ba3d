//! What one owner has reserved.

use akash_types::{Attribute, GpuModel, GpuRequest, GroupSpec, ResourceOffer};

use super::{Need, UnitNeed};
use crate::cluster::view::{CardChoice, Name};

/// What an order, a bid or a lease has reserved. It ends with its owner.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Booking {
    /// Its resource units, in the order of the group.
    pub units: Box<[UnitBooking]>,
    pub ips: u64,
    pub ports: u64,
}

/// What is reserved for the replicas of one resource unit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnitBooking {
    /// The unit's number in its group.
    pub id: u32,
    /// How many replicas there shall be.
    pub count: u32,
    pub need: Need,
    /// The kind of card that all of them get; `None` if they need none.
    pub card: Option<CardChoice>,
    /// How many are planned on which node. Fewer than `count` in all only where a lease has
    /// replicas for which there is no room left.
    pub plan: Box<[(Name, u32)]>,
}

impl UnitBooking {
    /// How many replicas have a planned node.
    pub fn planned(&self) -> u32 {
        self.plan.iter().fold(0, |sum, (_, count)| sum.saturating_add(*count))
    }

    pub(super) fn new(
        unit: &UnitNeed,
        card: Option<CardChoice>,
        plan: impl IntoIterator<Item = (Name, u32)>,
    ) -> Self {
        let plan = plan.into_iter().collect();
        Self { id: unit.id, count: unit.count, need: unit.need.clone(), card, plan }
    }
}

impl Booking {
    /// Whether every replica has a planned node.
    pub fn is_complete(&self) -> bool {
        self.units.iter().all(|unit| unit.planned() >= unit.count)
    }

    /// The unit with this number.
    pub fn unit(&self, id: u32) -> Option<&UnitBooking> {
        self.units.iter().find(|unit| unit.id == id)
    }

    /// What a bid offers on `group` with this booking: what was ordered, with the one kind of card
    /// that each unit gets instead of those that would have been acceptable.
    pub fn offer(&self, group: &GroupSpec) -> Vec<ResourceOffer> {
        let offer = |unit: &akash_types::ResourceUnit| {
            let mut resources = unit.resources.clone();
            if let Some(card) = self.unit(resources.id).and_then(|booked| booked.card.as_ref()) {
                resources.gpu.attributes = vec![Attribute::new(card_key(card), "true")];
            }
            ResourceOffer { resources, count: unit.count, prices: None }
        };
        group.resources.iter().map(offer).collect()
    }
}

/// `vendor/<v>/model/<m>[/ram/<r>][/interface/<i>]`.
fn card_key(card: &CardChoice) -> String {
    let request = GpuRequest {
        vendor: card.vendor,
        model: GpuModel::Named(card.model.to_string()),
        ram_gib: card.memory_gib,
        interface: card.interface,
    };
    request.to_string()
}

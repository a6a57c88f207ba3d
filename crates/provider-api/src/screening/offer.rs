//! What would be offered, as the Go structs print it.

use akash_types::{Attribute, ResourceOffer, Resources};
use serde::{Deserialize, Serialize};

/// So many replicas with these resources each.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Offer {
    /// What each has.
    pub resources: OfferResources,
    /// How many.
    pub count: u32,
}

/// A price per block.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Price {
    /// In which coin.
    pub denom: String,
    /// How much, with 18 digits behind the point.
    pub amount: String,
}

/// What a replica has.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct OfferResources {
    /// The resource unit of the group.
    pub id: u32,
    /// CPU.
    pub cpu: Units,
    /// Memory.
    pub memory: Size,
    /// Volumes.
    pub storage: Vec<Volume>,
    /// Cards, with the one that was chosen as their attributes.
    pub gpu: Units,
    /// Endpoints.
    pub endpoints: Vec<Endpoint>,
}

/// A count.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Units {
    /// How many.
    pub units: Quantity,
    /// Of what kind.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub attributes: Vec<Pair>,
}

/// A size in bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Size {
    /// How many.
    pub size: Quantity,
    /// Of what kind.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub attributes: Vec<Pair>,
}

/// A volume.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Volume {
    /// Its name.
    pub name: String,
    /// Bytes.
    pub size: Quantity,
    /// Of what kind.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub attributes: Vec<Pair>,
}

/// A number as text.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Quantity {
    /// In decimal digits.
    pub val: String,
}

/// An attribute.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pair {
    /// Its key.
    pub key: String,
    /// Its value.
    pub value: String,
}

/// An endpoint.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Endpoint {
    /// 0 for HTTP, 1 for a port, 2 for an address.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub kind: i32,
    /// Number of the address; 0 if it is none.
    pub sequence_number: u32,
}

impl From<&ResourceOffer> for Offer {
    fn from(offer: &ResourceOffer) -> Self {
        Self { resources: (&offer.resources).into(), count: offer.count }
    }
}

impl From<&Resources> for OfferResources {
    fn from(resources: &Resources) -> Self {
        let volume = |volume: &akash_types::Storage| Volume {
            name: volume.name.clone(),
            size: quantity(volume.quantity),
            attributes: pairs(&volume.attributes),
        };
        let endpoint = |endpoint: &akash_types::Endpoint| Endpoint {
            kind: endpoint.kind.code(),
            sequence_number: endpoint.sequence_number,
        };
        Self {
            id: resources.id,
            cpu: Units {
                units: quantity(resources.cpu.units),
                attributes: pairs(&resources.cpu.attributes),
            },
            memory: Size {
                size: quantity(resources.memory.quantity),
                attributes: pairs(&resources.memory.attributes),
            },
            storage: resources.storage.iter().map(volume).collect(),
            gpu: Units {
                units: quantity(resources.gpu.units),
                attributes: pairs(&resources.gpu.attributes),
            },
            endpoints: resources.endpoints.iter().map(endpoint).collect(),
        }
    }
}

fn quantity(number: u64) -> Quantity {
    Quantity { val: number.to_string() }
}

fn pairs(attributes: &[Attribute]) -> Vec<Pair> {
    let pair = |it: &Attribute| Pair { key: it.key.clone(), value: it.value.clone() };
    attributes.iter().map(pair).collect()
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "the signature that serde asks for")]
const fn is_zero(number: &i32) -> bool {
    *number == 0
}

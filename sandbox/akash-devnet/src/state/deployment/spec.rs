//! What a group asks for, as the chain keeps it.

use std::sync::Arc;

use akash_proto::akash::base::resources::v1beta4::ResourceValue;
use akash_proto::akash::deployment::v1beta4 as wire;
use akash_types::{ConvertError, GroupSpec};
use prost::Message;

/// The spec of a group, shared by the group and its orders. Kept as bytes, which is a tenth of
/// what its parts would take: there are many groups, and few are looked at.
#[derive(Clone, Debug)]
pub(crate) struct Spec(Arc<[u8]>);

impl Spec {
    /// The spec as the chain writes it again.
    pub(super) fn new(spec: wire::GroupSpec) -> Self {
        Self(canonical(spec).encode_to_vec().into())
    }

    pub(crate) fn to_wire(&self) -> wire::GroupSpec {
        // We wrote these bytes, so they can be read.
        wire::GroupSpec::decode(&*self.0).unwrap_or_default()
    }

    pub(crate) fn parse(&self) -> Result<GroupSpec, ConvertError> {
        self.to_wire().try_into()
    }
}

/// Parts that cannot be absent on the chain are present, and a number is never an empty text.
fn canonical(mut spec: wire::GroupSpec) -> wire::GroupSpec {
    let requirements = spec.requirements.get_or_insert_default();
    requirements.signed_by.get_or_insert_default();
    for unit in &mut spec.resources {
        let price = unit.price.get_or_insert_default();
        if price.amount.is_empty() {
            "0".clone_into(&mut price.amount);
        }
        let resources = unit.resource.get_or_insert_default();
        if let Some(cpu) = &mut resources.cpu {
            number(&mut cpu.units);
        }
        if let Some(memory) = &mut resources.memory {
            number(&mut memory.quantity);
        }
        if let Some(gpu) = &mut resources.gpu {
            number(&mut gpu.units);
        }
        for volume in &mut resources.storage {
            number(&mut volume.quantity);
        }
    }
    spec
}

fn number(value: &mut Option<ResourceValue>) {
    let value = value.get_or_insert_default();
    if value.val.is_empty() {
        value.val = b"0".to_vec();
    }
}

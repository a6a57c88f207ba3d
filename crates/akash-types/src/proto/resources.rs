//! Resources of a unit.
//!
//! CPU, memory and GPU may be absent in a message, which the chain refuses in a group. Here they
//! read as none of it, which `group_validation` refuses for CPU and memory.

use akash_proto::akash::base::resources::v1beta4 as wire;

use super::error::{At, ConvertError, ConvertProblem, defaulted, list, messages};
use super::money::integer;
use super::placement::attributes;
use crate::{Cpu, Endpoint, EndpointKind, Gpu, Memory, Resources, Storage};

fn value(field: &str, value: Option<wire::ResourceValue>) -> Result<u64, ConvertError> {
    let digits = value.unwrap_or_default().val;
    let max = u64::MAX.into();
    let number = integer(&digits, max).at(field)?;
    // `integer` has checked the range.
    Ok(u64::try_from(number).unwrap_or(u64::MAX))
}

fn wire_value(value: u64) -> Option<wire::ResourceValue> {
    Some(wire::ResourceValue { val: value.to_string().into_bytes() })
}

impl TryFrom<wire::Cpu> for Cpu {
    type Error = ConvertError;

    fn try_from(cpu: wire::Cpu) -> Result<Self, Self::Error> {
        Ok(Self { units: value("units", cpu.units)?, attributes: attributes(cpu.attributes) })
    }
}

impl From<Cpu> for wire::Cpu {
    fn from(cpu: Cpu) -> Self {
        Self { units: wire_value(cpu.units), attributes: messages(cpu.attributes) }
    }
}

impl TryFrom<wire::Gpu> for Gpu {
    type Error = ConvertError;

    fn try_from(gpu: wire::Gpu) -> Result<Self, Self::Error> {
        Ok(Self { units: value("units", gpu.units)?, attributes: attributes(gpu.attributes) })
    }
}

impl From<Gpu> for wire::Gpu {
    fn from(gpu: Gpu) -> Self {
        Self { units: wire_value(gpu.units), attributes: messages(gpu.attributes) }
    }
}

impl TryFrom<wire::Memory> for Memory {
    type Error = ConvertError;

    fn try_from(memory: wire::Memory) -> Result<Self, Self::Error> {
        let quantity = value("quantity", memory.quantity)?;
        Ok(Self { quantity, attributes: attributes(memory.attributes) })
    }
}

impl From<Memory> for wire::Memory {
    fn from(memory: Memory) -> Self {
        Self { quantity: wire_value(memory.quantity), attributes: messages(memory.attributes) }
    }
}

impl TryFrom<wire::Storage> for Storage {
    type Error = ConvertError;

    fn try_from(storage: wire::Storage) -> Result<Self, Self::Error> {
        let quantity = value("quantity", storage.quantity)?;
        Ok(Self { name: storage.name, quantity, attributes: attributes(storage.attributes) })
    }
}

impl From<Storage> for wire::Storage {
    fn from(storage: Storage) -> Self {
        Self {
            name: storage.name,
            quantity: wire_value(storage.quantity),
            attributes: messages(storage.attributes),
        }
    }
}

pub(super) fn endpoint_kind(code: i32) -> Result<EndpointKind, ConvertError> {
    EndpointKind::from_code(code).ok_or(ConvertProblem::EndpointKind { code }).at("kind")
}

impl TryFrom<wire::Endpoint> for Endpoint {
    type Error = ConvertError;

    fn try_from(endpoint: wire::Endpoint) -> Result<Self, Self::Error> {
        let sequence_number = endpoint.sequence_number;
        Ok(Self { kind: endpoint_kind(endpoint.kind)?, sequence_number })
    }
}

impl From<Endpoint> for wire::Endpoint {
    fn from(endpoint: Endpoint) -> Self {
        Self { kind: endpoint.kind.code(), sequence_number: endpoint.sequence_number }
    }
}

impl TryFrom<wire::Resources> for Resources {
    type Error = ConvertError;

    fn try_from(resources: wire::Resources) -> Result<Self, Self::Error> {
        Ok(Self {
            id: resources.id,
            cpu: defaulted("cpu", resources.cpu)?,
            memory: defaulted("memory", resources.memory)?,
            storage: list("storage", resources.storage)?,
            gpu: defaulted("gpu", resources.gpu)?,
            endpoints: list("endpoints", resources.endpoints)?,
        })
    }
}

impl From<Resources> for wire::Resources {
    fn from(resources: Resources) -> Self {
        Self {
            id: resources.id,
            cpu: Some(resources.cpu.into()),
            memory: Some(resources.memory.into()),
            storage: messages(resources.storage),
            gpu: Some(resources.gpu.into()),
            endpoints: messages(resources.endpoints),
        }
    }
}

//! What a replica asks for, in request units.

use akash_sdl::manifest::Service;
use akash_types::{CpuArch, GpuRequest};
use provider_engine::cluster::view::{Amounts, Name};
use serde::{Deserialize, Serialize};

use super::settings::CommitLevels;

/// A persistent volume of one replica.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Volume {
    pub(super) name: String,
    pub(super) class: Name,
    pub(super) bytes: i64,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Need {
    #[serde(with = "crate::wire::amounts")]
    pub(super) asks: Amounts,
    pub(super) volumes: Vec<Volume>,
    /// Architecture of the nodes that can run it.
    #[serde(default, with = "crate::wire::arch")]
    pub(super) arch: CpuArch,
}

impl Need {
    /// What a replica of `service` asks for; `Err` says what the manifest lacks.
    pub(super) fn of(service: &Service, commit: CommitLevels) -> Result<Self, String> {
        let resources = &service.resources;
        let lacks = |what: &str| format!("service {:?} has no {what}", service.name);
        let cpu = resources.cpu.as_ref().ok_or_else(|| lacks("CPU"))?;
        let arch =
            cpu.arch().map_err(|unknown| format!("service {:?}: {unknown}", service.name))?;
        let cpu = cpu.units;
        let memory = resources.memory.as_ref().ok_or_else(|| lacks("memory"))?.quantity;
        let gpu = resources.gpu.as_ref().map_or(0, |gpu| gpu.units);
        let (mut ram, mut ephemeral, mut volumes) = (0_u64, 0_u64, Vec::new());
        for volume in resources.storage.iter().flatten() {
            if volume.is_persistent() {
                volumes.push(Volume {
                    name: volume.name.clone(),
                    class: volume.class().unwrap_or("default").into(),
                    bytes: signed(volume.quantity),
                });
            } else if volume.is_ram() {
                ram = ram.saturating_add(volume.quantity);
            } else {
                ephemeral = ephemeral.saturating_add(committed(commit.storage, volume.quantity));
            }
        }
        let memory = committed(commit.memory, memory).saturating_add(ram);
        let asks = Amounts {
            cpu_milli: signed(committed(commit.cpu, cpu)),
            memory: signed(memory),
            ephemeral: signed(ephemeral),
            gpu: signed(gpu),
        };
        Ok(Self { asks, volumes, arch })
    }
}

/// The cards that a service would take; `Err` if its wishes cannot be read.
pub(super) fn card_wishes(service: &Service) -> Result<Vec<GpuRequest>, String> {
    let gpu = service.resources.gpu.as_ref().filter(|gpu| gpu.units > 0);
    gpu.map_or(Ok(Vec::new()), |gpu| gpu.requests().map_err(|why| why.to_string()))
}

/// A quantity at a level of overcommit: divided, rounded half up, at least 1.
fn committed(level: u64, quantity: u64) -> u64 {
    match level {
        0 | 1 => quantity,
        _ => (quantity.saturating_add(level / 2) / level).max(1),
    }
}

fn signed(quantity: u64) -> i64 {
    i64::try_from(quantity).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn overcommit_rounds_as_the_contract_says() {
        for (level, quantity, committed_to) in
            [(1, 100, 100), (2, 100, 50), (3, 100, 33), (10_000, 100, 1), (2, 101, 51)]
        {
            assert_eq!(committed(level, quantity), committed_to, "{quantity} at {level}");
        }
    }
}

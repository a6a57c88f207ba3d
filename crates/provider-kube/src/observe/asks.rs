//! What a pod asks the scheduler for.

use std::collections::BTreeMap;

use akash_types::GpuVendor;
use k8s_openapi::api::core::v1::{Container, Pod};
use k8s_openapi::apimachinery::pkg::api::resource::Quantity;
use provider_engine::cluster::view::Amounts;

use super::quantity::{milli, whole};

/// What device plugins call the cards that leases ask for, by vendor.
pub(super) const CARDS: [(GpuVendor, &str); 2] =
    [(GpuVendor::Nvidia, "nvidia.com/gpu"), (GpuVendor::Amd, "amd.com/gpu")];

/// What a pod asks for, as the scheduler counts it: its containers together, or its most demanding
/// start if that asks for more, and what its runtime adds.
pub(super) fn of(pod: &Pod) -> Amounts {
    counted(pod, amounts)
}

/// How many devices of one kind a pod asks for.
pub(super) fn devices(pod: &Pod, resource: &str) -> i64 {
    let read = |list: &BTreeMap<String, Quantity>| {
        let gpu = list.get(resource).and_then(|amount| whole(&amount.0)).unwrap_or_default();
        Amounts { gpu, ..Amounts::default() }
    };
    counted(pod, read).gpu
}

/// Bytes of memory behind the pod's own volumes, each volume once however many containers mount it.
pub(super) fn memory_volumes(pod: &Pod) -> i64 {
    let volumes = pod.spec.iter().flat_map(|spec| spec.volumes.iter().flatten());
    let sizes = volumes.filter_map(|volume| {
        let dir =
            volume.empty_dir.as_ref().filter(|dir| dir.medium.as_deref() == Some("Memory"))?;
        whole(&dir.size_limit.as_ref()?.0)
    });
    sizes.fold(0, i64::saturating_add)
}

fn counted(pod: &Pod, amounts: impl Fn(&BTreeMap<String, Quantity>) -> Amounts) -> Amounts {
    let Some(spec) = &pod.spec else {
        return Amounts::default();
    };
    let requests = |container: &Container| {
        let requests = container.resources.as_ref().and_then(|it| it.requests.as_ref());
        requests.map(&amounts).unwrap_or_default()
    };
    let mut running = Amounts::default();
    for container in &spec.containers {
        running = sum(running, requests(container));
    }
    // Sidecars go on running: they count with the containers, and with every start after theirs.
    let (mut sidecars, mut starting) = (Amounts::default(), Amounts::default());
    for container in spec.init_containers.iter().flatten() {
        let asks = requests(container);
        if container.restart_policy.as_deref() == Some("Always") {
            running = sum(running, asks);
            sidecars = sum(sidecars, asks);
            starting = most(starting, sidecars);
        } else {
            starting = most(starting, sum(sidecars, asks));
        }
    }
    let mut asks = most(running, starting);
    // A pod may ask for CPU and memory as a whole, whatever its containers say.
    if let Some(whole) = spec.resources.as_ref().and_then(|all| all.requests.as_ref()) {
        let given = amounts(whole);
        if whole.contains_key("cpu") {
            asks.cpu_milli = given.cpu_milli;
        }
        if whole.contains_key("memory") {
            asks.memory = given.memory;
        }
    }
    sum(asks, spec.overhead.as_ref().map(&amounts).unwrap_or_default())
}

/// Amounts of a list of resources. What cannot be read counts as nothing: the API server would not
/// have stored it.
pub(super) fn amounts(list: &BTreeMap<String, Quantity>) -> Amounts {
    let read = |name: &str, read: fn(&str) -> Option<i64>| {
        list.get(name).and_then(|amount| read(&amount.0)).unwrap_or_default()
    };
    Amounts {
        cpu_milli: read("cpu", milli),
        memory: read("memory", whole),
        ephemeral: read("ephemeral-storage", whole),
        gpu: CARDS.iter().fold(0_i64, |sum, (_, name)| sum.saturating_add(read(name, whole))),
    }
}

pub(super) fn sum(one: Amounts, other: Amounts) -> Amounts {
    combined(one, other, i64::saturating_add)
}

fn most(one: Amounts, other: Amounts) -> Amounts {
    combined(one, other, i64::max)
}

fn combined(one: Amounts, other: Amounts, with: fn(i64, i64) -> i64) -> Amounts {
    Amounts {
        cpu_milli: with(one.cpu_milli, other.cpu_milli),
        memory: with(one.memory, other.memory),
        ephemeral: with(one.ephemeral, other.ephemeral),
        gpu: with(one.gpu, other.gpu),
    }
}

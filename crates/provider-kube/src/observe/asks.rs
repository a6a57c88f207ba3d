//! What a pod asks the scheduler for.

use std::collections::BTreeMap;

use k8s_openapi::api::core::v1::{Container, Pod};
use k8s_openapi::apimachinery::pkg::api::resource::Quantity;
use provider_engine::cluster::view::Amounts;

use super::quantity::{milli, whole};

/// What device plugins call their cards.
const CARDS: [&str; 2] = ["nvidia.com/gpu", "amd.com/gpu"];

/// What a pod asks for, as the scheduler counts it: its containers together, or its most demanding
/// start if that asks for more, and what its runtime adds.
pub(super) fn of(pod: &Pod) -> Amounts {
    let Some(spec) = &pod.spec else {
        return Amounts::default();
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
    sum(asks, spec.overhead.as_ref().map(amounts).unwrap_or_default())
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
        gpu: CARDS.iter().fold(0_i64, |sum, name| sum.saturating_add(read(name, whole))),
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

fn requests(container: &Container) -> Amounts {
    let requests = container.resources.as_ref().and_then(|resources| resources.requests.as_ref());
    requests.map(amounts).unwrap_or_default()
}

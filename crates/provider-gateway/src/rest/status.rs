//! How the provider is, made of what the engine publishes.

use bytes::Bytes;
use http::{HeaderMap, HeaderValue, Method, StatusCode};
use provider_api::error::ErrorCode;
use provider_api::status::{
    Amounts, Available, BidEngineStatus, ClusterStatus, InventoryStatus, ManifestStatus,
    NoInventory, NodeAmounts, NodeStatus, ProviderStatus, StorageStatus,
};
use provider_engine::cluster::view;
use provider_engine::engine;
use provider_engine::engine::{Published, Reserved};

use super::failure::{Answer, Failure, of_type};
use crate::Metrics;
use crate::port::Identity;

/// The document of `GET /status`.
pub fn status_document(published: &Published, identity: &Identity) -> ProviderStatus {
    let orders = published.status.orders.iter().map(|(_, count)| count).sum();
    let window = identity.reclamation_window;
    ProviderStatus {
        cluster: ClusterStatus {
            leases: published.leases.len(),
            inventory: published.inventory.as_ref().map_or_else(unknown, inventory),
        },
        bidengine: BidEngineStatus { orders },
        manifest: ManifestStatus { deployments: published.deployments },
        cluster_public_hostname: identity.public_hostname.clone(),
        reclamation_window: window.and_then(|window| u64::try_from(window.as_nanos()).ok()),
        address: identity.address.to_string(),
    }
}

fn unknown() -> InventoryStatus {
    InventoryStatus { error: Some(NoInventory {}), ..InventoryStatus::default() }
}

fn inventory(inventory: &engine::InventoryStatus) -> InventoryStatus {
    let kept = |active| {
        inventory.reserved.iter().filter(move |kept| kept.active == active).map(reserved).collect()
    };
    let nodes = inventory.nodes.iter().map(|node| NodeStatus {
        name: node.name.to_string(),
        allocatable: amounts(&node.allocatable),
        available: amounts(&node.available),
    });
    let storage = inventory.storage.iter().map(|storage| StorageStatus {
        class: storage.class.to_string(),
        size: shown(storage.available),
    });
    InventoryStatus {
        active: kept(true),
        pending: kept(false),
        available: Available { nodes: nodes.collect(), storage: storage.collect() },
        error: None,
    }
}

fn reserved(kept: &Reserved) -> Amounts {
    let storage = kept.storage.iter().map(|(class, bytes)| (class.to_string(), shown(*bytes)));
    Amounts { node: amounts(&kept.amounts), storage: storage.collect() }
}

fn amounts(amounts: &view::Amounts) -> NodeAmounts {
    NodeAmounts {
        cpu: shown(amounts.cpu_milli),
        gpu: shown(amounts.gpu),
        memory: shown(amounts.memory),
        storage_ephemeral: shown(amounts.ephemeral),
    }
}

/// Less than nothing is left where more is taken than there is; clients read that as nothing.
fn shown(amount: i64) -> u64 {
    u64::try_from(amount).unwrap_or(0)
}

const KIND: HeaderValue =
    HeaderValue::from_static("text/plain; version=0.0.4; charset=utf-8; escaping=underscores");

/// What the listener for metrics answers: figures at `/metrics`, nothing elsewhere.
pub fn metrics_answer(metrics: &Metrics, method: &Method, path: &str) -> Answer {
    if path != "/metrics" {
        let text = "404 page not found";
        let failure = Failure::plain(StatusCode::NOT_FOUND, ErrorCode::UnknownRoute, text);
        return failure.response(&HeaderMap::new());
    }
    if !matches!(*method, Method::GET | Method::HEAD) {
        let text = format!("{method} is not for this path");
        let code = ErrorCode::MethodNotAllowed;
        return Failure::empty(StatusCode::METHOD_NOT_ALLOWED, code, text)
            .response(&HeaderMap::new());
    }
    of_type(KIND, Bytes::from(metrics()))
}

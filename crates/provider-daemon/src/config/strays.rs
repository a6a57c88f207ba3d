//! Variables that installations set, that look like settings, and that are none.
//!
//! Honouring them would change running installations without anybody having asked for it.

use super::error::Note;
use super::place::Place;
use super::reader::Reader;

/// Their names, and why they do nothing.
pub const STRAYS: [(&str, &str); 13] = [
    (
        "DEPLOYMENT_NETWORK_POLICIES_ENABLED",
        "its prefix is missing, so network policies stay on; set AP_DEPLOYMENT_NETWORK_POLICIES_ENABLED if that is wanted",
    ),
    ("AP_GATEWAY_IMPLEMENTATION", "the setting is AP_GATEWAY_PROVIDER"),
    ("AKASH_GATEWAY_IMPLEMENTATION", "the setting is AKASH_GATEWAY_PROVIDER"),
    ("KUBE_CONFIG", "the setting is AP_KUBECONFIG"),
    ("KUBECONFIG", "the setting is AP_KUBECONFIG"),
    ("AKASH_BALANCES_PERIOD", "accounts are read every AKASH_LEASE_FUNDS_MONITOR_INTERVAL"),
    ("AKASH_QUERY_TIMEOUT", "the setting is AKASH_RPC_QUERY_TIMEOUT"),
    ("AKASH_BID_PRICE_CPU", "the setting is AKASH_BID_PRICE_CPU_SCALE"),
    ("AKASH_BID_PRICE_MEMORY", "the setting is AKASH_BID_PRICE_MEMORY_SCALE"),
    ("AKASH_BID_PRICE_STORAGE", "the setting is AKASH_BID_PRICE_STORAGE_SCALE"),
    ("AKASH_CLUSTER_STORAGE", "the cluster says itself what it has"),
    ("AKASH_RESOURCE_DEFINITION", "resources come from the cluster"),
    ("AKASH_ATTESTATION_WEBHOOK_ENABLED", "attestation is not there yet"),
];

/// Says of those that are set that they do nothing.
pub(super) fn note(reader: &mut Reader<'_>) {
    for name in &reader.given.strays {
        if let Some((_, because)) = STRAYS.iter().find(|(stray, _)| stray == name) {
            reader.notes.push(Note {
                setting: name.clone(),
                place: Place::Environment(name.clone()),
                text: format!("has no effect: {because}"),
            });
        }
    }
}

//! How a lease is, for its tenant.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// How a lease is.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LeaseStatus {
    /// Its services by name.
    #[serde(default)]
    pub services: BTreeMap<String, ServiceStatus>,
    /// Ports of the provider that lead to services; `None` if the lease asks for none.
    #[serde(default)]
    pub forwarded_ports: Option<BTreeMap<String, Vec<ForwardedPort>>>,
    /// Addresses that lead to services; `None` if the lease asks for none.
    #[serde(default)]
    pub ips: Option<BTreeMap<String, Vec<LeasedIp>>>,
    /// How long its escrow account can pay; left out while that is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub funds: Option<LeaseFunds>,
}

/// How long an escrow account can pay, if nobody deposits and no lease begins or ends.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LeaseFunds {
    /// Whether it cannot pay any more: the lease ends with the next settlement.
    pub dry: bool,
    /// First height that is not paid; left out if there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dry_at: Option<u64>,
    /// Blocks after the newest that are still paid.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub blocks_left: Option<u64>,
    /// About how long these take, in seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seconds_left: Option<u64>,
}

/// How a service is.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ServiceStatus {
    /// Its name.
    pub name: String,
    /// How many replicas do their work.
    pub available: i32,
    /// How many there are to be.
    pub total: i32,
    /// Hostnames that lead to it; `None` if none do.
    #[serde(default)]
    pub uris: Option<Vec<String>>,
    /// How often what the cluster was told of it has changed.
    #[serde(default)]
    pub observed_generation: i64,
    /// How many replicas exist.
    #[serde(default)]
    pub replicas: i32,
    /// How many are of the newest manifest.
    #[serde(default)]
    pub updated_replicas: i32,
    /// How many do their work.
    #[serde(default)]
    pub ready_replicas: i32,
    /// How many do their work.
    #[serde(default)]
    pub available_replicas: i32,
    /// What providers written in Go do not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail: Option<Detail>,
}

/// How a service is, explained.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Detail {
    /// In one word: `ready`, `degraded`, `failing`, `pending`, `starting` or `ending`.
    pub phase: String,
    /// Why it is not ready, in plain words; `None` if it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// How many replicas do their work.
    pub ready: u32,
    /// How many there are to be.
    pub wanted: u32,
    /// How often its containers were started again.
    pub restarts: u32,
    /// How the container that ended last ended, if one did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_exit: Option<Exit>,
    /// What happened last, oldest first; empty also where nobody could say.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub events: Vec<ServiceEvent>,
    /// Options of its manifest that this provider does not carry out.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub not_carried_out: Vec<String>,
}

/// How a container ended.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Exit {
    /// What it returned; 128 and the signal's number if it was killed.
    pub code: i32,
    /// Why, in plain words.
    pub reason: String,
}

/// Something that happened to a service.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ServiceEvent {
    /// `Normal`, or `Warning`.
    #[serde(rename = "type")]
    pub kind: String,
    /// One word, such as `Pulled`.
    pub reason: String,
    /// What happened, in words.
    pub note: String,
}

/// A port of the provider that leads to a service.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ForwardedPort {
    /// Where to connect to; may be empty.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub host: String,
    /// The container's port.
    pub port: u16,
    /// The port outside.
    pub external_port: u16,
    /// `TCP`, or `UDP`.
    pub proto: String,
    /// The service.
    pub name: String,
}

/// An address that leads to a service. Clients rely on the capitals.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct LeasedIp {
    /// The container's port.
    pub port: u32,
    /// The port at the address.
    pub external_port: u32,
    /// `TCP`, or `UDP`.
    pub protocol: String,
    /// The address.
    #[serde(rename = "IP")]
    pub ip: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_document_is_written_as_the_contract_has_it() {
        let text = concat!(
            r#"{"services":{"web":{"name":"web","available":1,"total":1,"#,
            r#""uris":["abc123.ingress.example.com","a.example.com"],"#,
            r#""observed_generation":1,"replicas":1,"updated_replicas":1,"ready_replicas":1,"#,
            r#""available_replicas":1}},"#,
            r#""forwarded_ports":{"web":[{"host":"provider.example.com","port":22,"#,
            r#""externalPort":31234,"proto":"TCP","name":"web"}]},"#,
            r#""ips":{"web":[{"Port":53,"ExternalPort":53,"Protocol":"UDP","IP":"203.0.113.7"}]}}"#,
        );
        let read: LeaseStatus = serde_json::from_str(text).unwrap();
        assert_eq!(serde_json::to_string(&read).unwrap(), text);
    }

    #[test]
    fn what_is_not_asked_for_is_null() {
        let json = serde_json::to_string(&LeaseStatus::default()).unwrap();
        assert_eq!(json, r#"{"services":{},"forwarded_ports":null,"ips":null}"#);
        let json = serde_json::to_string(&ServiceStatus::default()).unwrap();
        assert!(json.contains(r#""uris":null"#), "{json}");
    }
}

//! Something that happened to a lease.

use serde::{Deserialize, Serialize};

/// Something that happened.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct EventFrame {
    /// `Normal`, or `Warning`.
    #[serde(rename = "type")]
    pub kind: String,
    /// The part of the cluster that says so; may be empty.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub reporting_controller: String,
    /// Which of them, such as a node; may be empty.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub reporting_instance: String,
    /// One word, such as `Pulled`.
    pub reason: String,
    /// What happened, in words.
    pub note: String,
    /// What it happened to.
    pub object: EventObject,
}

/// A thing of a cluster, by name.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct EventObject {
    /// Its kind, such as `Pod`.
    pub kind: String,
    /// Where its name counts.
    pub namespace: String,
    /// Its name.
    pub name: String,
}

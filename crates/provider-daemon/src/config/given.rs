//! What the operator gave, as it was written.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;

use akash_net::{Outbound, OutboundError};
use akash_types::{Address, Attribute};

use super::reader::{Note, Reader};
use super::table::setting_of_key;

/// What was given, and by whom: the only input of [`Config::from_given`](super::Config::from_given).
#[derive(Clone, Debug)]
pub struct Given {
    /// From the command line or the environment, by the name of the setting.
    pub values: BTreeMap<String, Value>,
    /// provider.yaml, where `provider-config` names one.
    pub file: Option<GivenFile>,
    /// The address of the key that `from` names, or why there is none; absent while nobody looked.
    pub signer: Option<Result<Address, String>>,
    pub user_home: Option<PathBuf>,
    /// Variables that are set, look like settings and are none.
    pub strays: Vec<String>,
    /// How connections go out by the environment, or why it does not say.
    pub outbound: Result<Outbound, OutboundError>,
    /// A number that others cannot guess and that is the same at every start.
    pub seed: u64,
}

/// A text and where it came from. Not shown by `Debug`: it may be a password.
#[derive(Clone, PartialEq, Eq, derive_more::Debug)]
#[debug("Value({})", self.place)]
pub struct Value {
    pub text: String,
    pub place: Place,
}

#[derive(Clone, Debug)]
pub struct GivenFile {
    pub path: PathBuf,
    /// What it says, or why that cannot be read.
    pub content: Result<FileContent, String>,
}

/// What provider.yaml says.
#[derive(Clone, Default)]
pub struct FileContent {
    /// What an order must ask for.
    pub attributes: Vec<Attribute>,
    /// Keys besides `host`, `info` and `attributes`, with their values.
    pub settings: Vec<(String, String)>,
}

impl Default for Given {
    fn default() -> Self {
        Self {
            values: BTreeMap::new(),
            file: None,
            signer: None,
            user_home: None,
            strays: Vec::new(),
            outbound: Ok(Outbound::default()),
            seed: 0,
        }
    }
}

impl Given {
    /// What was said about a setting, by the strongest of those who said something.
    pub fn said(&self, name: &str) -> Option<Value> {
        self.values.get(name).cloned().or_else(|| self.in_file(name))
    }

    fn in_file(&self, name: &str) -> Option<Value> {
        let file = self.file.as_ref()?;
        let content = file.content.as_ref().ok()?;
        let (key, text) = content.settings.iter().find(|(key, _)| {
            setting_of_key(key).is_some_and(|setting| setting.name == name && setting.in_file)
        })?;
        let place = Place::File { path: file.path.clone(), key: key.clone() };
        Some(Value { text: text.clone(), place })
    }
}

impl fmt::Debug for FileContent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let keys: Vec<&str> = self.settings.iter().map(|(key, _)| key.as_str()).collect();
        f.debug_struct("FileContent")
            .field("attributes", &self.attributes)
            .field("settings", &keys)
            .finish()
    }
}

/// Where a value came from, strongest first.
#[derive(Clone, Debug, PartialEq, Eq, derive_more::Display)]
pub enum Place {
    #[display("flag")]
    Flag,
    #[display("{}", _0)]
    Environment(String),
    #[display("{key} in {}", path.display())]
    File { path: PathBuf, key: String },
    #[display("default")]
    Default,
}

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
pub(super) fn note_strays(reader: &mut Reader<'_>) {
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

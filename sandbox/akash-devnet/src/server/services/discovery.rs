//! `akash.discovery.v1.Discovery`: which versions of its modules the node speaks.

use akash_proto::akash::discovery::v1::{
    Akash, ClientInfo, GetInfoResponse, ModuleVersion, VersionInfo,
};
use serde::Serialize;

use crate::server::context::APP_VERSION;

/// What a client uses that knows no better.
const API_VERSION: &str = "v1beta3";
const API_VERSIONS: [&str; 2] = ["v1beta4", "v1beta3"];
const MODULES: [(&str, &str); 10] = [
    ("audit", "v1"),
    ("bme", "v1"),
    ("cert", "v1"),
    ("deployment", "v1beta4"),
    ("escrow", "v1"),
    ("market", "v1beta5"),
    ("oracle", "v2"),
    ("provider", "v1beta4"),
    ("take", "v1"),
    ("wasm", "v1"),
];

pub(crate) fn message(chain_id: &str) -> GetInfoResponse {
    let modules = || {
        let module = |(module, version): (&str, &str)| ModuleVersion {
            module: module.to_owned(),
            version: version.to_owned(),
        };
        MODULES.map(module).to_vec()
    };
    let supported = API_VERSIONS.map(|api_version| VersionInfo {
        api_version: api_version.to_owned(),
        modules: modules(),
        features: Vec::new(),
    });
    let info = Akash {
        client_info: Some(ClientInfo { api_version: API_VERSION.to_owned() }),
        supported_versions: supported.to_vec(),
        chain_id: chain_id.to_owned(),
        node_version: APP_VERSION.to_owned(),
        min_client_version: String::new(),
    };
    GetInfoResponse { info: Some(info) }
}

/// The answer of the JSON-RPC method `akash`.
pub(crate) fn json(chain_id: &str) -> impl Serialize + use<'_> {
    let modules = MODULES.map(|(module, version)| Module { module, version });
    let version = |api_version| Version { api_version, modules, features: None };
    Info {
        client_info: Client { api_version: API_VERSION },
        supported_versions: API_VERSIONS.map(version),
        chain_id,
        node_version: APP_VERSION,
        min_client_version: "",
    }
}

#[derive(Serialize)]
struct Info<'a> {
    client_info: Client,
    supported_versions: [Version; 2],
    chain_id: &'a str,
    node_version: &'static str,
    min_client_version: &'static str,
}

#[derive(Serialize)]
struct Client {
    api_version: &'static str,
}

#[derive(Serialize)]
struct Version {
    api_version: &'static str,
    modules: [Module; 10],
    features: Option<[&'static str; 0]>,
}

#[derive(Clone, Copy, Serialize)]
struct Module {
    module: &'static str,
    version: &'static str,
}

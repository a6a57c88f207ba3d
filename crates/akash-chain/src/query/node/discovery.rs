//! Which versions of the API a node speaks, and which of them we speak.

use akash_proto::akash::discovery::v1 as wire;
use serde::Deserialize;

/// A version of the API that this client speaks. Both mean the same modules today.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ClientVersion {
    /// `v1beta3`.
    V1Beta3,
    /// `v1beta4`.
    V1Beta4,
}

impl ClientVersion {
    /// Best first.
    const PREFERRED: [Self; 2] = [Self::V1Beta4, Self::V1Beta3];

    /// Its name.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::V1Beta3 => "v1beta3",
            Self::V1Beta4 => "v1beta4",
        }
    }
}

/// What a node says of its API.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(from = "Wire")]
pub struct Discovery {
    /// The version it names by itself; what older nodes say.
    pub api_version: String,
    /// Every version it speaks.
    pub supported: Vec<SupportedVersion>,
    /// Which chain it is on.
    pub chain_id: String,
    /// Version of the node.
    pub node_version: String,
    /// The oldest client it wants; advice only, may be empty.
    pub min_client_version: String,
}

/// A version of the API, and the versions of the modules it stands for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SupportedVersion {
    /// Its name.
    pub api_version: String,
    /// Module and version.
    pub modules: Vec<(String, String)>,
    /// What else it can do.
    pub features: Vec<String>,
}

/// Why we cannot speak to a node.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DiscoveryError {
    /// The node names no version at all.
    #[error("the node names no API version")]
    None,
    /// The node speaks none of ours.
    #[error("the node speaks API versions {}, this client v1beta4, v1beta3", .offered.join(", "))]
    Unsupported {
        /// What it speaks.
        offered: Vec<String>,
    },
}

impl Discovery {
    /// The version to speak: the best that both sides know.
    ///
    /// # Errors
    ///
    /// When there is none.
    pub fn client_version(&self) -> Result<ClientVersion, DiscoveryError> {
        let mut offered: Vec<String> =
            self.supported.iter().map(|version| version.api_version.clone()).collect();
        if offered.is_empty() {
            offered.extend(Some(self.api_version.clone()).filter(|version| !version.is_empty()));
        }
        if offered.is_empty() {
            return Err(DiscoveryError::None);
        }
        let known = |version: &ClientVersion| offered.iter().any(|name| name == version.as_str());
        let best = ClientVersion::PREFERRED.into_iter().find(known);
        best.ok_or(DiscoveryError::Unsupported { offered })
    }
}

impl From<wire::Akash> for Discovery {
    fn from(akash: wire::Akash) -> Self {
        let version = |version: wire::VersionInfo| SupportedVersion {
            api_version: version.api_version,
            modules: version.modules.into_iter().map(|pair| (pair.module, pair.version)).collect(),
            features: version.features,
        };
        Self {
            api_version: akash.client_info.unwrap_or_default().api_version,
            supported: akash.supported_versions.into_iter().map(version).collect(),
            chain_id: akash.chain_id,
            node_version: akash.node_version,
            min_client_version: akash.min_client_version,
        }
    }
}

#[derive(Deserialize)]
struct Wire {
    #[serde(default)]
    client_info: WireClientInfo,
    #[serde(default)]
    supported_versions: Option<Vec<WireVersion>>,
    #[serde(default)]
    chain_id: String,
    #[serde(default)]
    node_version: String,
    #[serde(default)]
    min_client_version: String,
}

#[derive(Default, Deserialize)]
struct WireClientInfo {
    #[serde(default)]
    api_version: String,
}

#[derive(Deserialize)]
struct WireVersion {
    api_version: String,
    #[serde(default)]
    modules: Option<Vec<WireModule>>,
    #[serde(default)]
    features: Option<Vec<String>>,
}

#[derive(Deserialize)]
struct WireModule {
    module: String,
    version: String,
}

impl From<Wire> for Discovery {
    fn from(wire: Wire) -> Self {
        let module = |module: WireModule| (module.module, module.version);
        let version = |version: WireVersion| SupportedVersion {
            api_version: version.api_version,
            modules: version.modules.unwrap_or_default().into_iter().map(module).collect(),
            features: version.features.unwrap_or_default(),
        };
        let supported = wire.supported_versions.unwrap_or_default();
        Self {
            api_version: wire.client_info.api_version,
            supported: supported.into_iter().map(version).collect(),
            chain_id: wire.chain_id,
            node_version: wire.node_version,
            min_client_version: wire.min_client_version,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn speaks(api_version: &str, supported: &[&str]) -> Result<ClientVersion, DiscoveryError> {
        let version = |name: &&str| SupportedVersion {
            api_version: (*name).to_owned(),
            modules: vec![],
            features: vec![],
        };
        let supported = supported.iter().map(version).collect();
        let api_version = api_version.to_owned();
        Discovery { api_version, supported, ..Discovery::default() }.client_version()
    }

    #[test]
    fn the_best_common_version_is_spoken() {
        assert_eq!(speaks("v1beta3", &["v1beta3", "v1beta4"]), Ok(ClientVersion::V1Beta4));
        assert_eq!(speaks("v1beta4", &["v1beta3"]), Ok(ClientVersion::V1Beta3));
        assert_eq!(speaks("v1beta3", &[]), Ok(ClientVersion::V1Beta3));
        assert_eq!(speaks("", &[]), Err(DiscoveryError::None));
        let error = speaks("v1beta3", &["v1beta9"]).unwrap_err();
        let text = "the node speaks API versions v1beta9, this client v1beta4, v1beta3";
        assert_eq!(error.to_string(), text);
    }

    #[test]
    fn lists_may_be_null() {
        let json = r#"{"client_info":{"api_version":"v1beta3"},"supported_versions":[
            {"api_version":"v1beta4","modules":[{"module":"audit","version":"v1"}],"features":null}
            ],"chain_id":"local","node_version":"2.1.0","min_client_version":""}"#;
        let discovery: Discovery = serde_json::from_str(json).unwrap();
        assert_eq!(discovery.client_version(), Ok(ClientVersion::V1Beta4));
        let [version] = discovery.supported.as_slice() else { panic!() };
        assert_eq!(version.modules, [("audit".to_owned(), "v1".to_owned())]);
        let empty: Discovery = serde_json::from_str(r#"{"supported_versions":null}"#).unwrap();
        assert_eq!(empty, Discovery::default());
    }
}

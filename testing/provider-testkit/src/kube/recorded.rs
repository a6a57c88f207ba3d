//! A recorded deployment, read from its folder.

use std::path::{Path, PathBuf};

use akash_sdl::Manifest;
use akash_sdl::manifest::DecodeError;
use akash_types::{IdError, LeaseId};
use provider_crd::labels;
use provider_kube::settings::{IngressMode, NetworkPolicies, Overcommit, Settings};
use serde_json::Value;

use super::yaml::{YamlError, documents};

#[derive(Clone, Debug)]
pub struct Case {
    pub lease: LeaseId,
    pub manifest: Manifest,
    /// The namespace and what is in it.
    pub objects: Vec<Value>,
    /// The custom resources of the lease.
    pub custom: Vec<Value>,
    /// The `HTTPRoute`s, where they are recorded by themselves.
    pub routes: Vec<Value>,
    /// The pods, where they are recorded.
    pub pods: Vec<Value>,
    /// Hostnames that were another lease's when this was recorded.
    pub withheld: Vec<String>,
    /// The flags of the provider that made it.
    pub settings: Settings,
}

/// Why a folder is not a recorded deployment.
#[derive(Debug, thiserror::Error)]
pub enum CaseError {
    #[error("{file} is neither in {} nor above it", dir.display())]
    Missing { file: &'static str, dir: PathBuf },
    #[error("cannot read {}", path.display())]
    Read { path: PathBuf, source: std::io::Error },
    #[error("cannot use objects.yaml, crs.yaml, httproutes.yaml or pods.yaml")]
    Yaml(#[from] YamlError),
    #[error("cannot use lease.json")]
    Json(#[from] serde_json::Error),
    #[error("lease.json names no lease")]
    Lease(#[from] IdError),
    #[error("cannot use manifest.json")]
    Manifest(#[from] DecodeError),
}

impl Case {
    /// Reads one of those in this repository, such as `01-basic`.
    pub fn recorded(name: &str) -> Result<Self, CaseError> {
        let all = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/kubernetes");
        Self::read(&all.join(name))
    }

    /// Reads a folder. Lease and manifest may lie further up; the flags follow from the folder's
    /// place: below `flags-B` and `gateway-api` they are other ones.
    pub fn read(dir: &Path) -> Result<Self, CaseError> {
        // The flags follow from the folders above, which a path may leave out.
        let dir = &dir.canonicalize().unwrap_or_else(|_| dir.to_owned());
        let lease: Value = serde_json::from_str(&text(dir, "lease.json")?)?;
        let part = |key: &str| match lease.get(key) {
            Some(Value::String(text)) => text.clone(),
            Some(other) => other.to_string(),
            None => String::new(),
        };
        let parts = ["owner", "dseq", "gseq", "oseq", "provider"].map(part);
        let lease: LeaseId = parts.join("/").parse()?;
        let custom = unpacked(documents(&text(dir, "crs.yaml")?)?);
        let (custom, others): (Vec<_>, Vec<_>) =
            custom.into_iter().partition(|object| is_of(object, &lease));
        let withheld = others.iter().filter(|object| text_at(object, "/kind") == "ProviderHost");
        Ok(Self {
            lease,
            manifest: Manifest::from_json(text(sent(dir), "manifest.json")?.as_bytes())?.manifest,
            objects: unpacked(documents(&text(dir, "objects.yaml")?)?),
            withheld: withheld.map(|host| text_at(host, "/metadata/name").to_owned()).collect(),
            custom,
            routes: if_there(dir, "httproutes.yaml")?,
            pods: if_there(dir, "pods.yaml")?,
            settings: settings(dir),
        })
    }

    /// The recorded object of this kind and name.
    pub fn find(&self, kind: &str, name: &str) -> Option<&Value> {
        let is = |object: &&Value| {
            text_at(object, "/kind") == kind && text_at(object, "/metadata/name") == name
        };
        self.objects.iter().chain(&self.custom).find(is)
    }

    /// The `resourceVersion` of the recorded `Manifest`.
    pub fn revision(&self) -> &str {
        let manifest = self.custom.iter().find(|object| text_at(object, "/kind") == "Manifest");
        manifest.map_or("", |manifest| text_at(manifest, "/metadata/resourceVersion"))
    }
}

pub(super) fn text_at<'a>(object: &'a Value, pointer: &str) -> &'a str {
    object.pointer(pointer).and_then(Value::as_str).unwrap_or_default()
}

/// Whether a custom resource is of this lease: all of a cluster lie in one namespace.
fn is_of(object: &Value, lease: &LeaseId) -> bool {
    let labels = object.pointer("/metadata/labels");
    labels::lease(lease).iter().all(|(key, value)| {
        labels.and_then(|labels| labels.get(key)).and_then(Value::as_str) == Some(value)
    })
}

/// From where the manifest is looked for: that beside a folder `before` is what came after it.
fn sent(dir: &Path) -> &Path {
    let is_before = dir.file_name().is_some_and(|name| name == "before");
    let above = dir.parent().and_then(Path::parent).filter(|_| is_before);
    above.unwrap_or(dir)
}

fn text(dir: &Path, file: &'static str) -> Result<String, CaseError> {
    let found = dir.ancestors().take(3).map(|dir| dir.join(file)).find(|path| path.exists());
    let path = found.ok_or_else(|| CaseError::Missing { file, dir: dir.to_owned() })?;
    std::fs::read_to_string(&path).map_err(|source| CaseError::Read { path, source })
}

/// The objects of a file that not every case has.
fn if_there(dir: &Path, file: &'static str) -> Result<Vec<Value>, CaseError> {
    match text(dir, file) {
        Ok(text) => Ok(unpacked(documents(&text)?)),
        Err(CaseError::Missing { .. }) => Ok(Vec::new()),
        Err(error) => Err(error),
    }
}

/// Lists become what is in them.
fn unpacked(documents: Vec<Value>) -> Vec<Value> {
    let unpack = |mut document: Value| match document.get_mut("items") {
        Some(Value::Array(items)) => std::mem::take(items),
        _ => vec![document],
    };
    documents.into_iter().flat_map(unpack).collect()
}

/// The flags of the three runs that were recorded.
fn settings(dir: &Path) -> Settings {
    let api_server = vec![([10, 240, 0, 1], 26443).into()];
    let main = Settings {
        public_hostname: "localhost".to_owned(),
        generated_hosts: Some("localhost".to_owned()),
        network_policies: Some(NetworkPolicies { api_server }),
        ..Settings::default()
    };
    let overcommit = Overcommit { cpu: 50, memory: 25, storage: 100 };
    let is_below = |name: &str| dir.components().any(|part| part.as_os_str() == name);
    if is_below("flags-B") {
        let pull_secret = Some("regcred".to_owned());
        return Settings {
            generated_hosts: None,
            network_policies: None,
            overcommit,
            pull_secret,
            ..main
        };
    }
    if is_below("gateway-api") {
        let gateway = || "akash-gateway".to_owned();
        let ingress = IngressMode::GatewayApi { name: gateway(), namespace: gateway() };
        return Settings { ingress, overcommit, ..main };
    }
    main
}

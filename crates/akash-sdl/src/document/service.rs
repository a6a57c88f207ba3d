//! `services.<name>`.

use super::expose::Expose;
use super::reader::{Key, Named, Reader, Spot, is_null};
use crate::problem::{Path, Place};
use crate::yaml::Node;

#[derive(Clone, Debug)]
pub(crate) struct Service<'d> {
    pub(crate) name: Key<'d>,
    pub(crate) image: Spot<&'d str>,
    pub(crate) command: Option<Vec<Spot<&'d str>>>,
    pub(crate) args: Option<Vec<Spot<&'d str>>>,
    pub(crate) env: Option<Vec<Spot<&'d str>>>,
    pub(crate) expose: Vec<Expose<'d>>,
    pub(crate) params: Option<Params<'d>>,
    pub(crate) credentials: Option<Credentials<'d>>,
}

#[derive(Clone, Debug)]
pub(crate) struct Params<'d> {
    pub(crate) storage: Named<'d, StorageParams<'d>>,
    /// What the tenant's pods may read, where the key is present.
    pub(crate) permissions: Option<Vec<Spot<&'d str>>>,
    /// Empty when absent.
    pub(crate) tee: Spot<&'d str>,
    pub(crate) kbs: Option<Kbs<'d>>,
}

/// `params.kbs`: the key broker of a confidential guest. Empty texts are absent.
#[derive(Clone, Debug)]
pub(crate) struct Kbs<'d> {
    pub(crate) place: Place,
    pub(crate) mode: &'d str,
    pub(crate) url: &'d str,
    pub(crate) certificate: &'d str,
    pub(crate) image_security_policy_uri: &'d str,
    pub(crate) agent_policy: &'d str,
}

#[derive(Clone, Debug)]
pub(crate) struct StorageParams<'d> {
    pub(crate) mount: Spot<&'d str>,
    pub(crate) read_only: bool,
    /// Empty when absent.
    pub(crate) key_ref: Spot<&'d str>,
}

#[derive(Clone)]
pub(crate) struct Credentials<'d> {
    pub(crate) place: Place,
    pub(crate) host: &'d str,
    pub(crate) email: &'d str,
    pub(crate) username: &'d str,
    pub(crate) password: &'d str,
    pub(crate) uri: &'d str,
}

impl std::fmt::Debug for Credentials<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Credentials").field("host", &self.host).finish_non_exhaustive()
    }
}

impl<'d> Service<'d> {
    pub(crate) fn decode<'a>(
        reader: &mut Reader<'d, 'a>,
        name: Key<'d>,
        node: &'d Node<'a>,
        path: Path<'_>,
    ) -> Self {
        let mut service = Self {
            name,
            image: Spot { value: "", place: name.place },
            command: None,
            args: None,
            env: None,
            expose: Vec::new(),
            params: None,
            credentials: None,
        };
        reader.mapping(node, path, |reader, key, value, path| match key.value {
            "image" => {
                if let Some(image) = reader.text(value, path) {
                    service.image = image;
                }
            }
            "command" => service.command = reader.texts(value, path),
            "args" => service.args = reader.texts(value, path),
            "env" => service.env = reader.texts(value, path),
            "expose" => {
                service.expose = reader.list(value, path, Expose::decode).unwrap_or_default();
            }
            "dependencies" => dependencies(reader, value, path),
            "params" => service.params = Params::decode(reader, value, path),
            "credentials" => service.credentials = Credentials::decode(reader, value, path),
            _ => reader.unknown_key(
                key,
                path,
                "image, command, args, env, expose, dependencies, params, credentials",
            ),
        });
        service
    }
}

/// Read so that a wrong form is refused as the existing tools refuse it; otherwise without
/// effect.
fn dependencies<'d, 'a>(reader: &mut Reader<'d, 'a>, node: &'d Node<'a>, path: Path<'_>) {
    reader.list(node, path, |reader, item, path| {
        reader.mapping(item, path, |reader, key, value, path| match key.value {
            "service" => {
                reader.text(value, path);
            }
            _ => reader.unknown_key(key, path, "service"),
        });
        None::<()>
    });
}

impl<'d> Params<'d> {
    fn decode<'a>(reader: &mut Reader<'d, 'a>, node: &'d Node<'a>, path: Path<'_>) -> Option<Self> {
        let mut params = Self {
            storage: Named::default(),
            permissions: None,
            tee: Spot { value: "", place: node.place },
            kbs: None,
        };
        let is_mapping = reader.mapping(node, path, |reader, key, value, path| match key.value {
            "storage" => params.storage = reader.named(value, path, StorageParams::decode),
            "permissions" => params.permissions = permissions(reader, value, path),
            "tee" => {
                if let Some(tee) = reader.text(value, path) {
                    params.tee = tee;
                }
            }
            "kbs" => params.kbs = Kbs::decode(reader, value, path),
            _ => reader.unknown_key(key, path, "storage, permissions, tee, kbs"),
        });
        is_mapping.then_some(params)
    }
}

impl<'d> StorageParams<'d> {
    fn decode<'a>(
        reader: &mut Reader<'d, 'a>,
        _: Key<'d>,
        node: &'d Node<'a>,
        path: Path<'_>,
    ) -> Self {
        let absent = Spot { value: "", place: node.place };
        let mut params = Self { mount: absent, read_only: false, key_ref: absent };
        reader.mapping(node, path, |reader, key, value, path| match key.value {
            "mount" => {
                if let Some(mount) = reader.text(value, path) {
                    params.mount = mount;
                }
            }
            "readOnly" => {
                params.read_only = reader.boolean(value, path).is_some_and(|flag| flag.value);
            }
            "keyRef" => {
                if let Some(key_ref) = reader.text(value, path) {
                    params.key_ref = key_ref;
                }
            }
            _ => reader.unknown_key(key, path, "mount, readOnly, keyRef"),
        });
        params
    }
}

impl<'d> Kbs<'d> {
    fn decode<'a>(reader: &mut Reader<'d, 'a>, node: &'d Node<'a>, path: Path<'_>) -> Option<Self> {
        let mut kbs = Self {
            place: node.place,
            mode: "",
            url: "",
            certificate: "",
            image_security_policy_uri: "",
            agent_policy: "",
        };
        let is_mapping = reader.mapping(node, path, |reader, key, value, path| {
            let mut text = || reader.text(value, path).map_or("", |text| text.value);
            match key.value {
                "mode" => kbs.mode = text(),
                "url" => kbs.url = text(),
                "certificate" => kbs.certificate = text(),
                "imageSecurityPolicyURI" => kbs.image_security_policy_uri = text(),
                "agentPolicy" => kbs.agent_policy = text(),
                _ => reader.unknown_key(
                    key,
                    path,
                    "mode, url, certificate, imageSecurityPolicyURI, agentPolicy",
                ),
            }
        });
        is_mapping.then_some(kbs)
    }
}

fn permissions<'d, 'a>(
    reader: &mut Reader<'d, 'a>,
    node: &'d Node<'a>,
    path: Path<'_>,
) -> Option<Vec<Spot<&'d str>>> {
    let mut read = Vec::new();
    let is_mapping = reader.mapping(node, path, |reader, key, value, path| match key.value {
        "read" => {
            read = reader.texts(value, path).unwrap_or_default();
            for (index, item) in read.iter().enumerate() {
                if !matches!(item.value, "deployment" | "logs" | "events") {
                    reader.lint(
                        path.index(index),
                        item.place,
                        "not one of deployment, logs, events",
                    );
                }
            }
        }
        _ => reader.unknown_key(key, path, "read"),
    });
    is_mapping.then_some(read)
}

impl<'d> Credentials<'d> {
    fn decode<'a>(reader: &mut Reader<'d, 'a>, node: &'d Node<'a>, path: Path<'_>) -> Option<Self> {
        let mut credentials =
            Self { place: node.place, host: "", email: "", username: "", password: "", uri: "" };
        let is_mapping = reader.mapping(node, path, |reader, key, value, path| {
            let mut text = || reader.text(value, path).map_or("", |text| text.value);
            match key.value {
                "host" => credentials.host = text(),
                "email" => {
                    credentials.email = text();
                    if !is_null(value) && credentials.email.chars().count() < 5 {
                        reader.lint(path, value.place, "shorter than 5 characters");
                    }
                }
                "username" => credentials.username = text(),
                "password" => {
                    credentials.password = text();
                    if credentials.password.chars().count() < 6 {
                        reader.lint(path, value.place, "shorter than 6 characters");
                    }
                }
                "uri" => credentials.uri = text(),
                _ => reader.unknown_key(key, path, "host, email, username, password, uri"),
            }
        });
        is_mapping.then_some(credentials)
    }
}

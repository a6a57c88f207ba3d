//! Reading a manifest from JSON, as lenient as Go's decoder and no more.
//!
//! Keys match whatever their case, absent and null values leave a field empty, and bytes behind
//! the first JSON value are ignored. Keys that are not known are left out of what is decoded, and
//! so out of the hash; they are reported, because they are the likely reason when the hash does
//! not match.

use akash_types::{Attribute, Cpu, Endpoint, EndpointKind, Gpu, Memory, Storage};
use serde_json::{Map, Value};
use thiserror::Error;

use super::json::{
    ATTRIBUTE, CREDENTIALS, ENDPOINT, EXPOSE, GROUP, HTTP_OPTIONS, MOUNT, PARAMS, PERMISSIONS,
    PROXY, RESOURCES, SERVICE, SIZE, STORAGE, TEE, UNITS, VALUE,
};
use super::model::{
    Group, HttpOptions, ImageCredentials, Manifest, Protocol, ProxyOptions, Service, ServiceExpose,
    ServiceParams, ServicePermissions, ServiceResources, StorageParams, TeeParams,
};
use crate::encode::Keys;
use crate::problem::Path;

/// A manifest and what was passed over while reading it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decoded {
    /// The manifest.
    pub manifest: Manifest,
    /// Paths of keys that nothing is known about.
    pub unknown_keys: Vec<String>,
    /// Those of them that are options of HTTP. They promise no protection, so a manifest that is
    /// run without them still is what its tenant wanted, and the tenant is told.
    pub ignored_options: Vec<IgnoredOption>,
}

/// An option of HTTP that nothing is known about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IgnoredOption {
    /// The group it is in.
    pub group: String,
    /// The service it is of.
    pub service: String,
    /// Where in the service it is, such as `expose[0].httpOptions.colour`.
    pub option: String,
}

impl Decoded {
    /// Whether every unknown key is an option of HTTP.
    pub fn ignores_only_http_options(&self) -> bool {
        self.unknown_keys.len() == self.ignored_options.len()
    }
}

/// Why bytes are not a manifest. The texts of the first three are the Go decoder's.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum DecodeError {
    /// There is nothing.
    #[error("EOF")]
    Empty,
    /// It stops in the middle.
    #[error("unexpected EOF")]
    Truncated,
    /// It is not a list of groups.
    #[error("json: cannot unmarshal {found} into Go value of type v2beta3.Manifest")]
    NotAManifest {
        /// The kind of value that was found.
        found: &'static str,
    },
    /// It is not JSON.
    #[error("invalid JSON: {0}")]
    Syntax(String),
    /// A value has the wrong type or is out of range.
    #[error("{path}: expected {expected}, found {found}")]
    Value {
        /// Where, e.g. `[0].services[1].count`.
        path: String,
        /// What was expected.
        expected: &'static str,
        /// What was found.
        found: String,
    },
}

type Result<T> = std::result::Result<T, DecodeError>;

impl Manifest {
    /// Reads the first JSON value of `bytes` as a manifest.
    /// When it is not one; a manifest that can be read need not be valid.
    pub fn from_json(bytes: &[u8]) -> Result<Decoded> {
        let mut values = serde_json::Deserializer::from_slice(bytes).into_iter::<Value>();
        let value = match values.next() {
            None => return Err(DecodeError::Empty),
            Some(Err(error)) if error.is_eof() => return Err(DecodeError::Truncated),
            Some(Err(error)) => return Err(DecodeError::Syntax(error.to_string())),
            Some(Ok(value)) => value,
        };
        let mut decoder = Decoder::default();
        let groups = match &value {
            Value::Array(_) => {
                decoder.list(&value, Path::ROOT, Decoder::group)?.unwrap_or_default()
            }
            Value::Null => Vec::new(),
            other => return Err(DecodeError::NotAManifest { found: kind_name(other) }),
        };
        let Decoder { unknown_keys, ignored_options, .. } = decoder;
        Ok(Decoded { manifest: Manifest { groups }, unknown_keys, ignored_options })
    }
}

#[derive(Default)]
struct Decoder {
    unknown_keys: Vec<String>,
    ignored_options: Vec<IgnoredOption>,
    /// Length of the path of the service whose options of HTTP are read, while they are.
    in_http_options_of: Option<usize>,
}

impl Decoder {
    /// Calls `field` for each key that is among `known`, by its known spelling.
    fn object<'v>(
        &mut self,
        value: &'v Value,
        path: Path<'_>,
        known: &'static Keys,
        mut field: impl FnMut(&mut Self, &'static str, &'v Value, Path<'_>) -> Result<()>,
    ) -> Result<bool> {
        let object: &Map<String, Value> = match value {
            Value::Object(object) => object,
            Value::Null => return Ok(false),
            other => return Err(wrong(path, "an object", other)),
        };
        for (key, value) in object {
            match known.declared.iter().find(|name| name.eq_ignore_ascii_case(key)) {
                // The exact spelling wins over another case of the same key.
                Some(name) if name != key && object.contains_key(*name) => {}
                Some(name) => field(self, name, value, path.key(name))?,
                None => self.unknown(path.key(key).to_string()),
            }
        }
        Ok(true)
    }

    fn unknown(&mut self, path: String) {
        if let Some(service) = self.in_http_options_of {
            let option = path.get(service..).unwrap_or_default().trim_start_matches('.').to_owned();
            // Whose it is is known once the service and the group were read.
            let (group, service) = (String::new(), String::new());
            self.ignored_options.push(IgnoredOption { group, service, option });
        }
        self.unknown_keys.push(path);
    }

    fn list<T>(
        &mut self,
        value: &Value,
        path: Path<'_>,
        mut item: impl FnMut(&mut Self, &Value, Path<'_>) -> Result<T>,
    ) -> Result<Option<Vec<T>>> {
        match value {
            Value::Array(items) => {
                // Manifests are kept for as long as their leases: no more room than they need.
                let mut list = Vec::with_capacity(items.len());
                for (index, value) in items.iter().enumerate() {
                    list.push(item(self, value, path.index(index))?);
                }
                Ok(Some(list))
            }
            Value::Null => Ok(None),
            other => Err(wrong(path, "a list", other)),
        }
    }

    fn texts(&mut self, value: &Value, path: Path<'_>) -> Result<Option<Vec<String>>> {
        self.list(value, path, |_, value, path| text(value, path))
    }

    fn group(&mut self, value: &Value, path: Path<'_>) -> Result<Group> {
        let mut group = Group::default();
        let before = self.ignored_options.len();
        self.object(value, path, &GROUP, |decoder, key, value, path| {
            match key {
                "name" => group.name = text(value, path)?,
                _ => {
                    group.services = decoder.list(value, path, Self::service)?.unwrap_or_default();
                }
            }
            Ok(())
        })?;
        for ignored in self.ignored_options.iter_mut().skip(before) {
            ignored.group.clone_from(&group.name);
        }
        Ok(group)
    }

    fn service(&mut self, value: &Value, path: Path<'_>) -> Result<Service> {
        let mut service = Service::default();
        let (before, length) = (self.ignored_options.len(), path.to_string().len());
        self.object(value, path, &SERVICE, |decoder, key, value, path| {
            match key {
                "name" => service.name = text(value, path)?,
                "image" => service.image = text(value, path)?,
                "command" => service.command = decoder.texts(value, path)?,
                "args" => service.args = decoder.texts(value, path)?,
                "env" => service.env = decoder.texts(value, path)?,
                "resources" => service.resources = decoder.resources(value, path)?,
                "count" => service.count = number(value, path)?,
                "expose" => {
                    let read = |decoder: &mut Self, value: &Value, path: Path<'_>| {
                        decoder.expose(value, path, length)
                    };
                    service.expose = decoder.list(value, path, read)?;
                }
                "params" => service.params = decoder.params(value, path)?,
                "interconnectGroup" => service.interconnect_group = text(value, path)?,
                _ => service.credentials = decoder.credentials(value, path)?,
            }
            Ok(())
        })?;
        for ignored in self.ignored_options.iter_mut().skip(before) {
            ignored.service.clone_from(&service.name);
        }
        Ok(service)
    }

    fn resources(&mut self, value: &Value, path: Path<'_>) -> Result<ServiceResources> {
        let mut resources = ServiceResources::default();
        self.object(value, path, &RESOURCES, |decoder, key, value, path| {
            match key {
                "id" => resources.id = number(value, path)?,
                "cpu" => {
                    resources.cpu = decoder
                        .amount(value, path, &UNITS)?
                        .map(|(units, attributes)| Cpu { units, attributes });
                }
                "memory" => {
                    resources.memory = decoder
                        .amount(value, path, &SIZE)?
                        .map(|(quantity, attributes)| Memory { quantity, attributes });
                }
                "storage" => resources.storage = decoder.list(value, path, Self::volume)?,
                "gpu" => {
                    resources.gpu = decoder
                        .amount(value, path, &UNITS)?
                        .map(|(units, attributes)| Gpu { units, attributes });
                }
                _ => resources.endpoints = decoder.list(value, path, Self::endpoint)?,
            }
            Ok(())
        })?;
        Ok(resources)
    }

    /// CPU, memory or GPU: an amount and attributes.
    fn amount(
        &mut self,
        value: &Value,
        path: Path<'_>,
        known: &'static Keys,
    ) -> Result<Option<(u64, Vec<Attribute>)>> {
        let (mut amount, mut attributes) = (0, Vec::new());
        let present = self.object(value, path, known, |decoder, key, value, path| {
            match key {
                "attributes" => attributes = decoder.attributes(value, path)?,
                _ => amount = decoder.quantity(value, path)?,
            }
            Ok(())
        })?;
        Ok(present.then_some((amount, attributes)))
    }

    fn volume(&mut self, value: &Value, path: Path<'_>) -> Result<Storage> {
        let mut volume = Storage { name: String::new(), quantity: 0, attributes: Vec::new() };
        self.object(value, path, &STORAGE, |decoder, key, value, path| {
            match key {
                "name" => volume.name = text(value, path)?,
                "size" => volume.quantity = decoder.quantity(value, path)?,
                _ => volume.attributes = decoder.attributes(value, path)?,
            }
            Ok(())
        })?;
        Ok(volume)
    }

    /// `{"val": "123"}`: digits in a text, never a number.
    fn quantity(&mut self, value: &Value, path: Path<'_>) -> Result<u64> {
        let mut amount = 0;
        self.object(value, path, &VALUE, |_, _, value, path| {
            let digits =
                value.as_str().filter(|text| text.bytes().all(|byte| byte.is_ascii_digit()));
            amount = digits
                .and_then(|text| text.parse().ok())
                .ok_or_else(|| wrong(path, "a whole number in quotes", value))?;
            Ok(())
        })?;
        Ok(amount)
    }

    fn attributes(&mut self, value: &Value, path: Path<'_>) -> Result<Vec<Attribute>> {
        let list = self.list(value, path, |decoder, value, path| {
            let mut attribute = Attribute::new("", "");
            decoder.object(value, path, &ATTRIBUTE, |_, key, value, path| {
                match key {
                    "key" => attribute.key = text(value, path)?,
                    _ => attribute.value = text(value, path)?,
                }
                Ok(())
            })?;
            Ok(attribute)
        })?;
        Ok(list.unwrap_or_default())
    }

    fn endpoint(&mut self, value: &Value, path: Path<'_>) -> Result<Endpoint> {
        let mut endpoint = Endpoint { kind: EndpointKind::SharedHttp, sequence_number: 0 };
        self.object(value, path, &ENDPOINT, |_, key, value, path| {
            match key {
                "kind" => {
                    endpoint.kind = match number(value, path)? {
                        0 => EndpointKind::SharedHttp,
                        1 => EndpointKind::RandomPort,
                        2 => EndpointKind::LeasedIp,
                        _ => return Err(wrong(path, "an endpoint kind from 0 to 2", value)),
                    }
                }
                _ => endpoint.sequence_number = number(value, path)?,
            }
            Ok(())
        })?;
        Ok(endpoint)
    }

    fn expose(&mut self, value: &Value, path: Path<'_>, service: usize) -> Result<ServiceExpose> {
        let mut expose = ServiceExpose::default();
        self.object(value, path, &EXPOSE, |decoder, key, value, path| {
            match key {
                "port" => expose.port = number(value, path)?,
                "externalPort" => expose.external_port = number(value, path)?,
                "proto" => expose.proto = Protocol::from(text(value, path)?.as_str()),
                "service" => expose.service = text(value, path)?,
                "global" => expose.global = boolean(value, path)?,
                "hosts" => expose.hosts = decoder.texts(value, path)?,
                "httpOptions" => {
                    decoder.in_http_options_of = Some(service);
                    expose.http_options = decoder.http_options(value, path)?;
                    decoder.in_http_options_of = None;
                }
                "ip" => expose.ip = text(value, path)?,
                _ => expose.endpoint_sequence_number = number(value, path)?,
            }
            Ok(())
        })?;
        Ok(expose)
    }

    fn http_options(&mut self, value: &Value, path: Path<'_>) -> Result<HttpOptions> {
        let mut options = HttpOptions::default();
        self.object(value, path, &HTTP_OPTIONS, |decoder, key, value, path| {
            match key {
                "maxBodySize" => options.max_body_size = number(value, path)?,
                "readTimeout" => options.read_timeout = number(value, path)?,
                "sendTimeout" => options.send_timeout = number(value, path)?,
                "nextTries" => options.next_tries = number(value, path)?,
                "nextTimeout" => options.next_timeout = number(value, path)?,
                "nextCases" => {
                    options.next_cases = decoder.texts(value, path)?.unwrap_or_default();
                }
                "proxy" => options.proxy = decoder.proxy(value, path)?,
                _ => options.proxy_buffer_size = number(value, path)?,
            }
            Ok(())
        })?;
        Ok(options)
    }

    fn proxy(&mut self, value: &Value, path: Path<'_>) -> Result<Option<ProxyOptions>> {
        let mut proxy = ProxyOptions::default();
        let present = self.object(value, path, &PROXY, |_, key, value, path| {
            if value.is_null() {
                return Ok(());
            }
            match key {
                "bufferingDisable" => proxy.buffering_disable = Some(boolean(value, path)?),
                "bufferSize" => proxy.buffer_size = Some(number(value, path)?),
                "buffersNumber" => proxy.buffers_number = Some(number(value, path)?),
                "buffersSize" => proxy.buffers_size = Some(number(value, path)?),
                "busyBuffersSize" => proxy.busy_buffers_size = Some(number(value, path)?),
                _ => proxy.connect_timeout = Some(number(value, path)?),
            }
            Ok(())
        })?;
        Ok(present.then_some(proxy))
    }

    fn params(&mut self, value: &Value, path: Path<'_>) -> Result<Option<ServiceParams>> {
        let mut params = ServiceParams::default();
        let present = self.object(value, path, &PARAMS, |decoder, key, value, path| {
            match key {
                "storage" => params.storage = decoder.list(value, path, Self::mount)?,
                "credentials" => params.credentials = decoder.credentials(value, path)?,
                "permissions" => {
                    let mut read = Vec::new();
                    let present =
                        decoder.object(value, path, &PERMISSIONS, |decoder, _, value, path| {
                            read = decoder.texts(value, path)?.unwrap_or_default();
                            Ok(())
                        })?;
                    params.permissions = present.then_some(ServicePermissions { read });
                }
                _ => params.tee = decoder.tee(value, path)?,
            }
            Ok(())
        })?;
        Ok(present.then_some(params))
    }

    fn mount(&mut self, value: &Value, path: Path<'_>) -> Result<StorageParams> {
        let mut mount = StorageParams::default();
        self.object(value, path, &MOUNT, |_, key, value, path| {
            match key {
                "name" => mount.name = text(value, path)?,
                "mount" => mount.mount = text(value, path)?,
                "keyRef" => mount.key_ref = text(value, path)?,
                _ => mount.read_only = boolean(value, path)?,
            }
            Ok(())
        })?;
        Ok(mount)
    }

    fn tee(&mut self, value: &Value, path: Path<'_>) -> Result<Option<TeeParams>> {
        let mut tee = TeeParams::default();
        let present = self.object(value, path, &TEE, |_, key, value, path| {
            match key {
                "type" => tee.kind = text(value, path)?,
                _ => tee.attestation = boolean(value, path)?,
            }
            Ok(())
        })?;
        Ok(present.then_some(tee))
    }

    fn credentials(&mut self, value: &Value, path: Path<'_>) -> Result<Option<ImageCredentials>> {
        let mut credentials = ImageCredentials::default();
        let known = &CREDENTIALS;
        let present = self.object(value, path, known, |_, key, value, path| {
            match key {
                "host" => credentials.host = text(value, path)?,
                "email" => credentials.email = text(value, path)?,
                "username" => credentials.username = text(value, path)?,
                "uri" => credentials.uri = text(value, path)?,
                _ => credentials.password = text(value, path)?,
            }
            Ok(())
        })?;
        Ok(present.then_some(credentials))
    }
}

fn text(value: &Value, path: Path<'_>) -> Result<String> {
    match value {
        Value::String(text) => Ok(text.clone()),
        Value::Null => Ok(String::new()),
        other => Err(wrong(path, "text", other)),
    }
}

fn number(value: &Value, path: Path<'_>) -> Result<u32> {
    match value {
        Value::Null => Ok(0),
        other => other
            .as_u64()
            .and_then(|number| u32::try_from(number).ok())
            .ok_or_else(|| wrong(path, "a whole number from 0 to 4294967295", other)),
    }
}

fn boolean(value: &Value, path: Path<'_>) -> Result<bool> {
    match value {
        Value::Bool(flag) => Ok(*flag),
        Value::Null => Ok(false),
        other => Err(wrong(path, "true or false", other)),
    }
}

/// Numbers are shown, being harmless; texts are not, because a password may be among them.
fn wrong(path: Path<'_>, expected: &'static str, found: &Value) -> DecodeError {
    let found = match found {
        Value::Number(number) => format!("number {number}"),
        other => kind_name(other).to_owned(),
    };
    DecodeError::Value { path: path.to_string(), expected, found }
}

fn kind_name(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "bool",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

//! How a manifest describes itself to an encoder, and the texts that come out.
//!
//! The keys, their order and what is left out when empty are the Go structs'. What is hashed
//! depends on every one of them.

use akash_types::{Attribute, Endpoint, EndpointKind, Storage};

use super::model::{
    Group, HttpOptions, ImageCredentials, Manifest, ProxyOptions, Service, ServiceExpose,
    ServiceParams, ServiceResources,
};
use crate::encode::{Encoder, JsonEncoder, Keys, Layout, YamlEncoder, digits};

impl Manifest {
    /// The canonical JSON whose SHA-256 is the manifest's version.
    pub fn to_canonical_json(&self) -> Vec<u8> {
        self.to_json_bytes(Layout::Canonical)
    }

    /// JSON on one line, as sent to a provider.
    pub fn to_json(&self) -> String {
        text(self.to_json_bytes(Layout::Compact))
    }

    /// JSON for people: two spaces per level.
    pub fn to_json_pretty(&self) -> String {
        text(self.to_json_bytes(Layout::Pretty))
    }

    /// YAML, as the Go command prints it.
    pub fn to_yaml(&self) -> String {
        let mut encoder = YamlEncoder::new();
        self.describe(&mut encoder);
        encoder.finish()
    }

    fn to_json_bytes(&self, layout: Layout) -> Vec<u8> {
        // A service with one expose takes about 800 bytes.
        let services: usize = self.groups.iter().map(|group| group.services.len()).sum();
        let mut encoder = JsonEncoder::new(layout, 64 + 1024 * services);
        self.describe(&mut encoder);
        encoder.finish()
    }

    fn describe(&self, encoder: &mut impl Encoder) {
        encoder.array(&self.groups, |encoder, group| group.describe(encoder));
    }
}

/// Every byte comes from a `str` or from ASCII.
fn text(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes)
        .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
}

pub(super) static GROUP: Keys =
    Keys { declared: &["name", "services"], sorted: &["name", "services"] };

impl Group {
    fn describe(&self, encoder: &mut impl Encoder) {
        encoder.object(&GROUP, |encoder, key| match key {
            "name" => encoder.text(&self.name),
            "services" => {
                encoder.array(&self.services, |encoder, service| service.describe(encoder));
            }
            _ => {}
        });
    }
}

pub(super) static SERVICE: Keys = Keys {
    declared: &[
        "name",
        "image",
        "command",
        "args",
        "env",
        "resources",
        "count",
        "expose",
        "params",
        "credentials",
        "interconnectGroup",
    ],
    sorted: &[
        "args",
        "command",
        "count",
        "credentials",
        "env",
        "expose",
        "image",
        "interconnectGroup",
        "name",
        "params",
        "resources",
    ],
};

impl Service {
    fn describe(&self, encoder: &mut impl Encoder) {
        encoder.object(&SERVICE, |encoder, key| match key {
            "name" => encoder.text(&self.name),
            "image" => encoder.text(&self.image),
            "command" => encoder.nullable_texts(self.command.as_deref()),
            "args" => encoder.nullable_texts(self.args.as_deref()),
            "env" => encoder.nullable_texts(self.env.as_deref()),
            "resources" => self.resources.describe(encoder),
            "count" => encoder.number(self.count.into()),
            "expose" => encoder
                .nullable_list(self.expose.as_deref(), |encoder, expose| expose.describe(encoder)),
            "params" => {
                if let Some(params) = &self.params {
                    params.describe(encoder);
                }
            }
            "credentials" => match &self.credentials {
                Some(credentials) => credentials.describe(encoder),
                None => encoder.null(),
            },
            "interconnectGroup" => text_unless_empty(encoder, &self.interconnect_group),
            _ => {}
        });
    }
}

fn text_unless_empty(encoder: &mut impl Encoder, text: &str) {
    if !text.is_empty() {
        encoder.text(text);
    }
}

pub(super) static RESOURCES: Keys = Keys {
    declared: &["id", "cpu", "memory", "storage", "gpu", "endpoints"],
    sorted: &["cpu", "endpoints", "gpu", "id", "memory", "storage"],
};
pub(super) static UNITS: Keys =
    Keys { declared: &["units", "attributes"], sorted: &["attributes", "units"] };
pub(super) static SIZE: Keys =
    Keys { declared: &["size", "attributes"], sorted: &["attributes", "size"] };
pub(super) static STORAGE: Keys =
    Keys { declared: &["name", "size", "attributes"], sorted: &["attributes", "name", "size"] };
pub(super) static VALUE: Keys = Keys { declared: &["val"], sorted: &["val"] };
pub(super) static ATTRIBUTE: Keys = Keys { declared: &["key", "value"], sorted: &["key", "value"] };
pub(super) static ENDPOINT: Keys =
    Keys { declared: &["kind", "sequence_number"], sorted: &["kind", "sequence_number"] };

impl ServiceResources {
    fn describe(&self, encoder: &mut impl Encoder) {
        encoder.object(&RESOURCES, |encoder, key| match key {
            "id" => encoder.number(self.id.into()),
            "cpu" => {
                if let Some(cpu) = &self.cpu {
                    describe_amount(encoder, &UNITS, cpu.units, &cpu.attributes);
                }
            }
            "memory" => {
                if let Some(memory) = &self.memory {
                    describe_amount(encoder, &SIZE, memory.quantity, &memory.attributes);
                }
            }
            "storage" => describe_storage(encoder, self.storage.as_deref().unwrap_or_default()),
            "gpu" => {
                if let Some(gpu) = &self.gpu {
                    describe_amount(encoder, &UNITS, gpu.units, &gpu.attributes);
                }
            }
            "endpoints" => encoder.nullable_list(self.endpoints.as_deref(), describe_endpoint),
            _ => {}
        });
    }
}

/// The parts that a manifest's resources and a deployment group's have in common.
pub(crate) fn describe_resources(encoder: &mut impl Encoder, resources: &akash_types::Resources) {
    encoder.object(&RESOURCES, |encoder, key| match key {
        "id" => encoder.number(resources.id.into()),
        "cpu" => describe_amount(encoder, &UNITS, resources.cpu.units, &resources.cpu.attributes),
        "memory" => {
            describe_amount(
                encoder,
                &SIZE,
                resources.memory.quantity,
                &resources.memory.attributes,
            );
        }
        "storage" => describe_storage(encoder, &resources.storage),
        "gpu" => describe_amount(encoder, &UNITS, resources.gpu.units, &resources.gpu.attributes),
        "endpoints" => encoder.array(&resources.endpoints, describe_endpoint),
        _ => {}
    });
}

/// CPU, memory or GPU: an amount under `units` or `size`, and attributes where there are any.
fn describe_amount(
    encoder: &mut impl Encoder,
    keys: &'static Keys,
    amount: u64,
    attributes: &[Attribute],
) {
    encoder.object(keys, |encoder, key| match key {
        "attributes" => describe_attributes(encoder, attributes),
        _ => describe_value(encoder, amount),
    });
}

fn describe_storage(encoder: &mut impl Encoder, volumes: &[Storage]) {
    if volumes.is_empty() {
        return;
    }
    encoder.array(volumes, |encoder, volume| {
        encoder.object(&STORAGE, |encoder, key| match key {
            "name" => encoder.text(&volume.name),
            "size" => describe_value(encoder, volume.quantity),
            "attributes" => describe_attributes(encoder, &volume.attributes),
            _ => {}
        });
    });
}

/// Quantities are texts, so that no reader loses digits of them.
fn describe_value(encoder: &mut impl Encoder, value: u64) {
    encoder.object(&VALUE, |encoder, _| encoder.text(digits(value, &mut [0; 20])));
}

fn describe_attributes(encoder: &mut impl Encoder, attributes: &[Attribute]) {
    if !attributes.is_empty() {
        encoder.array(attributes, describe_attribute);
    }
}

pub(crate) fn describe_attribute(encoder: &mut impl Encoder, attribute: &Attribute) {
    encoder.object(&ATTRIBUTE, |encoder, key| {
        let text = if key == "key" { &attribute.key } else { &attribute.value };
        text_unless_empty(encoder, text);
    });
}

fn describe_endpoint<E: Encoder>(encoder: &mut E, endpoint: &Endpoint) {
    encoder.object(&ENDPOINT, |encoder, key| match key {
        "kind" => {
            if E::WRITES_ZERO_KIND || endpoint.kind != EndpointKind::SharedHttp {
                encoder.number(u64::from(endpoint.kind.code().unsigned_abs()));
            }
        }
        _ => encoder.number(endpoint.sequence_number.into()),
    });
}

pub(super) static EXPOSE: Keys = Keys {
    declared: &[
        "port",
        "externalPort",
        "proto",
        "service",
        "global",
        "hosts",
        "httpOptions",
        "ip",
        "endpointSequenceNumber",
    ],
    sorted: &[
        "endpointSequenceNumber",
        "externalPort",
        "global",
        "hosts",
        "httpOptions",
        "ip",
        "port",
        "proto",
        "service",
    ],
};

impl ServiceExpose {
    fn describe(&self, encoder: &mut impl Encoder) {
        encoder.object(&EXPOSE, |encoder, key| match key {
            "port" => encoder.number(self.port.into()),
            "externalPort" => encoder.number(self.external_port.into()),
            "proto" => encoder.text(self.proto.as_str()),
            "service" => encoder.text(&self.service),
            "global" => encoder.boolean(self.global),
            "hosts" => encoder.nullable_texts(self.hosts.as_deref()),
            "httpOptions" => self.http_options.describe(encoder),
            "ip" => encoder.text(&self.ip),
            "endpointSequenceNumber" => encoder.number(self.endpoint_sequence_number.into()),
            _ => {}
        });
    }
}

pub(super) static HTTP_OPTIONS: Keys = Keys {
    declared: &[
        "maxBodySize",
        "readTimeout",
        "sendTimeout",
        "nextTries",
        "nextTimeout",
        "nextCases",
        "proxyBufferSize",
        "proxy",
    ],
    sorted: &[
        "maxBodySize",
        "nextCases",
        "nextTimeout",
        "nextTries",
        "proxy",
        "proxyBufferSize",
        "readTimeout",
        "sendTimeout",
    ],
};

impl HttpOptions {
    fn describe(&self, encoder: &mut impl Encoder) {
        encoder.object(&HTTP_OPTIONS, |encoder, key| match key {
            "maxBodySize" => encoder.number(self.max_body_size.into()),
            "readTimeout" => encoder.number(self.read_timeout.into()),
            "sendTimeout" => encoder.number(self.send_timeout.into()),
            "nextTries" => encoder.number(self.next_tries.into()),
            "nextTimeout" => encoder.number(self.next_timeout.into()),
            "nextCases" if !self.next_cases.is_empty() => encoder.texts(&self.next_cases),
            "proxyBufferSize" if self.proxy_buffer_size != 0 => {
                encoder.number(self.proxy_buffer_size.into());
            }
            "proxy" => {
                if let Some(proxy) = &self.proxy {
                    proxy.describe(encoder);
                }
            }
            _ => {}
        });
    }
}

pub(super) static PROXY: Keys = Keys {
    declared: &[
        "bufferingDisable",
        "bufferSize",
        "buffersNumber",
        "buffersSize",
        "busyBuffersSize",
        "connectTimeout",
    ],
    sorted: &[
        "bufferSize",
        "bufferingDisable",
        "buffersNumber",
        "buffersSize",
        "busyBuffersSize",
        "connectTimeout",
    ],
};

impl ProxyOptions {
    fn describe(&self, encoder: &mut impl Encoder) {
        encoder.object(&PROXY, |encoder, key| {
            let number = match key {
                "bufferingDisable" => {
                    if let Some(flag) = self.buffering_disable {
                        encoder.boolean(flag);
                    }
                    None
                }
                "bufferSize" => self.buffer_size,
                "buffersNumber" => self.buffers_number,
                "buffersSize" => self.buffers_size,
                "busyBuffersSize" => self.busy_buffers_size,
                _ => self.connect_timeout,
            };
            if let Some(number) = number {
                encoder.number(number.into());
            }
        });
    }
}

pub(super) static PARAMS: Keys = Keys {
    declared: &["storage", "credentials", "permissions", "tee"],
    sorted: &["credentials", "permissions", "storage", "tee"],
};
pub(super) static MOUNT: Keys = Keys {
    declared: &["name", "mount", "readOnly", "keyRef"],
    sorted: &["keyRef", "mount", "name", "readOnly"],
};
pub(super) static PERMISSIONS: Keys = Keys { declared: &["read"], sorted: &["read"] };
pub(super) static TEE: Keys =
    Keys { declared: &["type", "attestation"], sorted: &["attestation", "type"] };

impl ServiceParams {
    fn describe(&self, encoder: &mut impl Encoder) {
        encoder.object(&PARAMS, |encoder, key| match key {
            "storage" => encoder.nullable_list(self.storage.as_deref(), |encoder, storage| {
                encoder.object(&MOUNT, |encoder, key| match key {
                    "name" => encoder.text(&storage.name),
                    "mount" => encoder.text(&storage.mount),
                    "keyRef" => text_unless_empty(encoder, &storage.key_ref),
                    _ => encoder.boolean(storage.read_only),
                });
            }),
            "credentials" => {
                if let Some(credentials) = &self.credentials {
                    credentials.describe(encoder);
                }
            }
            "permissions" => {
                if let Some(permissions) = &self.permissions {
                    encoder.object(&PERMISSIONS, |encoder, _| {
                        if !permissions.read.is_empty() {
                            encoder.texts(&permissions.read);
                        }
                    });
                }
            }
            "tee" => {
                if let Some(tee) = &self.tee {
                    encoder.object(&TEE, |encoder, key| match key {
                        "type" => encoder.text(&tee.kind),
                        _ => encoder.boolean(tee.attestation),
                    });
                }
            }
            _ => {}
        });
    }
}

pub(super) static CREDENTIALS: Keys = Keys {
    declared: &["host", "email", "username", "password", "uri"],
    sorted: &["email", "host", "password", "uri", "username"],
};

impl ImageCredentials {
    fn describe(&self, encoder: &mut impl Encoder) {
        encoder.object(&CREDENTIALS, |encoder, key| match key {
            "host" => encoder.text(&self.host),
            "email" => encoder.text(&self.email),
            "username" => encoder.text(&self.username),
            "uri" => text_unless_empty(encoder, &self.uri),
            _ => encoder.text(&self.password),
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sorted_keys_are_the_declared_ones_sorted() {
        for keys in [
            &GROUP,
            &SERVICE,
            &RESOURCES,
            &UNITS,
            &SIZE,
            &STORAGE,
            &VALUE,
            &ATTRIBUTE,
            &ENDPOINT,
            &EXPOSE,
            &HTTP_OPTIONS,
            &PROXY,
            &PARAMS,
            &MOUNT,
            &PERMISSIONS,
            &TEE,
            &CREDENTIALS,
        ] {
            let mut sorted = keys.declared.to_vec();
            sorted.sort_unstable();
            assert_eq!(sorted, keys.sorted);
        }
    }
}

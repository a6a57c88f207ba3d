//! The manifest as protobuf, which gRPC's `SendManifest` carries.
//!
//! Protobuf does not know the difference between an empty list and none, but the hash does. An
//! empty list is read as the form that an SDL without the key gives: none for commands,
//! arguments, environment, hosts and mounts; an empty one for exposes, endpoints and volumes.

use akash_proto::akash::base::resources::v1beta4 as resources_wire;
use akash_proto::akash::manifest::v2beta3 as wire;
use akash_proto::akash::manifest::v2beta3::kbs_params;
use akash_types::proto::ConvertError;
use thiserror::Error;

use super::model::{
    Group, HttpOptions, ImageCredentials, KbsParams, Manifest, Protocol, Service, ServiceExpose,
    ServiceParams, ServicePermissions, ServiceResources, StorageParams, TeeParams,
};

/// A manifest message holds a value that is none.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("service {service:?} of group {group:?}")]
pub struct ManifestProtoError {
    /// The group.
    pub group: String,
    /// The service.
    pub service: String,
    /// What is wrong with its resources.
    pub source: Box<ConvertError>,
}

impl Manifest {
    /// Reads a manifest from its messages.
    pub fn from_proto(groups: Vec<wire::Group>) -> Result<Self, ManifestProtoError> {
        let groups = groups
            .into_iter()
            .map(|group| {
                let services = group
                    .services
                    .into_iter()
                    .map(|service| {
                        let name = service.name.clone();
                        service_from(service).map_err(|source| ManifestProtoError {
                            group: group.name.clone(),
                            service: name,
                            source: Box::new(source),
                        })
                    })
                    .collect::<Result<_, _>>()?;
                Ok(Group { name: group.name, services })
            })
            .collect::<Result<_, _>>()?;
        Ok(Self { groups })
    }

    /// The manifest's messages.
    pub fn into_proto(self) -> Vec<wire::Group> {
        self.groups
            .into_iter()
            .map(|group| wire::Group {
                name: group.name,
                services: group.services.into_iter().map(wire::Service::from).collect(),
            })
            .collect()
    }
}

fn service_from(service: wire::Service) -> Result<Service, ConvertError> {
    Ok(Service {
        name: service.name,
        image: service.image,
        command: unless_empty(service.command),
        args: unless_empty(service.args),
        env: unless_empty(service.env),
        resources: service.resources.map(resources_from).transpose()?.unwrap_or_default(),
        count: service.count,
        expose: Some(service.expose.into_iter().map(ServiceExpose::from).collect()),
        params: service.params.map(ServiceParams::from),
        credentials: service.credentials.map(ImageCredentials::from),
        interconnect_group: service.interconnect_group,
    })
}

fn unless_empty<T>(list: Vec<T>) -> Option<Vec<T>> {
    (!list.is_empty()).then_some(list)
}

fn resources_from(resources: resources_wire::Resources) -> Result<ServiceResources, ConvertError> {
    Ok(ServiceResources {
        id: resources.id,
        cpu: resources.cpu.map(TryInto::try_into).transpose()?,
        memory: resources.memory.map(TryInto::try_into).transpose()?,
        storage: Some(
            resources.storage.into_iter().map(TryInto::try_into).collect::<Result<_, _>>()?,
        ),
        gpu: resources.gpu.map(TryInto::try_into).transpose()?,
        endpoints: Some(
            resources.endpoints.into_iter().map(TryInto::try_into).collect::<Result<_, _>>()?,
        ),
    })
}

impl From<Service> for wire::Service {
    fn from(service: Service) -> Self {
        let resources = service.resources;
        Self {
            name: service.name,
            image: service.image,
            command: service.command.unwrap_or_default(),
            args: service.args.unwrap_or_default(),
            env: service.env.unwrap_or_default(),
            resources: Some(resources_wire::Resources {
                id: resources.id,
                cpu: resources.cpu.map(Into::into),
                memory: resources.memory.map(Into::into),
                storage: resources.storage.into_iter().flatten().map(Into::into).collect(),
                gpu: resources.gpu.map(Into::into),
                endpoints: resources.endpoints.into_iter().flatten().map(Into::into).collect(),
            }),
            count: service.count,
            expose: service.expose.into_iter().flatten().map(Into::into).collect(),
            params: service.params.map(Into::into),
            credentials: service.credentials.map(Into::into),
            interconnect_group: service.interconnect_group,
        }
    }
}

impl From<wire::ServiceExpose> for ServiceExpose {
    fn from(expose: wire::ServiceExpose) -> Self {
        Self {
            port: expose.port,
            external_port: expose.external_port,
            proto: Protocol::from(expose.proto.as_str()),
            service: expose.service,
            global: expose.global,
            hosts: unless_empty(expose.hosts),
            http_options: expose.http_options.map(HttpOptions::from).unwrap_or_default(),
            ip: expose.ip,
            endpoint_sequence_number: expose.endpoint_sequence_number,
        }
    }
}

impl From<ServiceExpose> for wire::ServiceExpose {
    fn from(expose: ServiceExpose) -> Self {
        Self {
            port: expose.port,
            external_port: expose.external_port,
            proto: expose.proto.as_str().to_owned(),
            service: expose.service,
            global: expose.global,
            hosts: expose.hosts.unwrap_or_default(),
            http_options: Some(expose.http_options.into()),
            ip: expose.ip,
            endpoint_sequence_number: expose.endpoint_sequence_number,
        }
    }
}

impl From<wire::ServiceExposeHttpOptions> for HttpOptions {
    fn from(options: wire::ServiceExposeHttpOptions) -> Self {
        Self {
            max_body_size: options.max_body_size,
            read_timeout: options.read_timeout,
            send_timeout: options.send_timeout,
            next_tries: options.next_tries,
            next_timeout: options.next_timeout,
            next_cases: options.next_cases,
            proxy_buffer_size: options.proxy_buffer_size,
            // The field's number is not published: what a client sends there is not seen.
            proxy: None,
        }
    }
}

impl From<HttpOptions> for wire::ServiceExposeHttpOptions {
    fn from(options: HttpOptions) -> Self {
        Self {
            max_body_size: options.max_body_size,
            read_timeout: options.read_timeout,
            send_timeout: options.send_timeout,
            next_tries: options.next_tries,
            next_timeout: options.next_timeout,
            next_cases: options.next_cases,
            proxy_buffer_size: options.proxy_buffer_size,
        }
    }
}

impl From<wire::ServiceParams> for ServiceParams {
    fn from(params: wire::ServiceParams) -> Self {
        let storage = params.storage.into_iter().map(|storage| StorageParams {
            name: storage.name,
            mount: storage.mount,
            read_only: storage.read_only,
            key_ref: storage.key_ref,
        });
        Self {
            storage: unless_empty(storage.collect()),
            credentials: params.credentials.map(Into::into),
            permissions: params.permissions.map(|all| ServicePermissions { read: all.read }),
            tee: params.tee.map(|tee| TeeParams {
                kind: tee.r#type,
                attestation: tee.attestation,
                kbs: tee.kbs.and_then(|kbs| kbs.source).map(kbs_from),
            }),
        }
    }
}

impl From<ServiceParams> for wire::ServiceParams {
    fn from(params: ServiceParams) -> Self {
        let storage = params.storage.into_iter().flatten().map(|storage| wire::StorageParams {
            name: storage.name,
            mount: storage.mount,
            read_only: storage.read_only,
            key_ref: storage.key_ref,
        });
        Self {
            storage: storage.collect(),
            credentials: params.credentials.map(Into::into),
            permissions: params.permissions.map(|all| wire::ServicePermissions { read: all.read }),
            tee: params.tee.map(|tee| wire::TeeParams {
                r#type: tee.kind,
                attestation: tee.attestation,
                kbs: tee.kbs.map(|kbs| wire::KbsParams { source: Some(kbs_source(kbs)) }),
            }),
        }
    }
}

fn kbs_from(source: kbs_params::Source) -> KbsParams {
    match source {
        kbs_params::Source::Provider(wire::ProviderKbsParams {}) => KbsParams::Provider,
        kbs_params::Source::Tenant(tenant) => KbsParams::Tenant {
            url: tenant.url,
            certificate: tenant.certificate,
            image_security_policy_uri: tenant.image_security_policy_uri,
            agent_policy: tenant.agent_policy,
        },
    }
}

fn kbs_source(kbs: KbsParams) -> kbs_params::Source {
    match kbs {
        KbsParams::Provider => kbs_params::Source::Provider(wire::ProviderKbsParams {}),
        KbsParams::Tenant { url, certificate, image_security_policy_uri, agent_policy } => {
            kbs_params::Source::Tenant(wire::TenantKbsParams {
                url,
                certificate,
                image_security_policy_uri,
                agent_policy,
            })
        }
    }
}

impl From<wire::ImageCredentials> for ImageCredentials {
    fn from(credentials: wire::ImageCredentials) -> Self {
        let wire::ImageCredentials { host, email, username, password, uri } = credentials;
        Self { host, email, username, password, uri }
    }
}

impl From<ImageCredentials> for wire::ImageCredentials {
    fn from(credentials: ImageCredentials) -> Self {
        let ImageCredentials { host, email, username, password, uri } = credentials;
        Self { host, email, username, password, uri }
    }
}

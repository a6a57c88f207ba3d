//! From the custom resource back to a manifest.
//!
//! Lists that Go would print as `null` come back as `None` and those it would print as `[]` as
//! empty lists: tenants are shown what is read here.

use akash_sdl::manifest as sent;
use akash_sdl::manifest::Protocol;
use akash_types::{Cpu, IdError, LeaseId};

use super::model::{
    Attribute, Expose, LeaseRef, Manifest, ManifestSpec, Params, ProxyOptions, Resources, Service,
};

/// Why an object in the cluster is not a manifest. It is passed over, and others are read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ReadError {
    #[error("it does not name a lease")]
    Lease(#[from] IdError),
    #[error("service {service:?}: {what} {value:?} is no number of bytes")]
    Bytes { service: String, what: &'static str, value: String },
    #[error("service {service:?}: protocol {protocol:?} is neither TCP nor UDP")]
    Protocol { service: String, protocol: String },
}

impl LeaseRef {
    pub fn lease(&self) -> Result<LeaseId, IdError> {
        let Self { owner, dseq, gseq, oseq, provider, .. } = self;
        format!("{owner}/{dseq}/{gseq}/{oseq}/{provider}").parse()
    }
}

impl Manifest {
    pub fn lease(&self) -> Result<LeaseId, ReadError> {
        Ok(self.spec.lease_id.lease()?)
    }
}

impl ManifestSpec {
    /// The group of services, as a tenant would send it, without what is not kept.
    pub fn group(&self) -> Result<sent::Group, ReadError> {
        let services = self.group.services.iter().map(service).collect::<Result<_, _>>()?;
        Ok(sent::Group { name: self.group.name.clone(), services })
    }
}

fn service(kept: &Service) -> Result<sent::Service, ReadError> {
    let exposes = kept.expose.iter().map(|one| expose(&kept.name, one));
    Ok(sent::Service {
        name: kept.name.clone(),
        image: kept.image.clone(),
        command: unless_empty(&kept.command),
        args: unless_empty(&kept.args),
        env: unless_empty(&kept.env),
        resources: resources(&kept.name, &kept.resources)?,
        count: kept.count,
        expose: Some(exposes.collect::<Result<_, _>>()?),
        params: kept.params.as_ref().map(params),
        credentials: kept.credentials.as_ref().map(|login| sent::ImageCredentials {
            host: login.host.clone(),
            email: login.email.clone(),
            username: login.username.clone(),
            password: login.password.clone(),
            ..sent::ImageCredentials::default()
        }),
        interconnect_group: String::new(),
    })
}

fn resources(service: &str, kept: &Resources) -> Result<sent::ServiceResources, ReadError> {
    let bytes = |what, value: &str| {
        let (service, text) = (service.to_owned(), value.to_owned());
        value.parse::<u64>().map_err(|_| ReadError::Bytes { service, what, value: text })
    };
    let volumes = kept.storage.iter().map(|volume| {
        Ok(akash_types::Storage {
            name: volume.name.clone(),
            quantity: bytes("storage", &volume.size)?,
            attributes: attributes(&volume.attributes),
        })
    });
    Ok(sent::ServiceResources {
        id: kept.id,
        cpu: Some(Cpu {
            units: kept.cpu.units.into(),
            attributes: attributes(&kept.cpu.attributes),
        }),
        memory: Some(akash_types::Memory {
            quantity: bytes("memory", &kept.memory.size)?,
            attributes: attributes(&kept.memory.attributes),
        }),
        storage: Some(volumes.collect::<Result<_, ReadError>>()?),
        gpu: Some(akash_types::Gpu {
            units: kept.gpu.units.into(),
            attributes: attributes(&kept.gpu.attributes),
        }),
        endpoints: None,
    })
}

fn attributes(kept: &[Attribute]) -> Vec<akash_types::Attribute> {
    kept.iter()
        .map(|attribute| akash_types::Attribute::new(&*attribute.key, &*attribute.value))
        .collect()
}

fn expose(service: &str, kept: &Expose) -> Result<sent::ServiceExpose, ReadError> {
    // As Go reads it: whatever the case, and nothing means TCP.
    let proto = match kept.proto.to_ascii_uppercase().as_str() {
        "" | "TCP" => Protocol::Tcp,
        "UDP" => Protocol::Udp,
        _ => {
            let (service, protocol) = (service.to_owned(), kept.proto.clone());
            return Err(ReadError::Protocol { service, protocol });
        }
    };
    let options = &kept.http_options;
    Ok(sent::ServiceExpose {
        port: kept.port.into(),
        external_port: kept.external_port.into(),
        proto,
        service: kept.service.clone(),
        global: kept.global,
        hosts: unless_empty(&kept.hosts),
        http_options: sent::HttpOptions {
            max_body_size: options.max_body_size,
            read_timeout: options.read_timeout,
            send_timeout: options.send_timeout,
            next_tries: options.next_tries,
            next_timeout: options.next_timeout,
            next_cases: options.next_cases.clone(),
            proxy: options.proxy.as_ref().map(proxy),
            ..sent::HttpOptions::default()
        },
        ip: kept.ip.clone(),
        endpoint_sequence_number: kept.endpoint_sequence_number,
    })
}

fn proxy(kept: &ProxyOptions) -> sent::ProxyOptions {
    let set = |number: u32| (number != 0).then_some(number);
    sent::ProxyOptions {
        buffering_disable: kept.buffering_disable.then_some(true),
        buffer_size: set(kept.buffer_size),
        buffers_number: set(kept.buffers_number),
        buffers_size: set(kept.buffers_size),
        busy_buffers_size: set(kept.busy_buffers_size),
        connect_timeout: set(kept.connect_timeout),
    }
}

fn params(kept: &Params) -> sent::ServiceParams {
    let mounts = kept.storage.iter().map(|mount| sent::StorageParams {
        name: mount.name.clone(),
        mount: mount.mount.clone(),
        read_only: mount.read_only,
        ..sent::StorageParams::default()
    });
    let permissions = kept.permissions.as_ref();
    sent::ServiceParams {
        storage: Some(mounts.collect()),
        permissions: permissions.map(|given| sent::ServicePermissions { read: given.read.clone() }),
        ..sent::ServiceParams::default()
    }
}

fn unless_empty(list: &[String]) -> Option<Vec<String>> {
    (!list.is_empty()).then(|| list.to_vec())
}

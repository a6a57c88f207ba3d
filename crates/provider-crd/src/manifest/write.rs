//! From a tenant's manifest to the custom resource.

use akash_sdl::manifest as sent;
use akash_sdl::manifest::Protocol;
use akash_types::LeaseId;

use super::model::{
    Attribute, Credentials, Expose, Gpu, Group, HttpOptions, LeaseRef, ManifestSpec, Memory, Mount,
    Params, Permissions, Processor, ProxyOptions, Resources, SchedulerParams, Service, Storage,
};

/// Why a manifest cannot be kept. None that was validated is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WriteError {
    #[error("service {service:?} does not say how much {what} it needs")]
    Missing { service: String, what: &'static str },
    #[error(
        "service {service:?}: {what} of {value} is more than the largest that can be kept, {max}"
    )]
    TooLarge { service: String, what: &'static str, value: u64, max: u64 },
    #[error("service {service:?}: protocol {protocol:?} is neither TCP nor UDP")]
    Protocol { service: String, protocol: String },
}

impl LeaseRef {
    pub fn new(lease: &LeaseId) -> Self {
        Self {
            owner: lease.owner().to_string(),
            dseq: lease.dseq().to_string(),
            gseq: lease.gseq(),
            oseq: lease.oseq(),
            provider: lease.provider().to_string(),
            ..Self::default()
        }
    }
}

impl ManifestSpec {
    /// What the cluster keeps for `lease` when it shall run `group`. `scheduler` says what was
    /// decided for a service of this name.
    pub fn new(
        lease: &LeaseId,
        group: &sent::Group,
        scheduler: impl Fn(&str) -> Option<SchedulerParams>,
    ) -> Result<Self, WriteError> {
        let services = group.services.iter().map(|sent| {
            let written = service(sent)?;
            Ok(Service { scheduler_params: scheduler(&sent.name), ..written })
        });
        let services = services.collect::<Result<_, WriteError>>()?;
        let group = Group { name: group.name.clone(), services, ..Group::default() };
        Ok(Self { lease_id: LeaseRef::new(lease), group, ..Self::default() })
    }
}

fn service(sent: &sent::Service) -> Result<Service, WriteError> {
    let exposes = sent.expose.iter().flatten().map(|one| expose(&sent.name, one));
    Ok(Service {
        name: sent.name.clone(),
        image: sent.image.clone(),
        command: sent.command.clone().unwrap_or_default(),
        args: sent.args.clone().unwrap_or_default(),
        env: sent.env.clone().unwrap_or_default(),
        resources: resources(&sent.name, &sent.resources)?,
        count: sent.count,
        expose: exposes.collect::<Result<_, _>>()?,
        params: sent.params.as_ref().map(params),
        credentials: sent.credentials.as_ref().map(credentials),
        ..Service::default()
    })
}

fn resources(service: &str, sent: &sent::ServiceResources) -> Result<Resources, WriteError> {
    let missing = |what| WriteError::Missing { service: service.to_owned(), what };
    let units = |what, value: u64| {
        let max = u64::from(u32::MAX);
        let too_large = || WriteError::TooLarge { service: service.to_owned(), what, value, max };
        u32::try_from(value).map_err(|_| too_large())
    };
    let cpu = sent.cpu.as_ref().ok_or_else(|| missing("CPU"))?;
    let gpu = sent.gpu.as_ref().ok_or_else(|| missing("GPU"))?;
    let memory = sent.memory.as_ref().ok_or_else(|| missing("memory"))?;
    let volumes = sent.storage.iter().flatten().map(|volume| Storage {
        name: volume.name.clone(),
        size: volume.quantity.to_string(),
        attributes: attributes(&volume.attributes),
        ..Storage::default()
    });
    Ok(Resources {
        id: sent.id,
        cpu: Processor {
            units: units("CPU", cpu.units)?,
            attributes: attributes(&cpu.attributes),
            ..Processor::default()
        },
        gpu: Gpu {
            units: units("GPU", gpu.units)?,
            attributes: attributes(&gpu.attributes),
            ..Gpu::default()
        },
        memory: Memory {
            size: memory.quantity.to_string(),
            attributes: attributes(&memory.attributes),
            ..Memory::default()
        },
        storage: volumes.collect(),
        ..Resources::default()
    })
}

fn attributes(sent: &[akash_types::Attribute]) -> Vec<Attribute> {
    let keep = |attribute: &akash_types::Attribute| Attribute {
        key: attribute.key.clone(),
        value: attribute.value.clone(),
        ..Attribute::default()
    };
    sent.iter().map(keep).collect()
}

fn expose(service: &str, sent: &sent::ServiceExpose) -> Result<Expose, WriteError> {
    let port = |what, value: u32| {
        let (value, max) = (u64::from(value), u64::from(u16::MAX));
        let too_large = || WriteError::TooLarge { service: service.to_owned(), what, value, max };
        u16::try_from(value).map_err(|_| too_large())
    };
    if let Protocol::Unknown(protocol) = &sent.proto {
        let (service, protocol) = (service.to_owned(), protocol.clone());
        return Err(WriteError::Protocol { service, protocol });
    }
    let options = &sent.http_options;
    Ok(Expose {
        port: port("port", sent.port)?,
        external_port: port("external port", sent.external_port)?,
        proto: sent.proto.to_string(),
        service: sent.service.clone(),
        global: sent.global,
        hosts: sent.hosts.clone().unwrap_or_default(),
        http_options: HttpOptions {
            max_body_size: options.max_body_size,
            read_timeout: options.read_timeout,
            send_timeout: options.send_timeout,
            next_tries: options.next_tries,
            next_timeout: options.next_timeout,
            next_cases: options.next_cases.clone(),
            proxy: options.proxy.as_ref().map(proxy).filter(|it| *it != ProxyOptions::default()),
            ..HttpOptions::default()
        },
        ip: sent.ip.clone(),
        endpoint_sequence_number: sent.endpoint_sequence_number,
        ..Expose::default()
    })
}

fn proxy(sent: &sent::ProxyOptions) -> ProxyOptions {
    ProxyOptions {
        buffering_disable: sent.buffering_disable.unwrap_or_default(),
        buffer_size: sent.buffer_size.unwrap_or_default(),
        buffers_number: sent.buffers_number.unwrap_or_default(),
        buffers_size: sent.buffers_size.unwrap_or_default(),
        busy_buffers_size: sent.busy_buffers_size.unwrap_or_default(),
        connect_timeout: sent.connect_timeout.unwrap_or_default(),
        ..ProxyOptions::default()
    }
}

fn params(sent: &sent::ServiceParams) -> Params {
    let mounts = sent.storage.iter().flatten().map(|mount| Mount {
        name: mount.name.clone(),
        mount: mount.mount.clone(),
        read_only: mount.read_only,
        ..Mount::default()
    });
    let permissions = sent.permissions.as_ref().filter(|given| !given.read.is_empty());
    Params {
        storage: mounts.collect(),
        permissions: permissions
            .map(|given| Permissions { read: given.read.clone(), ..Permissions::default() }),
        ..Params::default()
    }
}

fn credentials(sent: &sent::ImageCredentials) -> Credentials {
    Credentials {
        host: sent.host.clone(),
        email: sent.email.clone(),
        username: sent.username.clone(),
        password: sent.password.clone(),
        ..Credentials::default()
    }
}

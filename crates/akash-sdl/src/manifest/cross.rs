//! Whether a manifest is what the deployment's groups paid for.

use akash_types::{EndpointKind, GroupSpec, ResourceUnit};
use thiserror::Error;

use super::model::{Group, Manifest, Service};
use super::validate::{ManifestError, quoted};

/// Why a manifest does not fit the groups of its deployment. The texts are those that providers
/// answer with.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum CrossError {
    /// It makes no sense by itself.
    #[error(transparent)]
    Manifest(#[from] ManifestError),
    /// It has more or fewer groups than the deployment.
    #[error("invalid manifest: group count mismatch ({manifest} != {deployment})")]
    GroupCount {
        /// Groups of the manifest.
        manifest: usize,
        /// Groups of the deployment.
        deployment: usize,
    },
    /// It has a group that the deployment has not.
    #[error("invalid manifest: unknown deployment group ('{name}')")]
    UnknownGroup {
        /// The group.
        name: String,
    },
    /// A group asks for other resources than were paid for.
    #[error("manifest cross-validation error: group {}: {detail}", quoted(group))]
    Mismatch {
        /// The group.
        group: String,
        /// What differs.
        detail: Detail,
    },
}

/// What differs between a manifest's group and the deployment's.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Detail {
    /// A service names a resource unit that the group has not.
    #[error("service {}: not found deployment group resources with ID = {id}", quoted(service))]
    NoUnit {
        /// The service.
        service: String,
        /// The unit.
        id: u32,
    },
    /// More replicas than the unit has left.
    #[error(
        "service {}: over-utilized replicas ({count}) > group spec resources count ({left})",
        quoted(service)
    )]
    Replicas {
        /// The service.
        service: String,
        /// Replicas asked for.
        count: u32,
        /// Replicas left.
        left: u32,
    },
    /// A resource differs from the unit's.
    #[error("service {}: {resource} resources mismatch for ID {id}", quoted(service))]
    Resource {
        /// The service.
        service: String,
        /// `CPU`, `GPU`, `Memory` or `Storage`.
        resource: &'static str,
        /// The unit.
        id: u32,
    },
    /// More endpoints than the unit has.
    #[error("service {}: resource ID {id}: over-utilized {kind} endpoints", quoted(service))]
    TooManyEndpoints {
        /// The service.
        service: String,
        /// The unit.
        id: u32,
        /// Which endpoints.
        kind: EndpointUse,
    },
    /// Endpoints that nothing uses.
    #[error("resources ID ({id}): under-utilized ({left}) {kind} endpoints")]
    UnusedEndpoints {
        /// The unit.
        id: u32,
        /// How many.
        left: u32,
        /// Which endpoints.
        kind: EndpointUse,
    },
    /// Replicas that nothing uses.
    #[error("resources ID ({id}): under-utilized ({left}) resources")]
    UnusedReplicas {
        /// The unit.
        id: u32,
        /// How many.
        left: u32,
    },
}

/// Endpoints by what they are used for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, derive_more::Display)]
pub enum EndpointUse {
    /// A name on the shared ingress.
    #[display("HTTP")]
    Http,
    /// A port of its own.
    #[display("PORT")]
    Port,
    /// A leased address.
    #[display("IP")]
    Ip,
}

impl Manifest {
    /// Checks the manifest against all groups of its deployment.
    pub fn validate_against(&self, groups: &[GroupSpec]) -> Result<(), CrossError> {
        self.validate()?;
        if self.groups.len() != groups.len() {
            return Err(CrossError::GroupCount {
                manifest: self.groups.len(),
                deployment: groups.len(),
            });
        }
        for group in &self.groups {
            let Some(spec) = groups.iter().find(|spec| spec.name == group.name) else {
                return Err(CrossError::UnknownGroup { name: group.name.clone() });
            };
            group
                .fits(spec)
                .map_err(|detail| CrossError::Mismatch { group: group.name.clone(), detail })?;
        }
        Ok(())
    }
}

/// What is left of a resource unit while services take from it.
struct Left<'g> {
    unit: &'g ResourceUnit,
    count: u32,
    http: u32,
    port: u32,
    ip: u32,
}

impl<'g> Left<'g> {
    fn of(unit: &'g ResourceUnit) -> Self {
        let mut left = Self { unit, count: unit.count, http: 0, port: 0, ip: 0 };
        for endpoint in &unit.resources.endpoints {
            match endpoint.kind {
                EndpointKind::SharedHttp => left.http += 1,
                EndpointKind::RandomPort => left.port += 1,
                EndpointKind::LeasedIp => left.ip += 1,
            }
        }
        left
    }

    fn take(&mut self, kind: EndpointUse) -> bool {
        let left = match kind {
            EndpointUse::Http => &mut self.http,
            EndpointUse::Port => &mut self.port,
            EndpointUse::Ip => &mut self.ip,
        };
        match left.checked_sub(1) {
            Some(fewer) => {
                *left = fewer;
                true
            }
            None => false,
        }
    }

    fn unused(&self) -> Result<(), Detail> {
        let id = self.unit.resources.id;
        for (left, kind) in [
            (self.http, EndpointUse::Http),
            (self.port, EndpointUse::Port),
            (self.ip, EndpointUse::Ip),
        ] {
            if left > 0 {
                return Err(Detail::UnusedEndpoints { id, left, kind });
            }
        }
        if self.count > 0 {
            return Err(Detail::UnusedReplicas { id, left: self.count });
        }
        Ok(())
    }
}

impl Group {
    fn fits(&self, spec: &GroupSpec) -> Result<(), Detail> {
        let mut units: Vec<Left<'_>> = spec.resources.iter().map(Left::of).collect();
        for service in &self.services {
            let id = service.resources.id;
            match units.iter_mut().find(|left| left.unit.resources.id == id) {
                Some(left) => service.take_from(left)?,
                None => return Err(Detail::NoUnit { service: service.name.clone(), id }),
            }
        }
        units.iter().try_for_each(Left::unused)
    }
}

impl Service {
    fn take_from(&self, left: &mut Left<'_>) -> Result<(), Detail> {
        let service = || self.name.clone();
        if self.count > left.count {
            return Err(Detail::Replicas {
                service: service(),
                count: self.count,
                left: left.count,
            });
        }
        let (own, unit) = (&self.resources, &left.unit.resources);
        // Volumes are compared as whole lists: comparing only those that the service has would
        // let a manifest run with fewer than were paid for.
        for (equal, resource) in [
            (own.cpu.as_ref() == Some(&unit.cpu), "CPU"),
            (own.gpu.as_ref() == Some(&unit.gpu), "GPU"),
            (own.memory.as_ref() == Some(&unit.memory), "Memory"),
            (own.storage.as_ref() == Some(&unit.storage), "Storage"),
        ] {
            if !equal {
                return Err(Detail::Resource { service: service(), resource, id: own.id });
            }
        }
        for expose in self.expose.iter().flatten().filter(|expose| expose.global) {
            let by_port = if expose.is_ingress() { EndpointUse::Http } else { EndpointUse::Port };
            let by_address = (!expose.ip.is_empty()).then_some(EndpointUse::Ip);
            for kind in std::iter::once(by_port).chain(by_address) {
                if !left.take(kind) {
                    return Err(Detail::TooManyEndpoints { service: service(), id: own.id, kind });
                }
            }
        }
        left.count -= self.count;
        Ok(())
    }
}

/// Why the hash of a manifest is not known. A hash that is guessed is worse than none: a lease
/// would be paid for whose manifest every other provider refuses.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum HashDoubt {
    /// Some members of `proxy` are set and others are not.
    #[error(
        "the hash of this manifest is not known: service {service:?} sets some members of \
         http_options.proxy, and whether tools write the others as zero into the manifest is not \
         published; set all six, or none"
    )]
    Proxy {
        /// The service.
        service: String,
    },
    /// A key broker is named.
    #[error(
        "the hash of this manifest is not known: service {service:?} has params.kbs, and how \
         tools write it into the manifest is not published"
    )]
    Kbs {
        /// The service.
        service: String,
    },
}

impl Manifest {
    /// What makes the hash of a manifest that was built here differ from that of other programs,
    /// possibly. A manifest that was received has none: it is hashed as it was sent.
    pub fn hash_doubts(&self) -> Vec<HashDoubt> {
        let mut doubts = Vec::new();
        for service in self.groups.iter().flat_map(|group| &group.services) {
            let mut proxies =
                service.expose.iter().flatten().filter_map(|it| it.http_options.proxy.as_ref());
            if !proxies.all(super::ProxyOptions::is_fully_set) {
                doubts.push(HashDoubt::Proxy { service: service.name.clone() });
            }
            let tee = service.params.as_ref().and_then(|params| params.tee.as_ref());
            if tee.is_some_and(|tee| tee.kbs.is_some()) {
                doubts.push(HashDoubt::Kbs { service: service.name.clone() });
            }
        }
        doubts
    }
}

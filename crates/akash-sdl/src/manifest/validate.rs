//! Whether a manifest makes sense by itself.
//!
//! The checks, their order and their texts are those that providers answer with, so a client
//! that looks at the text finds what it expects. One check is ours: an external port beyond
//! 65535 would be cut to 16 bits later on and is refused instead.

use std::collections::HashSet;
use std::ops::ControlFlow;

use akash_types::hostname::is_hostname;
use akash_types::{EndpointKind, GroupSpec, ResourceUnit};
use thiserror::Error;

use super::model::{Group, Manifest, Protocol, Service, ServiceExpose};

type Flow = ControlFlow<()>;

/// What a manifest was refused for.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{text}")]
pub struct ManifestError {
    /// Which family the error belongs to; a gateway answers by it.
    pub kind: ManifestErrorKind,
    /// The text, exactly as providers send it.
    pub text: String,
}

/// The families of manifest errors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ManifestErrorKind {
    /// The text begins with `invalid manifest`.
    Invalid,
    /// A resource is missing; the text has no prefix.
    Resources,
}

/// Where in a manifest something is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Violation {
    pub(crate) group: Option<usize>,
    pub(crate) service: Option<usize>,
    pub(crate) fault: Fault,
}

/// What is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    Empty,
    NoServices,
    ServicesNotSorted,
    ServiceNameEmpty,
    ServiceNameInvalid,
    ImageEmpty,
    ResourceId,
    Missing(&'static str),
    EnvName { index: usize, name: String },
    ExposeNotSorted,
    Port { expose: usize },
    ExternalPort { expose: usize },
    UnknownProtocol { expose: usize, name: String },
    HostInvalid { expose: usize, host: usize, name: String },
    HostTwice { expose: usize, host: usize, name: String },
    DuplicateGroup,
    NothingGlobal,
}

impl Manifest {
    /// The first thing wrong with the manifest, in the order in which providers look.
    pub fn validate(&self) -> Result<(), ManifestError> {
        let mut first = None;
        let _ = self.check(&mut |violation| {
            first = Some(violation);
            Flow::Break(())
        });
        first.map_or(Ok(()), |violation| Err(violation.to_error(self)))
    }

    /// Everything wrong with the manifest.
    pub(crate) fn violations(&self) -> Vec<Violation> {
        let mut all = Vec::new();
        let _ = self.check(&mut |violation| {
            all.push(violation);
            Flow::Continue(())
        });
        all
    }

    fn check(&self, found: &mut dyn FnMut(Violation) -> Flow) -> Flow {
        let whole = |fault| Violation { group: None, service: None, fault };
        if self.groups.is_empty() {
            return found(whole(Fault::Empty));
        }
        let mut hosts = HashSet::new();
        for (index, group) in self.groups.iter().enumerate() {
            group.check(index, &mut hosts, found)?;
        }
        for (index, group) in self.groups.iter().enumerate() {
            if self.groups.iter().take(index).any(|other| other.name == group.name) {
                found(Violation {
                    group: Some(index),
                    service: None,
                    fault: Fault::DuplicateGroup,
                })?;
            }
        }
        let any_global = self
            .groups
            .iter()
            .flat_map(|group| &group.services)
            .flat_map(|service| service.expose.iter().flatten())
            .any(|expose| expose.global);
        if any_global { Flow::Continue(()) } else { found(whole(Fault::NothingGlobal)) }
    }
}

/// The most that providers accept of a member of `http_options.proxy`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ProxyLimit {
    pub(crate) field: &'static str,
    pub(crate) most: u32,
}

/// As in the Go provider. More would let one tenant take the memory of the shared proxy.
pub(crate) const PROXY_LIMITS: [ProxyLimit; 4] = [
    ProxyLimit { field: "buffer_size", most: 131_072 },
    ProxyLimit { field: "buffers_number", most: 16 },
    ProxyLimit { field: "buffers_size", most: 131_072 },
    ProxyLimit { field: "busy_buffers_size", most: 262_144 },
];

impl Manifest {
    /// Whether every `httpOptions.proxy` stays within what providers accept. Chain and SDL tools
    /// do not ask for it.
    pub fn validate_proxy_limits(&self) -> Result<(), ManifestError> {
        for service in self.groups.iter().flat_map(|group| &group.services) {
            let proxies =
                service.expose.iter().flatten().filter_map(|it| it.http_options.proxy.as_ref());
            for (proxy, limit) in
                proxies.flat_map(|proxy| PROXY_LIMITS.iter().map(move |limit| (proxy, limit)))
            {
                let value = match limit.field {
                    "buffer_size" => proxy.buffer_size,
                    "buffers_number" => proxy.buffers_number,
                    "buffers_size" => proxy.buffers_size,
                    _ => proxy.busy_buffers_size,
                };
                if let Some(value) = value.filter(|value| *value > limit.most) {
                    let ProxyLimit { field, most } = limit;
                    let text = format!(
                        "invalid manifest: service {:?} proxy.{field} {value} exceeds max {most}",
                        service.name
                    );
                    return Err(ManifestError { kind: ManifestErrorKind::Invalid, text });
                }
            }
        }
        Ok(())
    }
}

impl Group {
    fn check<'m>(
        &'m self,
        index: usize,
        hosts: &mut HashSet<&'m str>,
        found: &mut dyn FnMut(Violation) -> Flow,
    ) -> Flow {
        let at = |service, fault| Violation { group: Some(index), service, fault };
        if self.services.is_empty() {
            found(at(None, Fault::NoServices))?;
        }
        if !self.services.is_sorted_by(|a, b| a.name <= b.name) {
            found(at(None, Fault::ServicesNotSorted))?;
        }
        for (number, service) in self.services.iter().enumerate() {
            service.check(hosts, &mut |fault| found(at(Some(number), fault)))?;
        }
        Flow::Continue(())
    }
}

impl Service {
    fn check<'m>(
        &'m self,
        hosts: &mut HashSet<&'m str>,
        found: &mut dyn FnMut(Fault) -> Flow,
    ) -> Flow {
        if self.name.is_empty() {
            found(Fault::ServiceNameEmpty)?;
        } else if !is_service_name(&self.name) {
            found(Fault::ServiceNameInvalid)?;
        }
        if self.image.is_empty() {
            found(Fault::ImageEmpty)?;
        }
        self.check_resources(found)?;
        for (index, entry) in self.env.iter().flatten().enumerate() {
            let name = entry.split('=').next().unwrap_or_default();
            if !is_env_name(name) {
                found(Fault::EnvName { index, name: name.to_owned() })?;
            }
        }
        let exposes = self.expose.as_deref().unwrap_or_default();
        if !exposes.is_sorted_by(|a, b| !expose_before(b, a)) {
            found(Fault::ExposeNotSorted)?;
        }
        for (index, expose) in exposes.iter().enumerate() {
            expose.check(index, hosts, found)?;
        }
        Flow::Continue(())
    }

    fn check_resources(&self, found: &mut dyn FnMut(Fault) -> Flow) -> Flow {
        let resources = &self.resources;
        if resources.id == 0 {
            found(Fault::ResourceId)?;
        }
        for (missing, name) in [
            (resources.cpu.is_none(), "CPU"),
            (resources.gpu.is_none(), "GPU"),
            (resources.memory.is_none(), "memory"),
            (resources.storage.is_none(), "storage"),
            (resources.endpoints.is_none(), "endpoints"),
        ] {
            if missing {
                found(Fault::Missing(name))?;
            }
        }
        Flow::Continue(())
    }
}

/// The order in which a service's exposes have to stand: by service, port, protocol, and open to
/// the world first.
pub(crate) fn expose_before(a: &ServiceExpose, b: &ServiceExpose) -> bool {
    fn rank(expose: &ServiceExpose) -> (&str, u32, &str, bool) {
        (&expose.service, expose.port, expose.proto.as_str(), !expose.global)
    }
    rank(a) < rank(b)
}

impl ServiceExpose {
    fn check<'m>(
        &'m self,
        expose: usize,
        hosts: &mut HashSet<&'m str>,
        found: &mut dyn FnMut(Fault) -> Flow,
    ) -> Flow {
        let is_port = |port: u32| (1..=u32::from(u16::MAX)).contains(&port);
        if !is_port(self.port) {
            found(Fault::Port { expose })?;
        }
        if self.external_port != 0 && !is_port(self.external_port) {
            found(Fault::ExternalPort { expose })?;
        }
        if let Protocol::Unknown(name) = &self.proto {
            found(Fault::UnknownProtocol { expose, name: name.clone() })?;
        }
        for (host, name) in self.hosts.iter().flatten().enumerate() {
            if !is_hostname(name) {
                found(Fault::HostInvalid { expose, host, name: name.clone() })?;
            } else if !hosts.insert(name) {
                found(Fault::HostTwice { expose, host, name: name.clone() })?;
            }
        }
        Flow::Continue(())
    }
}

impl Violation {
    /// The error with the text that providers send.
    fn to_error(&self, manifest: &Manifest) -> ManifestError {
        let group = self.group.and_then(|index| manifest.groups.get(index));
        let service = group.zip(self.service).and_then(|(group, index)| group.services.get(index));
        let group = quoted(group.map_or("", |group| &group.name));
        let service = quoted(service.map_or("", |service| &service.name));
        let (kind, text) = match &self.fault {
            Fault::ResourceId => {
                (ManifestErrorKind::Resources, "resources ID must be > 0".to_owned())
            }
            Fault::Missing(what) => {
                (ManifestErrorKind::Resources, format!("{what} must not be nil"))
            }
            fault => (
                ManifestErrorKind::Invalid,
                format!("invalid manifest: {}", fault.detail(&group, &service)),
            ),
        };
        ManifestError { kind, text }
    }
}

impl Fault {
    /// What follows `invalid manifest: `.
    fn detail(&self, group: &str, service: &str) -> String {
        match self {
            Self::Empty => "manifest is empty".to_owned(),
            Self::NoServices => format!("group {group} contains no services"),
            Self::ServicesNotSorted => format!("group {group} services is not sorted"),
            Self::ServiceNameEmpty => "service name is empty".to_owned(),
            Self::ServiceNameInvalid => format!("service {service} name is invalid"),
            Self::ImageEmpty => format!("service {service} has empty image name"),
            Self::EnvName { name, .. } => format!(
                "service {service} defines an env. var. with an invalid name {}",
                quoted(name)
            ),
            Self::DuplicateGroup => format!("duplicate group {group}"),
            Self::NothingGlobal => "zero global services".to_owned(),
            _ => format!("service {service}: {}", self.expose_detail()),
        }
    }

    fn expose_detail(&self) -> String {
        match self {
            Self::ExposeNotSorted => "expose is not sorted".to_owned(),
            // The blank at the end is part of the text that providers send.
            Self::Port { .. } => "port value must be 0 < value <= 65535 ".to_owned(),
            Self::ExternalPort { .. } => "external port value must be <= 65535".to_owned(),
            Self::UnknownProtocol { name, .. } => format!("protocol {} unknown", quoted(name)),
            Self::HostInvalid { name, .. } => format!("has invalid hostname {}", quoted(name)),
            Self::HostTwice { name, .. } => {
                format!("hostname {} is duplicated, this is not allowed", quoted(name))
            }
            _ => String::new(),
        }
    }
}

/// A text in quotes as Go's `%q` writes it, for the texts that occur here.
pub(super) fn quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\u{7}' => out.push_str("\\a"),
            '\u{8}' => out.push_str("\\b"),
            '\u{c}' => out.push_str("\\f"),
            '\u{b}' => out.push_str("\\v"),
            c if (c as u32) < 0x20 || c == '\u{7f}' => {
                out.push_str(&format!("\\x{:02x}", c as u32));
            }
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

/// `^[a-z]([-a-z0-9]*[a-z0-9])?$`
pub fn is_service_name(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_lowercase())
        && !name.ends_with('-')
        && name.bytes().all(|byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'-'))
}

/// What Kubernetes takes for the name of an environment variable.
fn is_env_name(name: &str) -> bool {
    !matches!(name, "" | ".")
        && !name.starts_with("..")
        && !name.starts_with(|c: char| c.is_ascii_digit())
        && name
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_'))
}

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn service_names() {
        for name in ["a", "web", "a-b", "a1", "x-9"] {
            assert!(is_service_name(name), "{name}");
        }
        for name in ["", "1a", "-a", "a-", "A", "a_b", "a.b", "é"] {
            assert!(!is_service_name(name), "{name}");
        }
    }

    #[test]
    fn env_names() {
        for name in ["A", "a.b", "_x", "-x", "A1", ".x"] {
            assert!(is_env_name(name), "{name}");
        }
        for name in ["", ".", "..", "..a", "1A", "A B", "é"] {
            assert!(!is_env_name(name), "{name}");
        }
    }
}

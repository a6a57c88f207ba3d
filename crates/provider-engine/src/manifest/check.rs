//! Whether a manifest may be accepted, by what the chain and the hostnames say.
//!
//! The order of the checks is that of existing providers: hash, groups, hostnames, lease.

use std::net::IpAddr;
use std::sync::Arc;

use akash_sdl::manifest::{Group, ServiceExpose};
use akash_sdl::{Manifest, Version};
use akash_types::hostname::{BlockedBy, is_dns_name, is_hostname, looks_generated, may_move};
use akash_types::{GroupSpec, LeaseId};

use super::hostnames::{declared, generated_hosts, same_group};
use super::{Hostnames, ManifestRefusal, ManifestSettings};
use crate::chain::DeploymentRead;

/// Bytes of an object that every cluster keeps. etcd takes requests of 1.5 MiB.
const LARGEST_OBJECT: usize = 1 << 20;
/// What an environment variable takes in an object besides its name and value.
const VARIABLE: usize = 24;

/// Refuses a manifest whose workloads would be larger than what a cluster keeps, before one tries.
pub(super) fn fits(manifest: &Manifest) -> Result<(), ManifestRefusal> {
    for service in manifest.groups.iter().flat_map(|group| &group.services) {
        let texts = |list: &Option<Vec<String>>, each: usize| {
            let lengths = list.iter().flatten().map(|text| text.len().saturating_add(each));
            lengths.fold(0, usize::saturating_add)
        };
        let bytes = texts(&service.env, VARIABLE)
            .saturating_add(texts(&service.command, 3))
            .saturating_add(texts(&service.args, 3));
        if bytes > LARGEST_OBJECT {
            let (service, most) = (service.name.clone(), LARGEST_OBJECT);
            return Err(ManifestRefusal::TooLarge { service, bytes, most });
        }
    }
    Ok(())
}

/// What each lease shall run.
pub(super) type Plan = Vec<(LeaseId, Arc<Group>)>;

/// What each own lease of the deployment shall run by the manifest.
pub(super) fn check(
    manifest: &Manifest,
    version: Version,
    facts: &DeploymentRead,
    settings: &ManifestSettings,
    hostnames: &Hostnames,
) -> Result<Plan, ManifestRefusal> {
    let on_chain = facts.deployment.hash;
    if *version.as_bytes() != on_chain {
        return Err(ManifestRefusal::Version { sent: version, on_chain });
    }
    let specs: Vec<GroupSpec> = facts.groups.iter().map(|group| group.spec.clone()).collect();
    manifest.validate_against(&specs)?;
    manifest.validate_proxy_limits()?;
    let leased: Vec<(LeaseId, &Group)> = facts
        .leases
        .iter()
        .map(|lease| Ok((*lease, group_of(*lease, manifest, facts)?)))
        .collect::<Result<_, ManifestRefusal>>()?;
    for (_, group) in &leased {
        can_run(group)?;
        has_hosts(group, settings)?;
    }
    for (lease, group) in &leased {
        may_have_hosts(*lease, group, settings, hostnames)?;
    }
    if leased.is_empty() {
        return Err(ManifestRefusal::NoLease);
    }
    Ok(leased.into_iter().map(|(lease, group)| (lease, Arc::new(group.clone()))).collect())
}

/// The manifest's group that runs under the lease: the chain has its number and its name.
fn group_of<'m>(
    lease: LeaseId,
    manifest: &'m Manifest,
    facts: &DeploymentRead,
) -> Result<&'m Group, ManifestRefusal> {
    let on_chain = facts.groups.iter().find(|group| group.id == lease.group_id());
    on_chain
        .and_then(|on_chain| manifest.groups.iter().find(|group| group.name == on_chain.spec.name))
        .ok_or(ManifestRefusal::GroupNotFound { lease, gseq: lease.gseq() })
}

/// Whether nothing is asked for that this provider does not offer. Orders show most of it, so that
/// no bid is made; a manifest shows the rest.
fn can_run(group: &Group) -> Result<(), ManifestRefusal> {
    for service in &group.services {
        let params = service.params.as_ref();
        let mounts = || params.iter().flat_map(|params| params.storage.iter().flatten());
        let logins =
            || service.credentials.iter().chain(params.and_then(|it| it.credentials.as_ref()));
        let what = if params.is_some_and(|params| params.tee.is_some()) {
            "confidential computing"
        } else if mounts().any(|mount| !mount.key_ref.is_empty()) {
            "a volume encrypted with a sealed key"
        } else if logins().any(|login| !login.uri.is_empty()) {
            "a registry login from a key broker"
        } else if !service.interconnect_group.is_empty() {
            "a GPU interconnect"
        } else {
            continue;
        };
        return Err(ManifestRefusal::Unsupported { service: service.name.clone(), what });
    }
    Ok(())
}

/// Without generated hosts, what is served by name has to have one.
fn has_hosts(group: &Group, settings: &ManifestSettings) -> Result<(), ManifestRefusal> {
    if settings.generated_under.is_some() {
        return Ok(());
    }
    for service in &group.services {
        let nameless = |expose: &&ServiceExpose| {
            expose.is_ingress() && expose.hosts.as_deref().unwrap_or_default().is_empty()
        };
        if let Some(expose) = service.expose.iter().flatten().find(nameless) {
            return Err(ManifestRefusal::HostnameMissing {
                service: service.name.clone(),
                port: expose.effective_port(),
                proto: expose.proto.clone(),
            });
        }
    }
    Ok(())
}

fn may_have_hosts(
    lease: LeaseId,
    group: &Group,
    settings: &ManifestSettings,
    hostnames: &Hostnames,
) -> Result<(), ManifestRefusal> {
    let domain = settings.generated_under.as_deref();
    let own = domain.map(|domain| generated_hosts(lease, group, domain)).unwrap_or_default();
    let mut claimed = declared(group).filter(|host| !own.contains(host));
    claimed.try_for_each(|host| may_have_host(Some(lease), host, settings, hostnames))
}

/// Whether `lease` may have `host`, which is in lower case; without a lease, whether a new one may.
pub(crate) fn may_have_host(
    lease: Option<LeaseId>,
    host: String,
    settings: &ManifestSettings,
    hostnames: &Hostnames,
) -> Result<(), ManifestRefusal> {
    if is_address(&host) {
        return Err(ManifestRefusal::HostnameIsAddress(host));
    }
    if !is_hostname(&host) {
        return Err(ManifestRefusal::HostnameInvalid(host));
    }
    if !is_dns_name(&host) {
        return Err(ManifestRefusal::HostnamePartTooLong(host));
    }
    let holder = hostnames.holder(&host);
    match settings.blocked.blocks(&host) {
        Some(BlockedBy::Name) => return Err(ManifestRefusal::HostnameBlocked(host)),
        Some(BlockedBy::Domain) => return Err(ManifestRefusal::DomainBlocked(host)),
        // A group that had the name before it was reserved keeps it.
        Some(BlockedBy::Reserved)
            if !holder.zip(lease).is_some_and(|(holder, lease)| same_group(holder, lease)) =>
        {
            return Err(ManifestRefusal::HostnameReserved(host));
        }
        Some(BlockedBy::Reserved) | None => {}
    }
    if holder.is_some_and(|holder| !lease.is_some_and(|lease| may_move(holder, lease))) {
        return Err(ManifestRefusal::HostnameInUse(host));
    }
    let domain = settings.generated_under.as_deref();
    if domain.is_some_and(|domain| looks_generated(&host, domain)) {
        return Err(ManifestRefusal::HostnameGenerated(host));
    }
    Ok(())
}

/// Whether clients take `host` for an address. A last part that is a number makes one of any name
/// (WHATWG URL, "ends in a number"): `127.1` is `127.0.0.1`.
fn is_address(host: &str) -> bool {
    let last = host.rsplit('.').next().unwrap_or_default();
    let is_hex = |rest: &str| rest.bytes().all(|byte| byte.is_ascii_hexdigit());
    let is_number = !last.is_empty() && last.bytes().all(|byte| byte.is_ascii_digit());
    host.parse::<IpAddr>().is_ok() || is_number || last.strip_prefix("0x").is_some_and(is_hex)
}

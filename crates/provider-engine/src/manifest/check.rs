//! Whether a manifest may be accepted, by what the chain and the hostnames say.
//!
//! The order of the checks is that of existing providers: hash, groups, hostnames, lease.

use std::net::IpAddr;
use std::sync::Arc;

use akash_sdl::manifest::{Group, ServiceExpose};
use akash_sdl::{Manifest, Version};
use akash_types::{GroupSpec, LeaseId};

use super::hostnames::{BlockedBy, declared, generated_hosts, looks_generated};
use super::{DeploymentFacts, Hostnames, ManifestRefusal, ManifestSettings};

/// Characters in each part of a hostname.
const LONGEST_PART: usize = 63;

/// What each lease shall run.
pub(super) type Plan = Vec<(LeaseId, Arc<Group>)>;

/// What each own lease of the deployment shall run by the manifest.
pub(super) fn check(
    manifest: &Manifest,
    version: Version,
    facts: &DeploymentFacts,
    settings: &ManifestSettings,
    hostnames: &Hostnames,
) -> Result<Plan, ManifestRefusal> {
    let on_chain = facts.deployment.hash;
    if *version.as_bytes() != on_chain {
        return Err(ManifestRefusal::Version { sent: version, on_chain });
    }
    let specs: Vec<GroupSpec> = facts.groups.iter().map(|group| group.spec.clone()).collect();
    manifest.validate_against(&specs)?;
    let leased: Vec<(LeaseId, &Group)> = facts
        .leases
        .iter()
        .map(|lease| Ok((*lease, group_of(*lease, manifest, facts)?)))
        .collect::<Result<_, ManifestRefusal>>()?;
    for (_, group) in &leased {
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
    facts: &DeploymentFacts,
) -> Result<&'m Group, ManifestRefusal> {
    let on_chain = facts.groups.iter().find(|group| group.id == lease.group_id());
    on_chain
        .and_then(|on_chain| manifest.groups.iter().find(|group| group.name == on_chain.spec.name))
        .ok_or(ManifestRefusal::GroupNotFound { lease, gseq: lease.gseq() })
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
    for host in declared(group).filter(|host| !own.contains(host)) {
        if host.parse::<IpAddr>().is_ok() {
            return Err(ManifestRefusal::HostnameIsAddress(host));
        }
        if host.split('.').any(|part| part.len() > LONGEST_PART) {
            return Err(ManifestRefusal::HostnamePartTooLong(host));
        }
        match settings.blocked.blocks(&host) {
            Some(BlockedBy::Name) => return Err(ManifestRefusal::HostnameBlocked(host)),
            Some(BlockedBy::Domain) => return Err(ManifestRefusal::DomainBlocked(host)),
            None => {}
        }
        if hostnames.holder(&host).is_some_and(|holder| holder.owner() != lease.owner()) {
            return Err(ManifestRefusal::HostnameInUse(host));
        }
        if domain.is_some_and(|domain| looks_generated(&host, domain)) {
            return Err(ManifestRefusal::HostnameGenerated(host));
        }
    }
    Ok(())
}

//! What the chain has of a deployment.

use std::collections::BTreeMap;
use std::io::Write;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::{fs, io};

use akash_chain::query::{BidFilter, LeaseFilter};
use akash_sdl::manifest::Group;
use akash_types::{
    Address, BidState, DeploymentId, DeploymentState, GroupState, LeaseState, Provider,
};
use anyhow::Context;
use provider_api::status::LeaseStatus;

use super::plan::{GroupSeen, Offer, Seen};
use crate::chain::Network;

/// Reads deployment, bids and leases. `hash` is that of the SDL at hand.
pub(super) async fn look(
    network: &Network,
    id: DeploymentId,
    hash: &[u8; 32],
) -> anyhow::Result<Seen> {
    let query = network.query();
    let Some(found) = query.deployment(id).await?.value else { return Ok(Seen::Nothing) };
    if found.deployment.state != DeploymentState::Active {
        return Ok(Seen::Closed);
    }
    if found.deployment.hash != *hash {
        return Ok(Seen::Other);
    }
    let (owner, dseq) = (Some(id.owner()), Some(id.dseq()));
    let state = Some(LeaseState::Active);
    let leases = query.leases(LeaseFilter { owner, dseq, state, ..LeaseFilter::default() }).await?;
    let state = Some(BidState::Open);
    let bids = query.bids(BidFilter { owner, dseq, state, ..BidFilter::default() }).await?;
    let groups = found.groups.into_iter().map(|group| {
        let leases = leases.value.items.iter().map(|info| info.lease.id);
        let bids = bids.value.items.iter().map(|info| &info.bid);
        let offers = bids.filter(|bid| bid.id.group_id() == group.id);
        GroupSeen {
            gseq: group.id.gseq(),
            is_open: group.state == GroupState::Open,
            offers: offers.map(|bid| Offer { bid: bid.id, price: bid.price.clone() }).collect(),
            lease: leases.into_iter().find(|lease| lease.group_id() == group.id),
            name: group.spec.name,
        }
    });
    Ok(Seen::Active(groups.collect()))
}

/// What the chain knows of providers; who is not there is left out.
pub(super) async fn providers(
    network: &Network,
    groups: &[GroupSeen],
) -> anyhow::Result<BTreeMap<Address, Provider>> {
    let mut known = BTreeMap::new();
    for offer in groups.iter().flat_map(|group| &group.offers) {
        let address = offer.bid.provider();
        if known.contains_key(&address) {
            continue;
        }
        if let Some(provider) = network.query().provider(address).await?.value {
            known.insert(address, provider);
        }
    }
    Ok(known)
}

/// A service that is to run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Wanted {
    pub(super) name: String,
    pub(super) count: u32,
}

pub(super) fn wanted(group: &Group) -> Vec<Wanted> {
    let services = group.services.iter();
    services.map(|service| Wanted { name: service.name.clone(), count: service.count }).collect()
}

/// What is not ready yet: each service, and why as far as its provider says.
pub(super) fn missing(wanted: &[Wanted], status: &LeaseStatus) -> BTreeMap<String, String> {
    let mut missing = BTreeMap::new();
    for Wanted { name, count } in wanted {
        let service = status.services.get(name);
        let available = service.map_or(0, |service| service.available);
        let available = u32::try_from(available).unwrap_or_default();
        if available >= *count {
            continue;
        }
        let detail = service.and_then(|service| service.detail.as_ref());
        let why = detail.map(|detail| match &detail.why {
            Some(why) => format!(", {}: {why}", detail.phase),
            None => format!(", {}", detail.phase),
        });
        let why = why.unwrap_or_default();
        missing.insert(name.clone(), format!("{available} of {count} ready{why}"));
    }
    missing
}

/// Where the SDL of a deployment is kept.
#[derive(Clone, Debug)]
pub(super) struct Kept {
    path: PathBuf,
}

impl Kept {
    pub(super) fn of(home: &Path, chain_id: &str, id: DeploymentId) -> Self {
        // The name of a chain is somebody else's word, and no part of a path.
        let chain: String = chain_id
            .chars()
            .map(|c| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' })
            .collect();
        let name = format!("{}-{}.yaml", id.owner(), id.dseq());
        Self { path: home.join("deployments").join(chain).join(name) }
    }

    /// Keeps an SDL. It may hold passwords, and is for its owner alone.
    pub(super) fn write(&self, sdl: &str) -> anyhow::Result<()> {
        let keep = || {
            if let Some(folder) = self.path.parent() {
                fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
            }
            let mut options = fs::OpenOptions::new();
            options.write(true).create(true).truncate(true).mode(0o600);
            options.open(&self.path)?.write_all(sdl.as_bytes())
        };
        keep().with_context(|| format!("cannot keep the SDL in {}", self.path.display()))
    }

    /// The SDL, if it was kept.
    pub(super) fn read(&self) -> anyhow::Result<Option<String>> {
        match fs::read_to_string(&self.path) {
            Ok(text) => Ok(Some(text)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => {
                Err(error).with_context(|| format!("cannot read {}", self.path.display()))
            }
        }
    }

    /// Forgets it. That it stays is no reason to fail.
    pub(super) fn forget(&self) {
        let _ = fs::remove_file(&self.path);
    }
}

#[cfg(test)]
mod tests {
    use provider_api::status::{Detail, ServiceStatus};

    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn services_are_missing_until_all_replicas_work() {
        let wanted = [
            Wanted { name: "db".to_owned(), count: 1 },
            Wanted { name: "web".to_owned(), count: 2 },
        ];
        let mut status = LeaseStatus::default();
        assert_eq!(missing(&wanted, &status).len(), 2);
        let service = |available| ServiceStatus { available, ..ServiceStatus::default() };
        status.services.insert("db".to_owned(), service(1));
        let mut web = service(1);
        web.detail = Some(Detail {
            phase: "degraded".to_owned(),
            why: Some("a replica finds no place".to_owned()),
            ..Detail::default()
        });
        status.services.insert("web".to_owned(), web);
        let left = missing(&wanted, &status);
        let told = "1 of 2 ready, degraded: a replica finds no place";
        assert_eq!(left, BTreeMap::from([("web".to_owned(), told.to_owned())]));
        status.services.insert("web".to_owned(), service(2));
        assert!(missing(&wanted, &status).is_empty());
    }

    #[test]
    fn what_is_kept_is_read_back_and_nobody_elses() {
        let home = tempfile::tempdir().unwrap();
        let owner = "akash16emlsfgm325de4hwqgu9wszg8fvcm0yw0wk84r".parse().unwrap();
        let kept = Kept::of(home.path(), "../x", DeploymentId::new(owner, 7).unwrap());
        assert!(kept.path.starts_with(home.path().join("deployments/___x")), "{kept:?}");
        assert_eq!(kept.read().unwrap(), None);
        kept.write("longer than what follows").unwrap();
        kept.write("a: 1").unwrap();
        assert_eq!(kept.read().unwrap().as_deref(), Some("a: 1"));
        let mode = fs::metadata(&kept.path).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        kept.forget();
        assert_eq!(kept.read().unwrap(), None);
    }
}

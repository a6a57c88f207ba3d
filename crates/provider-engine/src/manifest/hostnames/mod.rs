//! Which lease has which hostname.
//!
//! Two sources, neither of which is counted up or down: what the cluster **shows** (names that
//! lead to a lease, and names of manifests that it keeps and has not yet deployed), and what this
//! process has **asked** for since it started (names that a lease may have, by the last manifest
//! that went to the cluster). What was asked for goes first, because the cluster shows it later.
//! After a restart only the first source is there, and it is enough.
//!
//! ```text
//!            ask: free, or the group's own
//!   free ────────────────────────────────────▶ held by one lease
//!    ▲                                          │   │        ▲
//!    │   ended, and nothing of it is there      │   └────────┘ transfer: to the owner's other lease
//!    └──────────────────────────────────────────┘
//!        settle: deployed without the name
//! ```
//!
//! Owner, deployment and group are what a name belongs to: the next lease of the same group takes
//! it over. A name that another group has is withheld from whoever asks for it.
//!
//! Nothing here knows what a manifest looks like or which names a tenant may not have at all.

use std::collections::{BTreeMap, BTreeSet};

use akash_sdl::manifest::{Group, ServiceExpose};
use akash_types::LeaseId;
use akash_types::hostname::generated_host;

use crate::cluster::view::LeaseView;
use crate::few::Few;

#[derive(Clone, Debug, Default)]
pub struct Hostnames {
    names: BTreeMap<String, Interest>,
    leases: BTreeMap<LeaseId, Names>,
}

/// Who wants one name.
#[derive(Clone, Debug, Default)]
struct Interest {
    asked: Option<LeaseId>,
    /// To whom it leads.
    shown: Few<LeaseId, ()>,
    /// Whose manifest, kept and not yet deployed, lists it.
    kept: Few<LeaseId, ()>,
}

impl Interest {
    fn holder(&self) -> Option<LeaseId> {
        self.asked.or_else(|| self.shown.first_key().or_else(|| self.kept.first_key()).copied())
    }

    fn is_none(&self) -> bool {
        self.holder().is_none()
    }
}

/// The names of one lease. Nearly all leases have one or two, so each is there once, with all that
/// it is to the lease.
#[derive(Clone, Debug, Default)]
struct Names {
    hosts: Few<String, Standing>,
    /// Whether the chain said that it is over.
    ended: bool,
}

/// What a name is to a lease.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Standing {
    /// It may have it by what was asked last.
    wanted: bool,
    /// It was asked before, and may come up in the cluster yet.
    lingering: bool,
    /// It was deployed with it, and the cluster does not show that yet.
    settled: bool,
    withheld: bool,
    /// The cluster shows that it leads to the lease.
    shown: bool,
    /// The manifest that the cluster keeps lists it.
    kept: bool,
}

impl Names {
    /// Changes what each name is, `also` those that are new; one that is nothing any more is
    /// forgotten.
    fn change<'h>(
        &mut self,
        also: impl IntoIterator<Item = &'h String>,
        mut change: impl FnMut(&str, &mut Standing),
    ) {
        for host in also {
            if !self.hosts.contains_key(host) {
                self.hosts.insert(host.clone(), Standing::default());
            }
        }
        self.hosts.retain(|host, standing| {
            change(host, standing);
            *standing != Standing::default()
        });
    }

    /// Those of which something is so.
    fn that(&self, is_so: impl Fn(&Standing) -> bool) -> BTreeSet<String> {
        let found = self.hosts.iter().filter(|(_, standing)| is_so(standing));
        found.map(|(host, _)| host.clone()).collect()
    }
}

impl Hostnames {
    /// Which lease has `host`.
    pub fn holder(&self, host: &str) -> Option<LeaseId> {
        self.names.get(host).and_then(Interest::holder)
    }

    /// Whether `host` leads to `lease`, by what the cluster shows.
    pub fn leads_to(&self, host: &str, lease: LeaseId) -> bool {
        self.names.get(host).is_some_and(|interest| interest.shown.contains_key(&lease))
    }

    /// Whether the chain said that `lease` is over, as long as it still has names.
    pub fn has_ended(&self, lease: LeaseId) -> bool {
        self.leases.get(&lease).is_some_and(|names| names.ended)
    }

    /// What the cluster shows of a lease.
    pub fn see(&mut self, view: &LeaseView) {
        let shown = view.hostnames.iter().map(|name| name.to_lowercase()).collect();
        let waiting = view.held.as_ref().filter(|held| !held.deployed && !view.terminating);
        let kept = waiting.map(|held| declared(&held.group).collect()).unwrap_or_default();
        self.show(view.id, &shown, &kept);
    }

    /// Everything that the cluster shows; what is not in it is not there.
    pub fn see_all<'v>(&mut self, views: impl IntoIterator<Item = &'v LeaseView>) {
        let mut absent: BTreeSet<LeaseId> = self.leases.keys().copied().collect();
        for view in views {
            absent.remove(&view.id);
            self.see(view);
        }
        absent.into_iter().for_each(|lease| self.gone(lease));
    }

    /// Nothing of the lease is in the cluster. If it has ended, its names are free.
    pub fn gone(&mut self, lease: LeaseId) {
        self.show(lease, &BTreeSet::new(), &BTreeSet::new());
        if self.leases.get(&lease).is_some_and(|names| names.ended) {
            self.forget(lease);
        }
    }

    /// The chain says that the lease is over. It keeps its names until nothing of it is left.
    pub fn end(&mut self, lease: LeaseId) {
        let names = self.leases.entry(lease).or_default();
        names.ended = true;
        names.change([], |_, standing| standing.withheld = false);
        self.tidy(lease);
    }

    /// The lease shall have `hosts`, and no others once it is deployed. Returns those that it may
    /// not have, because another group has them.
    pub fn ask(&mut self, lease: LeaseId, hosts: BTreeSet<String>) -> Vec<String> {
        let (own, withheld): (BTreeSet<_>, BTreeSet<_>) = hosts
            .into_iter()
            .partition(|host| self.holder(host).is_none_or(|holder| same_group(holder, lease)));
        own.iter().for_each(|host| self.grant(host, lease));
        let names = self.leases.entry(lease).or_default();
        names.change(own.iter().chain(&withheld), |host, standing| {
            standing.lingering |= standing.wanted;
            standing.wanted = own.contains(host);
            standing.withheld = withheld.contains(host);
        });
        withheld.into_iter().collect()
    }

    /// What was asked last was refused: the lease has what it had `before`.
    pub fn refuse(&mut self, lease: LeaseId, before: &BTreeSet<String>) {
        let Some(names) = self.leases.get_mut(&lease) else { return };
        let dropped =
            names.that(|standing| standing.wanted && !standing.lingering && !standing.settled);
        names.change([], |host, standing| {
            let had = standing.lingering && before.contains(host);
            standing.withheld = false;
            standing.wanted = had || (standing.wanted && standing.settled);
        });
        self.free(lease, &dropped);
    }

    /// Nothing that was asked earlier may come up in the cluster, but for what the lease had `before`.
    pub fn stop_lingering(&mut self, lease: LeaseId, before: &BTreeSet<String>) {
        let Some(names) = self.leases.get_mut(&lease) else { return };
        let dropped =
            names.that(|standing| standing.lingering && !standing.wanted && !standing.settled);
        let dropped = dropped.difference(before).cloned().collect();
        names.change([], |host, standing| standing.lingering &= before.contains(host));
        self.free(lease, &dropped);
    }

    /// The cluster did what was asked: only `hosts` lead to the lease.
    pub fn settle(&mut self, lease: LeaseId, hosts: &BTreeSet<String>) {
        let Some(names) = self.leases.get_mut(&lease) else { return };
        // Something else was asked meanwhile: both are possible until that one is done.
        if names.that(|standing| standing.wanted) != *hosts {
            return;
        }
        let dropped = names.that(|standing| standing.lingering && !standing.wanted);
        names.change([], |_, standing| {
            (standing.lingering, standing.settled) = (false, standing.wanted);
        });
        self.free(lease, &dropped);
    }

    /// Gives `host` to another lease of its owner. Returns whose it was.
    pub fn transfer(&mut self, host: &str, to: LeaseId) -> Option<LeaseId> {
        let from = self.holder(host).filter(|from| !same_group(*from, to));
        self.grant(host, to);
        let names = self.leases.entry(to).or_default();
        names.change([&host.to_owned()], |name, standing| {
            if name == host {
                (standing.wanted, standing.withheld) = (true, false);
            }
        });
        from
    }

    /// Gives names that nobody has any more to leases from which they were withheld. Returns
    /// which were given. Only those that asked since the start wait: a start changes nothing in
    /// the cluster, and the tenant can still move the name.
    pub fn give_freed(&mut self) -> Vec<(LeaseId, String)> {
        let mut given = Vec::new();
        for (lease, names) in &self.leases {
            let withheld = names.hosts.iter().filter(|(_, standing)| standing.withheld);
            let free = withheld.filter(|(host, _)| self.holder(host).is_none());
            given.extend(free.map(|(host, _)| (*lease, host.clone())));
        }
        // Two may have waited for the same name.
        given.retain(|(lease, host)| {
            let free = self.holder(host).is_none();
            if free {
                self.transfer(host, *lease);
            }
            free
        });
        given
    }

    fn grant(&mut self, host: &str, lease: LeaseId) {
        let interest = self.names.entry(host.to_owned()).or_default();
        let before = interest.asked.replace(lease).filter(|before| *before != lease);
        if let Some(names) = before.and_then(|before| self.leases.get_mut(&before)) {
            names.change([], |name, standing| {
                if name == host {
                    (standing.wanted, standing.lingering, standing.settled) = (false, false, false);
                }
            });
        }
    }

    /// Drops what was asked for.
    fn free(&mut self, lease: LeaseId, hosts: &BTreeSet<String>) {
        for host in hosts {
            self.interest(host, |interest| {
                interest.asked = interest.asked.filter(|holder| *holder != lease);
            });
        }
    }

    fn forget(&mut self, lease: LeaseId) {
        if let Some(names) = self.leases.remove(&lease) {
            self.free(lease, &names.that(|standing| standing.wanted || standing.lingering));
        }
    }

    fn show(&mut self, lease: LeaseId, shown: &BTreeSet<String>, kept: &BTreeSet<String>) {
        let names = self.leases.entry(lease).or_default();
        let shown_before = names.that(|standing| standing.shown);
        let kept_before = names.that(|standing| standing.kept);
        names.change(shown.iter().chain(kept), |host, standing| {
            (standing.shown, standing.kept) = (shown.contains(host), kept.contains(host));
            standing.settled &= !standing.shown;
        });
        for host in shown_before.difference(shown) {
            self.interest(host, |interest| interest.shown.remove(&lease));
        }
        for host in kept_before.difference(kept) {
            self.interest(host, |interest| interest.kept.remove(&lease));
        }
        for host in shown.difference(&shown_before) {
            self.interest(host, |interest| interest.shown.insert(lease, ()));
        }
        for host in kept.difference(&kept_before) {
            self.interest(host, |interest| interest.kept.insert(lease, ()));
        }
        self.tidy(lease);
    }

    /// A lease without any name is not remembered.
    fn tidy(&mut self, lease: LeaseId) {
        if self.leases.get(&lease).is_some_and(|names| names.hosts.is_empty()) {
            self.leases.remove(&lease);
        }
    }

    /// Changes who wants a name; one that nobody wants is not remembered.
    fn interest<T>(&mut self, host: &str, change: impl FnOnce(&mut Interest) -> T) {
        let interest = self.names.entry(host.to_owned()).or_default();
        change(interest);
        if interest.is_none() {
            self.names.remove(host);
        }
    }
}

/// The generated hosts of all services of `group` that are served by name.
pub(crate) fn generated_hosts(lease: LeaseId, group: &Group, domain: &str) -> BTreeSet<String> {
    let by_name = group
        .services
        .iter()
        .filter(|service| service.expose.iter().flatten().any(ServiceExpose::is_ingress));
    by_name.map(|service| generated_host(lease, &service.name, domain)).collect()
}

/// Whether what belongs to the one belongs to the other.
pub(crate) fn same_group(a: LeaseId, b: LeaseId) -> bool {
    a.group_id() == b.group_id()
}

/// All hostnames that a group lists, in lower case.
pub(crate) fn declared(group: &akash_sdl::manifest::Group) -> impl Iterator<Item = String> + '_ {
    let exposes = group.services.iter().flat_map(|service| service.expose.iter().flatten());
    exposes.flat_map(|expose| expose.hosts.iter().flatten()).map(|host| host.to_lowercase())
}

#[cfg(test)]
mod tests;

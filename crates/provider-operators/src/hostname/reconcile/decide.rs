//! What is to be done about one host, from all that is known of it.

use akash_types::LeaseId;
use akash_types::hostname::may_move;
use kube_access::merge::{Merged, Occasion, merge};
use provider_crd::names;

use super::filters::Step;
use super::index::HostIndex;
use super::state::ExistingRoute;
use super::{Decision, Refusal, Waits, Write};
use crate::hostname::claim::Claim;
use crate::hostname::settings::Implementation;
use crate::hostname::{build, name};

impl HostIndex {
    /// What is to be done about a host.
    ///
    /// A route of another lease goes before the new one comes: controllers refuse a name that is
    /// there twice. A route of the other kind goes after it: until then, it serves.
    pub fn decide(&self, host: &str) -> Decision {
        if let Some(error) = self.unreadable(host) {
            return Decision::Refused(error.clone().into());
        }
        let Some(claim) = self.holder(host) else {
            return self.nobodys(host);
        };
        if let Err(error) = name::check(host, &self.settings().blocked) {
            return Decision::Refused(error.into());
        }
        if let Some(held) = self.held_by_another(claim) {
            return Decision::Refused(held);
        }
        let namespace = names::lease_namespace(&claim.lease);
        let exposed = match self.exposed(&namespace) {
            Some(exposed) => exposed.port(&claim.service, claim.port),
            None => return Decision::Waits(Waits::Manifest),
        };
        let options = match exposed {
            Ok(options) => options,
            Err(closed) => return Decision::Waits(Waits::Closed(closed)),
        };
        let routes = &self.settings().routes;
        let is_ours = |found: &&ExistingRoute| found.kind == routes.kind();
        let mut elsewhere =
            self.found(host).filter(is_ours).filter(|it| it.shown.namespace != namespace);
        if let Some(found) = elsewhere.next() {
            return remove(found);
        }
        let there = self.found(host).filter(is_ours).find(|it| it.shown.namespace == namespace);
        if let Some(found) = there.filter(|found| found.is_ending) {
            return ending(found);
        }
        let mut wanted = build::route(claim, options, routes);
        let uses_filters = self.uses_filters();
        if uses_filters {
            match self.step(claim, options, there, build::without_annotations(wanted)) {
                Step::Decided(decision) => return decision,
                Step::Route(route) => wanted = route,
            }
        } else if matches!(self.implementation, Implementation::Other(_)) {
            wanted = build::with_timeouts(wanted, options);
        }
        if let Some(found) = there {
            build::keep_others(&mut wanted, &found.shown.json(found.kind), uses_filters);
        }
        match there {
            None => {
                return Decision::Write(Write::Create {
                    kind: routes.kind(),
                    namespace,
                    object: wanted,
                });
            }
            Some(found) => match merge(&found.shown.json(found.kind), &wanted, Occasion::Adopt) {
                Err(error) => return Decision::Refused(Refusal::Route(error.to_string())),
                Ok(Merged::Unchanged) => {}
                Ok(Merged::Replace(object)) => {
                    return Decision::Write(Write::Replace {
                        kind: found.kind,
                        namespace,
                        name: name::route_of(host),
                        object,
                    });
                }
            },
        }
        let is_older =
            |found: &&ExistingRoute| found.kind == routes.other_kind() && !found.is_ending;
        match self.found(host).find(is_older) {
            Some(found) => remove(found),
            None => Decision::Served(claim.clone()),
        }
    }

    /// Whose host it is: who has it keeps it; else the one whose name says so, else the first.
    pub(super) fn holder(&self, host: &str) -> Option<&Claim> {
        let kind = self.settings().routes.kind();
        let has =
            |claim: &Claim| self.found(host).any(|it| it.kind == kind && it.lease == claim.lease);
        self.claims(host).min_by_key(|claim| {
            (!has(claim), claim.object != host, claim.since, claim.object.as_str())
        })
    }

    /// Hosts move between leases of one tenant. From one tenant to another only once the first asks
    /// for it no longer.
    fn held_by_another(&self, claim: &Claim) -> Option<Refusal> {
        let others = |found: &&ExistingRoute| !may_move(found.lease, claim.lease);
        let asks = |found: &&ExistingRoute| {
            self.exposed(&found.shown.namespace)
                .is_some_and(|exposed| exposed.asks_for(&claim.host))
        };
        let held = self.found(&claim.host).filter(others).find(asks).map(|found| found.lease);
        let by = held.or_else(|| self.covered_by_another(claim))?;
        Some(Refusal::Held { host: claim.host.clone(), by })
    }

    /// Who was given all names of a domain keeps those that other tenants ask for later.
    fn covered_by_another(&self, claim: &Claim) -> Option<LeaseId> {
        let age = |claim: &Claim| (claim.since, claim.object.clone());
        let patterns = self.claimed.range("*.".to_owned().."*/".to_owned());
        let covering = patterns.filter(|(pattern, _)| name::covers(pattern, &claim.host));
        let holders = covering.filter_map(|(pattern, _)| self.holder(pattern));
        let mut others = holders.filter(|other| !may_move(other.lease, claim.lease));
        others.find(|other| age(other) < age(claim)).map(|other| other.lease)
    }

    /// Nobody wants it: what is there goes, if nobody can be known to want it.
    fn nobodys(&self, host: &str) -> Decision {
        let Some(found) = self.found(host).next() else {
            return Decision::Absent;
        };
        let provider = found.lease.provider();
        if !self.has_seen(&provider) {
            return Decision::Waits(Waits::Evidence { provider: provider.to_string() });
        }
        let left = self.found(host).find(|found| !found.is_ending).unwrap_or(found);
        remove(left)
    }
}

fn remove(found: &ExistingRoute) -> Decision {
    if found.is_ending {
        return ending(found);
    }
    Decision::Write(Write::Delete {
        kind: found.kind,
        namespace: found.shown.namespace.clone(),
        name: found.shown.name.clone(),
        exactly: found.exactly(),
    })
}

fn ending(found: &ExistingRoute) -> Decision {
    let namespace = found.shown.namespace.clone();
    Decision::Waits(Waits::Ending { kind: found.kind.name, namespace })
}

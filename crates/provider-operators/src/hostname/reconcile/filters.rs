//! Filters of directives, for routes of NGINX Gateway Fabric.
//!
//! ```text
//!  no route ──▶ route that serves nothing ──▶ filter ──▶ accepted ──▶ route with its filter
//!               (the filter needs its UID)      │
//!                                               └─ not in time ──▶ route without it, and why
//! ```
//!
//! A route that names a filter which the gateway does not accept answers nothing, so a route names
//! one only once it is accepted. Where directives are switched off no filter ever is; after the
//! first one that waited in vain, routes do not wait any more.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use kube_access::ResourceKind;
use kube_access::follow::CachedObject;
use kube_access::merge::{Merged, Occasion, merge};
use provider_crd::names;
use serde_json::Value;

use super::index::HostIndex;
use super::state::ExistingRoute;
use super::{Decision, Moment, Refusal, Waits, Write};
use crate::hostname::claim::Claim;
use crate::hostname::exposed::HttpOptions;
use crate::hostname::settings::Implementation;
use crate::hostname::{build, name};

#[derive(Clone, Debug, Default)]
pub(super) struct Filters {
    /// By host and namespace.
    there: BTreeMap<(String, String), Filter>,
    /// Whether the cluster has such objects; `None` until it is known.
    are_served: Option<bool>,
    /// Whether one waited in vain since the last one was accepted.
    fail: bool,
    /// Hosts that wait for theirs, and since when.
    waiting: BTreeMap<String, Duration>,
    /// Hosts that waited in vain.
    overdue: BTreeSet<String>,
}

#[derive(Clone, Debug)]
struct Filter {
    shown: CachedObject,
    is_accepted: bool,
}

/// What a route lacks although it serves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Condition {
    /// Its name, which does not change.
    pub name: &'static str,
    pub why: String,
    /// Options that the tenant set and that are not carried out.
    pub options: Vec<&'static str>,
}

/// What comes next of a route with a filter.
pub(super) enum Step {
    Decided(Decision),
    Route(Value),
}

impl HostIndex {
    /// Which program serves the gateway.
    pub fn serves(&mut self, implementation: Implementation) {
        self.implementation = implementation;
        self.dirty.extend(self.claimed.keys().cloned());
    }

    /// Filters cannot be seen: the cluster has none, or does not let us.
    pub fn has_no_filters(&mut self) {
        if self.filters.are_served != Some(false) {
            self.filters.are_served = Some(false);
            self.dirty.extend(self.claimed.keys().cloned());
        }
    }

    /// Whether what routes are made of is known: which filters there are, where there are any.
    pub(super) fn filters_are_known(&self) -> bool {
        self.implementation != Implementation::Nginx || self.filters.are_served.is_some()
    }

    pub fn needs_filters(&self) -> bool {
        self.implementation == Implementation::Nginx
    }

    pub fn uses_filters(&self) -> bool {
        self.implementation == Implementation::Nginx && self.filters.are_served == Some(true)
    }

    pub(super) fn all_filters(&mut self, shown: Vec<CachedObject>) {
        let gone = std::mem::take(&mut self.filters.there);
        if self.filters.are_served != Some(true) {
            self.filters.are_served = Some(true);
            self.dirty.extend(self.claimed.keys().cloned());
        }
        for shown in shown {
            self.is_filter(shown);
        }
        for (host, _) in gone.into_keys() {
            self.mark(host);
        }
    }

    /// A filter came or changed.
    pub(super) fn is_filter(&mut self, shown: CachedObject) {
        let host = name::host_of(&shown.name);
        let key = (host.clone(), shown.namespace.clone());
        let known = self.filters.there.get(&key);
        let older = |known: &Filter| matches!((shown.number(), known.shown.number()), (Some(new), Some(old)) if new < old);
        if known.is_some_and(older) {
            return;
        }
        let is_accepted = is_accepted(&shown.json(ResourceKind::SNIPPETS_FILTER));
        let was_accepted = known.is_some_and(|known| known.is_accepted);
        self.filters.there.insert(key, Filter { shown, is_accepted });
        if is_accepted && !was_accepted {
            self.filters.fail = false;
            self.filters.waiting.remove(&host);
            self.filters.overdue.remove(&host);
            // What is wanted of the route is another thing now.
            self.conflicts.forget(&host);
        }
        self.mark(host);
    }

    pub(super) fn filter_gone(&mut self, shown: &CachedObject) {
        let host = name::host_of(&shown.name);
        self.filters.there.remove(&(host.clone(), shown.namespace.clone()));
        self.mark(host);
    }

    /// What is wanted of a host changed: its filter has its time again.
    pub(super) fn forget_waiting(&mut self, host: &str) {
        self.filters.waiting.remove(host);
        self.filters.overdue.remove(host);
    }

    /// A host waits for its filter from now on; until when.
    pub(super) fn waits_for_filter(&mut self, host: &str, now: Moment) -> Duration {
        let since = *self.filters.waiting.entry(host.to_owned()).or_insert(now.since_start);
        since.saturating_add(self.settings.filter_patience)
    }

    /// Whether a host waited for its filter long enough, which is noted then.
    pub(super) fn has_waited(&mut self, host: &str, now: Moment) -> bool {
        let patience = self.settings.filter_patience;
        let since = self.filters.waiting.get(host);
        let is_over = since.is_some_and(|since| now.since_start >= since.saturating_add(patience));
        if is_over {
            self.filters.waiting.remove(host);
            self.filters.overdue.insert(host.to_owned());
            let mut others = self.filters.there.values();
            self.filters.fail = !others.any(|filter| filter.is_accepted);
        }
        is_over
    }

    /// What comes next of a route that shall have a filter.
    pub(super) fn step(
        &self,
        claim: &Claim,
        options: &HttpOptions,
        there: Option<&ExistingRoute>,
        wanted: Value,
    ) -> Step {
        let Filters { there: filters, fail, overdue, .. } = &self.filters;
        let Some(route) = there else {
            return Step::Route(if *fail { wanted } else { build::detached(wanted) });
        };
        let (kind, namespace) =
            (ResourceKind::SNIPPETS_FILTER, names::lease_namespace(&claim.lease));
        let filter = build::snippets_filter(claim, options, &route.shown.uid);
        let write = |write| Step::Decided(Decision::Write(write));
        let Some(known) = filters.get(&(claim.host.clone(), namespace.clone())) else {
            return write(Write::Create { kind, namespace, object: filter });
        };
        if known.shown.is_ending {
            return Step::Decided(Decision::Waits(Waits::Ending { kind: kind.name, namespace }));
        }
        let name = name::route_of(&claim.host);
        match merge(&known.shown.json(kind), &filter, Occasion::Adopt) {
            Err(error) => Step::Decided(Decision::Refused(Refusal::Route(error.to_string()))),
            Ok(Merged::Replace(object)) => write(Write::Replace { kind, namespace, name, object }),
            Ok(Merged::Unchanged) if known.is_accepted => {
                Step::Route(build::with_filter(wanted, &name))
            }
            Ok(Merged::Unchanged) if *fail || overdue.contains(&claim.host) => Step::Route(wanted),
            Ok(Merged::Unchanged) => Step::Decided(Decision::Waits(Waits::Filter)),
        }
    }

    /// What the route of a host that is served lacks.
    pub(super) fn condition_of(&self, claim: &Claim) -> Option<Condition> {
        let namespace = names::lease_namespace(&claim.lease);
        let options = self.exposed(&namespace)?.port(&claim.service, claim.port).ok()?;
        let mut lacks = build::not_carried_out(options);
        let usual = HttpOptions::default();
        let times = [options.read_timeout, options.send_timeout];
        let all = |mut lacks: Vec<&'static str>| {
            if times != [usual.read_timeout, usual.send_timeout] {
                lacks.extend(["read_timeout", "send_timeout"]);
            }
            lacks
        };
        match &self.implementation {
            Implementation::Unknown => None,
            Implementation::Other(program) => {
                let options = std::mem::take(&mut lacks);
                let why = format!(
                    "routes of the Gateway API cannot say them, and {program} has no other way"
                );
                let name = "OptionsNotCarriedOut";
                (!options.is_empty()).then_some(Condition { name, why, options })
            }
            Implementation::Nginx if !self.uses_filters() => Some(Condition {
                name: "SnippetsUnavailable",
                why: "the cluster has no SnippetsFilter, or does not let the operator see it"
                    .to_owned(),
                options: all(lacks),
            }),
            Implementation::Nginx => {
                let key = (claim.host.clone(), namespace);
                let is_accepted = self.filters.there.get(&key).is_some_and(|it| it.is_accepted);
                (!is_accepted).then(|| Condition {
                    name: "SnippetsNotAccepted",
                    why: "the gateway did not accept the SnippetsFilter of the route: start NGINX \
                          Gateway Fabric with --snippets"
                        .to_owned(),
                    options: all(lacks),
                })
            }
        }
    }
}

/// Whether a gateway accepts a filter as it is now.
fn is_accepted(filter: &Value) -> bool {
    let generation = filter.pointer("/metadata/generation").and_then(Value::as_u64);
    let controllers = filter.pointer("/status/controllers").and_then(Value::as_array);
    let conditions = controllers
        .into_iter()
        .flatten()
        .filter_map(|controller| controller.get("conditions").and_then(Value::as_array));
    conditions.flatten().any(|condition| {
        let text = |key: &str| condition.get(key).and_then(Value::as_str);
        let seen = condition.get("observedGeneration").and_then(Value::as_u64);
        text("type") == Some("Accepted") && text("status") == Some("True") && seen == generation
    })
}

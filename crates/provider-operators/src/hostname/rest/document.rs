//! The documents, with the keys that the Go operator gives them.

use std::collections::BTreeMap;

use akash_types::LeaseId;
use provider_crd::names;
use serde::Serialize;

use crate::hostname::backends::Answers;
use crate::hostname::claim::Claim;
use crate::hostname::reconcile::{HostIndex, Moment, State};

#[derive(Serialize)]
#[serde(rename_all = "PascalCase")]
struct Managed {
    #[serde(rename = "LeaseID")]
    lease_id: Lease,
    namespace: String,
    external_port: u32,
    service_name: String,
    last_update: String,
    /// Not of the Go operator: how the host is, and how many answer, where that is known.
    state: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    ready_backends: Option<u32>,
    /// What its route lacks although it serves: a name, and why.
    #[serde(skip_serializing_if = "Option::is_none")]
    condition: Option<Condition>,
}

#[derive(Serialize)]
#[serde(rename_all = "PascalCase")]
struct Condition {
    name: &'static str,
    message: String,
    options: Vec<&'static str>,
}

#[derive(Serialize)]
struct Lease {
    owner: String,
    dseq: u64,
    gseq: u32,
    oseq: u32,
    provider: String,
    bseq: u32,
}

#[derive(Serialize)]
#[serde(rename_all = "kebab-case")]
struct Ignored {
    hostnames: Vec<String>,
    last_error: String,
    last_error_type: &'static str,
    failed_at: String,
    failure_count: u32,
    namespace: String,
}

/// Hosts that have their route; `None` if none has.
pub(super) fn managed(index: &HostIndex) -> Option<String> {
    let managed = |host: &str, claim: &Claim, since| Managed {
        lease_id: lease(&claim.lease),
        namespace: names::lease_namespace(&claim.lease),
        external_port: claim.port,
        service_name: claim.service.clone(),
        last_update: go_time(since),
        state: index.state(host).unwrap_or(State::Pending).as_str(),
        ready_backends: match index.answers(host) {
            Some(Answers::Ready(count)) => Some(count),
            Some(Answers::Nobody) => Some(0),
            Some(Answers::Unknown) | None => None,
        },
        condition: index.condition(host).map(|it| Condition {
            name: it.name,
            message: it.why.clone(),
            options: it.options.clone(),
        }),
    };
    let all: BTreeMap<_, _> =
        index.served().map(|(host, it)| (host, managed(host, &it.claim, it.since))).collect();
    (!all.is_empty()).then(|| serde_json::to_string(&all).ok()).flatten()
}

/// Leases with hosts that have no route, or not the one they should; `None` if there are none.
pub(super) fn ignored(index: &HostIndex) -> Option<String> {
    let failed = index.retries().map(|(host, it)| (host, (&it.why, it.kind, it.at, it.failures)));
    let idle = index.reasons().map(|(host, it)| (host, (&it.why, it.kind, it.since, 1)));
    let wrong: BTreeMap<_, _> = idle.chain(failed).collect();
    let mut all: BTreeMap<String, Ignored> = BTreeMap::new();
    for claim in index.all_claims() {
        let lost = index.lost(claim).map(|it| (&it.why, it.kind, it.since, 1));
        let of_host = || wrong.get(claim.host.as_str()).copied().filter(|_| index.counts(claim));
        let found = lost.or_else(of_host);
        let Some((why, kind, at, failures)) = found else {
            continue;
        };
        let entry = all.entry(claim.lease.to_string()).or_insert_with(|| Ignored {
            hostnames: Vec::new(),
            last_error: why.clone(),
            last_error_type: kind,
            failed_at: go_time(at),
            failure_count: 0,
            namespace: names::lease_namespace(&claim.lease),
        });
        entry.hostnames.push(claim.host.clone());
        entry.failure_count = entry.failure_count.saturating_add(failures);
    }
    (!all.is_empty()).then(|| serde_json::to_string(&all).ok()).flatten()
}

fn lease(id: &LeaseId) -> Lease {
    Lease {
        owner: id.owner().to_string(),
        dseq: id.dseq(),
        gseq: id.gseq(),
        oseq: id.oseq(),
        provider: id.provider().to_string(),
        bseq: 0,
    }
}

/// A moment as Go prints it, with the clock that does not go back.
fn go_time(moment: Moment) -> String {
    let date = moment.time.strftime("%Y-%m-%d %H:%M:%S%.f");
    let (seconds, nanos) = (moment.since_start.as_secs(), moment.since_start.subsec_nanos());
    format!("{date} +0000 UTC m=+{seconds}.{nanos:09}")
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn moments_read_as_in_go() {
        let moment = Moment {
            since_start: Duration::new(126, 47_024_206),
            time: "2026-11-15T19:44:49.098529983Z".parse().unwrap(),
        };
        let recorded = "2026-11-15 19:44:49.098529983 +0000 UTC m=+126.047024206";
        assert_eq!(go_time(moment), recorded);
    }
}

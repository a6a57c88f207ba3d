//! Names and addresses that a tenant moves from one of its leases to another.
//!
//! The destination's manifest lists the name already and was deployed without it. Moving it means
//! to deploy the destination again, now with the name, and then the lease that had it, without.
//! The destination goes first and does not wait for the other, which may be what the tenant moves
//! away from because it is broken. All of it may be repeated.
//!
//! The cluster knows which lease has the address of an endpoint. A deployment of the destination
//! names the endpoints to take ([`Workload::endpoints_to_take`]), and the cluster moves their
//! addresses with it. Where the cluster hands out no addresses, the engine refuses before this
//! module is asked.

use std::collections::BTreeSet;
use std::sync::Arc;

use akash_sdl::manifest::Group;

use akash_types::{GroupId, LeaseId, hostname};

use super::hostnames::{declared, same_group};
use super::input::Turn;
use super::subject::Waiter;
use super::submissions::{HoldAnswer, Submissions};
use super::{ManifestAction, MigrationAnswer, MigrationRefusal, RequestId};
use crate::cluster::command::{CommandFailure, Workload};
use crate::effect::Reply;
use crate::journal::Decision;

/// A request that waits for the destination to be deployed.
#[derive(Clone, Debug)]
pub(super) struct Migration {
    pub(super) waiter: Waiter,
    destination: LeaseId,
    names: Vec<String>,
    kind: Kind,
}

#[derive(Clone, Debug)]
enum Kind {
    Hostnames { from: BTreeSet<LeaseId> },
    Endpoints,
}

impl Migration {
    /// Whether deploying `workload` makes the names lead to it; one that was under way when the
    /// request came may still do without.
    fn is_done_by(&self, workload: &Workload) -> bool {
        let in_it = |name: &String| match self.kind {
            Kind::Hostnames { .. } => {
                !workload.withheld.contains(name) && lists_host(&workload.group, name)
            }
            Kind::Endpoints => workload.endpoints_to_take.contains(name),
        };
        self.destination == workload.lease && self.names.iter().all(in_it)
    }

    fn failed(&self, failure: CommandFailure) -> MigrationRefusal {
        match self.kind {
            Kind::Hostnames { .. } => MigrationRefusal::Failed {
                name: self.names.first().cloned().unwrap_or_default(),
                why: failure.to_string(),
            },
            Kind::Endpoints => MigrationRefusal::Cluster(failure),
        }
    }
}

impl Submissions {
    pub(super) fn migrate_hostnames(
        &mut self,
        request: RequestId,
        hostnames: &[String],
        destination: Option<GroupId>,
        turn: &mut Turn<'_>,
    ) {
        let names: Vec<String> = hostnames.iter().map(|name| name.to_lowercase()).collect();
        let found = self
            .destination(&names, destination, turn)
            .and_then(|(lease, group)| may_move(&names, lease, &group, turn).map(|()| lease));
        match found {
            Err(refusal) => turn.reply_migration(request, MigrationAnswer::Refused(refusal)),
            Ok(lease) if names.iter().all(|name| turn.is_there(name, lease)) => {
                turn.reply_migration(request, MigrationAnswer::Transferred(names));
            }
            Ok(lease) => {
                let mut from = BTreeSet::new();
                for hostname in &names {
                    let before = turn.hostnames.transfer(hostname, lease);
                    from.extend(before);
                    turn.note_lease(lease, Decision::Moved(hostname.clone()));
                }
                self.begin(request, lease, names, Kind::Hostnames { from }, turn);
            }
        }
    }

    pub(super) fn migrate_endpoints(
        &mut self,
        request: RequestId,
        endpoints: Vec<String>,
        destination: Option<GroupId>,
        turn: &mut Turn<'_>,
    ) {
        let found = self.destination(&endpoints, destination, turn).and_then(|(lease, group)| {
            match endpoints.iter().find(|name| !has_endpoint(&group, name)) {
                Some(name) => Err(MigrationRefusal::EndpointNotUsed(name.clone())),
                None => Ok(lease),
            }
        });
        match found {
            Err(refusal) => turn.reply_migration(request, MigrationAnswer::Refused(refusal)),
            Ok(lease) => self.begin(request, lease, endpoints, Kind::Endpoints, turn),
        }
    }

    /// Endpoints that a deployment of `group` has to take for the lease, because their owner asked
    /// for it. Every deployment asks.
    pub fn endpoints_to_take(&self, lease: LeaseId, group: &Group) -> Vec<String> {
        let to_here =
            |it: &&Migration| it.destination == lease && matches!(it.kind, Kind::Endpoints);
        let names = self.migrations.iter().filter(to_here).flat_map(|it| &it.names);
        let names: BTreeSet<&String> = names.filter(|name| has_endpoint(group, name)).collect();
        names.into_iter().cloned().collect()
    }

    fn begin(
        &mut self,
        request: RequestId,
        destination: LeaseId,
        names: Vec<String>,
        kind: Kind,
        turn: &mut Turn<'_>,
    ) {
        let waiter = self.waiter(request, turn.now);
        self.migrations.push(Migration { waiter, destination, names, kind });
        turn.actions.push(ManifestAction::Redeploy(destination));
    }

    /// The lease to move to, and what it shall run.
    fn destination(
        &self,
        names: &[String],
        destination: Option<GroupId>,
        turn: &Turn<'_>,
    ) -> Result<(LeaseId, Arc<Group>), MigrationRefusal> {
        if names.is_empty() {
            return Err(MigrationRefusal::NothingNamed);
        }
        let newest = destination.and_then(|group| self.newest(group, turn));
        newest.ok_or(MigrationRefusal::NoDestination)
    }

    fn newest(&self, group: GroupId, turn: &Turn<'_>) -> Option<(LeaseId, Arc<Group>)> {
        let living =
            |lease: &LeaseId| lease.group_id() == group && !turn.hostnames.has_ended(*lease);
        let told = self
            .told
            .iter()
            .filter(|(lease, told)| living(lease) && told.answer == HoldAnswer::Held);
        let told = told.map(|(lease, told)| (*lease, &told.workload.group)).next_back();
        let shown = turn.leases.iter().filter(|(lease, view)| living(lease) && !view.terminating);
        let shown = shown
            .filter_map(|(lease, view)| Some((*lease, &view.held.as_ref()?.group)))
            .next_back();
        // Of the same lease, what it was told is newer than what the cluster shows.
        let newest = match (told, shown) {
            (Some(told), Some(shown)) if shown.0 > told.0 => shown,
            (told, shown) => told.or(shown)?,
        };
        Some((newest.0, Arc::clone(newest.1)))
    }

    /// A lease was deployed: its names are settled, and requests that waited for it are answered.
    pub(super) fn deploy_ended(
        &mut self,
        workload: &Workload,
        result: &Result<(), CommandFailure>,
        turn: &mut Turn<'_>,
    ) {
        if result.is_ok() {
            let hosts = self.exposed(workload);
            turn.hostnames.settle(workload.lease, &hosts);
        }
        self.correct(workload, turn);
        let ended: Vec<Migration> =
            self.migrations.extract_if(.., |migration| migration.is_done_by(workload)).collect();
        for migration in ended {
            let answer = match result {
                Ok(()) => MigrationAnswer::Transferred(migration.names.clone()),
                Err(failure) => MigrationAnswer::Refused(migration.failed(failure.clone())),
            };
            turn.reply_migration(migration.waiter.request, answer);
            if let (Ok(()), Kind::Hostnames { from }) = (result, migration.kind) {
                turn.actions.extend(from.into_iter().map(ManifestAction::Redeploy));
            }
        }
    }

    /// A deployment that began before a name was moved away may have taken it back. Then both
    /// leases are deployed again, in whichever order: each says which names it has.
    fn correct(&self, workload: &Workload, turn: &mut Turn<'_>) {
        let mut again = BTreeSet::new();
        for host in self.exposed(workload) {
            let holder = turn.hostnames.holder(&host);
            if let Some(holder) = holder.filter(|holder| !same_group(*holder, workload.lease)) {
                again.extend([workload.lease, holder]);
            }
        }
        turn.actions.extend(again.into_iter().map(ManifestAction::Redeploy));
    }

    /// The names that lead to a lease once `workload` is deployed.
    fn exposed(&self, workload: &Workload) -> BTreeSet<String> {
        let mut hosts = self.hosts(workload.lease, &workload.group);
        hosts.retain(|host| !workload.withheld.contains(host));
        hosts
    }

    pub(super) fn abandon_migrations_to(&mut self, lease: LeaseId, turn: &mut Turn<'_>) {
        for migration in self.migrations.extract_if(.., |it| it.destination == lease) {
            let answer = MigrationAnswer::Refused(MigrationRefusal::NoDestination);
            turn.reply_migration(migration.waiter.request, answer);
        }
    }

    pub(super) fn expire_migrations(&mut self, turn: &mut Turn<'_>) {
        let now = turn.now;
        for migration in self.migrations.extract_if(.., |it| it.waiter.deadline <= now) {
            let late = CommandFailure::Unavailable("it took too long".to_owned());
            let answer = MigrationAnswer::Refused(migration.failed(late));
            turn.reply_migration(migration.waiter.request, answer);
        }
    }
}

impl Turn<'_> {
    fn reply_migration(&mut self, request: RequestId, answer: MigrationAnswer) {
        self.actions.push(ManifestAction::Reply(request, Reply::Migration(answer)));
    }

    /// Whether the name is the lease's and leads to it: nothing is left to move.
    fn is_there(&self, name: &str, lease: LeaseId) -> bool {
        self.hostnames.holder(name) == Some(lease) && self.hostnames.leads_to(name, lease)
    }
}

fn may_move(
    names: &[String],
    lease: LeaseId,
    group: &Group,
    turn: &Turn<'_>,
) -> Result<(), MigrationRefusal> {
    if let Some(name) = names.iter().find(|name| !lists_host(group, name)) {
        return Err(MigrationRefusal::HostnameNotUsed(name.clone()));
    }
    let of_another = |name: &&String| {
        turn.hostnames.holder(name).is_some_and(|it| !hostname::may_move(it, lease))
    };
    match names.iter().find(of_another) {
        Some(name) => Err(MigrationRefusal::HostnameInUse(name.clone())),
        None => Ok(()),
    }
}

fn lists_host(group: &Group, host: &str) -> bool {
    declared(group).any(|listed| listed == host)
}

fn has_endpoint(group: &Group, name: &str) -> bool {
    let mut exposes = group.services.iter().flat_map(|service| service.expose.iter().flatten());
    !name.is_empty() && exposes.any(|expose| expose.global && expose.ip == name)
}

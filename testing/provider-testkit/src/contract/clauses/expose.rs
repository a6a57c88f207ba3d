//! What leads to a lease.

use std::sync::Arc;

use provider_engine::cluster::command::{Operation, Workload};
use provider_engine::cluster::port::Transport;

use super::super::case::{Case, exposed, new_lease, teardown_of};
use super::super::harness::{Harness, Program};
use super::super::report::{Verdict, holds, same};
use super::status::until_service;

/// Hostnames and forwarded ports lead to the service that asked for them, and stay through updates.
pub async fn hostnames_and_ports_lead_to_services<H: Harness>(harness: &H) -> Verdict {
    let case = Case::new(harness)?;
    let host = format!("host-{}.contract.test", case.lease.dseq());
    let with = |program| {
        let service = exposed(case.service(program, 1), 80, Some(host.clone()), "");
        case.workload(exposed(service, 2222, None, ""))
    };
    case.deploys(&with(Program::Serves)).await?;
    let status = until_service(&case, "hostname and port", |status| {
        status.hostnames.contains(&host) && status.ports.len() == 1
    })
    .await?;
    let ports: Vec<_> = status.ports.iter().map(|port| (port.port, port.transport)).collect();
    same("ports", &ports, &vec![(2222, Transport::Tcp)])?;
    let watch = case.watch().await?;
    let seen = watch.view.leases.get(&case.lease).map(|lease| lease.hostnames.contains(&host));
    same("hostname in the view", &seen, &Some(true))?;
    case.deploys(&with(Program::ServesOther)).await?;
    let updated = until_service(&case, "hostname", |now| now.hostnames.contains(&host)).await?;
    same("ports after an update", &updated.ports, &status.ports)?;
    // A hostname that the next manifest does not ask for is given back.
    let other = format!("other-{host}");
    let service = exposed(case.service(Program::Serves, 1), 80, Some(other.clone()), "");
    case.deploys(&case.workload(service)).await?;
    until_service(&case, "the other hostname", |status| {
        status.hostnames.contains(&other) && !status.hostnames.contains(&host)
    })
    .await?;
    case.clears().await
}

/// A hostname that is withheld from a lease stays at the lease that has it.
pub async fn a_withheld_hostname_stays_where_it_is<H: Harness>(harness: &H) -> Verdict {
    let case = Case::new(harness)?;
    let host = format!("host-{}.contract.test", case.lease.dseq());
    let service = exposed(case.service(Program::Serves, 1), 80, Some(host.clone()), "");
    let workload = case.workload(service);
    case.deploys(&workload).await?;
    let other = new_lease()?;
    let second =
        Workload { lease: other, withheld: vec![host.clone()], ..Workload::clone(&workload) };
    case.does(Operation::Deploy(Arc::new(second))).await?;
    let view = case.watch().await?.view;
    let has = |lease| view.leases.get(&lease).is_some_and(|view| view.hostnames.contains(&host));
    holds(has(case.lease) && !has(other), || "the hostname moved".to_owned())?;
    case.does(teardown_of(other)).await?;
    case.clears().await
}

/// A leased address is reported, with the ports that are open at it, and counted in the view.
pub async fn leased_addresses_are_reported<H: Harness>(harness: &H) -> Verdict {
    let case = Case::new(harness)?;
    let endpoint = format!("endpoint-{}", case.lease.dseq());
    let service = exposed(case.service(Program::Serves, 1), 5353, None, &endpoint);
    case.deploys(&case.workload(service)).await?;
    let status = until_service(&case, "an address", |status| status.ips.len() == 1).await?;
    let ports: Vec<_> = status.ips.iter().map(|ip| (ip.port, ip.external_port)).collect();
    same("ports", &ports, &vec![(5353, 5353)])?;
    let watch = case.watch().await?;
    same("in the view", &watch.view.leases.get(&case.lease).map(|lease| lease.ips), &Some(1))?;
    case.clears().await
}

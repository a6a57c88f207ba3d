//! Puts what validation found wrong with groups and manifest back to where it was written.

use akash_types::group_validation::{GroupField, GroupProblem, GroupViolation, validate_groups};

use super::groups::{Built, Origin};
use crate::document::{Document, Reader, Service};
use crate::manifest::{Fault, Violation};
use crate::problem::{Path, Place, Shown};

/// Validates what was built and reports every violation at its source.
pub(crate) fn report_violations<'d>(
    reader: &mut Reader<'d, '_>,
    document: &Document<'d>,
    built: &Built<'d>,
) {
    for violation in validate_groups(&built.groups) {
        report_group(reader, document, built, &violation);
    }
    for violation in built.manifest.violations() {
        report_manifest(reader, document, built, &violation);
    }
}

fn report_group<'d>(
    reader: &mut Reader<'d, '_>,
    document: &Document<'d>,
    built: &Built<'d>,
    violation: &GroupViolation,
) {
    let profiles = Path::ROOT.key("profiles");
    let unit = built
        .origins
        .get(violation.group)
        .and_then(|origins| origins.get(violation.unit.unwrap_or(0)));
    let group = built.groups.get(violation.group).map_or("", |group| group.name.as_str());
    let (Some(origin), false) = (unit, violation.field == GroupField::Groups) else {
        let message = "nothing is deployed";
        let allowed = "deployment: {<service>: {<placement>: {profile: …, count: 1}}}";
        reader.problem_allowing(Path::ROOT.key("deployment"), document.place, message, allowed);
        return;
    };
    let message = describe(violation, group);
    match violation.field {
        GroupField::Price | GroupField::Denom => {
            let placements = profiles.key("placement");
            let placement = placements.key(group);
            let pricing = placement.key("pricing");
            let place = document
                .placement
                .get(group)
                .and_then(|placement| placement.pricing.get(origin.profile))
                .map_or(document.place, |price| price.place);
            reader.problem(pricing.key(origin.profile), place, message);
        }
        GroupField::Count
        | GroupField::TotalCpu
        | GroupField::TotalGpu
        | GroupField::TotalMemory => {
            let deployment = Path::ROOT.key("deployment");
            let service = deployment.key(origin.service);
            let placement = service.key(group);
            reader.problem(placement.key("count"), origin.count.place, message);
        }
        _ => report_profile(reader, document, origin, violation, profiles, message),
    }
}

/// Something wrong with a compute profile.
fn report_profile<'d>(
    reader: &mut Reader<'d, '_>,
    document: &Document<'d>,
    origin: &Origin<'d>,
    violation: &GroupViolation,
    profiles: Path<'_>,
    message: String,
) {
    let compute = profiles.key("compute");
    let profile = compute.key(origin.profile);
    let path = profile.key("resources");
    let Some(resources) =
        document.compute.get(origin.profile).and_then(|compute| compute.resources.as_ref())
    else {
        return;
    };
    let otherwise = resources.place;
    match violation.field {
        GroupField::Cpu => {
            let place = resources.cpu.as_ref().map_or(otherwise, |cpu| cpu.units.place);
            reader.problem(path.key("cpu"), place, message);
        }
        GroupField::Gpu => {
            let place = resources.gpu.as_ref().map_or(otherwise, |gpu| gpu.units.place);
            reader.problem(path.key("gpu"), place, message);
        }
        GroupField::Memory => {
            let place = resources.memory.map_or(otherwise, |memory| memory.place);
            reader.problem(path.key("memory"), place, message);
        }
        GroupField::Storage(index) => {
            let place = resources.storage.get(index).map_or(otherwise, |volume| volume.size.place);
            reader.problem(path.key("storage"), place, message);
        }
        GroupField::StorageList => reader.problem(path.key("storage"), otherwise, message),
        _ => reader.problem(path, otherwise, message),
    }
}

fn describe(violation: &GroupViolation, group: &str) -> String {
    match (&violation.field, &violation.problem) {
        (GroupField::Count, _) => "count is 0, so nothing would run".to_owned(),
        (GroupField::StorageList, _) => {
            "there is no storage; a volume of 5Mi is the least".to_owned()
        }
        (
            field @ (GroupField::TotalCpu | GroupField::TotalGpu | GroupField::TotalMemory),
            problem,
        ) => {
            format!("group {}: {field} {problem}", Shown(group))
        }
        (GroupField::Cpu, problem @ GroupProblem::OutOfRange { .. }) => {
            format!("CPU in thousandths {problem}")
        }
        (field, problem) => format!("{field} {problem}"),
    }
}

fn report_manifest<'d>(
    reader: &mut Reader<'d, '_>,
    document: &Document<'d>,
    built: &Built<'d>,
    violation: &Violation,
) {
    let services = Path::ROOT.key("services");
    let name = violation
        .group
        .and_then(|group| built.manifest.groups.get(group))
        .zip(violation.service)
        .and_then(|(group, service)| group.services.get(service))
        .map(|service| service.name.as_str());
    let service = name.and_then(|name| document.services.get(name));
    let (Some(name), Some(service)) = (name, service) else {
        if violation.fault == Fault::NothingGlobal {
            let message = "zero global services: nothing is reachable from outside";
            let allowed = "at least one expose with to: [{global: true}]";
            reader.problem_allowing(services, document.place, message, allowed);
        }
        // An empty manifest comes from empty groups, which have been reported.
        return;
    };
    let path = services.key(name);
    match &violation.fault {
        Fault::ServiceNameEmpty | Fault::ServiceNameInvalid => reader.problem_allowing(
            path,
            service.name.place,
            format!("service {} name is invalid", Shown(name)),
            "lower-case letters, digits and -, beginning with a letter and not ending with -",
        ),
        Fault::ImageEmpty => reader.problem_allowing(
            path.key("image"),
            service.image.place,
            "service has empty image name",
            "image: nginx:1.25",
        ),
        Fault::EnvName { index, name } => {
            let place = service
                .env
                .as_ref()
                .and_then(|env| env.get(*index))
                .map_or(service.name.place, |entry| entry.place);
            let env = path.key("env");
            let message = format!("defines an env. var. with an invalid name {}", Shown(name));
            let allowed = "NAME=value, where NAME has letters, digits, -, . and _ and does not begin with a digit";
            reader.problem_allowing(env.index(*index), place, message, allowed);
        }
        fault => report_expose(reader, service, built, violation, fault, path),
    }
}

/// Exposes are sorted in the manifest, so the source is found by port and host, not by index.
fn report_expose<'d>(
    reader: &mut Reader<'d, '_>,
    service: &Service<'d>,
    built: &Built<'d>,
    violation: &Violation,
    fault: &Fault,
    path: Path<'_>,
) {
    let index = match fault {
        Fault::Port { expose }
        | Fault::ExternalPort { expose }
        | Fault::HostInvalid { expose, .. }
        | Fault::HostTwice { expose, .. } => *expose,
        // Order and protocol are right by construction.
        _ => return,
    };
    let sorted = violation
        .group
        .and_then(|group| built.manifest.groups.get(group))
        .zip(violation.service)
        .and_then(|(group, service)| group.services.get(service))
        .and_then(|service| service.expose.as_deref()?.get(index));
    let source = service.expose.iter().enumerate().find(|(_, expose)| {
        sorted.is_some_and(|sorted| {
            let hosts = |hosts: &[String]| {
                let own = expose.accept.as_deref().unwrap_or_default();
                own.len() == hosts.len()
                    && own.iter().zip(hosts).all(|(own, host)| own.value == host)
            };
            sorted.port == expose.port.value
                && sorted.external_port == expose.external_port.value
                && hosts(sorted.hosts.as_deref().unwrap_or_default())
        })
    });
    let Some((number, expose)) = source else { return };
    let list = path.key("expose");
    let path = list.index(number);
    let accept = path.key("accept");
    let host_place = |host: usize| -> Place {
        expose
            .accept
            .as_ref()
            .and_then(|hosts| hosts.get(host))
            .map_or(expose.place, |host| host.place)
    };
    match fault {
        Fault::Port { .. } => reader.problem_allowing(
            path.key("port"),
            expose.port.place,
            format!("port {} is out of range", expose.port.value),
            "1 to 65535",
        ),
        Fault::ExternalPort { .. } => reader.problem_allowing(
            path.key("as"),
            expose.external_port.place,
            format!("port {} is out of range", expose.external_port.value),
            "1 to 65535, or 0 for the same as port",
        ),
        Fault::HostInvalid { host, name, .. } => reader.problem_allowing(
            accept.index(*host),
            host_place(*host),
            format!("has invalid hostname {}", Shown(name)),
            "a lower-case DNS name such as www.example.com",
        ),
        Fault::HostTwice { host, name, .. } => reader.problem(
            accept.index(*host),
            host_place(*host),
            format!("hostname {} is duplicated, this is not allowed", Shown(name)),
        ),
        _ => {}
    }
}

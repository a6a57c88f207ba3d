//! What one section of the document says about another.

use std::collections::HashSet;

use super::confidential;
use crate::document::{
    AUTO_GROUP, Credentials, Document, Grammar, Placed, Reader, Resources, Service, Spot,
};
use crate::problem::{Path, Shown};

/// Reports references that lead nowhere and combinations that are not allowed.
pub(crate) fn check_references<'d>(reader: &mut Reader<'d, '_>, document: &Document<'d>) {
    let mut checker = Checker { document, used_endpoints: HashSet::new(), used_ports: Vec::new() };
    let deployment = Path::ROOT.key("deployment");
    for (name, placements) in document.deployment.iter() {
        let path = deployment.key(name.value);
        for (placement, placed) in placements.iter() {
            checker.placed(reader, *name, *placement, placed, path.key(placement.value));
        }
    }
    check_interconnect(reader, document);
    let endpoints = Path::ROOT.key("endpoints");
    for (name, endpoint) in document.endpoints.iter() {
        if !checker.used_endpoints.contains(name.value) {
            let message = format!("endpoint {} declared but never used", Shown(name.value));
            reader.problem_allowing(
                endpoints.key(name.value),
                endpoint.name.place,
                message,
                "remove it, or name it under an expose: to: [{global: true, ip: …}]",
            );
        }
    }
}

struct Checker<'c, 'd> {
    document: &'c Document<'d>,
    used_endpoints: HashSet<&'d str>,
    /// Address, external port and protocol as written, with the service that has them.
    used_ports: Vec<(&'d str, u32, &'d str, &'d str)>,
}

impl<'d> Checker<'_, 'd> {
    fn placed(
        &mut self,
        reader: &mut Reader<'d, '_>,
        name: Spot<&'d str>,
        placement: Spot<&'d str>,
        placed: &Placed<'d>,
        path: Path<'_>,
    ) {
        let document = self.document;
        let profile = placed.profile;
        let compute = document.compute.get(profile.value);
        if compute.is_none() {
            let message = format!("no compute profile named {}", Shown(profile.value));
            reader.problem_allowing(
                path.key("profile"),
                profile.place,
                message,
                document.compute.names(),
            );
        }
        match document.placement.get(placement.value) {
            None => {
                let message = format!("no placement profile named {}", Shown(placement.value));
                reader.problem_allowing(path, placement.place, message, document.placement.names());
            }
            Some(place) if place.pricing.get(profile.value).is_none() => {
                let message = format!(
                    "no pricing for profile {} in placement {}",
                    Shown(profile.value),
                    Shown(placement.value)
                );
                let allowed = format!(
                    "add it: profiles.placement.{}.pricing.{}: {{denom: uact, amount: …}}",
                    placement.value, profile.value
                );
                reader.problem_allowing(path.key("profile"), profile.place, message, allowed);
            }
            Some(_) => {}
        }
        let Some(service) = document.services.get(name.value) else {
            let message = format!("no service profile named {}", Shown(name.value));
            reader.problem_allowing(path, name.place, message, document.services.names());
            return;
        };
        confidential::check(reader, service);
        if let Some(credentials) = service.credentials.as_ref().filter(|it| it.uri.is_empty()) {
            check_credentials(reader, service, credentials);
        }
        self.addresses(reader, service);
        if let Some(compute) = compute {
            match &compute.resources {
                Some(resources) => check_volumes(reader, document.grammar, service, resources),
                None => {
                    let profiles = Path::ROOT.key("profiles");
                    let all = profiles.key("compute");
                    let path = all.key(profile.value);
                    reader.problem_allowing(
                        path,
                        compute.name.place,
                        "this profile has no resources",
                        "resources: {cpu: …, memory: …, storage: …}",
                    );
                }
            }
        }
    }

    fn addresses(&mut self, reader: &mut Reader<'d, '_>, service: &Service<'d>) {
        let services = Path::ROOT.key("services");
        let name = services.key(service.name.value);
        let list = name.key("expose");
        for (index, expose) in service.expose.iter().enumerate() {
            let expose_path = list.index(index);
            let to_path = expose_path.key("to");
            for (number, to) in expose.to.iter().enumerate() {
                let ip = to.ip;
                if ip.value.is_empty() {
                    continue;
                }
                let path = to_path.index(number);
                if !to.global {
                    reader.problem_allowing(
                        path,
                        to.place,
                        "if an IP is declared the directive must be declared as global",
                        "global: true",
                    );
                }
                if self.document.endpoints.get(ip.value).is_none() {
                    let message = format!("no endpoint named {} exists", Shown(ip.value));
                    reader.problem_allowing(
                        path.key("ip"),
                        ip.place,
                        message,
                        self.document.endpoints.names(),
                    );
                    continue;
                }
                self.used_endpoints.insert(ip.value);
                let key = (ip.value, expose.external_port.value, expose.proto.value);
                let other = self.used_ports.iter().find(|(a, b, c, _)| (*a, *b, *c) == key);
                if let Some((.., other)) = other {
                    let message = format!(
                        "IP endpoint {} port: {} protocol: {} already in use by service {}",
                        Shown(ip.value),
                        expose.port.value,
                        Shown(expose.proto.value),
                        Shown(other)
                    );
                    reader.problem(path, expose.place, message);
                }
                self.used_ports.push((key.0, key.1, key.2, service.name.value));
            }
        }
    }
}

/// A placement whose services want an interconnect has to ask for a provider that has one, and
/// names its groups in one way.
fn check_interconnect<'d>(reader: &mut Reader<'d, '_>, document: &Document<'d>) {
    const CAPABILITY: &str = "capabilities/gpu-interconnect";
    let profiles = Path::ROOT.key("profiles");
    let list = profiles.key("placement");
    for (placement, place) in document.placement.iter() {
        let path = list.key(placement.value);
        let (mut implicit, mut explicit) = (None, None);
        for (service, placements) in document.deployment.iter() {
            let Some(placed) = placements.get(placement.value) else { continue };
            let profile = placed.profile;
            let compute = document.compute.get(profile.value);
            let gpu = compute.and_then(|it| it.resources.as_ref()).and_then(|it| it.gpu.as_ref());
            match gpu.map_or("", |gpu| gpu.interconnect_group()) {
                "" => continue,
                AUTO_GROUP => implicit = implicit.or(Some(profile)),
                _ => explicit = explicit.or(Some(profile)),
            }
            let mut asked = place.attributes.iter();
            if !asked.any(|asked| asked.key == CAPABILITY && asked.value == "true") {
                let message = format!(
                    "service {} uses interconnect profile {} under placement {} but placement does \
                     not require {CAPABILITY}=true",
                    Shown(service.value),
                    Shown(profile.value),
                    Shown(placement.value)
                );
                let allowed = format!("attributes: {{{CAPABILITY}: \"true\"}}");
                reader.problem_allowing(path.key("attributes"), placement.place, message, allowed);
            }
        }
        if let (Some(implicit), Some(explicit)) = (implicit, explicit) {
            let message = format!(
                "placement {} mixes implicit `interconnect: []` (profile {}) and explicit \
                 `interconnect: {{ group: ... }}` (profile {}); use one form across the placement",
                Shown(placement.value),
                Shown(implicit.value),
                Shown(explicit.value)
            );
            reader.problem(path, placement.place, message);
        }
    }
}

fn check_credentials(
    reader: &mut Reader<'_, '_>,
    service: &Service<'_>,
    credentials: &Credentials<'_>,
) {
    let services = Path::ROOT.key("services");
    let name = services.key(service.name.value);
    let path = name.key("credentials");
    for (key, label, value) in [
        ("host", "Host", credentials.host),
        ("username", "Username", credentials.username),
        ("password", "Password", credentials.password),
    ] {
        if value.trim().is_empty() {
            let message = format!("service Credentials missing {label}");
            reader.problem_allowing(
                path.key(key),
                credentials.place,
                message,
                "host, username and password are needed",
            );
        }
    }
}

fn check_volumes(
    reader: &mut Reader<'_, '_>,
    grammar: Grammar,
    service: &Service<'_>,
    resources: &Resources<'_>,
) {
    let services = Path::ROOT.key("services");
    let name = services.key(service.name.value);
    let params_path = name.key("params");
    let path = params_path.key("storage");
    let mut mounts: Vec<(&str, &str)> = Vec::new();
    let mounted = service.params.iter().flat_map(|params| params.storage.iter());
    for (volume_name, params) in mounted {
        let path = path.key(volume_name.value);
        let volume = resources.storage.iter().find(|volume| volume.name == volume_name.value);
        let Some(volume) = volume else {
            let message = format!(
                "references to no-existing compute volume named {}",
                Shown(volume_name.value)
            );
            let names: Vec<&str> = resources.storage.iter().map(|volume| volume.name).collect();
            reader.problem_allowing(
                path,
                volume_name.place,
                message,
                format!("the profile has: {}", names.join(", ")),
            );
            continue;
        };
        let mount = params.mount;
        if !mount.value.starts_with('/') {
            let message = format!("mount {} is not an absolute path", Shown(mount.value));
            reader.problem_allowing(
                path.key("mount"),
                mount.place,
                message,
                "expected absolute path such as /data",
            );
        } else if let Some((_, other)) = mounts.iter().find(|(path, _)| *path == mount.value) {
            let message = format!(
                "duplicated mount point: mount {} already in use by volume {}",
                Shown(mount.value),
                Shown(other)
            );
            reader.problem(path.key("mount"), mount.place, message);
        }
        mounts.push((mount.value, volume_name.value));
        let is_persistent =
            volume.attributes.iter().any(|a| a.key == "persistent" && a.value == "true");
        confidential::check_key_ref(reader, params.key_ref, is_persistent, path.key("keyRef"));
        let is_ram = volume.attributes.iter().any(|a| a.key == "class" && a.value == "ram");
        if grammar == Grammar::V2_1 && is_ram && params.read_only {
            let message = "has readOnly=true which is not allowed for storage class \"ram\"";
            reader.problem_allowing(path, mount.place, message, "readOnly: false");
        }
    }
    // The older grammar asks for a mount when a volume is persistent, but is content with the
    // mount of any volume.
    if grammar == Grammar::V2_0 && mounts.is_empty() {
        let persistent = resources.storage.iter().find(|volume| {
            volume.attributes.iter().any(|a| a.key == "persistent" && a.value == "true")
        });
        if let Some(volume) = persistent {
            let message = format!(
                "the profile's volume {} has persistent=true, which requires the service to mount it",
                Shown(volume.name)
            );
            reader.problem_allowing(
                path.key(volume.name),
                service.name.place,
                message,
                "params: {storage: {…: {mount: /…}}}",
            );
        }
    }
}

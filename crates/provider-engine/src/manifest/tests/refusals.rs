//! What each refusal says, and with which status.

use std::collections::BTreeSet;

use akash_sdl::manifest::Protocol;

use super::*;

/// What a manifest with `hosts` is answered, where `taken` belongs to tenant 2.
fn answer(settings: ManifestSettings, hosts: &[&str], taken: &str) -> Vec<ManifestAction> {
    let mut world = World::with(settings);
    world.accept(deployment(2, 1), &sdl("x", &[&[taken]]), &[1]);
    let id = deployment(1, 7);
    let sdl = sdl("a", &[hosts]);
    world.submit(1, id, sdl.manifest());
    world.read(&facts(id, &sdl, &[1]))
}

fn settings() -> ManifestSettings {
    ManifestSettings {
        generated_under: Some("ingress.example.com".to_owned()),
        blocked: BlockedHostnames::new(["exact.example.com", ".evil.example"])
            .reserving(["provider.example.com", "ingress.example.com"]),
        ..ManifestSettings::default()
    }
}

#[test]
fn hostnames_are_refused_in_the_known_words() {
    let generated = generated_host(lease(deployment(3, 9), 1, 1), "web0", "ingress.example.com");
    let long = format!("{}.example.com", "a".repeat(64));
    for (host, status, text) in [
        ("taken.example.com", 409, "hostname not allowed: host \"taken.example.com\" in use"),
        (
            "exact.example.com",
            500,
            "hostname not allowed: \"exact.example.com\" is blocked by this provider",
        ),
        (
            "x.evil.example",
            500,
            "hostname not allowed: domain \"x.evil.example\" is blocked by this provider",
        ),
        (
            "evil.example",
            500,
            "hostname not allowed: domain \"evil.example\" is blocked by this provider",
        ),
        (
            "provider.example.com",
            422,
            "hostname not allowed: \"provider.example.com\" is reserved by this provider",
        ),
        (
            "ingress.example.com",
            422,
            "hostname not allowed: \"ingress.example.com\" is reserved by this provider",
        ),
        ("localhost", 422, "hostname not allowed: \"localhost\" is reserved by this provider"),
        (
            "web.lease.svc.cluster.local",
            422,
            "hostname not allowed: \"web.lease.svc.cluster.local\" is reserved by this provider",
        ),
        ("127.1", 422, "hostname not allowed: host \"127.1\" is an IP address, a name is needed"),
        (
            "2130706433",
            422,
            "hostname not allowed: host \"2130706433\" is an IP address, a name is needed",
        ),
        (
            "10.0.0.1",
            422,
            "hostname not allowed: host \"10.0.0.1\" is an IP address, a name is needed",
        ),
        (
            long.as_str(),
            422,
            &format!("hostname not allowed: host \"{long}\" has a part of more than 63 characters"),
        ),
        (
            generated.as_str(),
            409,
            &format!(
                "hostname not allowed: host \"{generated}\" has the form of generated names, \
                 choose another"
            ),
        ),
    ] {
        match answer(settings(), &["fine.example.com", host], "taken.example.com").as_slice() {
            [ManifestAction::Reply(_, Reply::Manifest(ManifestAnswer::Refused(refusal)))] => {
                assert_eq!((refusal.status(), refusal.to_string().as_str()), (status, text));
            }
            other => panic!("{host}: {other:?}"),
        }
    }
}

#[test]
fn a_lease_keeps_a_name_that_it_had_before_it_was_reserved() {
    let mut world = World::with(settings());
    let id = deployment(1, 7);
    let sdl = sdl("a", &[&["provider.example.com"]]);
    let held = lease(id, 1, 1);
    world.hostnames.ask(held, BTreeSet::from(["provider.example.com".to_owned()]));
    world.submit(1, id, sdl.manifest());
    let effects = world.read(&facts(id, &sdl, &[1]));
    assert!(matches!(effects.as_slice(), [ManifestAction::Hold(_)]), "{effects:?}");
}

#[test]
fn a_lease_may_list_its_own_generated_host() {
    let own = generated_host(lease(deployment(1, 7), 1, 1), "web0", "ingress.example.com");
    let effects = answer(settings(), &[&own, "shop.ingress.example.com"], "taken.example.com");
    assert!(matches!(effects.as_slice(), [ManifestAction::Hold(_)]), "{effects:?}");
}

#[test]
fn without_generated_hosts_a_name_has_to_be_listed() {
    let off = || ManifestSettings { generated_under: None, ..settings() };
    let missing = ManifestRefusal::HostnameMissing {
        service: "web0".to_owned(),
        port: 80,
        proto: Protocol::Tcp,
    };
    assert_eq!(
        (missing.status(), missing.to_string().as_str()),
        (422, "manifest rejected: service \"web0\" exposed on 80:TCP must have a hostname")
    );
    assert_eq!(answer(off(), &[], "taken.example.com"), [refused(1, missing)]);
    let effects = answer(off(), &["a.example.com"], "taken.example.com");
    assert!(matches!(effects.as_slice(), [ManifestAction::Hold(_)]), "{effects:?}");
}

#[test]
fn hostile_hostnames_are_refused_at_once() {
    let good = sdl("a", &[&["a.example.com"]]);
    let long = format!("{}.example.com", "a".repeat(250));
    for host in ["a..b", "A.example.com", "*.example.com", "ex\u{e4}mple.com", "a b", "", &long] {
        let mut manifest = good.manifest().clone();
        manifest.groups[0].services[0].expose.as_mut().unwrap()[0].hosts =
            Some(vec![host.to_owned()]);
        let effects = World::new().submit(1, deployment(1, 7), &manifest);
        let [ManifestAction::Reply(_, Reply::Manifest(ManifestAnswer::Refused(refusal)))] =
            effects.as_slice()
        else {
            panic!("{host:?}: {effects:?}");
        };
        let text = format!("invalid manifest: service \"web0\": has invalid hostname \"{host}\"");
        assert_eq!((refusal.status(), refusal.to_string()), (422, text));
    }
}

#[test]
fn ports_beyond_sixteen_bits_are_refused_at_once() {
    let mut manifest = sdl("a", &[&[]]).manifest().clone();
    manifest.groups[0].services[0].expose.as_mut().unwrap()[0].external_port = 65536 + 80;
    let effects = World::new().submit(1, deployment(1, 7), &manifest);
    let [ManifestAction::Reply(_, Reply::Manifest(ManifestAnswer::Refused(refusal)))] =
        effects.as_slice()
    else {
        panic!("{effects:?}");
    };
    assert_eq!(
        (refusal.status(), refusal.to_string().as_str()),
        (422, "invalid manifest: service \"web0\": external port value must be <= 65535")
    );
}

#[test]
fn what_no_cluster_keeps_is_refused_at_once_whatever_else_is_wrong_with_it() {
    let mut manifest = sdl("a", &[&[]]).manifest().clone();
    let service = &mut manifest.groups[0].services[0];
    service.env = Some((0..100_000).map(|number| format!("A{number}=1")).collect());
    service.resources = akash_sdl::manifest::ServiceResources::default();
    let effects = World::new().submit(1, deployment(1, 7), &manifest);
    let [ManifestAction::Reply(_, Reply::Manifest(ManifestAnswer::Refused(refusal)))] =
        effects.as_slice()
    else {
        panic!("{effects:?}");
    };
    let text = refusal.to_string();
    assert_eq!(refusal.status(), 413);
    assert!(text.starts_with("invalid manifest: environment, command and arguments"), "{text}");
    // Many, but not too many.
    manifest.groups[0].services[0].env.as_mut().unwrap().truncate(20_000);
    let effects = World::new().submit(1, deployment(1, 7), &manifest);
    let [ManifestAction::Reply(_, Reply::Manifest(ManifestAnswer::Refused(refusal)))] =
        effects.as_slice()
    else {
        panic!("{effects:?}");
    };
    assert!(!matches!(refusal, ManifestRefusal::TooLarge { .. }), "{refusal:?}");
}

#[test]
fn what_the_chain_says_is_refused_in_the_known_words() {
    let id = deployment(1, 7);
    let good = sdl("a", &[&[]]);
    let mut other_name = facts(id, &good, &[1]);
    other_name.groups[0].spec.name = "east".to_owned();
    let mut more_groups = facts(id, &good, &[1]);
    more_groups.groups.push(more_groups.groups[0].clone());
    let mut other_cpu = facts(id, &good, &[1]);
    other_cpu.groups[0].spec.resources[0].resources.cpu = Default::default();
    let mut other_hash = facts(id, &good, &[1]);
    other_hash.deployment.hash = [7; 32];
    let mut other_lease = facts(id, &good, &[1]);
    other_lease.leases = vec![lease(id, 2, 1)];
    let not_found =
        format!("group not found: could not locate group 2 of lease {}", lease(id, 2, 1));
    for (facts, status, text) in [
        (Some(other_hash), 422, "manifest version validation failed".to_owned()),
        (Some(more_groups), 500, "invalid manifest: group count mismatch (1 != 2)".to_owned()),
        (Some(other_name), 500, "invalid manifest: unknown deployment group ('dc0')".to_owned()),
        (
            Some(other_cpu),
            422,
            "manifest cross-validation error: group \"dc0\": service \"web0\": CPU resources \
             mismatch for ID 1"
                .to_owned(),
        ),
        (Some(other_lease), 500, not_found),
        (Some(facts(id, &good, &[])), 404, "no lease for deployment".to_owned()),
        (None, 404, format!("Deployment not found: {id}")),
    ] {
        let mut world = World::new();
        world.submit(1, id, good.manifest());
        let read = ManifestInput::Read { deployment: id, height: 2, result: Ok(facts) };
        let effects = world.act(read);
        let [ManifestAction::Reply(_, Reply::Manifest(ManifestAnswer::Refused(refusal)))] =
            effects.as_slice()
        else {
            panic!("{text}: {effects:?}");
        };
        assert_eq!((refusal.status(), refusal.to_string()), (status, text));
    }
}

#[test]
fn a_wrong_hash_is_told_before_a_missing_lease() {
    let mut world = World::new();
    let id = deployment(1, 7);
    let (sent, on_chain) = (sdl("a", &[&[]]), sdl("b", &[&[]]));
    world.submit(1, id, sent.manifest());
    let refusal =
        ManifestRefusal::Version { sent: sent.version(), on_chain: *on_chain.version().as_bytes() };
    assert_eq!(world.read(&facts(id, &on_chain, &[])), [refused(1, refusal)]);
}

#[test]
fn failures_of_others_have_their_status() {
    for (refusal, status, text) in [
        (
            ManifestRefusal::Chain(Unavailable("no node".to_owned())),
            503,
            "the chain does not answer: no node",
        ),
        (
            ManifestRefusal::ClusterUnavailable("starting".to_owned()),
            503,
            "the cluster does not answer: starting",
        ),
        (
            ManifestRefusal::ClusterRefused("quota".to_owned()),
            500,
            "the cluster refuses the manifest: quota",
        ),
        (ManifestRefusal::TimedOut, 500, "context deadline exceeded"),
    ] {
        assert_eq!((refusal.status(), refusal.to_string().as_str()), (status, text));
    }
}

#[test]
fn the_hash_of_what_was_received_counts_and_what_is_ignored_is_kept() {
    let (id, sdl) = (deployment(1, 7), sdl("a", &[&[]]));
    let group = sdl.manifest().groups[0].clone();
    let ignored = akash_sdl::manifest::IgnoredOption {
        group: group.name.clone(),
        service: group.services[0].name.clone(),
        option: "expose[0].httpOptions.x".to_owned(),
    };
    let on_chain = akash_sdl::Version::from([7; 32]);
    let mut facts = facts(id, &sdl, &[1]);
    facts.deployment.hash = [7; 32];
    for (hashes, is_held) in [(vec![on_chain], true), (vec![], false)] {
        let mut world = World::with(settings());
        let wanted = TenantRequest::Manifest {
            deployment: id,
            manifest: Arc::new(sdl.manifest().clone()),
            received: crate::Received { hashes, ignored: vec![ignored.clone()] },
        };
        world.act(ManifestInput::Tenant(RequestId(1), wanted));
        let effects = world.read(&facts);
        let [effect] = &*effects else { panic!("{effects:?}") };
        match effect {
            ManifestAction::Hold(workload) => {
                assert!(is_held);
                assert_eq!(workload.version, Some(on_chain));
                assert_eq!(workload.ignored[&ignored.service], [ignored.option.as_str()]);
            }
            other => assert!(!is_held, "{other:?}"),
        }
    }
}

/// What a manifest is answered that differs from its SDL's in this way.
fn changed(change: impl Fn(&mut akash_sdl::manifest::Service)) -> ManifestRefusal {
    let mut world = World::with(settings());
    let id = deployment(1, 7);
    let sdl = sdl("a", &[&["a.example.com"]]);
    let mut manifest = sdl.manifest().clone();
    change(&mut manifest.groups[0].services[0]);
    let mut facts = facts(id, &sdl, &[1]);
    facts.deployment.hash = *manifest.version().as_bytes();
    world.submit(1, id, &manifest);
    match &world.read(&facts)[..] {
        [.., ManifestAction::Reply(_, Reply::Manifest(ManifestAnswer::Refused(refusal)))] => {
            refusal.clone()
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn what_cannot_be_run_as_promised_is_refused_and_not_run_without() {
    use akash_sdl::manifest::{ImageCredentials, ServiceParams, StorageParams, TeeParams};
    let params = |params: ServiceParams| {
        changed(move |service| service.params = Some(params.clone())).to_string()
    };
    let tee = params(ServiceParams { tee: Some(TeeParams::default()), ..ServiceParams::default() });
    let text = |what: &str| {
        format!(
            "manifest rejected: service \"web0\" asks for {what}, which this provider does not offer"
        )
    };
    assert_eq!(tee, text("confidential computing"));
    let mount = StorageParams { key_ref: "sealed.a.b.c".to_owned(), ..StorageParams::default() };
    let keyed = params(ServiceParams { storage: Some(vec![mount]), ..ServiceParams::default() });
    assert_eq!(keyed, text("a volume encrypted with a sealed key"));
    let login = ImageCredentials { uri: "kbs:///a/b/c".to_owned(), ..ImageCredentials::default() };
    let refusal = changed(|service| service.credentials = Some(login.clone()));
    assert_eq!(refusal.to_string(), text("a registry login from a key broker"));
    let refusal = changed(|service| service.interconnect_group = "auto".to_owned());
    assert_eq!((refusal.to_string(), refusal.status()), (text("a GPU interconnect"), 422));
}

#[test]
fn buffers_of_the_proxy_are_limited_in_the_known_words() {
    use akash_sdl::manifest::ProxyOptions;
    for (proxy, text) in [
        (
            ProxyOptions { buffer_size: Some(131_073), ..ProxyOptions::default() },
            "buffer_size 131073 exceeds max 131072",
        ),
        (
            ProxyOptions { buffers_number: Some(17), ..ProxyOptions::default() },
            "buffers_number 17 exceeds max 16",
        ),
        (
            ProxyOptions { buffers_size: Some(131_073), ..ProxyOptions::default() },
            "buffers_size 131073 exceeds max 131072",
        ),
        (
            ProxyOptions { busy_buffers_size: Some(262_145), ..ProxyOptions::default() },
            "busy_buffers_size 262145 exceeds max 262144",
        ),
    ] {
        let refusal = changed(|service| {
            service.expose.as_mut().unwrap()[0].http_options.proxy = Some(proxy.clone());
        });
        let wanted = format!("invalid manifest: service \"web0\" proxy.{text}");
        assert_eq!((refusal.to_string(), refusal.status()), (wanted, 422));
    }
}

//! What the Kubernetes driver is started with.

use std::time::Duration;

use akash_types::hostname::BlockedBy;
use provider_engine::inventory::CommitLevels;
use provider_kube::isolation::{Isolation, PodProfile};
use provider_kube::settings::{IngressMode, NetworkPolicies, Overcommit, Settings};
use provider_operators::hostname::{Routes, Settings as HostnameSettings};

use super::{config, errors, given, of};
use crate::config::ProbeSettings;

#[test]
fn the_driver_gets_what_the_flags_say() {
    let settings = config(&[("cluster", "kubernetes")]).kube_settings();
    let policies = Some(NetworkPolicies { api_server: Vec::new() });
    let hardened = Isolation { profile: PodProfile::Hardened, ..Isolation::default() };
    let defaults =
        Settings { network_policies: policies, isolation: hardened, ..Settings::default() };
    assert_eq!(settings, defaults);

    let settings = config(&[
        ("cluster-k8s", "true"),
        ("k8s-manifest-ns", "leases"),
        ("cluster-public-hostname", "Provider.example.com"),
        ("deployment-ingress-static-hosts", "true"),
        ("deployment-ingress-domain", "ingress.example.com"),
        ("deployment-network-policies-enabled", "false"),
        ("docker-image-pull-secrets-name", "regcred"),
        ("overcommit-pct-cpu", "50"),
        ("overcommit-pct-mem", "100"),
        ("overcommit-pct-storage", "250"),
        ("ingress-mode", "gateway-api"),
        ("gateway-name", "gate"),
        ("gateway-namespace", "gates"),
        ("tenant-pod-profile", "go"),
        ("tenant-egress-deny", "203.0.113.0/24,198.51.100.7"),
        ("tenant-runtime-class", "gvisor"),
    ])
    .kube_settings();
    let expected = Settings {
        manifest_namespace: "leases".to_owned(),
        public_hostname: "Provider.example.com".to_owned(),
        generated_hosts: Some("ingress.example.com".to_owned()),
        network_policies: None,
        overcommit: Overcommit { cpu: 50, memory: 100, storage: 250 },
        pull_secret: Some("regcred".to_owned()),
        ingress: IngressMode::GatewayApi { name: "gate".to_owned(), namespace: "gates".to_owned() },
        isolation: Isolation {
            profile: PodProfile::Go,
            runtime_class: Some("gvisor".to_owned()),
            denied: vec!["203.0.113.0/24".parse().unwrap(), "198.51.100.7/32".parse().unwrap()],
        },
        ..Settings::default()
    };
    assert_eq!(settings, expected);
}

#[test]
fn isolation_is_probed_every_six_hours_where_it_is_required() {
    let image = "docker.io/library/busybox:1.37".to_owned();
    let default = config(&[("cluster", "kubernetes")]);
    let probe = ProbeSettings { image, required_every: None };
    assert_eq!((default.kubernetes.probe, default.engine.require_isolation), (probe, false));
    let required = config(&[
        ("cluster", "kubernetes"),
        ("require-isolation", "true"),
        ("probe-image", "registry.example.com/busybox:1"),
    ]);
    let probe = ProbeSettings {
        image: "registry.example.com/busybox:1".to_owned(),
        required_every: Some(Duration::from_secs(6 * 3600)),
    };
    assert_eq!((required.kubernetes.probe, required.engine.require_isolation), (probe, true));
}

#[test]
fn routes_are_made_as_the_flags_say_unless_another_process_makes_them() {
    let settings = config(&[("cluster", "kubernetes")]);
    assert_eq!(settings.hostname_settings(), Some(HostnameSettings::default()));

    let settings = config(&[("cluster", "kubernetes"), ("ingress-class", "traefik")]);
    let routes = settings.hostname_settings().map(|settings| settings.routes);
    assert_eq!(routes, Some(Routes::Ingress { class: "traefik".to_owned() }));

    let settings = config(&[
        ("ingress-mode", "gateway-api"),
        ("gateway-name", "gate"),
        ("gateway-namespace", "gates"),
        ("proxy-buffer-size", "8k"),
        ("deployment-blocked-hostnames", ".evil.example"),
    ]);
    let settings = settings.hostname_settings().unwrap();
    let text = |text: &str| text.to_owned();
    let (name, namespace) = (text("gate"), text("gates"));
    assert_eq!(settings.routes, Routes::Gateway { name, namespace, buffer_size: text("8k") });
    assert!(settings.blocked.blocks("x.evil.example").is_some());

    let own = config(&[
        ("cluster-public-hostname", "Provider.example.com"),
        ("deployment-ingress-domain", "ingress.example.com"),
    ]);
    for blocked in [&own.hostname_settings().unwrap().blocked, &own.engine.manifest.blocked] {
        for reserved in ["provider.example.com", "ingress.example.com"] {
            assert_eq!(blocked.blocks(reserved), Some(BlockedBy::Reserved), "{reserved}");
        }
    }

    assert_eq!(config(&[("hostname-operator", "false")]).hostname_settings(), None);
}

#[test]
fn capacity_is_planned_with_what_pods_on_kubernetes_ask_for() {
    let percent = ("overcommit-pct-cpu", "150");
    for (kind, planned) in [("kubernetes", 100), ("simulated", 150)] {
        let (config, notes) = of(&given(&[("cluster", kind), percent]));
        assert_eq!(config.engine.commit, CommitLevels::from_percent(planned, 0, 0), "{kind}");
        assert!(notes.iter().any(|note| note.setting == "overcommit-pct-cpu"), "{kind}");
    }
}

#[test]
fn what_is_wrong_with_the_isolation_of_tenants_is_told() {
    let wrong = [
        ("tenant-pod-profile", "soft", "give hardened or go"),
        (
            "tenant-egress-deny",
            "10.0.0.0/8,0.0.0.0/0",
            "give IPv4 networks, such as 203.0.113.0/24",
        ),
        ("tenant-egress-deny", "203.0.113.7/24", "give IPv4 networks, such as 203.0.113.0/24"),
        ("tenant-runtime-class", "g/visor", "give the name of one of the cluster's RuntimeClasses"),
        ("isolation-probe-period", "5s", "give a minute or more"),
        ("require-isolation", "true", "leave it out, or give --cluster kubernetes"),
    ];
    for (setting, value, remedy) in wrong {
        let found = errors(&given(&[(setting, value)]));
        let told: Vec<_> =
            found.iter().map(|error| (error.setting.as_str(), error.remedy.as_str())).collect();
        assert_eq!(told, [(setting, remedy)], "{value}");
    }
    let (_, notes) =
        of(&given(&[("tenant-pod-profile", "go"), ("tenant-egress-deny", "203.0.113.0/24")]));
    assert!(notes.iter().any(|note| note.setting == "tenant-egress-deny"), "{notes:?}");
}

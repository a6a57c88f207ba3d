//! What the Kubernetes driver is started with.

use provider_engine::inventory::CommitLevels;
use provider_kube::settings::{IngressMode, NetworkPolicies, Overcommit, Settings};
use provider_operators::hostname::{Routes, Settings as HostnameSettings};

use super::{config, given, of};

#[test]
fn the_driver_gets_what_the_flags_say() {
    let settings = config(&[("cluster", "kubernetes")]).kube_settings();
    let policies = Some(NetworkPolicies { api_server: Vec::new() });
    let defaults = Settings { network_policies: policies, ..Settings::default() };
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
        ..Settings::default()
    };
    assert_eq!(settings, expected);
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

//! Each setting and its default, as the contract has them.

use std::num::NonZeroUsize;
use std::path::Path;
use std::time::Duration;

use akash_chain::tx::lane::GasSetting;
use provider_engine::inventory::CommitLevels;
use provider_engine::order::pricing::Pricing;

use super::{config, of, signer};
use crate::config::table::{SECTIONS, settings};
use crate::config::{Certificate, Cluster, Effect, Form, IngressMode, Simulated};
use crate::log::LogFormat;

/// Flags of the Go program with their defaults, in the order of its documentation.
const OF_GO: &[(&str, &str)] = &[
    ("cluster-k8s", "false"),
    ("k8s-manifest-ns", "lease"),
    ("kubeconfig", "$HOME/.kube/config"),
    ("gateway-listen-address", "0.0.0.0:8443"),
    ("gateway-grpc-listen-address", "0.0.0.0:8444"),
    ("bid-price-strategy", "scale"),
    ("bid-price-cpu-scale", "0"),
    ("bid-price-memory-scale", "0"),
    ("bid-price-storage-scale", "0"),
    ("bid-price-endpoint-scale", "0"),
    ("bid-price-ip-scale", "0"),
    ("bid-price-script-path", ""),
    ("bid-price-script-process-limit", "32"),
    ("bid-price-script-process-timeout", "10s"),
    ("bid-deposit", "500000uakt"),
    ("bid-timeout", "5m"),
    ("reclamation-window", "0"),
    ("manifest-timeout", "5m"),
    ("cluster-public-hostname", ""),
    ("cluster-node-port-quantity", "1"),
    ("cluster-wait-ready-duration", "5s"),
    ("inventory-resource-poll-period", "5s"),
    ("inventory-resource-debug-frequency", "10"),
    ("deployment-ingress-static-hosts", "false"),
    ("deployment-ingress-domain", ""),
    ("deployment-ingress-expose-lb-hosts", "false"),
    ("deployment-network-policies-enabled", "true"),
    ("deployment-blocked-hostnames", ""),
    ("deployment-runtime-class", "gvisor"),
    ("docker-image-pull-secrets-name", ""),
    ("overcommit-pct-mem", "0"),
    ("overcommit-pct-cpu", "0"),
    ("overcommit-pct-storage", "0"),
    ("auth-pem", ""),
    ("metrics-listener", ""),
    ("withdrawal-period", "24h"),
    ("lease-funds-monitor-interval", "10m"),
    ("minimum-balance", "1000000"),
    ("provider-config", ""),
    ("rpc-query-timeout", "1m"),
    ("cached-result-max-age", "5s"),
    ("ip-operator", "false"),
    ("hostname-operator-endpoint", ""),
    ("ip-operator-endpoint", ""),
    ("tx-broadcast-timeout", "30s"),
    ("monitor-max-retries", "40"),
    ("monitor-retry-period", "4s"),
    ("monitor-retry-period-jitter", "15s"),
    ("monitor-healthcheck-period", "10s"),
    ("monitor-healthcheck-period-jitter", "5s"),
    ("persistent-config-backend", "bbolt"),
    ("persistent-config-path", ""),
    ("cert-issuer-enabled", "false"),
    ("cert-issuer-email", ""),
    ("cert-issuer-ca-dir-url", "https://acme-staging-v02.api.letsencrypt.org/directory"),
    ("cert-issuer-storage-dir", ""),
    ("cert-issuer-http-challenge-port", "0"),
    ("cert-issuer-tls-challenge-port", "0"),
    ("cert-issuer-dns-providers", ""),
    ("cert-issuer-dns-resolvers", "1.1.1.1,8.8.8.8"),
    ("cert-issuer-kid", ""),
    ("cert-issuer-hmac", ""),
    ("migrations-enabled", "true"),
    ("migrations-state-path", ""),
    ("ingress-mode", "ingress"),
    ("gateway-name", "akash-gateway"),
    ("gateway-namespace", "akash-gateway"),
    ("gateway-provider", "nginx"),
    ("proxy-buffer-size", "16k"),
    ("gateway-tls-cert", ""),
    ("gateway-tls-key", ""),
    ("keyring-backend", "os"),
    ("node", "http://localhost:26657"),
    ("gas", "auto"),
    ("sign-mode", "direct"),
    ("broadcast-mode", "sync"),
    ("log_level", "info"),
    ("log_format", "plain"),
];

#[test]
fn must_match_grpc_listens_on_8444_where_rest_listens_on_8443() {
    // The chain has only the address of REST: Console puts 8444 in the place of 8443.
    let gateway = config(&[]).gateway;
    assert_eq!((gateway.rest.port(), gateway.grpc.port()), (8443, 8444));
}

#[test]
fn every_flag_of_the_go_program_is_there_with_its_default() {
    for (name, default) in OF_GO {
        let setting = settings().find(|setting| setting.name == *name);
        assert_eq!(setting.map(|setting| setting.default), Some(*default), "{name}");
    }
}

#[test]
fn names_are_there_once_and_explain_themselves() {
    let mut names: Vec<&str> = settings().map(|setting| setting.name).collect();
    let count = names.len();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), count);
    assert!(SECTIONS.iter().all(|(heading, settings)| !heading.is_empty() && !settings.is_empty()));
    for setting in settings() {
        assert!(!setting.help.is_empty() && !setting.value.is_empty(), "{}", setting.name);
        let wants_default = setting.form == Form::Switch;
        assert!(!wants_default || !setting.default.is_empty(), "{}", setting.name);
    }
}

#[test]
fn the_least_makes_a_provider_with_the_usual_settings() {
    let config = config(&[]);
    assert_eq!((config.chain.lane.account, config.provider), (signer(), signer()));
    let home = Path::new("/home/op/.akash");
    assert_eq!(config.home, home);
    assert_eq!(config.store, home.join("provider-store.redb"));
    assert_eq!(config.ctl_socket, home.join("provider.sock"));
    let state = home.join("sim-cluster.state");
    assert_eq!(config.cluster, Cluster::Simulated(Simulated::Inside(state)));

    let engine = &config.engine;
    let five_minutes = Some(Duration::from_secs(300));
    assert_eq!((engine.bid_timeout, engine.manifest_timeout), (five_minutes, five_minutes));
    assert_eq!(engine.reclamation_window, None);
    assert_eq!(engine.bid_deposit.to_string(), "500000uakt");
    assert_eq!(engine.bid_fee.to_string(), "4030uakt");
    assert_eq!(engine.escrow.fee.to_string(), "2958uakt");
    assert_eq!(engine.escrow.check_every, Duration::from_secs(600));
    assert_eq!(engine.escrow.withdraw_every, Duration::from_secs(86_400));
    assert_eq!(engine.escrow.minimum_balance, 1_000_000);
    assert_eq!(engine.commit, CommitLevels::default());
    assert_eq!(engine.patience.unhealthy_checks, 40);
    assert_eq!(engine.patience.unschedulable_checks, 240);
    assert_eq!(engine.check_period, Duration::from_secs(4));
    assert_eq!(engine.check_jitter, Duration::from_secs(15));
    assert_eq!(engine.manifest.cached_result_max_age, Duration::from_secs(5));
    assert_eq!(engine.manifest.generated_under, None);
    let Pricing::Scale(scales) = &engine.pricing else { panic!("{:?}", engine.pricing) };
    assert_eq!(scales.storage.keys().collect::<Vec<_>>(), ["ephemeral"]);

    assert_eq!(config.chain.lane.gas, GasSetting::Auto(None));
    assert!(!config.chain.lane.uses_authz());
    assert_eq!(config.chain.limits().request, Duration::from_secs(60));
    assert_eq!(config.chain.follow().plan.chain_id, "local");
    assert_eq!(config.chain.follow().nodes.len(), 1);
    assert_eq!(config.script, None);
    assert_eq!(config.gateway.rest.to_string(), "0.0.0.0:8443");
    assert_eq!(config.gateway.grpc.to_string(), "0.0.0.0:8444");
    assert_eq!((config.gateway.certificate, config.metrics), (None, None));
    assert!(config.bus.is_none());
    assert_eq!(config.ingress.mode, IngressMode::Ingress);
    assert_eq!(config.kubernetes.kubeconfig, Path::new("/home/op/.kube/config"));
    assert!(config.kubernetes.network_policies);
    assert_eq!(config.log.format, LogFormat::Plain);
}

#[test]
fn nothing_is_noted_where_nothing_was_said() {
    assert_eq!(of(&super::given(&[])).1, []);
}

/// What the chart of the Go program sets by default.
#[test]
fn the_settings_of_the_usual_installation_are_understood() {
    let config = config(&[
        ("cluster-k8s", "true"),
        ("chain-id", "akashnet-2"),
        ("node", "http://one:26657,https://two:443"),
        ("keyring-backend", "test"),
        ("broadcast-mode", "block"),
        ("yes", "true"),
        ("gas-prices", "0.025uakt"),
        ("gas-adjustment", "1.5"),
        ("deployment-ingress-domain", "ingress.Example.com"),
        ("deployment-ingress-static-hosts", "true"),
        ("cluster-public-hostname", "provider.example.com"),
        ("cluster-node-port-quantity", "2500"),
        ("bid-price-memory-scale", "0.0016"),
        ("bid-price-storage-scale", "0.00016,beta2=0.00016"),
        ("bid-price-ip-scale", "60"),
        ("withdrawal-period", "1h"),
        ("monitor-max-retries", "2304"),
        ("monitor-retry-period", "30s"),
        ("ingress-mode", "gateway-api"),
        ("cert-issuer-enabled", "true"),
        ("cert-issuer-email", "op@example.com"),
        ("cert-issuer-http-challenge-port", "5002"),
        ("deployment-runtime-class", "none"),
    ]);
    assert_eq!(config.cluster, Cluster::Kubernetes);
    assert_eq!(config.chain.nodes.len(), 2);
    let domain = Some("ingress.example.com");
    assert_eq!(config.engine.manifest.generated_under.as_deref(), domain);
    assert_eq!(config.ingress.generated_under.as_deref(), domain);
    assert_eq!(config.engine.patience.unschedulable_checks, 2304, "never less than unhealthy");
    assert_eq!(config.engine.bid_fee.to_string(), "4650uakt");
    let Some(Certificate::Issuer(issuer)) = &config.gateway.certificate else { panic!() };
    assert_eq!((issuer.domain.as_str(), issuer.http_port), ("provider.example.com", Some(5002)));
    assert_eq!(issuer.storage, Path::new("/home/op/.akash/.certissuer"));
    assert_eq!(issuer.tls_port, None);
    assert_eq!(
        config.ingress.mode,
        IngressMode::GatewayApi {
            name: "akash-gateway".to_owned(),
            namespace: "akash-gateway".to_owned(),
        }
    );
}

#[test]
fn our_own_settings_are_read() {
    let other = akash_types::Address::from_bytes(&[9; 20]).unwrap().to_string();
    let config = config(&[
        ("authz-provider", &other),
        ("sim-cluster-address", "127.0.0.1:7788"),
        ("redis-url", "redis://:hunter2@10.0.0.7:6379"),
        ("ctl-socket", "/run/p.sock"),
        ("store-path", "/data/p.redb"),
        ("policy-price-floor", "0.5uact,1uakt"),
        ("policy-price-denoms", "uact,uakt"),
        ("policy-deny-owners", &other),
        ("policy-open-bids-per-owner", "3"),
        ("policy-daily-fees", "5akt"),
        ("policy-pause", "true"),
        ("bid-price-strategy", "shellScript"),
        ("bid-price-script-path", "/scripts/price.sh"),
        ("metrics-listener", ":9090"),
        ("log_format", "json"),
        ("overcommit-pct-cpu", "50"),
        ("bid-timeout", "0"),
    ]);
    assert!(config.chain.lane.uses_authz());
    assert_eq!(config.provider.to_string(), other);
    assert_eq!(config.engine.provider, config.provider);
    let address = "127.0.0.1:7788".parse().unwrap();
    assert_eq!(config.cluster, Cluster::Simulated(Simulated::At(address)));
    assert!(config.bus.is_some());
    assert!(!format!("{config:?}").contains("hunter2"));
    assert_eq!(config.ctl_socket, Path::new("/run/p.sock"));
    assert_eq!(config.store, Path::new("/data/p.redb"));
    let policy = &config.engine.policy;
    let floors: Vec<String> =
        policy.floors.iter().map(|(denom, floor)| format!("{floor}{denom}")).collect();
    assert_eq!(floors, ["0.500000000000000000uact", "1.000000000000000000uakt"]);
    let denoms: Vec<String> = config.engine.price_denoms.iter().map(ToString::to_string).collect();
    assert_eq!(denoms, ["uact", "uakt"]);
    assert_eq!((policy.deny.len(), &policy.allow), (1, &None));
    assert_eq!((policy.open_bids_per_owner, policy.daily_fees), (Some(3), Some(5_000_000)));
    assert!(policy.paused);
    assert_eq!(config.engine.pricing, Pricing::Script);
    let script = config.script.unwrap();
    assert_eq!(script.path, Path::new("/scripts/price.sh"));
    assert_eq!(script.process_limit, NonZeroUsize::new(32).unwrap());
    assert_eq!(script.timeout, Duration::from_secs(10));
    assert_eq!(config.metrics.unwrap().to_string(), "0.0.0.0:9090");
    assert_eq!(config.engine.commit, CommitLevels::from_percent(50, 0, 0));
    assert_eq!(config.engine.bid_timeout, None);
}

#[test]
fn every_setting_without_effect_says_so_once_it_is_given() {
    for setting in settings() {
        let Effect::Unused(because) = setting.effect else { continue };
        let value = if setting.default.is_empty() { "x" } else { setting.default };
        let (_, notes) = of(&super::given(&[(setting.name, value)]));
        let note = notes.iter().find(|note| note.setting == setting.name);
        let text = note.map(|note| note.text.clone()).unwrap_or_default();
        assert_eq!(text, format!("accepted, has no effect, because {because}"));
    }
}

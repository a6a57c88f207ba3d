//! What is wrong, where it came from and what to do, all at once.

use super::{errors, given, of, with_file};
use crate::config::{Config, GivenFile, Place};

/// Flags, the setting that is wrong with them, and what is said of it.
type Case = (&'static [(&'static str, &'static str)], &'static str, &'static str);

const WRONG: &[Case] = &[
    (&[("from", "")], "from", "the key that signs is not named"),
    (&[("chain-id", "")], "chain-id", "the chain is not named"),
    (&[("node", "ftp://x")], "node", "ftp://x"),
    (&[("node", ",")], "node", "no node is named"),
    (&[("grpc-addr", "://")], "grpc-addr", "://"),
    (&[("node-cert", "c.pem")], "node-key", "a certificate is given without its key"),
    (&[("node-key", "k.pem")], "node-cert", "a key is given without its certificate"),
    (&[("gas", "lots")], "gas", "\"lots\" is not an amount of gas"),
    (&[("gas-adjustment", "-1")], "gas-adjustment", "must be a decimal above zero"),
    (&[("gas-prices", "cheap")], "gas-prices", "is not a coin"),
    (&[("fees", "1uakt"), ("gas-prices", "1uakt")], "fees", "both given"),
    (&[("fee-granter", "bob")], "fee-granter", "bob"),
    (&[("authz-provider", "bob")], "authz-provider", "bob"),
    (&[("sign-mode", "amino-json")], "sign-mode", "not supported"),
    (&[("broadcast-mode", "fast")], "broadcast-mode", "is not a mode"),
    (&[("keyring-backend", "pass")], "keyring-backend", "not supported"),
    (&[("dry-run", "true")], "dry-run", "cannot do this"),
    (&[("offline", "1")], "offline", "cannot do this"),
    (&[("ledger", "true")], "ledger", "cannot do this"),
    (&[("rpc-query-timeout", "0")], "rpc-query-timeout", "no answer would be waited for"),
    (
        &[("bid-price-strategy", "cheap")],
        "bid-price-strategy",
        "no such bid pricing strategy. Allowed: [scale randomRange shellScript]",
    ),
    (&[("bid-price-cpu-scale", "a")], "bid-price-cpu-scale", "is not a decimal number"),
    (&[("bid-price-cpu-scale", "-1")], "bid-price-cpu-scale", "is negative"),
    (&[("bid-price-cpu-scale", "0")], "bid-price-strategy", "all price scales are zero"),
    (&[("bid-price-storage-scale", "1,2")], "bid-price-storage-scale", "has two price scales"),
    (&[("bid-price-storage-scale", "b=x")], "bid-price-storage-scale", "is not a decimal number"),
    (&[("bid-price-storage-scale", "b=-1")], "bid-price-storage-scale", "\"b\" is negative"),
    (&[("bid-price-strategy", "shellScript")], "bid-price-script-path", "needs a program"),
    (&[("bid-price-script-process-limit", "0")], "bid-price-script-process-limit", "above 0"),
    (&[("bid-price-script-process-timeout", "0")], "bid-price-script-process-timeout", "that fast"),
    (&[("bid-deposit", "5")], "bid-deposit", "5"),
    (&[("bid-timeout", "5")], "bid-timeout", "\"5\" is not a span of time"),
    (&[("reclamation-window", "-1h")], "reclamation-window", "\"-1h\" is negative"),
    (&[("manifest-timeout", "soon")], "manifest-timeout", "is not a span of time"),
    (&[("policy-price-denoms", "uact,1")], "policy-price-denoms", "1"),
    (&[("policy-price-floor", "1uakt,2uakt")], "policy-price-floor", "uakt is there twice"),
    (&[("policy-allow-owners", "bob")], "policy-allow-owners", "bob"),
    (&[("policy-open-bids-per-owner", "-1")], "policy-open-bids-per-owner", "not such a number"),
    (&[("policy-daily-fees", "5uact")], "policy-daily-fees", "fees are paid in uakt, not in uact"),
    (&[("policy-pause", "perhaps")], "policy-pause", "neither true nor false"),
    (&[("cluster", "nomad")], "cluster", "\"nomad\" is not a kind of cluster"),
    (&[("cluster", "swarm"), ("cluster-k8s", "true")], "cluster-k8s", "--cluster is swarm"),
    (&[("chain-id", "akashnet-2")], "cluster", "nothing runs in a simulated cluster"),
    (&[("sim-cluster-address", "here")], "sim-cluster-address", "is not an address with a port"),
    (&[("deployment-ingress-static-hosts", "true")], "deployment-ingress-domain", "needs a domain"),
    (
        &[("deployment-ingress-domain", "a b")],
        "deployment-ingress-domain",
        "not the name of a host",
    ),
    (&[("ingress-mode", "magic")], "ingress-mode", "invalid ingress-mode \"magic\""),
    (&[("ingress-mode", "gateway-api"), ("gateway-name", "")], "gateway-name", "needs one"),
    (&[("overcommit-pct-cpu", "-5")], "overcommit-pct-cpu", "not such a number"),
    (&[("server-cert-secret", "provider-cert")], "server-cert-secret", "names no Secret"),
    (&[("server-cert-secret", "a/B")], "server-cert-secret", "names no Secret"),
    (&[("server-cert-secret", "a/b/c")], "server-cert-secret", "names no Secret"),
    (&[("monitor-max-retries", "many")], "monitor-max-retries", "not such a number"),
    (
        &[("monitor-retry-period", "3s")],
        "monitor-retry-period",
        "flag \"monitor-retry-period\" value must be > \"4s\"",
    ),
    (
        &[("monitor-healthcheck-period", "1s")],
        "monitor-healthcheck-period",
        "flag \"monitor-healthcheck-period\" value must be > \"4s\"",
    ),
    (
        &[("lease-funds-monitor-interval", "25h"), ("withdrawal-period", "0")],
        "lease-funds-monitor-interval",
        "flag \"lease-funds-monitor-interval\" contains invalid value. expected >=1m<=24h",
    ),
    (
        &[("withdrawal-period", "1m")],
        "withdrawal-period",
        "flag \"withdrawal-period\" value must be > \"lease-funds-monitor-interval\"",
    ),
    (&[("minimum-balance", "x")], "minimum-balance", "not such a number"),
    (&[("gateway-listen-address", "8443")], "gateway-listen-address", "not an address"),
    (
        &[("gateway-grpc-listen-address", "0.0.0.0:8443")],
        "gateway-grpc-listen-address",
        "the address of REST as well",
    ),
    (&[("gateway-tls-cert", "a.pem")], "gateway-tls-key", "without the other half"),
    (&[("gateway-tls-key", "a.pem")], "gateway-tls-cert", "without the other half"),
    (&[("cert-issuer-http-challenge-port", "99999")], "cert-issuer-http-challenge-port", "a port"),
    (
        &[("cert-issuer-dns-providers", "cloudflare")],
        "cert-issuer-dns-providers",
        "cert issuer: invalid config: invalid dns provider cloudflare",
    ),
    (
        &[("cert-issuer-enabled", "true"), ("cluster-public-hostname", "a.example")],
        "cert-issuer-email",
        "cert issuer: invalid config",
    ),
    (
        &[("cert-issuer-enabled", "true"), ("cert-issuer-email", "a@b.example")],
        "cluster-public-hostname",
        "cert issuer: invalid config",
    ),
    (&[("metrics-listener", "off")], "metrics-listener", "not an address"),
    (&[("redis-url", "http://x")], "redis-url", "a Redis URL begins with"),
    (&[("persistent-config-backend", "sqlite")], "persistent-config-backend", "not a backend"),
    (&[("log_level", "loud")], "log_level", "\"loud\" is not a level"),
    (&[("log_format", "xml")], "log_format", "\"xml\" is not a form of logs"),
];

#[test]
fn each_mistake_is_named_explained_and_found_alone() {
    for (flags, setting, wanted) in WRONG {
        let found = errors(&given(flags));
        assert_eq!(found.len(), 1, "{flags:?}: {found:#?}");
        let error = &found[0];
        assert_eq!(error.setting, *setting, "{flags:?}");
        assert!(error.wrong.contains(wanted), "{flags:?}: {error}");
        assert!(!error.remedy.is_empty(), "{error}");
    }
}

#[test]
fn all_mistakes_are_found_at_once() {
    // These are wrong only in comparison with another setting that is right.
    let compared = ["gateway-grpc-listen-address", "policy-daily-fees"];
    let single: Vec<_> = WRONG
        .iter()
        .filter(|(flags, setting, _)| flags.len() == 1 && flags[0].0 == *setting)
        .filter(|(_, setting, _)| !compared.contains(setting))
        .map(|(flags, ..)| flags[0])
        .collect();
    let mut flags = std::collections::BTreeMap::new();
    for (name, text) in single {
        flags.entry(name).or_insert(text);
    }
    let flags: Vec<_> = flags.into_iter().collect();
    let found = errors(&given(&flags));
    assert!(flags.len() > 40, "{}", flags.len());
    for (name, _) in &flags {
        assert!(found.iter().any(|error| error.setting == *name), "{name}: {found:#?}");
    }
}

#[test]
fn an_error_says_where_its_value_came_from() {
    let mut from_environment = given(&[("bid-timeout", "soon")]);
    let value = from_environment.values.get_mut("bid-timeout").unwrap();
    value.place = Place::Environment("AKASH_BID_TIMEOUT".to_owned());
    assert_eq!(
        errors(&from_environment)[0].to_string(),
        "bid-timeout (AKASH_BID_TIMEOUT): \"soon\" is not a span of time; write a span of time \
         such as 5m, 1h30m or 90s"
    );
    let from_file = with_file(given(&[]), &[("bidtimeout", "soon")]);
    let text = errors(&from_file)[0].to_string();
    assert!(text.starts_with("bid-timeout (bidtimeout in provider.yaml): "), "{text}");
    let mut missing = given(&[]);
    missing.values.remove("chain-id");
    let text = errors(&missing)[0].to_string();
    assert!(text.starts_with("chain-id (default): the chain is not named; "), "{text}");
}

#[test]
fn a_key_that_is_not_found_is_one_error_among_others() {
    let mut given = given(&[("bid-timeout", "soon")]);
    given.signer = Some(Err("there is no key named provider".to_owned()));
    let found = errors(&given);
    let settings: Vec<&str> = found.iter().map(|error| error.setting.as_str()).collect();
    assert_eq!(settings, ["from", "bid-timeout"]);
}

#[test]
fn a_file_that_cannot_be_read_is_an_error() {
    let mut given = given(&[("provider-config", "p.yaml")]);
    given.file = Some(GivenFile {
        path: "p.yaml".into(),
        content: Err("provider: duplicated attribute: region".to_owned()),
    });
    let found = errors(&given);
    assert_eq!(found[0].setting, "provider-config");
    assert_eq!(found[0].wrong, "provider: duplicated attribute: region");
}

#[test]
fn without_a_home_there_is_nowhere_to_be() {
    let mut given = given(&[]);
    given.values.remove("home");
    assert_eq!(of(&given).0.home, std::path::Path::new("/home/op/.akash"));
    given.user_home = None;
    let found = errors(&given);
    assert_eq!((found.len(), found[0].setting.as_str()), (1, "home"));
}

#[test]
fn clusters_to_come_make_sense_and_do_not_start() {
    let (config, _) = of(&given(&[("cluster", "swarm")]));
    let error = config.startable().unwrap_err();
    assert!(error.wrong.contains("not there yet"), "{error}");
    assert_eq!(of(&given(&[])).0.startable(), Ok(()));
    assert_eq!(of(&given(&[("cluster", "kubernetes")])).0.startable(), Ok(()));
    let _: Result<_, _> = Config::from_given(&given(&[("cluster-k8s", "true")]));
}

//! Who wins, and what else is said of where things come from.

use std::time::Duration;

use akash_types::Attribute;

use super::{given, of, with_file};
use crate::config::table::setting_of_key;
use crate::config::{FileContent, GivenFile, Place};

#[test]
fn flags_and_environment_win_over_the_file_and_the_file_over_defaults() {
    let timeout = |given| of(&given).0.engine.bid_timeout;
    let file = |given| with_file(given, &[("bid_timeout", "2m")]);
    assert_eq!(timeout(given(&[])), Some(Duration::from_mins(5)));
    assert_eq!(timeout(file(given(&[]))), Some(Duration::from_mins(2)));
    assert_eq!(timeout(file(given(&[("bid-timeout", "1m")]))), Some(Duration::from_mins(1)));
    let mut environment = file(given(&[("bid-timeout", "3m")]));
    let value = environment.values.get_mut("bid-timeout").unwrap();
    value.place = Place::Environment("AP_BID_TIMEOUT".to_owned());
    assert_eq!(timeout(environment), Some(Duration::from_mins(3)));
}

#[test]
fn keys_of_the_file_are_flags_in_other_letters() {
    for (key, name) in [
        ("bidpricecpuscale", "bid-price-cpu-scale"),
        ("bidpricememoryscale", "bid-price-memory-scale"),
        ("deployment_ingress_static_hosts", "deployment-ingress-static-hosts"),
        ("deployment_ingress_domain", "deployment-ingress-domain"),
        ("LogLevel", "log_level"),
    ] {
        assert_eq!(setting_of_key(key).map(|setting| setting.name), Some(name), "{key}");
    }
    assert_eq!(setting_of_key("bidpricegpuscale"), None);
}

#[test]
fn prices_and_features_come_from_the_file() {
    let file = [
        ("bidpricestoragescale", "0.1,beta3=0.2"),
        ("deployment_ingress_static_hosts", "true"),
        ("deployment_ingress_domain", "in.example.com"),
    ];
    let (config, notes) = of(&with_file(given(&[]), &file));
    assert_eq!(config.engine.manifest.generated_under.as_deref(), Some("in.example.com"));
    assert_eq!(notes, []);
}

#[test]
fn keys_that_mean_nothing_are_noted() {
    let file = [("bidpricecpuscal", "1"), ("home", "/elsewhere")];
    let (config, notes) = of(&with_file(given(&[]), &file));
    assert_eq!(config.home, std::path::Path::new("/home/op/.akash"));
    let texts: Vec<&str> = notes.iter().map(|note| note.text.as_str()).collect();
    assert_eq!(
        texts,
        [
            "not used: there is no such setting",
            "not used: it must be known before this file is read"
        ]
    );
}

#[test]
fn keys_that_another_place_overrides_are_noted_whatever_their_value() {
    let file = [("bidpricecpuscale", "cheap"), ("bidtimeout", "1m"), ("bid_timeout", "soon")];
    let (config, notes) = of(&with_file(given(&[]), &file));
    assert_eq!(config.engine.bid_timeout, Some(Duration::from_mins(1)));
    let texts: Vec<String> = notes.iter().map(ToString::to_string).collect();
    assert_eq!(
        texts,
        [
            "bidpricecpuscale (bidpricecpuscale in provider.yaml): not used: flag overrides it",
            "bid_timeout (bid_timeout in provider.yaml): not used: bidtimeout in provider.yaml \
             overrides it",
        ]
    );
    let same = with_file(given(&[]), &[("bidpricecpuscale", "0.004")]);
    assert_eq!(of(&same).1, []);
}

#[test]
fn attributes_filter_orders_and_say_so() {
    let mut given = given(&[("provider-config", "provider.yaml")]);
    let content =
        FileContent { attributes: vec![Attribute::new("region", "us-west")], settings: vec![] };
    given.file = Some(GivenFile { path: "provider.yaml".into(), content: Ok(content) });
    let (config, notes) = of(&given);
    assert_eq!(config.engine.attributes, [Attribute::new("region", "us-west")]);
    assert_eq!(notes[0].text, "only orders that ask for region=us-west are bid on");
}

#[test]
fn percentages_that_others_ignore_are_noted() {
    let (_, notes) = of(&given(&[("overcommit-pct-mem", "150"), ("overcommit-pct-cpu", "100")]));
    let texts: Vec<String> = notes.iter().map(ToString::to_string).collect();
    assert_eq!(
        texts,
        ["overcommit-pct-mem (flag): means 150 % here; on Kubernetes it counts as 100 %"]
    );
}

#[test]
fn settings_that_have_no_effect_here_say_so() {
    let notes = |flags: &[(&str, &str)]| {
        let (_, notes) = of(&given(flags));
        notes.iter().map(ToString::to_string).collect::<Vec<_>>()
    };
    for (flags, part) in [
        (
            &[("gateway-provider", "traefik")][..],
            "gateway-provider (flag): accepted, has no effect",
        ),
        (&[("proxy-buffer-size", "8k")], "no effect with --ingress-mode ingress"),
        (&[("rpc-query-timeout", "5m")], "rpc-query-timeout (flag): counts as 1m30s"),
        (
            &[("grpc-addr", "a:1"), ("node", "b:2,c:3")],
            "grpc-addr (flag): not used by the provider",
        ),
        (&[("node-ca", "/ca.pem")], "node-ca (flag): not used: no node is reached by https"),
    ] {
        let noted = notes(flags);
        assert!(noted.iter().any(|note| note.contains(part)), "{flags:?}: {noted:?}");
    }
    for flags in [
        &[("proxy-buffer-size", "8k"), ("ingress-mode", "gateway-api")][..],
        &[("rpc-query-timeout", "90s")],
        &[("grpc-addr", "a:1")],
        &[("node-ca", "/ca.pem"), ("node", "https://b")],
    ] {
        assert_eq!(notes(flags), [""; 0], "{flags:?}");
    }
}

#[test]
fn an_answer_is_waited_for_as_long_as_the_setting_says() {
    let (config, _) = of(&given(&[("rpc-query-timeout", "80s")]));
    assert_eq!(config.chain.limits().request, Duration::from_secs(80));
    let (config, _) = of(&given(&[("rpc-query-timeout", "5m")]));
    assert_eq!(config.chain.limits().request, Duration::from_secs(90));
}

#[test]
fn variables_that_are_no_settings_are_noted() {
    let mut given = given(&[]);
    given.strays = vec!["DEPLOYMENT_NETWORK_POLICIES_ENABLED".to_owned()];
    let (config, notes) = of(&given);
    assert!(config.kubernetes.network_policies, "nobody asked for policies to be off");
    assert!(notes[0].text.starts_with("has no effect: its prefix is missing"), "{notes:?}");
}

#[test]
fn values_are_not_shown_by_debug() {
    let given =
        with_file(given(&[("redis-url", "redis://:pass@h")]), &[("certissuerhmac", "pass")]);
    assert!(!format!("{given:?}").contains("pass"));
}

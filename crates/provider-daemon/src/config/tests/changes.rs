//! What a reload takes over.

use super::{config, given, of};
use crate::config::table::settings;
use crate::config::{Change, FileContent, GivenFile, changes};

/// Another value for each setting whose change is taken over while running.
const LIVE: &[(&str, &str)] = &[
    ("bid-price-strategy", "randomRange"),
    ("bid-price-cpu-scale", "0.5"),
    ("bid-price-memory-scale", "0.5"),
    ("bid-price-storage-scale", "0.5"),
    ("bid-price-endpoint-scale", "0.5"),
    ("bid-price-ip-scale", "0.5"),
    ("bid-price-script-path", "/other"),
    ("bid-price-script-process-limit", "5"),
    ("bid-price-script-process-timeout", "5s"),
    ("bid-deposit", "1uakt"),
    ("bid-timeout", "1m"),
    ("manifest-timeout", "1m"),
    ("lost-manifest-patience", "1h"),
    ("reclamation-window", "2h"),
    ("policy-price-floor", "1uact"),
    ("policy-price-denoms", "uact"),
    ("policy-allow-owners", "akash1rhal6a4vawtnwex8nda7u6tueeesllpeagpdq8"),
    ("policy-deny-owners", "akash1rhal6a4vawtnwex8nda7u6tueeesllpeagpdq8"),
    ("policy-open-bids-per-owner", "1"),
    ("policy-daily-fees", "1uakt"),
    ("policy-pause", "true"),
    ("deployment-blocked-hostnames", "a.example"),
    ("monitor-max-retries", "5"),
    ("monitor-retry-period", "9s"),
    ("monitor-retry-period-jitter", "9s"),
    ("cached-result-max-age", "9s"),
    ("withdrawal-period", "1h"),
    ("lease-funds-monitor-interval", "1m"),
    ("minimum-balance", "5"),
    ("log_level", "debug"),
];

/// Another value for settings that decisions depend on and that need a restart all the same.
const RESTART: &[(&str, &str)] = &[
    ("chain-id", "other"),
    ("node", "http://other:1"),
    ("gas-prices", "1uakt"),
    ("fees", "1uakt"),
    ("gas", "5"),
    ("gas-adjustment", "3"),
    ("overcommit-pct-cpu", "100"),
    ("cluster", "kubernetes"),
    ("ingress-mode", "gateway-api"),
    ("gateway-listen-address", "0.0.0.0:1"),
    ("metrics-listener", "0.0.0.0:1"),
    ("redis-url", "redis://h"),
    ("store-path", "/other"),
    ("log_format", "json"),
];

#[test]
fn the_two_lists_cover_what_the_table_says() {
    let mut live: Vec<&str> =
        settings().filter(|s| s.change == Change::Reload).map(|s| s.name).collect();
    let mut listed: Vec<&str> = LIVE.iter().map(|(name, _)| *name).collect();
    live.sort_unstable();
    listed.sort_unstable();
    assert_eq!(live, listed);
    for (name, _) in RESTART {
        assert!(settings().any(|s| s.name == *name && s.change == Change::Restart), "{name}");
    }
}

#[test]
fn every_live_setting_takes_effect_at_once() {
    for (name, text) in LIVE {
        // A script matters only where prices are made by one.
        let script = [("bid-price-strategy", "shellScript"), ("bid-price-script-path", "/price")];
        let base: &[_] = if name.starts_with("bid-price-script") { &script } else { &[] };
        let old = config(base);
        let new = config(&[base, &[(*name, *text)]].concat());
        let (reload, waiting) = changes(&old, &new);
        assert_eq!(reload.changed, [*name]);
        assert_eq!(waiting, [], "{name}");
        let before = (&old.engine, &old.script, &old.log.levels);
        assert_ne!(before, (&reload.settings, &reload.script, &reload.levels), "{name}");
        assert_eq!(reload.settings, new.engine, "{name}");
    }
}

#[test]
fn what_needs_a_restart_changes_no_decision_before_it() {
    for (name, text) in RESTART {
        let old = config(&[]);
        let new = config(&[(*name, *text)]);
        let (reload, waiting) = changes(&old, &new);
        assert_eq!(reload.changed, [] as [&str; 0], "{name}");
        let names: Vec<&str> = waiting.iter().map(|needs| needs.setting).collect();
        assert_eq!(names, [*name]);
        assert_eq!(reload.settings, old.engine, "{name}");
    }
}

#[test]
fn generated_names_do_not_change_under_what_runs() {
    let domain = |domain| {
        config(&[
            ("deployment-ingress-static-hosts", "true"),
            ("deployment-ingress-domain", domain),
        ])
    };
    let (old, new) = (domain("old.example"), domain("new.example"));
    let (reload, waiting) = changes(&old, &new);
    assert_eq!(reload.settings.manifest.generated_under.as_deref(), Some("old.example"));
    assert_eq!(
        waiting[0].to_string(),
        "deployment-ingress-domain stays \"old.example\" until a restart, then \"new.example\""
    );
}

#[test]
fn secrets_are_not_told() {
    let (old, new) = (config(&[]), config(&[("redis-url", "redis://:secret@h")]));
    let (_, waiting) = changes(&old, &new);
    assert_eq!(waiting[0].to_string(), "redis-url stays what it is until a restart");
}

#[test]
fn attributes_of_the_file_are_taken_over() {
    let old = config(&[]);
    let mut given = given(&[]);
    let attributes = vec![akash_types::Attribute::new("tier", "1")];
    let content = FileContent { attributes: attributes.clone(), settings: vec![] };
    given.file = Some(GivenFile { path: "p.yaml".into(), content: Ok(content) });
    let (reload, waiting) = changes(&old, &of(&given).0);
    assert_eq!((reload.changed, waiting.len()), (vec!["attributes"], 0));
    assert_eq!(reload.settings.attributes, attributes);
}

#[test]
fn what_needs_a_restart_waits_through_every_reload() {
    let old = config(&[]);
    let first = config(&[("overcommit-pct-cpu", "100"), ("bid-timeout", "1m")]);
    let second = config(&[("overcommit-pct-cpu", "100"), ("bid-timeout", "2m")]);
    let running = old.reloaded(&first);
    assert_eq!(changes(&running, &first).0.changed, [] as [&str; 0]);
    let (reload, waiting) = changes(&running, &second);
    assert_eq!(reload.changed, ["bid-timeout"]);
    assert_eq!(reload.settings.commit, old.engine.commit);
    assert_eq!(waiting.len(), 1);
    assert_eq!(waiting[0].setting, "overcommit-pct-cpu");
}

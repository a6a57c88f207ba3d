//! `run`: settings from everywhere, and everything that is wrong with them.

use crate::cli::devnet::Devnet;
use crate::cli::support::{Ran, repository, run_with, text};
use crate::cli::tx::PROVIDER;

/// The provider of the recorded keyring, as its operator would start it.
fn check(args: &[&str], variables: &[(&str, &str)]) -> Ran {
    let home = repository("fixtures/keyring/home");
    let all = [
        &["run", "--check", "--home", text(&home), "--keyring-backend", "test"][..],
        &["--from", "provider", "--chain-id", "local"],
        args,
    ];
    run_with(&all.concat(), variables, b"")
}

const PRICE: [&str; 2] = ["--bid-price-cpu-scale", "0.004"];

#[test]
fn a_check_says_what_would_run() {
    let summary = check(&PRICE, &[]).quietly();
    for wanted in [PROVIDER, "local at http://localhost:26657", "SIMULATED", "provider.sock"] {
        assert!(summary.contains(wanted), "{summary}");
    }
}

#[test]
fn every_mistake_is_told_at_once_with_its_origin() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("provider.yaml");
    std::fs::write(&file, "bidtimeout: soon\nbidpricecpuscale: 0.1\n").unwrap();
    let args = ["--node", "ftp://x", "--provider-config", text(&file), "--cluster-k8s=perhaps"];
    let variables = [("AKASH_BID_DEPOSIT", "much"), ("AP_MONITOR_RETRY_PERIOD", "1s")];
    let stderr = check(&args, &variables).refused();
    for wanted in [
        "node (flag): ",
        "bid-deposit (AKASH_BID_DEPOSIT): ",
        "monitor-retry-period (AP_MONITOR_RETRY_PERIOD): flag \"monitor-retry-period\" value must \
         be > \"4s\"; give 4s or more\n",
        "bid-timeout (bidtimeout in ",
        "cluster-k8s (flag): \"perhaps\" is neither true nor false",
        "Error: the provider cannot run: 5 settings are wrong\n",
    ] {
        assert!(stderr.contains(wanted), "{wanted}: {stderr}");
    }
}

#[test]
fn the_command_line_wins_over_environment_and_file() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("provider.yaml");
    std::fs::write(&file, "gateway_listen_address: 0.0.0.0:1\nbidpricecpuscale: '1'\n").unwrap();
    let file = ["--provider-config", text(&file)];
    let rest = |args: &[&str], variables: &[(&str, &str)]| {
        let Ran { code, stdout, stderr } = check(&[&file, args].concat(), variables);
        assert_eq!(code, 0, "{stderr}");
        // What the file says and another place overrides is named.
        let is_overridden = !args.is_empty() || !variables.is_empty();
        assert_eq!(stderr.contains("overrides it"), is_overridden, "{stderr}");
        let line = stdout.lines().find(|line| line.contains("REST")).unwrap();
        line.split("REST ").nth(1).unwrap().split(',').next().unwrap().to_owned()
    };
    assert_eq!(rest(&[], &[]), "0.0.0.0:1");
    let variable = [("AKASH_GATEWAY_LISTEN_ADDRESS", "0.0.0.0:2")];
    assert_eq!(rest(&[], &variable), "0.0.0.0:2");
    assert_eq!(rest(&["--gateway-listen-address", "0.0.0.0:3"], &variable), "0.0.0.0:3");
}

#[test]
fn what_has_no_effect_is_noted() {
    let variables = [
        ("AKASH_BROADCAST_MODE", "block"),
        ("AKASH_YES", "true"),
        ("DEPLOYMENT_NETWORK_POLICIES_ENABLED", "false"),
    ];
    let Ran { code, stderr, .. } = check(&PRICE, &variables);
    assert_eq!(code, 0, "{stderr}");
    let lines: Vec<&str> = stderr.lines().collect();
    assert_eq!(lines.len(), 2, "{stderr}");
    assert!(lines[0].starts_with("note: broadcast-mode (AKASH_BROADCAST_MODE): accepted, has no"));
    assert!(lines[1].contains("network policies stay on"), "{stderr}");
}

#[test]
fn lists_are_given_one_by_one_or_together() {
    let nodes = ["--node", "http://one:1,http://two:2"];
    let args = [&PRICE[..], &nodes, &["--bid-price-storage-scale", "1"]];
    let more = ["--bid-price-storage-scale", "beta2=2", "--deployment-blocked-hostnames", "a,.b"];
    let summary = check(&[args.concat(), more.to_vec()].concat(), &[]).quietly();
    assert!(summary.contains("local at http://one:1, http://two:2"), "{summary}");
}

#[test]
fn clusters_to_come_and_files_that_are_missing_are_refused() {
    let script = ["--bid-price-strategy", "shellScript", "--bid-price-script-path", "/nowhere.sh"];
    let stderr = check(&[&script[..], &["--cluster", "swarm"]].concat(), &[]).refused();
    assert!(stderr.contains("swarm is not there yet"), "{stderr}");
    assert!(stderr.contains("/nowhere.sh: No such file"), "{stderr}");
    assert!(stderr.contains("2 settings are wrong"), "{stderr}");
}

#[test]
fn kubernetes_needs_a_kubeconfig_outside_of_a_pod() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("config");
    let path = file.to_str().unwrap();
    let args = [&PRICE[..], &["--cluster-k8s", "--kubeconfig", path]].concat();
    let stderr = check(&args, &[]).refused();
    assert!(stderr.contains("kubeconfig (flag): there is no kubeconfig"), "{stderr}");

    std::fs::write(&file, "clusters: [").unwrap();
    let stderr = check(&args, &[]).refused();
    assert!(stderr.contains("kubeconfig (flag): cannot use the kubeconfig"), "{stderr}");

    std::fs::write(&file, "apiVersion: v1\nkind: Config\nclusters: []\n").unwrap();
    let summary = check(&args, &[]).quietly();
    assert!(summary.contains(&format!("kubernetes, by {path}")), "{summary}");
}

#[test]
fn a_key_that_is_not_there_is_one_of_the_mistakes() {
    let stderr = run_with(&["run", "--check", "--from", "nobody", "--home", "/nowhere"], &[], b"");
    let stderr = stderr.refused();
    assert!(stderr.contains("from (flag): "), "{stderr}");
    assert!(stderr.contains("chain-id (default): the chain is not named"), "{stderr}");
    assert!(stderr.contains("bid-price-strategy (default): all price scales are zero"), "{stderr}");
}

#[test]
fn a_provider_that_is_not_registered_does_not_start() {
    let devnet = Devnet::start();
    let args = [&["run", "--from", "tenant", "--log_format", "json"], &PRICE[..]].concat();
    let Ran { code, stderr, .. } = devnet.run(&args);
    assert_eq!(code, 1, "{stderr}");
    let (logs, last) = stderr.trim_end().rsplit_once('\n').unwrap();
    assert!(last.contains("is not registered on local: register it with"), "{stderr}");
    for line in logs.lines() {
        let line: serde_json::Value = serde_json::from_str(line).unwrap();
        assert!(line["ts"].is_string() && line["level"] == "info", "{line}");
    }
}

//! How the controllers and the scheduler are called.

use std::path::Path;
use std::process::Command;

use anyhow::Result;

use crate::keys::Keys;
use crate::programs::Programs;

/// Requests per second, and at once: tests deploy hundreds of workloads and do not want to measure
/// the patience of a controller.
const PACE: [&str; 2] = ["--kube-api-qps=500", "--kube-api-burst=1000"];

/// Nobody elects a leader among one, and nobody asks for health or metrics: no ports.
const ALONE: [&str; 2] = ["--leader-elect=false", "--secure-port=0"];

/// Needs the authority's key and that of service accounts.
pub(crate) fn controllers(programs: &Programs, keys: &Keys, kubeconfig: &Path) -> Result<Command> {
    let mut command = programs.command("kube-controller-manager")?;
    let file = |name: &str, file: &str| format!("--{name}={}", keys.path(file).display());
    command.args(ALONE).args(PACE).arg("--kubeconfig").arg(kubeconfig).args([
        "--use-service-account-credentials".to_owned(),
        file("service-account-private-key-file", "sa.key"),
        file("root-ca-file", "ca.crt"),
        file("cluster-signing-cert-file", "ca.crt"),
        file("cluster-signing-key-file", "ca.key"),
        // Where no plugin is; else it makes a folder of the system.
        "--flex-volume-plugin-dir=plugins".to_owned(),
        // Fake nodes have no heartbeat.
        "--node-monitor-grace-period=24h".to_owned(),
    ]);
    Ok(command)
}

pub(crate) fn scheduler(programs: &Programs, kubeconfig: &Path) -> Result<Command> {
    let mut command = programs.command("kube-scheduler")?;
    command.args(ALONE).args(PACE).arg("--kubeconfig").arg(kubeconfig);
    Ok(command)
}

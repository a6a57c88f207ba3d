//! Whether tenants are kept apart: probed when the operator asks, and again and again where bids
//! require it.

use std::convert::Infallible;
use std::time::Duration;

use futures_util::future::BoxFuture;
use provider_engine::OperatorRequest;
use provider_engine::order::isolation::IsolationHold;
use provider_gateway::certs::{Vault, VaultFailure};
use provider_kube::SecretEntry;
use provider_kube::probe::plan::Report;
use provider_kube::probe::{IsolationProbe, ProbeError};

use crate::ctl::wire;
use crate::engine_task::Handle;
use crate::part::{Lifecycle, Part};

/// How long a probe that could not be made waits for the next, at most.
const RETRY: Duration = Duration::from_secs(300);

/// The probe of a Kubernetes cluster, and what it is made with.
#[derive(Clone, Debug)]
pub(crate) struct Isolation {
    pub(crate) probe: IsolationProbe,
    /// Image of the probe's pods, unless the operator names another.
    pub(crate) image: String,
    /// How often it is probed where bids require it; `None` if they do not.
    pub(crate) required_every: Option<Duration>,
}

impl Isolation {
    /// Probes for the operator. What it finds out, the engine hears too; that nothing was found out
    /// changes nothing there.
    pub(crate) async fn probe(
        &self,
        image: Option<String>,
        engine: &Handle,
    ) -> Result<Report, ProbeError> {
        let report = self.probe.run(image.as_deref().unwrap_or(&self.image)).await?;
        tell(engine, hold(&Ok(&report))).await;
        Ok(report)
    }

    /// Probes again and again, and tells the engine each time.
    pub(crate) async fn watch(
        self,
        period: Duration,
        engine: Handle,
        part: Part,
    ) -> Result<(), Infallible> {
        loop {
            let result = self.probe.run(&self.image).await;
            let hold = hold(&result.as_ref());
            // One that ended well is no problem any more.
            part.is(Lifecycle::Running);
            match &hold {
                None => tracing::info!("isolation probe: tenants are isolated"),
                Some(hold) => {
                    tracing::error!(%hold, "isolation probe: no new bids; leases go on");
                    part.has_problem(hold.to_string());
                }
            }
            tell(&engine, hold).await;
            let pause = if result.is_ok() { period } else { period.min(RETRY) };
            tokio::time::sleep(pause).await;
        }
    }
}

/// What a probe means for bids that require isolation.
fn hold(result: &Result<&Report, &ProbeError>) -> Option<IsolationHold> {
    match result {
        Ok(report) => report.summary().map(IsolationHold::Findings),
        Err(error) => Some(IsolationHold::Unknown(error.to_string())),
    }
}

async fn tell(engine: &Handle, hold: Option<IsolationHold>) {
    if let Err(error) = engine.operator(OperatorRequest::Isolation(hold)).await {
        tracing::warn!(%error, "the engine did not hear of the isolation probe");
    }
}

/// What the operator is shown.
pub(crate) fn attempts(report: &Report) -> Vec<wire::Attempt> {
    let attempt = |it: &provider_kube::probe::plan::Connection| wire::Attempt {
        from_node: it.from.clone(),
        target: it.target.kind.code().to_owned(),
        address: it.target.address.to_string(),
        reached: it.reached,
    };
    report.connections.iter().map(attempt).collect()
}

/// An entry of a Secret as the second place of the certificate's file.
#[derive(Debug)]
pub(crate) struct SecretVault(pub(crate) SecretEntry);

impl Vault for SecretVault {
    fn read(&self) -> BoxFuture<'_, Result<Option<String>, VaultFailure>> {
        Box::pin(async {
            let kept = self.0.read().await.map_err(|error| failure(&error))?;
            let text = kept.map(String::from_utf8).transpose();
            text.map_err(|_| {
                VaultFailure("the Secret of --server-cert-secret holds no text".into())
            })
        })
    }

    fn write(&self, text: String) -> BoxFuture<'_, Result<(), VaultFailure>> {
        Box::pin(
            async move { self.0.write(text.as_bytes()).await.map_err(|error| failure(&error)) },
        )
    }
}

fn failure(error: &kube_access::Failure) -> VaultFailure {
    VaultFailure(format!("the Secret of --server-cert-secret cannot be used: {error}"))
}

#[cfg(test)]
mod tests {
    use provider_kube::probe::plan::{Connection, Target, TargetKind};

    use super::*;

    #[test]
    fn a_probe_that_could_not_be_made_is_unknown_and_not_a_finding() {
        let address = "10.0.0.1:10250".parse().unwrap();
        let target = Target { kind: TargetKind::Kubelet, address };
        let report = |reached| Report {
            connections: vec![Connection { from: "one".to_owned(), target, reached }],
        };
        assert_eq!(hold(&Ok(&report(false))), None);
        let found = hold(&Ok(&report(true))).unwrap();
        assert_eq!(found.code(), "findings");
        assert!(found.to_string().ends_with("reach kubelet at 10.0.0.1:10250"), "{found}");
        let taken = ProbeError::Taken("akash-isolation-probe-a".to_owned());
        assert_eq!(hold(&Err(&taken)).unwrap().code(), "unknown");
    }
}

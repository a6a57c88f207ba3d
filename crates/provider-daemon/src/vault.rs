//! The provider's own certificate, kept in a Secret of the cluster.

use futures_util::future::BoxFuture;
use provider_gateway::certs::{Vault, VaultFailure};
use provider_kube::SecretEntry;

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

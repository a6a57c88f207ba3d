//! Letting nothing of a lease remain.

use akash_types::LeaseId;
use kube_access::{Failure, Preconditions, ResourceKind};
use provider_crd::{labels, names};

use super::write::Writer;
use crate::settings::Settings;

/// Has everything of a lease deleted. What leads to it goes first, then the namespace with all that
/// is in it, and the `Manifest` last: as long as anything is left, something names the lease.
///
/// How far the namespace has come, and what holds it, is in the view.
pub(super) async fn teardown(
    writer: Writer<'_>,
    settings: &Settings,
    lease: &LeaseId,
) -> Result<(), Failure> {
    let own = settings.manifest_namespace.as_str();
    let selector = labels::lease_selector(lease);
    writer.delete_all(ResourceKind::HOST, own, &selector).await?;
    writer.delete_all(ResourceKind::LEASED_IP, own, &selector).await?;
    let namespace = names::lease_namespace(lease);
    writer.delete(ResourceKind::NAMESPACE, None, &namespace, Preconditions::default()).await?;
    writer.delete(ResourceKind::MANIFEST, Some(own), &namespace, Preconditions::default()).await
}

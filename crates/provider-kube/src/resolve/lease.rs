//! A lease with all that is needed to build its objects.

use akash_sdl::manifest as sent;
use akash_types::LeaseId;
use provider_crd::manifest::SchedulerParams;
use provider_crd::{Manifest, names};

use super::ResolveError;

/// A lease and what it shall run, as the cluster keeps it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lease {
    pub id: LeaseId,
    pub namespace: String,
    /// The `resourceVersion` of its `Manifest`; empty if that was not written yet.
    pub revision: String,
    pub services: Vec<Service>,
}

/// A service and what was decided about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Service {
    pub wanted: sent::Service,
    pub scheduler: Option<SchedulerParams>,
}

impl Lease {
    /// The lease of a `Manifest`.
    ///
    /// When the `Manifest` is malformed; the others are read nevertheless.
    pub fn of(manifest: &Manifest) -> Result<Self, ResolveError> {
        let id = manifest.lease()?;
        let group = manifest.spec.group()?;
        let kept = &manifest.spec.group.services;
        let services = group.services.into_iter().zip(kept);
        Ok(Self {
            id,
            namespace: names::lease_namespace(&id),
            revision: manifest.metadata.resource_version.clone().unwrap_or_default(),
            services: services
                .map(|(wanted, kept)| Service { wanted, scheduler: kept.scheduler_params.clone() })
                .collect(),
        })
    }
}

impl Service {
    /// Its name, which is also the name of its workload, container and Service.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.wanted.name
    }

    pub fn volumes(&self) -> impl Iterator<Item = &akash_types::Storage> {
        self.wanted.resources.storage.iter().flatten()
    }

    pub fn exposes(&self) -> impl Iterator<Item = &sent::ServiceExpose> {
        self.wanted.expose.iter().flatten()
    }

    /// Where its volumes are mounted.
    pub fn mounts(&self) -> impl Iterator<Item = &sent::StorageParams> {
        self.wanted.params.iter().flat_map(|params| params.storage.iter().flatten())
    }

    /// What its pods may read of their lease.
    #[must_use]
    pub fn permissions(&self) -> &[String] {
        let given = self.wanted.params.as_ref().and_then(|params| params.permissions.as_ref());
        given.map_or(&[], |given| &given.read)
    }

    /// Whether it keeps something: then it is a StatefulSet, else a Deployment.
    #[must_use]
    pub fn is_stateful(&self) -> bool {
        self.volumes().any(akash_types::Storage::is_persistent)
    }
}

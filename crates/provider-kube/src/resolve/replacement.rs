//! Whether a manifest may take the place of the one that is there.

use std::collections::BTreeSet;

use provider_crd::Manifest;

/// An update names other services than are deployed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "the services of a lease cannot be added, removed or renamed: deployed are {deployed:?}, the \
     manifest has {wanted:?}; close the deployment and create another"
)]
pub struct ServicesDiffer {
    /// What is deployed.
    pub deployed: Vec<String>,
    pub wanted: Vec<String>,
}

/// Whether `wanted` may replace `existing`: it has to have the same services, since workloads are
/// never taken away one by one.
pub fn check_replacement(existing: &Manifest, wanted: &Manifest) -> Result<(), ServicesDiffer> {
    let names = |manifest: &Manifest| -> BTreeSet<String> {
        manifest.spec.group.services.iter().map(|service| service.name.clone()).collect()
    };
    let (deployed, wanted) = (names(existing), names(wanted));
    if deployed == wanted {
        return Ok(());
    }
    let list = |names: BTreeSet<String>| names.into_iter().collect();
    Err(ServicesDiffer { deployed: list(deployed), wanted: list(wanted) })
}

#[cfg(test)]
mod tests {
    use provider_crd::manifest::Service;

    use super::*;

    fn manifest(names: &[&str]) -> Manifest {
        let mut manifest = Manifest::default();
        manifest.spec.group.services = names
            .iter()
            .map(|name| Service { name: (*name).to_owned(), ..Service::default() })
            .collect();
        manifest
    }

    #[test]
    fn an_update_has_the_same_services_in_any_order() {
        let deployed = manifest(&["db", "web"]);
        assert_eq!(check_replacement(&deployed, &manifest(&["web", "db"])), Ok(()));
        for other in [&["web"][..], &["db", "web", "x"], &["db", "api"]] {
            let error = check_replacement(&deployed, &manifest(other)).unwrap_err();
            assert_eq!(
                error.wanted,
                other
                    .iter()
                    .map(|name| (*name).to_owned())
                    .collect::<BTreeSet<_>>()
                    .into_iter()
                    .collect::<Vec<_>>()
            );
        }
    }
}

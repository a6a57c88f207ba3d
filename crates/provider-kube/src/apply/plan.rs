//! In which order the objects of a lease are written.
//!
//! What a pod needs is there before the pod; what restricts it as well. Workloads come last: once
//! they carry the revision of the `Manifest`, everything of the lease was written, and a provider
//! that ended before goes on.

use crate::build::Object;

/// The objects in steps. Those of one step do not depend on each other.
pub(crate) fn steps(objects: Vec<Object>) -> [Vec<Object>; 5] {
    let mut steps: [Vec<Object>; 5] = Default::default();
    for object in objects {
        let [first, guards, ways, names, workloads] = &mut steps;
        let step = match object {
            Object::Namespace(_) | Object::Manifest(_) => first,
            Object::NetworkPolicy(_)
            | Object::ServiceAccount(_)
            | Object::Role(_)
            | Object::Secret(_) => guards,
            // The API server wants to see the role that is bound.
            Object::RoleBinding(_) | Object::Service(_) => ways,
            Object::ProviderHost(_) | Object::ProviderLeasedIp(_) => names,
            Object::Deployment(_) | Object::StatefulSet(_) => workloads,
        };
        step.push(object);
    }
    steps
}

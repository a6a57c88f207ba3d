//! On which nodes a service may run.

use k8s_openapi::api::core::v1::{
    Affinity, NodeAffinity, NodeSelector, NodeSelectorRequirement, NodeSelectorTerm,
};
use provider_crd::labels;
use provider_crd::manifest::SchedulerGpu;

use crate::resolve::Service;
use crate::settings::Settings;

/// Nodes that are managed, have the promised card and the classes of its volumes; in a cluster of
/// several architectures, those of the one that it was ordered for.
///
/// Elsewhere the architecture is not named: live templates of Go providers do not name it, and
/// another template would restart their pods.
pub(super) fn of(service: &Service, settings: &Settings) -> Affinity {
    let mut requirements = vec![requirement(labels::MANAGED.to_owned(), "In", labels::TRUE)];
    let resources = service.scheduler.as_ref().and_then(|params| params.resources.as_ref());
    if let Some(gpu) = resources.and_then(|resources| resources.gpu.as_ref()) {
        requirements.extend(card(gpu));
    }
    for volume in service.volumes().filter(|volume| volume.is_persistent()) {
        requirements.extend(volume.class().map(|class| some(labels::node_storage_class(class))));
    }
    let arch = service.wanted.resources.cpu.as_ref().and_then(|cpu| cpu.arch().ok());
    if let Some(arch) = arch.filter(|_| settings.has_mixed_architectures) {
        requirements.push(requirement(labels::NODE_ARCH.to_owned(), "In", arch.as_str()));
    }
    let term =
        NodeSelectorTerm { match_expressions: Some(requirements), ..NodeSelectorTerm::default() };
    let selector = NodeSelector { node_selector_terms: vec![term] };
    let node_affinity = NodeAffinity {
        required_during_scheduling_ignored_during_execution: Some(selector),
        ..NodeAffinity::default()
    };
    Affinity { node_affinity: Some(node_affinity), ..Affinity::default() }
}

fn card(gpu: &SchedulerGpu) -> Vec<NodeSelectorRequirement> {
    let model = labels::node_gpu_model(&gpu.vendor, &gpu.model);
    let mut requirements = vec![some(model.clone())];
    if !gpu.memory_size.is_empty() {
        requirements.push(some(format!("{model}.ram.{}", gpu.memory_size)));
    }
    if !gpu.interface.is_empty() {
        // The Go provider puts the memory where the interface belongs. A Manifest with an interface
        // has templates like this one, and another key would restart its pods.
        requirements.push(some(format!("{model}.interface.{}", gpu.memory_size)));
    }
    requirements
}

/// That the node has at least one of what the label counts.
fn some(key: String) -> NodeSelectorRequirement {
    requirement(key, "Gt", "0")
}

fn requirement(key: String, operator: &str, value: &str) -> NodeSelectorRequirement {
    NodeSelectorRequirement {
        key,
        operator: operator.to_owned(),
        values: Some(vec![value.to_owned()]),
    }
}

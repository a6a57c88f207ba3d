//! A service's pods: a Deployment, or a StatefulSet if it keeps something.

use k8s_openapi::api::apps::v1::{
    Deployment, DeploymentSpec, DeploymentStrategy, RollingUpdateDeployment,
    RollingUpdateStatefulSetStrategy, StatefulSet, StatefulSetSpec, StatefulSetUpdateStrategy,
};
use k8s_openapi::api::core::v1::{
    LocalObjectReference, PodSecurityContext, PodSpec, PodTemplateSpec,
};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{LabelSelector, ObjectMeta};
use k8s_openapi::apimachinery::pkg::util::intstr::IntOrString;
use provider_crd::names;

use super::{BuildError, Object, affinity, container, metadata, service_labels, service_selector};
use crate::resolve::{Lease, Service};
use crate::settings::Settings;

/// The runtime class that stands for none.
const NO_RUNTIME_CLASS: &str = "none";

pub(super) fn of(
    lease: &Lease,
    service: &Service,
    settings: &Settings,
) -> Result<Object, BuildError> {
    let count = service.wanted.count;
    let too_large = || BuildError::TooLarge {
        service: service.name().to_owned(),
        what: "number of replicas",
        value: count.into(),
    };
    let replicas = i32::try_from(count).map_err(|_| too_large())?;
    let template = template(lease, service, settings)?;
    let metadata = metadata(lease, service.name(), service_labels(lease, service));
    let selector = LabelSelector {
        match_labels: Some(service_selector(lease, service)),
        ..LabelSelector::default()
    };
    if !service.is_stateful() {
        let spec = DeploymentSpec {
            replicas: Some(replicas),
            revision_history_limit: Some(10),
            selector,
            strategy: Some(deployment_strategy()),
            template,
            ..DeploymentSpec::default()
        };
        return Ok(Deployment { metadata, spec, status: None }.into());
    }
    let spec = StatefulSetSpec {
        replicas: Some(replicas),
        revision_history_limit: Some(1),
        selector,
        update_strategy: Some(stateful_set_strategy()),
        volume_claim_templates: Some(container::claims(service)?),
        template,
        ..StatefulSetSpec::default()
    };
    Ok(StatefulSet { metadata, spec, status: None }.into())
}

/// One replica after the other, and never more than there is room for.
fn deployment_strategy() -> DeploymentStrategy {
    DeploymentStrategy {
        type_: Some("RollingUpdate".to_owned()),
        rolling_update: Some(RollingUpdateDeployment {
            max_surge: Some(IntOrString::Int(0)),
            max_unavailable: Some(IntOrString::Int(1)),
        }),
    }
}

/// The same; an API server without the feature drops the number of unavailable ones.
fn stateful_set_strategy() -> StatefulSetUpdateStrategy {
    StatefulSetUpdateStrategy {
        type_: Some("RollingUpdate".to_owned()),
        rolling_update: Some(RollingUpdateStatefulSetStrategy {
            max_unavailable: Some(IntOrString::Int(1)),
            partition: Some(0),
        }),
    }
}

fn template(
    lease: &Lease,
    service: &Service,
    settings: &Settings,
) -> Result<PodTemplateSpec, BuildError> {
    let may_read = !service.permissions().is_empty();
    let memory = container::memory(service)?;
    let spec = PodSpec {
        affinity: Some(affinity::of(service, settings)),
        automount_service_account_token: Some(may_read),
        service_account_name: may_read.then(|| service.name().to_owned()),
        security_context: Some(PodSecurityContext {
            run_as_non_root: Some(false),
            seccomp_profile: settings.isolation.seccomp(),
            ..PodSecurityContext::default()
        }),
        runtime_class_name: runtime_class(service, settings),
        image_pull_secrets: pull_secrets(service, settings),
        containers: vec![container::of(lease, service, settings)?],
        volumes: (!memory.is_empty()).then_some(memory),
        ..PodSpec::default()
    };
    let labels = Some(service_labels(lease, service));
    Ok(PodTemplateSpec {
        metadata: Some(ObjectMeta { labels, ..ObjectMeta::default() }),
        spec: Some(spec),
    })
}

/// The class that a service's cards need comes first: without it the pod has none of them.
fn runtime_class(service: &Service, settings: &Settings) -> Option<String> {
    let needed = service.scheduler.as_ref().map(|scheduler| &scheduler.runtime_class);
    let needed = needed.filter(|class| !class.is_empty() && *class != NO_RUNTIME_CLASS);
    needed.or(settings.isolation.runtime_class.as_ref()).cloned()
}

fn pull_secrets(service: &Service, settings: &Settings) -> Option<Vec<LocalObjectReference>> {
    let name = match &service.wanted.credentials {
        Some(_) => Some(names::pull_secret(service.name())),
        None => settings.pull_secret.clone(),
    };
    name.map(|name| vec![LocalObjectReference { name }])
}

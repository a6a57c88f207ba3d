//! Whether the routes that we make are those that were recorded.

use provider_crd::labels;
use provider_kube::settings::IngressMode;
use provider_operators::hostname::build::route;
use provider_operators::hostname::claim::Claim;
use provider_operators::hostname::exposed::ExposedPorts;
use provider_operators::hostname::settings::{INGRESS_CLASS, Routes};
use serde_json::Value;

use super::difference::{Difference, differences};
use super::recorded::{Case, text_at};
use super::stored::without_what_varies;

/// What an answer's headers get, by the flag's default.
const BUFFER_SIZE: &str = "16k";

/// Every difference between the routes that we make of the recorded custom resources and those that
/// were recorded; also what is there only once.
pub fn compare_routes(case: &Case) -> Result<Vec<Difference>, Box<dyn std::error::Error>> {
    let routes = routes(case);
    let kind = routes.kind().name;
    let recorded = case.objects.iter().chain(&case.routes).filter(|object| {
        let managed = object.pointer("/metadata/labels").and_then(|it| it.get(labels::MANAGED));
        text_at(object, "/kind") == kind && managed.is_some()
    });
    let mut recorded: Vec<Value> = recorded.cloned().map(without_what_varies).collect();
    let mut found = Vec::new();
    let mut exposed = None;
    for manifest in case.custom.iter().filter(|object| text_at(object, "/kind") == "Manifest") {
        exposed = Some(ExposedPorts::of(&serde_json::from_value(manifest.clone())?)?);
    }
    for host in case.custom.iter().filter(|object| text_at(object, "/kind") == "ProviderHost") {
        let claim = Claim::of(&serde_json::from_value(host.clone())?)?;
        let exposed = exposed.as_ref().ok_or("no Manifest was recorded")?;
        let built = route(&claim, exposed.port(&claim.service, claim.port)?, &routes);
        let name = text_at(&built, "/metadata/name").to_owned();
        let title = format!("{kind}/{name}");
        let place = recorded.iter().position(|it| text_at(it, "/metadata/name") == name);
        match place.map(|place| recorded.swap_remove(place)) {
            Some(recorded) => found.extend(differences(&title, &built, &recorded)),
            None => found.push(once(title, Some(built), None)),
        }
    }
    found.extend(recorded.into_iter().map(|left| {
        once(format!("{kind}/{}", text_at(&left, "/metadata/name")), None, Some(left))
    }));
    Ok(found)
}

/// What routes were made of.
fn routes(case: &Case) -> Routes {
    match &case.settings.ingress {
        IngressMode::Ingress => Routes::Ingress { class: INGRESS_CLASS.to_owned() },
        IngressMode::GatewayApi { name, namespace } => Routes::Gateway {
            name: name.clone(),
            namespace: namespace.clone(),
            buffer_size: BUFFER_SIZE.to_owned(),
        },
    }
}

const fn once(object: String, built: Option<Value>, recorded: Option<Value>) -> Difference {
    Difference { object, path: String::new(), built, recorded }
}

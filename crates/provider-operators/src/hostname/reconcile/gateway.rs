//! Which program serves the gateway: the controller of the class that the Gateway names.
//!
//! What was found out stays when the Gateway or its class is gone: routes are not rewritten because
//! what serves them is away.

use std::collections::BTreeMap;

use kube_access::ResourceKind;
use kube_access::follow::CachedObject;
use serde_json::Value;

use super::index::HostIndex;
use crate::hostname::settings::{Implementation, Routes};

/// What is known of the Gateway and of classes.
#[derive(Clone, Debug, Default)]
pub(super) struct Gateway {
    class: Option<String>,
    /// Controllers by the name of their class.
    controllers: BTreeMap<String, String>,
}

impl Gateway {
    fn implementation(&self) -> Option<Implementation> {
        let controller = self.controllers.get(self.class.as_ref()?)?;
        Some(Implementation::of(controller))
    }
}

impl HostIndex {
    /// Whether a kind says which program serves the gateway.
    pub(super) fn is_of_gateway(kind: ResourceKind) -> bool {
        kind == ResourceKind::GATEWAY || kind == ResourceKind::GATEWAY_CLASS
    }

    /// Whether it was looked for what serves the gateway, where there is to be one.
    pub(super) fn gateway_is_known(&self) -> bool {
        let kinds = [ResourceKind::GATEWAY, ResourceKind::GATEWAY_CLASS];
        let is_needed = matches!(self.settings.routes, Routes::Gateway { .. });
        !is_needed || kinds.iter().all(|kind| self.listed.contains(kind))
    }

    /// Which program serves the gateway cannot be seen: the cluster has no such kind, or does not
    /// let us.
    pub fn cannot_see_gateway(&mut self, kind: ResourceKind) {
        self.listed.insert(kind);
    }

    /// These are all objects of a kind of the gateway.
    pub(super) fn all_of_gateway(&mut self, kind: ResourceKind, shown: Vec<CachedObject>) {
        if kind == ResourceKind::GATEWAY_CLASS {
            self.gateway.controllers.clear();
        }
        for shown in shown {
            self.is_of_gateway_now(kind, &shown);
        }
        self.listed.insert(kind);
    }

    /// An object of the gateway came or changed.
    pub(super) fn is_of_gateway_now(&mut self, kind: ResourceKind, shown: &CachedObject) {
        let object = shown.json(kind);
        let text =
            |pointer: &str| object.pointer(pointer).and_then(Value::as_str).map(str::to_owned);
        match kind {
            ResourceKind::GATEWAY => self.gateway.class = text("/spec/gatewayClassName"),
            _ => {
                let controller = text("/spec/controllerName").unwrap_or_default();
                self.gateway.controllers.insert(shown.name.clone(), controller);
            }
        }
        match self.gateway.implementation() {
            Some(implementation) if implementation != self.implementation => {
                tracing::info!(?implementation, "which program serves the gateway was found out");
                self.serves(implementation);
            }
            _ => {}
        }
    }
}

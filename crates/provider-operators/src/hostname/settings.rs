//! What the operator of the cluster decided about hostnames.

use std::time::Duration;

use akash_types::hostname::BlockedHostnames;
use kube_access::ResourceKind;

/// The class that the Go operator gives every Ingress.
pub const INGRESS_CLASS: &str = "akash-ingress-class";

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Namespace of the custom resources (`k8s-manifest-ns`).
    pub manifest_namespace: String,
    pub routes: Routes,
    /// Names that are not served (`deployment-blocked-hostnames`).
    pub blocked: BlockedHostnames,
    /// How long a host that failed waits for its next try, at first (`retry-delay`). It grows with
    /// every failure.
    pub retry_delay: Duration,
    /// How long a route waits for its filter of directives to be accepted.
    pub filter_patience: Duration,
}

impl Default for Settings {
    /// The defaults of the Go operator's flags.
    fn default() -> Self {
        Self {
            manifest_namespace: "lease".to_owned(),
            routes: Routes::Ingress { class: INGRESS_CLASS.to_owned() },
            blocked: BlockedHostnames::default(),
            retry_delay: Duration::from_secs(3),
            filter_patience: Duration::from_secs(15),
        }
    }
}

/// What routes are made of (`ingress-mode`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Routes {
    Ingress {
        /// The class that says which controller serves them.
        class: String,
    },
    /// HTTPRoute objects of the Gateway API.
    Gateway {
        /// The gateway (`gateway-name`).
        name: String,
        /// Its namespace (`gateway-namespace`).
        namespace: String,
        /// Buffer for an answer's headers, as nginx writes it; empty for none
        /// (`proxy-buffer-size`).
        buffer_size: String,
    },
}

impl Routes {
    /// The kind of object that routes are.
    pub const fn kind(&self) -> ResourceKind {
        match self {
            Self::Ingress { .. } => ResourceKind::INGRESS,
            Self::Gateway { .. } => ResourceKind::HTTP_ROUTE,
        }
    }

    /// The kind that routes were before, if the operator of the cluster changed their mind.
    pub const fn other_kind(&self) -> ResourceKind {
        match self {
            Self::Ingress { .. } => ResourceKind::HTTP_ROUTE,
            Self::Gateway { .. } => ResourceKind::INGRESS,
        }
    }
}

/// Which program serves the routes of the Gateway API.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Implementation {
    /// Not known, or routes are Ingresses: they are as the Go operator makes them.
    #[default]
    Unknown,
    /// NGINX Gateway Fabric: options of HTTP are directives in a `SnippetsFilter`.
    Nginx,
    /// Another one, by the name of its controller: it reads timeouts of routes, and no more.
    Other(String),
}

impl Implementation {
    /// The program whose controller has this name.
    pub fn of(controller: &str) -> Self {
        match controller.starts_with("gateway.nginx.org/") {
            true => Self::Nginx,
            false => Self::Other(controller.to_owned()),
        }
    }
}

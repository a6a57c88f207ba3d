//! Which request wants what: one plain function of method and path.
//!
//! Segments are compared exactly, after percent-decoding; a slash at the end makes another path.
//! A path that could be written shorter is answered with the shorter one.

use http::Method;
use percent_encoding::{AsciiSet, CONTROLS, percent_decode_str, utf8_percent_encode};

/// What a path may not hold as it is. Browsers read a backslash as a slash, and two of these at
/// the beginning as another host.
const PATH: &AsciiSet = &CONTROLS
    .add(b' ')
    .add(b'"')
    .add(b'#')
    .add(b'<')
    .add(b'>')
    .add(b'?')
    .add(b'`')
    .add(b'%')
    .add(b'\\');

/// What is wanted. Numbers are still as they were written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Route {
    Version,
    Address,
    Status,
    /// Whether a group would be bid on.
    Validate,
    Metrics,
    SendManifest {
        dseq: String,
    },
    Lease {
        /// Deployment, group and order.
        id: [String; 3],
        what: OfLease,
    },
    /// A proof of the hardware that a lease runs on.
    Attestation,
    MigrateHostnames,
    /// To move leased addresses.
    MigrateEndpoints,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OfLease {
    Manifest,
    Status,
    Service(String),
    /// What its containers wrote.
    Logs,
    Events,
    /// A command in one of its containers.
    Shell,
}

/// Where a request leads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Routed {
    To(Route),
    NotFound,
    /// The path leads somewhere, by other methods.
    MethodNotAllowed,
    /// The path is no text.
    Unreadable,
    /// To the same path, written shorter.
    Moved(String),
}

/// Finds out what is wanted.
pub fn route(method: &Method, path: &str) -> Routed {
    let Ok(decoded) = percent_decode_str(path).decode_utf8() else {
        return Routed::Unreadable;
    };
    let cleaned = clean(&decoded);
    if cleaned != decoded {
        return Routed::Moved(utf8_percent_encode(&cleaned, PATH).to_string());
    }
    let segments: Vec<&str> = decoded.split('/').skip(1).collect();
    let only = |allowed: Method, to: Route| match *method == allowed {
        true => Routed::To(to),
        false => Routed::MethodNotAllowed,
    };
    match segments.as_slice() {
        ["version"] => only(Method::GET, Route::Version),
        ["address"] => only(Method::GET, Route::Address),
        ["status"] => only(Method::GET, Route::Status),
        ["metrics"] => only(Method::GET, Route::Metrics),
        // Existing clients send a body with GET, which not everything in between lets through.
        ["validate"] if *method == Method::POST => Routed::To(Route::Validate),
        ["validate"] => only(Method::GET, Route::Validate),
        ["deployment", dseq, "manifest"] if !dseq.is_empty() => {
            only(Method::PUT, Route::SendManifest { dseq: (*dseq).to_owned() })
        }
        ["hostname", "migrate"] => only(Method::POST, Route::MigrateHostnames),
        ["endpoint", "migrate"] => only(Method::POST, Route::MigrateEndpoints),
        ["lease", _, _, _, "attestation", "quote"] if *method == Method::POST => {
            Routed::To(Route::Attestation)
        }
        ["lease", dseq, gseq, oseq, rest @ ..] => {
            let id = [*dseq, *gseq, *oseq].map(str::to_owned);
            match of_lease(rest).filter(|_| id.iter().all(|number| !number.is_empty())) {
                // Under leases a wrong method is as good as a wrong path, as existing providers
                // have it; a shell takes any, since only a handshake leads on.
                Some(what) if *method == Method::GET || what == OfLease::Shell => {
                    Routed::To(Route::Lease { id, what })
                }
                _ => Routed::NotFound,
            }
        }
        _ => Routed::NotFound,
    }
}

fn of_lease(segments: &[&str]) -> Option<OfLease> {
    match segments {
        ["manifest"] => Some(OfLease::Manifest),
        ["status"] => Some(OfLease::Status),
        ["logs"] => Some(OfLease::Logs),
        ["kubeevents"] => Some(OfLease::Events),
        ["shell"] => Some(OfLease::Shell),
        ["service", name, "status"] if !name.is_empty() => {
            Some(OfLease::Service((*name).to_owned()))
        }
        _ => None,
    }
}

/// The shortest path that means the same.
fn clean(path: &str) -> String {
    let mut kept: Vec<&str> = Vec::new();
    for segment in path.split('/') {
        match segment {
            "" | "." => {}
            ".." => drop(kept.pop()),
            name => kept.push(name),
        }
    }
    let mut cleaned = format!("/{}", kept.join("/"));
    if path.ends_with('/') && cleaned != "/" {
        cleaned.push('/');
    }
    cleaned
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn get(path: &str) -> Routed {
        route(&Method::GET, path)
    }

    #[test]
    fn every_path_of_the_contract_leads_somewhere() {
        let id = || ["9001", "1", "1"].map(str::to_owned);
        let lease = |what| Routed::To(Route::Lease { id: id(), what });
        let table = [
            ("GET", "/version", Routed::To(Route::Version)),
            ("GET", "/address", Routed::To(Route::Address)),
            ("GET", "/status", Routed::To(Route::Status)),
            ("GET", "/validate", Routed::To(Route::Validate)),
            (
                "PUT",
                "/deployment/9001/manifest",
                Routed::To(Route::SendManifest { dseq: "9001".to_owned() }),
            ),
            ("GET", "/lease/9001/1/1/manifest", lease(OfLease::Manifest)),
            ("GET", "/lease/9001/1/1/status", lease(OfLease::Status)),
            ("GET", "/lease/9001/1/1/service/we%62/status", lease(OfLease::Service("web".into()))),
            ("GET", "/lease/9001/1/1/logs", lease(OfLease::Logs)),
            ("GET", "/lease/9001/1/1/kubeevents", lease(OfLease::Events)),
            ("GET", "/lease/9001/1/1/shell", lease(OfLease::Shell)),
            ("POST", "/lease/9001/1/1/shell", lease(OfLease::Shell)),
            ("POST", "/lease/9001/1/1/attestation/quote", Routed::To(Route::Attestation)),
            ("POST", "/hostname/migrate", Routed::To(Route::MigrateHostnames)),
            ("POST", "/endpoint/migrate", Routed::To(Route::MigrateEndpoints)),
        ];
        for (method, path, routed) in table {
            assert_eq!(route(&method.parse().unwrap(), path), routed, "{method} {path}");
        }
    }

    #[test]
    fn other_methods_and_paths_lead_nowhere_as_recorded() {
        for (method, path, routed) in [
            ("HEAD", "/status", Routed::MethodNotAllowed),
            ("OPTIONS", "/status", Routed::MethodNotAllowed),
            ("POST", "/status", Routed::MethodNotAllowed),
            ("GET", "/deployment/9001/manifest", Routed::MethodNotAllowed),
            ("POST", "/deployment/9001/manifest", Routed::MethodNotAllowed),
            ("POST", "/lease/9001/1/1/status", Routed::NotFound),
            ("OPTIONS", "/lease/9001/1/1/status", Routed::NotFound),
            ("GET", "/", Routed::NotFound),
            ("GET", "/nope", Routed::NotFound),
            ("GET", "/Status", Routed::NotFound),
            ("GET", "/status/", Routed::NotFound),
            ("GET", "/v1/status", Routed::NotFound),
            ("GET", "/lease/1/1/status", Routed::NotFound),
            ("GET", "/lease/9001/1/1/attestation/quote", Routed::NotFound),
            ("GET", "//status", Routed::Moved("/status".to_owned())),
            ("GET", "/lease/../status", Routed::Moved("/status".to_owned())),
            ("GET", "//%5Cevil.example", Routed::Moved("/%5Cevil.example".to_owned())),
            ("GET", "/./\\evil.example", Routed::Moved("/%5Cevil.example".to_owned())),
            ("GET", "/%ff", Routed::Unreadable),
        ] {
            assert_eq!(route(&method.parse().unwrap(), path), routed, "{method} {path}");
        }
    }

    proptest! {
        #[test]
        fn a_shorter_path_is_not_moved_again(path in r"/[a-z./\\%0-9]{0,24}") {
            if let Routed::Moved(shorter) = get(&path) {
                prop_assert!(!matches!(get(&shorter), Routed::Moved(_)), "{}", shorter);
                let second = shorter.strip_prefix('/').unwrap().chars().next();
                prop_assert!(!matches!(second, Some('/' | '\\')), "{}", shorter);
            }
        }
    }
}

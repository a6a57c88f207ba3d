//! A service's login to an image registry.

use std::collections::BTreeMap;

use akash_sdl::manifest::ImageCredentials;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use k8s_openapi::ByteString;
use k8s_openapi::api::core::v1::Secret;
use provider_crd::names;
use serde::Serialize;

use super::{metadata, service_labels};
use crate::resolve::{Lease, Service};

const KIND: &str = "kubernetes.io/dockerconfigjson";
const KEY: &str = ".dockerconfigjson";

/// The Secret of a service that brought a login.
pub(super) fn of(lease: &Lease, service: &Service) -> Option<Secret> {
    let login = service.wanted.credentials.as_ref()?;
    let config = ByteString(docker_config(login).into_bytes());
    Some(Secret {
        metadata: metadata(
            lease,
            names::pull_secret(service.name()),
            service_labels(lease, service),
        ),
        type_: Some(KIND.to_owned()),
        data: Some([(KEY.to_owned(), config)].into()),
        ..Secret::default()
    })
}

#[derive(Serialize)]
struct Config<'a> {
    auths: BTreeMap<&'a str, Login<'a>>,
}

#[derive(Serialize)]
struct Login<'a> {
    #[serde(skip_serializing_if = "str::is_empty")]
    username: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    password: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    email: &'a str,
    auth: String,
}

/// A Docker configuration with one login, byte for byte as Go writes it.
fn docker_config(login: &ImageCredentials) -> String {
    let (username, password) = (login.username.trim(), login.password.trim());
    let auth = STANDARD.encode(format!("{username}:{password}"));
    let entry = Login { username, password, email: login.email.trim(), auth };
    let config = Config { auths: [(login.host.as_str(), entry)].into() };
    // Maps of texts have no way to fail.
    let json = serde_json::to_string(&config).unwrap_or_default();
    as_go_escapes(&json)
}

/// Go's encoder escapes what browsers could take for markup. In JSON these occur in texts only.
fn as_go_escapes(json: &str) -> String {
    let mut escaped = String::with_capacity(json.len());
    for c in json.chars() {
        match c {
            '<' => escaped.push_str("\\u003c"),
            '>' => escaped.push_str("\\u003e"),
            '&' => escaped.push_str("\\u0026"),
            '\u{2028}' => escaped.push_str("\\u2028"),
            '\u{2029}' => escaped.push_str("\\u2029"),
            other => escaped.push(other),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config(host: &str, email: &str, username: &str, password: &str) -> String {
        docker_config(&ImageCredentials {
            host: host.to_owned(),
            email: email.to_owned(),
            username: username.to_owned(),
            password: password.to_owned(),
            ..ImageCredentials::default()
        })
    }

    #[test]
    fn a_login_is_written_as_docker_reads_it() {
        assert_eq!(
            config("https://registry.example.com/v1", "", " foo\n", "s3cret "),
            r#"{"auths":{"https://registry.example.com/v1":{"username":"foo","password":"s3cret","auth":"Zm9vOnMzY3JldA=="}}}"#
        );
        assert_eq!(
            config(" r ", "a@b.c", "", ""),
            r#"{"auths":{" r ":{"email":"a@b.c","auth":"Og=="}}}"#
        );
    }

    #[test]
    fn characters_of_markup_are_escaped_as_go_does() {
        let written = config("r", "", "u", "<a>&\u{2028}\"");
        assert!(written.contains(r#""password":"\u003ca\u003e\u0026\u2028\"""#), "{written}");
    }
}

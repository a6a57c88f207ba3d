//! Manifests, sent and read back.

use std::sync::Arc;

use akash_sdl::manifest::{CrossError, DecodeError};
use akash_sdl::{Manifest, Sdl};
use akash_types::DeploymentId;
use bytes::Bytes;
use http::header::CONTENT_TYPE;
use http::request::Parts;
use http::{HeaderMap, StatusCode};
use provider_api::error::ErrorCode;
use provider_api::query::parse_u64;
use provider_api::screening::{Offer, ScreeningResponse, parse_group};
use provider_engine::cluster::port::{Cluster, Missing, ReadFailure};
use provider_engine::manifest::{ManifestAnswer, ManifestRefusal};
use provider_engine::{Received, Reply, TenantRequest};

use super::body::Kind;
use super::failure::{Answer, Failure, JSON, json, nothing, of_type};
use super::{Readable, bad_id};
use crate::Gateway;
use crate::auth::{LeaseRef, Request, Services};
use crate::port::{Provider, Screening};

impl<P: Provider, C: Cluster> Gateway<P, C> {
    /// Accepted means kept by the cluster; it is deployed afterwards.
    pub(super) async fn send_manifest<B: Readable>(
        &self,
        dseq: &str,
        parts: &mut Parts,
        body: B,
    ) -> Result<Answer, Failure> {
        let dseq = parse_u64(dseq).map_err(|error| bad_id(&error));
        let asked = dseq.clone().map(|dseq| Request::SendManifest { dseq });
        let owner = self.authorizer.authorize(parts, asked).await?.owner()?;
        let dseq = dseq?;
        let is_yaml = is_yaml(&parts.headers);
        let kind = if is_yaml { Kind::Text } else { Kind::Json };
        let body = (body, kind, self.settings.largest_manifest);
        let make = move |body: &[u8]| decode(body, is_yaml);
        let (sent, _held) = self.read_body(Some(owner), parts, body, make).await?;
        let Sent { manifest, unknown_keys, received } = sent;
        let deployment = DeploymentId::new(owner, dseq).map_err(|_| {
            let text = format!("Deployment not found: {owner}/{dseq}");
            Failure::plain(StatusCode::NOT_FOUND, ErrorCode::DeploymentNotFound, text)
        })?;
        let request =
            TenantRequest::Manifest { deployment, manifest: Arc::new(manifest), received };
        match self.provider.tenant(request).await? {
            Reply::Manifest(ManifestAnswer::Accepted { .. }) => Ok(nothing(StatusCode::OK)),
            Reply::Manifest(ManifestAnswer::Refused(refusal)) => {
                let failure = manifest_failure(&refusal);
                Err(match unknown_keys.as_slice() {
                    [] => failure,
                    keys => {
                        failure.with_help(format!("keys that were ignored: {}", keys.join(", ")))
                    }
                })
            }
            _ => Err(wrong_reply()),
        }
    }

    pub(super) async fn get_manifest(
        &self,
        lease: Result<LeaseRef, Failure>,
        parts: &mut Parts,
    ) -> Result<Answer, Failure> {
        let gone =
            || Failure::plain(StatusCode::NOT_FOUND, ErrorCode::LeaseNotFound, "lease not found");
        let asked = lease.map(Request::GetManifest);
        let grant = self.authorizer.authorize(parts, asked).await?;
        let lease = grant.lease.ok_or_else(gone)?;
        let held = self.cluster.manifest(lease).await.map_err(|failure| match failure {
            ReadFailure::NotFound(Missing::Lease | Missing::Workloads) => gone(),
            other => other.into(),
        })?;
        let mut group = held.group.as_ref().clone();
        if let Services::Only(_) = grant.services {
            group.services.retain(|service| grant.services.include(&service.name));
        }
        let manifest = Manifest { groups: vec![group] };
        Ok(of_type(JSON, Bytes::from(manifest.to_json())))
    }
}

#[derive(Debug)]
struct Sent {
    manifest: Manifest,
    /// Keys of it that nothing is known about.
    unknown_keys: Vec<String>,
    received: Received,
}

/// Reads a manifest, or an SDL where the request says that it is YAML.
fn decode(body: &[u8], is_yaml: bool) -> Result<Sent, Failure> {
    let refused = |code, text| Failure::plain(StatusCode::UNPROCESSABLE_ENTITY, code, text);
    if is_yaml {
        let sdl = Sdl::read_bytes(body)
            .map_err(|errors| refused(ErrorCode::BadBody, errors.to_string()))?;
        let (_, manifest) = sdl.into_parts();
        return Ok(Sent { manifest, unknown_keys: Vec::new(), received: Received::default() });
    }
    match Manifest::from_json(body) {
        Ok(decoded) => {
            let unknown_keys = decoded.unknown_keys.clone();
            let (manifest, received) = Received::of(decoded, body);
            Ok(Sent { manifest, unknown_keys, received })
        }
        Err(error) => {
            let text = match (&error, first_wrong(body)) {
                (DecodeError::Syntax(_), Some(wrong)) => {
                    format!("invalid character '{wrong}' looking for beginning of value")
                }
                _ => error.to_string(),
            };
            Err(refused(ErrorCode::BadBody, text))
        }
    }
}

fn is_yaml(headers: &HeaderMap) -> bool {
    let kind = headers.get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    let kind = kind.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    matches!(kind.as_str(), "application/yaml" | "application/x-yaml" | "text/yaml" | "text/x-yaml")
}

/// The first character, if no JSON begins with it.
fn first_wrong(body: &[u8]) -> Option<char> {
    let text = String::from_utf8_lossy(body.get(..64.min(body.len()))?);
    let first = text.trim_start_matches([' ', '\t', '\r', '\n']).chars().next()?;
    let begins = first.is_ascii_digit() || "{[\"-tfn".contains(first);
    (!begins).then_some(first)
}

/// A refusal in the words that clients look for.
pub(crate) fn manifest_failure(refusal: &ManifestRefusal) -> Failure {
    let status =
        StatusCode::from_u16(refusal.status()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let code = match refusal {
        ManifestRefusal::Structure(_) | ManifestRefusal::Groups(CrossError::Manifest(_)) => {
            ErrorCode::ManifestInvalid
        }
        ManifestRefusal::TooLarge { .. } => ErrorCode::BodyTooLarge,
        ManifestRefusal::Chain(_) => ErrorCode::ChainUnavailable,
        ManifestRefusal::UnknownDeployment(_) => ErrorCode::DeploymentNotFound,
        ManifestRefusal::Version { .. } => ErrorCode::ManifestHash,
        ManifestRefusal::Groups(_) | ManifestRefusal::GroupNotFound { .. } => {
            ErrorCode::ManifestMismatch
        }
        ManifestRefusal::Unsupported { .. } => ErrorCode::ManifestInvalid,
        ManifestRefusal::HostnameMissing { .. } => ErrorCode::HostnameMissing,
        ManifestRefusal::HostnameBlocked(_)
        | ManifestRefusal::DomainBlocked(_)
        | ManifestRefusal::HostnameReserved(_) => ErrorCode::HostnameBlocked,
        ManifestRefusal::HostnameInUse(_) => ErrorCode::HostnameInUse,
        ManifestRefusal::HostnameGenerated(_)
        | ManifestRefusal::HostnameInvalid(_)
        | ManifestRefusal::HostnameIsAddress(_)
        | ManifestRefusal::HostnamePartTooLong(_) => ErrorCode::HostnameInvalid,
        ManifestRefusal::NoLease => ErrorCode::NoLease,
        ManifestRefusal::ClusterUnavailable(_) => ErrorCode::ClusterUnavailable,
        ManifestRefusal::ClusterRefused(_) => ErrorCode::ClusterRefused,
        ManifestRefusal::TimedOut => ErrorCode::TimedOut,
    };
    let failure = Failure::plain(status, code, refusal.to_string());
    match refusal {
        ManifestRefusal::Version { sent, on_chain } => failure.with_help(format!(
            "the manifest's hash is {sent}, the chain has {}; send the manifest of the SDL that \
             the deployment was made or last updated with",
            on_chain.iter().map(|byte| format!("{byte:02x}")).collect::<String>()
        )),
        _ => failure,
    }
}

/// The engine answered something else than it was asked, which is a mistake of ours.
pub(super) fn wrong_reply() -> Failure {
    let text = "the provider's answer does not belong to the question";
    Failure::plain(StatusCode::INTERNAL_SERVER_ERROR, ErrorCode::Internal, text)
}

impl<P: Provider, C: Cluster> Gateway<P, C> {
    pub(super) async fn validate<B: Readable>(
        &self,
        parts: &mut Parts,
        body: B,
    ) -> Result<Answer, Failure> {
        let account = self.anybody(parts).await?;
        let read = |body: &[u8]| {
            parse_group(body).map_err(|error| {
                let text = error.to_string();
                Failure::plain(StatusCode::UNPROCESSABLE_ENTITY, ErrorCode::BadBody, text)
            })
        };
        let body = (body, Kind::Json, self.settings.largest_body);
        let (request, _held) = self.read_body(account, parts, body, read).await?;
        json(&screening_response(self.provider.screen(request).await?)?)
    }
}

/// A verdict as clients read it.
fn screening_response(screening: Screening) -> Result<ScreeningResponse, Failure> {
    Ok(match screening {
        Screening::Passed { offers, price } => ScreeningResponse {
            passed: true,
            reasons: Vec::new(),
            resource_offers: offers.iter().map(Offer::from).collect(),
            price: Some((&price).into()),
        },
        Screening::Declined(reasons) => {
            ScreeningResponse { passed: false, reasons, ..ScreeningResponse::default() }
        }
        Screening::NotReady(why) => return Err(Failure::not_ready(why)),
    })
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    #[test]
    fn yaml_is_told_by_its_type_alone() {
        let headers = |kind: &'static str| {
            HeaderMap::from_iter([(CONTENT_TYPE, HeaderValue::from_static(kind))])
        };
        for yaml in ["application/yaml", "text/x-yaml; charset=utf-8", "Application/X-YAML"] {
            assert!(is_yaml(&headers(yaml)), "{yaml}");
        }
        for json in ["application/json", "text/plain", ""] {
            assert!(!is_yaml(&headers(json)), "{json}");
        }
        assert!(!is_yaml(&HeaderMap::new()));
    }

    #[test]
    fn must_match_refusals_have_the_texts_that_console_looks_for() {
        use akash_sdl::Version;
        use akash_sdl::manifest::Detail;

        // Console's rule: 500 is 400 for these texts, and else tried again.
        let shown_to_tenant = |failure: &Failure| {
            let text = failure.message.as_str();
            failure.status.is_client_error()
                || text.starts_with("manifest cross-validation error:")
                || text.starts_with("hostname not allowed:")
                || text.contains("validation failed")
        };
        // It tries again for the first; the others it shows to the tenant as their mistake.
        let failure = manifest_failure(&ManifestRefusal::NoLease);
        assert_eq!((failure.status.as_u16(), &*failure.message), (404, "no lease for deployment"));
        let name = || "a.example.com".to_owned();
        let detail = Detail::NoUnit { service: "web".to_owned(), id: 1 };
        let mismatch = CrossError::Mismatch { group: "g".to_owned(), detail };
        for (refusal, begins) in [
            (ManifestRefusal::Groups(mismatch), "manifest cross-validation error:"),
            (ManifestRefusal::HostnameBlocked(name()), "hostname not allowed:"),
            (ManifestRefusal::DomainBlocked(name()), "hostname not allowed:"),
            (ManifestRefusal::HostnameReserved(name()), "hostname not allowed:"),
            (ManifestRefusal::HostnameInvalid(name()), "hostname not allowed:"),
            (ManifestRefusal::HostnameInUse(name()), "hostname not allowed:"),
            (ManifestRefusal::HostnameGenerated(name()), "hostname not allowed:"),
            (ManifestRefusal::HostnameIsAddress(name()), "hostname not allowed:"),
            (ManifestRefusal::HostnamePartTooLong(name()), "hostname not allowed:"),
        ] {
            let failure = manifest_failure(&refusal);
            assert!(failure.message.starts_with(begins), "{failure:?}");
            assert!(shown_to_tenant(&failure), "{failure:?}");
        }
        let version = ManifestRefusal::Version { sent: Version::from([1; 32]), on_chain: [2; 32] };
        let failure = manifest_failure(&version);
        assert!(failure.message.contains("validation failed"), "{failure:?}");
        assert!(shown_to_tenant(&failure), "{failure:?}");
    }

    #[test]
    fn what_is_no_json_is_told_as_recorded() {
        let said = |body: &str| decode(body.as_bytes(), false).unwrap_err().message;
        assert_eq!(said("hello"), "invalid character 'h' looking for beginning of value");
        assert_eq!(said(" \n<x>"), "invalid character '<' looking for beginning of value");
        assert_eq!(said(""), "EOF");
        assert_eq!(said("[{"), "unexpected EOF");
        assert_eq!(
            said("{}"),
            "json: cannot unmarshal object into Go value of type v2beta3.Manifest"
        );
    }
}

//! A gatekeeper that believes names: the token `full` is the tenant, `other` another one.

use akash_types::{Address, DeploymentId, GroupId, LeaseId, OrderId};
use http::StatusCode;
use http::header::AUTHORIZATION;
use http::request::Parts;
use provider_api::error::ErrorCode;
use provider_engine::engine::Published;
use provider_gateway::port::{Denied, Gatekeeper, Grant, LeaseRef, Request, Services};

use super::{OTHER, OWNER, PROVIDER};

#[derive(Clone, Copy, Debug)]
pub(crate) struct TestGate;

/// Who it is, and what their token is limited to.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Who {
    account: Option<&'static str>,
    limits: Limits,
}

#[derive(Clone, Copy, Debug)]
enum Limits {
    None,
    Status,
    Logs,
    /// Status, logs and shell of service `web`.
    Web,
}

fn denied(status: u16, code: ErrorCode, message: &'static str) -> Denied {
    Denied::Unauthorized { status: StatusCode::from_u16(status).unwrap(), code, message }
}

fn unauthorized() -> Denied {
    denied(401, ErrorCode::Unauthorized, "unauthorized access")
}

impl Gatekeeper for TestGate {
    type Principal = Who;

    async fn authenticate(&self, parts: &Parts) -> Result<Who, Denied> {
        let text = parts.headers.get(AUTHORIZATION).map(|value| value.to_str().unwrap());
        let Some(text) = text else { return Ok(Who { account: None, limits: Limits::None }) };
        let token = text.strip_prefix("Bearer ").ok_or_else(|| {
            denied(400, ErrorCode::InvalidAuthorization, "invalid authorization header")
        })?;
        let (account, limits) = match token {
            "full" | "good" => (OWNER, Limits::None),
            "other" | "main" => (OTHER, Limits::None),
            "scoped-status" => (OWNER, Limits::Status),
            "scoped-logs" => (OWNER, Limits::Logs),
            "granular-svc" => (OWNER, Limits::Web),
            "expired" => {
                return Err(denied(400, ErrorCode::TokenClaims, "JWT has invalid claims"));
            }
            _ => return Err(denied(401, ErrorCode::TokenInvalid, "JWT is invalid")),
        };
        Ok(Who { account: Some(account), limits })
    }

    fn admit(&self, who: &Who) -> Result<Address, Denied> {
        who.account.map(|account| account.parse().unwrap()).ok_or_else(unauthorized)
    }

    fn authorize(
        &self,
        who: &Who,
        request: &Request<'_>,
        published: &Published,
    ) -> Result<Grant, Denied> {
        let owner = self.admit(who)?;
        let allowed = match who.limits {
            Limits::None => true,
            Limits::Status => {
                matches!(request, Request::LeaseStatus(_) | Request::ServiceStatus(..))
            }
            Limits::Logs => matches!(request, Request::Logs(..)),
            Limits::Web => match request {
                Request::LeaseStatus(_) => true,
                Request::ServiceStatus(_, name) | Request::Shell(_, name) => *name == "web",
                Request::Logs(_, names) => names.iter().all(|name| *name == "web"),
                _ => false,
            },
        };
        if !allowed {
            return Err(unauthorized());
        }
        let lease = match request {
            Request::GetManifest(lease)
            | Request::LeaseStatus(lease)
            | Request::ServiceStatus(lease, _)
            | Request::Logs(lease, _)
            | Request::Events(lease, _)
            | Request::Shell(lease, _) => {
                let id = id(owner, *lease).filter(|id| published.leases.get(*id).is_some());
                Some(id.ok_or(Denied::NoSuchLease)?)
            }
            _ => None,
        };
        let services = match who.limits {
            Limits::Web => Services::Only(vec!["web".to_owned()]),
            _ => Services::All,
        };
        Ok(Grant { lease, services })
    }
}

fn id(owner: Address, lease: LeaseRef) -> Option<LeaseId> {
    let group = GroupId::new(DeploymentId::new(owner, lease.dseq).ok()?, lease.gseq).ok()?;
    Some(LeaseId::new(OrderId::new(group, lease.oseq).ok()?, PROVIDER.parse().unwrap()))
}

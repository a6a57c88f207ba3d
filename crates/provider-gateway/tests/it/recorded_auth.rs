//! Requests that the Go provider answered, and what it answered: the same tokens at the same
//! moment are judged the same way here, but for what is stricter on purpose.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use akash_keys::PublicKey;
use akash_types::{Address, DeploymentId, GroupId, LeaseId, OrderId};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use futures_util::future::BoxFuture;
use provider_gateway::auth::{
    Authenticator, Certificates, Denial, KeyAnswer, LeaseIndex, LeaseRef, LookupFailure, NoKey,
    Presence, PublicKeys, Request, authorize,
};
use serde_json::Value;

const PROVIDER: &str = "akash1rhal6a4vawtnwex8nda7u6tueeesllpeagpdq8";
const TENANT: &str = "akash16emlsfgm325de4hwqgu9wszg8fvcm0yw0wk84r";

/// Recorded as allowed, and refused here.
const STRICTER: [(&str, &str); 2] = [
    ("auth-granular-svc-db.http", "a service that the token does not name"),
    ("auth-scoped-logs-service-status.http", "a status without the scope"),
];

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures")
}

fn json(path: &str) -> Value {
    serde_json::from_slice(&std::fs::read(fixtures().join(path)).unwrap()).unwrap()
}

/// The accounts of the recorded chain.
struct Chain(Vec<PublicKey>);

impl Chain {
    fn recorded() -> Self {
        let keys = json("chain/throwaway-keys.json");
        let key = |name: &str| {
            let text = keys[name]["pubkey"].as_str().unwrap();
            let inner: Value = serde_json::from_str(text).unwrap();
            let bytes = STANDARD.decode(inner["key"].as_str().unwrap()).unwrap();
            PublicKey::from_bytes(&bytes).unwrap()
        };
        Self(["provider", "tenant1", "main"].map(key).to_vec())
    }
}

impl PublicKeys for Chain {
    fn public_key(&self, account: Address) -> BoxFuture<'_, Result<KeyAnswer, LookupFailure>> {
        let found = self.0.iter().find(|key| key.address() == account);
        let answer = found.map_or(KeyAnswer::None(NoKey::NoAccount), |key| KeyAnswer::Key(*key));
        Box::pin(async move { Ok(answer) })
    }
}

impl Certificates for Chain {
    fn valid_certificate<'a>(
        &'a self,
        _: Address,
        _: &'a str,
    ) -> BoxFuture<'a, Result<Option<Vec<u8>>, LookupFailure>> {
        Box::pin(async { Ok(None) })
    }
}

/// One recorded exchange.
struct Exchange {
    path: String,
    authorization: Option<String>,
    at: SystemTime,
    status: u16,
    body: String,
}

fn read(path: &Path, tokens: &Value) -> Exchange {
    let text = std::fs::read_to_string(path).unwrap();
    let (summary, response) = text.split_once("\n\n").unwrap();
    let line = |name: &str| summary.lines().find_map(|line| line.strip_prefix(name)).unwrap();
    let request = summary.lines().next().unwrap();
    let auth = line("> auth:").trim();
    let authorization = match auth.strip_prefix("jwt:") {
        Some("garbage") => Some("Bearer garbage".to_owned()),
        Some(name) => Some(format!("Bearer {}", tokens[name].as_str().unwrap())),
        None => Some(auth.to_owned()).filter(|auth| !auth.is_empty()),
    };
    let (head, body) = response.split_once("\r\n\r\n").unwrap();
    let header = |name: &str| head.lines().find_map(|line| line.strip_prefix(name)).unwrap();
    Exchange {
        path: request.split(' ').nth(2).unwrap().to_owned(),
        authorization,
        at: moment(header("Date: ")),
        status: head.split(' ').nth(1).unwrap().parse().unwrap(),
        body: body.to_owned(),
    }
}

/// `Sun, 15 Nov 2026 19:45:49 GMT`: everything was recorded on that day.
fn moment(date: &str) -> SystemTime {
    let time = date.strip_prefix("Sun, 15 Nov 2026 ").unwrap().strip_suffix(" GMT").unwrap();
    let parts: Vec<u64> = time.split(':').map(|part| part.parse().unwrap()).collect();
    let midnight = 1_794_700_800;
    UNIX_EPOCH + Duration::from_secs(midnight + parts[0] * 3600 + parts[1] * 60 + parts[2])
}

/// What is asked for; `None` for what anybody may read.
fn request(path: &str) -> Option<Request<'_>> {
    let parts: Vec<&str> = path.trim_start_matches('/').split('/').collect();
    let lease = || LeaseRef {
        dseq: parts[1].parse().unwrap(),
        gseq: parts[2].parse().unwrap(),
        oseq: parts[3].parse().unwrap(),
    };
    Some(match *parts.as_slice() {
        ["status"] => return None,
        ["deployment", dseq, "manifest"] => Request::SendManifest { dseq: dseq.parse().unwrap() },
        ["lease", _, _, _, "status"] => Request::LeaseStatus(lease()),
        ["lease", _, _, _, "manifest"] => Request::GetManifest(lease()),
        ["lease", _, _, _, "service", service, "status"] => {
            Request::ServiceStatus(lease(), service)
        }
        _ => panic!("{path}"),
    })
}

/// The leases that there were when it was recorded.
struct Leases([LeaseId; 2]);

impl LeaseIndex for Leases {
    fn presence(&self, lease: &LeaseId) -> Presence {
        if self.0.contains(lease) { Presence::Active } else { Presence::Absent }
    }
}

fn leases() -> Leases {
    Leases([9001, 9002].map(|dseq| {
        let deployment = DeploymentId::new(TENANT.parse().unwrap(), dseq).unwrap();
        let order = OrderId::new(GroupId::new(deployment, 1).unwrap(), 1).unwrap();
        LeaseId::new(order, PROVIDER.parse().unwrap())
    }))
}

#[tokio::test]
async fn recorded_requests_are_judged_as_they_were() {
    let tokens = json("gateway/tokens.json");
    let chain = Arc::new(Chain::recorded());
    let authenticator = Authenticator::new(chain.clone(), chain, std::sync::Arc::new(|_| false));
    let mut judged = 0;
    for entry in std::fs::read_dir(fixtures().join("gateway/rest")).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        // The key of "other" was not recorded.
        if !name.starts_with("auth-") || name.starts_with("auth-other") {
            continue;
        }
        let exchange = read(&path, &tokens);
        let authorization = exchange.authorization.as_deref().map(str::as_bytes);
        let result = match authenticator.authenticate(None, authorization, exchange.at).await {
            Ok(principal) => {
                let (provider, leases) = (PROVIDER.parse().unwrap(), leases());
                request(&exchange.path).map_or(Ok(()), |request| {
                    authorize(&principal, provider, &request, &leases).map(drop)
                })
            }
            Err(denial) => Err(denial),
        };
        let stricter = STRICTER.iter().any(|(stricter, _)| *stricter == name);
        match result {
            Ok(()) => assert_eq!(exchange.status, 200, "{name}"),
            Err(denial) if stricter => {
                assert!(matches!(denial, Denial::Unauthorized(_)), "{name}: {denial}");
                assert_eq!(exchange.status, 200, "{name}");
            }
            Err(denial) => {
                let response = denial.response();
                assert_eq!(response.status(), exchange.status, "{name}: {denial}");
                assert_eq!(response.body(), &exchange.body, "{name}");
            }
        }
        judged += 1;
    }
    assert!(judged >= 30, "{judged}");
}

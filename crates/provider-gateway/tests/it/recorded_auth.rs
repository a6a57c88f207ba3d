//! Requests that the Go provider answered, and what it answered: the same tokens at the same
//! moment are judged the same way here, but for what is stricter on purpose.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use akash_types::LeaseId;
use provider_gateway::auth::{Denial, Grant, LeaseRef, Presence, Request, authorize};
use serde_json::Value;

use crate::common::PROVIDER;
use crate::common::tokens::{Chain, authenticator};

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

/// What is asked for.
fn request(path: &str) -> Request<'_> {
    let parts: Vec<&str> = path.trim_start_matches('/').split('/').collect();
    let lease = || LeaseRef {
        dseq: parts[1].parse().unwrap(),
        gseq: parts[2].parse().unwrap(),
        oseq: parts[3].parse().unwrap(),
    };
    match *parts.as_slice() {
        ["status"] => Request::Public,
        ["deployment", dseq, "manifest"] => Request::SendManifest { dseq: dseq.parse().unwrap() },
        ["lease", _, _, _, "status"] => Request::LeaseStatus(lease()),
        ["lease", _, _, _, "manifest"] => Request::GetManifest(lease()),
        ["lease", _, _, _, "service", service, "status"] => {
            Request::ServiceStatus(lease(), service)
        }
        _ => panic!("{path}"),
    }
}

/// The leases that there were when it was recorded.
fn presence(lease: &LeaseId) -> Presence {
    let is_recorded = [9001, 9002].into_iter().any(|dseq| *lease == crate::common::lease(dseq));
    if is_recorded { Presence::Active } else { Presence::Absent }
}

#[tokio::test]
async fn recorded_requests_are_judged_as_they_were() {
    let tokens = json("gateway/tokens.json");
    let authenticator = authenticator(&Arc::new(Chain::recorded()));
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
        let request = request(&exchange.path);
        let result = match authenticator.authenticate(None, authorization, exchange.at).await {
            Ok(principal) => authorize(&principal, PROVIDER.parse().unwrap(), &request, &presence),
            Err(denial) => Err(denial),
        };
        let stricter = STRICTER.iter().any(|(stricter, _)| *stricter == name);
        match result {
            // What a route says of a lease that does not exist is its own.
            Ok(Grant { lease: None, .. }) if request.lease().is_some() => {
                assert_eq!(exchange.status, 404, "{name}");
            }
            Ok(_) => assert_eq!(exchange.status, 200, "{name}"),
            Err(denial) if stricter => {
                assert!(matches!(denial, Denial::Service | Denial::Scope(_)), "{name}: {denial}");
                assert_eq!(exchange.status, 200, "{name}");
            }
            Err(denial) => {
                let (status, _, message) = denial.answer();
                assert_eq!(status, exchange.status, "{name}: {denial}");
                assert_eq!(format!("{{\"message\":\"{message}\"}}"), exchange.body, "{name}");
            }
        }
        judged += 1;
    }
    assert!(judged >= 30, "{judged}");
}

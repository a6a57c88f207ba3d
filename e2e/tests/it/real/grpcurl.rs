//! `grpcurl`, with which operators try gRPC, against a running provider.

use std::process::Command;

use e2e::network::wait_until;

use crate::gateway_clients::{LONG, started};

#[test]
fn must_match_grpcurl_lists_services_and_reads_the_status() {
    let grpcurl = components::provide("grpcurl").unwrap();
    let folder = tempfile::tempdir().unwrap();
    let network = started(folder.path());
    let (_, grpc) = wait_until("tenants can connect", LONG, || network.gateway()).unwrap();
    let run = |args: &[&str]| {
        let output = Command::new(&grpcurl).arg("-insecure").arg(&grpc).args(args).output();
        let output = output.unwrap();
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{args:?}: {stderr}");
        String::from_utf8(output.stdout).unwrap()
    };
    let services = run(&["list"]);
    for service in [
        "akash.provider.v1.ProviderRPC",
        "akash.provider.lease.v1.LeaseRPC",
        "grpc.health.v1.Health",
    ] {
        assert!(services.lines().any(|line| line == service), "{services}");
    }
    let status = run(&["akash.provider.v1.ProviderRPC.GetStatus"]);
    let status: serde_json::Value = serde_json::from_str(&status).unwrap();
    for part in ["cluster", "bidEngine", "manifest", "publicHostnames", "timestamp"] {
        assert!(status.get(part).is_some() || part == "publicHostnames", "{part}: {status}");
    }
    let described = run(&["describe", "akash.provider.v1.ProviderRPC"]);
    assert!(described.contains("rpc StreamStatus"), "{described}");
}

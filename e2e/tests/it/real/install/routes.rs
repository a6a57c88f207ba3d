//! From an empty cluster to hostnames that answer.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use anyhow::Result;
use kube_bed::Node;

use crate::real::install::cluster::Cluster;

const HOST: &str = "shop.example.org";

/// A page that tells who serves it.
fn sdl(says: &str) -> String {
    format!(
        r#"
version: "2.0"
services:
  web:
    image: nginx:1.29-alpine
    env: [SAYS={says}]
    expose:
      - port: 80
        accept: [{HOST}]
        to: [{{global: true}}]
profiles:
  compute:
    web: {{resources: {{cpu: {{units: 0.1}}, memory: {{size: 32Mi}}, storage: {{size: 64Mi}}}}}}
  placement:
    anywhere: {{pricing: {{web: {{denom: uact, amount: 1000}}}}}}
deployment:
  web: {{anywhere: {{profile: web, count: 1}}}}
"#
    )
}

/// Status and page that a hostname leads to.
fn ask(cluster: &Cluster, host: &str) -> Result<(u16, String)> {
    let mut stream = TcpStream::connect(cluster.ingress)?;
    stream.set_read_timeout(Some(Duration::from_secs(5)))?;
    write!(stream, "GET / HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n")?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer)?;
    let status = answer.split(' ').nth(1).unwrap_or_default().parse().unwrap_or_default();
    Ok((status, answer))
}

/// Waits until a hostname leads to a page, or to none.
fn leads(cluster: &Cluster, host: &str, to: Option<&str>) {
    cluster.insist(&format!("{host} leads to {to:?}"), || {
        let routes = cluster.get("ingress -A")?;
        let there = routes.iter().any(|it| it["spec"]["rules"][0]["host"] == host);
        if there != to.is_some() {
            return Ok(None);
        }
        let (status, page) = ask(cluster, host)?;
        let right = match to {
            Some(text) => status == 200 && page.contains(text),
            None => status == 404,
        };
        anyhow::ensure!(right, "{page}");
        Ok(Some(()))
    });
}

#[test]
fn the_guide_leads_from_an_empty_cluster_to_hostnames_that_answer_move_and_end() {
    if let Some(why) = Node::missing() {
        println!("{why}");
        return;
    }
    let cluster = Cluster::start(&[]);
    let network = &cluster.network;
    // What the example names, and nobody can pull here.
    let serve = "mkdir -p /w; echo hello from ${SAYS:-nginx} > /w/index.html; \
                 trap 'exit 0' TERM; httpd -f -p 80 -h /w & wait";
    cluster.import_busybox("docker.io/library/nginx:1.29-alpine", &["sh", "-c", serve]);
    network.run(&["keys", "rename", "operator", "provider", "-y"]).unwrap();
    cluster.provide_volume();
    cluster.follow_guide("## A new provider", 15);

    // Under its own account, with nothing that it does not need.
    let pods = cluster.get("pods -n akash-services").unwrap();
    assert_eq!(pods.len(), 1, "{pods:?}");
    assert_eq!(pods[0]["spec"]["serviceAccountName"], "akash-provider");
    let restarts = &pods[0]["status"]["containerStatuses"][0]["restartCount"];
    assert_eq!(restarts, 0, "{}", pods[0]["status"]);
    let exec = "-n akash-services exec akash-provider-0 -c provider --";
    let shell = cluster.kubectl(&format!("{exec} sh -c true")).unwrap_err().to_string();
    assert!(shell.contains("executable file not found"), "{shell}");

    let as_tenant = |args: &[&str]| {
        let said = network.run(&[args, &["--from", "tenant"]].concat());
        said.unwrap_or_else(|error| panic!("{args:?}: {error:#}\n{}", cluster.said()))
    };
    let deploy = |dseq: &str, says: &str, sdl: &str| {
        let file = cluster.at(&format!("{says}.yaml"));
        std::fs::write(&file, sdl).unwrap();
        as_tenant(&["deploy", file.to_str().unwrap(), "--dseq", dseq, "--pick", "cheapest"]);
    };
    deploy("201", "one", &sdl("one"));
    leads(&cluster, HOST, Some("hello from one"));

    // An update leads to the new pod.
    let file = cluster.at("two.yaml");
    std::fs::write(&file, sdl("two")).unwrap();
    let file = file.to_str().unwrap();
    network.tx("tenant", &["deployment", "update", file, "--dseq", "201"]).unwrap();
    as_tenant(&["send-manifest", file, "--dseq", "201"]);
    leads(&cluster, HOST, Some("hello from two"));

    // The provider's pod is killed: routes stay, and it comes back to them.
    cluster.kubectl("-n akash-services delete pod akash-provider-0 --now --wait=false").unwrap();
    leads(&cluster, HOST, Some("hello from two"));
    cluster
        .kubectl("-n akash-services rollout status statefulset/akash-provider --timeout=3m")
        .unwrap();
    leads(&cluster, HOST, Some("hello from two"));

    // To another lease of the same tenant, without a pause.
    deploy("202", "three", &sdl("three").replace(HOST, &format!("other.example.org, {HOST}")));
    leads(&cluster, "other.example.org", Some("hello from three"));
    leads(&cluster, HOST, Some("hello from two"));
    as_tenant(&["migrate-hostnames", HOST, "--dseq", "202"]);
    leads(&cluster, HOST, Some("hello from three"));

    // The end of the lease that had it changes nothing; the end of the other does.
    network.tx("tenant", &["deployment", "close", "--dseq", "201"]).unwrap();
    cluster.insist("the first lease is over", || {
        let leases = cluster.ctl("leases")?["leases"].to_string();
        Ok((!leases.contains("/201/")).then_some(()))
    });
    leads(&cluster, HOST, Some("hello from three"));
    network.tx("tenant", &["deployment", "close", "--dseq", "202"]).unwrap();
    leads(&cluster, HOST, None);
    leads(&cluster, "other.example.org", None);
}

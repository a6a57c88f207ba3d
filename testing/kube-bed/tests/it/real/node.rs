//! A node on which pods really run. As root; elsewhere, outside of CI, it says so.

#![allow(clippy::print_stderr, reason = "a test that is left out says so")]

use std::net::IpAddr;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::core::v1::{Pod, Service};
use kube::api::{AttachParams, ListParams, LogParams, PostParams};
use kube::{Api, ResourceExt as _};
use kube_bed::{Image, Node};
use serde_json::json;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use crate::real::common::{Owner, wait_for, web};

#[tokio::test(flavor = "multi_thread")]
async fn a_pod_runs_speaks_and_is_reached_and_nothing_of_it_is_left() {
    if let Some(why) = Node::missing() {
        eprintln!("{why}");
        return;
    }
    let mut node = Node::start().await.unwrap();
    let image = Image::busybox("localhost/busybox:bed", &["sh"]).unwrap();
    node.import(&image).unwrap();

    let deployments: Api<Deployment> = Api::default_namespaced(node.client());
    deployments.create(&PostParams::default(), &web(2)).await.unwrap();
    wait_for("two pods to be ready", async || {
        let status = deployments.get("web").await.unwrap().status?;
        (status.available_replicas == Some(2)).then_some(())
    })
    .await;
    let pods: Api<Pod> = Api::default_namespaced(node.client());
    let pod = pods.list(&ListParams::default()).await.unwrap().items.remove(0);
    let name = pod.name_any();

    let logs = pods.logs(&name, &LogParams::default()).await.unwrap();
    assert_eq!(logs, "started\n");

    let mut shell = pods.exec(&name, ["hostname"], &AttachParams::default()).await.unwrap();
    let mut said = String::new();
    shell.stdout().unwrap().read_to_string(&mut said).await.unwrap();
    assert_eq!(said.trim(), name);

    let service = json!({
        "metadata": {"name": "web"},
        "spec": {"type": "NodePort", "selector": {"app": "web"},
                 "ports": [{"port": 80, "targetPort": 8080}]}
    });
    let services: Api<Service> = Api::default_namespaced(node.client());
    let service = serde_json::from_value(service).unwrap();
    let service = services.create(&PostParams::default(), &service).await.unwrap().spec.unwrap();
    let node_port = service.ports.unwrap().remove(0).node_port.unwrap();
    let inner: IpAddr = service.cluster_ip.unwrap().parse().unwrap();
    let of_pod: IpAddr = pod.status.unwrap().pod_ip.unwrap().parse().unwrap();
    let ports =
        [(of_pod, 8080), (inner, 80), (node.ip().into(), u16::try_from(node_port).unwrap())];
    for (ip, port) in ports {
        let what = format!("an answer of {ip}:{port}");
        let answer = wait_for(&what, async || get(ip, port).await).await;
        assert!(answer.ends_with("hello\n"));
    }
    let url = format!("http://{inner}/");
    let from_pod = ["wget", "-q", "-O", "-", url.as_str()];
    let mut shell = pods.exec(&name, from_pod, &AttachParams::default()).await.unwrap();
    let mut said = String::new();
    shell.stdout().unwrap().read_to_string(&mut said).await.unwrap();
    assert_eq!(said, "hello\n");

    node.stop_api();
    assert!(get(of_pod, 8080).await.is_some());
    node.start_api().await.unwrap();
    assert_eq!(pods.logs(&name, &LogParams::default()).await.unwrap(), "started\n");

    let folder = node.folder().to_owned();
    let name = name_of(&folder);
    assert!(traces(&folder, &name).len() > 10);
    drop(node);
    assert!(!folder.exists());
    assert_eq!(traces(&folder, &name), Vec::<String>::new());
}

#[tokio::test]
async fn a_node_ends_with_the_process_that_made_it_even_if_that_is_killed() {
    if let Some(why) = Node::missing() {
        eprintln!("{why}");
        return;
    }
    let mut owner = Owner::of("node");
    let name = name_of(&owner.folder);
    assert!(traces(&owner.folder, &name).len() > 5);
    owner.kill();
    wait_for("nothing to be left", async || {
        let left = traces(&owner.folder, &name);
        (!owner.folder.exists() && left.is_empty()).then_some(())
    })
    .await;
}

async fn get(ip: IpAddr, port: u16) -> Option<String> {
    let ask = async {
        let mut stream = TcpStream::connect((ip, port)).await?;
        stream.write_all(b"GET / HTTP/1.0\r\n\r\n").await?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await?;
        std::io::Result::Ok(answer)
    };
    tokio::time::timeout(Duration::from_secs(2), ask).await.ok()?.ok()
}

/// Whether a line has a name, and not only a longer one that begins like it: the folder of another
/// bed may be `kube-bed-3iWJal` where the name is `kube-bed-3`.
fn has_word(line: &str, word: &str) -> bool {
    let goes_on = |rest: &str| rest.starts_with(|c: char| c.is_ascii_alphanumeric());
    line.match_indices(word).any(|(at, _)| !goes_on(&line[at + word.len()..]))
}

/// What a node has on this machine: processes, mounts, a namespace, routes, cgroups, a claim.
fn traces(folder: &Path, name: &str) -> Vec<String> {
    let mut traces = Vec::new();
    for process in std::fs::read_dir("/proc").unwrap() {
        let process = process.unwrap().path();
        let read = |file| {
            String::from_utf8_lossy(&std::fs::read(process.join(file)).unwrap_or_default())
                .replace('\0', " ")
        };
        let line = read("cmdline");
        if line.contains(folder.to_str().unwrap()) || read("cgroup").contains(&format!("/{name}/"))
        {
            traces.push(line);
        }
    }
    let words = [folder.to_str().unwrap(), name];
    let mut note = |text: String| {
        let ours = text.lines().filter(|line| words.iter().any(|word| has_word(line, word)));
        traces.extend(ours.map(str::to_owned));
    };
    note(std::fs::read_to_string("/proc/self/mounts").unwrap());
    for command in [
        "ip netns",
        "ip route",
        "ip -o link",
        "find /sys/fs/cgroup -type d",
        "find /run/kube-bed -ls",
    ] {
        let mut words = command.split(' ');
        let done = Command::new(words.next().unwrap()).args(words).output().unwrap();
        note(String::from_utf8(done.stdout).unwrap());
    }
    traces
}

/// What a bed calls its namespace.
fn name_of(folder: &Path) -> String {
    let claims = std::fs::read_dir("/run/kube-bed").unwrap().map(|claim| claim.unwrap().path());
    let mut ours = claims.filter(|claim| std::fs::read_link(claim).is_ok_and(|to| to == folder));
    format!("kube-bed-{}", ours.next().unwrap().file_name().unwrap().to_str().unwrap())
}

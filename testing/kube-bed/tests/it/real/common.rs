//! What the tests of beds share.

use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use k8s_openapi::api::apps::v1::Deployment;
use serde_json::json;

/// Replicas of a web server that says `hello` on port 8080, from an image of busybox.
pub(crate) fn web(replicas: u32) -> Deployment {
    let serve = "mkdir /tmp/www && echo hello >/tmp/www/index.html && echo started && \
                 exec httpd -f -p 8080 -h /tmp/www";
    serde_json::from_value(json!({
        "metadata": {"name": "web"},
        "spec": {
            "replicas": replicas,
            "selector": {"matchLabels": {"app": "web"}},
            "template": {
                "metadata": {"labels": {"app": "web"}},
                "spec": {
                    "terminationGracePeriodSeconds": 1,
                    "containers": [{
                        "name": "web", "image": "localhost/busybox:bed",
                        "imagePullPolicy": "Never", "command": ["sh", "-c", serve],
                        "resources": {
                            "requests": {"cpu": "10m", "memory": "16Mi"},
                            "limits": {"cpu": "1", "memory": "32Mi"}
                        }
                    }]
                }
            }
        }
    }))
    .unwrap()
}

/// Looks until there is something to see.
pub(crate) async fn wait_for<T>(what: &str, look: impl AsyncFn() -> Option<T>) -> T {
    let begun = Instant::now();
    loop {
        if let Some(seen) = look().await {
            return seen;
        }
        assert!(begun.elapsed() < Duration::from_mins(2), "waiting in vain for {what}");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

/// A process with a bed of its own.
pub(crate) struct Owner {
    process: Child,
    pub(crate) folder: PathBuf,
}

impl Owner {
    pub(crate) fn of(size: &str) -> Self {
        let mut process = Command::new(env!("CARGO_BIN_EXE_kube-bed"))
            .arg(size)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        // It stays open: the process prints more, and must not fail for it.
        BufReader::new(process.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
        let kubeconfig = Path::new(line.trim().strip_prefix("export KUBECONFIG=").unwrap());
        let folder = kubeconfig.parent().and_then(Path::parent).unwrap().to_owned();
        Self { process, folder }
    }

    pub(crate) fn kill(&mut self) {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
    }
}

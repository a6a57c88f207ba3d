//! Every command of the guides is run as it stands there.
//!
//! A block marked `console` holds commands only. Those that go on until they are stopped (`devnet`,
//! `run`, `quickstart`) run beside the others, as they would in terminals of their own.

use std::fmt::Write as _;
use std::net::TcpListener;
use std::path::Path;
use std::process::{Command, Stdio};

use e2e::guide::commands;

/// Ports that the guides name, each replaced by a free one.
const PORTS: [&str; 7] = ["26657", "9090", "1317", "8443", "8444", "7788", "8880"];

fn root() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// What says that a command which goes on has begun.
fn begun(command: &str) -> Option<&'static str> {
    let words = command.strip_prefix("provider-services ")?;
    match words.split(' ').next()? {
        "devnet" | "quickstart" => Some("grep -q Ctrl-C \"$log\""),
        // Its certificate is published: tenants can know it.
        "run" if !words.contains("--check") => {
            Some("provider-services query cert list -o json | grep -q '\"valid\"'")
        }
        _ => None,
    }
}

/// A script that runs the commands and says which one failed.
fn script(commands: &[String]) -> String {
    let mut script = "trap 'kill $(cat pids) 2>/dev/null; wait' EXIT\n: > pids\n".to_owned();
    for (index, command) in commands.iter().enumerate() {
        let quoted = command.replace('\'', r"'\''");
        writeln!(script, "echo '$ {quoted}'").unwrap();
        match begun(command) {
            None => writeln!(script, "{command} || {{ echo \"FAILED: $?\"; exit 1; }}"),
            Some(begun) => writeln!(
                script,
                "log=log-{index}\n{command} > $log 2>&1 &\necho $! >> pids\ntries=0\n\
                 until {begun}; do\n  tries=$((tries + 1))\n  \
                 [ $tries -lt 600 ] || {{ echo 'FAILED: it does not begin'; cat $log; exit 1; }}\n  \
                 kill -0 $! 2>/dev/null || {{ echo 'FAILED: it ended'; cat $log; exit 1; }}\n  \
                 sleep 0.2\ndone"
            ),
        }
        .unwrap();
    }
    script
}

/// Copies a folder of texts, with other ports in them.
fn copy(from: &Path, to: &Path, change: &dyn Fn(&str) -> String) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap().path();
        let target = to.join(entry.file_name().unwrap());
        match entry.is_dir() {
            true => copy(&entry, &target, change),
            false => {
                let text = change(&std::fs::read_to_string(&entry).unwrap());
                std::fs::write(target, text).unwrap();
            }
        }
    }
}

fn run_guide(name: &str, least: usize) {
    // Kept until all are chosen, so that none is chosen twice.
    let listeners: Vec<_> =
        PORTS.iter().map(|_| TcpListener::bind("127.0.0.1:0").unwrap()).collect();
    let free: Vec<String> =
        listeners.iter().map(|l| l.local_addr().unwrap().port().to_string()).collect();
    drop(listeners);
    let change = |text: &str| {
        let pairs = PORTS.iter().zip(&free);
        pairs.fold(text.to_owned(), |text, (usual, free)| text.replace(usual, free))
    };
    let folder = tempfile::tempdir().unwrap();
    copy(&root().join("examples"), &folder.path().join("examples"), &change);
    let guide = std::fs::read_to_string(root().join("docs").join(name)).unwrap();
    let commands = commands(&guide);
    assert!(commands.len() >= least, "{name} has {} commands", commands.len());
    let program = e2e::program::path().unwrap();
    let path =
        format!("{}:{}", program.parent().unwrap().display(), std::env::var("PATH").unwrap());
    let output = Command::new("sh")
        .args(["-c", &change(&script(&commands))])
        .current_dir(folder.path())
        .env_clear()
        .envs([("PATH", path.as_str()), ("HOME", folder.path().to_str().unwrap())])
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let said = [output.stdout, output.stderr].concat();
    let said = String::from_utf8_lossy(&said);
    assert!(output.status.success() && !said.contains("FAILED"), "{name}:\n{said}");
}

#[test]
fn the_tenants_guide_is_true() {
    run_guide("guide-tenant.md", 15);
}

#[test]
fn the_operators_guide_is_true() {
    run_guide("guide-operator.md", 15);
}

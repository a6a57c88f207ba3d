//! The chain as a process.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use crate::kill::tenant::{PROVIDER, TENANT, address};

pub(crate) const CHAIN: &str = "kill";

pub(crate) struct DevnetProcess {
    child: Child,
    state: PathBuf,
    pub(crate) rpc: String,
    pub(crate) grpc: String,
}

impl DevnetProcess {
    pub(crate) fn start(state: &Path) -> Self {
        Self::start_on(state, ["127.0.0.1:0", "127.0.0.1:0"])
    }

    fn start_on(state: &Path, [rpc, grpc]: [&str; 2]) -> Self {
        let account = |name: &str, seed: u8| {
            format!("--accounts={name}={}=100000akt,100000act", address(seed))
        };
        let mut child = Command::new(env!("CARGO_BIN_EXE_provider-services"))
            .env_clear()
            .args(["devnet", "--chain-id", CHAIN, "--block-time", "100ms"])
            .args(["--rpc-addr", rpc, "--grpc-addr", grpc, "--api-addr", "127.0.0.1:0"])
            .args([account("tenant", TENANT), account("provider", PROVIDER)])
            .arg("--state")
            .arg(state)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let (mut rpc, mut grpc) = (String::new(), String::new());
        for line in BufReader::new(child.stdout.take().unwrap()).lines() {
            let line = line.unwrap();
            match line.split_whitespace().collect::<Vec<_>>().as_slice() {
                ["rpc", url] => rpc = (*url).to_owned(),
                ["grpc", url] => grpc = (*url).to_owned(),
                ["Ctrl-C", ..] => break,
                _ => {}
            }
        }
        let devnet = Self { child, state: state.to_owned(), rpc, grpc };
        assert!(!devnet.rpc.is_empty(), "the devnet does not say where it listens");
        devnet
    }

    /// SIGKILL; then it starts again from its files where it listened before.
    pub(crate) fn kill_and_start(mut self) -> Self {
        self.kill();
        let bare = |url: &str| url.rsplit_once('/').map_or(url, |(_, rest)| rest).to_owned();
        let (rpc, grpc) = (bare(&self.rpc), bare(&self.grpc));
        Self::start_on(&self.state, [&rpc, &grpc])
    }

    fn kill(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Drop for DevnetProcess {
    fn drop(&mut self) {
        self.kill();
    }
}

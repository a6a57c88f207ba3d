//! A provider with an honest tenant and a hostile one.

use std::net::SocketAddr;
use std::path::Path;
use std::time::Duration;

use akash_keys::SecretKey;
use anyhow::{Context, Result};

use super::Target;
use super::strangers::token;
use crate::network::{Network, Settings, wait_until};

/// Longer than anything takes, however busy the machine is.
const LONG: Duration = Duration::from_secs(180);
/// The deployment of the honest tenant.
const HONEST: u64 = 7;
/// Those of the hostile one.
const HOSTILE: [u64; 2] = [8, 9];

/// A network with leases, ready to be attacked.
#[derive(Debug)]
pub struct Stage {
    /// The processes.
    pub network: Network,
    /// The token of the honest tenant.
    pub token: String,
    /// Its deployment.
    pub lease: u64,
    hostile: String,
    group: Vec<u8>,
}

impl Stage {
    /// Starts a chain, a cluster and a provider, and deploys for both tenants.
    pub fn start(folder: &Path, settings: Settings) -> Result<Self> {
        let mut network = Network::start(folder, settings)?;
        network.start_provider()?;
        network.open_gateway()?;
        let sdl = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/hello.yaml");
        let sdl = sdl.to_str().context("a path that is no text")?;
        let deploy = |from: &str, dseq: u64| {
            let dseq = dseq.to_string();
            let args = ["deploy", sdl, "--pick", "cheapest", "--bid-wait", "0", "--dseq", &dseq];
            network.run(&[&args[..], &["--from", from]].concat())
        };
        deploy("tenant", HONEST)?;
        for dseq in HOSTILE {
            deploy("faucet", dseq)?;
        }
        let signed = |name: &str| token(&SecretKey::from_hex(&network.private_key(name)?)?);
        let (token, hostile) = (signed("tenant")?, signed("faucet")?);
        let groups = network.json(&["sdl", "groups", sdl])?;
        let group = groups.get(0).context("an SDL without groups")?.to_string().into_bytes();
        Ok(Self { network, token, lease: HONEST, hostile, group })
    }

    /// What attackers aim at.
    pub fn target(&self) -> Result<Target> {
        let (rest, grpc) = wait_until("tenants can connect", LONG, || self.network.gateway())?;
        let (rest, grpc): (SocketAddr, SocketAddr) = (rest.parse()?, grpc.parse()?);
        let (token, leases) = (self.hostile.clone(), HOSTILE.to_vec());
        Ok(Target { rest, grpc, token, leases, group: self.group.clone() })
    }

    /// Starts the provider anew, and waits until the leases run.
    pub fn restart(&mut self) -> Result<()> {
        self.network.provider = None;
        self.network.start_provider()?;
        wait_until("the leases run", LONG, || {
            let running = self.network.running()?;
            Ok((running.len() == 1 + HOSTILE.len()).then_some(()))
        })
    }
}

//! A chain, a simulated cluster and a provider, each a process that can be killed and comes back
//! where it was.

use std::collections::BTreeSet;
use std::net::{IpAddr, Ipv4Addr};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use serde_json::Value;

use crate::program::{self, Process, word_after};

const CHAIN_ID: &str = "local";

/// What the provider says of itself on chain.
const PROVIDER: &str = "\
host: https://localhost:8443
attributes:
  - key: capabilities/storage/1/class
    value: ram
  - key: capabilities/storage/1/persistent
    value: \"false\"
";

/// The three processes and where they keep what they keep.
#[derive(Debug)]
pub struct Network {
    folder: PathBuf,
    settings: Settings,
    /// The chain; `None` while it is down.
    pub chain: Option<Process>,
    /// The cluster; `None` while it is down.
    pub cluster: Option<Process>,
    /// The provider; `None` while it is down.
    pub provider: Option<Process>,
    rpc: String,
    grpc: String,
    sim: String,
    sim_http: String,
    /// Nodes that the provider asks; the chain's own if empty.
    pub nodes: Vec<String>,
}

/// How a network is made.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Time between blocks, as the devnet takes it.
    pub block_time: String,
    /// The machines, as the simulated cluster takes them.
    pub machines: String,
    /// How much faster than real it starts and ends things.
    pub speed: u32,
    /// More for `sim-cluster`.
    pub cluster: Vec<String>,
    /// How to reach a Kubernetes cluster on which the provider works instead.
    pub kubeconfig: Option<PathBuf>,
    /// The key that the provider signs with.
    pub signer: String,
    /// More for `run`.
    pub run: Vec<String>,
    /// What `provider.yaml` of `run` says, instead of the flags for prices and deposits.
    pub config: Option<String>,
    /// Variables of the provider's environment; it has no others.
    pub variables: Vec<(String, String)>,
    /// The provider's store, where it is not in the network's folder.
    pub store: Option<PathBuf>,
    /// Soft and hard limit of the provider's open files, where they are not those of the test.
    pub descriptors: Option<(u64, u64)>,
    /// Where the chain listens.
    pub listen: IpAddr,
    /// Who has coins there, as the devnet takes it; some that it makes up if empty.
    pub accounts: Vec<String>,
    /// What 1 AKT is worth in USD there, if the oracle knows.
    pub akt_price: Option<String>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            block_time: "250ms".to_owned(),
            machines: "20*node:cpu=64,memory=256Gi,disk=2Ti".to_owned(),
            speed: 100,
            cluster: Vec::new(),
            kubeconfig: None,
            signer: "operator".to_owned(),
            run: Vec::new(),
            config: None,
            variables: Vec::new(),
            store: None,
            descriptors: None,
            listen: Ipv4Addr::LOCALHOST.into(),
            accounts: Vec::new(),
            akt_price: None,
        }
    }
}

impl Network {
    /// Starts the chain and the cluster and registers a provider, which does not run yet.
    pub fn start(folder: &Path, settings: Settings) -> Result<Self> {
        let mut network = Self::chain(folder, settings)?;
        network.start_cluster()?;
        let file = folder.join("provider.yaml");
        std::fs::write(&file, PROVIDER)?;
        let file = file.to_str().context("a path that is no text")?;
        network.tx("operator", &["provider", "create", file])?;
        Ok(network)
    }

    /// Starts the chain alone.
    pub fn chain(folder: &Path, settings: Settings) -> Result<Self> {
        let any = "127.0.0.1:0".to_owned();
        let chain = format!("{}:0", settings.listen);
        let mut network = Self {
            folder: folder.to_owned(),
            settings,
            chain: None,
            cluster: None,
            provider: None,
            rpc: chain.clone(),
            grpc: chain,
            sim: any.clone(),
            sim_http: any,
            nodes: Vec::new(),
        };
        network.start_chain()?;
        Ok(network)
    }

    fn at(&self, name: &str) -> Result<String> {
        Ok(self.folder.join(name).to_str().context("a path that is no text")?.to_owned())
    }

    fn store(&self) -> PathBuf {
        self.settings.store.clone().unwrap_or_else(|| self.folder.join("store.redb"))
    }

    fn log(&self, name: &str) -> PathBuf {
        self.folder.join(format!("{name}.log"))
    }

    /// What the provider has said so far.
    pub fn provider_log(&self) -> String {
        std::fs::read_to_string(self.log("provider")).unwrap_or_default()
    }

    /// Starts the chain where it was.
    pub fn start_chain(&mut self) -> Result<()> {
        let state = self.at("chain")?;
        let args = ["devnet", "--state", &state, "--block-time", &self.settings.block_time];
        let ports =
            ["--rpc-addr", &self.rpc, "--grpc-addr", &self.grpc, "--api-addr", "127.0.0.1:0"];
        let mut args = [&args[..], &ports].concat();
        args.extend(self.settings.accounts.iter().flat_map(|it| ["--accounts", it.as_str()]));
        args.extend(self.settings.akt_price.iter().flat_map(|price| ["--akt-price", price]));
        let (process, lines) = Process::start_and_read(&args, &[], &self.log("chain"), "Ctrl-C")?;
        let bare = |name| {
            let url = word_after(&lines, name).context("the devnet does not say where it is")?;
            anyhow::Ok(url.trim_start_matches("http://").to_owned())
        };
        (self.rpc, self.grpc) = (bare("rpc")?, bare("grpc")?);
        self.chain = Some(process);
        Ok(())
    }

    /// Starts the cluster where it was.
    pub fn start_cluster(&mut self) -> Result<()> {
        let (state, speed) = (self.at("cluster")?, self.settings.speed.to_string());
        let args = ["sim-cluster", "--state", &state, "--listen", &self.sim, "--http"];
        let more = [&self.sim_http, "--nodes", &self.settings.machines, "--speed", &speed];
        let mut args = [&args[..], &more].concat();
        args.extend(self.settings.cluster.iter().map(String::as_str));
        let (process, lines) = Process::start_and_read(&args, &[], &self.log("cluster"), "Ctrl-C")?;
        self.sim = word_after(&lines, "cluster").context("no address of the cluster")?;
        let web = word_after(&lines, "web").context("no address of the workloads")?;
        self.sim_http = web.trim_start_matches("http://").to_owned();
        self.cluster = Some(process);
        Ok(())
    }

    /// Starts the provider. Tenants find it where it was before.
    pub fn start_provider(&mut self) -> Result<()> {
        let nodes = match self.nodes.as_slice() {
            [] => format!("http://{}", self.rpc),
            nodes => nodes.join(","),
        };
        let home = self.at("chain")?;
        let (store, socket) = (self.store(), self.at("ctl.sock")?);
        let store = store.to_str().context("a path that is no text")?;
        let mut args = vec!["run", "--from", &self.settings.signer, "--node", &nodes];
        let kubeconfig = self.settings.kubeconfig.as_ref();
        let kubeconfig = kubeconfig.map(|path| path.to_string_lossy().into_owned());
        match &kubeconfig {
            Some(path) => args.extend(["--cluster", "kubernetes", "--kubeconfig", path]),
            None => args.extend(["--cluster", "simulated", "--sim-cluster-address", &self.sim]),
        }
        args.extend(["--home", &home, "--keyring-backend", "test", "--chain-id", CHAIN_ID]);
        args.extend(["--store-path", store, "--ctl-socket", &socket]);
        let config = self.at("run.yaml")?;
        match &self.settings.config {
            Some(text) => {
                std::fs::write(&config, text)?;
                args.extend(["--provider-config", &config]);
            }
            None => {
                args.extend(["--bid-price-cpu-scale", "0.001", "--bid-deposit", "500000uact"]);
            }
        }
        args.extend(["--gas-prices", "0.025uakt", "--deployment-ingress-static-hosts"]);
        args.extend(["--deployment-ingress-domain", "sim.localhost"]);
        // Networks run side by side: each takes ports that are free.
        let rest = self.gateway()?.map_or_else(|| "127.0.0.1:0".to_owned(), |(rest, _)| rest);
        args.extend(["--gateway-listen-address", &rest]);
        args.extend(["--gateway-grpc-listen-address", "127.0.0.1:0"]);
        args.extend(self.settings.run.iter().map(String::as_str));
        let log = self.log("provider");
        self.provider = Some(match self.settings.descriptors {
            None => {
                let variables = self.settings.variables.iter();
                let variables: Vec<_> =
                    variables.map(|(name, value)| (name.as_str(), value.as_str())).collect();
                Process::start(&args, &variables, &log)?
            }
            Some(limits) => Process::start_limited(&args, limits, &log)?,
        });
        Ok(())
    }

    /// Writes another `provider.yaml` and has the provider, which was started with one, read it.
    pub fn reload(&mut self, config: String) -> Result<()> {
        std::fs::write(self.folder.join("run.yaml"), &config)?;
        self.settings.config = Some(config);
        self.provider.as_ref().context("no provider runs")?.signal("HUP")
    }

    /// More flags for the provider from its next start on, instead of those it has.
    pub fn set_flags(&mut self, flags: &[&str]) {
        self.settings.run = flags.iter().map(|&flag| flag.to_owned()).collect();
    }

    /// The provider's environment from its next start on.
    pub fn set_variables(&mut self, variables: &[(&str, &str)]) {
        let owned = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
        self.settings.variables = variables.iter().map(owned).collect();
    }

    /// Waits until tenants can connect to the provider, and registers where that is.
    pub fn open_gateway(&self) -> Result<()> {
        let limit = Duration::from_secs(120);
        let (rest, _) = wait_until("tenants can connect", limit, || self.gateway())?;
        let port = rest.rsplit(':').next().unwrap_or_default();
        let file = self.at("provider.yaml")?;
        let there = format!("host: https://localhost:{port}\n");
        std::fs::write(&file, PROVIDER.replace("host: https://localhost:8443\n", &there))?;
        self.tx("operator", &["provider", "update", &file])?;
        // Who connects knows it by the certificate that it publishes.
        let operator = self.address("operator")?;
        wait_until("the provider's certificate is published", limit, || {
            let list = ["query", "cert", "list", "--owner", &operator, "--state", "valid"];
            let found = self.json(&list)?;
            let found = found.get("certificates").and_then(Value::as_array);
            Ok(found.is_some_and(|found| !found.is_empty()).then_some(()))
        })
    }

    /// Variables by which commands find this network.
    pub fn variables(&self) -> Result<[(&'static str, String); 4]> {
        Ok([
            ("AKASH_HOME", self.at("chain")?),
            ("AKASH_NODE", format!("http://{}", self.rpc)),
            ("AKASH_CHAIN_ID", CHAIN_ID.to_owned()),
            ("AKASH_KEYRING_BACKEND", "test".to_owned()),
        ])
    }

    /// Deletes what the provider keeps; it has to be down.
    pub fn forget_store(&self) {
        let _ = std::fs::remove_file(self.store());
    }

    /// Where the chain answers, without a scheme.
    pub fn rpc(&self) -> &str {
        &self.rpc
    }

    /// Where the chain answers gRPC, without a scheme.
    pub fn grpc(&self) -> &str {
        &self.grpc
    }

    /// Where the provider that was started last lets tenants in, by REST and by gRPC; `None` until
    /// it says so.
    pub fn gateway(&self) -> Result<Option<(String, String)>> {
        let log = self.provider_log();
        let said = log.lines().rfind(|line| line.contains("tenants can connect"));
        let Some(said) = said else { return Ok(None) };
        let find = |name: &str| {
            let address = said.split_whitespace().find_map(|word| word.strip_prefix(name));
            address.map(str::to_owned).with_context(|| format!("no {name} in: {said}"))
        };
        Ok(Some((find("rest=")?, find("grpc=")?)))
    }

    /// The private key of an account, in hex.
    pub fn private_key(&self, key: &str) -> Result<String> {
        let export = ["keys", "export", key, "--unarmored-hex", "--unsafe", "-y"];
        Ok(self.run(&export)?.trim().to_owned())
    }

    /// Where keys and certificates are.
    pub fn home(&self) -> PathBuf {
        self.folder.join("chain")
    }

    /// Where the provider's operator asks.
    pub fn socket(&self) -> PathBuf {
        self.folder.join("ctl.sock")
    }

    /// Where the simulated cluster listens.
    pub fn sim(&self) -> &str {
        &self.sim
    }

    /// Where workloads answer.
    pub fn web(&self) -> &str {
        &self.sim_http
    }

    /// Runs a command of the program on this network.
    pub fn run(&self, args: &[&str]) -> Result<String> {
        let variables = self.variables()?;
        program::run(args, &variables.each_ref().map(|(name, value)| (*name, value.as_str())))
    }

    /// The same, with what it prints as JSON.
    pub fn json(&self, args: &[&str]) -> Result<Value> {
        let printed = self.run(&[args, &["-o", "json"]].concat())?;
        serde_json::from_str(&printed).with_context(|| format!("`{}`: {printed}", args.join(" ")))
    }

    /// Asks the provider as its operator.
    pub fn ctl(&self, args: &[&str]) -> Result<Value> {
        let socket = self.at("ctl.sock")?;
        self.json(&[&["ctl", "--socket", &socket], args].concat())
    }

    /// Whether the provider acts.
    pub fn ready(&self) -> Result<Option<()>> {
        let ready = self.ctl(&["status"])?.get("ready") == Some(&Value::Bool(true));
        Ok(ready.then_some(()))
    }

    /// The number and stage of each lease that the provider looks after.
    pub fn leases(&self) -> Result<Vec<(u64, String)>> {
        let told = self.ctl(&["leases"])?;
        let lease = |lease: &Value| {
            let dseq = lease.get("id")?.as_str()?.split('/').nth(1)?.parse().ok()?;
            Some((dseq, lease.get("stage")?.as_str()?.to_owned()))
        };
        let leases = told.get("leases").and_then(Value::as_array);
        Ok(leases.into_iter().flatten().filter_map(lease).collect())
    }

    /// The numbers of those that run.
    pub fn running(&self) -> Result<BTreeSet<u64>> {
        let running = self.leases()?.into_iter().filter(|(_, stage)| stage == "running");
        Ok(running.map(|(dseq, _)| dseq).collect())
    }

    /// Sends a transaction that succeeds.
    pub fn tx(&self, from: &str, args: &[&str]) -> Result<Value> {
        let result = self.json(&[&["tx"], args, &["--from", from, "-y"]].concat())?;
        if result.get("code") != Some(&Value::from(0)) {
            bail!("{result}");
        }
        Ok(result)
    }

    /// The address of a key.
    pub fn address(&self, key: &str) -> Result<String> {
        Ok(self.run(&["keys", "show", key, "-a"])?.trim().to_owned())
    }

    /// Puts several messages, made by commands of the program, into one transaction, signs and sends
    /// it with the program, and waits for its block.
    pub fn tx_of(&self, from: &str, messages: &[Value]) -> Result<Value> {
        let gas = (400_000 + 600_000 * messages.len()).to_string();
        let fee = (600_000 * messages.len() / 20 + 50_000).to_string();
        let transaction = serde_json::json!({
            "body": {
                "messages": messages, "memo": "", "timeout_height": "0",
                "extension_options": [], "non_critical_extension_options": []
            },
            "auth_info": {
                "signer_infos": [],
                "fee": {
                    "amount": [{"denom": "uakt", "amount": fee}], "gas_limit": gas,
                    "payer": "", "granter": ""
                },
                "tip": null
            },
            "signatures": []
        });
        let file = self.at("unsigned.json")?;
        std::fs::write(&file, transaction.to_string())?;
        let signed = self.run(&["tx", "sign", &file, "--from", from])?;
        let file = self.at("signed.json")?;
        std::fs::write(&file, signed)?;
        let result = self.json(&["tx", "broadcast", &file, "-y"])?;
        if result.get("code") != Some(&Value::from(0)) {
            bail!("{result}");
        }
        Ok(result)
    }

    /// What a command of `tx` would send.
    pub fn message(&self, from: &str, args: &[&str]) -> Result<Value> {
        let make = ["--from", from, "--generate-only", "--offline", "--gas", "1"];
        let made = self.run(&[&["tx"], args, &make].concat())?;
        let made: Value = serde_json::from_str(&made)?;
        made.pointer("/body/messages/0").cloned().context("the transaction has no message")
    }
}

/// Who looks for what went wrong in a test looks here first.
impl Drop for Network {
    #[expect(clippy::print_stderr, reason = "it is for who runs the test")]
    fn drop(&mut self) {
        if std::thread::panicking() {
            let log = self.provider_log();
            let lines: Vec<&str> = log.lines().collect();
            let last = lines.get(lines.len().saturating_sub(60)..).unwrap_or_default();
            eprintln!("the provider said last:\n{}", last.join("\n"));
        }
    }
}

/// Looks until something is so; the last problem if it never is.
pub fn wait_until<T>(
    what: &str,
    limit: Duration,
    mut look: impl FnMut() -> Result<Option<T>>,
) -> Result<T> {
    let began = Instant::now();
    loop {
        let problem = match look() {
            Ok(Some(found)) => return Ok(found),
            Ok(None) => "not yet".to_owned(),
            Err(error) => format!("{error:#}"),
        };
        if began.elapsed() >= limit {
            bail!("{what}: not so after {limit:?}: {problem}");
        }
        std::thread::sleep(Duration::from_millis(100));
    }
}

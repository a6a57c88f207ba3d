//! A provider whose nodes stand behind TLS that demands a certificate, or behind a proxy.

use std::collections::{BTreeMap, BTreeSet};
use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use anyhow::Result;
use e2e::network::{Network, Settings, wait_until};
use e2e::program;
use provider_testkit::proxy::Tunnels;
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use rustls::pki_types::PrivateKeyDer;
use rustls::server::WebPkiClientVerifier;
use rustls::{RootCertStore, ServerConfig};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::Runtime;
use tokio::sync::watch;
use tokio_rustls::TlsAcceptor;

const LONG: Duration = Duration::from_secs(120);
const SDL: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/hello.yaml");

fn insist<T>(what: &str, look: impl FnMut() -> Result<Option<T>>) -> T {
    wait_until(what, LONG, look).unwrap_or_else(|error| panic!("{error:#}"))
}

/// An authority, and what it vouches for.
struct Authority(CertifiedIssuer<'static, KeyPair>);

impl Authority {
    fn new() -> Self {
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        Self(CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap())
    }

    fn write(&self, path: &Path) -> String {
        std::fs::write(path, self.0.pem()).unwrap();
        path.to_str().unwrap().to_owned()
    }

    /// A certificate and its key, for these names.
    fn issue(&self, names: &[&str]) -> (rcgen::Certificate, KeyPair) {
        let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        let key = KeyPair::generate().unwrap();
        let params = CertificateParams::new(names).unwrap();
        (params.signed_by(&key, &self.0).unwrap(), key)
    }
}

/// Writes a certificate and its key where the provider looks for them.
fn show(folder: &Path, (cert, key): &(rcgen::Certificate, KeyPair)) -> (PathBuf, PathBuf) {
    let paths = (folder.join("node-cert.pem"), folder.join("node-key.pem"));
    std::fs::write(&paths.0, cert.pem()).unwrap();
    std::fs::write(&paths.1, key.serialize_pem()).unwrap();
    paths
}

/// TLS in front of a port. Clients have to show a certificate of the authority, if one is wanted.
struct Front {
    address: SocketAddr,
    acceptor: Arc<Mutex<TlsAcceptor>>,
    seen: Arc<Mutex<Seen>>,
    /// Connections end when it changes.
    cut: watch::Sender<u32>,
}

#[derive(Default)]
struct Seen {
    connections: usize,
    websockets: usize,
    certificates: BTreeSet<Vec<u8>>,
}

/// TLS with a certificate of the authority for these names.
fn acceptor(authority: &Authority, names: &[&str], asks: bool) -> TlsAcceptor {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let (cert, key) = authority.issue(names);
    let key = PrivateKeyDer::try_from(key.serialize_der()).unwrap();
    let mut roots = RootCertStore::empty();
    roots.add(authority.0.der().clone()).unwrap();
    let clients = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider.clone());
    let builder = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap();
    let builder = match asks {
        true => builder.with_client_cert_verifier(clients.build().unwrap()),
        false => builder.with_no_client_auth(),
    };
    let mut config = builder.with_single_cert(vec![cert.der().clone()], key).unwrap();
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    TlsAcceptor::from(Arc::new(config))
}

impl Front {
    async fn start(authority: &Authority, names: &[&str], to: SocketAddr, asks: bool) -> Self {
        let acceptor = Arc::new(Mutex::new(acceptor(authority, names, asks)));
        let current = Arc::clone(&acceptor);
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
        let address = listener.local_addr().unwrap();
        let (cut, cuts) = watch::channel(0);
        let seen = Arc::new(Mutex::new(Seen::default()));
        let noted = Arc::clone(&seen);
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let (acceptor, noted) = (current.lock().unwrap().clone(), Arc::clone(&noted));
                let mut cuts = cuts.clone();
                cuts.mark_unchanged();
                tokio::spawn(async move {
                    let pipe = pipe(stream, acceptor, to, noted);
                    tokio::select! {
                        _ = pipe => {}
                        _ = cuts.changed() => {}
                    }
                });
            }
        });
        Self { address, acceptor, seen, cut }
    }

    /// Shows a certificate of this authority from now on, and demands one of it.
    fn replace(&self, authority: &Authority) {
        *self.acceptor.lock().unwrap() = acceptor(authority, &["localhost"], true);
    }

    fn cut(&self) {
        self.cut.send_modify(|count| *count += 1);
    }

    fn seen<T>(&self, look: impl FnOnce(&Seen) -> T) -> T {
        look(&self.seen.lock().unwrap())
    }
}

async fn pipe(
    stream: TcpStream,
    acceptor: TlsAcceptor,
    to: SocketAddr,
    noted: Arc<Mutex<Seen>>,
) -> Result<()> {
    let mut tls = acceptor.accept(stream).await?;
    {
        let mut seen = noted.lock().unwrap();
        seen.connections += 1;
        let shown = tls.get_ref().1.peer_certificates().and_then(|chain| chain.first());
        seen.certificates.extend(shown.map(|shown| shown.to_vec()));
    }
    let mut first = vec![0; 16 * 1024];
    let count = tls.read(&mut first).await?;
    if first.starts_with(b"GET /websocket") {
        noted.lock().unwrap().websockets += 1;
    }
    let mut node = TcpStream::connect(to).await?;
    node.write_all(&first[..count]).await?;
    tokio::io::copy_bidirectional(&mut tls, &mut node).await?;
    Ok(())
}

fn order(network: &Network, dseq: &str) {
    let create = ["deployment", "create", SDL, "--dseq", dseq, "--deposit", "5act"];
    network.tx("tenant", &create).unwrap();
}

fn bid(network: &Network, dseq: &str) {
    let (tenant, operator) =
        (network.address("tenant").unwrap(), network.address("operator").unwrap());
    let get = ["query", "market", "bid", "get", "--owner", &tenant, "--dseq", dseq];
    let get = [&get[..], &["--provider", &operator]].concat();
    insist("a bid", || network.json(&get).map(Some));
}

fn texts(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}

#[test]
fn nodes_that_demand_a_certificate_are_used_and_new_certificates_are_picked_up() {
    let runtime = Runtime::new().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let mut network = Network::start(folder.path(), Settings::default()).unwrap();
    let authority = Authority::new();
    let (rpc, grpc) = (network.rpc().parse().unwrap(), network.grpc().parse().unwrap());
    let start = |to| runtime.block_on(Front::start(&authority, &["localhost"], to, true));
    let (rpc, grpc) = (start(rpc), start(grpc));
    let first = authority.issue(&["provider.test"]);
    let (cert, key) = show(folder.path(), &first);
    let ca = authority.write(&folder.path().join("ca.pem"));
    let (cert, key) = (cert.to_str().unwrap(), key.to_str().unwrap());
    let node = format!("https://localhost:{}", rpc.address.port());
    let grpc_url = format!("https://localhost:{}", grpc.address.port());
    let files = ["--node-ca", &ca, "--node-cert", cert, "--node-key", key];

    // Commands reach it too, and do not without what it demands.
    let query = ["query", "market", "params", "--node", &node];
    program::run(&[&query[..], &files].concat(), &[]).unwrap();
    program::run(&[&query[..], &files, &["--grpc-addr", &grpc_url]].concat(), &[]).unwrap();
    for missing in [&files[..2], &[]] {
        let error = program::run(&[&query[..], missing].concat(), &[]).unwrap_err().to_string();
        assert!(error.contains("ertificate"), "{error}");
    }
    for (wrong, said) in [
        (&files[..4], "--node-key"),
        (&["--node-ca", "/no/such.pem"][..], "/no/such.pem"),
        (&["--node-cert", key, "--node-key", key][..], "holds no certificate"),
    ] {
        let error = program::run(&[&query[..], wrong].concat(), &[]).unwrap_err().to_string();
        assert!(error.contains(said), "{said}: {error}");
    }

    network.nodes = vec![node];
    network.set_flags(&[&files[..], &["--grpc-addr", &grpc_url]].concat());
    network.start_provider().unwrap();
    insist("the provider acts", || network.ready());
    order(&network, "1");
    bid(&network, "1");
    assert!(grpc.seen(|seen| seen.connections) > 0, "questions go over gRPC");
    insist("blocks are heard of by WebSocket", || {
        Ok((rpc.seen(|seen| seen.websockets) > 0).then_some(()))
    });
    let shown = |front: &Front, (cert, _): &(rcgen::Certificate, KeyPair)| {
        front.seen(|seen| seen.certificates.contains(&cert.der().to_vec()))
    };
    assert!(shown(&rpc, &first) && shown(&grpc, &first));

    // First a new certificate, then also a new authority on both sides: the old one proves nothing.
    let other = Authority::new();
    for (dseq, authority) in [("2", &authority), ("3", &other)] {
        let renewed = authority.issue(&["renewed.provider.test"]);
        show(folder.path(), &renewed);
        authority.write(Path::new(&ca));
        for front in [&rpc, &grpc] {
            front.replace(authority);
        }
        let websockets = rpc.seen(|seen| seen.websockets);
        rpc.cut();
        grpc.cut();
        order(&network, dseq);
        bid(&network, dseq);
        insist("the new certificate is shown to all", || {
            Ok((shown(&rpc, &renewed) && shown(&grpc, &renewed)).then_some(()))
        });
        insist("blocks are heard of by a new WebSocket", || {
            Ok((rpc.seen(|seen| seen.websockets) > websockets).then_some(()))
        });
    }
}

#[test]
fn a_certificate_for_nodes_without_its_key_stops_the_start() {
    let folder = tempfile::tempdir().unwrap();
    let authority = Authority::new();
    let (cert, _) = show(folder.path(), &authority.issue(&["provider.test"]));
    let home = folder.path().to_str().unwrap();
    let run = ["run", "--check", "--home", home, "--chain-id", "local", "--from"];
    let run = [&run[..], &["akash1rhal6a4vawtnwex8nda7u6tueeesllpeagpdq8"]].concat();
    let run = [&run[..], &["--bid-price-cpu-scale", "1"]].concat();
    let check = |more: &[&str], variables: &[(&str, &str)]| {
        program::run(&[&run[..], more].concat(), variables).unwrap_err().to_string()
    };
    let cert = cert.to_str().unwrap();
    let said = check(&["--node-cert", cert], &[]);
    assert!(said.contains("node-key") && said.contains("without its key"), "{said}");
    let said = check(&["--node-key", cert], &[]);
    assert!(said.contains("node-cert") && said.contains("without its certificate"), "{said}");
    let said = check(&["--node-ca", "/no/such.pem"], &[]);
    assert!(said.contains("node-ca") && said.contains("/no/such.pem"), "{said}");
    let said = check(&[], &[("HTTPS_PROXY", "socks5://user:secret@proxy:1")]);
    assert!(said.contains("HTTPS_PROXY") && !said.contains("secret"), "{said}");
    let said = check(&[], &[("SSL_CERT_FILE", "/no/roots.pem")]);
    assert!(said.contains("SSL_CERT_FILE") && said.contains("/no/roots.pem"), "{said}");
}

#[test]
fn nodes_are_reached_through_a_proxy_that_alone_knows_their_names() {
    let runtime = Runtime::new().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let mut network = Network::start(folder.path(), Settings::default()).unwrap();
    let authority = Authority::new();
    let (rpc, grpc) = (network.rpc().parse().unwrap(), network.grpc().parse().unwrap());
    let start = |name, to| runtime.block_on(Front::start(&authority, &[name], to, false));
    let (rpc, grpc) = (start("node.test", rpc), start("grpc.test", grpc));
    let names = [("node.test:443", &rpc), ("grpc.test:9090", &grpc)];
    let names = names.map(|(name, front)| (name.to_owned(), front.address));
    let proxy = runtime.block_on(Tunnels::start(BTreeMap::from(names))).unwrap();
    let at = proxy.url();
    // The authority is one of the system's, as far as the program can tell.
    let ca = authority.write(&folder.path().join("ca.pem"));
    let query = ["query", "market", "params", "--node", "https://node.test"];
    let trust = ("SSL_CERT_FILE", ca.as_str());
    program::run(&query, &[("https_proxy", &at), trust]).unwrap();
    assert_eq!(proxy.count("node.test:443"), 1);
    // Without the proxy nobody knows the name.
    for direct in [vec![trust], vec![("HTTPS_PROXY", at.as_str()), ("NO_PROXY", ".test"), trust]] {
        program::run(&query, &direct).unwrap_err();
    }
    let error = program::run(&query, &[("HTTPS_PROXY", &at)]).unwrap_err().to_string();
    assert!(error.contains("UnknownIssuer") || error.contains("ertificate"), "{error}");
    let other = ["query", "market", "params", "--node", "https://other.test"];
    let error = program::run(&other, &[("HTTPS_PROXY", &at), trust]).unwrap_err().to_string();
    assert!(error.contains(&at), "the proxy is named: {error}");

    let tunnels = proxy.count("node.test:443");
    network.nodes = texts(&["https://node.test"]);
    network.set_flags(&["--grpc-addr", "grpc.test:9090"]);
    network.set_variables(&[("HTTPS_PROXY", &at), ("SSL_CERT_FILE", &ca)]);
    network.start_provider().unwrap();
    insist("the provider acts", || network.ready());
    order(&network, "1");
    bid(&network, "1");
    assert!(proxy.count("node.test:443") > tunnels, "RPC");
    assert!(proxy.count("grpc.test:9090") > 0, "gRPC");
    insist("blocks are heard of by WebSocket", || {
        Ok((rpc.seen(|seen| seen.websockets) > 0).then_some(()))
    });
}

#[test]
fn a_tenants_command_trusts_the_authority_that_the_environment_names() {
    let folder = tempfile::tempdir().unwrap();
    let mut network = Network::start(folder.path(), Settings::default()).unwrap();
    let authority = Authority::new();
    let (cert, key) = show(folder.path(), &authority.issue(&["localhost"]));
    let (cert, key) = (cert.to_str().unwrap(), key.to_str().unwrap());
    let files = ["--gateway-tls-cert", cert, "--gateway-tls-key", key];
    network.set_flags(&[&files[..], &["--cluster-public-hostname", "localhost"]].concat());
    network.start_provider().unwrap();
    insist("the provider acts", || network.ready());
    network.open_gateway().unwrap();
    let operator = network.address("operator").unwrap();
    let variables = network.variables().unwrap();
    let found = variables.each_ref().map(|(name, value)| (*name, value.as_str()));
    let status = ["status", &operator];
    let error = program::run(&status, &found).unwrap_err().to_string();
    assert!(error.contains("ertificate") || error.contains("UnknownIssuer"), "{error}");
    let ca = authority.write(&folder.path().join("ca.pem"));
    program::run(&status, &[&found[..], &[("SSL_CERT_FILE", &ca)]].concat()).unwrap();
}

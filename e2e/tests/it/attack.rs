//! A provider under attack: what it takes, and what its other tenants notice.

use std::io::ErrorKind;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::Path;
use std::time::Duration;

use e2e::attack::{Attack, Attackers, Client, Honest, Stage, ask, raise_descriptors, request, tcp};
use e2e::network::{Network, Settings, wait_until};
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;

/// Longer than anything takes, however busy the machine is.
const LONG: Duration = Duration::from_secs(180);
/// What a provider may hold at most, built without optimization, in megabytes: 75 at rest, 51 for
/// 2,048 connections of strangers after the handshake, 12 for others that wait, 8 for what strangers
/// and 32 for what tenants send, 26 for 64 streams, 18 for lookups. Without bounds, calls that
/// announce their size took 800, and so did shells.
const MOST_MEMORY: u64 = 222_000_000;

fn is_full() -> bool {
    std::env::var_os("AKASH_TEST_FULL").is_some()
}

/// How long the tenant waits is measured by `cargo xtask bench attack`, with the program as it is
/// shipped; here every request has to be answered, whatever else the machine does.
#[test]
fn all_attacks_at_once_take_bounded_memory_and_leave_tenants_answered() {
    raise_descriptors().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let mut stage = Stage::start(folder.path(), Settings::default()).unwrap();
    let target = stage.target().unwrap();
    let attackers = Attackers::start(&target, &Attack::ALL);
    let honest = Honest::start(target.rest, &stage.token, stage.lease);
    std::thread::sleep(Duration::from_secs(if is_full() { 120 } else { 8 }));
    wait_until("every attack has begun", LONG, || {
        Ok(attackers.acts().iter().all(|(_, acts)| *acts > 0).then_some(()))
    })
    .unwrap();
    let waits = honest.stop().unwrap();
    attackers.stop().unwrap();
    let peak = stage.network.provider.as_ref().unwrap().peak().unwrap();
    let slow = waits.percentile_99().unwrap();
    println!("{} MB, {} answers, p99 {slow:?}", peak / 1_000_000, waits.count());
    assert_eq!(waits.failures, Vec::<String>::new());
    assert!(waits.count() > 2, "{}", waits.count());
    assert!(peak < MOST_MEMORY, "{peak} bytes");
    // What strangers took is given back: it goes on as before.
    wait_until("the provider acts", LONG, || stage.network.ready()).unwrap();

    // A provider that starts reads keys of owners ahead: they need no chain to be known.
    stage.restart().unwrap();
    let chain = stage.network.chain.as_ref().unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let path = format!("/lease/{}/1/1/status", stage.lease);
    let question = request("GET", &path, Some(&stage.token), b"");
    wait_until("the tenant is known without the chain", LONG, || {
        chain.signal("STOP")?;
        let asked = runtime.block_on(async {
            let from = Ipv4Addr::LOCALHOST.into();
            let mut stream = Client::new()?.connect(target.rest, from).await?;
            ask(&mut stream, &question).await
        });
        chain.signal("CONT")?;
        let (status, _) = asked?;
        Ok((status == 200).then_some(()))
    })
    .unwrap();
}

/// Has so many silent connections to two listeners: those that were closed are made again.
async fn flood(open: &mut Vec<TcpStream>, to: [SocketAddr; 2], count: usize) {
    // What was heard of connections meanwhile is taken note of.
    tokio::task::yield_now().await;
    let is_open = |stream: &TcpStream| matches!(stream.try_read(&mut [0]), Err(error) if error.kind() == ErrorKind::WouldBlock);
    open.retain(is_open);
    for number in open.len()..count {
        let last = u8::try_from(number % 64 + 1).unwrap();
        let from = IpAddr::V4(Ipv4Addr::new(127, 0, 2, last));
        open.push(tcp(to[number % 2], from).await.unwrap());
    }
}

#[test]
fn a_flood_of_connections_leaves_descriptors_for_chain_and_cluster() {
    raise_descriptors().unwrap();
    let folder = tempfile::tempdir().unwrap();
    // The soft limit is lower than the provider needs, and is raised; the hard one is low.
    let settings = Settings { descriptors: Some((64, 256)), ..Settings::default() };
    let mut network = Network::start(folder.path(), settings).unwrap();
    network.start_provider().unwrap();
    wait_until("the provider acts", LONG, || network.ready()).unwrap();
    let (rest, grpc) = wait_until("it listens", LONG, || network.gateway()).unwrap();
    let to = [rest, grpc].map(|address| address.parse().unwrap());
    let provider = network.provider.as_ref().unwrap();
    assert_eq!(provider.descriptor_limit().unwrap(), 256);
    assert!(network.provider_log().contains("limit of open files low"));

    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let mut flooding = Vec::new();
    wait_until("the places are taken", LONG, || {
        // On a busy machine the first are closed, for want of a word, before the last are accepted.
        runtime.block_on(flood(&mut flooding, to, 600));
        let open = provider.descriptors()?;
        assert!(open < 256 - 32, "{open} descriptors");
        Ok((open > 96).then_some(()))
    })
    .unwrap();
    // Chain, cluster and operator are reached all the same, and so are tenants.
    let hello = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/hello.yaml");
    let create = ["deployment", "create", hello.to_str().unwrap(), "--dseq", "7"];
    network.tx("tenant", &create).unwrap();
    wait_until("a bid", LONG, || {
        let bids = network.ctl(&["bids"])?;
        Ok(bids["bids"].as_array().is_some_and(|bids| !bids.is_empty()).then_some(()))
    })
    .unwrap();
    runtime.block_on(async {
        for _ in 0..10 {
            let client = Client::new().unwrap();
            let mut stream = client.connect(to[0], Ipv4Addr::LOCALHOST.into()).await.unwrap();
            let status = ask(&mut stream, &request("GET", "/status", None, b"")).await.unwrap();
            assert_eq!(status.0, 200);
        }
    });
    drop(flooding);
    assert!(!network.provider_log().contains("Too many open files"));
}

#[test]
fn refused_clients_are_counted_in_metrics_and_logged_once() {
    let folder = tempfile::tempdir().unwrap();
    // With so few descriptors one client may have 16 connections to a listener.
    let settings = Settings { descriptors: Some((64, 256)), ..Settings::default() };
    let mut network = Network::start(folder.path(), settings).unwrap();
    let token = folder.path().join("token");
    std::fs::write(&token, "0123456789abcdef0123\n").unwrap();
    network.set_flags(&["--metrics-token-file", token.to_str().unwrap()]);
    network.start_provider().unwrap();
    wait_until("the provider acts", LONG, || network.ready()).unwrap();
    let (rest, grpc) = wait_until("it listens", LONG, || network.gateway()).unwrap();
    let (rest, grpc): (SocketAddr, SocketAddr) = (rest.parse().unwrap(), grpc.parse().unwrap());
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let figure = |name: &str| {
        let page = runtime.block_on(async {
            let mut stream = Client::new()?.connect(rest, Ipv4Addr::LOCALHOST.into()).await?;
            let scrape = request("GET", "/metrics", Some("0123456789abcdef0123"), b"");
            ask(&mut stream, &scrape).await
        });
        let page = String::from_utf8(page?.1)?;
        let line = page.lines().find_map(|line| line.strip_prefix(name));
        anyhow::Ok(line.and_then(|value| value.trim().parse::<u64>().ok()))
    };
    let hits = "provider_gateway_limit_hits{listener=\"rest\",limit=\"connections-per-client\"}";
    let failed = "provider_gateway_connections{listener=\"grpc\",result=\"handshake-failed\"}";
    assert_eq!((figure(hits).unwrap(), figure(failed).unwrap()), (Some(0), Some(0)));

    let _flood = runtime.block_on(async {
        let from = IpAddr::V4(Ipv4Addr::new(127, 0, 2, 1));
        let mut open = Vec::new();
        for _ in 0..40 {
            open.push(tcp(rest, from).await.unwrap());
        }
        // No handshake at all.
        let mut plain = tcp(grpc, from).await.unwrap();
        plain.write_all(b"GET / HTTP/1.1\r\n\r\n").await.unwrap();
        open.push(plain);
        open
    });
    wait_until("refused connections are counted", LONG, || {
        let is_counted = figure(hits)? >= Some(24) && figure(failed)? >= Some(1);
        Ok(is_counted.then_some(()))
    })
    .unwrap();
    let open = "provider_gateway_open_connections{listener=\"rest\"}";
    assert!(figure(open).unwrap() > Some(0), "the scrape itself is one");
    let line = "gateway limits refused clients";
    wait_until("it is logged", LONG, || Ok(network.provider_log().contains(line).then_some(())))
        .unwrap();
    let log = network.provider_log();
    assert_eq!(log.matches(line).count(), 1, "{log}");
    assert!(log.contains("connections-per-client (rest)"), "{log}");
}

#[test]
fn settings_that_are_not_used_are_named_at_reload_and_metrics_take_the_token() {
    let folder = tempfile::tempdir().unwrap();
    let mut network = Network::start(folder.path(), Settings::default()).unwrap();
    let file = folder.path().join("settings.yaml");
    std::fs::write(&file, "bidtimeout: 1m\n").unwrap();
    let token = folder.path().join("token");
    std::fs::write(&token, "0123456789abcdef0123\n").unwrap();
    let (file_text, token_text) = (file.to_str().unwrap(), token.to_str().unwrap());
    network.set_flags(&["--provider-config", file_text, "--metrics-token-file", token_text]);
    network.start_provider().unwrap();
    wait_until("the provider acts", LONG, || network.ready()).unwrap();

    // Unknown, overridden by a flag of the network and nonsense, and one that changes.
    std::fs::write(&file, "bidtimeot: 9m\nbidpricecpuscale: cheap\nbidtimeout: 2m\n").unwrap();
    network.provider.as_ref().unwrap().signal("HUP").unwrap();
    wait_until("it is read again", LONG, || {
        Ok(network.provider_log().contains("changed=\"bid-timeout\"").then_some(()))
    })
    .unwrap_or_else(|error| panic!("{error:#}\n{}", network.provider_log()));
    let log = network.provider_log();
    for said in [
        "bidtimeot (bidtimeot in",
        "not used: there is no such setting",
        "bidpricecpuscale (bidpricecpuscale in",
        "not used: flag overrides it",
    ] {
        assert!(log.contains(said), "{said}\n{log}");
    }

    let rest = network.gateway().unwrap().unwrap().0.parse().unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let status = |token: Option<&str>| {
        runtime.block_on(async {
            let client = Client::new().unwrap();
            let mut stream = client.connect(rest, Ipv4Addr::LOCALHOST.into()).await.unwrap();
            ask(&mut stream, &request("GET", "/metrics", token, b"")).await.unwrap()
        })
    };
    assert_eq!(status(None).0, 401);
    assert_eq!(status(Some("0123456789abcdef0124")).0, 401);
    let (code, page) = status(Some("0123456789abcdef0123"));
    assert_eq!(code, 200);
    assert!(String::from_utf8_lossy(&page).contains("provider_build_info"));
}

//! The walk of one order through a whole provider: a devnet, a simulated cluster, and the daemon
//! between them.

// Helpers of tests are tests, but clippy does not see that.
#![allow(clippy::panic, clippy::unwrap_used)]

use std::sync::{Arc, Mutex};
use std::time::Duration;

use akash_chain::follow::FollowConfig;
use akash_chain::tx::FeeRule;
use akash_chain::tx::lane::LaneConfig;
use akash_sdl::Sdl;
use akash_types::{BidState, VerificationRequirement};
use provider_daemon::engine_task::{ScreenRequest, Screening, Script, Witness};
use provider_daemon::part::Parts;
use provider_daemon::{Running, Setup, start};
use provider_engine::cluster::recognition::Memory;
use provider_engine::engine::Published;
use provider_engine::journal::{Entry, Subject};
use provider_engine::manifest::ManifestAnswer;
use provider_engine::order::pricing::{
    Decimal, EPHEMERAL, Pricing, Scales, ScriptFailure, ScriptRequest,
};
use provider_engine::time::Now;
use provider_engine::{Effect, Input, Reply, Settings, TenantRequest};
use provider_sim::core::{ClusterSpec, Delays, SimCluster};
use provider_sim::driver::SimDriver;
use provider_testkit::bed::{Bed, CHAIN_ID, Who};

const HELLO: &str = include_str!("../../../examples/hello.yaml");
const PATIENCE: Duration = Duration::from_secs(60);

#[derive(Clone)]
struct NoScript;

impl Script for NoScript {
    async fn ask(&self, _: ScriptRequest) -> Result<Vec<u8>, ScriptFailure> {
        Err(ScriptFailure::NotRun("there is no script".to_owned()))
    }

    async fn screen(&self, request: ScriptRequest) -> Option<Result<Vec<u8>, ScriptFailure>> {
        Some(self.ask(request).await)
    }
}

/// Keeps what was decided.
#[derive(Clone, Default)]
struct Reporter(Arc<Mutex<Vec<Entry>>>);

impl Witness for Reporter {
    fn told(&mut self, _: Now, _: &Input) {}
    fn wants(&mut self, _: Now, effect: &Effect) {
        if let Effect::Record(entry) = effect {
            self.0.lock().unwrap().push(entry.clone());
        }
    }
    fn keep(&mut self, _: Option<u64>) {}
    fn published(&mut self, _: &Arc<Published>) {}
}

fn cluster() -> SimDriver {
    let settings = provider_sim::core::Settings {
        delays: Delays::default().faster(100),
        domain: Some("sim.localhost".to_owned()),
        ..provider_sim::core::Settings::default()
    };
    SimDriver::start(SimCluster::new(ClusterSpec::small(), settings, 1))
}

fn provider(bed: &Bed, cluster: SimDriver, witness: Reporter) -> Running {
    let own = Who::Provider.address();
    let scales = Scales {
        cpu: Decimal::parse("0.004").unwrap(),
        storage: [(EPHEMERAL.to_owned(), Decimal::parse("0").unwrap())].into(),
        ..Scales::default()
    };
    let fee = FeeRule::parse("", "0.025uakt").unwrap();
    let mut engine = Settings::new(
        own,
        "500000uact".parse().unwrap(),
        "5000uakt".parse().unwrap(),
        Pricing::Scale(Box::new(scales)),
    );
    engine.manifest.generated_under = Some("sim.localhost".to_owned());
    let follow = FollowConfig::new(CHAIN_ID, vec![bed.rpc().unwrap()]);
    start(Setup {
        engine,
        follow,
        grpc: None,
        query_limit: Duration::from_secs(10),
        lane: LaneConfig::new(own, fee),
        signer: Who::Provider.key(),
        cluster,
        script: NoScript,
        witness,
        memory: Memory::default(),
        cursor: None,
        parts: Parts::default(),
    })
    .unwrap()
}

/// Waits until the provider shows something.
async fn shows(provider: &Running, what: &str, is_so: impl Fn(&Published) -> bool) {
    let mut changes = provider.handle().changes();
    let seen = tokio::time::timeout(PATIENCE, changes.wait_for(|published| is_so(published))).await;
    if seen.is_err() {
        let (lane, chain) = (provider.lane().borrow().clone(), provider.chain().borrow().clone());
        let published = provider.handle().published();
        panic!("never seen: {what}\n{published:#?}\n{lane:#?}\n{chain:#?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_order_gets_its_bid_in_the_next_block_and_becomes_a_lease_that_runs() {
    let mut bed = Bed::start(None).await.unwrap();
    let reporter = Reporter::default();
    let mut running = provider(&bed, cluster(), reporter.clone());
    bed.block().await.unwrap();
    shows(&running, "ready", |published| published.status.ready).await;

    let orders = bed.deploy(HELLO, 1).await.unwrap();
    let created = bed.block().await.unwrap();
    let order = orders[0];
    let mut lane = running.lane();
    let sent = lane.wait_for(|lane| lane.messages_in_flight == 1 && lane.txs_unanswered == 0);
    if tokio::time::timeout(PATIENCE, sent).await.is_err() {
        let published = running.handle().published();
        panic!("no bid is sent: {published:#?}\n{:#?}", lane.borrow());
    }
    let next = bed.block().await.unwrap();
    assert_eq!(next.height(), created.height() + 1);
    let bid = order.bid_id(Who::Provider.address());
    let found = bed.query.bid(bid).await.unwrap().value.expect("the bid is in the next block");
    assert_eq!(found.bid.state, BidState::Open);
    assert_eq!(found.bid.created_at, next.height());
    shows(&running, "the open bid", |published| published.bids.len() == 1).await;

    bed.lease(&[bid]).await.unwrap();
    bed.block().await.unwrap();
    let lease = bid.lease_id();
    let stage = move |published: &Published| published.leases.get(lease).map(|lease| lease.stage);
    shows(&running, "the lease", |published| stage(published) == Some("awaiting manifest")).await;

    let manifest = Sdl::read(HELLO).unwrap().manifest().clone();
    let request = TenantRequest::Manifest {
        deployment: order.deployment_id(),
        manifest: Arc::new(manifest),
        received: provider_engine::Received::default(),
    };
    let reply = running.handle().tenant(request).await.unwrap();
    assert!(matches!(reply, Reply::Manifest(ManifestAnswer::Accepted { .. })), "{reply:?}");
    shows(&running, "the workload", |published| stage(published) == Some("running")).await;

    let mut entries = reporter.0.lock().unwrap().clone();
    entries.retain(|entry| entry.subject == Subject::Order(order));
    assert!(entries.len() >= 4, "{entries:#?}");

    bed.close(order.deployment_id()).await.unwrap();
    for _ in 0..3 {
        bed.block().await.unwrap();
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
    shows(&running, "nothing is left", |published| {
        published.leases.is_empty()
            && published.inventory.as_ref().is_some_and(|inventory| inventory.reserved.is_empty())
    })
    .await;
    tokio::select! {
        ended = running.ended() => panic!("{ended}"),
        () = std::future::ready(()) => {}
    }
    let parts = running.stop().await;
    assert!(!parts.is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_group_is_screened_with_its_hostnames_by_the_rules_for_manifests() {
    let mut bed = Bed::start(None).await.unwrap();
    let running = provider(&bed, cluster(), Reporter::default());
    bed.block().await.unwrap();
    shows(&running, "ready", |published| published.status.ready).await;
    let spec = Sdl::read(HELLO).unwrap().groups()[0].clone();
    let handle = running.handle();
    let screen = |hostnames: &[&str]| {
        let hostnames = hostnames.iter().map(|&host| host.to_owned()).collect();
        let spec = spec.clone();
        let asked = ScreenRequest { spec, hostnames, owner: None, reclamation_min_window: None };
        let handle = handle.clone();
        async move { handle.screen(asked).await.unwrap() }
    };
    let passed = screen(&["shop.example.com"]).await;
    assert!(matches!(passed, Screening::Yes(_)), "{passed:?}");
    for (host, text) in [
        ("LocalHost", "hostname not allowed: \"localhost\" is reserved by this provider"),
        ("web.x.svc", "hostname not allowed: \"web.x.svc\" is reserved by this provider"),
        ("127.1", "hostname not allowed: host \"127.1\" is an IP address, a name is needed"),
        ("no name", "hostname not allowed: \"no name\" is not a hostname"),
    ] {
        let refused = screen(&["shop.example.com", host]).await;
        assert_eq!(refused, Screening::No(vec![text.to_owned()]), "{host}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_order_for_verified_providers_is_declined_while_the_chains_module_is_active() {
    let mut spec = Sdl::read(HELLO).unwrap().groups()[0].clone();
    spec.requirements.verification =
        Some(VerificationRequirement { min_tier: 2, ..VerificationRequirement::default() });
    for (active, declined) in [(None, false), (Some(false), false), (Some(true), true)] {
        let mut bed =
            Bed::start_with(None, |params| params.verification_active = active).await.unwrap();
        let running = provider(&bed, cluster(), Reporter::default());
        bed.block().await.unwrap();
        shows(&running, "ready", |published| published.status.ready).await;
        let spec = spec.clone();
        let asked =
            ScreenRequest { spec, hostnames: vec![], owner: None, reclamation_min_window: None };
        match running.handle().screen(asked).await.unwrap() {
            Screening::Yes(_) => assert!(!declined, "{active:?}"),
            Screening::No(reasons) => {
                assert!(declined, "{active:?}: {reasons:?}");
                assert!(reasons[0].contains("verified at tier 2"), "{reasons:?}");
            }
            other => panic!("{active:?}: {other:?}"),
        }
    }
}

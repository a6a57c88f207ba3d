//! The bus behind real Sentinels, through a failover.

use std::time::{Duration, Instant};

use provider_bus::fact::Block;
use provider_bus::{Connection, STREAM};

use crate::events::{event, until};
use crate::support::{LONG, Running, Server, hear};

/// Sentinels do nothing for half a minute when they think the machine was too busy.
const PATIENCE: Duration = Duration::from_secs(120);

/// A master, its replica, and three Sentinels that agree on it.
struct Group {
    /// No other group has it: Sentinels that meet on a port which had another server before do not
    /// take each other's masters.
    name: String,
    master: Server,
    replica: Server,
    sentinels: Vec<Server>,
}

impl Group {
    async fn start() -> Self {
        let master = Server::redis(&[]);
        let follow = format!("replicaof 127.0.0.1 {}", master.port);
        let replica = Server::redis(&[&follow]);
        wait_until("the replica follows", || {
            let info = replica.say("INFO replication");
            if info.contains("link_status:up") { Ok(()) } else { Err(info) }
        })
        .await;
        let name = format!("master-{}", master.port);
        let settings = [
            format!("sentinel monitor {name} 127.0.0.1 {} 2", master.port),
            format!("sentinel down-after-milliseconds {name} 500"),
            format!("sentinel failover-timeout {name} 3000"),
        ];
        let settings = settings.each_ref().map(String::as_str);
        let sentinels: Vec<_> =
            (0..3).map(|_| Server::start("redis-sentinel", &settings)).collect();
        let group = Self { name, master, replica, sentinels };
        wait_until("the Sentinels know each other and the replica", || {
            let infos = group.sentinels.iter().map(|sentinel| sentinel.say("INFO sentinel"));
            let agree = infos.filter(|info| info.contains("slaves=1,sentinels=3")).count() == 3;
            if agree { Ok(()) } else { Err(group.told(&group.sentinels)) }
        })
        .await;
        group
    }

    /// What Sentinels know, in their own words.
    fn told(&self, sentinels: &[Server]) -> String {
        let mut told = format!("master {}, replica {}\n", self.master.port, self.replica.port);
        for sentinel in sentinels {
            told += &format!("--- Sentinel {}\n", sentinel.port);
            for question in ["MASTER", "REPLICAS", "SENTINELS"] {
                told += &sentinel.say(&format!("SENTINEL {question} {}", self.name));
            }
            told += &sentinel.say("INFO sentinel");
        }
        told
    }

    /// Waits until all Sentinels that live name the replica.
    async fn switched(&self, living: &[Server]) {
        let question = format!("SENTINEL GET-MASTER-ADDR-BY-NAME {}", self.name);
        wait_until("the Sentinels name the replica", || {
            let port = format!("\r\n{}\r\n", self.replica.port);
            let agree = living.iter().all(|sentinel| sentinel.say(&question).contains(&port));
            if agree { Ok(()) } else { Err(self.told(living)) }
        })
        .await;
    }

    fn url(&self) -> String {
        self.url_of(&self.name)
    }

    fn url_of(&self, name: &str) -> String {
        let hosts: Vec<_> =
            self.sentinels.iter().map(|each| format!("127.0.0.1:{}", each.port)).collect();
        format!("redis+sentinel://{}/{name}", hosts.join(","))
    }
}

/// Looks until something is so; an error says what is instead.
async fn wait_until(what: &str, look: impl Fn() -> Result<(), String>) {
    let deadline = Instant::now() + PATIENCE;
    while let Err(instead) = look() {
        assert!(Instant::now() < deadline, "not yet: {what}\n{instead}");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

fn uses(server: &Server) -> impl Fn(&Connection) -> bool {
    let expected = format!("127.0.0.1:{}", server.port);
    move |connection| matches!(connection, Connection::Connected { server, .. } if *server == expected)
}

fn block(height: u64) -> Block {
    Block { height, ..Block::default() }
}

#[tokio::test(flavor = "multi_thread")]
async fn after_a_failover_the_newest_is_heard_from_the_new_master() {
    let mut group = Group::start().await;
    let publisher = Running::start(&group.url());
    let subscriber = Running::start(&group.url());
    let mut blocks = subscriber.bus.subscribe::<Block>();
    publisher.until(uses(&group.master)).await;
    subscriber.until(uses(&group.master)).await;
    publisher.bus.publish(&block(1));
    publisher.bus.record(event(1));
    hear(&mut blocks, |block| block.height == 1).await;

    // A third of the Sentinels goes with the master: the others suffice.
    group.master.kill();
    group.sentinels[0].kill();
    // Recorded while there is no master.
    publisher.bus.record(event(2));
    // Two Sentinels that stand still name nobody: whoever waits for a master waits for ever.
    group.sentinels[1..].iter().for_each(Server::freeze);
    let bus = publisher.bus.clone();
    let burst = tokio::task::spawn_blocking(move || {
        (2..400).for_each(|height| bus.publish(&block(height)));
    });
    tokio::time::timeout(LONG, burst).await.expect("publishing waits for a master").unwrap();
    group.sentinels[1..].iter().for_each(Server::thaw);
    for height in 400..=500 {
        publisher.bus.publish(&block(height));
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    group.switched(&group.sentinels[1..]).await;
    hear(&mut blocks, |block| block.height == 500).await;
    publisher.until(uses(&group.replica)).await;
    subscriber.until(uses(&group.replica)).await;
    until(&group.replica, &format!("XREVRANGE {STREAM} + - COUNT 1"), &[r#""dseq":2"#]).await;

    // The old master comes back, believes to be one for a while, and is not used.
    group.master.revive();
    publisher.bus.publish(&block(501));
    hear(&mut blocks, |block| block.height == 501).await;
    let late = Running::start(&group.url());
    late.until(uses(&group.replica)).await;
    assert_eq!(late.bus.latest::<Block>().unwrap().height, 501);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_frozen_master_is_left_and_not_used_once_it_was_demoted() {
    let group = Group::start().await;
    let publisher = Running::start(&group.url());
    publisher.until(uses(&group.master)).await;
    publisher.bus.publish(&block(1));
    group.master.freeze();
    publisher.bus.publish(&block(2));
    group.switched(&group.sentinels).await;
    publisher.until(uses(&group.replica)).await;
    group.master.thaw();

    let late = Running::start(&group.url());
    hear(&mut late.bus.subscribe::<Block>(), |block| block.height == 2).await;
    late.until(uses(&group.replica)).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_replica_that_is_named_as_master_is_refused_and_an_unknown_name_is_told() {
    let group = Group::start().await;
    let reason = Running::start(&group.url_of("nobody")).cut_off().await;
    assert!(reason.contains("knows no master `nobody`"), "{reason}");

    // A Sentinel of its own, cut off from the others, that takes the replica for a master.
    let watch = format!("sentinel monitor mymaster 127.0.0.1 {} 3", group.replica.port);
    let astray = Server::start("redis-sentinel", &[&watch]);
    let url = format!("redis+sentinel://127.0.0.1:{}/mymaster", astray.port);
    let bus = Running::start(&url);
    let seen = bus.until(|connection| match connection {
        Connection::Reconnecting { reason, .. } => reason.contains("not the master"),
        Connection::Connected { .. } => true,
        Connection::InProcess => false,
    });
    assert!(matches!(seen.await, Connection::Reconnecting { .. }));
}

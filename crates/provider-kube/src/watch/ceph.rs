//! Reads how much the pools of Ceph clusters have that storage classes name.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use k8s_openapi::api::storage::v1::StorageClass;
use kube_access::KubeClient;
use provider_crd::labels;
use tokio::time::Instant;

use super::shared::Shared;
use crate::observe::ceph::Pools;

/// How often pools are read.
const EVERY: Duration = Duration::from_secs(15);
/// How long a reading counts while no newer one can be had: a manager that fails over takes less.
const STALE: Duration = Duration::from_secs(600);
/// How long an answer may take.
pub(super) const LIMIT: Duration = Duration::from_secs(10);
/// The Service of Rook for the metrics of the active manager, and its port.
const SERVICE: (&str, &str) = ("rook-ceph-mgr", "http-metrics");

/// What was read of a Ceph cluster.
#[derive(Clone, Debug, Default)]
pub(crate) struct CephReading {
    pub(crate) pools: Option<Pools>,
    /// Why there is no newer reading, if there is none.
    pub(crate) problem: Option<String>,
    read_at: Option<Instant>,
}

/// Namespace of the Ceph cluster that a class of ours is on, and the pool that its bytes go to.
pub(super) fn pool(class: &StorageClass) -> Option<(&str, Option<&str>)> {
    let labels = class.metadata.labels.as_ref()?;
    let is_ours = labels.get(labels::MANAGED).is_some_and(|value| value == labels::TRUE);
    if !is_ours || !class.provisioner.ends_with(".csi.ceph.com") {
        return None;
    }
    let parameters = class.parameters.as_ref()?;
    let parameter = |name: &str| parameters.get(name).map(String::as_str);
    Some((parameter("clusterID")?, parameter("dataPool").or_else(|| parameter("pool"))))
}

pub(super) async fn run(client: KubeClient, shared: Arc<Shared>) {
    let mut turns = shared.turns();
    let mut known = BTreeSet::<String>::new();
    loop {
        let read_again = tokio::time::sleep(EVERY);
        tokio::pin!(read_again);
        for cluster in &known {
            read(&client, &shared, cluster).await;
        }
        // Until it is time, or a class names another cluster.
        loop {
            let named = clusters(&shared);
            if named != known {
                shared.change(|cache| cache.ceph.retain(|cluster, _| named.contains(cluster)));
                known = named;
                break;
            }
            tokio::select! {
                () = &mut read_again => break,
                changed = turns.changed() => if changed.is_err() { return },
            }
        }
    }
}

fn clusters(shared: &Shared) -> BTreeSet<String> {
    let cache = shared.cache();
    let pools = cache.classes.values().filter_map(|class| pool(class));
    pools.map(|(cluster, _)| cluster.to_owned()).collect()
}

async fn read(client: &KubeClient, shared: &Shared, cluster: &str) {
    let (service, port) = SERVICE;
    let answer = client.get_from_service(cluster, service, port, "metrics").await;
    let read = match answer {
        Ok(text) => Pools::read(&text).map_err(|error| error.to_string()),
        Err(failure) => Err(failure.to_string()),
    };
    let problem = shared.change(|cache| cache.ceph_was_read(cluster, read, Instant::now()));
    if let Some(why) = problem {
        tracing::warn!(cluster, service, why, "the pools of a Ceph cluster cannot be read");
    }
}

impl CephReading {
    /// Takes over a reading; whether anything changed, and the problem if it is new.
    pub(super) fn take(
        &mut self,
        read: Result<Pools, String>,
        now: Instant,
    ) -> (bool, Option<String>) {
        match read {
            Ok(pools) => {
                let pools = Some(pools.after(self.pools.as_ref()));
                let changed = self.pools != pools || self.problem.is_some();
                *self = Self { pools, problem: None, read_at: Some(now) };
                (changed, None)
            }
            Err(why) => {
                let is_new = self.problem.as_ref() != Some(&why);
                let is_stale = self.read_at.is_none_or(|read_at| now - read_at >= STALE);
                let forgets = is_stale && self.pools.take().is_some();
                self.problem = Some(why.clone());
                (is_new || forgets, is_new.then_some(why))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pools() -> Pools {
        let text = "ceph_osd_up{ceph_daemon=\"osd.0\"} 1.0\n\
                    ceph_pool_metadata{pool_id=\"1\",name=\"p\",description=\"replica:1\"} 1.0\n\
                    ceph_pool_max_avail{pool_id=\"1\"} 10.0\n";
        Pools::read(text).unwrap()
    }

    #[test]
    fn a_reading_counts_for_a_while_without_a_newer_one() {
        let start = Instant::now();
        let mut reading = CephReading::default();
        let silence = || Err("no answer".to_owned());
        assert_eq!(reading.take(silence(), start), (true, Some("no answer".to_owned())));
        assert_eq!(reading.take(Ok(pools()), start), (true, None));
        assert_eq!(reading.take(Ok(pools()), start), (false, None));
        let soon = start + STALE / 2;
        assert_eq!(reading.take(silence(), soon), (true, Some("no answer".to_owned())));
        assert_eq!(reading.take(silence(), soon), (false, None));
        assert!(reading.pools.is_some());
        assert_eq!(reading.take(silence(), start + STALE), (true, None));
        assert_eq!(reading.pools, None);
    }
}

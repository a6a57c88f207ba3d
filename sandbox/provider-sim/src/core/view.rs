//! What watchers are told.

use provider_engine::cluster::view::{ClusterView, IpPool, PortPool, ViewChange};

use super::{SimCluster, SimOutput};

impl SimCluster {
    /// Everything, as a watcher sees it.
    pub fn view(&self) -> ClusterView {
        ClusterView {
            uid: self.settings.uid.clone(),
            nodes: self.machines.iter().map(|(name, node)| (name.clone(), node.view())).collect(),
            storage: self.classes.iter().map(|(name, class)| (name.clone(), class.view)).collect(),
            ips: self
                .addresses
                .is_some()
                .then_some(IpPool { total: self.address_total, others: 0 }),
            ports: Some(PortPool { total: self.port_range.clone().count() as u64, others: 0 }),
            leases: self.leases.iter().map(|(id, lease)| (*id, lease.view())).collect(),
            maintenance: self.maintenance,
        }
    }

    /// Whether manifests are looked for in the wrong namespace.
    pub fn manifests_hidden(&self) -> bool {
        !self.hidden.is_empty()
    }

    /// What a new watcher sees first.
    pub fn observed(&self) -> ViewChange {
        match self.api.down {
            true => ViewChange::Lost,
            false => ViewChange::Whole(Box::new(self.view())),
        }
    }

    /// Tells what this step changed.
    pub(super) fn tell(&mut self, outputs: &mut Vec<SimOutput>) {
        if self.api.down {
            return;
        }
        if std::mem::take(&mut self.api.is_back) {
            outputs.push(SimOutput::View(self.observed()));
            return;
        }
        for name in &self.touched.nodes {
            let change = match self.machines.get(name) {
                Some(machine) => ViewChange::Node(name.clone(), machine.view()),
                None => ViewChange::NodeGone(name.clone()),
            };
            outputs.push(SimOutput::View(change));
        }
        for id in &self.touched.leases {
            let change = match self.leases.get(id) {
                Some(lease) => ViewChange::Lease(Box::new(lease.view())),
                None => ViewChange::LeaseGone(*id),
            };
            outputs.push(SimOutput::View(change));
        }
        if self.touched.maintenance {
            outputs.push(SimOutput::View(ViewChange::Maintenance(self.maintenance)));
        }
    }
}

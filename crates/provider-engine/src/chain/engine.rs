//! Answers of the chain, to whom they concern.

use akash_types::OrderId;

use crate::chain::{ChainAnswer, ChainQuery, ChainReply, Standing};
use crate::engine::queries::QueryOutcome;
use crate::engine::{Engine, Stage};
use crate::lease::{LeaseInput, OnChain};
use crate::order::{Circumstances, OrderInput};
use crate::reconcile::Drift;
use crate::time::BlockTime;

/// Reads of a deployment that fail in a row before the tenant who sent its manifest is told: a few
/// seconds, where nodes say at once that they cannot answer.
const MANIFEST_TRIES: u32 = 4;

impl Engine {
    pub(crate) fn chain_reply(&mut self, reply: ChainReply) {
        let (query, read) = match self.queries.receive(self.now, reply.id, reply.result) {
            QueryOutcome::Answered(query, read) => (query, read),
            QueryOutcome::Failed(ChainQuery::Deployment(deployment), failures, why)
                if failures >= MANIFEST_TRIES =>
            {
                self.queries.forget(&ChainQuery::Deployment(deployment));
                return self.deployment_unread(deployment, why);
            }
            QueryOutcome::Failed(..) | QueryOutcome::Ignored => return,
        };
        let height = read.height;
        match (query, read.answer) {
            (ChainQuery::Order(order), ChainAnswer::Standing(standing)) => {
                self.stands(order, *standing, height);
            }
            (ChainQuery::Standing(order), ChainAnswer::Standing(standing)) => {
                self.start.classified(order);
                self.stands(order, *standing, height);
            }
            (ChainQuery::OpenOrders, ChainAnswer::OpenOrders(orders)) => {
                self.compare_orders(orders, height);
            }
            (ChainQuery::OwnBids, ChainAnswer::OwnBids(bids)) => self.compare_bids(&bids, height),
            (ChainQuery::OwnLeases, ChainAnswer::OwnLeases(leases)) => {
                self.compare_leases(&leases, height);
            }
            (ChainQuery::Provider, ChainAnswer::Provider(provider, audits)) => {
                self.provider_read(provider.map(|provider| *provider), audits);
            }
            (ChainQuery::Params, ChainAnswer::Params { market, verification_active }) => {
                self.market.params = Some(*market);
                self.market.verification_active = verification_active;
                self.reevaluate_pending();
            }
            (ChainQuery::BlockTime(block), ChainAnswer::BlockTime(time)) => {
                let (time, waiting) = self.head.learn(block, time);
                for order in waiting {
                    self.time_known(order, time);
                }
            }
            (ChainQuery::Account(deployment), ChainAnswer::Account(account)) => {
                self.account_read(deployment, *account, height);
            }
            (ChainQuery::Wallet, ChainAnswer::Wallet(funds)) => self.wallet_read(funds, height),
            (ChainQuery::Deployment(deployment), ChainAnswer::Deployment(read)) => {
                self.deployment_read(deployment, read.map(|read| *read), height);
            }
            // An answer to another question than was asked is no answer: ask again.
            (query, _) => self.ask_at_least(query, height),
        }
        self.check_ready();
    }

    /// How we stand with an order, to the life that it concerns. A lease over on chain of which
    /// the cluster still has something is a lease to us: only that way it is torn down.
    fn stands(&mut self, order: OrderId, standing: Standing, height: u64) {
        let Some(record) = self.records.get(order) else { return };
        match (&record.stage, &standing.lease) {
            (Stage::Lease(_), Some(lease)) => {
                self.step_lease(order, LeaseInput::Looked(Box::new(lease.clone()), height));
            }
            // The chain knew the lease and does not any more: it proves nothing.
            (Stage::Lease(record), None) => {
                let drift = Drift::WorkloadUnknownToChain(record.id);
                self.drifted(drift);
            }
            (Stage::Order(stage), Some(lease)) => {
                let over = !OnChain::of(lease, height).is_alive();
                if over && self.cluster.view.leases.contains_key(&lease.id) {
                    let known = stage.order().cloned();
                    let known = known.or(standing.order.clone().map(std::sync::Arc::new));
                    self.become_lease(order, lease, known);
                    let looked = LeaseInput::Looked(Box::new(lease.clone()), height);
                    return self.step_lease(order, looked);
                }
                self.looked(order, standing);
            }
            (Stage::Order(_), None) => self.looked(order, standing),
        }
    }

    fn looked(&mut self, order: OrderId, standing: Standing) {
        let pending = self.intents.is_pending(order);
        let circumstances = Circumstances { time: self.head.time(), pending };
        self.step_order(order, OrderInput::Looked(Box::new(standing), circumstances));
    }

    /// Finds out when block `height` was made, for `order`.
    pub(crate) fn ask_time(&mut self, order: OrderId, height: u64) {
        match self.head.time_for(order, height) {
            Some(time) => self.time_known(order, time),
            None => self.ask(ChainQuery::BlockTime(height)),
        }
    }

    /// The time of the block that made a bid or lease is known, and with it the deadline.
    fn time_known(&mut self, order: OrderId, made: BlockTime) {
        match self.records.stage(order) {
            Some(Stage::Order(_)) => {
                let Some(timeout) = self.settings.bid_timeout else { return };
                let deadline = made.after(timeout);
                self.step_order(order, OrderInput::TimeoutKnown(deadline));
                self.schedule.deadlines.set(order, deadline);
            }
            Some(Stage::Lease(_)) => self.lease_created(order, made),
            None => {}
        }
    }
}

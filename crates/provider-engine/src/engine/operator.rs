//! What the operator asks for. All of it is journaled.

use akash_types::{LeaseId, OrderId, ReasonKind};

use super::{Engine, Stage, Timer};
use crate::cluster::command::Operation;
use crate::cluster::recognition::Recognition;
use crate::effect::{Effect, Reply};
use crate::escrow::{EscrowInput, WithdrawScope};
use crate::input::{OperatorRequest, RequestId};
use crate::journal::{Decision, Subject};
use crate::lease::{LeaseCause, LeaseInput};
use crate::order::isolation::IsolationHold;
use crate::order::{self, OrderInput};
use crate::settings::Settings;

impl Engine {
    pub(crate) fn operator(&mut self, request: RequestId, wanted: OperatorRequest) {
        let reply = match wanted {
            OperatorRequest::Drift => Reply::Drift(self.drift().copied().collect()),
            OperatorRequest::Maintenance(on) => {
                self.asked(
                    Subject::Provider,
                    if on { "maintenance on" } else { "maintenance off" },
                );
                self.command(Operation::Maintain(on));
                Reply::Done
            }
            OperatorRequest::CloseLease { lease, reason } => {
                let order = lease.order_id();
                if reason.kind() != ReasonKind::Provider {
                    let text = format!("{reason} is not one of the provider's reasons");
                    Reply::Refused(text)
                } else if self.records.lease(order).is_none() {
                    Reply::Refused(format!("there is no lease {lease}"))
                } else {
                    self.asked(Subject::Order(order), "close the lease");
                    self.decide_close(order, LeaseCause::Operator(reason));
                    Reply::Done
                }
            }
            OperatorRequest::Isolation(hold) => {
                self.isolation(hold);
                Reply::Done
            }
            OperatorRequest::AcceptCluster => match self.trust.state {
                Recognition::Unknown(_) => {
                    self.asked(Subject::Provider, "accept the cluster");
                    self.accept_cluster();
                    Reply::Done
                }
                Recognition::Known => Reply::Refused("the cluster is known already".to_owned()),
                Recognition::Undecided => Reply::Refused(self.why_not()),
            },
            OperatorRequest::Redeploy(lease) => self.redeploy(lease),
            OperatorRequest::CloseLost(lease) => self.close_lost(lease),
            OperatorRequest::CloseBid(order) => match self.records.stage(order) {
                Some(Stage::Order(stage)) if stage.has_bid() => {
                    self.asked(Subject::Order(order), "close the bid");
                    self.step_order(order, OrderInput::CloseBid);
                    Reply::Done
                }
                _ => Reply::Refused(format!("there is no open bid of ours on order {order}")),
            },
            OperatorRequest::Withdraw(lease) => {
                let scope = lease.map_or(WithdrawScope::All, WithdrawScope::Lease);
                let subject = lease.map_or(Subject::Provider, |l| Subject::Order(l.order_id()));
                self.asked(subject, "withdraw");
                self.escrow(EscrowInput::WithdrawNow(scope));
                Reply::Done
            }
            OperatorRequest::ResetBreaker => {
                self.asked(Subject::Provider, "let destruction go on");
                self.reconciliation.breaker.reset();
                self.tell_breaker();
                Reply::Done
            }
            OperatorRequest::Settings(settings) => {
                self.asked(Subject::Provider, "other settings");
                self.configure(*settings);
                Reply::Done
            }
        };
        self.out.push(Effect::Reply(request, reply));
    }

    fn redeploy(&mut self, id: LeaseId) -> Reply {
        let order = id.order_id();
        let Some(lease) = self.records.lease(order) else {
            return Reply::Refused(format!("there is no lease {id}"));
        };
        if !self.may_act() {
            return Reply::Refused(self.why_not());
        }
        let Some(workload) = lease.workload.clone().filter(|_| lease.is_live()) else {
            return Reply::Refused(format!(
                "this process does not have the manifest of lease {id}: its tenant has to send it"
            ));
        };
        self.asked(Subject::Order(order), "deploy the lease again");
        self.step_lease(order, LeaseInput::Accepted(workload));
        Reply::Done
    }

    fn close_lost(&mut self, id: LeaseId) -> Reply {
        let order = id.order_id();
        let Some(lease) = self.records.lease(order) else {
            return Reply::Refused(format!("there is no lease {id}"));
        };
        if !self.cluster.fresh || lease.is_present() {
            return Reply::Refused(format!(
                "the cluster has objects of lease {id}, or is out of sight: it is not lost"
            ));
        }
        self.asked(Subject::Order(order), "close the lost lease");
        self.decide_close(order, LeaseCause::Operator(LeaseCause::ManifestLost.reason()));
        Reply::Done
    }

    /// What a probe found out about the isolation of tenants. Heard only where it is required.
    fn isolation(&mut self, hold: Option<IsolationHold>) {
        if !self.settings.require_isolation || hold == self.isolation {
            return;
        }
        self.note(Subject::Provider, Decision::Isolation(hold.clone()));
        self.isolation = hold;
        self.reevaluate_all();
    }

    fn asked(&mut self, subject: Subject, what: &str) {
        self.note(subject, Decision::Operator { what: what.to_owned() });
    }

    /// Other settings from now on. Who we are cannot change.
    fn configure(&mut self, settings: Settings) {
        let provider = self.settings.provider;
        self.reconciliation.breaker.configure(settings.breaker);
        self.escrow.configure(settings.escrow.clone());
        self.manifests.configure(settings.manifest.clone());
        let waits = |of: &Settings| (of.bid_timeout, of.manifest_timeout, of.patience);
        let waits_differ = waits(&settings) != waits(&self.settings);
        let checks = |of: &Settings| (of.check_period, of.check_jitter);
        let checks_differ = checks(&settings) != checks(&self.settings);
        self.settings = Settings { provider, ..settings };
        self.escrow(EscrowInput::Tick);
        if waits_differ {
            self.renew_waits();
        }
        if checks_differ {
            self.renew_checks();
        }
        self.reevaluate_all();
    }

    /// Leases that wait for their next check wait as long as the new settings say.
    fn renew_checks(&mut self) {
        let is_due = |order: &OrderId| self.schedule.timers.is_set(&Timer::Check(*order));
        let orders = self.records.iter().map(|record| record.id);
        let orders: Vec<OrderId> = orders.filter(is_due).collect();
        for order in orders {
            self.schedule.timers.clear(&Timer::Check(order));
            self.check_later(order);
        }
    }

    /// Bids and leases that wait already wait as long as the new settings say.
    fn renew_waits(&mut self) {
        let (timeout, patience) = (self.settings.manifest_timeout, self.settings.patience);
        let (mut bids, mut leases) = (Vec::new(), Vec::new());
        let orders: Vec<OrderId> = self.records.iter().map(|record| record.id).collect();
        for id in orders {
            self.records.update(id, |record| match &mut record.stage {
                Stage::Order(order::Stage::Open(bid)) => {
                    bid.deadline = None;
                    bids.push((id, bid.created_at));
                }
                Stage::Order(_) => {}
                Stage::Lease(lease) => {
                    leases.extend(lease.renew_wait(timeout, &patience).map(|_| id));
                }
            });
        }
        for (order, created_at) in bids {
            self.schedule.deadlines.clear(&order);
            if self.settings.bid_timeout.is_some() {
                self.ask_time(order, created_at);
            }
        }
        for order in leases {
            self.schedule.deadlines.clear(&order);
            self.lease_deadline(order);
        }
    }
}

//! What tenants do.

use std::sync::Arc;
use std::time::Duration;

use akash_chain::follow::BlockEffects;
use akash_chain::tx::lane::message_for;
use akash_chain::tx::message::deployment::{
    CreateDeployment, close_deployment, create_deployment, update_deployment,
};
use akash_chain::tx::message::{escrow, market};
use akash_types::{
    Action, BidOffer, ChainEvent, Coin, DeploymentId, Deposit, EscrowAccountId, GroupId, OrderId,
};
use provider_engine::manifest::ManifestAnswer;
use provider_engine::{Input, Received, Reply, RequestId, TenantRequest};

use super::sdl::{Shape, sdl};
use super::{Choice, Sent, Tenancy, TenantEvent};
use crate::simulation::scenario::TROUBLE;
use crate::simulation::world::snapshot::now;
use crate::simulation::world::{Event, Reach, World};

const fn minutes(minutes: u64) -> Duration {
    Duration::from_secs(minutes * 60)
}

impl World {
    pub(crate) fn tenant(&mut self, event: TenantEvent) {
        match event {
            TenantEvent::Order => self.order(false),
            TenantEvent::Spam => self.order(true),
            TenantEvent::Choose(index, tries) => self.choose(index, tries),
            TenantEvent::Send(index, sent, tries) => self.send_manifest(index, sent, tries),
            TenantEvent::Update(index) => self.update(index),
            TenantEvent::Deposit(index) => self.deposit(index),
            TenantEvent::Close(index) => {
                let Some(tenancy) = self.tenants.tenancies.get_mut(index) else { return };
                if !std::mem::replace(&mut tenancy.closed, true) {
                    let message = close_deployment(tenancy.id);
                    self.tenants.outbox.entry(tenancy.owner).or_default().push(message);
                }
            }
            TenantEvent::Steal(index) => self.steal(index),
        }
    }

    fn order(&mut self, spam: bool) {
        let Some((index, messages)) = self.draw_tenancy(spam) else { return };
        let Some(tenancy) = self.tenants.tenancies.get(index).cloned() else { return };
        self.tenants.outbox.entry(tenancy.owner).or_default().extend(messages);
        let dice = &mut self.tenants.dice;
        let choose = dice.span(Duration::from_secs(15), Duration::from_secs(90));
        let (record, update) =
            (dice.span(minutes(4), minutes(90)), dice.span(minutes(2), minutes(20)));
        let (closes, updates, steals) = (dice.chance(700), dice.chance(250), dice.chance(100));
        let (pays, again) = (dice.chance(300), dice.span(minutes(5), minutes(40)));
        // Some think better of it before anybody could bid.
        let early =
            dice.chance(600).then(|| dice.span(Duration::from_secs(5), Duration::from_secs(15)));
        self.later(choose, Event::Tenant(TenantEvent::Choose(index, 0)));
        let mut plan = Vec::new();
        plan.extend(closes.then_some((record, TenantEvent::Close(index))));
        plan.extend(updates.then_some((update, TenantEvent::Update(index))));
        plan.extend(pays.then_some((again, TenantEvent::Deposit(index))));
        plan.extend(steals.then_some((update, TenantEvent::Steal(index))));
        plan.extend(early.map(|early| (early, TenantEvent::Close(index))));
        // What would happen when everybody shall come to rest does not happen.
        plan.retain(|(after, _)| self.now.saturating_add(*after) < TROUBLE);
        for (after, event) in plan {
            self.later(after, Event::Tenant(event));
        }
    }

    /// A new deployment in its tenant's mind, and the messages that make it.
    fn draw_tenancy(&mut self, spam: bool) -> Option<(usize, Vec<akash_chain::tx::Message>)> {
        let tenants = &mut self.tenants;
        let dice = &mut tenants.dice;
        let shape = Shape::draw(dice, spam);
        let (first, second) = (sdl(&shape, 1)?, sdl(&shape, 2)?);
        let wrong = sdl(&shape, 3)?;
        let owner = dice.below(u64::try_from(self.scenario.tenants.len()).ok()?);
        let owner = usize::try_from(owner).ok()?;
        let address = self.scenario.tenants.get(owner)?.address;
        tenants.next_dseq += 1;
        let id = DeploymentId::new(address, tenants.next_dseq).ok()?;
        let choice = match dice.below(20) {
            _ if spam => Choice::Nobody,
            0..14 => Choice::Us,
            14..17 => Choice::Rival,
            _ => Choice::Nobody,
        };
        let soon = dice.span(Duration::from_secs(1), Duration::from_secs(30));
        let late = dice.span(minutes(2), minutes(7));
        let manifests = match dice.below(20) {
            0 => vec![],
            1 => vec![(soon, Sent::Wrong)],
            2 => vec![(soon, Sent::Wrong), (late, Sent::Right)],
            3..5 => vec![(late, Sent::Right)],
            5..7 => vec![(soon, Sent::Right), (soon, Sent::Right)],
            _ => vec![(soon, Sent::Right)],
        };
        // The least that the chain takes runs dry soon.
        let amount = if dice.chance(350) { 500_000 } else { dice.between(5_000_000, 50_000_000) };
        let groups = first.groups().to_vec();
        for (gseq, group) in (1..).zip(&groups) {
            let order = OrderId::new(GroupId::new(id, gseq).ok()?, 1).ok()?;
            tenants.orders += 1;
            tenants.most.insert(order, group.total_price().ok()?);
            self.watch.ordered(order, group.clone());
        }
        let create = CreateDeployment {
            id,
            groups,
            hash: *first.manifest().version().as_bytes(),
            deposit: Deposit::from_balance(Coin::new("uact".parse().ok()?, amount.into())),
            reclamation_min_window: None,
        };
        let message = create_deployment(create).ok()?;
        let index = tenants.tenancies.len();
        tenants.by_id.insert(id, index);
        tenants.tenancies.push(Tenancy {
            id,
            owner,
            groups: u32::try_from(shape.groups).ok()?,
            manifest: Arc::new(first.manifest().clone()),
            wrong: Arc::new(wrong.manifest().clone()),
            updated: Arc::new(second.manifest().clone()),
            choice,
            manifests,
            is_updated: false,
            leased: false,
            closed: false,
            accepted: Vec::new(),
        });
        Some((index, vec![message]))
    }

    /// A tenant looks at the bids, and takes one or looks again.
    fn choose(&mut self, index: usize, tries: u32) {
        let Some(tenancy) = self.tenants.tenancies.get_mut(index) else { return };
        let provider = match tenancy.choice {
            Choice::Us => self.scenario.provider.address,
            Choice::Rival => self.scenario.rival.address,
            Choice::Nobody => return,
        };
        let (id, owner, groups) = (tenancy.id, tenancy.owner, tenancy.groups);
        let mut messages = Vec::new();
        let chain = self.chain.query();
        for gseq in 1..=groups {
            let order = GroupId::new(id, gseq).and_then(|group| OrderId::new(group, 1));
            let Ok(bid) = order.map(|order| order.bid_id(provider)) else { continue };
            let found = now(chain.bid(bid)).and_then(Result::ok).and_then(|found| found.value);
            if found.is_some_and(|found| found.bid.state == akash_types::BidState::Open) {
                messages.extend(market::create_lease(bid).ok());
            }
        }
        if messages.is_empty() {
            if tries < 5 {
                let again = self.tenants.dice.span(Duration::from_secs(20), minutes(2));
                self.later(again, Event::Tenant(TenantEvent::Choose(index, tries + 1)));
            }
            return;
        }
        self.tenants.outbox.entry(owner).or_default().extend(messages);
    }

    fn send_manifest(&mut self, index: usize, sent: Sent, tries: u32) {
        let Some(tenancy) = self.tenants.tenancies.get(index) else { return };
        let sent = if sent == Sent::Right && tenancy.is_updated { Sent::Updated } else { sent };
        let manifest = match sent {
            Sent::Right => &tenancy.manifest,
            Sent::Wrong => &tenancy.wrong,
            Sent::Updated => &tenancy.updated,
        };
        let (deployment, manifest) = (tenancy.id, Arc::clone(manifest));
        let enough = if sent == Sent::Wrong { 1 } else { 12 };
        let accepted = tries > 0 && tenancy.accepted.contains(&sent);
        if tenancy.closed || accepted || tries > enough {
            return;
        }
        // Without an answer it is sent again.
        let patience = self.tenants.dice.span(minutes(1), minutes(3));
        let again = TenantEvent::Send(index, sent, tries + 1);
        let Some(number) = self.process.as_ref().map(|process| process.number) else {
            return self.later(patience, Event::Tenant(again));
        };
        self.tenants.next_request += 1;
        let request = RequestId(self.tenants.next_request);
        self.tenants.requests.insert(request, (index, sent));
        self.watch.asked(request, deployment, &manifest);
        let wanted =
            TenantRequest::Manifest { deployment, manifest, received: Received::default() };
        let input = Box::new(Input::Tenant(request, wanted));
        let latency = self.faults.latency();
        self.later(latency, Event::Reach(number, Reach::Engine(input)));
        self.later(patience, Event::Tenant(again));
    }

    /// Most tenants with a lease send their manifest again: what they had does not answer.
    pub(crate) fn tenants_send_again(&mut self) {
        for index in 0..self.tenants.tenancies.len() {
            let sends = self.tenants.dice.chance(750);
            let after = self.tenants.dice.span(Duration::from_secs(20), minutes(6));
            let Some(tenancy) = self.tenants.tenancies.get_mut(index) else { return };
            if !sends || tenancy.closed || tenancy.accepted.is_empty() {
                continue;
            }
            tenancy.accepted.clear();
            self.later(after, Event::Tenant(TenantEvent::Send(index, Sent::Right, 0)));
        }
    }

    /// A tenant hears an answer.
    pub(crate) fn replied(&mut self, request: RequestId, reply: &Reply) {
        let Some((index, sent)) = self.tenants.requests.remove(&request) else { return };
        self.trace.note(|| format!("tenant {index} hears {reply:?}"));
        let Reply::Manifest(answer) = reply else { return };
        if matches!(answer, ManifestAnswer::Accepted { .. })
            && let Some(tenancy) = self.tenants.tenancies.get_mut(index)
        {
            tenancy.accepted.push(sent);
        }
    }

    fn update(&mut self, index: usize) {
        let Some(tenancy) = self.tenants.tenancies.get_mut(index) else { return };
        if tenancy.closed || tenancy.is_updated {
            return;
        }
        tenancy.is_updated = true;
        let hash = *tenancy.updated.version().as_bytes();
        let message = update_deployment(tenancy.id, hash);
        self.tenants.outbox.entry(tenancy.owner).or_default().push(message);
        if tenancy.leased {
            let soon = self.tenants.dice.span(Duration::from_secs(5), Duration::from_secs(30));
            self.later(soon, Event::Tenant(TenantEvent::Send(index, Sent::Updated, 0)));
        }
    }

    fn deposit(&mut self, index: usize) {
        let Some(tenancy) = self.tenants.tenancies.get(index) else { return };
        let Some(wallet) = self.scenario.tenants.get(tenancy.owner) else { return };
        let Ok(denom) = "uact".parse() else { return };
        let deposit = Deposit::from_balance(Coin::new(denom, 2_000_000));
        let account = EscrowAccountId::Deployment(tenancy.id);
        if let Ok(message) = escrow::deposit(wallet.address, account, deposit) {
            self.tenants.outbox.entry(tenancy.owner).or_default().push(message);
        }
    }

    /// A tenant asks for names of others to lead to its own lease.
    fn steal(&mut self, index: usize) {
        let Some(tenancy) = self.tenants.tenancies.get(index) else { return };
        let (owner, dseq) = (tenancy.id.owner(), tenancy.id.dseq());
        let Some(number) = self.process.as_ref().map(|process| process.number) else { return };
        self.tenants.next_request += 1;
        let request = RequestId(self.tenants.next_request);
        let hostnames = (0..12).map(|number| format!("host{number}.example.com")).collect();
        let wanted = TenantRequest::MigrateHostnames { hostnames, owner, dseq, gseq: 1 };
        let input = Box::new(Input::Tenant(request, wanted));
        let latency = self.faults.latency();
        self.later(latency, Event::Reach(number, Reach::Engine(input)));
    }

    /// Messages go to the mempool just before a block is made.
    pub(crate) fn tenants_before_block(&mut self) {
        if self.chain.height() == 1 {
            self.register();
        }
        for (owner, messages) in std::mem::take(&mut self.tenants.outbox) {
            let Some(wallet) = self.scenario.tenants.get(owner) else { continue };
            for (message, why) in self.chain.send(wallet, messages) {
                self.trace.note(|| format!("tenant's {} refused: {why}", message.type_url()));
            }
        }
        let bids = std::mem::take(&mut self.tenants.rival);
        if !bids.is_empty() {
            self.chain.send(&self.scenario.rival, bids);
        }
    }

    fn register(&mut self) {
        let rival = akash_types::Provider {
            owner: self.scenario.rival.address,
            ..self.scenario.record.clone()
        };
        for (wallet, record) in
            [(&self.scenario.provider, self.scenario.record.clone()), (&self.scenario.rival, rival)]
        {
            let action = Action::CreateProvider(Box::new(record));
            if let Ok(message) = message_for(&action, wallet.address, wallet.address) {
                self.chain.send(wallet, vec![message]);
            }
        }
    }

    /// The rival bids on some of what is new, and tenants see their leases.
    pub(crate) fn tenants_after_block(&mut self, effects: &BlockEffects) {
        for event in effects.events.iter().map(|event| &event.event) {
            match event {
                ChainEvent::OrderCreated { id } => self.rival_bids(*id),
                ChainEvent::LeaseCreated { id, .. }
                    if id.provider() == self.scenario.provider.address =>
                {
                    let index = self.tenants.by_id.get(&id.deployment_id()).copied();
                    let Some(index) = index else { continue };
                    let Some(tenancy) = self.tenants.tenancies.get_mut(index) else { continue };
                    if !std::mem::replace(&mut tenancy.leased, true) {
                        for (after, sent) in tenancy.manifests.clone() {
                            self.later(after, Event::Tenant(TenantEvent::Send(index, sent, 0)));
                        }
                    }
                }
                _ => {}
            }
        }
    }

    fn rival_bids(&mut self, order: OrderId) {
        let Some(index) = self.tenants.by_id.get(&order.deployment_id()).copied() else { return };
        let wanted = self.tenants.tenancies.get(index).is_some_and(|it| it.choice == Choice::Rival);
        if !wanted && !self.tenants.dice.chance(200) {
            return;
        }
        let Some(price) = self.tenants.most.get(&order).cloned() else { return };
        let Ok(denom) = "uakt".parse() else { return };
        let offer = BidOffer {
            id: order.bid_id(self.scenario.rival.address),
            price,
            deposit: Deposit::from_balance(Coin::new(denom, 500_000)),
            resources_offer: Vec::new(),
            reclamation_window: None,
        };
        let own = self.scenario.rival.address;
        let action = Action::CreateBid(Box::new(offer));
        self.tenants.rival.extend(message_for(&action, own, own).ok());
    }
}

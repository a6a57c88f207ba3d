//! What is told as an event, of what the engine decides and learns.

use akash_types::{Address, ChainEvent, DeploymentId, LeaseId, OrderId};
use provider_bus::{Event, EventKind};
use provider_engine::effect::Fact;
use provider_engine::journal::{Decision, Entry, Subject};

use super::{end_state, in_words};

/// The event that a decision is, if it is about an order, a lease or a deployment.
pub(super) fn of_entry(entry: &Entry, provider: Address) -> Option<Event> {
    let subject = match entry.subject {
        Subject::Order(order) => of_order(order, provider),
        Subject::Deployment(deployment) => of_deployment(deployment, provider),
        Subject::Provider => return None,
    };
    let event = |event| Event { event, height: entry.height, ..subject.clone() };
    let because = |kind| Event { reason: Some(entry.decision.to_string()), ..event(kind) };
    let hash = |version: &Option<akash_sdl::Version>| version.map(|version| version.to_string());
    Some(match &entry.decision {
        Decision::Noticed => event(EventKind::OrderNoticed),
        Decision::Declined(_) => because(EventKind::OrderDeclined),
        Decision::Ended(_) => because(EventKind::OrderEnded),
        Decision::Bid(price) => {
            Event { price: Some(price.to_string()), ..event(EventKind::BidSubmitted) }
        }
        Decision::BidOpen { price, .. } => {
            Event { price: Some(price.to_string()), ..event(EventKind::BidOpened) }
        }
        Decision::CloseBid(_) => because(EventKind::BidClosing),
        Decision::Failed { .. } => because(EventKind::TransactionFailed),
        Decision::Won(price) => {
            Event { price: Some(price.to_string()), ..event(EventKind::LeaseCreated) }
        }
        Decision::Close(_) => because(EventKind::LeaseClosing),
        Decision::Reclaim => event(EventKind::LeaseReclaimStarted),
        Decision::Gone => event(EventKind::LeaseGone),
        Decision::Accepted { version } => {
            Event { manifest: hash(version), ..event(EventKind::ManifestReceived) }
        }
        Decision::Refused { .. } => because(EventKind::ManifestRefused),
        Decision::Deploy => event(EventKind::DeploymentStarted),
        Decision::Adopted { version } => {
            Event { manifest: hash(version), ..event(EventKind::DeploymentAdopted) }
        }
        Decision::DeployFailed { .. } => because(EventKind::DeploymentFailed),
        Decision::Healthy => event(EventKind::DeploymentHealthy),
        Decision::Unhealthy(_) => because(EventKind::DeploymentUnhealthy),
        Decision::Teardown(_) => because(EventKind::DeploymentTeardown),
        // Told as facts, or not about what happened to an order, a lease or a deployment.
        Decision::Reserved(_)
        | Decision::Spared { .. }
        | Decision::Withdraw { .. }
        | Decision::Earned { .. }
        | Decision::Withheld(_)
        | Decision::Moved(_)
        | Decision::Escrow { .. }
        | Decision::Drift(_)
        | Decision::BreakerOpen { .. }
        | Decision::BreakerShut
        | Decision::Maintenance(_)
        | Decision::Isolation(_)
        | Decision::ClusterKnown { .. }
        | Decision::ClusterUnknown { .. }
        | Decision::Rival { .. }
        | Decision::Wallet { .. }
        | Decision::Operator { .. } => return None,
    })
}

/// The event that a fact is, if no decision tells it.
pub(super) fn of_fact(fact: &Fact, height: u64) -> Option<Event> {
    Some(match fact {
        Fact::LeaseOver { lease, state, reason } => Event {
            event: EventKind::LeaseClosed,
            state: Some(end_state(*state)),
            reason: reason.map(in_words),
            height,
            ..of_lease(*lease)
        },
        Fact::LeaseFunds { lease, dry, dry_at } => Event {
            event: if *dry { EventKind::LeaseDry } else { EventKind::LeaseFunded },
            dry_at: *dry_at,
            height,
            ..of_lease(*lease)
        },
        Fact::Earned { lease, amount } => Event {
            event: EventKind::LeaseEarned,
            amount: Some(amount.to_string()),
            height,
            ..of_lease(*lease)
        },
        _ => return None,
    })
}

/// The event that a block tells of a deployment.
pub(super) fn of_chain(event: &ChainEvent, provider: Address, height: u64) -> Option<Event> {
    Some(match event {
        ChainEvent::DeploymentUpdated { id, hash } => Event {
            event: EventKind::DeploymentUpdated,
            manifest: Some(akash_sdl::Version::from(*hash).to_string()),
            height,
            ..of_deployment(*id, provider)
        },
        ChainEvent::DeploymentClosed { id } => {
            Event { event: EventKind::DeploymentClosed, height, ..of_deployment(*id, provider) }
        }
        _ => return None,
    })
}

fn of_deployment(deployment: DeploymentId, provider: Address) -> Event {
    Event {
        owner: deployment.owner().to_string(),
        dseq: deployment.dseq(),
        provider: provider.to_string(),
        ..Event::default()
    }
}

fn of_order(order: OrderId, provider: Address) -> Event {
    Event {
        owner: order.owner().to_string(),
        dseq: order.dseq(),
        gseq: Some(order.gseq()),
        oseq: Some(order.oseq()),
        provider: provider.to_string(),
        ..Event::default()
    }
}

fn of_lease(lease: LeaseId) -> Event {
    of_order(lease.order_id(), lease.provider())
}

//! A typed event from its attributes: one per field, each the proto3 JSON of the field.

use std::borrow::Cow;

use akash_types::{
    Address, BidId, ChainEvent, Dec, DecCoin, DeploymentId, GroupId, LeaseClosedReason, LeaseId,
    OrderId,
};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::Deserialize;

use super::results::Attribute;

/// An event that is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    OrderCreated,
    OrderClosed,
    BidCreated,
    BidClosed,
    LeaseCreated,
    LeaseClosed,
    LeaseReclaimStarted,
    DeploymentCreated,
    DeploymentUpdated,
    DeploymentClosed,
    GroupStarted,
    GroupPaused,
    GroupClosed,
    TrustedAuditorCreated,
    TrustedAuditorDeleted,
    ProviderCreated,
    ProviderUpdated,
    ProviderDeleted,
}

impl Kind {
    /// The event of this name, if anybody wants it. Most events of a block end here.
    pub(super) fn of(name: &str) -> Option<Self> {
        let rest = name.strip_prefix("akash.")?;
        Some(match rest {
            "market.v1.EventOrderCreated" => Self::OrderCreated,
            "market.v1.EventOrderClosed" => Self::OrderClosed,
            "market.v1.EventBidCreated" => Self::BidCreated,
            "market.v1.EventBidClosed" => Self::BidClosed,
            "market.v1.EventLeaseCreated" => Self::LeaseCreated,
            "market.v1.EventLeaseClosed" => Self::LeaseClosed,
            "market.v1.EventLeaseReclaimStarted" => Self::LeaseReclaimStarted,
            "deployment.v1.EventDeploymentCreated" => Self::DeploymentCreated,
            "deployment.v1.EventDeploymentUpdated" => Self::DeploymentUpdated,
            "deployment.v1.EventDeploymentClosed" => Self::DeploymentClosed,
            "deployment.v1.EventGroupStarted" => Self::GroupStarted,
            "deployment.v1.EventGroupPaused" => Self::GroupPaused,
            "deployment.v1.EventGroupClosed" => Self::GroupClosed,
            "audit.v1.EventTrustedAuditorCreated" => Self::TrustedAuditorCreated,
            "audit.v1.EventTrustedAuditorDeleted" => Self::TrustedAuditorDeleted,
            "provider.v1beta4.EventProviderCreated" => Self::ProviderCreated,
            "provider.v1beta4.EventProviderUpdated" => Self::ProviderUpdated,
            "provider.v1beta4.EventProviderDeleted" => Self::ProviderDeleted,
            _ => return None,
        })
    }

    /// The event; `None` if its attributes do not make one.
    pub(super) fn read(self, attributes: &[Attribute<'_>]) -> Option<ChainEvent> {
        let fields = Fields(attributes);
        Some(match self {
            Self::OrderCreated => ChainEvent::OrderCreated { id: fields.order()? },
            Self::OrderClosed => ChainEvent::OrderClosed { id: fields.order()? },
            Self::BidCreated => ChainEvent::BidCreated { id: fields.bid()?, price: fields.price() },
            Self::BidClosed => ChainEvent::BidClosed { id: fields.bid()? },
            Self::LeaseCreated => {
                ChainEvent::LeaseCreated { id: fields.lease()?, price: fields.price() }
            }
            Self::LeaseClosed => {
                ChainEvent::LeaseClosed { id: fields.lease()?, reason: fields.reason() }
            }
            Self::LeaseReclaimStarted => ChainEvent::LeaseReclaimStarted {
                id: fields.lease()?,
                reason: fields.reason(),
                deadline: fields.deadline()?,
            },
            Self::DeploymentCreated => {
                ChainEvent::DeploymentCreated { id: fields.deployment()?, hash: fields.hash()? }
            }
            Self::DeploymentUpdated => {
                ChainEvent::DeploymentUpdated { id: fields.deployment()?, hash: fields.hash()? }
            }
            Self::DeploymentClosed => ChainEvent::DeploymentClosed { id: fields.deployment()? },
            Self::GroupStarted => ChainEvent::GroupStarted { id: fields.group()? },
            Self::GroupPaused => ChainEvent::GroupPaused { id: fields.group()? },
            Self::GroupClosed => ChainEvent::GroupClosed { id: fields.group()? },
            Self::TrustedAuditorCreated => {
                let (owner, auditor) = (fields.address("owner")?, fields.address("auditor")?);
                ChainEvent::TrustedAuditorCreated { owner, auditor }
            }
            Self::TrustedAuditorDeleted => {
                let (owner, auditor) = (fields.address("owner")?, fields.address("auditor")?);
                ChainEvent::TrustedAuditorDeleted { owner, auditor }
            }
            Self::ProviderCreated => {
                ChainEvent::ProviderCreated { owner: fields.address("owner")? }
            }
            Self::ProviderUpdated => {
                ChainEvent::ProviderUpdated { owner: fields.address("owner")? }
            }
            Self::ProviderDeleted => {
                ChainEvent::ProviderDeleted { owner: fields.address("owner")? }
            }
        })
    }
}

/// All parts that any id has. Which of them there must be, the id says.
#[derive(Deserialize)]
struct Id<'a> {
    #[serde(borrow)]
    owner: Cow<'a, str>,
    #[serde(borrow)]
    dseq: Cow<'a, str>,
    #[serde(default)]
    gseq: u32,
    #[serde(default)]
    oseq: u32,
    #[serde(borrow, default)]
    provider: Cow<'a, str>,
    #[serde(default)]
    bseq: u32,
}

#[derive(Deserialize)]
struct Price<'a> {
    #[serde(borrow)]
    denom: Cow<'a, str>,
    #[serde(borrow)]
    amount: Cow<'a, str>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum NameOrNumber<'a> {
    #[serde(borrow)]
    Name(Cow<'a, str>),
    Number(i32),
}

struct Fields<'a>(&'a [Attribute<'a>]);

impl<'a> Fields<'a> {
    fn json(&self, key: &str) -> Option<&'a str> {
        let found = self.0.iter().find(|attribute| attribute.key == key)?;
        found.value.as_deref()
    }

    fn get<T: Deserialize<'a>>(&self, key: &str) -> Option<T> {
        serde_json::from_str(self.json(key)?).ok()
    }

    fn text(&self, key: &str) -> Option<Cow<'a, str>> {
        // Nearly never anything to unescape: no need to go through the parser.
        let json = self.json(key)?;
        let inner = json.strip_prefix('"').and_then(|rest| rest.strip_suffix('"'));
        match inner.filter(|inner| !inner.contains(['\\', '"'])) {
            Some(inner) => Some(Cow::Borrowed(inner)),
            None => serde_json::from_str::<String>(json).ok().map(Cow::Owned),
        }
    }

    fn address(&self, key: &str) -> Option<Address> {
        self.text(key)?.parse().ok()
    }

    fn deployment(&self) -> Option<DeploymentId> {
        self.get::<Id<'_>>("id")?.deployment()
    }

    fn group(&self) -> Option<GroupId> {
        self.get::<Id<'_>>("id")?.group()
    }

    fn order(&self) -> Option<OrderId> {
        self.get::<Id<'_>>("id")?.order()
    }

    fn bid(&self) -> Option<BidId> {
        self.get::<Id<'_>>("id")?.bid()
    }

    fn lease(&self) -> Option<LeaseId> {
        self.bid().map(|bid| bid.lease_id())
    }

    fn price(&self) -> Option<DecCoin> {
        let Price { denom, amount } = self.get("price")?;
        DecCoin::new(denom.parse().ok()?, amount.parse::<Dec>().ok()?).ok()
    }

    fn hash(&self) -> Option<[u8; 32]> {
        STANDARD.decode(self.text("hash")?.as_bytes()).ok()?.try_into().ok()
    }

    /// A name, or a bare number where there is no name.
    fn reason(&self) -> Option<LeaseClosedReason> {
        let known = [
            LeaseClosedReason::OWNER,
            LeaseClosedReason::UNSTABLE,
            LeaseClosedReason::DECOMMISSION,
            LeaseClosedReason::UNSPECIFIED,
            LeaseClosedReason::MANIFEST_TIMEOUT,
            LeaseClosedReason::INSUFFICIENT_FUNDS,
        ];
        match self.get("reason")? {
            NameOrNumber::Name(name) => {
                known.into_iter().find(|reason| reason.name() == Some(name.as_ref()))
            }
            NameOrNumber::Number(code) => LeaseClosedReason::from_code(code).ok(),
        }
    }

    fn deadline(&self) -> Option<u64> {
        self.text("deadline")?.parse().ok()
    }
}

impl Id<'_> {
    fn deployment(&self) -> Option<DeploymentId> {
        DeploymentId::new(self.owner.parse().ok()?, self.dseq.parse().ok()?).ok()
    }

    fn group(&self) -> Option<GroupId> {
        GroupId::new(self.deployment()?, self.gseq).ok()
    }

    fn order(&self) -> Option<OrderId> {
        OrderId::new(self.group()?, self.oseq).ok()
    }

    fn bid(&self) -> Option<BidId> {
        Some(BidId::new(self.order()?, self.provider.parse().ok()?).with_bseq(self.bseq))
    }
}

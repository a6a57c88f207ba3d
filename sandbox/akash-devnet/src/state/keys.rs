//! Keys of the tables, in the order of the chain's own store.
//!
//! The chain orders what belongs to an account by the text of its address. That is not the order of
//! its bytes: bech32 writes five bits as one character, and the characters do not ascend.

use std::cmp::Ordering;

use akash_proto::akash::deployment::v1 as deployment;
use akash_proto::akash::market::v1 as market;
use akash_types::{Address, BidId, DeploymentId, GroupId, LeaseId, OrderId};

use super::address;
use super::error::{GrpcCode, ModuleError, Outcome, TxError, sdk};

/// A part of a key, with a place before and after all of its kind: the ends of a range.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Edge<T> {
    First,
    Is(T),
    Last,
}

impl<T> Edge<T> {
    pub(crate) const fn get(&self) -> Option<&T> {
        match self {
            Self::Is(value) => Some(value),
            Self::First | Self::Last => None,
        }
    }
}

/// An account in the order of its text, with a place before and after all accounts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ByText {
    First,
    Account(Address),
    Last,
}

/// The characters of bech32 by their value.
const CHARSET: &[u8; 32] = b"qpzry9x8gf2tvdw0s3jn54khce6mua7l";

impl ByText {
    pub(crate) const fn address(&self) -> Option<Address> {
        match self {
            Self::Account(address) => Some(*address),
            Self::First | Self::Last => None,
        }
    }
}

impl From<Address> for ByText {
    fn from(address: Address) -> Self {
        Self::Account(address)
    }
}

impl Ord for ByText {
    fn cmp(&self, other: &Self) -> Ordering {
        match (self, other) {
            (Self::Account(left), Self::Account(right)) => compare_texts(left, right),
            (Self::First, Self::First) | (Self::Last, Self::Last) => Ordering::Equal,
            (Self::First, _) | (_, Self::Last) => Ordering::Less,
            (_, Self::First) | (Self::Last, _) => Ordering::Greater,
        }
    }
}

impl PartialOrd for ByText {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// Compares as the texts would, without making them: the first character that differs decides.
fn compare_texts(left: &Address, right: &Address) -> Ordering {
    let (left_bytes, right_bytes) = (left.as_bytes(), right.as_bytes());
    if left_bytes == right_bytes {
        return Ordering::Equal;
    }
    let pairs = left_bytes.iter().zip(right_bytes);
    let first = pairs.enumerate().find_map(|(index, (left, right))| {
        let differing = left ^ right;
        (differing != 0).then(|| index * 8 + differing.leading_zeros() as usize)
    });
    match first {
        Some(bit) if left_bytes.len() == right_bytes.len() => {
            let character = bit / 5;
            let text = |bytes| CHARSET.get(usize::from(five_bits(bytes, character)));
            text(left_bytes).cmp(&text(right_bytes))
        }
        // Accounts of different kinds: rare enough to write the texts.
        _ => left.to_string().cmp(&right.to_string()),
    }
}

/// The value of the bech32 character with this index.
fn five_bits(bytes: &[u8], character: usize) -> u8 {
    let bit = character * 5;
    let byte = |index: usize| u16::from(bytes.get(index).copied().unwrap_or_default());
    let window = (byte(bit / 8) << 8) | byte(bit / 8 + 1);
    // Five bits always fit in a byte.
    u8::try_from((window >> (11 - bit % 8)) & 31).unwrap_or_default()
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct DeploymentKey {
    pub(crate) owner: ByText,
    pub(crate) dseq: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct GroupKey {
    pub(crate) owner: ByText,
    pub(crate) dseq: u64,
    pub(crate) gseq: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct OrderKey {
    pub(crate) owner: ByText,
    pub(crate) dseq: u64,
    pub(crate) gseq: u32,
    pub(crate) oseq: u32,
}

/// Of a bid, and of the lease that may come of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct BidKey {
    pub(crate) order: OrderKey,
    pub(crate) provider: ByText,
}

impl From<DeploymentId> for DeploymentKey {
    fn from(id: DeploymentId) -> Self {
        Self { owner: id.owner().into(), dseq: id.dseq() }
    }
}

impl From<GroupId> for GroupKey {
    fn from(id: GroupId) -> Self {
        Self { owner: id.owner().into(), dseq: id.dseq(), gseq: id.gseq() }
    }
}

impl From<OrderId> for OrderKey {
    fn from(id: OrderId) -> Self {
        Self { owner: id.owner().into(), dseq: id.dseq(), gseq: id.gseq(), oseq: id.oseq() }
    }
}

impl From<BidId> for BidKey {
    fn from(id: BidId) -> Self {
        Self { order: id.order_id().into(), provider: id.provider().into() }
    }
}

impl From<LeaseId> for BidKey {
    fn from(id: LeaseId) -> Self {
        id.bid_id().into()
    }
}

impl GroupKey {
    /// First and last key of the groups of a deployment.
    pub(crate) const fn of_deployment(key: DeploymentKey) -> (Self, Self) {
        let DeploymentKey { owner, dseq } = key;
        (Self { owner, dseq, gseq: 0 }, Self { owner, dseq, gseq: u32::MAX })
    }
}

impl OrderKey {
    pub(crate) const FIRST: Self = Self { owner: ByText::First, dseq: 0, gseq: 0, oseq: 0 };
    pub(crate) const LAST: Self =
        Self { owner: ByText::Last, dseq: u64::MAX, gseq: u32::MAX, oseq: u32::MAX };

    /// First and last key of the orders of a group.
    pub(crate) const fn of_group(key: GroupKey) -> (Self, Self) {
        let GroupKey { owner, dseq, gseq } = key;
        (Self { owner, dseq, gseq, oseq: 0 }, Self { owner, dseq, gseq, oseq: u32::MAX })
    }
}

impl BidKey {
    pub(crate) const FIRST: Self = Self { order: OrderKey::FIRST, provider: ByText::First };
    pub(crate) const LAST: Self = Self { order: OrderKey::LAST, provider: ByText::Last };

    /// First and last key of the bids on an order.
    pub(crate) const fn of_order(order: OrderKey) -> (Self, Self) {
        (Self { order, provider: ByText::First }, Self { order, provider: ByText::Last })
    }
}

const INVALID_SEQUENCE: ModuleError =
    ModuleError::new("sdk", 3, GrpcCode::Unknown, "invalid sequence");

pub(crate) fn deployment(id: Option<deployment::DeploymentId>) -> Outcome<DeploymentId> {
    let id = id.unwrap_or_default();
    deployment_of(&id.owner, id.dseq)
}

pub(crate) fn group(id: Option<deployment::GroupId>) -> Outcome<GroupId> {
    let id = id.unwrap_or_default();
    group_of(&id.owner, id.dseq, id.gseq)
}

pub(crate) fn bid(id: Option<market::BidId>) -> Outcome<BidId> {
    bid_of("BidID", "self-bid", &id.unwrap_or_default())
}

pub(crate) fn lease(id: Option<market::LeaseId>) -> Outcome<LeaseId> {
    let market::LeaseId { owner, dseq, gseq, oseq, provider, bseq } = id.unwrap_or_default();
    let id = market::BidId { owner, dseq, gseq, oseq, provider, bseq };
    bid_of("LeaseID", "self-lease", &id).map(LeaseId::from)
}

fn bid_of(name: &str, own: &str, id: &market::BidId) -> Outcome<BidId> {
    let order = order_of(&id.owner, id.dseq, id.gseq, id.oseq)
        .map_err(|error| error.within(format_args!("{name}: Invalid OrderID")))?;
    let provider = part(&id.provider, &format!("{name}: Invalid Provider Address"))?;
    if id.owner == id.provider {
        return Err(sdk::CONFLICT.wrap(format_args!("{name}: {own}")));
    }
    if id.bseq != 0 {
        return Err(sdk::CONFLICT.wrap(format_args!("{name}: invalid bseq")));
    }
    Ok(BidId::new(order, provider))
}

fn deployment_of(owner: &str, dseq: u64) -> Outcome<DeploymentId> {
    let owner = part(owner, "DeploymentID: Invalid Owner Address")?;
    DeploymentId::new(owner, dseq)
        .map_err(|_| sequence("DeploymentID: Invalid Deployment Sequence"))
}

fn group_of(owner: &str, dseq: u64, gseq: u32) -> Outcome<GroupId> {
    let deployment = deployment_of(owner, dseq)
        .map_err(|error| error.within("GroupID: Invalid DeploymentID"))?;
    GroupId::new(deployment, gseq).map_err(|_| sequence("GroupID: Invalid Group Sequence"))
}

fn order_of(owner: &str, dseq: u64, gseq: u32, oseq: u32) -> Outcome<OrderId> {
    let group =
        group_of(owner, dseq, gseq).map_err(|error| error.within("OrderID: Invalid GroupID"))?;
    OrderId::new(group, oseq).map_err(|_| sequence("OrderID: Invalid Order Sequence"))
}

fn part(text: &str, what: &str) -> Outcome<Address> {
    address::account(text).map_err(|_| sdk::INVALID_ADDRESS.wrap(what))
}

fn sequence(what: &str) -> TxError {
    INVALID_SEQUENCE.wrap(what)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn accounts_are_ordered_as_their_texts(
            left in proptest::collection::vec(0u8.., 20..=32),
            right in proptest::collection::vec(0u8.., 20..=32),
            shared in 0usize..40,
        ) {
            let mut right = right;
            let shared = shared.min(left.len()).min(right.len());
            right[..shared].copy_from_slice(&left[..shared]);
            let left = Address::from_bytes(&left).unwrap();
            let right = Address::from_bytes(&right).unwrap();
            prop_assert_eq!(
                ByText::from(left).cmp(&ByText::from(right)),
                left.to_string().cmp(&right.to_string())
            );
            prop_assert!(ByText::First < ByText::from(left));
            prop_assert!(ByText::Last > ByText::from(left));
        }

        #[test]
        fn accounts_of_keys_are_ordered_as_their_texts(
            left in any::<[u8; 20]>(),
            right in any::<[u8; 20]>(),
            shared in 0usize..=20,
        ) {
            let mut right = right;
            right[..shared].copy_from_slice(&left[..shared]);
            let left = Address::from_bytes(&left).unwrap();
            let right = Address::from_bytes(&right).unwrap();
            prop_assert_eq!(
                ByText::from(left).cmp(&ByText::from(right)),
                left.to_string().cmp(&right.to_string())
            );
        }
    }
}

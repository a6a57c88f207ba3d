//! How orders, bids and leases are keyed and walked.

use akash_types::{BidState, LeaseState, OrderState};

use crate::state::keys::{BidKey, ByText, OrderKey};
use crate::state::market::{Bid, Lease, Order};
use crate::state::query::list::{Items, Listed, Paths};
use crate::state::tables::Tables;

/// Keys of an owner's orders, narrowed by what else is given.
pub(super) fn order_range(
    owner: ByText,
    dseq: u64,
    gseq: u32,
    oseq: u32,
) -> Option<(OrderKey, OrderKey)> {
    let (mut first, mut last) = Order::range(Some(owner));
    if dseq == 0 {
        return None;
    }
    (first.dseq, last.dseq) = (dseq, dseq);
    if gseq > 0 {
        (first.gseq, last.gseq) = (gseq, gseq);
        if oseq > 0 {
            (first.oseq, last.oseq) = (oseq, oseq);
        }
    }
    Some((first, last))
}

/// Keys of an owner's bids or leases, narrowed by what else is given.
pub(super) fn bid_range(
    owner: ByText,
    dseq: u64,
    gseq: u32,
    oseq: u32,
) -> Option<(BidKey, BidKey)> {
    let (first, last) = order_range(owner, dseq, gseq, oseq)?;
    Some((
        BidKey { order: first, provider: ByText::First },
        BidKey { order: last, provider: ByText::Last },
    ))
}

/// The text of an account and a zero byte.
pub(in crate::state::query) fn encode_account(account: &ByText, bytes: &mut Vec<u8>) {
    if let Some(address) = account.address() {
        bytes.extend(address.to_string().into_bytes());
    }
    bytes.push(0);
}

pub(in crate::state::query) fn decode_account(bytes: &[u8]) -> Option<(ByText, &[u8])> {
    let end = bytes.iter().position(|byte| *byte == 0)?;
    let (text, rest) = bytes.split_at_checked(end)?;
    let address = str::from_utf8(text).ok()?.parse::<akash_types::Address>().ok()?;
    Some((address.into(), rest.get(1..)?))
}

fn encode_order(key: &OrderKey) -> Vec<u8> {
    let mut bytes = Vec::new();
    encode_account(&key.owner, &mut bytes);
    bytes.extend(key.dseq.to_be_bytes());
    bytes.extend(key.gseq.to_be_bytes());
    bytes.extend(key.oseq.to_be_bytes());
    bytes
}

fn decode_order(bytes: &[u8]) -> Option<(OrderKey, &[u8])> {
    let (owner, rest) = decode_account(bytes)?;
    let (dseq, rest) = rest.split_first_chunk()?;
    let (gseq, rest) = rest.split_first_chunk()?;
    let (oseq, rest) = rest.split_first_chunk()?;
    let key = OrderKey {
        owner,
        dseq: u64::from_be_bytes(*dseq),
        gseq: u32::from_be_bytes(*gseq),
        oseq: u32::from_be_bytes(*oseq),
    };
    Some((key, rest))
}

fn encode_bid(key: &BidKey) -> Vec<u8> {
    let mut bytes = encode_order(&key.order);
    encode_account(&key.provider, &mut bytes);
    // The number of the bid, which is always 0.
    bytes.extend([0; 4]);
    bytes
}

fn decode_bid(bytes: &[u8]) -> Option<BidKey> {
    let (order, rest) = decode_order(bytes)?;
    let (provider, rest) = decode_account(rest)?;
    (rest.len() == 4).then_some(BidKey { order, provider })
}

fn code(code: i32) -> u8 {
    u8::try_from(code).unwrap_or_default()
}

impl Listed for Order {
    type Key = OrderKey;
    type State = OrderState;

    const STATES: &'static [OrderState] = OrderState::ALL;
    const PATHS: Paths = Paths::OwnerOnly;

    fn state(&self) -> OrderState {
        self.state
    }

    fn key(&self) -> OrderKey {
        self.id.into()
    }

    fn state_code(state: OrderState) -> u8 {
        code(state.code())
    }

    fn parse_state(text: &str) -> Option<OrderState> {
        text.parse().ok()
    }

    fn encode(key: &OrderKey) -> Vec<u8> {
        encode_order(key)
    }

    fn decode(bytes: &[u8]) -> Option<OrderKey> {
        decode_order(bytes).filter(|(_, rest)| rest.is_empty()).map(|(key, _)| key)
    }

    fn owner(key: &OrderKey) -> ByText {
        key.owner
    }

    fn provider(_: &OrderKey) -> ByText {
        ByText::First
    }

    fn range(owner: Option<ByText>) -> (OrderKey, OrderKey) {
        let (first, last) = (OrderKey::FIRST, OrderKey::LAST);
        match owner {
            None => (first, last),
            Some(owner) => (OrderKey { owner, ..first }, OrderKey { owner, ..last }),
        }
    }

    fn by_key<'t>(tables: &'t Tables, first: OrderKey, last: OrderKey) -> Items<'t, Self> {
        Box::new(tables.orders.between(first, last).map(|(_, order)| order))
    }

    fn by_state<'t>(
        tables: &'t Tables,
        state: OrderState,
        first: OrderKey,
        last: OrderKey,
    ) -> Items<'t, Self> {
        let keys = tables.orders_by_state.between((state, first), (state, last));
        Box::new(keys.filter_map(|((_, key), ())| tables.orders.get(key)))
    }

    fn by_provider<'t>(
        _: &'t Tables,
        _: ByText,
        _: Option<OrderState>,
        _: OrderKey,
        _: OrderKey,
    ) -> Items<'t, Self> {
        Box::new(std::iter::empty())
    }
}

macro_rules! listed_by_bid {
    ($type:ty, $state:ty, $table:ident, $by_state:ident, $by_provider:ident, $by_both:ident) => {
        impl Listed for $type {
            type Key = BidKey;
            type State = $state;

            const STATES: &'static [$state] = <$state>::ALL;
            const PATHS: Paths = Paths::All;

            fn state(&self) -> $state {
                self.state
            }

            fn key(&self) -> BidKey {
                self.id.into()
            }

            fn state_code(state: $state) -> u8 {
                code(state.code())
            }

            fn parse_state(text: &str) -> Option<$state> {
                text.parse().ok()
            }

            fn encode(key: &BidKey) -> Vec<u8> {
                encode_bid(key)
            }

            fn decode(bytes: &[u8]) -> Option<BidKey> {
                decode_bid(bytes)
            }

            fn owner(key: &BidKey) -> ByText {
                key.order.owner
            }

            fn provider(key: &BidKey) -> ByText {
                key.provider
            }

            fn range(owner: Option<ByText>) -> (BidKey, BidKey) {
                let (first, last) = Order::range(owner);
                (BidKey { order: first, ..BidKey::FIRST }, BidKey { order: last, ..BidKey::LAST })
            }

            fn by_key<'t>(tables: &'t Tables, first: BidKey, last: BidKey) -> Items<'t, Self> {
                Box::new(tables.$table.between(first, last).map(|(_, item)| item))
            }

            fn by_state<'t>(
                tables: &'t Tables,
                state: $state,
                first: BidKey,
                last: BidKey,
            ) -> Items<'t, Self> {
                let keys = tables.$by_state.between((state, first), (state, last));
                Box::new(keys.filter_map(|((_, key), ())| tables.$table.get(key)))
            }

            fn by_provider<'t>(
                tables: &'t Tables,
                provider: ByText,
                state: Option<$state>,
                first: BidKey,
                last: BidKey,
            ) -> Items<'t, Self> {
                if let Some(state) = state {
                    let (first, last) = ((provider, state, first), (provider, state, last));
                    let keys = tables.$by_both.between(first, last);
                    return Box::new(keys.filter_map(|((.., key), ())| tables.$table.get(key)));
                }
                let keys = tables.$by_provider.between((provider, first), (provider, last));
                Box::new(keys.filter_map(|((_, key), ())| tables.$table.get(key)))
            }
        }
    };
}

listed_by_bid!(Bid, BidState, bids, bids_by_state, bids_by_provider, bids_by_provider_state);
listed_by_bid!(
    Lease,
    LeaseState,
    leases,
    leases_by_state,
    leases_by_provider,
    leases_by_provider_state
);

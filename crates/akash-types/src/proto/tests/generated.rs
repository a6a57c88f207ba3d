//! Generated values and bytes.

use std::fmt::Debug;
use std::time::Duration;

use akash_proto::akash::{audit, base, deployment, escrow, market, provider};
use akash_proto::cosmos::base::v1beta1 as cosmos;
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;
use prost::Message;

use crate::*;

prop_compose! {
    fn any_address()(bytes in vec(any::<u8>(), 1..=32)) -> Address {
        Address::from_bytes(&bytes).unwrap()
    }
}

prop_compose! {
    fn any_denom()(text in "[a-zA-Z][a-zA-Z0-9/:._-]{2,40}") -> Denom {
        text.parse().unwrap()
    }
}

prop_compose! {
    fn any_coin()(denom in any_denom(), amount in any::<u128>()) -> Coin {
        Coin::new(denom, amount)
    }
}

prop_compose! {
    fn any_dec_coin()(denom in any_denom(), scaled in 0..=i128::MAX) -> DecCoin {
        DecCoin::new(denom, Dec::from_scaled(scaled)).unwrap()
    }
}

prop_compose! {
    fn any_bid_id()(
        owner in any_address(),
        dseq in 1..=u64::MAX,
        gseq in 1..=u32::MAX,
        oseq in 1..=u32::MAX,
        provider in any_address(),
        bseq in any::<u32>(),
    ) -> BidId {
        let group = GroupId::new(DeploymentId::new(owner, dseq).unwrap(), gseq).unwrap();
        OrderId::new(group, oseq).unwrap().bid_id(provider).with_bseq(bseq)
    }
}

fn any_attributes() -> impl Strategy<Value = Vec<Attribute>> {
    vec((".{0,8}", ".{0,8}").prop_map(|(key, value)| Attribute::new(key, value)), 0..4)
}

prop_compose! {
    fn any_resources()(
        id in any::<u32>(),
        cpu in (any::<u64>(), any_attributes()),
        memory in (any::<u64>(), any_attributes()),
        storage in vec((".{0,8}", any::<u64>(), any_attributes()), 0..3),
        gpu in (any::<u64>(), any_attributes()),
        endpoints in vec((select(EndpointKind::ALL.to_vec()), any::<u32>()), 0..3),
    ) -> Resources {
        let volume = |(name, quantity, attributes)| Storage { name, quantity, attributes };
        let endpoint = |(kind, sequence_number)| Endpoint { kind, sequence_number };
        Resources {
            id,
            cpu: Cpu { units: cpu.0, attributes: cpu.1 },
            memory: Memory { quantity: memory.0, attributes: memory.1 },
            storage: storage.into_iter().map(volume).collect(),
            gpu: Gpu { units: gpu.0, attributes: gpu.1 },
            endpoints: endpoints.into_iter().map(endpoint).collect(),
        }
    }
}

/// Auditors, absent or at least one: the wire knows no empty list.
fn any_auditors() -> impl Strategy<Value = Option<Vec<String>>> {
    option::of(vec(".{0,8}", 1..3))
}

prop_compose! {
    fn any_verification()(
        min_tier in any::<i32>(),
        required_capabilities in vec(any::<i32>(), 0..3),
        required_auditors in vec(".{0,8}", 0..3),
        auditor_mode in any::<i32>(),
        min_auditor_count in any::<u32>(),
    ) -> crate::VerificationRequirement {
        crate::VerificationRequirement {
            min_tier,
            required_capabilities,
            required_auditors,
            auditor_mode,
            min_auditor_count,
        }
    }
}

prop_compose! {
    fn any_spec()(
        name in ".{0,8}",
        all_of in any_auditors(),
        any_of in any_auditors(),
        attributes in any_attributes(),
        verification in proptest::option::of(any_verification()),
        units in vec((any_resources(), any::<u32>(), any_dec_coin()), 0..3),
    ) -> GroupSpec {
        let unit = |(resources, count, price)| ResourceUnit { resources, count, price };
        GroupSpec {
            name,
            requirements: PlacementRequirements {
                signed_by: SignedBy { all_of, any_of },
                attributes,
                verification,
            },
            resources: units.into_iter().map(unit).collect(),
        }
    }
}

/// Heights and times that fit the signed numbers of the wire.
fn any_count() -> impl Strategy<Value = u64> {
    0..=i64::MAX.unsigned_abs()
}

fn any_happened() -> impl Strategy<Value = Option<u64>> {
    option::of(1..=i64::MAX.unsigned_abs())
}

fn any_span() -> impl Strategy<Value = Duration> {
    (any_count(), 0..1_000_000_000_u32).prop_map(|(seconds, nanos)| Duration::new(seconds, nanos))
}

fn any_reason() -> impl Strategy<Value = Option<LeaseClosedReason>> {
    option::of((1..30_000).prop_map(|code| LeaseClosedReason::from_code(code).unwrap()))
}

prop_compose! {
    fn any_order()(
        id in any_bid_id(),
        state in select(OrderState::ALL),
        spec in any_spec(),
        created_at in any_count(),
        reclamation_min_window in option::of(any_span()),
    ) -> Order {
        Order { id: id.order_id(), state, spec, created_at, reclamation_min_window }
    }
}

prop_compose! {
    fn any_prices()(
        cpu in option::of(any_dec_coin()),
        memory in option::of(any_dec_coin()),
        storage in vec((".{0,8}", option::of(any_dec_coin())), 0..3),
        gpu in option::of(any_dec_coin()),
        endpoints in vec((select(EndpointKind::ALL.to_vec()), option::of(any_dec_coin())), 0..3),
    ) -> OfferPrices {
        OfferPrices { cpu, memory, storage, gpu, endpoints }
    }
}

prop_compose! {
    fn any_bid()(
        id in any_bid_id(),
        state in select(BidState::ALL),
        price in any_dec_coin(),
        created_at in any_count(),
        offers in vec((any_resources(), any::<u32>(), option::of(any_prices())), 0..3),
        reclamation_window in option::of(any_span()),
    ) -> Bid {
        let offer = |(resources, count, prices)| ResourceOffer { resources, count, prices };
        let resources_offer = offers.into_iter().map(offer).collect();
        Bid { id, state, price, created_at, resources_offer, reclamation_window }
    }
}

prop_compose! {
    fn any_reclamation()(
        window in any_span(),
        started_at in any_happened(),
        deadline in any_happened(),
        reason in any_reason(),
    ) -> Reclamation {
        Reclamation { window, started_at, deadline, reason }
    }
}

prop_compose! {
    fn any_lease()(
        id in any_bid_id(),
        state in select(LeaseState::ALL),
        price in any_dec_coin(),
        created_at in any_count(),
        closed_on in any_happened(),
        reason in any_reason(),
        reclamation in option::of(any_reclamation()),
    ) -> Lease {
        Lease { id: id.lease_id(), state, price, created_at, closed_on, reason, reclamation }
    }
}

prop_compose! {
    fn any_account()(
        id in any_bid_id(),
        of_bid in any::<bool>(),
        owner in any_address(),
        state in select(EscrowState::ALL),
        transferred in vec(any_dec_coin(), 0..3),
        settled_at in any_count(),
        funds in vec((any_denom(), any::<i128>()), 0..3),
        deposits in vec((any_address(), any_count(), any::<bool>(), any_dec_coin()), 0..3),
    ) -> EscrowAccount {
        let id = match of_bid {
            true => EscrowAccountId::Bid(id),
            false => EscrowAccountId::Deployment(id.deployment_id()),
        };
        let fund = |(denom, scaled)| Balance { denom, amount: Dec::from_scaled(scaled) };
        let deposit = |(owner, height, granted, balance)| {
            let source = if granted { DepositSource::Grant } else { DepositSource::Balance };
            Depositor { owner, height, source, balance }
        };
        let funds = funds.into_iter().map(fund).collect();
        let deposits = deposits.into_iter().map(deposit).collect();
        EscrowAccount { id, owner, state, transferred, settled_at, funds, deposits }
    }
}

prop_compose! {
    fn any_payment()(
        id in any_bid_id(),
        owner in any_address(),
        state in select(EscrowState::ALL),
        rate in any_dec_coin(),
        balance in any_dec_coin(),
        unsettled in any_dec_coin(),
        withdrawn in any_coin(),
    ) -> EscrowPayment {
        let id = id.lease_id().into();
        EscrowPayment { id, owner, state, rate, balance, unsettled, withdrawn }
    }
}

prop_compose! {
    fn any_held()(
        id in any_bid_id(),
        state in select(DeploymentState::ALL),
        hash in any::<[u8; 32]>(),
        created_at in any_count(),
        reclamation_min_window in option::of(any_span()),
        group_state in select(GroupState::ALL),
        spec in any_spec(),
    ) -> (Deployment, Group) {
        let deployment =
            Deployment { id: id.deployment_id(), state, hash, created_at, reclamation_min_window };
        (deployment, Group { id: id.group_id(), state: group_state, spec, created_at })
    }
}

prop_compose! {
    fn any_provider()(
        owner in any_address(),
        host_uri in ".{0,12}",
        attributes in any_attributes(),
        email in ".{0,8}",
        website in ".{0,8}",
    ) -> Provider {
        Provider { owner, host_uri, attributes, email, website }
    }
}

prop_compose! {
    fn any_params()(
        bid_min_deposit in option::of(any_coin()),
        order_max_bids in any::<u32>(),
        bid_min_deposits in vec(any_coin(), 0..3),
        min_reclamation_window in any_span(),
        max_reclamation_window in any_span(),
    ) -> MarketParams {
        MarketParams {
            bid_min_deposit,
            order_max_bids,
            bid_min_deposits,
            min_reclamation_window,
            max_reclamation_window,
        }
    }
}

/// Into a message, through bytes and back.
fn survives<T, M>(value: T) -> Result<(), TestCaseError>
where
    T: Clone + Debug + PartialEq + Into<M> + TryFrom<M>,
    T::Error: Debug,
    M: Message + Default,
{
    let message: M = value.clone().into();
    let bytes = message.encode_to_vec();
    let read = M::decode(bytes.as_slice()).unwrap();
    let again = T::try_from(read).unwrap();
    prop_assert_eq!(&again, &value);
    prop_assert_eq!(again.into().encode_to_vec(), bytes);
    Ok(())
}

/// Whatever the bytes decode to, converting it returns.
fn returns<M: Message + Default, T: TryFrom<M>>(bytes: &[u8]) {
    if let Ok(message) = M::decode(bytes) {
        let _ = T::try_from(message);
    }
}

fn all_return(bytes: &[u8]) {
    returns::<cosmos::Coin, Coin>(bytes);
    returns::<cosmos::DecCoin, DecCoin>(bytes);
    returns::<base::deposit::v1::Deposit, Deposit>(bytes);
    returns::<base::resources::v1beta4::Resources, Resources>(bytes);
    returns::<base::attributes::v1::PlacementRequirements, PlacementRequirements>(bytes);
    returns::<deployment::v1::DeploymentId, DeploymentId>(bytes);
    returns::<deployment::v1::GroupId, GroupId>(bytes);
    returns::<deployment::v1::Deployment, Deployment>(bytes);
    returns::<deployment::v1beta4::GroupSpec, GroupSpec>(bytes);
    returns::<deployment::v1beta4::Group, Group>(bytes);
    returns::<deployment::v1beta4::Params, DeploymentParams>(bytes);
    returns::<market::v1::OrderId, OrderId>(bytes);
    returns::<market::v1::BidId, BidId>(bytes);
    returns::<market::v1::LeaseId, LeaseId>(bytes);
    returns::<market::v1::Lease, Lease>(bytes);
    returns::<market::v1beta5::Order, Order>(bytes);
    returns::<market::v1beta5::Bid, Bid>(bytes);
    returns::<market::v1beta5::Params, MarketParams>(bytes);
    returns::<escrow::id::v1::Account, EscrowAccountId>(bytes);
    returns::<escrow::id::v1::Payment, EscrowPaymentId>(bytes);
    returns::<escrow::types::v1::Account, EscrowAccount>(bytes);
    returns::<escrow::types::v1::Payment, EscrowPayment>(bytes);
    returns::<provider::v1beta4::Provider, Provider>(bytes);
    returns::<audit::v1::AuditedProvider, AuditedProvider>(bytes);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn ids_survive(id in any_bid_id()) {
        survives::<_, deployment::v1::DeploymentId>(id.deployment_id())?;
        survives::<_, deployment::v1::GroupId>(id.group_id())?;
        survives::<_, market::v1::OrderId>(id.order_id())?;
        survives::<_, market::v1::BidId>(id)?;
        survives::<_, market::v1::LeaseId>(id.lease_id())?;
        survives::<_, escrow::id::v1::Account>(EscrowAccountId::Bid(id))?;
        survives::<_, escrow::id::v1::Account>(EscrowAccountId::Deployment(id.deployment_id()))?;
        survives::<_, escrow::id::v1::Payment>(EscrowPaymentId::from(id.lease_id()))?;
    }

    #[test]
    fn money_survives(coin in any_coin(), dec_coin in any_dec_coin(), sources in 0..4_usize) {
        use DepositSource::{Balance, Grant};
        let sources = [vec![Balance], vec![Grant], vec![Balance, Grant], vec![Grant, Balance]][sources].clone();
        survives::<_, base::deposit::v1::Deposit>(Deposit::new(coin.clone(), sources).unwrap())?;
        survives::<_, cosmos::Coin>(coin)?;
        survives::<_, cosmos::DecCoin>(dec_coin)?;
    }

    #[test]
    fn groups_survive(spec in any_spec()) {
        survives::<_, deployment::v1beta4::GroupSpec>(spec)?;
    }

    #[test]
    fn what_the_market_holds_survives(order in any_order(), bid in any_bid(), lease in any_lease()) {
        survives::<_, market::v1beta5::Order>(order)?;
        survives::<_, market::v1beta5::Bid>(bid)?;
        survives::<_, market::v1::Lease>(lease)?;
    }

    #[test]
    fn what_escrow_holds_survives(account in any_account(), payment in any_payment()) {
        survives::<_, escrow::types::v1::Account>(account)?;
        survives::<_, escrow::types::v1::Payment>(payment)?;
    }

    #[test]
    fn the_rest_survives(
        held in any_held(),
        provider in any_provider(),
        params in any_params(),
        min_deposits in vec(any_coin(), 0..3),
    ) {
        survives::<_, deployment::v1::Deployment>(held.0)?;
        survives::<_, deployment::v1beta4::Group>(held.1)?;
        survives::<_, market::v1beta5::Params>(params)?;
        survives::<_, deployment::v1beta4::Params>(DeploymentParams { min_deposits })?;
        let audited = AuditedAttributes {
            auditor: provider.email.clone(),
            attributes: provider.attributes.clone(),
        };
        survives::<_, audit::v1::AuditedProvider>(AuditedProvider { owner: provider.owner, audited })?;
        survives::<_, provider::v1beta4::Provider>(provider)?;
    }

    #[test]
    fn arbitrary_bytes_never_panic(bytes in vec(any::<u8>(), 0..64)) {
        all_return(&bytes);
    }

    #[test]
    fn damaged_messages_never_panic(
        order in any_order(),
        bid in any_bid(),
        lease in any_lease(),
        account in any_account(),
        payment in any_payment(),
        damage in vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
        keep in any::<prop::sample::Index>(),
    ) {
        for mut bytes in [
            market::v1beta5::Order::from(order).encode_to_vec(),
            market::v1beta5::Bid::from(bid).encode_to_vec(),
            market::v1::Lease::from(lease).encode_to_vec(),
            escrow::types::v1::Account::from(account).encode_to_vec(),
            escrow::types::v1::Payment::from(payment).encode_to_vec(),
        ] {
            all_return(&bytes[..keep.index(bytes.len())]);
            for (place, byte) in &damage {
                let place = place.index(bytes.len());
                bytes[place] = *byte;
            }
            all_return(&bytes);
        }
    }
}

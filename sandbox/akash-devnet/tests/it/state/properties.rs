//! What holds whatever happens: coins are neither made nor lost, a failed transaction costs its fee
//! and nothing else, and no bytes make the machine fall over.

use std::collections::BTreeMap;

use akash_proto::akash::base::deposit::v1::Deposit;
use akash_proto::akash::deployment::v1beta4::{
    MsgCloseGroup, MsgPauseGroup, MsgStartGroup, QueryDeploymentsRequest,
};
use akash_proto::akash::escrow::id::v1::Account;
use akash_proto::akash::escrow::v1::{
    MsgAccountDeposit, QueryAccountsRequest, QueryAccountsResponse, QueryPaymentsRequest,
    QueryPaymentsResponse,
};
use akash_proto::akash::market::v1::{BidId, LeaseId};
use akash_proto::akash::market::v1beta5::{
    MsgCloseBid, MsgCloseLease, MsgCreateLease, MsgLeaseStartReclaim, MsgWithdrawLease,
    QueryBidsRequest, QueryLeasesRequest, QueryOrdersRequest,
};
use akash_proto::cosmos::auth::v1beta1::{
    BaseAccount, ModuleAccount, QueryAccountsRequest as Accounts,
    QueryAccountsResponse as AccountsAnswer,
};
use akash_proto::cosmos::bank::v1beta1::{
    MsgSend, QueryAllBalancesRequest, QueryAllBalancesResponse, QueryTotalSupplyRequest,
    QueryTotalSupplyResponse,
};
use akash_proto::cosmos::base::query::v1beta1::PageRequest;
use akash_proto::{from_any, to_any};
use proptest::prelude::*;
use prost::Message;
use prost_types::{Any, Duration};

use crate::state::support::{
    Chain, Draft, Wallet, bid_id, close_deployment, coin, create_bid, create_deployment,
    create_provider, group_id, lease_id,
};

const ESCROW: &str = "akash14pphss726thpwws3yc458hggufynm9x77l4l2u";
const FEES: &str = "akash17xpfvakm2amg962yls6f84z3kell8c5lazw8j8";

/// Something that someone does, or blocks that pass.
#[derive(Clone, Debug)]
enum Act {
    Blocks(u64),
    Message { kind: u8, tenant: usize, provider: usize, dseq: u64, amount: u64 },
}

fn act() -> impl Strategy<Value = Act> {
    let message = (0u8..20, 0usize..2, 0usize..5, 0u64..3, 1u64..2_000_000).prop_map(
        |(kind, tenant, provider, dseq, amount)| Act::Message {
            kind,
            tenant,
            // Mostly what exists.
            provider: [0, 0, 1, 1, 2][provider],
            dseq: [1, 1, 2][usize::try_from(dseq).unwrap()],
            amount,
        },
    );
    prop_oneof![2 => prop_oneof![3 => 1u64..4, 1 => 300u64..900].prop_map(Act::Blocks), 5 => message]
}

struct World {
    chain: Chain,
    tenants: Vec<Wallet>,
    providers: Vec<Wallet>,
}

impl World {
    fn new() -> Self {
        let tenants: Vec<Wallet> = (0..2).map(Wallet::numbered).collect();
        let providers: Vec<Wallet> = (10..13).map(Wallet::numbered).collect();
        let all: Vec<&Wallet> = tenants.iter().chain(&providers).collect();
        let mut chain = Chain::new(&all);
        // One provider is not registered.
        for provider in providers.iter().take(2) {
            chain.send(provider, &create_provider(provider));
        }
        for tenant in &tenants {
            let mut create = create_deployment(tenant, 1);
            create.deposit = crate::state::support::deposit(600_000, "uact");
            chain.send(tenant, &create);
            for provider in providers.iter().take(2) {
                chain.send(provider, &create_bid(tenant, 1, provider));
            }
            let bid_id = bid_id(tenant, 1, &providers[0]);
            chain.send(tenant, &MsgCreateLease { bid_id });
        }
        Self { chain, tenants, providers }
    }

    fn message(&self, act: &Act) -> Option<(&Wallet, Any)> {
        let Act::Message { kind, tenant, provider, dseq, amount } = act else { return None };
        let (tenant, provider) = (&self.tenants[*tenant], &self.providers[*provider]);
        let (dseq, amount) = (*dseq, *amount);
        // Groups that were started again have a second order.
        let oseq = if amount % 4 == 0 { 2 } else { 1 };
        let bid = bid_id(tenant, dseq, provider).map(|id| BidId { oseq, ..id });
        let lease = lease_id(tenant, dseq, provider).map(|id| LeaseId { oseq, ..id });
        Some(match kind {
            0 => {
                let mut create = create_deployment(tenant, dseq);
                create.deposit = crate::state::support::deposit(amount, "uact");
                (tenant, to_any(&create))
            }
            1 | 2 => {
                let mut create = create_bid(tenant, dseq, provider);
                create.id = bid;
                create.price = Some(crate::state::support::price(1 + amount % 1_100, "uact"));
                if amount % 5 == 0 {
                    create.reclamation_window = Some(Duration { seconds: 3_600, nanos: 0 });
                }
                (provider, to_any(&create))
            }
            3 | 4 | 14..=17 => (tenant, to_any(&MsgCreateLease { bid_id: bid })),
            6 if amount % 3 == 0 => (provider, to_any(&MsgCloseBid { id: bid, reason: 10_002 })),
            7 if amount % 3 == 0 => (tenant, to_any(&MsgCloseLease { id: lease, reason: 0 })),
            8 if amount % 4 == 0 => (tenant, to_any(&close_deployment(tenant, dseq))),
            5..=8 | 18 | 19 => (provider, to_any(&MsgWithdrawLease { id: lease })),
            9 if amount % 3 == 0 => (tenant, to_any(&MsgPauseGroup { id: group_id(tenant, dseq) })),
            9 | 10 => (tenant, to_any(&MsgStartGroup { id: group_id(tenant, dseq) })),
            11 => {
                let message =
                    MsgLeaseStartReclaim { id: lease_id(tenant, dseq, provider), reason: 10_000 };
                (provider, to_any(&message))
            }
            12 => {
                let denom = if amount % 2 == 0 { "uact" } else { "uakt" };
                let message = MsgAccountDeposit {
                    signer: provider.text(),
                    id: Some(Account { scope: 1, xid: format!("{}/{dseq}", tenant.text()) }),
                    deposit: Some(Deposit { amount: Some(coin(amount, denom)), sources: vec![1] }),
                };
                (provider, to_any(&message))
            }
            _ if amount % 7 == 0 => (tenant, to_any(&MsgCloseGroup { id: group_id(tenant, dseq) })),
            _ => {
                let message = MsgSend {
                    from_address: tenant.text(),
                    to_address: provider.text(),
                    amount: vec![coin(amount, "uakt")],
                };
                (tenant, to_any(&message))
            }
        })
    }
}

fn page() -> Option<PageRequest> {
    Some(PageRequest { limit: 10_000, ..PageRequest::default() })
}

fn balances(chain: &Chain) -> BTreeMap<(String, String), u128> {
    let accounts: AccountsAnswer =
        chain.ask("/cosmos.auth.v1beta1.Query/Accounts", &Accounts { pagination: page() });
    let mut all = BTreeMap::new();
    for any in accounts.accounts {
        let base = from_any::<BaseAccount>(&any)
            .unwrap_or_else(|_| from_any::<ModuleAccount>(&any).unwrap().base_account.unwrap());
        let request = QueryAllBalancesRequest {
            address: base.address.clone(),
            pagination: page(),
            ..QueryAllBalancesRequest::default()
        };
        let answer: QueryAllBalancesResponse =
            chain.ask("/cosmos.bank.v1beta1.Query/AllBalances", &request);
        for coin in answer.balances {
            all.insert((base.address.clone(), coin.denom), coin.amount.parse().unwrap());
        }
    }
    all
}

/// Everything that queries show, besides coins and sequences.
fn everything(chain: &Chain) -> Vec<Vec<u8>> {
    let pagination = page();
    [
        (
            "/akash.market.v1beta5.Query/Orders",
            QueryOrdersRequest { filters: None, pagination: pagination.clone() }.encode_to_vec(),
        ),
        (
            "/akash.market.v1beta5.Query/Bids",
            QueryBidsRequest { filters: None, pagination: pagination.clone() }.encode_to_vec(),
        ),
        (
            "/akash.market.v1beta5.Query/Leases",
            QueryLeasesRequest { filters: None, pagination: pagination.clone() }.encode_to_vec(),
        ),
        (
            "/akash.deployment.v1beta4.Query/Deployments",
            QueryDeploymentsRequest { filters: None, pagination: pagination.clone() }
                .encode_to_vec(),
        ),
        (
            "/akash.escrow.v1.Query/Accounts",
            QueryAccountsRequest { pagination: pagination.clone(), ..Default::default() }
                .encode_to_vec(),
        ),
        (
            "/akash.escrow.v1.Query/Payments",
            QueryPaymentsRequest { pagination, ..Default::default() }.encode_to_vec(),
        ),
    ]
    .into_iter()
    .map(|(path, request)| chain.state.query(path, &request).unwrap())
    .collect()
}

/// What escrow says it holds, in whole coins by denomination.
fn held(chain: &Chain) -> BTreeMap<String, u128> {
    let mut held = BTreeMap::new();
    let mut add = |denom: &str, amount: &str| {
        let whole = amount.parse::<u128>().unwrap() / 10_u128.pow(18);
        *held.entry(denom.to_owned()).or_default() += whole;
    };
    let request = QueryAccountsRequest { pagination: page(), ..Default::default() };
    let accounts: QueryAccountsResponse = chain.ask("/akash.escrow.v1.Query/Accounts", &request);
    for account in accounts.accounts {
        for deposit in account.state.unwrap().deposits {
            let balance = deposit.balance.unwrap();
            add(&balance.denom, &balance.amount);
        }
    }
    let request = QueryPaymentsRequest { pagination: page(), ..Default::default() };
    let payments: QueryPaymentsResponse = chain.ask("/akash.escrow.v1.Query/Payments", &request);
    for payment in payments.payments {
        let balance = payment.state.unwrap().balance.unwrap();
        add(&balance.denom, &balance.amount);
    }
    held
}

fn check_coins(chain: &Chain) {
    let mut sums = BTreeMap::<String, u128>::new();
    let balances = balances(chain);
    for ((_, denom), amount) in &balances {
        *sums.entry(denom.clone()).or_default() += amount;
    }
    let supply: QueryTotalSupplyResponse =
        chain.ask("/cosmos.bank.v1beta1.Query/TotalSupply", &QueryTotalSupplyRequest::default());
    let supply: BTreeMap<String, u128> =
        supply.supply.into_iter().map(|coin| (coin.denom, coin.amount.parse().unwrap())).collect();
    assert_eq!(sums, supply);
    let all = BTreeMap::from([
        ("uact".to_owned(), 5 * 10_000_000_000_000),
        ("uakt".to_owned(), 5 * 10_000_000_000_000),
    ]);
    assert_eq!(supply, all, "nothing is made or burnt");
    for (denom, amount) in held(chain) {
        let module = balances.get(&(ESCROW.to_owned(), denom.clone())).copied().unwrap_or_default();
        assert!(amount <= module, "escrow owes {amount}{denom} and has {module}");
    }
}

fn cases() -> u32 {
    if std::env::var_os("AKASH_TEST_FULL").is_some() { 512 } else { 24 }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(), ..ProptestConfig::default() })]

    #[test]
    fn coins_are_conserved_and_failures_cost_only_their_fee(
        acts in proptest::collection::vec(act(), 20..80),
    ) {
        let mut world = World::new();
        for act in &acts {
            if let Act::Blocks(count) = act {
                world.chain.skip_to(world.chain.state.height() + count);
                continue;
            }
            let Some((wallet, message)) = world.message(act) else { continue };
            let (payer, tx) = (wallet.text(), world.chain.signed(wallet, &Draft::new(vec![message])));
            let before = (everything(&world.chain), balances(&world.chain));
            let simulated = world.chain.state.simulate(&tx);
            let result = world.chain.state.deliver_tx(&tx);
            prop_assert_eq!(simulated.is_ok(), result.is_ok(), "{}", result.log);
            if !result.is_ok() {
                let after = (everything(&world.chain), balances(&world.chain));
                prop_assert_eq!(&before.0, &after.0, "{}", result.log);
                let mut expected = before.1;
                *expected.get_mut(&(payer, "uakt".to_owned())).unwrap() -= 10_000;
                *expected.entry((FEES.to_owned(), "uakt".to_owned())).or_default() += 10_000;
                prop_assert_eq!(expected, after.1);
            }
            check_coins(&world.chain);
        }
    }

    #[test]
    fn no_bytes_make_it_fall_over(
        bytes in proptest::collection::vec(any::<u8>(), 0..200),
        changes in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
        kind in 0u8..20,
    ) {
        let mut world = World::new();
        let act = Act::Message { kind, tenant: 0, provider: 0, dseq: 1, amount: 600_000 };
        let (wallet, message) = world.message(&act).unwrap();
        let mut changed = message.value.clone();
        for (index, value) in &changes {
            if !changed.is_empty() {
                let at = index.index(changed.len());
                changed[at] = *value;
            }
        }
        let message = Any { value: changed, ..message };
        let mut tx = world.chain.signed(wallet, &Draft::new(vec![message]));
        let state = &mut world.chain.state;
        let _ = state.simulate(&tx);
        let _ = state.clone().check_tx(&tx);
        let _ = state.deliver_tx(&tx);
        for (index, value) in &changes {
            let at = index.index(tx.len());
            tx[at] = *value;
        }
        for bytes in [&tx, &bytes] {
            let _ = state.simulate(bytes);
            let _ = state.clone().check_tx(bytes);
            let _ = state.deliver_tx(bytes);
        }
        check_coins(&world.chain);
    }

    #[test]
    fn no_query_makes_it_fall_over(
        bytes in proptest::collection::vec(any::<u8>(), 0..120),
        changes in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..4),
        path in ".{0,40}",
    ) {
        let world = World::new();
        let tenant = &world.tenants[0];
        let state = &world.chain.state;
        let _ = state.query(&path, &bytes);
        for path in PATHS {
            let _ = state.query(path, &bytes);
            let id = bid_id(tenant, 1, &world.providers[0]);
            let mut request = akash_proto::akash::market::v1beta5::QueryBidRequest { id }.encode_to_vec();
            for (index, value) in &changes {
                let at = index.index(request.len());
                request[at] = *value;
            }
            let _ = state.query(path, &request);
        }
    }
}

const PATHS: [&str; 24] = [
    "/akash.market.v1beta5.Query/Orders",
    "/akash.market.v1beta5.Query/Order",
    "/akash.market.v1beta5.Query/Bids",
    "/akash.market.v1beta5.Query/Bid",
    "/akash.market.v1beta5.Query/Leases",
    "/akash.market.v1beta5.Query/Lease",
    "/akash.market.v1beta5.Query/Params",
    "/akash.deployment.v1beta4.Query/Deployments",
    "/akash.deployment.v1beta4.Query/Deployment",
    "/akash.deployment.v1beta4.Query/Group",
    "/akash.escrow.v1.Query/Accounts",
    "/akash.escrow.v1.Query/Payments",
    "/akash.provider.v1beta4.Query/Providers",
    "/akash.provider.v1beta4.Query/Provider",
    "/akash.audit.v1.Query/ProviderAttributes",
    "/akash.audit.v1.Query/ProviderAuditorAttributes",
    "/akash.cert.v1.Query/Certificates",
    "/cosmos.auth.v1beta1.Query/Account",
    "/cosmos.auth.v1beta1.Query/Accounts",
    "/cosmos.bank.v1beta1.Query/Balance",
    "/cosmos.bank.v1beta1.Query/AllBalances",
    "/cosmos.authz.v1beta1.Query/Grants",
    "/cosmos.authz.v1beta1.Query/GranteeGrants",
    "/cosmos.feegrant.v1beta1.Query/Allowances",
];

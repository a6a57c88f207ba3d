//! The gRPC methods that are asked, with the messages they take and give.

use std::marker::PhantomData;

use akash_proto::akash::{audit, cert, deployment, escrow, market, oracle, provider, verification};
use akash_proto::cosmos::{auth, bank, tx};

/// A gRPC method: where it is, and what goes in and out.
pub(crate) struct Method<Q, A> {
    pub(crate) path: &'static str,
    messages: PhantomData<fn(Q) -> A>,
}

macro_rules! methods {
    ($($name:ident: $path:literal, $request:ty => $response:ty;)+) => {
        $(pub(crate) const $name: Method<$request, $response> =
            Method { path: $path, messages: PhantomData };)+

        /// Path, request and response of each.
        #[cfg(test)]
        fn all() -> Vec<(&'static str, String, String)> {
            use prost::Name;
            vec![$(($path, <$request>::full_name(), <$response>::full_name())),+]
        }
    };
}

methods! {
    ORDERS: "/akash.market.v1beta5.Query/Orders",
        market::v1beta5::QueryOrdersRequest => market::v1beta5::QueryOrdersResponse;
    ORDER: "/akash.market.v1beta5.Query/Order",
        market::v1beta5::QueryOrderRequest => market::v1beta5::QueryOrderResponse;
    BIDS: "/akash.market.v1beta5.Query/Bids",
        market::v1beta5::QueryBidsRequest => market::v1beta5::QueryBidsResponse;
    BID: "/akash.market.v1beta5.Query/Bid",
        market::v1beta5::QueryBidRequest => market::v1beta5::QueryBidResponse;
    LEASES: "/akash.market.v1beta5.Query/Leases",
        market::v1beta5::QueryLeasesRequest => market::v1beta5::QueryLeasesResponse;
    LEASE: "/akash.market.v1beta5.Query/Lease",
        market::v1beta5::QueryLeaseRequest => market::v1beta5::QueryLeaseResponse;
    MARKET_PARAMS: "/akash.market.v1beta5.Query/Params",
        market::v1beta5::QueryParamsRequest => market::v1beta5::QueryParamsResponse;
    VERIFICATION_PARAMS: "/akash.verification.v1.Query/Params",
        verification::v1::QueryParamsRequest => verification::v1::QueryParamsResponse;
    DEPLOYMENTS: "/akash.deployment.v1beta4.Query/Deployments",
        deployment::v1beta4::QueryDeploymentsRequest
            => deployment::v1beta4::QueryDeploymentsResponse;
    DEPLOYMENT: "/akash.deployment.v1beta4.Query/Deployment",
        deployment::v1beta4::QueryDeploymentRequest
            => deployment::v1beta4::QueryDeploymentResponse;
    GROUP: "/akash.deployment.v1beta4.Query/Group",
        deployment::v1beta4::QueryGroupRequest => deployment::v1beta4::QueryGroupResponse;
    DEPLOYMENT_PARAMS: "/akash.deployment.v1beta4.Query/Params",
        deployment::v1beta4::QueryParamsRequest => deployment::v1beta4::QueryParamsResponse;
    ESCROW_ACCOUNTS: "/akash.escrow.v1.Query/Accounts",
        escrow::v1::QueryAccountsRequest => escrow::v1::QueryAccountsResponse;
    ESCROW_PAYMENTS: "/akash.escrow.v1.Query/Payments",
        escrow::v1::QueryPaymentsRequest => escrow::v1::QueryPaymentsResponse;
    PROVIDERS: "/akash.provider.v1beta4.Query/Providers",
        provider::v1beta4::QueryProvidersRequest => provider::v1beta4::QueryProvidersResponse;
    PROVIDER: "/akash.provider.v1beta4.Query/Provider",
        provider::v1beta4::QueryProviderRequest => provider::v1beta4::QueryProviderResponse;
    AUDITS_OF_PROVIDER: "/akash.audit.v1.Query/ProviderAttributes",
        audit::v1::QueryProviderAttributesRequest => audit::v1::QueryProvidersResponse;
    AGGREGATED_PRICE: "/akash.oracle.v2.Query/AggregatedPrice",
        oracle::v2::QueryAggregatedPriceRequest => oracle::v2::QueryAggregatedPriceResponse;
    CERTIFICATES: "/akash.cert.v1.Query/Certificates",
        cert::v1::QueryCertificatesRequest => cert::v1::QueryCertificatesResponse;
    ACCOUNT: "/cosmos.auth.v1beta1.Query/Account",
        auth::v1beta1::QueryAccountRequest => auth::v1beta1::QueryAccountResponse;
    BALANCE: "/cosmos.bank.v1beta1.Query/Balance",
        bank::v1beta1::QueryBalanceRequest => bank::v1beta1::QueryBalanceResponse;
    ALL_BALANCES: "/cosmos.bank.v1beta1.Query/AllBalances",
        bank::v1beta1::QueryAllBalancesRequest => bank::v1beta1::QueryAllBalancesResponse;
    SPENDABLE_BALANCES: "/cosmos.bank.v1beta1.Query/SpendableBalances",
        bank::v1beta1::QuerySpendableBalancesRequest
            => bank::v1beta1::QuerySpendableBalancesResponse;
    SIMULATE: "/cosmos.tx.v1beta1.Service/Simulate",
        tx::v1beta1::SimulateRequest => tx::v1beta1::SimulateResponse;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_method_is_in_the_proto_files_with_these_messages() {
        let pool = prost_reflect::DescriptorPool::decode(akash_proto::FILE_DESCRIPTOR_SET).unwrap();
        for (path, request, response) in all() {
            let (service, name) = path.trim_start_matches('/').split_once('/').unwrap();
            let service = pool.get_service_by_name(service).expect(path);
            let method = service.methods().find(|method| method.name() == name).expect(path);
            assert_eq!(method.input().full_name(), request, "{path}");
            assert_eq!(method.output().full_name(), response, "{path}");
        }
    }
}

//! Which path of the REST API is which gRPC method: the `google.api.http` annotations of a real
//! node, which our .proto files leave out.

use percent_encoding::percent_decode_str;

/// Where the fields of a request come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verb {
    Get,
    Post,
}

use Verb::{Get, Post};

/// A path and the method that it stands for. A part in braces is a field of the request; one with
/// `=**` takes the rest of the path.
pub(super) struct Route {
    verb: Verb,
    template: &'static str,
    pub(super) method: &'static str,
}

const fn route(verb: Verb, template: &'static str, method: &'static str) -> Route {
    Route { verb, template, method }
}

/// The first that matches counts, so fixed parts come before fields.
#[rustfmt::skip]
pub(super) const ROUTES: &[Route] = &[
    route(Get, "/akash/audit/v1/audit/attributes/list", "/akash.audit.v1.Query/AllProvidersAttributes"),
    route(Get, "/akash/audit/v1/audit/attributes/{owner}/list", "/akash.audit.v1.Query/ProviderAttributes"),
    route(Get, "/akash/audit/v1/audit/attributes/{auditor}/{owner}", "/akash.audit.v1.Query/ProviderAuditorAttributes"),
    route(Get, "/akash/provider/v1/auditor/{auditor}/list", "/akash.audit.v1.Query/AuditorAttributes"),
    route(Get, "/akash/cert/v1/certificates/list", "/akash.cert.v1.Query/Certificates"),
    route(Get, "/akash/deployment/v1beta4/deployments/list", "/akash.deployment.v1beta4.Query/Deployments"),
    route(Get, "/akash/deployment/v1beta4/deployments/info", "/akash.deployment.v1beta4.Query/Deployment"),
    route(Get, "/akash/deployment/v1beta4/groups/info", "/akash.deployment.v1beta4.Query/Group"),
    route(Get, "/akash/deployment/v1beta4/params", "/akash.deployment.v1beta4.Query/Params"),
    route(Get, "/akash/discovery/v1/info", "/akash.discovery.v1.Discovery/GetInfo"),
    route(Get, "/akash/escrow/v1/types/accounts", "/akash.escrow.v1.Query/Accounts"),
    route(Get, "/akash/escrow/v1/types/payments", "/akash.escrow.v1.Query/Payments"),
    route(Get, "/akash/market/v1beta5/orders/list", "/akash.market.v1beta5.Query/Orders"),
    route(Get, "/akash/market/v1beta5/orders/info", "/akash.market.v1beta5.Query/Order"),
    route(Get, "/akash/market/v1beta5/bids/list", "/akash.market.v1beta5.Query/Bids"),
    route(Get, "/akash/market/v1beta5/bids/info", "/akash.market.v1beta5.Query/Bid"),
    route(Get, "/akash/market/v1beta5/leases/list", "/akash.market.v1beta5.Query/Leases"),
    route(Get, "/akash/market/v1beta5/leases/info", "/akash.market.v1beta5.Query/Lease"),
    route(Get, "/akash/market/v1beta5/params", "/akash.market.v1beta5.Query/Params"),
    route(Get, "/akash/oracle/v2/aggregated_price/{denom=**}", "/akash.oracle.v2.Query/AggregatedPrice"),
    route(Get, "/akash/provider/v1beta4/providers", "/akash.provider.v1beta4.Query/Providers"),
    route(Get, "/akash/provider/v1beta4/providers/{owner}", "/akash.provider.v1beta4.Query/Provider"),
    route(Get, "/cosmos/auth/v1beta1/accounts", "/cosmos.auth.v1beta1.Query/Accounts"),
    route(Get, "/cosmos/auth/v1beta1/accounts/{address}", "/cosmos.auth.v1beta1.Query/Account"),
    route(Get, "/cosmos/auth/v1beta1/account_info/{address}", "/cosmos.auth.v1beta1.Query/AccountInfo"),
    route(Get, "/cosmos/auth/v1beta1/address_by_id/{id}", "/cosmos.auth.v1beta1.Query/AccountAddressByID"),
    route(Get, "/cosmos/auth/v1beta1/params", "/cosmos.auth.v1beta1.Query/Params"),
    route(Get, "/cosmos/auth/v1beta1/module_accounts", "/cosmos.auth.v1beta1.Query/ModuleAccounts"),
    route(Get, "/cosmos/auth/v1beta1/module_accounts/{name}", "/cosmos.auth.v1beta1.Query/ModuleAccountByName"),
    route(Get, "/cosmos/auth/v1beta1/bech32", "/cosmos.auth.v1beta1.Query/Bech32Prefix"),
    route(Get, "/cosmos/auth/v1beta1/bech32/{address_string}", "/cosmos.auth.v1beta1.Query/AddressStringToBytes"),
    route(Get, "/cosmos/authz/v1beta1/grants", "/cosmos.authz.v1beta1.Query/Grants"),
    route(Get, "/cosmos/authz/v1beta1/grants/granter/{granter}", "/cosmos.authz.v1beta1.Query/GranterGrants"),
    route(Get, "/cosmos/authz/v1beta1/grants/grantee/{grantee}", "/cosmos.authz.v1beta1.Query/GranteeGrants"),
    route(Get, "/cosmos/bank/v1beta1/balances/{address}", "/cosmos.bank.v1beta1.Query/AllBalances"),
    route(Get, "/cosmos/bank/v1beta1/balances/{address}/by_denom", "/cosmos.bank.v1beta1.Query/Balance"),
    route(Get, "/cosmos/bank/v1beta1/spendable_balances/{address}", "/cosmos.bank.v1beta1.Query/SpendableBalances"),
    route(Get, "/cosmos/bank/v1beta1/spendable_balances/{address}/by_denom", "/cosmos.bank.v1beta1.Query/SpendableBalanceByDenom"),
    route(Get, "/cosmos/bank/v1beta1/supply", "/cosmos.bank.v1beta1.Query/TotalSupply"),
    route(Get, "/cosmos/bank/v1beta1/supply/by_denom", "/cosmos.bank.v1beta1.Query/SupplyOf"),
    route(Get, "/cosmos/bank/v1beta1/params", "/cosmos.bank.v1beta1.Query/Params"),
    route(Get, "/cosmos/bank/v1beta1/denoms_metadata", "/cosmos.bank.v1beta1.Query/DenomsMetadata"),
    route(Get, "/cosmos/bank/v1beta1/denoms_metadata/{denom=**}", "/cosmos.bank.v1beta1.Query/DenomMetadata"),
    route(Get, "/cosmos/base/tendermint/v1beta1/node_info", "/cosmos.base.tendermint.v1beta1.Service/GetNodeInfo"),
    route(Get, "/cosmos/base/tendermint/v1beta1/syncing", "/cosmos.base.tendermint.v1beta1.Service/GetSyncing"),
    route(Get, "/cosmos/base/tendermint/v1beta1/blocks/latest", "/cosmos.base.tendermint.v1beta1.Service/GetLatestBlock"),
    route(Get, "/cosmos/base/tendermint/v1beta1/blocks/{height}", "/cosmos.base.tendermint.v1beta1.Service/GetBlockByHeight"),
    route(Get, "/cosmos/base/tendermint/v1beta1/validatorsets/latest", "/cosmos.base.tendermint.v1beta1.Service/GetLatestValidatorSet"),
    route(Get, "/cosmos/base/tendermint/v1beta1/validatorsets/{height}", "/cosmos.base.tendermint.v1beta1.Service/GetValidatorSetByHeight"),
    route(Get, "/cosmos/base/tendermint/v1beta1/abci_query", "/cosmos.base.tendermint.v1beta1.Service/ABCIQuery"),
    route(Get, "/cosmos/feegrant/v1beta1/allowance/{granter}/{grantee}", "/cosmos.feegrant.v1beta1.Query/Allowance"),
    route(Get, "/cosmos/feegrant/v1beta1/allowances/{grantee}", "/cosmos.feegrant.v1beta1.Query/Allowances"),
    route(Get, "/cosmos/feegrant/v1beta1/issued/{granter}", "/cosmos.feegrant.v1beta1.Query/AllowancesByGranter"),
    route(Get, "/cosmos/tx/v1beta1/txs", "/cosmos.tx.v1beta1.Service/GetTxsEvent"),
    route(Get, "/cosmos/tx/v1beta1/txs/block/{height}", "/cosmos.tx.v1beta1.Service/GetBlockWithTxs"),
    route(Get, "/cosmos/tx/v1beta1/txs/{hash}", "/cosmos.tx.v1beta1.Service/GetTx"),
    route(Post, "/cosmos/tx/v1beta1/txs", "/cosmos.tx.v1beta1.Service/BroadcastTx"),
    route(Post, "/cosmos/tx/v1beta1/simulate", "/cosmos.tx.v1beta1.Service/Simulate"),
    route(Post, "/cosmos/tx/v1beta1/decode", "/cosmos.tx.v1beta1.Service/TxDecode"),
    route(Post, "/cosmos/tx/v1beta1/encode", "/cosmos.tx.v1beta1.Service/TxEncode"),
];

/// The method of a path, and the fields that the path has.
pub(super) fn find(verb: Verb, path: &str) -> Option<(&'static Route, Vec<(String, String)>)> {
    ROUTES
        .iter()
        .filter(|route| route.verb == verb)
        .find_map(|route| Some((route, matched(route.template, path)?)))
}

fn matched(template: &str, path: &str) -> Option<Vec<(String, String)>> {
    let mut fields = Vec::new();
    let mut rest = path.strip_prefix('/')?;
    for part in template.trim_start_matches('/').split('/') {
        let field = part.strip_prefix('{').and_then(|part| part.strip_suffix('}'));
        if let Some(name) = field.and_then(|field| field.strip_suffix("=**")) {
            fields.push((name.to_owned(), decoded(rest)));
            return (!rest.is_empty()).then_some(fields);
        }
        let (segment, after) = rest.split_once('/').map_or((rest, None), |(a, b)| (a, Some(b)));
        match field {
            Some(name) if !segment.is_empty() => fields.push((name.to_owned(), decoded(segment))),
            None if segment == part => {}
            _ => return None,
        }
        // A further part of the template finds nothing left, and so does not match.
        rest = after.unwrap_or("\0");
    }
    (rest == "\0").then_some(fields)
}

fn decoded(text: &str) -> String {
    percent_decode_str(text).decode_utf8_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::server::services::SERVED;

    fn found(path: &str) -> Option<(&'static str, Vec<(String, String)>)> {
        find(Get, path).map(|(route, fields)| (route.method, fields))
    }

    fn fields<const N: usize>(fields: [(&str, &str); N]) -> Vec<(String, String)> {
        fields.map(|(name, value)| (name.to_owned(), value.to_owned())).into()
    }

    #[test]
    fn fixed_parts_come_before_fields() {
        let audit = "/akash/audit/v1/audit/attributes";
        let query = |method: &'static str, of: Vec<(String, String)>| Some((method, of));
        assert_eq!(
            found(&format!("{audit}/list")),
            query("/akash.audit.v1.Query/AllProvidersAttributes", vec![])
        );
        assert_eq!(
            found(&format!("{audit}/a/list")),
            query("/akash.audit.v1.Query/ProviderAttributes", fields([("owner", "a")]))
        );
        assert_eq!(
            found(&format!("{audit}/a/b")),
            query(
                "/akash.audit.v1.Query/ProviderAuditorAttributes",
                fields([("auditor", "a"), ("owner", "b")])
            )
        );
        let blocks = "/cosmos/base/tendermint/v1beta1/blocks";
        assert_eq!(
            found(&format!("{blocks}/latest")).map(|it| it.0),
            Some("/cosmos.base.tendermint.v1beta1.Service/GetLatestBlock")
        );
        assert_eq!(
            found("/cosmos/bank/v1beta1/denoms_metadata/ibc/1%32/3"),
            query("/cosmos.bank.v1beta1.Query/DenomMetadata", fields([("denom", "ibc/12/3")]))
        );
    }

    #[test]
    fn other_paths_lead_nowhere() {
        for path in [
            "",
            "/",
            "/akash",
            "/akash/cert/v1/certificates/list/",
            "/akash/cert/v1/certificates/list/more",
            "//akash/cert/v1/certificates/list",
            "/akash/provider/v1beta4/providers/",
            "/akash/escrow/v1/types/accounts/open",
            "/cosmos/bank/v1beta1/denoms_metadata/",
            "/cosmos/tx/v1beta1/simulate",
        ] {
            assert_eq!(found(path), None, "{path}");
        }
        assert!(find(Post, "/cosmos/tx/v1beta1/simulate").is_some());
    }

    #[test]
    fn every_route_is_of_a_method_that_is_served_and_of_fields_that_it_has() {
        for route in ROUTES {
            let service = route.method.trim_start_matches('/').split('/').next().unwrap();
            assert!(SERVED.contains(&service), "{}", route.method);
            let empty = akash_json::Parameters::of(route.method).unwrap().encode();
            for part in route.template.split('/').filter_map(|part| part.strip_prefix('{')) {
                let name = part.trim_end_matches('}').trim_end_matches("=**");
                let mut one = akash_json::Parameters::of(route.method).unwrap();
                one.path(name, "1").unwrap();
                assert_ne!(one.encode(), empty, "{} has no {name}", route.method);
            }
        }
    }
}

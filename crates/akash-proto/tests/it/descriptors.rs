//! What the .proto files declare, against the numbers that the chain and its clients use.

use std::collections::BTreeSet;

use prost_reflect::{FieldDescriptor, Kind};

use crate::common::{message, pool};

#[test]
fn every_package_of_the_protocol_is_here() {
    let found: BTreeSet<String> =
        pool().files().map(|file| file.package_name().to_owned()).collect();
    let expected = [
        "akash.audit.v1",
        "akash.base.attributes.v1",
        "akash.base.deposit.v1",
        "akash.base.resources.v1beta4",
        "akash.cert.v1",
        "akash.deployment.v1",
        "akash.deployment.v1beta4",
        "akash.discovery.v1",
        "akash.escrow.id.v1",
        "akash.escrow.types.v1",
        "akash.escrow.v1",
        "akash.inventory.v1",
        "akash.manifest.v2beta3",
        "akash.market.v1",
        "akash.market.v1beta5",
        "akash.oracle.v2",
        "akash.provider.lease.v1",
        "akash.provider.v1",
        "akash.provider.v1beta4",
        "akash.take.v1",
        "akash.verification.v1",
        "cosmos.auth.v1beta1",
        "cosmos.authz.v1beta1",
        "cosmos.bank.v1beta1",
        "cosmos.base.abci.v1beta1",
        "cosmos.base.query.v1beta1",
        "cosmos.base.tendermint.v1beta1",
        "cosmos.base.v1beta1",
        "cosmos.crypto.ed25519",
        "cosmos.crypto.hd.v1",
        "cosmos.crypto.keyring.v1",
        "cosmos.crypto.multisig",
        "cosmos.crypto.multisig.v1beta1",
        "cosmos.crypto.secp256k1",
        "cosmos.feegrant.v1beta1",
        "cosmos.tx.signing.v1beta1",
        "cosmos.tx.v1beta1",
        "cosmos.vesting.v1beta1",
        "google.protobuf",
        "k8s.io.apimachinery.pkg.api.resource",
        "tendermint.abci",
        "tendermint.crypto",
        "tendermint.p2p",
        "tendermint.types",
        "tendermint.version",
    ];
    assert_eq!(found, expected.map(str::to_owned).into());
}

/// `[]` for repeated, then the scalar or the full name.
fn type_of(field: &FieldDescriptor) -> String {
    let one = match field.kind() {
        Kind::Message(message) => message.full_name().to_owned(),
        Kind::Enum(enumeration) => enumeration.full_name().to_owned(),
        scalar => format!("{scalar:?}"),
    };
    if field.is_list() { format!("[]{one}") } else { one }
}

#[test]
fn fields_that_are_easy_to_get_wrong() {
    let fields = [
        ("akash.base.deposit.v1.Deposit", "sources", 5, "[]akash.base.deposit.v1.Source"),
        ("akash.base.resources.v1beta4.ResourceValue", "val", 1, "bytes"),
        ("akash.deployment.v1beta4.MsgUpdateDeployment", "hash", 3, "bytes"),
        ("akash.deployment.v1beta4.GroupFilters", "gseq", 3, "uint64"),
        ("akash.deployment.v1beta4.Group", "group_spec", 3, "akash.deployment.v1beta4.GroupSpec"),
        ("akash.market.v1.LeaseFilters", "bseq", 7, "uint32"),
        ("akash.market.v1.LeaseFilters", "state", 6, "string"),
        ("akash.market.v1.EventBidCreated", "price", 3, "cosmos.base.v1beta1.DecCoin"),
        ("akash.market.v1.EventLeaseCreated", "price", 3, "cosmos.base.v1beta1.DecCoin"),
        ("akash.market.v1beta5.MsgCreateLease", "bid_id", 1, "akash.market.v1.BidID"),
        ("akash.market.v1beta5.MsgCloseBid", "reason", 2, "akash.market.v1.LeaseClosedReason"),
        ("akash.market.v1beta5.OfferPrices", "cpu", 2, "cosmos.base.v1beta1.DecCoin"),
        ("akash.market.v1beta5.OrderFilters", "state", 5, "string"),
        ("akash.audit.v1.AuditedProvider", "attributes", 4, "[]akash.base.attributes.v1.Attribute"),
        ("akash.audit.v1.QueryProviderAuditorRequest", "auditor", 1, "string"),
        ("akash.cert.v1.Certificate", "state", 2, "akash.cert.v1.State"),
        (
            "akash.escrow.v1.QueryAccountsRequest",
            "pagination",
            5,
            "cosmos.base.query.v1beta1.PageRequest",
        ),
        (
            "akash.escrow.v1.QueryPaymentsRequest",
            "pagination",
            6,
            "cosmos.base.query.v1beta1.PageRequest",
        ),
        (
            "akash.inventory.v1.ResourcePair",
            "capacity",
            4,
            "k8s.io.apimachinery.pkg.api.resource.Quantity",
        ),
        (
            "akash.manifest.v2beta3.ServiceParams",
            "credentials",
            10,
            "akash.manifest.v2beta3.ImageCredentials",
        ),
        ("akash.manifest.v2beta3.ServiceParams", "tee", 12, "akash.manifest.v2beta3.TEEParams"),
        ("akash.manifest.v2beta3.ServiceExpose", "endpoint_sequence_number", 9, "uint32"),
        ("cosmos.tx.v1beta1.TxBody", "extension_options", 1023, "[]google.protobuf.Any"),
        (
            "cosmos.tx.v1beta1.TxBody",
            "non_critical_extension_options",
            2047,
            "[]google.protobuf.Any",
        ),
        ("cosmos.tx.v1beta1.TxBody", "timeout_timestamp", 5, "google.protobuf.Timestamp"),
        ("cosmos.tx.v1beta1.ModeInfo.Multi", "mode_infos", 2, "[]cosmos.tx.v1beta1.ModeInfo"),
        ("cosmos.base.abci.v1beta1.TxResponse", "events", 13, "[]tendermint.abci.Event"),
        ("cosmos.base.abci.v1beta1.TxResponse", "data", 5, "string"),
        ("cosmos.crypto.keyring.v1.Record", "local", 3, "cosmos.crypto.keyring.v1.Record.Local"),
        ("cosmos.bank.v1beta1.MsgSend", "amount", 3, "[]cosmos.base.v1beta1.Coin"),
        ("cosmos.base.tendermint.v1beta1.Header", "proposer_address", 14, "string"),
        ("tendermint.types.Header", "proposer_address", 14, "bytes"),
    ];
    for (name, field, number, kind) in fields {
        let found = message(name)
            .get_field_by_name(field)
            .unwrap_or_else(|| panic!("{name} has no field {field}"));
        assert_eq!((found.number(), type_of(&found).as_str()), (number, kind), "{name}.{field}");
    }
}

#[test]
fn retired_numbers_are_reserved() {
    let reserved: [(&str, &[u32]); 2] =
        [("akash.base.deposit.v1.Deposit", &[2, 3, 4]), ("akash.market.v1beta5.OfferPrices", &[1])];
    for (name, numbers) in reserved {
        let ranges: Vec<_> = message(name).reserved_ranges().collect();
        for number in numbers {
            assert!(ranges.iter().any(|range| range.contains(number)), "{name} {number}");
        }
    }
}

#[test]
fn enums_have_the_numbers_of_the_chain() {
    let enums: [(&str, &[(&str, i32)]); 5] = [
        (
            "akash.market.v1.LeaseClosedReason",
            &[
                ("lease_closed_invalid", 0),
                ("lease_closed_owner", 1),
                ("lease_closed_reason_unstable", 10_000),
                ("lease_closed_reason_decommission", 10_001),
                ("lease_closed_reason_unspecified", 10_002),
                ("lease_closed_reason_manifest_timeout", 10_003),
                ("lease_closed_reason_insufficient_funds", 20_000),
            ],
        ),
        (
            "akash.market.v1.Lease.State",
            &[
                ("invalid", 0),
                ("active", 1),
                ("insufficient_funds", 2),
                ("closed", 3),
                ("reclaiming", 4),
            ],
        ),
        (
            "akash.market.v1beta5.Bid.State",
            &[("invalid", 0), ("open", 1), ("active", 2), ("lost", 3), ("closed", 4)],
        ),
        (
            "akash.base.resources.v1beta4.Endpoint.Kind",
            &[("SHARED_HTTP", 0), ("RANDOM_PORT", 1), ("LEASED_IP", 2)],
        ),
        (
            "cosmos.tx.signing.v1beta1.SignMode",
            &[
                ("SIGN_MODE_UNSPECIFIED", 0),
                ("SIGN_MODE_DIRECT", 1),
                ("SIGN_MODE_TEXTUAL", 2),
                ("SIGN_MODE_DIRECT_AUX", 3),
                ("SIGN_MODE_LEGACY_AMINO_JSON", 127),
                ("SIGN_MODE_EIP_191", 191),
            ],
        ),
    ];
    for (name, expected) in enums {
        let found: Vec<(String, i32)> = pool()
            .get_enum_by_name(name)
            .unwrap_or_else(|| panic!("no enum {name}"))
            .values()
            .map(|value| (value.name().to_owned(), value.number()))
            .collect();
        let expected: Vec<_> = expected.iter().map(|(n, v)| ((*n).to_owned(), *v)).collect();
        assert_eq!(found, expected, "{name}");
    }
}

#[test]
fn services_offer_their_methods() {
    let services: [(&str, &[&str]); 6] = [
        (
            "akash.provider.v1.ProviderRPC",
            &["GetStatus", "StreamStatus:stream", "BidScreening", "ValidateGroupSpec"],
        ),
        (
            "akash.provider.lease.v1.LeaseRPC",
            &[
                "SendManifest",
                "ServiceStatus",
                "StreamServiceStatus:stream",
                "ServiceLogs",
                "StreamServiceLogs:stream",
                "AttestationQuote",
            ],
        ),
        ("akash.inventory.v1.ClusterRPC", &["QueryCluster", "StreamCluster:stream"]),
        ("akash.inventory.v1.NodeRPC", &["QueryNode", "StreamNode:stream"]),
        (
            "akash.market.v1beta5.Msg",
            &[
                "CreateBid",
                "CloseBid",
                "WithdrawLease",
                "CreateLease",
                "CloseLease",
                "LeaseStartReclaim",
                "UpdateParams",
            ],
        ),
        (
            "cosmos.tx.v1beta1.Service",
            &[
                "Simulate",
                "GetTx",
                "BroadcastTx",
                "GetTxsEvent",
                "GetBlockWithTxs",
                "TxDecode",
                "TxEncode",
                "TxEncodeAmino",
                "TxDecodeAmino",
            ],
        ),
    ];
    for (name, expected) in services {
        let service = pool().get_service_by_name(name).unwrap_or_else(|| panic!("no {name}"));
        let found: Vec<String> = service
            .methods()
            .map(|method| {
                let stream = if method.is_server_streaming() { ":stream" } else { "" };
                format!("{}{stream}", method.name())
            })
            .collect();
        assert_eq!(found, expected, "{name}");
    }
}

#[test]
fn descriptors_carry_no_comments() {
    assert!(pool().file_descriptor_protos().all(|file| file.source_code_info.is_none()));
}

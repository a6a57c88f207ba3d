//! Who the provider is, which chain it is on, and how its transactions are made.

use crate::config::setting::Setting;

const CONFIRMED: &str =
    "transactions are broadcast without waiting and confirmed from the blocks that are read";
const ASKED: &str = "it is asked from the chain, which knows better after a restart";

pub(super) const SETTINGS: &[Setting] = &[
    Setting::new("from", "KEY", "", "Name or address of the key that signs"),
    Setting::new(
        "authz-provider",
        "ADDRESS",
        "",
        "Account of the provider, where --from only acts for it by authz grants",
    ),
    Setting::new(
        "home",
        "DIR",
        "",
        "Directory of keyring, certificate, store and socket [default: $HOME/.akash]",
    )
    .not_in_file(),
    Setting::new("keyring-backend", "BACKEND", "os", "How keys are kept: os, file, test or memory"),
    Setting::new("keyring-dir", "DIR", "", "Directory of the keyring [default: --home]"),
    Setting::new("chain-id", "ID", "", "The chain that the provider is on"),
    Setting::list(
        "node",
        "URL",
        "http://localhost:26657",
        "RPC addresses of nodes, with commas between; all are used as long as they are well",
    )
    .secret(),
    Setting::new(
        "node-ca",
        "FILE",
        "",
        "Authorities that vouch for nodes, in PEM, instead of the system's; read again when it changes",
    ),
    Setting::new(
        "node-cert",
        "FILE",
        "",
        "Certificate that is shown to nodes, in PEM; read again when it changes",
    ),
    Setting::new("node-key", "FILE", "", "Its key, in PEM"),
    Setting::new(
        "grpc-addr",
        "ADDRESS",
        "",
        "Address of the node's gRPC port, for queries; without effect where --node names several",
    ),
    Setting::switch("grpc-insecure", "false", "Talk gRPC in the clear"),
    Setting::new(
        "gas",
        "GAS",
        "auto",
        "Gas limit of a transaction; auto takes what a simulation uses, times --gas-adjustment",
    ),
    Setting::new(
        "gas-adjustment",
        "FACTOR",
        "",
        "By how much the gas limit exceeds what a simulation uses [default: 1.3]",
    ),
    Setting::new(
        "gas-prices",
        "COINS",
        "",
        "Price of a unit of gas [default: 0.025uakt, unless --fees is given]",
    ),
    Setting::new(
        "fees",
        "COINS",
        "",
        "What is paid for a whole transaction, instead of a price for gas",
    ),
    Setting::new("fee-granter", "ADDRESS", "", "Account that pays fees by a grant"),
    Setting::new("note", "TEXT", "", "A note in every transaction that everyone can read on chain"),
    Setting::new("sign-mode", "MODE", "direct", "How transactions are signed: direct"),
    Setting::new(
        "rpc-query-timeout",
        "SPAN",
        "1m",
        "How long an answer of a node is waited for, 1m30s at most",
    ),
    Setting::new("broadcast-mode", "MODE", "sync", "sync, async or block").unused(CONFIRMED),
    Setting::new("tx-broadcast-timeout", "SPAN", "30s", "How long a broadcast may take")
        .unused(CONFIRMED),
    Setting::new("account-number", "N", "0", "Number of the account").unused(ASKED),
    Setting::new("sequence", "N", "0", "Sequence of the account").unused(ASKED),
    Setting::new(
        "timeout-height",
        "HEIGHT",
        "0",
        "Last height at which a transaction may be included",
    )
    .unused("each transaction gets one of its own, ten blocks after it is sent"),
    Setting::new("timeout-duration", "SPAN", "0", "As --timeout-height")
        .unused("transactions time out by height"),
    Setting::new("fee-payer", "ADDRESS", "", "Account that pays fees")
        .unused("the key that signs pays, or --fee-granter"),
    Setting::new("tip", "COINS", "", "A tip").unused("the chain takes none"),
    Setting::switch("aux", "false", "Sign for somebody else's transaction")
        .unused("the provider sends its own"),
    Setting::switch("unordered", "false", "Send without a sequence")
        .unused("sequences keep transactions in order"),
    Setting::switch("yes", "false", "Accepted: the provider never asks before signing"),
    Setting::new("output", "FORMAT", "json", "Format of results")
        .unused("the provider logs; see --log_format"),
    Setting::switch(
        "dry-run",
        "false",
        "Refused: --check looks at everything without doing anything",
    )
    .not_in_file(),
    Setting::switch("generate-only", "false", "Refused, as --dry-run").not_in_file(),
    Setting::switch("offline", "false", "Refused, as --dry-run").not_in_file(),
    Setting::switch("ledger", "false", "Refused: nobody is there to press the button"),
];

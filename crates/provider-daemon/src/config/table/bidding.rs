//! What is bid on, and at what price.

use crate::config::setting::Setting;

pub(super) const SETTINGS: &[Setting] = &[
    Setting::new(
        "bid-price-strategy",
        "STRATEGY",
        "scale",
        "How prices are made: scale, randomRange or shellScript",
    )
    .live(),
    Setting::new(
        "bid-price-cpu-scale",
        "DECIMAL",
        "0",
        "Price of a thousandth of a core, per block",
    )
    .live(),
    Setting::new("bid-price-memory-scale", "DECIMAL", "0", "Price of a MiB of memory, per block")
        .live(),
    Setting::list(
        "bid-price-storage-scale",
        "DECIMALS",
        "0",
        "Price of a MiB of storage, per block: X for ephemeral, CLASS=X for a class",
    )
    .live(),
    Setting::new("bid-price-endpoint-scale", "DECIMAL", "0", "Price of an endpoint, per block")
        .live(),
    Setting::new("bid-price-ip-scale", "DECIMAL", "0", "Price of a leased address, per block")
        .live(),
    Setting::new(
        "bid-price-script-path",
        "FILE",
        "",
        "Program that is asked for prices, with shellScript",
    )
    .live(),
    Setting::new("bid-price-script-process-limit", "N", "32", "How many such programs run at once")
        .live(),
    Setting::new("bid-price-script-process-timeout", "SPAN", "10s", "How long one may take").live(),
    Setting::new(
        "bid-deposit",
        "COIN",
        "500000uakt",
        "What is put up for each bid, from the balance",
    )
    .live(),
    Setting::new("bid-timeout", "SPAN", "5m", "Close a bid that got no lease by then; 0 is never")
        .live(),
    Setting::new(
        "manifest-timeout",
        "SPAN",
        "5m",
        "Close a lease whose tenant sent no manifest by then; 0 is never",
    )
    .live(),
    Setting::new(
        "lost-manifest-patience",
        "SPAN",
        "24h",
        "How long a lease that lost its workload waits for its manifest to be sent again",
    )
    .live(),
    Setting::new(
        "reclamation-window",
        "SPAN",
        "0",
        "How long a lease runs on after its end is announced, as offered in bids; 0 is none",
    )
    .live(),
    Setting::list(
        "policy-price-floor",
        "COINS",
        "",
        "Least price per block to bid for, one per denomination",
    )
    .live(),
    Setting::list(
        "policy-price-denoms",
        "DENOMS",
        "",
        "Bid on orders that pay in these denominations only",
    )
    .live(),
    Setting::list("policy-allow-owners", "ADDRESSES", "", "Bid on orders of these tenants only")
        .live(),
    Setting::list("policy-deny-owners", "ADDRESSES", "", "Never bid on orders of these tenants")
        .live(),
    Setting::new(
        "policy-open-bids-per-owner",
        "N",
        "",
        "How many bids on orders of one tenant may be open",
    )
    .live(),
    Setting::new("policy-daily-fees", "COIN", "", "What bids may cost in fees each day").live(),
    Setting::switch("policy-pause", "false", "Bid on nothing").live(),
];

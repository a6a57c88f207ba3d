//! Every setting there is. Names and defaults are those of the Go program where it has them.

mod account;
mod bidding;
mod cluster;
mod gateway;
mod operation;

use super::setting::Setting;

/// Settings that belong together, under a heading of the help.
pub type Section = (&'static str, &'static [Setting]);

/// Every setting, by section.
pub const SECTIONS: &[Section] = &[
    ("Account and transactions", account::SETTINGS),
    ("Bids and prices", bidding::SETTINGS),
    ("Cluster", cluster::SETTINGS),
    ("Gateway and certificates", gateway::SETTINGS),
    ("Operation", operation::SETTINGS),
];

pub fn settings() -> impl Iterator<Item = &'static Setting> {
    SECTIONS.iter().flat_map(|(_, settings)| *settings)
}

/// The setting that `key` of provider.yaml names: case, dashes, underscores and dots do not
/// matter, so that `bidpricecpuscale` and `bid_price_cpu_scale` are the flag `bid-price-cpu-scale`.
pub fn setting_of_key(key: &str) -> Option<&'static Setting> {
    let bare = |text: &str| text.to_ascii_lowercase().replace(['-', '_', '.'], "");
    let wanted = bare(key);
    settings().find(|setting| bare(setting.name) == wanted)
}

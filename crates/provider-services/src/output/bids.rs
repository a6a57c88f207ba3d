//! Bids on a group, for who is to choose.

use akash_types::DecCoin;

use super::table::Table;
use super::{Palette, WIDTH, amount, printable};

const INDENT: &str = "  ";

#[derive(Clone, Debug)]
pub(crate) struct BidRow {
    pub(crate) provider: String,
    /// Per block.
    pub(crate) price: DecCoin,
    /// In whole coins; may be empty.
    pub(crate) per_month: String,
    /// What the provider says of itself, each `key=value`.
    pub(crate) attributes: Vec<String>,
}

/// The bids on a group, numbered from 1 in the given order.
pub(crate) fn render_bids(group: &str, rows: &[BidRow], palette: &Palette) -> String {
    let mut table = Table::new(&["#", "PER MONTH", "PER BLOCK", "PROVIDER"]);
    for (index, row) in rows.iter().enumerate() {
        let attributes = printable(&row.attributes.join(", "));
        let mut provider = vec![row.provider.clone()];
        provider.extend((!attributes.is_empty()).then_some(attributes));
        table.push(vec![
            vec![(index + 1).to_string()],
            vec![row.per_month.clone()],
            vec![amount::price(&row.price)],
            provider,
        ]);
    }
    let strong = palette.strong;
    let group = printable(group);
    format!("\n{strong}Bids on group {group}{strong:#}\n{}\n", table.render(INDENT, WIDTH, palette))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bids_fit_and_addresses_stay_whole() {
        let row = |attributes: &[&str]| BidRow {
            provider: "akash1rhal6a4vawtnwex8nda7u6tueeesllpeagpdq8".to_owned(),
            price: "12.5uact".parse().unwrap(),
            per_month: "5.48 act".to_owned(),
            attributes: attributes.iter().map(|text| (*text).to_owned()).collect(),
        };
        let rows = [
            row(&["region=eu-west", "tier=community", "capabilities/gpu/vendor/nvidia=true"]),
            row(&[]),
        ];
        let text = render_bids("west", &rows, &Palette::PLAIN);
        assert_eq!(
            text,
            "
Bids on group west
  #  PER MONTH  PER BLOCK  PROVIDER
  1  5.48 act   12.5uact   akash1rhal6a4vawtnwex8nda7u6tueeesllpeagpdq8
                           region=eu-west, tier=community,
                           capabilities/gpu/vendor/nvidia=true
  2  5.48 act   12.5uact   akash1rhal6a4vawtnwex8nda7u6tueeesllpeagpdq8

"
        );
        assert!(text.lines().all(|line| line.chars().count() <= WIDTH), "{text}");
    }
}

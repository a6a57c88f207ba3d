//! Bids on a group, for who is to choose.

use akash_types::DecCoin;

use super::table::Table;
use super::{Palette, WIDTH, printable};

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
            vec![price(&row.price)],
            provider,
        ]);
    }
    let strong = palette.strong;
    let group = printable(group);
    format!("\n{strong}Bids on group {group}{strong:#}\n{}\n", table.render(INDENT, WIDTH, palette))
}

const BINARY: [&str; 7] = ["", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"];
const DECIMAL: [&str; 7] = ["", "k", "M", "G", "T", "P", "E"];

/// Bytes in the largest unit that leaves no fraction: `512Mi`, `10G`, `1234`.
pub(super) fn bytes(count: u64) -> String {
    let (binary, decimal) = (whole(count, 1024, &BINARY), whole(count, 1000, &DECIMAL));
    // Both are exact; the shorter one is the one that was written.
    if decimal.len() < binary.len() { decimal } else { binary }
}

fn whole(mut count: u64, step: u64, units: &[&str]) -> String {
    let mut unit = "";
    for name in units {
        unit = name;
        if count == 0 || !count.is_multiple_of(step) {
            break;
        }
        count /= step;
    }
    format!("{count}{unit}")
}

/// Thousandths of a core as cores: `0.5`, `16`.
pub(super) fn cores(thousandths: u64) -> String {
    without_zeros(&format!("{}.{:03}", thousandths / 1000, thousandths % 1000)).to_owned()
}

/// A price without the zeros that fill its 18 places: `1000uact`, `0.5uact`.
pub(super) fn price(coin: &DecCoin) -> String {
    format!("{}{}", without_zeros(&coin.amount().to_string()), coin.denom())
}

/// Needs a decimal point in the text.
fn without_zeros(text: &str) -> &str {
    text.trim_end_matches('0').trim_end_matches('.')
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

    #[test]
    fn bytes_keep_their_unit_and_every_digit() {
        for (count, wanted) in [
            (0, "0"),
            (1, "1"),
            (512 << 20, "512Mi"),
            (1536 << 20, "1536Mi"),
            (1 << 60, "1Ei"),
            (10_000_000_000, "10G"),
            (1_234_567, "1234567"),
            (1024, "1Ki"),
            (1000, "1k"),
            (u64::MAX, "18446744073709551615"),
        ] {
            assert_eq!(bytes(count), wanted);
        }
    }

    #[test]
    fn cores_and_prices_have_no_idle_zeros() {
        assert_eq!(cores(50), "0.05");
        assert_eq!(cores(500), "0.5");
        assert_eq!(cores(16_000), "16");
        assert_eq!(cores(10_000), "10");
        for text in ["1000uact", "0.000000000000000001uakt", "0uact", "100.5uact"] {
            assert_eq!(price(&text.parse().unwrap()), text);
        }
    }
}

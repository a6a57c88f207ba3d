//! Amounts as Kubernetes writes them.
//!
//! The API server stores the text that is sent here. Another text for the same amount would be a
//! new revision of a StatefulSet, so there is one form: decimal, with the largest suffix that
//! leaves a whole number, and never a binary one.

use k8s_openapi::apimachinery::pkg::api::resource::Quantity;

/// Suffixes from thousands up.
const SUFFIXES: [&str; 6] = ["k", "M", "G", "T", "P", "E"];

/// A whole amount: bytes, cards.
pub(super) fn whole(amount: u64) -> Quantity {
    let mut rest = amount;
    let mut suffix = "";
    for larger in SUFFIXES {
        if rest == 0 || !rest.is_multiple_of(1000) {
            break;
        }
        rest /= 1000;
        suffix = larger;
    }
    Quantity(format!("{rest}{suffix}"))
}

/// Thousandths: of a core.
pub(super) fn milli(amount: u64) -> Quantity {
    if amount.is_multiple_of(1000) { whole(amount / 1000) } else { Quantity(format!("{amount}m")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_have_the_form_in_which_they_are_stored() {
        for (amount, text) in [
            (0, "0"),
            (1, "1"),
            (16_777_216, "16777216"),
            (1000, "1k"),
            (1500, "1500"),
            (5_000_000_000, "5G"),
            (1_500_000, "1500k"),
            (10_000, "10k"),
            (i64::MAX as u64, "9223372036854775807"),
            (9_000_000_000_000_000_000, "9E"),
        ] {
            assert_eq!(whole(amount).0, text);
        }
        for (amount, text) in
            [(0, "0"), (50, "50m"), (100, "100m"), (1000, "1"), (1500, "1500m"), (2_000_000, "2k")]
        {
            assert_eq!(milli(amount).0, text);
        }
    }
}

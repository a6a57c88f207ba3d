//! Quantities as Kubernetes writes them, which is what consumers parse.

use akash_proto::k8s::io::apimachinery::pkg::api::resource::Quantity;

/// A number of whole things, in the shortest decimal form: `900G`, `2k`, `1536`.
pub(super) fn whole(number: i64) -> Option<Quantity> {
    Some(text(scaled(number)))
}

/// A number of thousandths: `2`, `1500m`.
pub(super) fn thousandths(number: i64) -> Option<Quantity> {
    let shown = if number % 1000 == 0 { scaled(number / 1000) } else { format!("{number}m") };
    Some(text(shown))
}

fn text(text: String) -> Quantity {
    Quantity { string: Some(text) }
}

fn scaled(number: i64) -> String {
    const SUFFIXES: [&str; 7] = ["", "k", "M", "G", "T", "P", "E"];
    let mut number = number;
    let mut suffix = "";
    for next in SUFFIXES.into_iter().skip(1) {
        if number == 0 || number % 1000 != 0 {
            break;
        }
        number /= 1000;
        suffix = next;
    }
    format!("{number}{suffix}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantities_are_in_their_shortest_form() {
        let said = |quantity: Option<Quantity>| quantity.unwrap().string.unwrap();
        for (number, shown) in [
            (0, "0"),
            (1, "1"),
            (2000, "2k"),
            (900_000_000_000, "900G"),
            (1_099_511_627_776, "1099511627776"),
            (-3000, "-3k"),
        ] {
            assert_eq!(said(whole(number)), shown);
        }
        for (number, shown) in
            [(0, "0"), (100, "100m"), (31850, "31850m"), (256_000, "256"), (2_000_000, "2k")]
        {
            assert_eq!(said(thousandths(number)), shown);
        }
    }
}

//! Answers of the chain as tables.
//!
//! Addresses are too long for two of them in a line: what has a tenant and a provider stands under
//! its tenant.

use super::table::{Table, wrap};
use super::{Document, Palette, WIDTH, printable};

const INDENT: &str = "  ";

/// A column: its name and what stands in it.
type Column = (&'static str, fn(&Document) -> String);

/// The fields of one thing, a line each.
pub(crate) fn fields(document: &Document, palette: &Palette) -> String {
    let mut lines = Vec::new();
    flatten("", document, &mut lines);
    let mut table = Table::new(&["FIELD", "VALUE"]);
    for (name, value) in lines {
        table.push(vec![vec![name], value.lines().map(printable).collect()]);
    }
    table.render("", WIDTH, palette)
}

fn flatten(name: &str, document: &Document, lines: &mut Vec<(String, String)>) {
    let below = |key: &str| if name.is_empty() { key.to_owned() } else { format!("{name}.{key}") };
    if let Some(coin) = whole_coin(document) {
        lines.push((name.to_owned(), coin));
        return;
    }
    match document {
        Document::Map(entries) => {
            entries.iter().for_each(|(key, value)| flatten(&below(key), value, lines));
        }
        Document::List(items) => {
            for (index, item) in items.iter().enumerate() {
                flatten(&below(&(index + 1).to_string()), item, lines);
            }
        }
        Document::Null => {}
        scalar => {
            let text = scalar.as_scalar().unwrap_or_default();
            if !text.is_empty() {
                lines.push((name.to_owned(), text));
            }
        }
    }
}

pub(crate) fn orders(document: &Document, palette: &Palette) -> String {
    let columns: [Column; 6] = [
        ("DSEQ", |order| order.scalar("id.dseq")),
        ("GSEQ", |order| order.scalar("id.gseq")),
        ("OSEQ", |order| order.scalar("id.oseq")),
        ("STATE", |order| order.scalar("state")),
        ("GROUP", |order| order.scalar("spec.name")),
        ("AT MOST", |order| unit_prices(order.items("spec.resources"))),
    ];
    grouped(document, "orders", ("tenant", |order| order.scalar("id.owner")), &columns, palette)
}

pub(crate) fn bids(document: &Document, palette: &Palette) -> String {
    let columns: [Column; 5] = [
        ("DSEQ", |item| item.scalar("bid.id.dseq")),
        ("G/O", |item| sequences(item, "bid.id")),
        ("STATE", |item| item.scalar("bid.state")),
        ("PRICE", |item| coin_at(item, "bid.price")),
        ("PROVIDER", |item| item.scalar("bid.id.provider")),
    ];
    grouped(document, "bids", ("tenant", |item| item.scalar("bid.id.owner")), &columns, palette)
}

pub(crate) fn leases(document: &Document, palette: &Palette) -> String {
    let columns: [Column; 5] = [
        ("DSEQ", |item| item.scalar("lease.id.dseq")),
        ("G/O", |item| sequences(item, "lease.id")),
        ("STATE", |item| item.scalar("lease.state")),
        ("PRICE", |item| coin_at(item, "lease.price")),
        ("PROVIDER", |item| item.scalar("lease.id.provider")),
    ];
    grouped(document, "leases", ("tenant", |item| item.scalar("lease.id.owner")), &columns, palette)
}

pub(crate) fn deployments(document: &Document, palette: &Palette) -> String {
    let columns: [Column; 5] = [
        ("DSEQ", |item| item.scalar("deployment.id.dseq")),
        ("STATE", |item| item.scalar("deployment.state")),
        ("CREATED", |item| item.scalar("deployment.created_at")),
        ("GROUPS", |item| {
            let names = item.items("groups").iter().map(|group| group.scalar("group_spec.name"));
            names.collect::<Vec<_>>().join(", ")
        }),
        ("FUNDS", |item| coins(item.items("escrow_account.state.funds"))),
    ];
    let owner: fn(&Document) -> String = |item| item.scalar("deployment.id.owner");
    grouped(document, "deployments", ("tenant", owner), &columns, palette)
}

pub(crate) fn providers(document: &Document, palette: &Palette) -> String {
    let columns: [Column; 2] =
        [("OWNER", |item| item.scalar("owner")), ("HOST", |item| item.scalar("host_uri"))];
    plain(document.items("providers"), &columns, palette)
}

pub(crate) fn certificates(document: &Document, palette: &Palette) -> String {
    let columns: [Column; 2] = [
        ("SERIAL", |item| item.scalar("serial")),
        ("STATE", |item| item.scalar("certificate.state")),
    ];
    plain(document.items("certificates"), &columns, palette)
}

pub(crate) fn audits(document: &Document, palette: &Palette) -> String {
    let columns: [Column; 2] = [
        ("AUDITOR", |item| item.scalar("auditor")),
        ("ATTRIBUTES", |item| {
            let pair = |attribute: &Document| {
                format!("{}={}", attribute.scalar("key"), attribute.scalar("value"))
            };
            item.items("attributes").iter().map(pair).collect::<Vec<_>>().join(" ")
        }),
    ];
    grouped(document, "providers", ("provider", |item| item.scalar("owner")), &columns, palette)
}

pub(crate) fn escrow_accounts(document: &Document, palette: &Palette) -> String {
    let columns: [Column; 5] = [
        ("SCOPE", |item| item.scalar("id.scope")),
        ("DSEQ", |item| item.scalar("id.xid").split('/').nth(1).unwrap_or_default().to_owned()),
        ("STATE", |item| item.scalar("state.state")),
        ("SETTLED", |item| item.scalar("state.settled_at")),
        ("FUNDS", |item| coins(item.items("state.funds"))),
    ];
    let owner: fn(&Document) -> String = |item| item.scalar("state.owner");
    grouped(document, "accounts", ("owner", owner), &columns, palette)
}

pub(crate) fn escrow_payments(document: &Document, palette: &Palette) -> String {
    let columns: [Column; 6] = [
        ("DSEQ", |item| item.scalar("id.aid.xid").split('/').nth(1).unwrap_or_default().to_owned()),
        ("LEASE", |item| {
            let xid = item.scalar("id.xid");
            xid.rsplit_once('/').map_or_else(|| xid.clone(), |(numbers, _)| numbers.to_owned())
        }),
        ("STATE", |item| item.scalar("state.state")),
        ("RATE", |item| coin_at(item, "state.rate")),
        ("BALANCE", |item| coin_at(item, "state.balance")),
        ("WITHDRAWN", |item| coin_at(item, "state.withdrawn")),
    ];
    let owner: fn(&Document) -> String = |item| item.scalar("state.owner");
    grouped(document, "payments", ("provider", owner), &columns, palette)
}

pub(crate) fn balances(document: &Document, palette: &Palette) -> String {
    let columns: [Column; 2] = [
        ("AMOUNT", |coin| whole_coin(coin).unwrap_or_default()),
        ("IN WHOLE UNITS", |coin| whole_units(&coin.scalar("amount"), &coin.scalar("denom"))),
    ];
    plain(document.items("balances"), &columns, palette)
}

pub(crate) fn transactions(document: &Document, palette: &Palette) -> String {
    let columns: [Column; 4] = [
        ("HEIGHT", |item| item.scalar("height")),
        ("CODE", |item| item.scalar("code")),
        ("MESSAGES", |item| {
            let name = |message: &Document| {
                let kind = message.scalar("@type");
                kind.rsplit('.').next().unwrap_or_default().to_owned()
            };
            item.items("tx.body.messages").iter().map(name).collect::<Vec<_>>().join(" ")
        }),
        ("HASH", |item| item.scalar("txhash")),
    ];
    plain(document.items("txs"), &columns, palette)
}

fn plain(items: &[Document], columns: &[Column], palette: &Palette) -> String {
    match items {
        [] => "Nothing found.\n".to_owned(),
        items => rows(items.iter(), columns).render("", WIDTH, palette),
    }
}

/// A table for each of those to whom things belong.
fn grouped(
    document: &Document,
    list: &str,
    (noun, owner): (&str, fn(&Document) -> String),
    columns: &[Column],
    palette: &Palette,
) -> String {
    let items = document.items(list);
    let mut owners: Vec<String> = Vec::new();
    for item in items {
        let owner = owner(item);
        if !owners.contains(&owner) {
            owners.push(owner);
        }
    }
    if owners.is_empty() {
        return "Nothing found.\n".to_owned();
    }
    let strong = palette.strong;
    let tables: Vec<String> = owners
        .iter()
        .map(|name| {
            let table = rows(items.iter().filter(|item| owner(item) == *name), columns);
            let title = printable(&format!("{noun} {name}"));
            format!("{strong}{title}{strong:#}\n{}", table.render(INDENT, WIDTH, palette))
        })
        .collect();
    tables.join("\n")
}

fn rows<'a>(items: impl Iterator<Item = &'a Document>, columns: &[Column]) -> Table {
    let names: Vec<&'static str> = columns.iter().map(|(name, _)| *name).collect();
    let mut table = Table::new(&names);
    for item in items {
        table.push(columns.iter().map(|(_, cell)| wrap(&printable(&cell(item)), WIDTH)).collect());
    }
    table
}

/// `1/1`: group and order.
fn sequences(item: &Document, id: &str) -> String {
    format!("{}/{}", item.scalar(&format!("{id}.gseq")), item.scalar(&format!("{id}.oseq")))
}

fn coin_at(item: &Document, path: &str) -> String {
    item.at(path).and_then(whole_coin).unwrap_or_default()
}

fn coins(items: &[Document]) -> String {
    items.iter().filter_map(whole_coin).collect::<Vec<_>>().join(", ")
}

/// The prices of resource units, each with the number of its replicas if there are several.
fn unit_prices(units: &[Document]) -> String {
    let price = |unit: &Document| {
        let coin = coin_at(unit, "price");
        match unit.scalar("count").as_str() {
            "1" | "" => coin,
            count => format!("{count}×{coin}"),
        }
    };
    units.iter().map(price).collect::<Vec<_>>().join(" + ")
}

/// `500uact` of a map with an amount and a denomination and nothing else.
fn whole_coin(document: &Document) -> Option<String> {
    match document {
        Document::Map(entries) if entries.len() == 2 => {
            let amount = document.at("amount")?.as_scalar()?;
            Some(format!("{}{}", trimmed(&amount), document.at("denom")?.as_scalar()?))
        }
        _ => None,
    }
}

fn trimmed(amount: &str) -> &str {
    match amount.contains('.') {
        true => amount.trim_end_matches('0').trim_end_matches('.'),
        false => amount,
    }
}

/// `9.5 akt` of `9500000` and `uakt`; the same again for denominations without such a unit.
fn whole_units(amount: &str, denom: &str) -> String {
    let Some(unit) = denom.strip_prefix('u').filter(|unit| unit.len() == 3) else {
        return String::new();
    };
    let digits = format!("{amount:0>7}");
    let (whole, rest) = digits.split_at_checked(digits.len().saturating_sub(6)).unwrap_or(("", ""));
    format!("{} {unit}", trimmed(&format!("{whole}.{rest}")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use akash_json as proto_json;

    fn recorded(name: &str) -> Document {
        use base64::Engine;
        let lines = include_str!("../../../../fixtures/chain/grpc.jsonl").lines();
        let mut calls = lines.map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
        let call = calls.find(|call| call["name"] == name).unwrap();
        let bytes = base64::engine::general_purpose::STANDARD
            .decode(call["response_b64"].as_str().unwrap())
            .unwrap();
        proto_json::answer(call["method"].as_str().unwrap(), &bytes).unwrap()
    }

    #[test]
    fn leases_stand_under_their_tenant() {
        assert_eq!(
            leases(&recorded("leases_by_provider"), &Palette::PLAIN),
            "tenant akash16emlsfgm325de4hwqgu9wszg8fvcm0yw0wk84r
  DSEQ  G/O  STATE   PRICE    PROVIDER
  101   1/1  active  500uact  akash1rhal6a4vawtnwex8nda7u6tueeesllpeagpdq8
"
        );
    }

    #[test]
    fn every_table_fits() {
        type Render = fn(&Document, &Palette) -> String;
        let tables: [(&str, Render); 9] = [
            ("orders_open", orders),
            ("bids_by_provider", bids),
            ("leases_by_provider", leases),
            ("certs_provider", certificates),
            ("escrow_accounts", escrow_accounts),
            ("escrow_payments", escrow_payments),
            ("all_balances", balances),
            ("deployment", fields),
            ("provider", fields),
        ];
        for (name, render) in tables {
            let text = render(&recorded(name), &Palette::PLAIN);
            assert!(text.lines().count() > 1, "{name}: {text}");
            assert!(text.lines().all(|line| line.chars().count() <= WIDTH), "{name}: {text}");
        }
        assert_eq!(orders(&Document::Null, &Palette::PLAIN), "Nothing found.\n");
    }

    #[test]
    fn amounts_are_readable_and_exact() {
        assert_eq!(whole_units("9999999488432", "uakt"), "9999999.488432 akt");
        assert_eq!(whole_units("1", "uact"), "0.000001 act");
        assert_eq!(whole_units("5000000", "uact"), "5 act");
        assert_eq!(whole_units("5", "ibc/ABC"), "");
        assert_eq!(trimmed("500.000000000000000000"), "500");
        assert_eq!(trimmed("500"), "500");
    }
}

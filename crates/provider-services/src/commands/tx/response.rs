//! What became of a transaction, as the Go program prints it.

use akash_chain::query::Event;
use akash_chain::tx::{Broadcast, TxHash, TxResult};

use crate::output::Document;

/// The result, with nothing left out.
pub(crate) fn document(hash: TxHash, outcome: &Broadcast) -> Document {
    let nothing = TxResult::default();
    match outcome {
        Broadcast::Pending => of(hash, 0, &nothing),
        Broadcast::Delivered { height, result } => of(hash, *height, result),
        Broadcast::Refused(refusal) => {
            let result = TxResult {
                code: refusal.code,
                codespace: refusal.codespace.clone(),
                log: refusal.log.clone(),
                ..nothing
            };
            of(hash, 0, &result)
        }
    }
}

/// A result in a block.
pub(crate) fn of(hash: TxHash, height: u64, result: &TxResult) -> Document {
    Document::map([
        ("height", Document::text(height.to_string())),
        ("txhash", Document::text(hash.to_string())),
        ("codespace", Document::text(&result.codespace)),
        ("code", Document::number(result.code)),
        ("data", Document::text(hex::encode_upper(&result.data))),
        ("raw_log", Document::text(&result.log)),
        ("logs", Document::List(Vec::new())),
        ("info", Document::text("")),
        ("gas_wanted", Document::text(result.gas_wanted.to_string())),
        ("gas_used", Document::text(result.gas_used.to_string())),
        ("tx", Document::Null),
        ("timestamp", Document::text("")),
        ("events", Document::List(result.events.iter().map(event).collect())),
    ])
}

fn event(event: &Event) -> Document {
    let attributes = event.attributes.iter().map(|(key, value)| {
        Document::map([
            ("key", Document::text(key)),
            ("value", Document::text(value)),
            // Nodes index all of them.
            ("index", Document::Bool(true)),
        ])
    });
    Document::map([
        ("type", Document::text(&event.kind)),
        ("attributes", Document::List(attributes.collect())),
    ])
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The answer that the Go program printed, from the result that it printed it from.
    #[test]
    fn results_are_printed_as_the_go_program_does() {
        let printed = include_str!("../../../../../fixtures/chain/bid-101-cli.json").trim_end();
        let parsed: serde_json::Value = serde_json::from_str(printed).unwrap();
        let text = |name: &str| parsed[name].as_str().unwrap().to_owned();
        let result = TxResult {
            gas_wanted: text("gas_wanted").parse().unwrap(),
            gas_used: text("gas_used").parse().unwrap(),
            events: serde_json::from_value(parsed["events"].clone()).unwrap(),
            data: hex::decode(text("data")).unwrap(),
            ..TxResult::default()
        };
        let document = of(text("txhash").parse().unwrap(), 102, &result);
        assert_eq!(document.to_json(), printed);
    }
}

//! The machines of a cluster as a table.

use std::collections::BTreeMap;

use provider_engine::cluster::view::{Amounts, GpuCard, Name, Node, StorageClass};
use serde::Serialize;
use serde::ser::{SerializeStruct, Serializer};

use super::bids::{bytes, cores};
use super::table::Table;
use super::{Palette, WIDTH};

/// Nodes, and the storage that they share.
pub(crate) fn render_nodes(
    nodes: &BTreeMap<Name, Node>,
    storage: &BTreeMap<Name, StorageClass>,
    palette: &Palette,
) -> String {
    let mut table = Table::new(&["NODE", "CPU", "MEMORY", "DISK", "GPU", "STORAGE"]);
    for (name, node) in nodes {
        let Amounts { cpu_milli, memory, ephemeral, .. } = node.allocatable;
        let classes = node.storage_classes.iter().map(ToString::to_string);
        let cells = [
            vec![name.to_string()],
            vec![cores(unsigned(cpu_milli))],
            vec![bytes(unsigned(memory))],
            vec![bytes(unsigned(ephemeral))],
            cards(&node.cards),
            classes.collect(),
        ];
        table.push(cells.into());
    }
    let mut text = table.render("  ", WIDTH, palette);
    for (name, class) in storage {
        let size = bytes(unsigned(class.allocatable));
        text.push_str(&format!("\n  storage class {name}: {size} in all\n"));
    }
    text
}

/// Cards of a kind in a line: `2 × nvidia a100 80Gi`.
fn cards(cards: &[GpuCard]) -> Vec<String> {
    let mut kinds: BTreeMap<String, usize> = BTreeMap::new();
    for card in cards {
        let memory = card.memory_gib.map(|gib| format!(" {gib}Gi")).unwrap_or_default();
        let kind = format!("{} {}{memory}", card.vendor.as_str(), card.model);
        *kinds.entry(kind).or_default() += 1;
    }
    kinds.into_iter().map(|(kind, count)| format!("{count} × {kind}")).collect()
}

fn unsigned(amount: i64) -> u64 {
    u64::try_from(amount).unwrap_or_default()
}

/// `1 problem`, `2 problems`.
pub(crate) fn counted(count: usize, noun: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{count} {noun}{plural}")
}

/// A text from outside as one line that cannot steer a terminal. Each character stays one
/// character, so that columns still count.
pub(crate) fn printable(text: &str) -> String {
    text.chars().map(printable_char).collect()
}

fn printable_char(c: char) -> char {
    match c {
        '\t' => ' ',
        // Marks that turn the direction of what follows.
        '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => '\u{fffd}',
        // Line breaks that are not control characters.
        '\u{2028}' | '\u{2029}' => '\u{fffd}',
        c if c.is_control() => '\u{fffd}',
        c => c,
    }
}

/// What one provider made of a manifest.
#[derive(Clone, Debug)]
pub(crate) struct Sent {
    pub(crate) provider: String,
    /// Why it was not taken.
    pub(crate) error: Option<String>,
    /// What the provider said to that, with the line end that it sent.
    pub(crate) error_message: Option<String>,
}

impl Sent {
    const fn status(&self) -> &'static str {
        if self.error.is_some() { "FAIL" } else { "PASS" }
    }

    /// Names and values, in the order in which they are printed.
    fn fields(&self) -> impl Iterator<Item = (&'static str, &str)> {
        let error = self.error.as_deref().map(|text| ("error", text));
        let message = self.error_message.as_deref().map(|text| ("errorMessage", text));
        [Some(("status", self.status())), error, message].into_iter().flatten()
    }

    pub(crate) fn text(all: &[Self]) -> String {
        let mut text = String::new();
        for sent in all {
            text.push_str(&format!("provider: {}\n", sent.provider));
            for (name, value) in sent.fields() {
                text.push_str(&format!("\t{:<13} {value}\n", format!("{name}:")));
            }
        }
        text
    }

    pub(crate) fn json(all: &[Self]) -> serde_json::Result<String> {
        provider_api::json::to_line(all)
    }

    pub(crate) fn yaml(all: &[Self]) -> String {
        let mut text = String::new();
        for sent in all {
            text.push_str(&format!("- provider: {}\n", sent.provider));
            for (name, value) in sent.fields() {
                text.push_str(&format!("  {name}:{}", akash_json::yaml_value(value, 4)));
            }
        }
        text
    }
}

impl Serialize for Sent {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut object = serializer.serialize_struct("Sent", 1 + self.fields().count())?;
        object.serialize_field("provider", &self.provider)?;
        for (name, value) in self.fields() {
            object.serialize_field(name, value)?;
        }
        object.end()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nouns_agree_with_their_number() {
        assert_eq!(counted(0, "group"), "0 groups");
        assert_eq!(counted(1, "group"), "1 group");
        assert_eq!(counted(2, "group"), "2 groups");
    }

    #[test]
    fn control_characters_do_not_reach_the_terminal() {
        assert_eq!(printable("a\tb\u{1b}[31mc\u{9b}d\u{202e}é"), "a b�[31mc�d�é");
    }

    const PROVIDER: &str = "akash1rhal6a4vawtnwex8nda7u6tueeesllpeagpdq8";

    fn recorded(name: &str) -> String {
        let path = format!(
            "{}/../../fixtures/gateway/cli/send-manifest-{name}.txt",
            env!("CARGO_MANIFEST_DIR")
        );
        let text = std::fs::read_to_string(path).unwrap();
        let (_, stdout) = text.split_once("--- stdout\n").unwrap();
        stdout.split_once("--- stderr").unwrap().0.to_owned()
    }

    fn one(error: Option<(u16, &str)>) -> Vec<Sent> {
        vec![Sent {
            provider: PROVIDER.to_owned(),
            error: error.map(|(status, _)| format!("remote server returned {status}")),
            error_message: error.map(|(_, body)| body.to_owned()),
        }]
    }

    #[test]
    fn every_form_is_as_the_go_program_printed_it() {
        let good = one(None);
        assert_eq!(Sent::text(&good), recorded("text-jwt"));
        assert_eq!(Sent::json(&good).unwrap(), recorded("json-jwt"));
        assert_eq!(Sent::yaml(&good), recorded("yaml-jwt"));
        let hash = one(Some((422, "manifest version validation failed\n")));
        assert_eq!(Sent::text(&hash), recorded("fail-hash-text"));
        let said = "rpc error: code = NotFound desc = Deployment not found: key not found\n";
        let unknown = one(Some((500, said)));
        assert_eq!(Sent::yaml(&unknown), recorded("fail-unknown-dseq-yaml"));
    }
}

//! A key as it is printed.

use akash_keys::keyring::KeyRecord;
use bech32::{Bech32, Hrp};
use clap::ValueEnum;

use crate::output::Document;
use akash_json as proto_json;

use super::KeyFormat;

/// In whose role an address is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(super) enum Role {
    /// An account
    #[default]
    Acc,
    /// The operator of a validator
    Val,
    /// The node of a validator
    Cons,
}

impl Role {
    pub(super) const ALL: [Self; 3] = [Self::Acc, Self::Val, Self::Cons];

    const fn prefix(self) -> &'static str {
        match self {
            Self::Acc => "akash",
            Self::Val => "akashvaloper",
            Self::Cons => "akashvalcons",
        }
    }

    /// Bytes of an address as text; `None` for more bytes than an address can have.
    pub(super) fn address(self, bytes: &[u8]) -> Option<String> {
        let prefix = Hrp::parse(self.prefix()).ok()?;
        bech32::encode::<Bech32>(prefix, bytes).ok()
    }
}

/// The address of a key in a role; empty for keys whose address is not known.
pub(super) fn address(record: &KeyRecord, role: Role) -> String {
    let address = record.address();
    address.and_then(|address| role.address(address.as_bytes())).unwrap_or_default()
}

pub(super) fn public_key(record: &KeyRecord) -> String {
    proto_json::any(&record.public_key().to_any()).to_json()
}

/// A key as a document, as the Go program prints it.
pub(super) fn document_in(record: &KeyRecord, role: Role) -> Document {
    Document::map([
        ("name", Document::text(record.name())),
        ("type", Document::text(record.kind().to_string())),
        ("address", Document::text(address(record, role))),
        ("pubkey", Document::text(public_key(record))),
    ])
}

/// Keys as they are printed: JSON of the keys, or YAML of a list of them.
pub(super) fn render(documents: Vec<Document>, as_list: bool, format: KeyFormat) -> String {
    match format {
        KeyFormat::Text => Document::List(documents).to_yaml(),
        KeyFormat::Json if as_list => Document::List(documents).to_json() + "\n",
        KeyFormat::Json => documents.iter().map(|document| document.to_json() + "\n").collect(),
    }
}

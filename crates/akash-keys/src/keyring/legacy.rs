//! Records of before Protobuf: Amino, as Cosmos SDK wrote it until 0.45.

use akash_proto::cosmos::crypto::hd::v1::Bip44Params;
use akash_proto::cosmos::crypto::keyring::v1::Record;
use akash_proto::cosmos::crypto::keyring::v1::record::{Item, Ledger, Local, Multi, Offline};
use prost::Message;
use zeroize::Zeroize;

use crate::amino;

const LOCAL: &str = "crypto/keys/localInfo";
const LEDGER: &str = "crypto/keys/ledgerInfo";
const OFFLINE: &str = "crypto/keys/offlineInfo";
const MULTI: &str = "crypto/keys/multiInfo";

/// The fields of an offline record, and those at the start of every other.
#[derive(Clone, PartialEq, Message)]
struct Info {
    #[prost(string, tag = "1")]
    name: String,
    #[prost(bytes = "vec", tag = "2")]
    pub_key: Vec<u8>,
}

/// The fields of a local record that are its own.
#[derive(Clone, PartialEq, Message)]
#[prost(skip_debug)]
struct LocalInfo {
    #[prost(bytes = "vec", tag = "3")]
    priv_key: Vec<u8>,
}

/// The fields of a Ledger record that are its own.
#[derive(Clone, PartialEq, Message)]
struct LedgerInfo {
    #[prost(message, optional, tag = "3")]
    path: Option<Bip44Params>,
}

/// The record as it is written today; `None` when the bytes are not of that age, or of a kind
/// of that age that this program does not know. The caller wipes it.
pub(super) fn convert(bytes: &[u8]) -> Option<Record> {
    let mut content = bytes;
    let length = prost::encoding::decode_varint(&mut content).ok()?;
    if usize::try_from(length).ok()? != content.len() {
        return None;
    }
    let (prefix, content) = content.split_first_chunk::<4>()?;
    let info = Info::decode(content).ok()?;
    let pub_key = amino::decode_public(&info.pub_key).ok()?;
    let of = |name| amino::prefix(name) == *prefix;
    let item = if of(LOCAL) {
        let mut local = LocalInfo::decode(content).ok()?;
        let secret = amino::decode_secret(&local.priv_key);
        local.priv_key.zeroize();
        Item::Local(Local { priv_key: Some(secret.ok()?.to_any()) })
    } else if of(LEDGER) {
        Item::Ledger(Ledger { path: LedgerInfo::decode(content).ok()?.path })
    } else if of(OFFLINE) {
        Item::Offline(Offline {})
    } else if of(MULTI) {
        Item::Multi(Multi {})
    } else {
        return None;
    };
    Some(Record { name: info.name, pub_key: Some(pub_key.to_any()), item: Some(item) })
}

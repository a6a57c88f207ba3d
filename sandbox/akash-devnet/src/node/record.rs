//! Blocks as they are kept on disk: length, checksum, and what is needed to make the block again.

use bytes::Bytes;
use prost::Message;

use super::block::Block;
use super::merkle::Hash;

/// Bytes before the content of a record: its length and its checksum.
pub const HEAD: usize = 8;
/// No record is longer: more than the largest block.
const LONGEST: usize = 1 << 28;

/// What is kept of a block. Everything else follows from it and from genesis.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    pub height: u64,
    /// Its time, in nanoseconds since 1970.
    pub time_unix_nanos: i64,
    pub txs: Vec<Bytes>,
    /// The digest of the state after it, to notice when the rules have changed.
    pub app_hash: Hash,
}

/// The first bytes of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Head {
    pub length: usize,
    checksum: u32,
}

impl Record {
    pub fn of(block: &Block) -> Self {
        Self {
            height: block.height(),
            time_unix_nanos: block.header.time_unix_nanos,
            txs: block.txs.clone(),
            app_hash: block.app_hash,
        }
    }

    /// The record as bytes, with its head.
    pub fn encode(&self) -> Vec<u8> {
        let content = Content {
            height: self.height,
            time: self.time_unix_nanos,
            txs: self.txs.clone(),
            app_hash: self.app_hash.to_vec(),
        }
        .encode_to_vec();
        // The content is shorter than the longest record, which fits.
        let length = u32::try_from(content.len()).unwrap_or(u32::MAX);
        let mut bytes = Vec::with_capacity(HEAD + content.len());
        bytes.extend(length.to_le_bytes());
        bytes.extend(crc32fast::hash(&content).to_le_bytes());
        bytes.extend(content);
        bytes
    }
}

impl Head {
    /// The head of a record; `None` where it can be none.
    pub fn decode(bytes: [u8; HEAD]) -> Option<Self> {
        let [a, b, c, d, e, f, g, h] = bytes;
        let length = usize::try_from(u32::from_le_bytes([a, b, c, d])).ok()?;
        let checksum = u32::from_le_bytes([e, f, g, h]);
        (length > 0 && length <= LONGEST).then_some(Self { length, checksum })
    }

    /// The record whose content this is; `None` where it is damaged.
    pub fn content(&self, bytes: &[u8]) -> Option<Record> {
        if bytes.len() != self.length || crc32fast::hash(bytes) != self.checksum {
            return None;
        }
        let content = Content::decode(bytes).ok()?;
        Some(Record {
            height: content.height,
            time_unix_nanos: content.time,
            txs: content.txs,
            app_hash: content.app_hash.try_into().ok()?,
        })
    }
}

#[derive(Clone, PartialEq, Message)]
struct Content {
    #[prost(uint64, tag = "1")]
    height: u64,
    #[prost(sfixed64, tag = "2")]
    time: i64,
    #[prost(bytes = "bytes", repeated, tag = "3")]
    txs: Vec<Bytes>,
    #[prost(bytes = "vec", tag = "4")]
    app_hash: Vec<u8>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_reads_back_and_no_changed_byte_goes_unnoticed() {
        let record = Record {
            height: 7,
            time_unix_nanos: -5,
            txs: vec![Bytes::from_static(b"tx"), Bytes::new()],
            app_hash: [9; 32],
        };
        let bytes = record.encode();
        let (head, content) = bytes.split_at(HEAD);
        let head = Head::decode(head.try_into().unwrap()).unwrap();
        assert_eq!(head.content(content), Some(record));
        for index in 0..content.len() {
            let mut damaged = content.to_vec();
            damaged[index] ^= 1;
            assert_eq!(head.content(&damaged), None);
        }
    }
}

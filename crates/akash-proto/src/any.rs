//! Packing messages into `google.protobuf.Any` the way the chain does it.
//!
//! Type URLs here have no host: `/akash.market.v1beta5.MsgCreateBid`. This module must not know
//! which messages exist; it works on any type that carries its own name.

use prost::Name;
use prost_types::Any;
use thiserror::Error;

/// Why a message could not be taken out of an `Any`.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum AnyError {
    /// Another message is inside.
    #[error("expected {expected}, found {found:?}")]
    WrongType {
        /// Type URL of the message that was asked for.
        expected: String,
        /// Type URL that was found, as sent.
        found: String,
    },
    /// The type URL is right and the bytes are not such a message.
    #[error("undecodable {type_url}")]
    Decode {
        /// Type URL of the message that was asked for.
        type_url: String,
        /// What is wrong with the bytes.
        source: prost::DecodeError,
    },
}

/// The type URL of `M`: a slash and its full name.
pub fn type_url<M: Name>() -> String {
    format!("/{}", M::full_name())
}

/// Packs `message` under its type URL.
pub fn to_any<M: Name>(message: &M) -> Any {
    Any { type_url: type_url::<M>(), value: message.encode_to_vec() }
}

/// Takes an `M` out of `any`, if that is what it holds.
///
/// The URL must match exactly: the chain refuses one with a host, so a peer that sends it is not
/// speaking this protocol.
pub fn from_any<M: Name + Default>(any: &Any) -> Result<M, AnyError> {
    let expected = type_url::<M>();
    if any.type_url != expected {
        return Err(AnyError::WrongType { expected, found: any.type_url.clone() });
    }
    M::decode(any.value.as_slice())
        .map_err(|source| AnyError::Decode { type_url: expected, source })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::akash::market::v1::{BidId, LeaseId};
    use crate::akash::market::v1beta5::MsgCloseBid;

    fn close_bid() -> MsgCloseBid {
        MsgCloseBid { id: Some(BidId { dseq: 7, ..BidId::default() }), reason: 10_002 }
    }

    #[test]
    fn type_urls_have_a_leading_slash_and_no_host() {
        assert_eq!(type_url::<MsgCloseBid>(), "/akash.market.v1beta5.MsgCloseBid");
    }

    #[test]
    fn a_packed_message_comes_out_unchanged() {
        assert_eq!(from_any::<MsgCloseBid>(&to_any(&close_bid())), Ok(close_bid()));
    }

    #[test]
    fn another_message_is_refused_even_where_its_bytes_would_decode() {
        let error = from_any::<LeaseId>(&to_any(&BidId::default())).unwrap_err();
        assert_eq!(
            error.to_string(),
            r#"expected /akash.market.v1.LeaseID, found "/akash.market.v1.BidID""#
        );
    }

    #[test]
    fn a_host_in_the_type_url_is_refused() {
        let mut any = to_any(&close_bid());
        any.type_url = format!("type.googleapis.com{}", any.type_url);
        assert!(matches!(from_any::<MsgCloseBid>(&any), Err(AnyError::WrongType { .. })));
    }

    #[test]
    fn broken_bytes_name_the_message() {
        let any = Any { value: vec![0x0a, 0xff], ..to_any(&close_bid()) };
        let error = from_any::<MsgCloseBid>(&any).unwrap_err();
        assert_eq!(error.to_string(), "undecodable /akash.market.v1beta5.MsgCloseBid");
    }
}

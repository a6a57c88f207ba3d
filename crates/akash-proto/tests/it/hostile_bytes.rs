//! Bytes from outside never panic a decoder, and what decodes can be encoded again.

use akash_proto::akash::manifest::v2beta3::Group;
use akash_proto::akash::market::v1beta5::{MsgCreateBid, QueryLeasesResponse, QueryOrdersResponse};
use akash_proto::akash::provider::v1::{BidScreeningRequest, Status};
use akash_proto::cosmos::auth::v1beta1::BaseAccount;
use akash_proto::cosmos::tx::v1beta1::{AuthInfo, ModeInfo, SimulateResponse, Tx, TxBody, TxRaw};
use proptest::collection::vec;
use proptest::prelude::*;
use prost::Message;

use crate::common;

fn decode<M: Message + Default + PartialEq>(bytes: &[u8]) {
    if let Ok(decoded) = M::decode(bytes) {
        assert!(M::decode(decoded.encode_to_vec().as_slice()) == Ok(decoded));
    }
}

fn decode_as_each(bytes: &[u8]) {
    decode::<TxRaw>(bytes);
    decode::<Tx>(bytes);
    decode::<TxBody>(bytes);
    decode::<AuthInfo>(bytes);
    decode::<ModeInfo>(bytes);
    decode::<SimulateResponse>(bytes);
    decode::<BaseAccount>(bytes);
    decode::<MsgCreateBid>(bytes);
    decode::<QueryOrdersResponse>(bytes);
    decode::<QueryLeasesResponse>(bytes);
    decode::<Group>(bytes);
    decode::<Status>(bytes);
    decode::<BidScreeningRequest>(bytes);
}

proptest! {
    #[test]
    fn noise(bytes in vec(any::<u8>(), 0..512)) {
        decode_as_each(&bytes);
    }

    /// Noise seldom gets past the first tag; a real message with a few bytes changed does.
    #[test]
    fn a_real_tx_with_damage(damage in vec((any::<prop::sample::Index>(), any::<u8>()), 1..8)) {
        let recorded = common::json("chain/tx-createbid-ok.json");
        let mut bytes = common::from_base64(&recorded["tx_raw_b64"]);
        for (index, byte) in damage {
            *index.get_mut(&mut bytes) = byte;
        }
        decode_as_each(&bytes);
    }
}

#[test]
fn deep_nesting_is_an_error_and_not_a_stack_overflow() {
    let mut mode = ModeInfo::default();
    for _ in 0..200 {
        use akash_proto::cosmos::tx::v1beta1::mode_info::{Multi, Sum};
        let multi = Multi { bitarray: None, mode_infos: vec![mode] };
        mode = ModeInfo { sum: Some(Sum::Multi(multi)) };
    }
    assert!(ModeInfo::decode(mode.encode_to_vec().as_slice()).is_err());
}

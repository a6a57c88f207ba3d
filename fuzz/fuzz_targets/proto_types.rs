//! Any bytes as protobuf messages from a chain node: decoded and converted to akash-types or
//! refused, and what converted converts back to the same value.
#![no_main]

use std::fmt::Debug;

use akash_proto::akash::{audit, deployment, escrow, market, provider};
use akash_types as types;
use libfuzzer_sys::fuzz_target;
use prost::Message;

/// Decodes, converts, goes back and forth once more.
fn try_as<M, T>(data: &[u8])
where
    M: Message + Default,
    T: TryFrom<M> + Into<M> + Clone + PartialEq + Debug,
    T::Error: Debug,
{
    let Ok(message) = M::decode(data) else { return };
    let Ok(value) = T::try_from(message) else { return };
    let again = T::try_from(value.clone().into()).expect("reads its own message");
    assert_eq!(again, value);
}

fuzz_target!(|data: &[u8]| {
    let Some((kind, data)) = data.split_first() else { return };
    match kind % 10 {
        0 => try_as::<deployment::v1beta4::GroupSpec, types::GroupSpec>(data),
        1 => try_as::<market::v1beta5::Order, types::Order>(data),
        2 => try_as::<market::v1beta5::Bid, types::Bid>(data),
        3 => try_as::<market::v1::Lease, types::Lease>(data),
        4 => try_as::<deployment::v1::Deployment, types::Deployment>(data),
        5 => try_as::<deployment::v1beta4::Group, types::Group>(data),
        6 => try_as::<escrow::types::v1::Account, types::EscrowAccount>(data),
        7 => try_as::<escrow::types::v1::Payment, types::EscrowPayment>(data),
        8 => try_as::<provider::v1beta4::Provider, types::Provider>(data),
        _ => try_as::<audit::v1::AuditedProvider, types::AuditedProvider>(data),
    }
});

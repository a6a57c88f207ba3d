//! What commands need of the chain's libraries: a node to ask, a keyring to open, values of flags.

mod keyring;
mod maker;
mod network;
pub(crate) mod values;

pub(crate) use keyring::{Account, AccountSigner, KeyringArgs, Wallet, next_turn, open, thrice};
pub(crate) use maker::{Maker, Turn, broadcast_in_turn};
pub(crate) use network::Network;

//! Proof that messages and types say the same: recorded answers of a node survive byte for byte,
//! generated values survive the way through a message, and broken messages are refused with the
//! place named.

mod generated;
mod recorded;
mod refused;

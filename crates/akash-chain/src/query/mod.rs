//! Questions to the chain, with typed answers.
//!
//! [`Query`] asks what the chain's state holds, over any [`Transport`]: a thing by its id is
//! `Option`, a list is read to its last page. [`Node`] asks one CometBFT node about itself, its
//! blocks and its transactions.
//!
//! An answer says at which height it was read. A node that lags or catches up answers too, with old
//! state: compare the height, and [`NodeStatus::catching_up`], before acting on what is missing.
//!
//! Nothing here retries or caches; [`QueryError::is_transient`] says whether asking again can help.
//! Must not know what anybody does with the answers.

mod answer;
mod ask;
mod audit;
mod auth;
mod bank;
mod cert;
mod deployment;
mod escrow;
mod market;
pub(crate) mod method;
mod node;
mod oracle;
mod provider;

pub use crate::transport::{
    Connection, Failure, Malformed, NoAnswer, Reply, Transport, Unavailable,
};
pub use answer::{Answer, List, QueryError, Unreadable};
pub use ask::{MAX_PAGES, PAGE_SIZE, Query};
pub use auth::Account;
pub use cert::{Certificate, CertificateFilter};
pub use deployment::{DeploymentFilter, DeploymentInfo};
pub use market::{BidFilter, BidInfo, LeaseFilter, LeaseInfo, OrderFilter};
pub use node::{
    Block, BlockHash, BlockHeader, BlockResults, Event, Node, NodeStatus, TxFound, TxHash,
    TxHashError, TxResult,
};

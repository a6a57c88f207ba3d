//! The program as it is used: arguments, environment and input in, output and exit code out.

mod crd;
mod ctl;
mod devnet;
mod environment;
mod examples;
mod files;
mod groups;
mod keys;
mod manifest;
mod program;
mod query;
mod run;
mod sim_cluster;
mod support;
mod tenant;
mod tx;
mod tx_messages;
mod validate;
mod version_hash;

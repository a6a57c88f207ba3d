//! Generates clients and servers from the descriptors that akash-proto compiled.

use std::error::Error;
use std::fs;

use prost::Message;
use prost_types::FileDescriptorSet;

fn main() -> Result<(), Box<dyn Error>> {
    // Set by cargo from the metadata that the build script of akash-proto printed.
    let path = std::env::var("DEP_AKASH_PROTO_DESCRIPTORS")?;
    println!("cargo::rerun-if-changed={path}");
    let set = FileDescriptorSet::decode(fs::read(path)?.as_slice())?;

    let mut builder = tonic_prost_build::configure()
        .include_file("modules.rs")
        // `connect` helpers would pull in a transport and its TLS choice.
        .build_transport(false);
    // The messages exist once, in akash-proto; only services are generated here.
    for package in ["akash", "cosmos", "k8s", "tendermint"] {
        builder = builder.extern_path(format!(".{package}"), format!("::akash_proto::{package}"));
    }
    builder.compile_fds(set)?;
    Ok(())
}

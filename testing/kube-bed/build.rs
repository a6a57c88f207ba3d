//! Compiles the messages of device plugins with protox, so that no protoc is needed.

use std::error::Error;

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed=proto");
    let set = protox::compile(["proto/deviceplugin.proto"], ["proto"])?;
    tonic_prost_build::configure().build_transport(false).compile_fds(set)?;
    Ok(())
}

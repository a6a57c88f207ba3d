//! Compiles the .proto files with protox, so that no protoc is needed on the machine.

use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};

use prost::Message;

fn main() -> Result<(), Box<dyn Error>> {
    let root = PathBuf::from(std::env::var("CARGO_MANIFEST_DIR")?).join("proto");
    let out_dir = PathBuf::from(std::env::var("OUT_DIR")?);
    println!("cargo::rerun-if-changed=proto");

    let mut files = Vec::new();
    collect_protos(&root, &mut files)?;
    // Directory order differs between machines; the descriptor bytes must not.
    files.sort();

    let mut set = protox::Compiler::new([&root])?
        .include_imports(true)
        .include_source_info(true)
        .open_files(&files)?
        .file_descriptor_set();

    prost_build::Config::new()
        .enable_type_names()
        // Written by hand in src/redacted.rs: these hold secrets, and Debug ends up in logs.
        .skip_debug([
            ".akash.manifest.v2beta3.ImageCredentials",
            ".cosmos.crypto.keyring.v1.Record.Local",
            ".cosmos.crypto.secp256k1.PrivKey",
        ])
        .include_file("modules.rs")
        .compile_fds(set.clone())?;

    // Comments are for the generated code above. Nothing that reads descriptors at run time
    // needs them, and they are most of the bytes.
    for file in &mut set.file {
        file.source_code_info = None;
    }
    let descriptors = out_dir.join("descriptors.bin");
    fs::write(&descriptors, set.encode_to_vec())?;
    println!("cargo::metadata=descriptors={}", descriptors.display());
    Ok(())
}

fn collect_protos(dir: &Path, found: &mut Vec<PathBuf>) -> std::io::Result<()> {
    for entry in fs::read_dir(dir)? {
        let path = entry?.path();
        if path.is_dir() {
            collect_protos(&path, found)?;
        } else if path.extension().is_some_and(|extension| extension == "proto") {
            found.push(path);
        }
    }
    Ok(())
}

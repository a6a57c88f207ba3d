//! `cargo xtask image`: the image that is installed, without a container engine.

use std::fs;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, Result, bail};
use oci_image::{Packing, of_program, without_symbols};

use crate::program::{self, Profile};

const EXAMPLES: &str = "\
Examples:
  cargo xtask image
  cargo xtask image --name registry.example.com/provider-services:1 --output image.tar
  cargo xtask image --debug

A node takes the file with `ctr -n k8s.io images import`, an engine with `docker load`, a registry
with `skopeo copy oci-archive:provider-services.tar docker://…`.";

/// Build the provider and write it as an OCI image
///
/// The image has the program, the libraries that it loads and the roots of the web's certificates;
/// no shell, and nobody in it is root. The same program gives the same image.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// What pods ask for it by
    #[arg(long, default_value = concat!("localhost/provider-services:", env!("CARGO_PKG_VERSION")))]
    name: String,
    /// The file to write [default: provider-services.tar in the target directory]
    #[arg(long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Take the debug build: quicker to make, slower to run
    #[arg(long, conflicts_with = "program")]
    debug: bool,
    /// Take this program instead of building one, and do not compress it: for tests
    #[arg(long, value_name = "FILE")]
    program: Option<PathBuf>,
}

pub(crate) fn run(args: &Args) -> Result<ExitCode> {
    if !cfg!(target_os = "linux") {
        bail!("an image holds the libraries of the machine it is made on, which has to be Linux");
    }
    let target = program::target();
    let program = match &args.program {
        Some(program) => program.clone(),
        None => program::build(if args.debug { Profile::Debug } else { Profile::Release })?,
    };
    let bare = target.join("image");
    fs::create_dir_all(&bare).with_context(|| format!("create {}", bare.display()))?;
    let bare = tempfile::Builder::new().tempdir_in(bare)?;
    let bare = bare.path().join(program::NAME);
    without_symbols(&program, &bare)?;
    let packing = if args.program.is_some() { Packing::Plain } else { Packing::Gzip };
    let default = || target.join("provider-services.tar");
    let output = args.output.clone().unwrap_or_else(default);
    let written = of_program(&args.name, &bare)?.write(&output, packing)?;
    println!("image   {}", args.name);
    println!("digest  {}", written.digest);
    println!("size    {:.1} MB", megabytes(written.size));
    println!("file    {}", output.display());
    Ok(ExitCode::SUCCESS)
}

#[expect(clippy::cast_precision_loss, reason = "shown with one digit after the point")]
fn megabytes(bytes: usize) -> f64 {
    bytes as f64 / 1e6
}

//! `crd`: what a Kubernetes cluster has to know before a provider can use it.

use std::process::ExitCode;

use provider_crd::custom_resource_definitions;

use crate::console::Streams;
use crate::output::Document;

pub(crate) fn run(streams: &mut Streams<'_>) -> anyhow::Result<ExitCode> {
    let definitions = custom_resource_definitions().into_iter();
    let documents: Vec<_> = definitions.map(|one| Document::from(one).to_yaml()).collect();
    streams.print(&documents.join("---\n"))?;
    Ok(ExitCode::SUCCESS)
}

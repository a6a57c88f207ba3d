//! Descriptor sets for server reflection.
//!
//! A server announces what it serves. The full set would list every chain service on a provider's
//! port, so reflection gets a set cut down to named services. This module must not know which
//! services those are.

use std::collections::{BTreeMap, BTreeSet};

use akash_proto::FILE_DESCRIPTOR_SET;
use prost::Message;
use prost_types::{FileDescriptorProto, FileDescriptorSet, ServiceDescriptorProto};
use thiserror::Error;

/// Why a descriptor set could not be cut down.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum DescriptorError {
    /// No .proto file defines this service.
    #[error("no service {0}")]
    UnknownService(String),
    /// The compiled-in descriptors are damaged.
    #[error("reading the compiled-in descriptors")]
    Decode(#[from] prost::DecodeError),
}

/// An encoded `FileDescriptorSet` with just the given services (by full name, such as
/// `akash.provider.v1.ProviderRPC`) and the files they need.
///
/// Files are kept whole except for other services: a reflection client asks for whole files, and a
/// file without its imports does not resolve.
pub fn descriptor_set_for(services: &[&str]) -> Result<Vec<u8>, DescriptorError> {
    let set = FileDescriptorSet::decode(FILE_DESCRIPTOR_SET)?;

    let mut wanted = BTreeSet::new();
    let by_name = set.file.iter().map(|file| (file.name(), file)).collect();
    for service in services {
        let file = set
            .file
            .iter()
            .find(|file| {
                file.service.iter().any(|found| full_name(file.package(), found) == *service)
            })
            .ok_or_else(|| DescriptorError::UnknownService((*service).to_owned()))?;
        add_with_imports(file.name(), &by_name, &mut wanted);
    }

    // In the order of the full set, where a file follows its imports.
    let file = set
        .file
        .into_iter()
        .filter(|file| wanted.contains(file.name()))
        .map(|file| without_other_services(file, services))
        .collect();
    Ok(FileDescriptorSet { file }.encode_to_vec())
}

fn full_name(package: &str, service: &ServiceDescriptorProto) -> String {
    format!("{package}.{}", service.name())
}

fn add_with_imports(
    name: &str,
    by_name: &BTreeMap<&str, &FileDescriptorProto>,
    wanted: &mut BTreeSet<String>,
) {
    if !wanted.insert(name.to_owned()) {
        return;
    }
    for import in by_name.get(name).into_iter().flat_map(|file| &file.dependency) {
        add_with_imports(import, by_name, wanted);
    }
}

fn without_other_services(mut file: FileDescriptorProto, keep: &[&str]) -> FileDescriptorProto {
    let package = file.package().to_owned();
    file.service.retain(|service| keep.contains(&full_name(&package, service).as_str()));
    file
}

#[cfg(test)]
mod tests {
    use super::*;

    const PROVIDER_RPC: &str = "akash.provider.v1.ProviderRPC";

    fn files_for(services: &[&str]) -> Vec<FileDescriptorProto> {
        let bytes = descriptor_set_for(services).unwrap();
        FileDescriptorSet::decode(bytes.as_slice()).unwrap().file
    }

    fn services_of(files: &[FileDescriptorProto]) -> Vec<String> {
        files
            .iter()
            .flat_map(|file| file.service.iter().map(|service| full_name(file.package(), service)))
            .collect()
    }

    #[test]
    fn only_the_named_services_remain() {
        assert_eq!(services_of(&files_for(&[PROVIDER_RPC])), [PROVIDER_RPC]);
    }

    #[test]
    fn a_neighbour_in_the_same_file_is_dropped() {
        let cluster = "akash.inventory.v1.ClusterRPC";
        assert_eq!(services_of(&files_for(&[cluster])), [cluster]);
    }

    #[test]
    fn every_file_follows_its_imports() {
        let mut seen = BTreeSet::new();
        for file in files_for(&[PROVIDER_RPC, "cosmos.tx.v1beta1.Service"]) {
            for import in &file.dependency {
                assert!(seen.contains(import), "{} before {import}", file.name());
            }
            seen.insert(file.name().to_owned());
        }
    }

    #[test]
    fn unrelated_files_are_left_out() {
        let files = files_for(&[PROVIDER_RPC]);
        assert!(files.iter().all(|file| file.package() != "akash.escrow.v1"));
        assert!(files.iter().any(|file| file.package() == "akash.market.v1beta5"));
    }

    #[test]
    fn no_service_gives_an_empty_set() {
        assert_eq!(files_for(&[]), []);
    }

    #[test]
    fn a_service_that_does_not_exist_is_an_error() {
        let error = descriptor_set_for(&[PROVIDER_RPC, "akash.nothing.v1.Query"]).unwrap_err();
        assert_eq!(error, DescriptorError::UnknownService("akash.nothing.v1.Query".into()));
    }
}

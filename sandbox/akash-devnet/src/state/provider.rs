//! Providers: who they are and what they offer.

use std::sync::Arc;

use akash_proto::akash::provider::v1beta4 as wire;
use akash_types::attribute::validate_provider;
use akash_types::{Address, Attribute};

use super::error::{GrpcCode, ModuleError, Outcome};
use super::events::Event;
use super::gas::Step;
use super::msg::{Message, signer};
use super::run::Exec;

/// A provider as the chain keeps it.
pub(crate) type Provider = Arc<wire::Provider>;

const SPACE: &str = "provider";

const fn invalid(code: u32, text: &'static str) -> ModuleError {
    ModuleError::new(SPACE, code, GrpcCode::InvalidArgument, text)
}

const INVALID_URI: ModuleError = invalid(1, "invalid provider: invalid host uri");
const NOT_ABSOLUTE_URI: ModuleError = invalid(2, "invalid provider: not absolute host uri");
pub(crate) const NOT_FOUND: ModuleError =
    ModuleError::new(SPACE, 3, GrpcCode::NotFound, "invalid provider: address not found");
const EXISTS: ModuleError =
    ModuleError::new(SPACE, 4, GrpcCode::AlreadyExists, "invalid provider: already exists");
const ATTRIBUTES: ModuleError = invalid(6, "attribute specification error");
const INVALID_WEBSITE: ModuleError = invalid(8, "invalid provider: invalid info website");
const INTERNAL: ModuleError = ModuleError::new(SPACE, 10, GrpcCode::Internal, "internal error");

pub(crate) struct CreateProvider {
    owner: Address,
    provider: Provider,
}

impl Message for CreateProvider {
    type Wire = wire::MsgCreateProvider;

    fn parse(wire: wire::MsgCreateProvider) -> Outcome<Self> {
        let wire::MsgCreateProvider { owner, host_uri, attributes, info } = wire;
        let provider = wire::Provider { owner, host_uri, attributes, info };
        let (owner, provider) = check(provider)?;
        Ok(Self { owner, provider })
    }

    fn signer(&self) -> Address {
        self.owner
    }

    fn execute(&self, exec: &mut Exec) -> Outcome {
        if exec.tables.providers.contains(&self.owner) {
            return Err(EXISTS.wrap(format_args!("id: {}", self.owner)));
        }
        exec.step(Step::ProviderWrite)?;
        exec.tables.providers.insert(self.owner, Arc::clone(&self.provider));
        exec.emit(Event::provider("Created", self.owner));
        Ok(())
    }
}

/// Changes what a provider says of itself.
pub(crate) struct UpdateProvider {
    owner: Address,
    provider: Provider,
}

impl Message for UpdateProvider {
    type Wire = wire::MsgUpdateProvider;

    fn parse(wire: wire::MsgUpdateProvider) -> Outcome<Self> {
        let wire::MsgUpdateProvider { owner, host_uri, attributes, info } = wire;
        let provider = wire::Provider { owner, host_uri, attributes, info };
        let (owner, provider) = check(provider)?;
        Ok(Self { owner, provider })
    }

    fn signer(&self) -> Address {
        self.owner
    }

    fn execute(&self, exec: &mut Exec) -> Outcome {
        if !exec.tables.providers.contains(&self.owner) {
            return Err(NOT_FOUND.wrap(format_args!("id: {}", self.owner)));
        }
        exec.step(Step::ProviderWrite)?;
        exec.tables.providers.insert(self.owner, Arc::clone(&self.provider));
        exec.emit(Event::provider("Updated", self.owner));
        Ok(())
    }
}

/// Would remove a provider; the chain never does.
pub(crate) struct DeleteProvider {
    owner: Address,
}

impl Message for DeleteProvider {
    type Wire = wire::MsgDeleteProvider;

    fn parse(wire: wire::MsgDeleteProvider) -> Outcome<Self> {
        Ok(Self { owner: signer(&wire.owner)? })
    }

    fn signer(&self) -> Address {
        self.owner
    }

    fn execute(&self, exec: &mut Exec) -> Outcome {
        if !exec.tables.providers.contains(&self.owner) {
            return Err(NOT_FOUND.into());
        }
        Err(INTERNAL.wrap("NOTIMPLEMENTED"))
    }
}

fn check(mut provider: wire::Provider) -> Outcome<(Address, Provider)> {
    let owner = signer(&provider.owner)?;
    check_uri(&provider.host_uri)?;
    let attributes: Vec<Attribute> =
        provider.attributes.iter().cloned().map(Attribute::from).collect();
    validate_provider(&attributes).map_err(|error| ATTRIBUTES.detail(error))?;
    let info = provider.info.get_or_insert_default();
    if info.website.chars().any(|c| c.is_control() || c == ' ') {
        return Err(INVALID_WEBSITE.into());
    }
    Ok((owner, Arc::new(provider)))
}

/// An absolute https address without a path.
fn check_uri(uri: &str) -> Outcome {
    if uri.chars().any(|c| c.is_control() || c.is_whitespace()) {
        return Err(INVALID_URI.into());
    }
    let Some((scheme, rest)) = uri.split_once("://") else {
        return Err(NOT_ABSOLUTE_URI.detail(uri));
    };
    if scheme != "https" {
        return Err(INVALID_URI.detail(format_args!("scheme in {uri:?} should be https")));
    }
    let host = rest.split(['?', '#']).next().unwrap_or_default();
    if host.is_empty() || host.starts_with(':') {
        return Err(INVALID_URI.detail(format_args!("missing host in {uri:?}")));
    }
    if host.contains('/') {
        return Err(INVALID_URI.detail(format_args!("path in {uri:?} should be empty")));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_is_https_without_a_path() {
        for (uri, code) in [
            ("https://provider.example.com:8443", None),
            ("https://provider.example.com", None),
            ("http://provider.example.com", Some(1)),
            ("https://provider.example.com/", Some(1)),
            ("https://", Some(1)),
            ("https://:8443", Some(1)),
            ("provider.example.com", Some(2)),
            ("", Some(2)),
            ("https://a b", Some(1)),
        ] {
            assert_eq!(check_uri(uri).map_err(|error| error.code).err(), code, "{uri}");
        }
    }
}

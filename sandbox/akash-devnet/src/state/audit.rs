//! Attributes of providers that auditors vouch for.

use std::sync::Arc;

use akash_proto::akash::audit::v1 as wire;
use akash_types::{Address, Attribute, AttributeError, AuditedAttributes, attribute};

use super::address;
use super::error::{GrpcCode, ModuleError, Outcome};
use super::events::Event;
use super::gas::Step;
use super::keys::Edge;
use super::msg::{Message, signer};
use super::run::Exec;
use super::tables::Tables;

/// What an auditor vouches for, ordered by key.
pub(crate) type Audit = Arc<[Attribute]>;

const SPACE: &str = "audit";
pub(crate) const NOT_FOUND: ModuleError =
    ModuleError::new(SPACE, 1, GrpcCode::NotFound, "invalid provider: address not found");
const INVALID_ADDRESS: ModuleError =
    ModuleError::new(SPACE, 2, GrpcCode::InvalidArgument, "invalid address");
const ATTRIBUTE_NOT_FOUND: ModuleError =
    ModuleError::new(SPACE, 3, GrpcCode::NotFound, "attribute not found");
const DUPLICATE_KEYS: ModuleError = ModuleError::new(
    "akash",
    1,
    GrpcCode::InvalidArgument,
    "attributes cannot have duplicate keys",
);
const INVALID_KEY: ModuleError =
    ModuleError::new("akash", 2, GrpcCode::InvalidArgument, "attribute key does not match regexp");

impl Tables {
    pub(crate) fn audits_of(&self, provider: Address) -> Vec<AuditedAttributes> {
        self.audits_between(provider)
            .map(|(auditor, attributes)| AuditedAttributes {
                auditor: auditor.to_string(),
                attributes: attributes.to_vec(),
            })
            .collect()
    }

    pub(crate) fn audits_between(
        &self,
        provider: Address,
    ) -> impl DoubleEndedIterator<Item = (Address, &Audit)> {
        self.audits
            .between((provider, Edge::First), (provider, Edge::Last))
            .filter_map(|((_, auditor), attributes)| Some((*auditor.get()?, attributes)))
    }

    fn remove_audit(&mut self, owner: Address, auditor: Address) {
        self.audits.remove(&(owner, Edge::Is(auditor)));
        self.audits_by_auditor.remove(&(auditor, Edge::Is(owner)));
    }
}

/// An auditor vouches for attributes of a provider.
pub(crate) struct SignAttributes {
    owner: Address,
    auditor: Address,
    attributes: Vec<Attribute>,
}

impl Message for SignAttributes {
    type Wire = wire::MsgSignProviderAttributes;

    fn parse(wire: wire::MsgSignProviderAttributes) -> Outcome<Self> {
        let auditor = signer(&wire.auditor)?;
        let owner = owner(&wire.owner)?;
        let attributes: Vec<Attribute> = wire.attributes.into_iter().map(Into::into).collect();
        attribute::validate(&attributes).map_err(|error| match error {
            AttributeError::Duplicate { .. } => DUPLICATE_KEYS.detail(error),
            _ => INVALID_KEY.detail(error),
        })?;
        Ok(Self { owner, auditor, attributes })
    }

    fn signer(&self) -> Address {
        self.auditor
    }

    fn execute(&self, exec: &mut Exec) -> Outcome {
        let key = (self.owner, Edge::Is(self.auditor));
        let mut attributes =
            exec.tables.audits.get(&key).map(|known| known.to_vec()).unwrap_or_default();
        for signed in &self.attributes {
            match attributes.iter_mut().find(|known| known.key == signed.key) {
                Some(known) => known.clone_from(signed),
                None => attributes.push(signed.clone()),
            }
        }
        attributes.sort_by(|left, right| left.key.cmp(&right.key));
        exec.step(Step::AuditWrite)?;
        exec.tables.audits.insert(key, attributes.into());
        exec.tables.audits_by_auditor.insert((self.auditor, Edge::Is(self.owner)), ());
        exec.emit(Event::trusted_auditor("Created", self.owner, self.auditor));
        Ok(())
    }
}

/// An auditor takes attributes back; without keys, all of them.
pub(crate) struct DeleteAttributes {
    owner: Address,
    auditor: Address,
    keys: Vec<String>,
}

impl Message for DeleteAttributes {
    type Wire = wire::MsgDeleteProviderAttributes;

    fn parse(wire: wire::MsgDeleteProviderAttributes) -> Outcome<Self> {
        let auditor = signer(&wire.auditor)?;
        Ok(Self { owner: owner(&wire.owner)?, auditor, keys: wire.keys })
    }

    fn signer(&self) -> Address {
        self.auditor
    }

    fn execute(&self, exec: &mut Exec) -> Outcome {
        let key = (self.owner, Edge::Is(self.auditor));
        let known = exec.tables.audits.get(&key).ok_or(NOT_FOUND)?;
        let mut left = if self.keys.is_empty() { Vec::new() } else { known.to_vec() };
        for key in &self.keys {
            let Some(index) = left.iter().position(|attribute| attribute.key == *key) else {
                let (auditor, owner) = (self.auditor, self.owner);
                return Err(ATTRIBUTE_NOT_FOUND.wrap(format_args!(
                    "trying to delete non-existing attribute \"{key}\" for auditor/provider \
                     \"{auditor}/{owner}\""
                )));
            };
            left.remove(index);
        }
        exec.step(Step::AuditWrite)?;
        if left.is_empty() {
            exec.tables.remove_audit(self.owner, self.auditor);
        } else {
            exec.tables.audits.insert(key, left.into());
        }
        exec.emit(Event::trusted_auditor("Deleted", self.owner, self.auditor));
        Ok(())
    }
}

fn owner(text: &str) -> Outcome<Address> {
    address::account(text).map_err(|why| INVALID_ADDRESS.detail(why))
}

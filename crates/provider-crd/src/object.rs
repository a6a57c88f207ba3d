//! An object of one of our kinds, as the API server takes and gives it.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use k8s_openapi::{ListableResource, Metadata, NamespaceResourceScope, Resource};
use serde::ser::SerializeStruct;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value};

pub const GROUP: &str = "akash.network";
pub const VERSION: &str = "v2beta2";
/// Both, as objects carry them.
pub const API_VERSION: &str = "akash.network/v2beta2";

/// Keys that are not known here. They are written back as they were read.
pub type Unknown = Map<String, Value>;

/// What sets one kind apart from another.
pub trait Spec {
    const KIND: &'static str;
    const LIST_KIND: &'static str;
    const PLURAL: &'static str;
    /// The singular, for command lines.
    const SINGULAR: &'static str;
    /// What command lines accept for short.
    const SHORT_NAME: &'static str;
}

/// An object: who it is and what it says.
///
/// None of our kinds has a status, and none is ever written.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
pub struct CustomObject<S> {
    /// Name, labels and what the API server keeps of it.
    #[serde(default)]
    pub metadata: ObjectMeta,
    pub spec: S,
}

impl<S: Spec> Resource for CustomObject<S> {
    const API_VERSION: &'static str = API_VERSION;
    const GROUP: &'static str = GROUP;
    const KIND: &'static str = S::KIND;
    const VERSION: &'static str = VERSION;
    const URL_PATH_SEGMENT: &'static str = S::PLURAL;
    type Scope = NamespaceResourceScope;
}

impl<S: Spec> ListableResource for CustomObject<S> {
    const LIST_KIND: &'static str = S::LIST_KIND;
}

impl<S: Spec> Metadata for CustomObject<S> {
    type Ty = ObjectMeta;

    fn metadata(&self) -> &ObjectMeta {
        &self.metadata
    }

    fn metadata_mut(&mut self) -> &mut ObjectMeta {
        &mut self.metadata
    }
}

impl<S: Spec + Serialize> Serialize for CustomObject<S> {
    fn serialize<W: Serializer>(&self, serializer: W) -> Result<W::Ok, W::Error> {
        let mut object = serializer.serialize_struct(S::KIND, 4)?;
        object.serialize_field("apiVersion", API_VERSION)?;
        object.serialize_field("kind", S::KIND)?;
        object.serialize_field("metadata", &self.metadata)?;
        object.serialize_field("spec", &self.spec)?;
        object.end()
    }
}

/// Reads `null` as if the key were absent, as Go does.
pub(crate) fn nullable<'de, D, T>(deserializer: D) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de> + Default,
{
    Option::deserialize(deserializer).map(Option::unwrap_or_default)
}

pub(crate) fn is_zero<N: Copy + Default + PartialEq>(number: &N) -> bool {
    *number == N::default()
}

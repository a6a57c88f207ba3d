//! How the cluster's nouns are written as JSON: in the file of a state, and between processes.
//!
//! The nouns themselves carry no format. Each has a counterpart here; reading one checks what the
//! noun would refuse.

mod nouns;
mod request;
mod tenant;
mod view;

pub(crate) use nouns::{AmountsWire, ArchWire, CardWire, LeaseIdWire, WorkloadWire, group_to_json};
pub(crate) use request::{FailureWrap, OperationWire, Request};
pub(crate) use tenant::{
    EventWrap, ExecFailureWrap, InputWrap, LogWrap, OutputWrap, QueryWrap, ReadFailureWrap,
    RequestWrap, ServicesWrap, StatusWrap,
};
pub(crate) use view::{Assembly, ChangeWire, HeldWire, lines};

/// Modules for `#[serde(with = …)]`: a noun through its counterpart.
macro_rules! through {
    ($module:ident, $noun:ty, $wire:ty) => {
        pub(crate) mod $module {
            use serde::de::Error;
            use serde::{Deserialize, Deserializer, Serialize, Serializer};

            use super::*;

            pub(crate) fn serialize<S: Serializer>(
                noun: &$noun,
                serializer: S,
            ) -> Result<S::Ok, S::Error> {
                <$wire>::from(noun).serialize(serializer)
            }

            pub(crate) fn deserialize<'de, D: Deserializer<'de>>(
                deserializer: D,
            ) -> Result<$noun, D::Error> {
                <$noun>::try_from(<$wire>::deserialize(deserializer)?).map_err(D::Error::custom)
            }
        }
    };
    ($module:ident, $noun:ty, $wire:ty, option) => {
        pub(crate) mod $module {
            use super::*;

            pub(crate) mod option {
                use serde::de::Error;
                use serde::{Deserialize, Deserializer, Serialize, Serializer};

                use super::*;

                pub(crate) fn serialize<S: Serializer>(
                    noun: &Option<$noun>,
                    serializer: S,
                ) -> Result<S::Ok, S::Error> {
                    noun.as_ref().map(<$wire>::from).serialize(serializer)
                }

                pub(crate) fn deserialize<'de, D: Deserializer<'de>>(
                    deserializer: D,
                ) -> Result<Option<$noun>, D::Error> {
                    let wire = Option::<$wire>::deserialize(deserializer)?;
                    wire.map(<$noun>::try_from).transpose().map_err(D::Error::custom)
                }
            }
        }
    };
}

use std::sync::Arc;

use akash_types::{CpuArch, LeaseId};
use provider_engine::cluster::command::Workload;
use provider_engine::cluster::view::{Amounts, CardChoice};

through!(amounts, Amounts, AmountsWire);
through!(arch, CpuArch, ArchWire);
through!(lease_id, LeaseId, LeaseIdWire);
through!(card, CardChoice, CardWire, option);
through!(workload, Arc<Workload>, WorkloadWire, option);

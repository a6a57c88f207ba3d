//! Values that are written as text.

use std::fmt::Display;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use serde::{Serialize, Serializer};

#[derive(Clone, Copy, Debug)]
pub(crate) struct Text<T>(pub(crate) T);

/// Bytes as hexadecimal in upper case.
#[derive(Clone, Debug)]
pub(crate) struct Hex<T>(pub(crate) T);

/// Bytes as base64.
#[derive(Clone, Debug)]
pub(crate) struct Base64<T>(pub(crate) T);

impl<T> Base64<T>
where
    T: AsRef<[u8]>,
{
    /// The bytes, or `None` where there are none: Go writes those as null.
    pub(crate) fn or_null(bytes: T) -> Option<Self> {
        (!bytes.as_ref().is_empty()).then_some(Self(bytes))
    }
}

impl<T: Display> Serialize for Text<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&self.0)
    }
}

impl<T: AsRef<[u8]>> Serialize for Hex<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&hex::encode_upper(&self.0))
    }
}

impl<T: AsRef<[u8]>> Serialize for Base64<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&BASE64_STANDARD.encode(&self.0))
    }
}

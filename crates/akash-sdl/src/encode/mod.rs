//! Writing structured values in the exact forms that other programs read or hash.
//!
//! A value describes itself once, to an [`Encoder`]; which form comes out is the encoder's
//! affair. [`json`] writes what Go's `encoding/json` writes, plain or with sorted keys (the form
//! that is hashed); [`yaml`] writes what yaml.v3 writes.

mod json;
mod yaml;
mod yaml_scalar;

pub(crate) use json::{JsonEncoder, Layout, digits, sorted_json};
pub(crate) use yaml::YamlEncoder;

/// The keys of an object: in the order the Go structs have them, and sorted.
#[derive(Debug)]
pub(crate) struct Keys {
    pub(crate) declared: &'static [&'static str],
    pub(crate) sorted: &'static [&'static str],
}

/// Where a value describes itself to.
pub(crate) trait Encoder: Sized {
    /// Whether fields that JSON leaves out when they are zero (an endpoint's kind) are written.
    const WRITES_ZERO_KIND: bool;

    /// Calls `field` once for each key; a field that writes nothing is left out.
    fn object(&mut self, keys: &'static Keys, field: impl FnMut(&mut Self, &'static str));

    /// Calls `item` once for each item, which has to write one value.
    fn array<T>(&mut self, items: &[T], item: impl FnMut(&mut Self, &T));

    /// A list that is absent: `null` in JSON, `[]` in YAML.
    fn absent_list(&mut self);

    fn null(&mut self);
    fn text(&mut self, text: &str);
    fn number(&mut self, number: u64);
    fn boolean(&mut self, value: bool);

    fn nullable_list<T>(&mut self, items: Option<&[T]>, item: impl FnMut(&mut Self, &T)) {
        match items {
            Some(items) => self.array(items, item),
            None => self.absent_list(),
        }
    }

    fn texts(&mut self, items: &[String]) {
        self.array(items, |encoder, item| encoder.text(item));
    }

    fn nullable_texts(&mut self, items: Option<&[String]>) {
        self.nullable_list(items, |encoder, item| encoder.text(item));
    }
}

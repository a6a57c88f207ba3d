//! An answer, and how it looks as a table.

use crate::output::{Document, Palette, tables};

use super::args::QueryFormat;

/// What a query brought.
#[derive(Debug)]
pub(super) struct Found {
    document: Document,
    table: fn(&Document, &Palette) -> String,
}

impl Found {
    /// One thing, whose table is its fields.
    pub(super) fn one(document: Document) -> Self {
        Self { document, table: tables::fields }
    }

    /// Many things, with a table of their own.
    pub(super) fn list(document: Document, table: fn(&Document, &Palette) -> String) -> Self {
        Self { document, table }
    }

    /// What stands in the field `name` of the answer, where the Go program prints no more.
    pub(super) fn field(document: Document, name: &str) -> Self {
        Self::one(document.at(name).cloned().unwrap_or(document))
    }

    pub(super) fn render(&self, format: QueryFormat, palette: &Palette) -> String {
        match format {
            QueryFormat::Json => self.document.to_json() + "\n",
            QueryFormat::Text => self.document.to_yaml(),
            QueryFormat::Table => (self.table)(&self.document, palette),
        }
    }
}

//! YAML as yaml.v3 lays it out: block style, an indentation of four, lists set in.

use super::yaml_scalar::write_scalar;
use super::{Encoder, Keys};

/// Appends YAML to a buffer.
#[derive(Debug)]
pub(crate) struct YamlEncoder {
    out: String,
    /// The column at which the current block's lines begin; `None` before the first.
    indent: Option<usize>,
    pending_key: Option<&'static str>,
    /// Whether the line already holds `- ` and the block's first line goes on behind it.
    on_dash: bool,
}

/// yaml.v3's step between levels.
const STEP: usize = 4;

impl YamlEncoder {
    pub(crate) fn new() -> Self {
        Self { out: String::new(), indent: None, pending_key: None, on_dash: false }
    }

    pub(crate) fn finish(self) -> String {
        self.out
    }

    /// Writes the key of a field whose value follows.
    fn key_for_value(&mut self) {
        let Some(key) = self.pending_key.take() else { return };
        self.start_line();
        self.out.push_str(key);
        self.out.push(':');
    }

    fn start_line(&mut self) {
        if self.on_dash {
            self.on_dash = false;
        } else {
            let indent = self.indent.unwrap_or(0);
            self.out.extend(std::iter::repeat_n(' ', indent));
        }
    }

    /// A value that starts on the line of its key or dash. `write` is told where the further
    /// lines of a block would begin.
    fn inline(&mut self, write: impl FnOnce(&mut String, usize)) {
        let block_indent = self.deeper();
        let is_field = self.pending_key.is_some();
        self.key_for_value();
        if is_field {
            self.out.push(' ');
        }
        self.on_dash = false;
        write(&mut self.out, block_indent);
        self.out.push('\n');
    }

    /// The column of a block inside the current one: right behind a dash, else the next
    /// multiple of [`STEP`].
    fn deeper(&self) -> usize {
        match self.indent {
            None => 0,
            Some(indent) if self.on_dash => indent + 2,
            Some(indent) => (indent / STEP + 1) * STEP,
        }
    }

    fn block(&mut self, fill: impl FnOnce(&mut Self)) {
        let inner = self.deeper();
        let outer = self.indent;
        if self.pending_key.is_some() {
            self.key_for_value();
            self.out.push('\n');
        }
        self.indent = Some(inner);
        fill(self);
        self.indent = outer;
        self.on_dash = false;
    }
}

impl Encoder for YamlEncoder {
    const WRITES_ZERO_KIND: bool = true;

    fn object(&mut self, keys: &'static Keys, mut field: impl FnMut(&mut Self, &'static str)) {
        // Whether anything comes out is only known afterwards; an object without fields is `{}`.
        let before = self.out.len();
        let (pending_key, on_dash) = (self.pending_key, self.on_dash);
        let mut wrote = false;
        self.block(|encoder| {
            let start = encoder.out.len();
            for key in keys.declared {
                encoder.pending_key = Some(key);
                field(encoder, key);
            }
            encoder.pending_key = None;
            wrote = encoder.out.len() > start;
        });
        if !wrote {
            self.out.truncate(before);
            (self.pending_key, self.on_dash) = (pending_key, on_dash);
            self.inline(|out, _| out.push_str("{}"));
        }
    }

    fn array<T>(&mut self, items: &[T], mut item: impl FnMut(&mut Self, &T)) {
        if items.is_empty() {
            return self.absent_list();
        }
        self.block(|encoder| {
            for value in items {
                encoder.start_line();
                encoder.out.push_str("- ");
                encoder.on_dash = true;
                item(encoder, value);
            }
        });
    }

    fn absent_list(&mut self) {
        self.inline(|out, _| out.push_str("[]"));
    }

    fn null(&mut self) {
        self.inline(|out, _| out.push_str("null"));
    }

    fn text(&mut self, text: &str) {
        self.inline(|out, indent| write_scalar(out, text, indent));
    }

    fn number(&mut self, number: u64) {
        self.inline(|out, _| out.push_str(&number.to_string()));
    }

    fn boolean(&mut self, value: bool) {
        self.inline(|out, _| out.push_str(if value { "true" } else { "false" }));
    }
}

//! The two texts that scrapers read.

use std::fmt::Write;

use super::metric::{Description, Histogram, Kind, Number};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Format {
    #[default]
    Prometheus,
    /// For whoever asks for it. Counters whose names lack `_total` have no type there, as their
    /// names stay the same.
    OpenMetrics,
}

impl Format {
    /// The format that a request with this `Accept` header gets.
    pub fn accepted_by(accept: &str) -> Self {
        let wants = |range: &str| {
            let mut parts = range.split(';').map(str::trim);
            let named = parts.next() == Some("application/openmetrics-text");
            let refused = parts.any(|part| {
                part.strip_prefix("q=").is_some_and(|q| q.trim_matches(['0', '.']).is_empty())
            });
            named && !refused
        };
        if accept.split(',').any(|range| wants(range.trim())) {
            Self::OpenMetrics
        } else {
            Self::Prometheus
        }
    }

    /// What the text is called in HTTP.
    pub const fn content_type(self) -> &'static str {
        match self {
            Self::Prometheus => "text/plain; version=0.0.4; charset=utf-8; escaping=underscores",
            Self::OpenMetrics => {
                "application/openmetrics-text; version=1.0.0; charset=utf-8; escaping=underscores"
            }
        }
    }
}

pub(super) struct Text {
    format: Format,
    text: String,
}

impl Text {
    pub(super) fn new(format: Format) -> Self {
        Self { format, text: String::with_capacity(16 * 1024) }
    }

    pub(super) fn family(&mut self, family: &Description) {
        let (name, kind) = match (self.format, family.kind) {
            (Format::OpenMetrics, Kind::Counter) => match family.name.strip_suffix("_total") {
                Some(short) => (short, "counter"),
                None => (family.name, "unknown"),
            },
            (_, kind) => (family.name, kind.as_str()),
        };
        self.put(format_args!("# HELP {name} {}\n", escaped(family.help, false)));
        self.put(format_args!("# TYPE {name} {kind}\n"));
    }

    pub(super) fn sample(&mut self, family: &Description, labels: &[Box<str>], value: Number) {
        self.text.push_str(family.name);
        let mut separator = '{';
        for ((name, _), value) in family.labels.iter().zip(labels) {
            self.put(format_args!("{separator}{name}=\"{}\"", escaped(value, true)));
            separator = ',';
        }
        self.text.push_str(if labels.is_empty() { " " } else { "} " });
        self.put(format_args!("{value}\n"));
    }

    pub(super) fn histogram(&mut self, name: &str, bounds: &[u64], histogram: &Histogram) {
        let mut count = 0_u64;
        let point = if self.format == Format::OpenMetrics { ".0" } else { "" };
        for (index, bound) in bounds.iter().enumerate() {
            count = count.saturating_add(histogram.buckets.get(index).copied().unwrap_or(0));
            self.put(format_args!("{name}_bucket{{le=\"{bound}{point}\"}} {count}\n"));
        }
        count = count.saturating_add(histogram.buckets.get(bounds.len()).copied().unwrap_or(0));
        self.put(format_args!("{name}_bucket{{le=\"+Inf\"}} {count}\n"));
        self.put(format_args!("{name}_sum {}\n", histogram.sum));
        self.put(format_args!("{name}_count {count}\n"));
    }

    pub(super) fn finish(mut self) -> String {
        if self.format == Format::OpenMetrics {
            self.text.push_str("# EOF\n");
        }
        self.text
    }

    fn put(&mut self, text: std::fmt::Arguments<'_>) {
        // Writing to a string cannot fail.
        let _ = self.text.write_fmt(text);
    }
}

fn escaped(text: &str, quotes: bool) -> String {
    let escaped = text.replace('\\', "\\\\").replace('\n', "\\n");
    if quotes { escaped.replace('"', "\\\"") } else { escaped }
}

//! What a metric is.

/// A metric with `L` labels. A count of values other than that does not compile.
#[derive(Debug)]
pub(super) struct Metric<const L: usize> {
    pub(super) name: &'static str,
    pub(super) kind: Kind,
    /// Names of labels, with what they can be.
    pub(super) labels: [(&'static str, &'static str); L],
    pub(super) help: &'static str,
}

/// How a metric behaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// It only grows, until the process ends.
    Counter,
    /// It goes up and down.
    Gauge,
    /// Values sorted into buckets with these upper bounds.
    Histogram(&'static [u64]),
}

impl Kind {
    /// Its name in the text.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Counter => "counter",
            Self::Gauge => "gauge",
            Self::Histogram(_) => "histogram",
        }
    }
}

/// A metric, whatever its labels.
#[derive(Clone, Copy, Debug)]
pub struct Description {
    pub name: &'static str,
    pub kind: Kind,
    /// Names of its labels, with what they can be.
    pub labels: &'static [(&'static str, &'static str)],
    pub help: &'static str,
}

impl<const L: usize> Metric<L> {
    pub(super) const fn describe(&'static self) -> Description {
        let Self { name, kind, labels, help } = self;
        Description { name, kind: *kind, labels, help }
    }
}

impl Description {
    /// Its row in the documentation.
    pub fn row(&self) -> String {
        let label = |(name, values): &(&str, &str)| format!("`{name}`: {values}");
        let labels: Vec<_> = self.labels.iter().map(label).collect();
        let Self { name, kind, help, .. } = self;
        format!("| `{name}` | {} | {} | {help} |", kind.as_str(), labels.join("; "))
    }
}

//! What a metric is.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use super::table;
use super::text::{Format, Text};

/// A metric with `L` labels. A count of values other than that does not compile.
#[derive(Debug)]
pub(super) struct Metric<const L: usize> {
    pub(super) name: &'static str,
    pub(super) kind: Kind,
    pub(super) labels: [(&'static str, &'static str); L],
    pub(super) help: &'static str,
}

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
    pub fn row(&self) -> String {
        let label = |(name, values): &(&str, &str)| format!("`{name}`: {values}");
        let labels: Vec<_> = self.labels.iter().map(label).collect();
        let Self { name, kind, help, .. } = self;
        format!("| `{name}` | {} | {} | {help} |", kind.as_str(), labels.join("; "))
    }
}

/// A number with a few decimal places.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Number {
    units: i128,
    places: u32,
}

impl Number {
    pub(super) const fn thousandths(units: i64) -> Self {
        Self { units: units as i128, places: 3 }
    }

    pub(super) fn seconds(duration: Duration) -> Self {
        Self { units: i128::try_from(duration.as_micros()).unwrap_or(i128::MAX), places: 6 }
    }
}

macro_rules! whole {
    ($($kind:ty),*) => {$(
        impl From<$kind> for Number {
            fn from(number: $kind) -> Self {
                Self { units: i128::try_from(number).unwrap_or(i128::MAX), places: 0 }
            }
        }
    )*};
}

whole!(u32, u64, u128, usize, i64);

impl From<bool> for Number {
    fn from(yes: bool) -> Self {
        Self { units: i128::from(yes), places: 0 }
    }
}

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let scale = 10_u128.saturating_pow(self.places);
        let (whole, part) = (self.units.unsigned_abs() / scale, self.units.unsigned_abs() % scale);
        if self.units < 0 {
            f.write_str("-")?;
        }
        write!(f, "{whole}")?;
        if part == 0 {
            return Ok(());
        }
        let places = self.places as usize;
        let digits = format!("{part:0places$}");
        write!(f, ".{}", digits.trim_end_matches('0'))
    }
}

pub(super) type Labels = Vec<Box<str>>;

/// Counters and histograms, by name.
#[derive(Debug, Default)]
pub(super) struct Series {
    pub(super) counters: BTreeMap<&'static str, BTreeMap<Labels, u128>>,
    pub(super) histograms: BTreeMap<&'static str, Histogram>,
}

/// Values sorted into buckets.
#[derive(Clone, Debug, Default)]
pub(super) struct Histogram {
    /// How many fell into each bucket and none before it, then those beyond all.
    pub(super) buckets: Vec<u64>,
    pub(super) sum: u128,
}

impl Series {
    pub(super) fn count<const L: usize>(&mut self, metric: &'static Metric<L>, labels: [&str; L]) {
        self.add(metric, labels, 1);
    }

    pub(super) fn add<const L: usize>(
        &mut self,
        metric: &'static Metric<L>,
        labels: [&str; L],
        amount: u128,
    ) {
        let series = self.counters.entry(metric.name).or_default();
        let count = series.entry(labels.map(Box::from).to_vec()).or_default();
        *count = count.saturating_add(amount);
    }

    pub(super) fn observe(&mut self, metric: &'static Metric<0>, value: u64) {
        let Kind::Histogram(bounds) = metric.kind else { return };
        let histogram = self.histograms.entry(metric.name).or_default();
        histogram.buckets.resize(bounds.len() + 1, 0);
        let index = bounds.partition_point(|bound| *bound < value);
        if let Some(bucket) = histogram.buckets.get_mut(index) {
            *bucket = bucket.saturating_add(1);
        }
        histogram.sum = histogram.sum.saturating_add(u128::from(value));
    }
}

/// Values by name and labels.
#[derive(Debug, Default)]
pub(super) struct Page {
    values: BTreeMap<&'static str, BTreeMap<Labels, Number>>,
    histograms: BTreeMap<&'static str, Histogram>,
}

impl Page {
    pub(super) fn take_series(&mut self, series: &Series) {
        for (name, counts) in &series.counters {
            let counts = counts.iter().map(|(labels, count)| (labels.clone(), (*count).into()));
            self.values.insert(name, counts.collect());
        }
        self.histograms.clone_from(&series.histograms);
    }

    pub(super) fn set<const L: usize>(
        &mut self,
        metric: &'static Metric<L>,
        labels: [&str; L],
        value: impl Into<Number>,
    ) {
        let series = self.values.entry(metric.name).or_default();
        series.insert(labels.map(Box::from).to_vec(), value.into());
    }

    pub(super) fn set_histogram(
        &mut self,
        metric: &'static Metric<0>,
        buckets: Vec<u64>,
        sum: u128,
    ) {
        self.histograms.insert(metric.name, Histogram { buckets, sum });
    }

    /// Families in the order of their names. Those with labels appear once they were used, those
    /// without are there from the start, unless only what was used is wanted.
    pub(super) fn render(&self, format: Format, only_used: bool) -> String {
        let mut families = table::all();
        families.retain(|family| {
            let is_used = self.values.contains_key(family.name);
            !only_used || is_used || self.histograms.contains_key(family.name)
        });
        families.sort_unstable_by_key(|family| family.name);
        let mut text = Text::new(format);
        for family in families {
            match family.kind {
                Kind::Histogram(bounds) => {
                    let empty = Histogram::default();
                    let histogram = self.histograms.get(family.name).unwrap_or(&empty);
                    text.family(&family);
                    text.histogram(family.name, bounds, histogram);
                }
                Kind::Counter | Kind::Gauge => self.render_values(&family, &mut text),
            }
        }
        text.finish()
    }

    fn render_values(&self, family: &Description, text: &mut Text) {
        match self.values.get(family.name) {
            Some(series) => {
                text.family(family);
                for (labels, value) in series {
                    text.sample(family, labels, *value);
                }
            }
            None if family.labels.is_empty() && family.kind == Kind::Counter => {
                text.family(family);
                text.sample(family, &[], 0_u64.into());
            }
            None => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_exact_and_short() {
        for (number, text) in [
            (Number::from(0_u64), "0"),
            (Number::from(u128::MAX), "170141183460469231731687303715884105727"),
            (Number::from(true), "1"),
            (Number::thousandths(31_850), "31.85"),
            (Number::thousandths(2), "0.002"),
            (Number::thousandths(-1_500), "-1.5"),
            (Number::thousandths(-4_000), "-4"),
            (Number::seconds(Duration::from_micros(1_000_001)), "1.000001"),
        ] {
            assert_eq!(number.to_string(), text);
        }
    }
}

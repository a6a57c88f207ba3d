//! Everything of one scrape, before it is text.

use std::collections::BTreeMap;

use super::metric::{Description, Histogram, Kind, Labels, Metric, Number, Series};
use super::table;
use super::text::{Format, Text};

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
